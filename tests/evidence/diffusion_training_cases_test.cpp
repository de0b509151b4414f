// MLPerf's steps of training diffusion models: read whole, none that ran refused, and predicted within the bars.
#include "evidence/cases/diffusion_training_cases.hpp"

#include <gtest/gtest.h>

#include "ridge/base/file.hpp"
#include "support/knowledge.hpp"

namespace ridge::evidence {
namespace {

std::vector<DiffusionTrainingCase> bundled() {
  const std::string path = std::string(RIDGE_DATA_DIR) + "/evidence/more/diffusion_training.csv";
  auto text = read_file(path, 1u << 24);
  EXPECT_TRUE(text);
  auto cases = read_diffusion_training_cases(text ? *text : std::string(), path);
  EXPECT_TRUE(cases);
  return cases ? *cases : std::vector<DiffusionTrainingCase>{};
}

TEST(DiffusionTrainingCases, NamesSizesAndSubmittersAreRead) {
  const auto cases = bundled();
  ASSERT_EQ(cases.size(), 30U);
  EXPECT_EQ(cases[0].query.model, "stable-diffusion-v2-unet");
  EXPECT_EQ(cases[0].query.width, 512);
  EXPECT_TRUE(cases[0].query.text_encoders);
  EXPECT_EQ(cases[0].submitter, "NVIDIA");
}

TEST(DiffusionTrainingCases, EverythingThatRanIsPredictedAndStaysWithinTheBars) {
  const auto cases = bundled();
  const DiffusionTrainingFindings f = judge_diffusion_training(cases, testing_support::knowledge());
  EXPECT_TRUE(f.refused.empty()) << f.refused.front();
  ASSERT_FALSE(f.lines.empty());
  EXPECT_EQ(f.lines[0].rows, 30);
  EXPECT_LE(f.lines[0].median_error, 0.18);
  EXPECT_LE(f.lines[0].p90_error, 0.45);
  EXPECT_GE(f.lines[0].held, 0.65);
}

}  // namespace
}  // namespace ridge::evidence
