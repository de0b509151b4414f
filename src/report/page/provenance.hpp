// What every report ends with: where its figures are from, and how to ask again.
//
//   Provenance p{.sources = sources_of(catalogue, {"llama3.3-70b"}, {"h200-sxm"}), .command = "ridge plan serve ..."};
//   page.add(p);
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge::report {

struct Provenance {
  std::vector<std::string> sources;
  std::string command;
};

/// "h200-sxm: NVIDIA H200 datasheet (document, 2024-11)", one line for each that the catalogue knows, in this order and
/// each once.
[[nodiscard]] std::vector<std::string> sources_of(const Catalogue& catalogue, const std::vector<std::string>& models,
                                                  const std::vector<std::string>& devices);

}  // namespace ridge::report
