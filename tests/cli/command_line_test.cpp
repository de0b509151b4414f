#include "app/cli/line/command_line.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "app/cli/session/session.hpp"
#include "app/cli/verbs.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::cli {
namespace {

struct Seen {
  std::vector<std::string> words, list;
  std::string text, out;
  int count = 0;
  bool flag = false;
};
Seen* seen = nullptr;

Action declare_probe(Options& options) {
  options.words("WORDS", seen->words, "words");
  options.list("--list", "X", seen->list, "a list");
  options.text("--sort", "X", seen->text, "a text");
  options.count("--count", "N", seen->count, "a count");
  options.text("-o,--out", "FILE", seen->out, "where to");
  options.flag("--flag", seen->flag, "a flag");
  options.flag("--secret", seen->flag, "hidden", true);
  return [](Session&) -> Result<int> { return 7; };
}

constexpr Verb kVerbs[] = {{"probe", "look", "Details.", "ridge probe", declare_probe},
                           {"other", "do something else", "", "ridge other", declare_probe}};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override { seen = &values_; }
  Result<Command> parse(std::vector<std::string> words) { return parse_command_line(words, kVerbs, globals_); }
  std::string refusal(std::vector<std::string> words) {
    const auto command = parse(std::move(words));
    return command ? "no refusal" : command.error().text();
  }

  Seen values_;
  GlobalOptions globals_;
};

TEST_F(CommandLine, GlobalOptionsStandBeforeOrAfterTheVerb) {
  ASSERT_TRUE(parse({"--json", "--data", "a", "probe", "x", "--catalogue", "b", "--no-color", "--catalogue=c"}));
  EXPECT_TRUE(globals_.json);
  EXPECT_TRUE(globals_.no_colour);
  EXPECT_EQ(globals_.data, "a");
  EXPECT_EQ(globals_.overlays, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(values_.words, std::vector<std::string>{"x"});
}

TEST_F(CommandLine, AListTakesOneValueEachTime) {
  ASSERT_TRUE(parse({"probe", "--list", "a", "word", "--list", "b"}));
  EXPECT_EQ(values_.list, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values_.words, std::vector<std::string>{"word"});
}

TEST_F(CommandLine, AWordThatIsTheNameOfAVerbBelongsToTheFirstVerb) {
  ASSERT_TRUE(parse({"probe", "other", "--sort", "x"}));
  EXPECT_EQ(values_.words, std::vector<std::string>{"other"});
  EXPECT_EQ(values_.text, "x");
}

TEST_F(CommandLine, AShortNameDoesAsWellAndIsCompletedAsTheLongOne) {
  ASSERT_TRUE(parse({"probe", "-o", "a.svg"}));
  EXPECT_EQ(values_.out, "a.svg");
  ASSERT_TRUE(parse({"probe", "--out", "b.svg"}));
  EXPECT_EQ(values_.out, "b.svg");
  bool offered = false;
  const Grammar known = grammar(kVerbs);
  for (const OptionText& option : known.verbs[0].options) offered = offered || option.name == "--out";
  EXPECT_TRUE(offered);
}

TEST_F(CommandLine, AValueMayStartWithADash) {
  ASSERT_TRUE(parse({"probe", "--sort", "-memory"}));
  EXPECT_EQ(values_.text, "-memory");
}

TEST_F(CommandLine, TheActionOfTheVerbIsReturned) {
  auto command = parse({"probe"});
  ASSERT_TRUE(command);
  Session session({}, {});
  EXPECT_EQ(*command->action(session), 7);
}

TEST_F(CommandLine, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_EQ(refusal({"prob"}), "there is no command 'prob'; did you mean 'probe'?");
  EXPECT_EQ(refusal({"xyzzy"}), "there is no command 'xyzzy'; `ridge help` lists them");
  EXPECT_EQ(refusal({"prices"}), "there is no command 'prices'; it is `ridge show prices`");
  EXPECT_EQ(refusal({"probe", "--flg"}), "there is no option '--flg'; did you mean '--flag'?");
  EXPECT_EQ(refusal({"--jso"}).substr(0, 49), "there is no option '--jso'; did you mean '--json'");
  EXPECT_EQ(refusal({"probe", "--sorted=x"}).substr(0, 47), "there is no option '--sorted'; did you mean '--");
}

TEST_F(CommandLine, NamesOfOtherProgramsAreTranslated) {
  GlobalOptions globals;
  const auto refused = parse_command_line({"estimate", "infer", "--quantization", "fp8"}, verbs(), globals);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "there is no option '--quantization'; it is --precision here");
}

