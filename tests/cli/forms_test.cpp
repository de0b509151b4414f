// One question, many forms: a random question of every kind, written as flags, as JSON, as a plan file, and read back
// by whoever reads them, is the same question. What a table has no member for is none of the question itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/cli/estimate/flags.hpp"
#include "app/cli/fields/flags.hpp"
#include "app/cli/line/plan_file.hpp"
#include "economics/cost_case.hpp"
#include "economics/goodput/case.hpp"
#include "ridge/base/random.hpp"
#include "ridge/facility/facility_answer.hpp"
#include "ridge/search/plan.hpp"
#include "ridge/serve/simulation.hpp"
#include "support/random_queries.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

using ask::Field;
using ask::Setting;
using testing_support::shared;

/// Texts of fields that read them in a way of their own.
const std::map<std::string_view, std::vector<std::string>>& examples() {
  static const std::map<std::string_view, std::vector<std::string>> kAll = {
      {"arrivals", {"constant", "gamma:0.37", "on-off:10s,30s", "diurnal:1day,0.5"}},
      {"seed", {"7", "18446744073709551615"}},
      {"kv_tiers", {"host:512GB:50GB/s", "a:1TB:12.5GB/s:100us,b:inf:10GB/s:1ms:shared"}},
      {"gather", {"0.9:20", "0.123456789:1"}},
      {"autoscale", {"0:8", "2:2"}},
      {"kill", {"2@30s", "1@0.125s"}},
      {"exchange", {"CNY=0.14", "EUR=1.0837"}},
      {"strategy", {"full", "sharded", "async", "in-memory", "delta"}},
      {"topology", {"rail-fat-tree", "fat-tree", "spine-leaf", "dragonfly-plus", "torus"}},
      {"power_cap", {"search", "500W,none", "612.5W"}},
      {"peak", {"3x", "1.7x"}},
      {"spares", {"N+1", "N+2", "node", "rack"}},
      {"task", {"pretrain", "sft", "lora"}},
      {"sharding", {"none", "zero1", "zero3", "hsdp"}},
      {"objective", {"cost", "time", "energy", "gpus"}},
      {"purchase", {"spot", "reserved", "any"}},
      {"gpus", {"8", "512"}},
      {"fleet", {"h100-sxm:64,a100-sxm-80:32"}},
      {"devices", {"h100-sxm", "h100-sxm,mi300x"}},
  };
  return kAll;
}

std::string random_text(const Field& field, Random& r) {
  using ask::Takes;
  if (const auto at = examples().find(field.key); at != examples().end() && field.takes != Takes::whole) {
    return at->second[r.below(at->second.size())];
  }
  const double any = std::exp(20 * r.uniform() - 6);
  switch (field.takes) {
    case Takes::on:
      return "true";
    case Takes::share:
      return fmt::format("{}", r.uniform());
    case Takes::whole:
      return fmt::format("{:.0f}",
                         std::floor(field.low + r.uniform() * (std::min(field.high, field.low + 1e6) - field.low)));
    case Takes::count:
    case Takes::per_second:
      return fmt::format("{}", std::clamp(any, field.low, field.high));
    case Takes::ratio:
      return fmt::format("{}", 1 + r.uniform() * (field.most.most - 1));
    case Takes::tally:
      return fmt::format("{:.0f}", std::floor(any));
    case Takes::word:
      return std::string(field.words[r.below(field.words.size())].text);
    case Takes::formats:
      return "bf16,fp8";
    case Takes::named:
    case Takes::engine:
      return "some-name";
    default:
      return ask::write_value(field, std::min(any, field.most.most));
  }
}

template <class Q>
Q random_question(std::span<const Field> fields, Random& r) {
  Q q{};
  for (const Field& field : fields) {
    if (!ask::is_of<Q>(field) || r.uniform() < 0.5) continue;
    const std::string text = random_text(field, r);
    const Status read = ask::read_into(field, text, q);
    EXPECT_TRUE(read) << field.key << " = " << text << ": " << (read ? "" : read.error().message);
  }
  return q;
}

