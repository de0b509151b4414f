// Plans as files: what they add to a line, what the line overrides, what is refused and where.
#include "app/cli/line/plan_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/cli/estimate/flags.hpp"
#include "app/cli/line/command_line.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/verbs.hpp"
#include "ridge/base/change.hpp"
#include "support/session.hpp"

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

/// What the options hold once the line is read and its plan is taken, or the refusal.
std::string taken(const std::string& path, const std::vector<std::pair<std::string, std::string>>& line) {
  std::vector<std::string> words;
  EstimateFlags flags;
  Options own;
  own.words("WORD", words, "");
  flags.declare(own);
  GlobalOptions said;
  Options globals;
  declare_globals(globals, said);
  for (const auto& [flag, value] : line) EXPECT_TRUE(own.set(flag, {value}));
  std::vector<std::string_view> known;
  static const Grammar kAll = grammar(verbs());
  for (const VerbText& verb : kAll.verbs) {
    for (const OptionText& text : verb.options) known.push_back(text.name);
  }
  for (const OptionText& text : kAll.globals) known.push_back(text.name);
  if (const Status s = take_plan_file(path, own, globals, known); !s) return s.error().text();
  std::string text;
  for (const std::string_view flag : flags.given_names()) {
    text += (text.empty() ? "" : " ") + std::string(flag) + " " + flags.value(flag);
  }
  return text;
}

constexpr std::string_view kChat =
    "kind = \"serve\"\n[flags]\nmodel = \"llama3.1-8b\"\ndevice = \"h100-sxm\"\nconcurrency = 16\nrequire = [\"a\", "
    "\"b\"]\n";

TEST_F(PlanFiles, AddTheirFlagsToTheLine) {
  EXPECT_EQ(taken(write(kChat), {}), "--model llama3.1-8b --device h100-sxm --concurrency 16");
}

TEST_F(PlanFiles, GiveWayToTheLine) {
  EXPECT_EQ(taken(write(kChat), {{"--model", "m"}, {"--batch", "1"}}), "--model m --device h100-sxm --batch 1");
}

TEST_F(PlanFiles, MayHoldFlagsOfOtherVerbs) {
  EXPECT_EQ(taken(write("kind = \"train\"\n[flags]\nby = \"model\"\nmodel = \"llama3.1-8b\"\n"), {}),
            "--model llama3.1-8b");
}

TEST_F(PlanFiles, AreRefusedWithLineAndColumn) {
  const auto refused = [&](std::string_view text) { return taken(write(text), {}); };
  EXPECT_NE(refused("kind = \"serve\"\n[flags]\nmodle = \"x\"\n")
                .find("toml:3:1: no command has a flag --modle; did you mean '--model'"),
            std::string::npos);
  EXPECT_NE(refused("kind = \"fly\"\n[flags]\n").find("toml:1:8: say what the plan is for"), std::string::npos);
  EXPECT_NE(refused("kind = \"serve\"\nflag = 1\n").find("toml:2:1: 'flag' is no key of a plan"), std::string::npos);
  EXPECT_NE(refused("kind = \"serve\"\n[flags.model]\nx = 1\n").find("not a table"), std::string::npos);
  EXPECT_NE(refused("kind = \"serve\"\n").find("[flags] is missing"), std::string::npos);
  EXPECT_NE(taken("/nowhere.toml", {}).find("no such file"), std::string::npos);
}

// A template whose variable was not set: what it was to restrict must not be left out without a word.
TEST_F(PlanFiles, RefuseEmptyValues) {
  for (const char* const empty : {"\"\"", "[]", "[\"\"]"}) {
    const std::string said = taken(write(std::string("kind = \"serve\"\n[flags]\ndevice = ") + empty + "\n"), {});
    EXPECT_NE(said.find("toml:3:10: --device: its value is empty"), std::string::npos) << said;
  }
  EXPECT_EQ(taken(write("kind = \"serve\"\n[flags]\noffline = false\n"), {}), "");
}

// What is wrong with a value is said where the file has it; what the line says is the line's.
TEST_F(PlanFiles, SayWhereAValueIsThatIsNone) {
  const auto refused = [&](const std::vector<std::string>& words) {
    const auto done = testing_support::typed(words);
    return done ? std::string("accepted") : phrased(done.error(), Voice::flags).text();
  };
  const std::string file = write("kind = \"serve\"\n[flags]\nmodel = \"llama3.1-8b\"\ndevice = \"h900\"\ngpus = 1\n");
  EXPECT_NE(refused({"estimate", "infer", "--plan", file}).find("toml:4:10: --device: there is no device 'h900'"),
            std::string::npos)
      << refused({"estimate", "infer", "--plan", file});
  const std::string typed = refused({"estimate", "infer", "--plan", file, "--device", "h901"});
  EXPECT_TRUE(typed.starts_with("--device: there is no device 'h901'")) << typed;
  const std::string goal = write("kind = \"serve\"\n[flags]\nmodel = \"llama3.1-8b\"\ndestination = \"Chian\"\n");
  EXPECT_NE(refused({"plan", goal}).find("toml:4:15: --destination: "), std::string::npos) << refused({"plan", goal});
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
