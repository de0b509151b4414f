// Verbs called by programs: what flags become, what is refused, and that only a caller on this machine names files.
#include "app/cli/call/call.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "app/cli/call/batch.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

using Words = std::vector<std::string>;

using testing_support::here;
using testing_support::shared;

Result<Call> asked(std::string_view verb, std::string_view json, const CallLimits& limits = {}) {
  auto said = read_said(json, "body");
  if (!said) return said.error();
  return make_call(verb, *std::move(said), *shared().catalogue, limits);
}

TEST(Call, FlagsBecomeTheLineThatAPersonWouldWrite) {
  const auto line = asked("estimate", R"({"gpus": 2, "kind": "infer", "model": "llama3.1-8b", "offline": true,
                                          "prefill": false, "osl": null, "set": ["a=1", "b=2"]})");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->line(), (Words{"estimate", "infer", "--gpus=2", "--model=llama3.1-8b", "--offline", "--set=a=1",
                                 "--set=b=2", "--json"}));
}

TEST(Call, KindIsAFlagOfVerbsThatTakeNoWords) {
  EXPECT_EQ(asked("validate", R"({"kind": "inference"})")->line(), (Words{"validate", "--kind=inference", "--json"}));
}

TEST(Call, KeysThatDoNotExistAreRefusedByName) {
  const auto line = asked("estimate", R"({"modle": "llama3.1-8b"})");
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().where, "modle");
  EXPECT_NE(line.error().message.find("did you mean 'model'"), std::string::npos) << line.error().message;
  EXPECT_EQ(line.error().message.find("--"), std::string::npos) << "a key is no word of a command line";
  EXPECT_FALSE(asked("no-such-verb", "{}"));
  EXPECT_FALSE(asked("estimate", "[1]"));
  EXPECT_FALSE(asked("estimate", R"({"model": {"id": 1}})"));
}

TEST(Call, AKeySaidTwiceIsRefusedWithBothPlaces) {
  const auto flags = read_said(
      "{\"kind\": \"infer\",\n  \"model\": \"a\", \"set\": [{\"model\": 1}, \"model\"],\n \"model\": \"b\"}", "body");
  ASSERT_FALSE(flags);
  EXPECT_EQ(flags.error().where, "body:3:2");
  EXPECT_NE(flags.error().message.find("'model' was said already, at body:2:3"), std::string::npos)
      << flags.error().message;
  EXPECT_TRUE(read_said(R"({"a": {"x": 1}, "b": {"x": 1}})", "body").ok() ||
              read_said(R"({"a": {"x": 1}, "b": {"x": 1}})", "body").error().where != "body:1:17");
}

// A field of a form that nobody filled in, a variable that is not set: never as if the restriction were not there.
TEST(Call, AnEmptyValueIsRefused) {
  for (const char* key : {"destination", "avoid_vendors", "origin", "devices", "region"}) {
    const auto question = asked(
        "plan", R"({"kind": "serve", "model": "llama3.1-8b", "request_rate": 5, ")" + std::string(key) + R"(": ""})");
    ASSERT_TRUE(question) << key;
    const StopSign never;
    const auto answer = call(*question, shared(), here(), never, Files::refused);
    ASSERT_FALSE(answer) << key;
    EXPECT_EQ(answer.error().code, ErrorCode::bad_input);
    EXPECT_NE(answer.error().message.find("empty"), std::string::npos) << answer.error().message;
  }
}

TEST(Call, WhatNeverReturnsCannotBeCalled) {
  CallLimits at_home;
  at_home.files = Files::allowed;
  const auto line = asked("serve", "{}", at_home);
  ASSERT_FALSE(line);
  EXPECT_NE(line.error().message.find("never"), std::string::npos);
}

TEST(Call, WorkThatIsCutShortIsNoAnswer) {
  StopSign stop;
  stop.deadline = std::chrono::steady_clock::now();
  const auto line =
      asked("goodput", R"({"gpus": 1024, "model": "llama3.1-70b", "device": "h100-sxm", "duration": "30days"})");
  ASSERT_TRUE(line);
  const auto answer = call(*line, shared(), here(), stop, Files::refused);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::refused);
  EXPECT_NE(answer.error().message.find("time is over"), std::string::npos) << answer.error().message;
}

