// From flags to a question: defaults, contradictions, numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/cli/estimate/flags.hpp"
#include "app/cli/line/command_line.hpp"
#include "app/cli/line/plan_file.hpp"
#include "app/cli/session/session.hpp"
#include "support/random_queries.hpp"

namespace ridge::cli {
namespace {

Action nothing(Options&) {
  return {};
}

/// Flags as a command line fills them.
EstimateFlags flags_of(const std::vector<std::string>& words) {
  static std::vector<std::string>* spare = nullptr;
  static EstimateFlags* into = nullptr;
  std::vector<std::string> rest;
  EstimateFlags flags;
  spare = &rest;
  into = &flags;
  const Verb verb{"estimate", "", "", "", +[](Options& options) -> Action {
                    options.words("WORD", *spare, "");
                    into->declare(options);
                    return nothing(options);
                  }};
  GlobalOptions globals;
  std::vector<std::string> line = {"estimate", "infer"};
  line.insert(line.end(), words.begin(), words.end());
  const auto parsed = parse_command_line(line, std::span(&verb, 1), globals);
  EXPECT_TRUE(parsed) << parsed.error().text();
  return flags;
}

InferenceQuestion asked(std::vector<std::string> words) {
  words.insert(words.begin(), {"--model", "llama3.1-8b", "--device", "h100-sxm"});
  const auto q = inference_question(flags_of(words), "");
  EXPECT_TRUE(q) << q.error().text();
  return q ? *q : InferenceQuestion{};
}

std::string refused(std::vector<std::string> words) {
  words.insert(words.begin(), {"--model", "llama3.1-8b", "--device", "h100-sxm"});
  const auto q = inference_question(flags_of(words), "");
  return q ? "" : q.error().text();
}

bool says(const InferenceQuestion& q, std::string_view words) {
  return std::any_of(q.assumptions.begin(), q.assumptions.end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST(InferenceFlags, EveryFlagReachesTheQuestion) {
  const InferenceQuery q = asked({"--gpus",
                                  "16",
                                  "--tp",
                                  "4",
                                  "--pp",
                                  "2",
                                  "--ep",
                                  "4",
                                  "--dp",
                                  "2",
                                  "--weight-precision",
                                  "fp8",
                                  "--activation-precision",
                                  "bf16",
                                  "--kv-precision",
                                  "int8",
                                  "--engine",
                                  "sglang",
                                  "--engine-version",
                                  "0.4",
                                  "--isl",
                                  "8k",
                                  "--osl",
                                  "1Ki",
                                  "--concurrency",
                                  "64",
                                  "--prefix-hit",
                                  "50%",
                                  "--draft-tokens",
                                  "3",
                                  "--acceptance",
                                  "0.8",
                                  "--lora-rank",
                                  "16",
                                  "--power-cap",
                                  "500 W",
                                  "--max-batched-tokens",
                                  "4096",
                                  "--max-num-seqs",
                                  "128",
                                  "--gpu-memory-utilization",
                                  "0.85"})
                               .query;
  EXPECT_EQ(q.gpus, 16);
  EXPECT_EQ(q.tp, 4);
  EXPECT_EQ(q.pp, 2);
  EXPECT_EQ(q.ep, 4);
  EXPECT_EQ(q.dp, 2);
  EXPECT_EQ(q.weights, Format::fp8);
  EXPECT_EQ(q.activations, Format::bf16);
  EXPECT_EQ(q.kv, Format::int8);
  EXPECT_EQ(q.engine, "sglang");
  EXPECT_EQ(q.engine_version, "0.4");
  EXPECT_EQ(q.load.mode, LoadMode::closed_loop);
  EXPECT_EQ(q.load.isl, 8000);
  EXPECT_EQ(q.load.osl, 1024);
  EXPECT_EQ(q.load.concurrency, 64);
  EXPECT_EQ(q.load.prefix_hit, 0.5);
  EXPECT_EQ(q.load.draft_tokens, 3);
  EXPECT_EQ(q.load.acceptance, 0.8);
  EXPECT_EQ(q.lora_rank, 16);
  EXPECT_EQ(q.power_cap, 500);
  EXPECT_EQ(q.max_batched_tokens, 4096);
  EXPECT_EQ(q.max_sequences, 128);
  EXPECT_EQ(q.memory_utilization, 0.85);
}

TEST(InferenceFlags, PrecisionSetsBothButFormatsOfStorageOnlyTheWeights) {
  EXPECT_EQ(asked({"--precision", "fp8"}).query.activations, Format::fp8);
  EXPECT_EQ(asked({"--precision", "nvfp4"}).query.activations, Format::nvfp4);
  EXPECT_EQ(asked({"--precision", "awq"}).query.weights, Format::int4);
  EXPECT_FALSE(asked({"--precision", "awq"}).query.activations);
  EXPECT_FALSE(asked({"--precision", "mxfp4"}).query.activations);
  EXPECT_EQ(asked({"--precision", "fp8", "--weight-precision", "int4"}).query.weights, Format::int4);
  EXPECT_EQ(asked({"--precision", "fp8", "--weight-precision", "int4"}).query.activations, Format::fp8);
}

TEST(InferenceFlags, EachLoadHasItsMode) {
  EXPECT_EQ(asked({"--batch", "8"}).query.load.mode, LoadMode::fixed_batch);
  EXPECT_EQ(asked({"--batch", "8"}).query.load.batch, 8);
  EXPECT_EQ(asked({"--offline"}).query.load.mode, LoadMode::offline);
  EXPECT_EQ(asked({"--prefill", "--batch", "4"}).query.load.mode, LoadMode::prefill);
  EXPECT_EQ(asked({"--prefill", "--batch", "4"}).query.load.batch, 4);
}

TEST(InferenceFlags, DefaultsAreAssumptions) {
  const InferenceQuestion q = asked({"--draft-tokens", "2"});
  EXPECT_TRUE(says(q, "engine vllm"));
  EXPECT_TRUE(says(q, "1024 tokens in"));
  EXPECT_TRUE(says(q, "256 tokens out"));
  EXPECT_TRUE(says(q, "32 clients"));
  EXPECT_TRUE(says(q, "70 % of the proposed tokens"));
  const InferenceQuestion full = asked({"--engine", "vllm", "--isl", "1", "--osl", "1", "--batch", "1"});
  EXPECT_TRUE(full.assumptions.empty());
}

TEST(InferenceFlags, ContradictionsNameTheFix) {
  EXPECT_EQ(refused({"--batch", "8", "--concurrency", "8"}),
            "--concurrency: says another load than --batch: leave one out");
  EXPECT_EQ(refused({"--offline", "--concurrency", "8"}),
            "--concurrency: says another load than --offline: leave one out");
  EXPECT_EQ(refused({"--offline", "--batch", "8"}),
            "--offline: lets the engine choose the batch: leave out --batch, or --offline");
  EXPECT_EQ(refused({"--prefill", "--offline"}),
            "--prefill: decodes nothing: leave out --offline; --batch says how many prompts run together");
  EXPECT_EQ(refused({"--prefill", "--osl", "3"}), "--osl: nothing is decoded with --prefill: leave one out");
  EXPECT_NE(refused({"--acceptance", "0.5"}).find("--draft-tokens"), std::string::npos);
  EXPECT_NE(refused({"--prefix-hit", "1"}).find("below 1"), std::string::npos);
  EXPECT_NE(refused({"--kv-precision", "int4"}).find("bf16, fp16, fp8 or int8"), std::string::npos);
}

TEST(InferenceFlags, NumbersAndNamesThatCannotBeRead) {
  EXPECT_NE(refused({"--tp", "two"}).find("--tp: "), std::string::npos);
  EXPECT_EQ(refused({"--tp", "1.5"}), "--tp: 1.5 is no whole number");
  EXPECT_EQ(refused({"--tp", "0"}), "--tp: 0 is outside of 1 to 1,000,000");
  EXPECT_NE(refused({"--isl", "4K"}).find("--isl: "), std::string::npos);
  EXPECT_NE(refused({"--precision", "fp7"}).find("--precision: 'fp7' is no number format; did you mean"),
            std::string::npos);
  EXPECT_NE(refused({"--power-cap", "500"}).find("--power-cap: a unit is missing"), std::string::npos);
  EXPECT_NE(refused({"--power-cap", "-5W"}).find("above 0"), std::string::npos);
  EXPECT_NE(refused({"--acceptance", "70", "--draft-tokens", "2"}).find("--acceptance: "), std::string::npos);
  EXPECT_NE(refused({"--gpu-memory-utilization", "0"}).find("above 0"), std::string::npos);
}

TEST(InferenceFlags, ModelAndDeviceAreAskedFor) {
  const auto no_model = inference_question(flags_of({"--device", "h100-sxm"}), "");
  ASSERT_FALSE(no_model);
  EXPECT_EQ(no_model.error().where, "--model");
  const auto no_device = inference_question(flags_of({"--model", "llama3.1-8b"}), "");
  ASSERT_FALSE(no_device);
  EXPECT_EQ(no_device.error().where, "--device");
}

TEST(EstimateFlags, OfAnotherWordAreRefused) {
  const EstimateFlags flags = flags_of({"--explain"});
  EXPECT_TRUE(flags.check(kInfer));
  const Status compare = flags.check(kCompare);
  ASSERT_FALSE(compare);
  EXPECT_EQ(compare.error().text(), "--explain: is for infer, not for compare: leave it out");
}

TEST(Lists, AreTakenApartAtCommas) {
  EXPECT_EQ(*split_list("--tp", "1, 2,4"), (std::vector<std::string>{"1", "2", "4"}));
  EXPECT_EQ(*split_list("--tp", "8"), (std::vector<std::string>{"8"}));
  EXPECT_FALSE(split_list("--tp", "1,,2"));
  EXPECT_FALSE(split_list("--tp", ""));
}

// 65,536 x 65,536 is 2^32, which an int holds as 0: what divides by it must never see it.
TEST(EstimateFlags, RefusesDegreesThatMultiplyToMoreDevicesThanThereAre) {
  EstimateFlags flags;
  for (const char* name : {"--model", "--device"}) flags.set(name, "any");
  for (const char* name : {"--tp", "--pp"}) flags.set(name, "65536");
  flags.set("--gpus", "8");
  EXPECT_EQ(inference_question(flags, "").error().where, "--tp");
  EXPECT_EQ(training_question(flags, "").error().where, "--tp");
}

/// What the fields of a question say, as the words of a line.
template <class Q>
std::vector<std::string> as_line(const Q& query) {
  std::vector<std::string> words;
  for (const ask::Setting& s : ask::settings_of(query)) {
    const bool is_switch = s.field->takes == ask::Takes::on;
    words.push_back(ask::flag_of(*s.field) + (is_switch ? "" : "=" + s.value));
  }
  return words;
}

/// The same through a plan file.
template <class Q>
std::vector<std::string> as_plan_file(const Q& query, const char* kind) {
  PlanFile file{kind, {}};
  std::vector<std::string> flags;
  for (const ask::Setting& s : ask::settings_of(query)) file.flags.emplace_back(ask::flag_of(*s.field), s.value);
  for (const ask::Field& f : ask::deployment_fields()) flags.push_back(ask::flag_of(f));
  const auto read = parse_plan_file(plan_file_text(file), "plan.toml", {flags.begin(), flags.end()});
  EXPECT_TRUE(read) << read.error().text();
  std::vector<std::string> words;
  if (!read) return words;
  for (const auto& [flag, value] : read->flags) {
    std::string key = flag.substr(2);
    std::replace(key.begin(), key.end(), '-', '_');
    const bool is_switch = ask::find_field(key)->takes == ask::Takes::on;
    words.push_back(flag + (is_switch ? "" : "=" + value));
  }
  return words;
}

TEST(EstimateFlags, ALineAndAPlanFileAskWhatTheirFieldsSay) {
  Random draws(3);
  for (int i = 0; i < 60; ++i) {
    const InferenceQuery asked = testing_support::random_inference(draws);
    for (const auto& words : {as_line(asked), as_plan_file(asked, "serve")}) {
      const auto read = inference_question(flags_of(words), "");
      ASSERT_TRUE(read) << read.error().text();
      ASSERT_TRUE(testing_support::same(read->query, asked)) << i;
    }
    const TrainingQuery job = testing_support::random_training(draws);
    for (const auto& words : {as_line(job), as_plan_file(job, "train")}) {
      const auto read = training_question(flags_of(words), "");
      ASSERT_TRUE(read) << read.error().text();
      ASSERT_TRUE(testing_support::same(read->query, job)) << i;
    }
  }
}

}  // namespace
}  // namespace ridge::cli
