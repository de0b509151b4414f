// What was published of experts over many devices, beside what is predicted of it: bars that a fit has to keep.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "evidence/predict/predict.hpp"
#include "evidence/settings/bundle.hpp"
#include "ridge/perf/training.hpp"
#include "support/knowledge.hpp"

namespace ridge::evidence {
namespace {

using testing_support::knowledge;

/// Predicted over measured, of one figure of each case that is asked for; refusals are left out.
template <class Wanted>
std::map<std::string, double> ratios(Metric metric, const Wanted& wanted) {
  static const Bundle bundle = *load_bundle(RIDGE_DATA_DIR);
  std::map<std::string, double> out;
  for (const Case& c : bundle.cases) {
    if (!wanted(c)) continue;
    const std::vector<Prediction> predicted = predict(c, knowledge(), Basis::formula);
    for (std::size_t i = 0; i < c.targets.size(); ++i) {
      if (c.targets[i].metric != metric || !predicted[i].refusal.empty()) continue;
      out[c.id] = predicted[i].value.mid / c.targets[i].measured;
    }
  }
  return out;
}

bool begins(const Case& c, std::string_view with) {
  return std::string_view(c.id).starts_with(with);
}

TEST(WideExperts, DispatchAndCombineTakeWhatWasPublished) {
  std::vector<double> errors;
  for (const auto& [id, ratio] : ratios(Metric::seconds, [](const Case& c) { return begins(c, "deepep-"); })) {
    errors.push_back(std::abs(ratio - 1));
    EXPECT_LE(errors.back(), 0.3) << id;
  }
  ASSERT_GE(errors.size(), 20U);
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
  EXPECT_LE(errors[errors.size() / 2], 0.15);
}

// DeepSeek's open infrastructure week, day 6: 73,700 tokens/s into and 14,800 out of a node of eight H800.
TEST(WideExperts, DeepSeeksNodeIsWithinAQuarter) {
  const auto is_it = [](const Case& c) { return begins(c, "dsonline-"); };
  const auto in = ratios(Metric::total_tok_s, is_it);
  const auto out = ratios(Metric::output_tok_s, is_it);
  ASSERT_EQ(in.size(), 1U);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_NEAR(in.begin()->second, 1, 0.25);
  EXPECT_NEAR(out.begin()->second, 1, 0.25);
}

// SGLang's decode pools of 48 GB200 (lmsys.org, 2025-06 and 2025-09).
TEST(WideExperts, DecodingOnARackIsWithinThreeTenths) {
  const auto found = ratios(Metric::output_tok_s, [](const Case& c) { return begins(c, "lmsys-gb200p"); });
  EXPECT_EQ(found.size(), 3U);
  for (const auto& [id, ratio] : found) EXPECT_NEAR(ratio, 1, 0.3) << id;
}

// The technical report counts 2.664 M H800 hours for 14.8 T tokens (arXiv 2412.19437, table 1).
TEST(WideExperts, DeepSeeksOwnRunIsWithinAFifth) {
  TrainingQuery q;
  q.model = "deepseek-v3";
  q.device = "h800-sxm";
  q.engine = "hai-llm";
  q.date = "2024-12";
  q.precision = Format::fp8;
  q.plan = {.gpus = 2048,
            .tp = 1,
            .pp = 16,
            .ep = 64,
            .sequence = 4096,
            .global_batch = 15360,
            .schedule = Schedule::dual_pipe};
  const auto job = resolve(q, knowledge());
  ASSERT_TRUE(job) << job.error().text();
  const TrainingOutcome o = evaluate(*job->resolved, job->plan);
  ASSERT_EQ(o.reason, Reason::none);
  const double hours = 14.8e12 / (15360.0 * 4096) * o.estimate.step_time_s.mid * 2048 / 3600;
  EXPECT_NEAR(hours / 2.664e6, 1, 0.2);
}

}  // namespace
}  // namespace ridge::evidence