TEST(Call, NamesOfModelsBecomeIds) {
  const auto line = asked("estimate", R"({"kind": "infer", "model": "meta-llama/Llama-3.1-8B-Instruct"})");
  ASSERT_TRUE(line) << line.error().text();
  EXPECT_EQ(line->line(), (Words{"estimate", "infer", "--model=llama3.1-8b", "--json"}))
      << "so that no file is looked for";
  const auto narrow = asked("estimate", R"({"kind": "infer", "model": "nvidia/Llama-3.3-70B-Instruct-FP8"})");
  ASSERT_FALSE(narrow) << "the format would be lost";
  EXPECT_NE(narrow.error().message.find("write 'llama3.3-70b' and the format"), std::string::npos);
}

TEST(Call, OnlyCallersOnThisMachineNameFiles) {
  for (const auto& [verb, json] : {std::pair{"estimate", R"({"kind": "train", "svg": "x.svg"})"},
                                   {"estimate", R"({"kind": "infer", "model": "./config.json"})"},
                                   {"estimate", R"({"kind": "infer", "catalogue": "mine.toml"})"},
                                   {"plan", R"({"file": "examples/chat-70b.toml"})"}}) {
    EXPECT_FALSE(asked(verb, json)) << json;
    EXPECT_TRUE(asked(verb, json, {.files = Files::allowed})) << json;
  }
  EXPECT_FALSE(asked("estimate", R"({"data": "elsewhere"})", {.files = Files::allowed}));
  // What may be a name or a file is for the session to refuse, also where the file is there.
  const StopSign never;
  const std::string root = RIDGE_TEST_DIR "/..";
  for (const auto& [verb, json] :
       {std::pair{"estimate", R"({"kind": "infer", "model": "llama3.1-8b", "device": ")" + root +
                                  R"(/data/profiles/h200-sxm.toml"})"},
        {"plan", R"({"kind": ")" + root + R"(/examples/chat-70b.toml"})"},
        {"plan", R"({"kind": "fleet", "id": ")" + root + R"(/examples/fleet/domestic.toml"})"},
        {"simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": ")" + root +
                         R"(/data/workloads/chat.toml"})"}}) {
    const auto line = asked(verb, json);
    ASSERT_TRUE(line) << line.error().text();
    const auto answer = call(*line, shared(), here(), never, Files::refused);
    ASSERT_FALSE(answer) << json;
    EXPECT_NE(answer.error().message.find("a file"), std::string::npos) << answer.error().text();
  }
}

TEST(Call, ASentenceIsNeverTakenForAPath) {
  const auto line = asked("check", R"({"text": "/etc/passwd"})");
  ASSERT_TRUE(line);
  const StopSign never;
  const auto answer = call(*line, shared(), here(), never, Files::refused);
  EXPECT_TRUE(!answer || answer->json.find("root") == std::string::npos);
}

TEST(Call, AnEstateIsATextOfItsOwn) {
  EXPECT_FALSE(asked("plan", R"({"kind": "serve", "text": "[estate]"})"));
  const StopSign never;
  for (const char* text : {R"([estate]\nmonths = \"many\"\n)", "/etc/passwd"}) {
    const auto line = asked("plan", R"({"kind": "fleet", "text": ")" + std::string(text) + R"("})");
    ASSERT_TRUE(line) << line.error().text();
    const auto answer = call(*line, shared(), here(), never, Files::refused);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().where.substr(0, 12), "estate.toml:") << answer.error().text();
  }
}

// What a caller may do is the session's to say, too: a line that slipped through does not reach the file system.
TEST(Call, ASessionForCallersFromElsewhereReadsNoFile) {
  const StopSign never;
  const std::string memo = RIDGE_TEST_DIR "/../examples/memo.md";
  const Call line{verb_of("check"), {memo}, {}};
  const auto home = call(line, shared(), here(), never, Files::allowed);
  ASSERT_TRUE(home) << home.error().text();
  EXPECT_NE(home->json.find("memo.md"), std::string::npos);
  EXPECT_EQ(home->exit_code, kCheckFailed);
  const auto elsewhere = call(line, shared(), here(), never, Files::refused);
  EXPECT_TRUE(!elsewhere || elsewhere->exit_code != kCheckFailed);

  const Call measured{verb_of("estimate"),
                      {"infer"},
                      {{"--model", {"llama3.1-8b"}}, {"--device", {RIDGE_DATA_DIR "/profiles/h200-sxm.toml"}}}};
  EXPECT_TRUE(call(measured, shared(), here(), never, Files::allowed));
  const auto refused = call(measured, shared(), here(), never, Files::refused);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("names a file"), std::string::npos) << refused.error().text();
}

