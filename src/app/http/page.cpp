#include "app/http/page.hpp"

#include <algorithm>

#include "app/http/page_data.hpp"

namespace ridge::http {

namespace {

std::string_view type_of(std::string_view name) {
  struct Type {
    std::string_view ending, type;
  };
  static constexpr Type kTypes[] = {{".html", "text/html; charset=utf-8"},
                                    {".js", "text/javascript; charset=utf-8"},
                                    {".css", "text/css; charset=utf-8"},
                                    {".svg", "image/svg+xml"},
                                    {".json", "application/json"}};
  for (const Type& t : kTypes) {
    if (name.ends_with(t.ending)) return t.type;
  }
  return "application/octet-stream";
}

}  // namespace

Response page_file(const Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = Response::error(405, "GET it");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  const std::string_view name =
      request.path == "/" ? std::string_view("index.html") : std::string_view(request.path).substr(1);
  const auto files = page_files();
  const auto at = std::find_if(files.begin(), files.end(), [&](const PageFile& f) { return f.name == name; });
  if (at == files.end()) return Response::error(404, "there is nothing at this path");

  Response response;
  response.type = type_of(name);
  response.headers.emplace_back("ETag", at->tag);
  response.headers.emplace_back("Cache-Control", "no-cache");  // asks each time, and mostly hears "not modified"
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (request.header("if-none-match") == at->tag) {
    response.status = 304;
    return response;
  }
  const bool compressed = request.header("accept-encoding").find("gzip") != std::string_view::npos;
  if (compressed) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = compressed ? at->compressed : at->plain;
  return response;
}

}  // namespace ridge::http