std::string text_of(const std::vector<Setting>& settings) {
  std::string out;
  for (const Setting& s : settings) out += std::string(s.field->key) + " = " + s.value + "\n";
  return out;
}

/// Values of a table, read by way of options, as people and programs do.
class Reader {
 public:
  explicit Reader(std::span<const Field> fields) : flags_({fields}) {
    flags_.declare(own_, ~0u);
    declare_globals(globals_, options_);
  }

  Status take_words(const std::vector<std::string>& words) {
    static Flags* into = nullptr;
    into = &flags_;
    const Verb verb{"ask", "", "", "", +[](Options& options) -> Action {
                      into->declare(options, ~0u);
                      return [](Session&) -> Result<int> { return 0; };
                    }};
    const auto read = parse_command_line(words, std::span(&verb, 1), options_);
    return read ? Status() : Status(read.error());
  }
  Status take_json(std::string_view verb, const std::string& json) {
    auto said = read_said(json, "body");
    if (!said) return said.error();
    const auto asked = make_call(verb, *std::move(said), *shared().catalogue, {.files = Files::allowed});
    return asked ? take_call(*asked, own_, globals_) : Status(asked.error());
  }
  Status take_file(const std::string& text, const std::vector<std::string>& flags) {
    const std::string path =
        testing::TempDir() + "forms_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
    std::ofstream(path) << text;
    const Status done = take_plan_file(path, own_, globals_, {flags.begin(), flags.end()});
    std::filesystem::remove(path);
    return done;
  }
  template <class Q>
  std::string said(std::span<const Field> fields) {
    Q q{};
    const Status read = flags_.read_into(q);
    return read ? text_of(ask::settings_in(fields, q)) : read.error().text();
  }

 private:
  Flags flags_;
  Options own_;
  GlobalOptions options_;
  Options globals_;
};

template <class Q>
void expect_same_in_all_forms(std::string_view verb, std::span<const Field> fields, const char* kind, int times) {
  Random draws(11);
  for (int i = 0; i < times; ++i) {
    const std::vector<Setting> settings = ask::settings_in(fields, random_question<Q>(fields, draws));
    const std::string asked = text_of(settings);
    std::vector<std::string> words = {"ask"};
    std::vector<std::string> known;
    Json json = Json::object();
    PlanFile file{kind, {}};
    for (const Setting& s : settings) {
      const bool on = s.field->takes == ask::Takes::on;
      known.push_back(ask::flag_of(*s.field));
      words.push_back(known.back() + (on ? "" : "=" + s.value));
      file.flags.emplace_back(known.back(), s.value);
      if (on) {
        json.set(std::string(s.field->key), true);
      } else {
        json.set(std::string(s.field->key), s.value);
      }
    }
    Reader line(fields);
    ASSERT_TRUE(line.take_words(words)) << asked;
    EXPECT_EQ(line.template said<Q>(fields), asked) << "as flags";
    Reader body(fields);
    const Status read = body.take_json(verb, json.text());
    ASSERT_TRUE(read) << asked << (read ? "" : read.error().text());
    EXPECT_EQ(body.template said<Q>(fields), asked) << "as JSON";
    Reader plan(fields);
    const Status saved = plan.take_file(plan_file_text(file), known);
    ASSERT_TRUE(saved) << asked << (saved ? "" : saved.error().text());
    EXPECT_EQ(plan.template said<Q>(fields), asked) << "as a plan file";
    if (testing::Test::HasFailure()) return;
  }
}

constexpr int kTimes = 150;

