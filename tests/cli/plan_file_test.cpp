// Plans as files: what they add to a line, what the line overrides, what is refused and where.
#include "app/cli/plan_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/cli/session.hpp"
#include "app/cli/verbs.hpp"

namespace ridge::cli {
namespace {

class PlanFiles : public testing::Test {
 protected:
  std::string write(std::string_view text) {
    // Tests run side by side: each has a file of its own.
    path_ = testing::TempDir() + "plan_file_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
    std::ofstream(path_) << text;
    return path_;
  }
  ~PlanFiles() override {
    if (!path_.empty()) std::filesystem::remove(path_);
  }
  std::string path_;
};

std::string joined(const Result<std::vector<std::string>>& words) {
  if (!words) return words.error().text();
  std::string text;
  for (const std::string& word : *words) text += (text.empty() ? "" : " ") + word;
  return text;
}

constexpr std::string_view kChat =
    "kind = \"serve\"\n[flags]\nmodel = \"llama3.1-8b\"\ndevice = \"h100-sxm\"\nconcurrency = 16\nrequire = [\"a\", "
    "\"b\"]\n";

TEST_F(PlanFiles, AddTheirFlagsToTheLine) {
  const std::string path = write(kChat);
  EXPECT_EQ(joined(with_plan_file({"estimate", "infer", "--plan", path}, grammar(verbs()))),
            "estimate infer --plan " + path + " --concurrency 16 --device h100-sxm --model llama3.1-8b");
}

TEST_F(PlanFiles, GiveWayToTheLine) {
  const std::string path = write(kChat);
  EXPECT_EQ(
      joined(with_plan_file({"estimate", "infer", "--plan=" + path, "--model", "m", "--batch=1"}, grammar(verbs()))),
      "estimate infer --plan=" + path + " --model m --batch=1 --device h100-sxm");
}

TEST_F(PlanFiles, MayHoldFlagsOfOtherVerbs) {
  const std::string path = write("kind = \"train\"\n[flags]\nby = \"model\"\nmodel = \"llama3.1-8b\"\n");
  EXPECT_EQ(joined(with_plan_file({"estimate", "train", "--plan", path}, grammar(verbs()))),
            "estimate train --plan " + path + " --model llama3.1-8b");
}

TEST_F(PlanFiles, AreRefusedWithLineAndColumn) {
  const auto refused = [&](std::string_view text) {
    return joined(with_plan_file({"estimate", "infer", "--plan", write(text)}, grammar(verbs())));
  };
  EXPECT_NE(refused("kind = \"serve\"\n[flags]\nmodle = \"x\"\n")
                .find("toml:3:1: no command has a flag --modle; did you mean '--model'"),
            std::string::npos);
  EXPECT_NE(refused("kind = \"fly\"\n[flags]\n").find("toml:1:8: say what the plan is for"), std::string::npos);
  EXPECT_NE(refused("kind = \"serve\"\nflag = 1\n").find("toml:2:1: 'flag' is no key of a plan"), std::string::npos);
  EXPECT_NE(refused("kind = \"serve\"\n[flags.model]\nx = 1\n").find("not a table"), std::string::npos);
  EXPECT_NE(refused("kind = \"serve\"\n").find("[flags] is missing"), std::string::npos);
  EXPECT_NE(joined(with_plan_file({"estimate", "--plan"}, grammar(verbs()))).find("value is missing"),
            std::string::npos);
  EXPECT_NE(joined(with_plan_file({"estimate", "--plan", "/nowhere.toml"}, grammar(verbs()))).find("no such file"),
            std::string::npos);
}

TEST_F(PlanFiles, AreReadBackAsWritten) {
  const PlanFile plan{"serve",
                      {{"--device", "h100-sxm"},
                       {"--gpu-memory-utilization", "0.9"},
                       {"--model", "a \"b\" \\c"},
                       {"--offline", "true"},
                       {"--tp", "2"}}};
  const auto read = parse_plan_file(plan_file_text(plan), "p",
                                    {"--device", "--gpu-memory-utilization", "--model", "--offline", "--tp"});
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->kind, plan.kind);
  EXPECT_EQ(read->flags, plan.flags);
}

TEST_F(PlanFiles, ReachTheParsedCommand) {
  GlobalOptions globals;
  const auto command = parse_command_line(
      {"estimate", "infer", "--plan", write("kind=\"serve\"\n[flags]\njson = true\n")}, verbs(), globals);
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_TRUE(globals.json);
}

}  // namespace
}  // namespace ridge::cli
