#include "app/http/origin.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ridge::http {

namespace {

constexpr int kMostPort = 65535;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

std::optional<Host> parse_host(std::string_view text) {
  Host host;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return {};
    host.name = lower(text.substr(1, end - 1));
    rest = text.substr(end + 1);
    in6_addr address{};
    if (inet_pton(AF_INET6, host.name.c_str(), &address) != 1) return {};
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    host.name = lower(text.substr(0, colon));
    rest = text.substr(colon);
    const auto belongs = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'; };
    if (host.name.empty() || !std::all_of(host.name.begin(), host.name.end(), belongs)) return {};
  }
  if (rest.empty()) return host;
  rest.remove_prefix(1);
  if (text[text.size() - rest.size() - 1] != ':' || rest.empty()) return {};
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), host.port);
  if (code != std::errc() || end != rest.data() + rest.size() || host.port < 1 || host.port > kMostPort) return {};
  return host;
}

bool is_loopback(const std::string& address) {
  in_addr v4{};
  return address == "::1" || (inet_pton(AF_INET, address.c_str(), &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

bool is_cross_site(const Request& request) {
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  const std::string_view origin = request.header("origin");
  if (origin.empty()) return false;
  // Behind a proxy that speaks TLS the page's origin is https, whatever this server hears.
  const std::string host = lower(request.header("host"));
  return lower(origin) != "http://" + host && lower(origin) != "https://" + host;
}

}  // namespace ridge::http
