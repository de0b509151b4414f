// What an answer depends on beside its question: the program and every file it reads, each as a digest. A search that
// goes on tomorrow, or is merged from ten machines, is one search only if these are the same.
//
//   Result<std::vector<search::Basis>> basis = plan_basis(session, "my-model/config.json");
//   // {"program", "9f..."}, {"catalogue", "03..."}, {"prices", ...}, {"model", ...}, {"calibration", ...}, ...
#pragma once

#include <string>
#include <vector>

#include "app/cli/session/session.hpp"
#include "search/store.hpp"

namespace ridge::cli {

/// Of a question of `ridge plan` about this model. Refuses what cannot be read.
Result<std::vector<search::Basis>> plan_basis(const Session& session, const std::string& model);

/// What tells one build of the program from another: the linker's build id, or the version where there is none.
[[nodiscard]] std::string program_id();

}  // namespace ridge::cli
