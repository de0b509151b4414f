// The files of the web page, part of the program.
#pragma once

#include "app/http/server.hpp"

namespace ridge::http {

/// GET or HEAD of "/", "/app.js", ...; 404 for others. Compressed where the client takes it, with an ETag.
[[nodiscard]] Response page_file(const Request& request);

}  // namespace ridge::http
