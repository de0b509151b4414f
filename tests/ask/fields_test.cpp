// What a question says in words is the same question: written field by field and read back, nothing is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "support/random_queries.hpp"

namespace ridge::ask {
namespace {

using testing_support::random_inference;
using testing_support::random_training;
using testing_support::same;

template <class Q>
Q read_back(const Q& asked) {
  Q again;
  for (const Setting& s : settings_of(asked)) {
    const Status read_one = read(*s.field, s.value, again);
    EXPECT_TRUE(read_one) << s.field->key << " = " << s.value << ": " << (read_one ? "" : read_one.error().text());
  }
  return again;
}

TEST(Fields, WrittenAndReadBackAreTheSameQuestionOfInference) {
  Random draws(1);
  for (int i = 0; i < 20000; ++i) {
    const InferenceQuery asked = random_inference(draws);
    ASSERT_TRUE(same(asked, read_back(asked))) << i;
  }
}

TEST(Fields, WrittenAndReadBackAreTheSameQuestionOfTraining) {
  Random draws(2);
  for (int i = 0; i < 20000; ++i) {
    const TrainingQuery asked = random_training(draws);
    ASSERT_TRUE(same(asked, read_back(asked))) << i;
  }
}

TEST(Fields, HaveOneKeyEachAndAHelp) {
  std::set<std::string_view> keys;
  for (const Field& f : deployment_fields()) {
    EXPECT_TRUE(keys.insert(f.key).second) << f.key << " is there twice";
    EXPECT_FALSE(f.help.empty()) << f.key;
    EXPECT_NE(f.verbs, 0u) << f.key;
    EXPECT_EQ(f.value_name.empty(), f.takes == Takes::on) << f.key;
    if (f.takes == Takes::whole || f.takes == Takes::count) {
      EXPECT_LT(f.low, f.high) << f.key;
    }
    if (f.takes == Takes::word) {
      EXPECT_FALSE(f.words.empty()) << f.key;
    }
  }
}

TEST(Fields, RefuseWhatIsNoneOfTheirs) {
  for (const Field& f : deployment_fields()) {
    if (f.takes <= Takes::text || f.takes == Takes::file) continue;
    for (const char* garbage : {"zzz", "-1", "nan", "inf", "1e400", "0x10", "1,5", ""}) {
      if (f.takes == Takes::format && std::string_view(garbage).empty()) continue;
      if (f.takes == Takes::counts && std::string_view(garbage) == "1,5") continue;  // a list
      EXPECT_FALSE(read_value(f, garbage)) << f.key << " took " << garbage;
    }
  }
}

TEST(Fields, TakeNoPartsOfWhatIsCounted) {
  std::vector<Field> all;
  for (const auto& fields : {deployment_fields(), rl_fields(), simulation_fields()}) {
    all.insert(all.end(), fields.begin(), fields.end());
  }
  for (const std::string_view key : {"batch", "max_num_seqs", "max_batched_tokens", "steps", "prompts", "samples",
                                     "answer_most", "mini_batch", "verifier_parallel", "requests"}) {
    const auto field = std::find_if(all.begin(), all.end(), [&](const Field& f) { return f.key == key; });
    ASSERT_NE(field, all.end()) << key;
    EXPECT_FALSE(read_value(*field, "1.5")) << key;
    EXPECT_EQ(*read_value(*field, "1k"), 1000) << key;
  }
}

TEST(Fields, TakeNoMoreNumbersInAListThanACurveShows) {
  const auto fields = deployment_fields();
  const auto field = std::find_if(fields.begin(), fields.end(), [](const Field& f) { return f.key == "lengths"; });
  ASSERT_NE(field, fields.end());
  std::string text = "1k";
  for (int i = 1; i < 1000; ++i) text += ",1k";
  EXPECT_TRUE(read_value(*field, text));
  EXPECT_FALSE(read_value(*field, text + ",1k"));
}

TEST(Fields, TakeABudgetByTheMonthAsThatOfAYear) {
  const auto fields = plan_fields();
  const auto budget = std::find_if(fields.begin(), fields.end(), [](const Field& f) { return f.key == "budget"; });
  ASSERT_NE(budget, fields.end());
  EXPECT_NEAR(*read_value(*budget, "$60k/month"), 720e3, 1e-6);
  EXPECT_NEAR(*read_value(*budget, "$2M/year"), 2e6, 1e-6);
  EXPECT_NEAR(*read_value(*budget, "$2M"), 2e6, 1e-6);
  EXPECT_FALSE(read_value(*budget, "$2/GPU-hour"));
  EXPECT_FALSE(read_value(*budget, "60000"));
}

TEST(Fields, TakeARateOfRequestsByTheDay) {
  const std::span<const Field> fields = plan_fields();
  const auto at = std::find_if(fields.begin(), fields.end(), [](const Field& f) { return f.key == "request_rate"; });
  ASSERT_NE(at, fields.end());
  for (const auto& [text, rate] : std::map<std::string, double>{
           {"50", 50}, {"50/s", 50}, {"3000 / min", 50}, {"180k/hour", 50}, {"4.32M/day", 50}}) {
    const Result<double> read = read_value(*at, text);
    ASSERT_TRUE(read) << text;
    EXPECT_NEAR(*read, rate, 1e-9) << text;
  }
  EXPECT_FALSE(read_value(*at, "5M/year"));
  EXPECT_FALSE(read_value(*at, "0/day"));
  EXPECT_FALSE(read_value(*at, "/day"));
}

TEST(Fields, NameTheKeyOfWhatIsWrong) {
  InferenceQuery q;
  const Status s = read(*find_field("power_cap"), "lots", q);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().where, "power_cap");
  EXPECT_EQ(find_field("power-cap"), nullptr);
  EXPECT_EQ(flag_of(*find_field("power_cap")), "--power-cap");
}

}  // namespace
}  // namespace ridge::ask
