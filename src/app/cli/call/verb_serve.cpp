// ridge serve: the page and the API, on this machine.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "app/cli/call/api.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/interrupt.hpp"
#include "app/cli/verbs.hpp"
#include "app/http/origin.hpp"
#include "app/http/page.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

struct ServeArguments {
  std::string port = "8080";
  std::string host = "127.0.0.1";
  std::string token;
  std::string token_file;
  bool trust_forwarded = false;
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

/// A page in a browser elsewhere must not reach this server through a name of its own (DNS rebinding).
bool is_our_name(std::string_view host_header, const ServeArguments& arguments) {
  const std::optional<http::Host> host = http::parse_host(host_header);
  if (!http::is_loopback(arguments.host)) return host.has_value();
  return host && (host->name == "localhost" || http::is_loopback(host->name));
}

/// Of --token, --token-file (a line each) or $RIDGE_TOKEN: the first that is given.
Result<std::vector<std::string>> tokens_of(const ServeArguments& arguments) {
  constexpr std::size_t kFileLimit = 1 << 20;
  if (!arguments.token.empty() && !arguments.token_file.empty()) {
    return Error{ErrorCode::bad_input, "--token", "say either --token or --token-file"};
  }
  std::string text = arguments.token;
  std::string said_by = arguments.token_file;  // who promised a token: one that is not filled in is no open door
  if (!arguments.token_file.empty()) {
    Result<std::string> read = read_file(arguments.token_file, kFileLimit);
    if (!read) return read.error();
    text = *std::move(read);
  } else if (const char* variable = std::getenv("RIDGE_TOKEN"); text.empty() && variable != nullptr) {
    text = variable;
    said_by = "RIDGE_TOKEN";
  }
  std::vector<std::string> tokens;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const auto visible = [](char c) { return c > ' ' && c <= '~'; };
    if (!std::all_of(line.begin(), line.end(), visible)) {
      return Error{ErrorCode::bad_input, arguments.token_file.empty() ? "RIDGE_TOKEN" : arguments.token_file,
                   "a token is of visible ASCII characters: no header could carry this one"};
    }
    if (!line.empty()) tokens.emplace_back(line);
  }
  if (tokens.empty() && !said_by.empty()) {
    return Error{ErrorCode::bad_input, said_by, "there is no token in it: write one on a line"};
  }
  return tokens;
}

Result<int> serve(Session& session, const ServeArguments& arguments, int port) {
  Result<std::vector<std::string>> tokens = tokens_of(arguments);
  if (!tokens) return tokens.error();
  if (!http::is_loopback(arguments.host) && tokens->empty()) {
    return Error{ErrorCode::bad_input, "--token-file",
                 "whoever reaches " + arguments.host +
                     " could use this server: choose a secret, in $RIDGE_TOKEN or --token-file"};
  }
  Result<SharedData> shared = session.share();
  if (!shared) return shared.error();
  Api api(*std::move(shared), look_around(),
          {.tokens = *std::move(tokens), .trust_forwarded = arguments.trust_forwarded});

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
  http::Server::Options options;
  allow_files(2 * options.connection_limit + kOtherFiles);
  if (arguments.trust_forwarded) options.connections_per_address = 0;  // all of them are the proxy's
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
  options.text("--port", "N", arguments->port, "port to listen on (default: 8080; 0: any that is free)",
               value::whole(0, 65535));
  options.text("--host", "ADDRESS", arguments->host, "address to listen on (default: 127.0.0.1)", value::name(".:-"));
  options.text("--token", "SECRET", arguments->token,
               "token that requests must carry; `ps` shows it: better $RIDGE_TOKEN or --token-file", value::line());
  options.text("--token-file", "FILE", arguments->token_file,
               "secrets, one on a line, of which requests must carry one", value::file());
  options.flag("--trust-forwarded", arguments->trust_forwarded,
               "a proxy in front says by X-Forwarded-For who asks; limits are for those");
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
  return {
      "serve", "a web page and an HTTP API for everything else",
      "Answers on this machine alone unless --host says otherwise. The page needs nothing from elsewhere. "
      "POST /v1/estimate and its neighbours take the flags of the commands as JSON and answer with the same JSON as "
      "--json.",
      "ridge serve --help", declare_serve};
}

}  // namespace ridge::cli
