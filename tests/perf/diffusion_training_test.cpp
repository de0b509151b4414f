// Training of diffusion models: what holds whatever the two parameters are, and what is refused.
#include "ridge/perf/diffusion_training.hpp"

#include <gtest/gtest.h>

#include "support/knowledge.hpp"

namespace ridge {
namespace {

using testing_support::knowledge;

DiffusionTrainingQuery flux() {
  DiffusionTrainingQuery q;
  q.model = "flux.1-schnell";
  q.device = "b200-sxm-180";
  q.gpus = 16;
  q.global_batch = 512;
  q.micro_batch = 32;
  q.width = q.height = 256;
  return q;
}

DiffusionTrainingAnswer trained(const DiffusionTrainingQuery& q) {
  Result<DiffusionTrainingAnswer> a = answer(q, knowledge());
  EXPECT_TRUE(a) << (a ? "" : a.error().text());
  return a ? *std::move(a) : DiffusionTrainingAnswer{};
}

TEST(DiffusionTraining, TheTermsAddUpToTheStep) {
  const DiffusionTrainingEstimate e = trained(flux()).estimate;
  const double sum = e.forward_s + e.backward_s + e.text_s + e.exposed_s + e.optimizer_s + e.around_s;
  EXPECT_NEAR(sum, e.step_s.mid, 1e-12);
  EXPECT_LT(e.step_s.low, e.step_s.mid);
  EXPECT_NEAR(e.images_per_s.mid, 512 / e.step_s.mid, 1e-9);
  EXPECT_GT(e.backward_s, 2 * e.forward_s);
}

TEST(DiffusionTraining, WorkIsThreeForwardPassesOfTheBatch) {
  // 11.9 billion weights; 512 tokens an image and a row for each modulation: 2 x 512 x 11.9e9 less what modulation
  // skips, plus attention.
  const double per_image = trained(flux()).estimate.flops_per_step / 512;
  EXPECT_GT(per_image, 3 * 2 * 512 * 5e9);
  EXPECT_LT(per_image, 3 * 2 * 512 * 12.5e9);
}

TEST(DiffusionTraining, MemoryHoldsAParameterOnceAndStatesByReplica) {
  const DiffusionTrainingAnswer a = trained(flux());
  EXPECT_NEAR(a.memory.weights, 2 * 11.9e9, 0.4e9);
  EXPECT_NEAR(a.memory.optimizer, 6 * a.memory.weights / 16, 1);
  DiffusionTrainingQuery q = flux();
  q.recompute = true;
  EXPECT_LT(trained(q).memory.activations, 0.2 * a.memory.activations);
  EXPECT_GT(trained(q).estimate.step_s.mid, 1.2 * a.estimate.step_s.mid);
}

TEST(DiffusionTraining, WhatDoesNotFitNamesTheBatchThatDoes) {
  DiffusionTrainingQuery q = flux();
  q.device = "h100-sxm";
  const DiffusionTrainingAnswer a = trained(q);
  ASSERT_EQ(a.reason, Reason::out_of_memory);
  ASSERT_GE(a.largest_micro_batch, 1);
  q.micro_batch = a.largest_micro_batch;
  q.global_batch = 16 * q.micro_batch;
  EXPECT_EQ(trained(q).reason, Reason::none);
  q.micro_batch += 1;
  q.global_batch = 16 * q.micro_batch;
  EXPECT_EQ(trained(q).reason, Reason::out_of_memory);
}

TEST(DiffusionTraining, TheSameBatchOnMoreDevicesIsFasterButNotByAsMuch) {
  DiffusionTrainingQuery q = flux();
  q.micro_batch = 0;
  const double few = trained(q).estimate.step_s.mid;
  q.gpus = 64;
  const double many = trained(q).estimate.step_s.mid;
  EXPECT_LT(many, few);
  EXPECT_GT(many, few / 4);
}

TEST(DiffusionTraining, BadQuestionsAreRefused) {
  DiffusionTrainingQuery q = flux();
  q.global_batch = 500;
  EXPECT_FALSE(answer(q, knowledge()));
  q = flux();
  q.tp = 3;
  EXPECT_FALSE(answer(q, knowledge()));
  q = flux();
  q.micro_batch = 24;
  EXPECT_FALSE(answer(q, knowledge()));
  q = flux();
  q.model = "llama3.1-8b";
  EXPECT_FALSE(answer(q, knowledge()));
}

}  // namespace
}  // namespace ridge
