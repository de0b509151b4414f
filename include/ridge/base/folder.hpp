// The files of a folder.
//
//   Result<std::vector<std::string>> files = files_in("data/engines", ".toml");
//   if (!files) return files.error();                    // "data/engines: cannot be read: No such file or directory"
//
// May be called from any thread. Folders below it are not looked into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

/// Paths of the files whose names end so, sorted, so that every machine reads them in one order. Refuses (not_found) a
/// folder that is not there or cannot be read.
Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view extension);

}  // namespace ridge
