// What the words of `ridge estimate` do. Each returns the exit code, or an error that main prints.
#pragma once

#include "app/cli/estimate_flags.hpp"
#include "app/cli/session.hpp"
#include "ridge/answer.hpp"

namespace ridge::cli {

/// Catalogue, engines and calibration of the session.
Result<Knowledge> knowledge_of(Session& session);
/// The refusal of an answer that has one, with what works instead.
[[nodiscard]] Error refusal_error(const InferenceAnswer& answer);

Result<int> estimate_infer(Session& session, const EstimateFlags& flags);

}  // namespace ridge::cli
