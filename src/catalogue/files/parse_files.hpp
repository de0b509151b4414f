// Many TOML files at once.
//
//   std::vector<Result<TomlNode>> roots = parse_files(paths);   // in the order of the paths
//
// A few threads share the work, because parsing is most of what loading a catalogue takes (bench/catalogue.cpp); the
// result does not depend on how many. Nothing is left running on return.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/result.hpp"

namespace ridge {

std::vector<Result<TomlNode>> parse_files(const std::vector<std::string>& paths);

/// Hands `take` each [[name]] of all .toml files of a folder, in the order of their names, with its file; stops at what
/// it refuses. Refuses a file that holds anything else.
Status each_table(const std::string& directory, std::string_view name,
                  const std::function<Status(const TomlNode& table, const std::string& file)>& take);

}  // namespace ridge