TEST(CommandNames, OfAKindOfQuestionAreThoseOfItsCommands) {
  GlobalOptions globals;
  const auto train = parse_command_line({"train", "--gpus", "8"}, verbs(), globals);
  ASSERT_FALSE(train);
  EXPECT_EQ(train.error().text(), "there is no command 'train'; it is `ridge plan train` or `ridge estimate train`");
  const auto file = parse_command_line({"validate", "mine.csv"}, verbs(), globals);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().text(), "nothing is done with 'mine.csv'; did you mean --cases mine.csv?");
}

TEST_F(CommandLine, MissingOrMalformedValuesAreRefused) {
  EXPECT_EQ(refusal({"probe", "--list"}), "--list: its value is missing");
  EXPECT_EQ(refusal({"probe", "--count", "0"}), "--count: '0' is no whole number from 1");
  EXPECT_EQ(refusal({"probe", "--count", "9999999999"}), "--count: '9999999999' is no whole number from 1");
  EXPECT_EQ(refusal({"probe", "--json", "--csv"}), "--json excludes --csv");
  EXPECT_EQ(refusal({"--json"}), "a command is missing, for example `ridge show`; `ridge help` lists them");
}

TEST_F(CommandLine, HelpAndVersionAreAskedForInAnyPlace) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"help"},
                                                {"help", "all"},
                                                {"--help"},
                                                {"-h"},
                                                {"help", "probe"},
                                                {"probe", "--help"},
                                                {"probe", "-h"}}) {
    const auto command = parse(words);
    ASSERT_TRUE(command);
    EXPECT_TRUE(command->help.has_value());
  }
  EXPECT_TRUE(parse({"--version"})->version);
  EXPECT_TRUE(parse({})->start);
  EXPECT_EQ(refusal({"help", "prob"}), "there is no command 'prob'; did you mean 'probe'?");
}

