// Whom a request is for and where it comes from. A page elsewhere must reach this server neither through a name of its
// own (DNS rebinding) nor from a browser that is here (cross-site requests).
//
//   parse_host("LOCALHOST:8080");        // {"localhost", 8080}
//   parse_host("[::1]evil.example");     // nothing
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/http/server.hpp"

namespace ridge::http {

struct Host {
  std::string name;  ///< in lower case; an IPv6 address without its brackets
  int port = 0;      ///< 0 = not said
};

/// A Host header as RFC 9110 has it: a name or address, and perhaps a port. Nothing for anything else.
[[nodiscard]] std::optional<Host> parse_host(std::string_view text);

/// 127.0.0.0/8 or ::1.
[[nodiscard]] bool is_loopback(const std::string& address);

/// Whether a browser says that a page of another site asks (Sec-Fetch-Site, Origin). Programs that say nothing of the
/// kind do not come from a page.
[[nodiscard]] bool is_cross_site(const Request& request);

}  // namespace ridge::http
