// Models and devices under the names people write: repository ids, other letter case, nvidia-smi's names.
//
//   Result<const Model*> model = model_named(catalogue, "meta-llama/Llama-3.1-8B-Instruct");   // llama3.1-8b
//   Result<const Device*> device = device_named(catalogue, "NVIDIA H100 80GB HBM3");            // h100-sxm
//   format_in_name("nvidia/Llama-3.3-70B-Instruct-FP8");                                        // "fp8"
//
// Catalogue::find_model and find_device come here once a name is no id, so every command understands the same. A name
// is folded (case, separators, vendor, endings such as -Instruct or -FP8 that leave the shape of a model as it is) and
// taken if it then means one entry, by its id, its name or an everyday spelling. "H100" is the usual one of several.
// not_found names the candidates of a name that may mean several, or the nearest ids. Pure; any thread. The pointers
// live as long as the catalogue.
#pragma once

#include <string_view>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

[[nodiscard]] Result<const Model*> model_named(const Catalogue& catalogue, std::string_view name);
/// Whole devices only: no partitions.
[[nodiscard]] Result<const Device*> device_named(const Catalogue& catalogue, std::string_view name);

/// The number format that the name of a checkpoint ends in, as parse_format() reads it; empty if it tells none.
[[nodiscard]] std::string_view format_in_name(std::string_view model);

}  // namespace ridge
