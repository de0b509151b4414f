// What web/build.mjs made, as bytes in the program. The .cpp is written at build time (cmake/page.cmake).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ridge::http {

struct PageFile {
  std::string_view name;        ///< "index.html"
  std::string_view plain;       ///< its bytes
  std::string_view compressed;  ///< by gzip
  const char* tag;              ///< ETag, with its quotes
};

[[nodiscard]] std::span<const PageFile> page_files();

}  // namespace ridge::http
