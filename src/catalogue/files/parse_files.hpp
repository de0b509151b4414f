// Many TOML files at once.
//
//   std::vector<Result<TomlNode>> roots = parse_files(paths);   // in the order of the paths
//
// A few threads share the work, because parsing is most of what loading a catalogue takes (bench/catalogue.cpp); the
// result does not depend on how many. Nothing is left running on return.
#pragma once

#include <string>
#include <vector>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/result.hpp"

namespace ridge {

std::vector<Result<TomlNode>> parse_files(const std::vector<std::string>& paths);

}  // namespace ridge
