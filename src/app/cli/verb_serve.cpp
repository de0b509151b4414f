// ridge serve: the page and the API, on this machine.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "app/cli/api.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/verbs.hpp"
#include "app/http/page.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

struct ServeArguments {
  std::string port = "8080";
  std::string host = "127.0.0.1";
  std::string token;
  bool quiet = false;
};

/// What every answer carries: nothing from elsewhere is loaded, nothing is guessed, nobody frames the page.
void harden(http::Response& response) {
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                                "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                                "frame-ancestors 'none'");
}

constexpr unsigned kOtherFiles = 128;  ///< open beside the connections

/// Connections are files: many systems allow a process 1,024 of them until it asks for more.
void allow_files(unsigned wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  return host == "::1" || (inet_pton(AF_INET, host.c_str(), &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

/// A page in a browser elsewhere must not reach this server through a name of its own (DNS rebinding).
bool is_our_name(std::string_view host_header, const ServeArguments& arguments) {
  if (!is_loopback(arguments.host)) return true;
  if (host_header.starts_with("[")) return host_header.substr(0, host_header.find(']') + 1) == "[::1]";
  const std::string name(host_header.substr(0, host_header.find(':')));
  return name == "localhost" || is_loopback(name);
}

Result<int> serve(Session& session, const ServeArguments& arguments, int port) {
  if (!is_loopback(arguments.host) && arguments.token.empty()) {
    return Error{ErrorCode::bad_input, "--token",
                 "whoever reaches " + arguments.host + " could use this server: choose a secret with --token"};
  }
  Result<SharedData> shared = session.share();
  if (!shared) return shared.error();
  Api api(*std::move(shared), look_around(), {.token = arguments.token});

  const auto handler = [&](const http::Request& request, bool may_take_long) {
    http::Response response;
    if (!is_our_name(request.header("host"), arguments)) {
      response = http::Response::error(421, "this server is not called that");
    } else if (request.path == "/v1/openapi.json") {
      http::Request file = request;
      file.path = "/openapi.json";
      response = http::page_file(file);
    } else if (request.path.starts_with("/v1/")) {
      response = api.answer(request, may_take_long);
    } else {
      response = http::page_file(request);
    }
    if (!response.defer) harden(response);
    return response;
  };
  const auto log = [&](std::string_view line) { session.warn(line); };

  catch_interrupts();
  allow_files(http::Server::Options().connection_limit + kOtherFiles);
  http::Server::Options options;
  options.address = arguments.host;
  options.port = port;
  options.threads = std::max(2U, std::thread::hardware_concurrency());
  const Result<http::Server> server =
      http::Server::start(options, handler, arguments.quiet ? http::Log() : http::Log(log));
  if (!server) return server.error();
  const bool v6 = arguments.host.find(':') != std::string::npos;
  session.print(fmt::format("http://{}{}{}:{}/  (Ctrl-C ends it)\n", v6 ? "[" : "", arguments.host, v6 ? "]" : "",
                            server->port()));
  std::fflush(stdout);
  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return kFine;
}

Action declare_serve(Options& options) {
  auto arguments = std::make_shared<ServeArguments>();
  options.text("--port", "N", arguments->port, "to listen on, 8080 unless said; 0 takes any that is free");
  options.text("--host", "ADDRESS", arguments->host, "to listen on, 127.0.0.1 unless said");
  options.text("--token", "SECRET", arguments->token, "that requests must carry; needed beyond this machine");
  options.flag("--quiet", arguments->quiet, "no line for each request");
  return [arguments](Session& session) -> Result<int> {
    int port = -1;
    const std::string& text = arguments->port;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || port < 0 || port > 65535) {
      return Error{ErrorCode::bad_input, "--port", "write a port from 1 to 65535, or 0 for any that is free"};
    }
    return serve(session, *arguments, port);
  };
}

}  // namespace

Verb serve_verb() {
  return {"serve", "a web page and an HTTP API for everything else",
          "Answers on this machine alone unless --host says otherwise. The page needs nothing from elsewhere. "
          "POST /v1/estimate and its neighbours take the flags of the verbs as JSON and answer with the same JSON as "
          "--json.",
          "ridge serve --help", declare_serve};
}

}  // namespace ridge::cli
