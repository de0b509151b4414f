// Verbs called by programs: what flags become, what is refused, and that only a caller on this machine names files.
#include "app/cli/call.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "app/cli/batch.hpp"

namespace ridge::cli {
namespace {

using Words = std::vector<std::string>;

const Surroundings& here() {
  static const Surroundings found{.program = "", .data_variable = RIDGE_DATA_DIR};
  return found;
}

const SharedData& shared() {
  static const SharedData data = *Session({}, here()).share();
  return data;
}

Result<Words> words(std::string_view verb, std::string_view json, const CallLimits& limits = {}) {
  const auto flags = read_flags(json, "body");
  if (!flags) return flags.error();
  return call_words(verb, *flags, *shared().catalogue, limits);
}

TEST(Call, FlagsBecomeTheLineThatAPersonWouldWrite) {
  const auto line = words("estimate", R"({"gpus": 2, "kind": "infer", "model": "llama3.1-8b", "offline": true,
                                          "prefill": false, "osl": null, "set": ["a=1", "b=2"]})");
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, (Words{"estimate", "infer", "--gpus=2", "--model=llama3.1-8b", "--offline", "--set=a=1", "--set=b=2",
                          "--json"}));
}

TEST(Call, KindIsAFlagOfVerbsThatTakeNoWords) {
  EXPECT_EQ(*words("validate", R"({"kind": "inference"})"), (Words{"validate", "--kind=inference", "--json"}));
}

TEST(Call, KeysThatDoNotExistAreRefusedByName) {
  const auto line = words("estimate", R"({"modle": "llama3.1-8b"})");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().where, "modle");
  EXPECT_NE(line.error().message.find("--model"), std::string::npos);
  EXPECT_FALSE(words("no-such-verb", "{}"));
  EXPECT_FALSE(words("estimate", "[1]"));
  EXPECT_FALSE(words("estimate", R"({"model": {"id": 1}})"));
}

TEST(Call, OnlyCallersOnThisMachineNameFiles) {
  for (const auto& [verb, json] : {std::pair{"estimate", R"({"kind": "train", "svg": "x.svg"})"},
                                   {"estimate", R"({"kind": "infer", "model": "./config.json"})"},
                                   {"estimate", R"({"kind": "infer", "device": "mine.toml"})"},
                                   {"estimate", R"({"kind": "infer", "catalogue": "mine.toml"})"},
                                   {"plan", R"({"kind": "examples/chat-70b.toml"})"},
                                   {"plan", R"({"file": "examples/chat-70b.toml"})"}}) {
    EXPECT_FALSE(words(verb, json)) << json;
    EXPECT_TRUE(words(verb, json, {.files = true})) << json;
  }
  EXPECT_FALSE(words("estimate", R"({"data": "elsewhere"})", {.files = true}));
}

TEST(Call, ASentenceIsNeverTakenForAPath) {
  const auto line = words("check", R"({"text": "/etc/passwd"})");
  ASSERT_TRUE(line);
  const StopSign never;
  const auto answer = call(*line, shared(), here(), never);
  EXPECT_TRUE(!answer || answer->json.find("root") == std::string::npos);
}

TEST(Batch, RefusesWhatIsNoColumnAndALayoutLeftOpen) {
  const std::string flags = R"({"model": "llama3.1-8b", "device": "h100-sxm"})";
  const auto open = [&](std::string_view kind, const Words& in, const Words& out) {
    return Batch::open(kind, flags, in, out, shared(), here());
  };
  EXPECT_TRUE(open("infer", {"tp"}, {"ttft_s"}));
  EXPECT_EQ(open("infer", {"tp", "colour"}, {"ttft_s"}).error().where, "colour");
  EXPECT_EQ(open("infer", {"tp"}, {"ttft"}).error().where, "ttft");
  EXPECT_EQ(open("infer", {"isl"}, {"ttft_s"}).error().where, "tp");
  EXPECT_EQ(open("train", {"gpus", "tp", "pp", "micro_batch"}, {"mfu"}).error().where, "global_batch");
  EXPECT_EQ(open("infer", {"tp", "model"}, {"ttft_s"}).error().where, "model");
  EXPECT_FALSE(open("diffusion", {}, {}));
}

TEST(Batch, PointsThatCannotRunHaveAReasonAndNoNumbers) {
  const auto batch = Batch::open("infer", R"({"model": "llama3.3-70b", "device": "h100-sxm"})", {"tp", "batch"},
                                 {"output_tokens_per_s", "reason", "short_by"}, shared(), here());
  ASSERT_TRUE(batch) << batch.error().text();
  const std::int32_t tp[] = {1, 4, 0};
  const double size[] = {1, 1, 1};
  double rate[3], reason[3], missing[3];
  double* const out[] = {rate, reason, missing};
  const Column in[] = {{ColumnType::int32, tp}, {ColumnType::float64, size}};
  ASSERT_TRUE((*batch)->evaluate(3, in, out, 1));
  EXPECT_EQ(reason[0], static_cast<double>(Reason::out_of_memory));
  EXPECT_TRUE(std::isnan(rate[0]));
  EXPECT_GT(missing[0], 1e9);
  EXPECT_EQ(reason[1], 0);
  EXPECT_GT(rate[1], 1);
  EXPECT_EQ(reason[2], static_cast<double>(Reason::bad_value));
  EXPECT_FALSE((*batch)->evaluate(3, std::span(in, 1), out, 1));
}

}  // namespace
}  // namespace ridge::cli
