// What experts chose beside what a search finds: published training recipes against the optimum of the model.
//
//   for (const Recipe& r : compare_recipes(cases, knowledge)) use(r.id, r.chosen_s / r.found_s);
//
// Both times are predictions, so that the choice is compared and not the model's error. Searches some thousands of
// plans for each recipe; pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evidence/cases/case.hpp"
#include "ridge/perf/training.hpp"

namespace ridge::evidence {

struct Recipe {
  std::string id;
  std::string source;
  std::string model;
  std::string device;
  int gpus = 0;
  Format precision = Format::bf16;
  TrainingPlan chosen;
  TrainingPlan found;
  double chosen_s = 0;  ///< of a step; 0 if the model says that the plan cannot run
  double found_s = 0;
  Reason refused = Reason::none;  ///< why the model cannot run the choice
  double short_by = 0;
  bool proxy = false;   ///< a shortened model that keeps the layout of the whole one on purpose: nobody's choice
  std::string differs;  ///< what the found plan does otherwise: "pp 4 instead of 8, ..."
  std::string because;  ///< where its step is shorter, and longer: "pipeline -210 ms, tensor parallel +12 ms"
};

/// Training cases whose source is one of `sources` (empty = all), each question once.
[[nodiscard]] std::vector<Recipe> compare_recipes(std::span<const Case> cases,
                                                  std::span<const std::string_view> sources,
                                                  const Knowledge& knowledge);

/// Repositories and pages in which NVIDIA publishes how to train on its devices.
inline constexpr std::string_view kVendorRecipes[] = {
    "NVIDIA/dgxc-benchmarking",       "NVIDIA-NeMo/Megatron-Bridge", "docs.nvidia.com", "NVIDIA/NeMo",
    "NVIDIA/NeMo-Framework-Launcher", "NVIDIA/Megatron-LM"};

}  // namespace ridge::evidence
