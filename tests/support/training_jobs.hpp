// Training questions that tests of several files ask.
#pragma once

#include <gtest/gtest.h>

#include "ridge/perf/training.hpp"
#include "support/knowledge.hpp"

namespace ridge::testing_support {

/// Heads of 128, no vocabulary to speak of: stages of a pipeline are even.
inline constexpr const char* kEven =
    "dense:layers=16,hidden=4096,heads=32,kv_heads=32,ffn=16384,gated=0,vocab=64,tied=1";

/// Empty after a failure, which is told.
inline TrainingJob job_of(const TrainingQuery& query) {
  auto job = resolve(query, knowledge());
  EXPECT_TRUE(job) << job.error().text();
  return job ? std::move(*job) : TrainingJob();
}

}  // namespace ridge::testing_support