TEST(Call, ACallerOnThisMachineNamesFilesOfEveryKind) {
  const StopSign never;
  const std::string root = RIDGE_TEST_DIR "/..";
  const auto run = [&](std::string_view verb, const std::string& json) {
    const auto line = asked(verb, json, {.files = Files::allowed});
    if (!line) return line.error().text();
    const auto answer = call(*line, shared(), here(), never, Files::allowed);
    return answer ? answer->json : answer.error().text();
  };
  EXPECT_NE(run("check", R"({"file": ")" + root + R"(/examples/memo.md"})").find("memo.md"), std::string::npos);
  EXPECT_NE(
      run("show", R"({"id": "rtx4090-48", "catalogue": ")" + root + R"(/examples/my-board.toml"})").find("48000000000"),
      std::string::npos);
  EXPECT_NE(run("validate", R"({"cases": ")" + root + R"(/examples/measurements.csv"})").find("\"cases\": 4"),
            std::string::npos);
  // A plan file holds flags of other verbs, which are left out.
  const std::string plan = root + "/examples/chat-70b.toml";
  EXPECT_NE(run("estimate", R"({"kind": "infer", "device": "h200-sxm", "gpus": 2, "plan": ")" + plan + "\"}")
                .find("\"fits\": true"),
            std::string::npos);
  EXPECT_NE(run("simulate", R"({"model": "llama3.1-8b", "device": "rtx4090", "workload": ")" RIDGE_DATA_DIR
                            R"(/evidence/traces/rtx4090-llama3.1-8b-tp1.csv"})")
                .find("\"arrived\": 300"),
            std::string::npos);
}

TEST(Call, WhatAVerbAnswersAsATextIsAMemberOfAnObject) {
  const auto line = asked("emit", R"({"for": "vllm", "model": "llama3.3-70b", "device": "h200-sxm", "gpus": 2})");
  ASSERT_TRUE(line);
  const StopSign never;
  const auto answer = call(*line, shared(), here(), never, Files::refused);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->json.find("{\n  \"schema\": \"ridge.text/1\""), 0u) << answer->json;
  EXPECT_NE(answer->json.find("vllm serve"), std::string::npos);
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

TEST(Batch, TakesADeviceAsMeasured) {
  const auto rate = [&](const std::string& device) {
    const auto batch =
        Batch::open("infer", R"({"model": "llama3.1-8b", "engine": "native", "device": ")" + device + "\"}",
                    {"tp", "batch"}, {"output_tokens_per_s"}, shared(), here());
    EXPECT_TRUE(batch) << batch.error().text();
    const std::int32_t one[] = {1};
    double out[1];
    double* const columns[] = {out};
    const BatchColumn in[] = {{ColumnType::int32, one}, {ColumnType::int32, one}};
    EXPECT_TRUE((*batch)->evaluate(1, in, columns, 1));
    return out[0];
  };
  const double measured = rate(RIDGE_DATA_DIR "/profiles/h200-sxm.toml");
  EXPECT_GT(measured, 10);
  EXPECT_NE(measured, rate("h200-sxm"));
}

TEST(Batch, PointsThatCannotRunHaveAReasonAndNoNumbers) {
  const auto batch = Batch::open("infer", R"({"model": "llama3.3-70b", "device": "h100-sxm"})", {"tp", "batch"},
                                 {"output_tokens_per_s", "reason", "short_by"}, shared(), here());
  ASSERT_TRUE(batch) << batch.error().text();
  const std::int32_t tp[] = {1, 4, 0};
  const double size[] = {1, 1, 1};
  double rate[3], reason[3], missing[3];
  double* const out[] = {rate, reason, missing};
  const BatchColumn in[] = {{ColumnType::int32, tp}, {ColumnType::float64, size}};
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
