// What the words of `ridge estimate` do. Each returns the exit code, or an error that main prints.
#pragma once

#include "app/cli/estimate/flags.hpp"
#include "app/cli/session/session.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/perf/encoder.hpp"

namespace ridge::cli {

/// Catalogue, engines and calibration of the session.
Result<Knowledge> knowledge_of(Session& session);
/// What --set is about in a question with these flags.
Result<WhatIfSubjects> what_if_subjects(const EstimateFlags& flags);
/// What works instead, a line for each.
[[nodiscard]] std::string nearest_lines(const Refusal& refusal);
/// The refusal of an answer that has one, with what works instead.
[[nodiscard]] Error refusal_error(const InferenceAnswer& answer);

/// Adds to the assumptions what --set changed.
void add_changes(const Session& session, std::vector<std::string>& assumptions);

/// Memory of a device as its vendor names it, in bytes: 180e9 of a B200 that reports 192e9 to programs; 0 = not known.
[[nodiscard]] double sold_memory(const Catalogue& catalogue, std::string_view device);

/// The answer with what the flags assumed and what --set changed among its assumptions.
Result<InferenceAnswer> answer_question(const Session& session, const InferenceQuestion& question,
                                        const Knowledge& knowledge, bool explain);

Result<int> estimate_diffusion(Session& session, const EstimateFlags& flags);
Result<int> estimate_diffusion_training(Session& session, const EstimateFlags& flags);
/// "1024" or "1920x1080".
Status read_resolution(const std::string& text, double& width_pixels, double& height_pixels);
Result<int> estimate_fit(Session& session, const EstimateFlags& flags);
Result<int> estimate_techniques(Session& session, const EstimateFlags& flags);
Result<int> estimate_compare(Session& session, const EstimateFlags& flags);
Result<int> estimate_rl(Session& session, const EstimateFlags& flags);
Result<int> estimate_train(Session& session, const EstimateFlags& flags);
Result<int> estimate_infer(Session& session, const EstimateFlags& flags);
/// With --disaggregate.
Result<int> estimate_pools(Session& session, const EstimateFlags& flags);
/// With --lengths.
Result<int> estimate_context(Session& session, const EstimateFlags& flags);
/// Seconds that --audio says.
Result<double> sound_of(const EstimateFlags& flags);
/// What --images and --audio say; their tokens are added to the question's prompts. Refuses models that have no
/// encoder.
Result<MediaLoad> media_question(const EstimateFlags& flags, const Knowledge& knowledge, InferenceQuestion& question);
/// Adds the time of their encoder to the answer, if there are any.
Status answer_media(const MediaLoad& media, const Knowledge& knowledge, InferenceAnswer& answer);

}  // namespace ridge::cli