TEST_F(CommandLine, HelpNamesEveryOptionButTheHiddenOnes) {
  const std::string page = to_terminal(*parse({"help", "probe"})->help);
  for (const char* name :
       {"--list X", "--sort X", "--count N", "--flag", "--json", "--as-of", "Details.", "ridge probe"}) {
    EXPECT_NE(page.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(page.find("--secret"), std::string::npos);
}

TEST(Verbs, EachHasASummaryAndAnExampleThatParses) {
  for (const Verb& verb : verbs()) {
    EXPECT_FALSE(verb.summary.empty());
    EXPECT_TRUE(verb.example.starts_with("ridge " + std::string(verb.name))) << verb.name;
  }
}

std::string help_of(const std::vector<std::string>& words, int width = 100) {
  GlobalOptions globals;
  const Result<Command> command = parse_command_line(words, verbs(), globals);
  return command && command->help ? to_terminal(*command->help, {.width = width}) : "";
}

TEST(Help, AKindOfQuestionHasItsOwnOptionsAlone) {
  const std::string infer = help_of({"estimate", "infer", "--help"});
  EXPECT_NE(infer.find("--concurrency C"), std::string::npos);
  EXPECT_EQ(infer.find("--micro-batch"), std::string::npos) << infer;
  const std::string train = help_of({"help", "estimate", "train"});
  EXPECT_NE(train.find("--micro-batch N"), std::string::npos);
  EXPECT_EQ(train.find("--concurrency"), std::string::npos) << train;
  EXPECT_LT(train.find("Most used"), train.find("The run"));
}

TEST(Help, OfAKindSpeaksOfThatKindAlone) {
  const std::string serve = help_of({"plan", "serve", "--help"});
  EXPECT_NE(serve.find("--gpus N              most devices to use"), std::string::npos) << serve;
  for (const char* other : {"training:", "serving:", "megatron", "pretrain"}) {
    EXPECT_EQ(serve.find(other), std::string::npos) << other << "\n" << serve;
  }
  EXPECT_EQ(help_of({"estimate", "infer", "--help"}).find("a list: a,b"), std::string::npos);
  EXPECT_NE(help_of({"estimate", "compare", "--help"}).find("a list: a,b"), std::string::npos);
}

TEST(Help, LongListsStandUnderHeadingsTheirOwnFirst) {
  const std::string cost = help_of({"help", "cost"});
  EXPECT_LT(cost.find("\nPrices\n"), cost.find("\nModel and hardware\n"));
  EXPECT_LT(cost.find("\nModel and hardware\n"), cost.size());
  EXPECT_LT(cost.find("\nModel and hardware\n"), cost.find("\nResult\n"));
  const std::string emit = help_of({"help", "emit"});
  EXPECT_LT(emit.find("\nOptions\n --for TARGET"), emit.find("\nModel and hardware\n"));
}

// A phrase of its own, not the end of its placeholder: "share of the input", not "of the input".
TEST(Help, OfAFlagIsAPhrase) {
  for (const Verb& verb : verbs()) {
    if (verb.name == "bench" || verb.name == "emulate") continue;
    Options options;
    const Action unused = verb.declare(options);
    for (const OptionText& option : options.texts()) {
      for (const char* fragment : {"of ", "that ", "at which ", "by which "}) {
        EXPECT_FALSE(option.help.starts_with(fragment)) << verb.name << " " << option.name << ": " << option.help;
      }
    }
  }
}

// Of what is said of several kinds of question a page shows a part: no bracket stays open.
TEST(Help, EveryPageFitsItsTerminalAndClosesItsBrackets) {
  std::vector<std::vector<std::string>> pages = {{"help"}};
  for (const Verb& verb : verbs()) {
    pages.push_back({"help", std::string(verb.name)});
    for (const VerbKind& kind : verb.kinds) {
      pages.push_back({std::string(verb.name), std::string(kind.word), "--help"});
    }
  }
  for (const std::vector<std::string>& words : pages) {
    for (const int width : {80, 100}) {
      const std::string page = help_of(words, width);
      ASSERT_FALSE(page.empty()) << words.back();
      for (const std::string& line : split_words(page, '\n')) EXPECT_LE(display_width(line), width) << line;
      EXPECT_EQ(std::count(page.begin(), page.end(), '('), std::count(page.begin(), page.end(), ')')) << page;
    }
  }
}

TEST(Help, EveryOptionOfAKindStandsUnderAHeading) {
  for (const Verb& verb : verbs()) {
    for (const VerbKind& kind : verb.kinds) {
      const std::string page = help_of({std::string(verb.name), std::string(kind.word), "--help"});
      EXPECT_EQ(page.find("\nMore\n"), std::string::npos) << verb.name << " " << kind.word << "\n" << page;
    }
  }
}

TEST(Help, AWordBeforeACommandIsTakenForOne) {
  GlobalOptions globals;
  const auto refused = parse_command_line({"plam", "serve"}, verbs(), globals);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text().substr(0, 47), "there is no command 'plam'; did you mean 'plan'");
}

TEST(ExitCodes, FollowTheErrorCode) {
  EXPECT_EQ(exit_code(ErrorCode::bad_input), 1);
  EXPECT_EQ(exit_code(ErrorCode::not_found), 1);
  EXPECT_EQ(exit_code(ErrorCode::refused), 2);
  EXPECT_EQ(exit_code(ErrorCode::infeasible), 2);
}

}  // namespace
}  // namespace ridge::cli