TEST(Forms, OfASimulationAreOneQuestion) {
  expect_same_in_all_forms<SimulationQuery>("simulate", ask::simulation_fields(), "serve", kTimes);
}
TEST(Forms, OfACostAreOneQuestion) {
  expect_same_in_all_forms<CostInputs>("cost", ask::cost_fields(), "serve", kTimes);
  expect_same_in_all_forms<CostQuery>("cost", ask::cost_fields(), "serve", kTimes);
}
TEST(Forms, OfALongRunAreOneQuestion) {
  expect_same_in_all_forms<GoodputQuery>("goodput", ask::goodput_fields(), "train", kTimes);
}
TEST(Forms, OfASiteAreOneQuestion) {
  expect_same_in_all_forms<FacilityQuestion>("facility", ask::facility_fields(), "train", kTimes);
}
TEST(Forms, OfAGoalAreOneQuestion) {
  expect_same_in_all_forms<ServingGoal>("plan", ask::plan_fields(), "serve", kTimes);
  expect_same_in_all_forms<TrainingGoal>("plan", ask::plan_fields(), "train", kTimes);
}

// A sweep sets one field: what all others say stays.
template <class Q>
void expect_sweeps_to_keep_the_rest(std::span<const Field> fields) {
  Random draws(12);
  for (int i = 0; i < kTimes; ++i) {
    Q q = random_question<Q>(fields, draws);
    std::map<const Field*, std::string> before;
    for (const Setting& s : ask::settings_in(fields, q)) before[s.field] = s.value;
    const Field& swept = fields[draws.below(fields.size())];
    // These say the same thing as another field, and take its place.
    static constexpr std::string_view kCoupled[] = {"gather",   "gather_ranks", "autoscale", "load",
                                                    "max_load", "own",          "purchase"};
    if (!ask::is_of<Q>(swept) || std::find(std::begin(kCoupled), std::end(kCoupled), swept.key) != std::end(kCoupled))
      continue;
    ASSERT_TRUE(ask::read_into(swept, random_text(swept, draws), q)) << swept.key;
    std::map<const Field*, std::string> after;
    for (const Setting& s : ask::settings_in(fields, q)) after[s.field] = s.value;
    before.erase(&swept);
    after.erase(&swept);
    EXPECT_EQ(before, after) << swept.key;
  }
}

TEST(Forms, AFieldThatIsSweptLeavesTheOthers) {
  expect_sweeps_to_keep_the_rest<SimulationQuery>(ask::simulation_fields());
  expect_sweeps_to_keep_the_rest<CostInputs>(ask::cost_fields());
  expect_sweeps_to_keep_the_rest<GoodputQuery>(ask::goodput_fields());
  expect_sweeps_to_keep_the_rest<FacilityQuestion>(ask::facility_fields());
  expect_sweeps_to_keep_the_rest<ServingGoal>(ask::plan_fields());
  expect_sweeps_to_keep_the_rest<TrainingGoal>(ask::plan_fields());
}

// A deployment and a training job as JSON; their lines and plan files are in estimate_flags_test.cpp.
TEST(Forms, OfADeploymentAndAJobAreOneQuestionAsJson) {
  Random draws(13);
  const auto read_back = [](const auto& asked, auto& again) {
    Json json = Json::object();
    for (const Setting& s : ask::settings_of(asked)) {
      if (s.field->takes == ask::Takes::on) {
        json.set(std::string(s.field->key), true);
      } else {
        json.set(std::string(s.field->key), s.value);
      }
    }
    auto said = read_said(json.text(), "body");
    ASSERT_TRUE(said);
    const auto made = make_call("estimate", *std::move(said), *shared().catalogue, {.files = Files::allowed});
    ASSERT_TRUE(made) << made.error().text();
    EstimateFlags flags;
    Options own;
    flags.declare(own);
    GlobalOptions unused;
    Options globals;
    declare_globals(globals, unused);
    ASSERT_TRUE(take_call(*made, own, globals));
    ASSERT_TRUE(flags.read(again));
  };
  for (int i = 0; i < kTimes; ++i) {
    const InferenceQuery asked = ridge::testing_support::random_inference(draws);
    InferenceQuery again;
    read_back(asked, again);
    ASSERT_TRUE(ridge::testing_support::same(asked, again)) << i;
    const TrainingQuery job = ridge::testing_support::random_training(draws);
    TrainingQuery job_again;
    read_back(job, job_again);
    ASSERT_TRUE(ridge::testing_support::same(job, job_again)) << i;
  }
}

}  // namespace
}  // namespace ridge::cli
