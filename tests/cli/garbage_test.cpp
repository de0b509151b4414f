// A value that is none of its flag is refused by the verb that declares the flag, whether it is used or not. What is
// garbage is said here and not asked of the program: texts that are no number, no quantity and no name of anything, and
// numbers beyond all measure. RIDGE_GARBAGE=100000 makes the random part longer (`make attack` does).
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <set>

#include "app/cli/call/call.hpp"
#include "app/cli/line/command_line.hpp"
#include "app/cli/verbs.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

using testing_support::here;
using testing_support::shared;

/// Flags that take the name of a file to write: any word is one.
const std::set<std::string_view> kWritten = {"--html",    "--svg",          "--trace",    "--out",         "--pdf",
                                             "--results", "--requests-csv", "--perfetto", "--save-result", "--evidence",
                                             "--learn",   "--timeline-csv", "--overlay",  "--take",        "--collect",
                                             "--rows",    "--save",         "--report",   "--db"};
/// Names that only somebody else knows, and words that the verb looks up in what it has read (keys of a listing, names
/// of MLPerf's record): letters are fine, the rest is not.
const std::set<std::string_view> kNames = {"--served-model-name",
                                           "--key-env",
                                           "--source",
                                           "--checkpoint",
                                           "--draft-model",
                                           "--image",
                                           "--time",
                                           "--partition",
                                           "--host",
                                           "--round",
                                           "--benchmark",
                                           "--scenario",
                                           "--availability",
                                           "--engine-version"};
/// Texts: whatever a line can hold.
const std::set<std::string_view> kTexts = {"--token",       "--where",     "--sort",   "--columns",
                                           "--accelerator", "--submitter", "--without"};

const std::array kUnprintable = {std::string("a\0b", 3), std::string("\x1b[2J"), std::string("a\nb"),
                                 std::string(5000, 'x'), std::string("\x7f")};
const std::array kNoNames = {"' OR 1=1",
                             "%n%s",
                             "${HOME}",
                             "$(id)",
                             "`id`",
                             "a;b",
                             "\xf0\x9f\x9a\x80",
                             "\xff\xfe",
                             "<x>",
                             "a\"b",
                             "\xd9\xa1\xd9\xa2",
                             "\xc2\xbd",
                             "*",
                             "?",
                             "a|b",
                             "a&b",
                             "a\\b",
                             "{}",
                             "[1]"};
const std::array kNothing = {"zzz",
                             "1x2y",
                             "nan",
                             "inf",
                             "-inf",
                             "1e308",
                             "-1e308",
                             "1e999",
                             "-1",
                             "-0.5",
                             "0x1F",
                             "1..5",
                             "--5",
                             "1e",
                             "e5",
                             "99999999999999999999999999999999",
                             "banana",
                             "null",
                             "true",
                             "=",
                             "a=b",
                             ":",
                             ",",
                             "a,,b",
                             "1:2:3",
                             "on-off:1ns,1ns",
                             "gamma:1e300",
                             "dense:layers=1e9",
                             "moe:",
                             "-",
                             "$-5",
                             "-40%",
                             "5parsecs",
                             "1e308GB",
                             "../../no/such/folder/file"};

class Line {
 public:
  explicit Line(std::mt19937_64& random) : random_(random) {}

  /// A text that means nothing: letters that make no word, signs, digits where none belong.
  std::string nonsense() {
    static constexpr std::string_view kLetters = "qxzjkvw";
    static constexpr std::string_view kSigns = "!#^&*()<>?|;{}[]\\\"'`~";
    std::string text;
    const std::size_t length = 5 + random_() % 12;
    while (text.size() < length) {
      const auto dice = random_() % 10;
      text += dice < 7 ? kLetters[random_() % kLetters.size()] : kSigns[random_() % kSigns.size()];
    }
    return text;
  }

  std::string garbage_for(std::string_view flag) {
    const auto dice = random_() % 10;
    if (dice == 0) return kUnprintable[random_() % kUnprintable.size()];
    if (kTexts.contains(flag) || kWritten.contains(flag)) return kUnprintable[random_() % kUnprintable.size()];
    if (dice < 3 || kNames.contains(flag)) return kNoNames[random_() % kNoNames.size()];
    return dice < 6 ? kNothing[random_() % kNothing.size()] : nonsense();
  }

 private:
  std::mt19937_64& random_;
};

/// The refusal of the line, or empty; the verb itself does not run.
std::string refusal(const Verb& verb, const std::string& flag, const std::string& value) {
  GlobalOptions options;
  const std::vector<std::string> words = {std::string(verb.name), flag + "=" + value};
  const Result<Command> command = parse_command_line(words, std::span(&verb, 1), options);
  if (!command) return command.error().text();
  std::string out;
  const StopSign never;
  Session session(std::move(options), here(), shared(), out, never, Files::allowed);
  const Status good = command->check(session);
  return good ? std::string() : good.error().text();
}

struct Taken {
  int asked = 0;
  std::vector<std::string> lines;
};

void ask(const Verb& verb, const OptionText& option, const std::string& value, Taken& taken) {
  ++taken.asked;
  const std::string said = refusal(verb, option.name, value);
  if (said.empty() || said.find(option.name) == std::string::npos) {
    taken.lines.push_back(std::string(verb.name) + " " + option.name + "=" + value.substr(0, 60) + " → " + said);
  }
}

const Grammar& all_verbs() {
  static const Grammar known = grammar(verbs());
  return known;
}

std::vector<OptionText> with_values(const std::vector<OptionText>& options) {
  std::vector<OptionText> out;
  for (const OptionText& option : options) {
    if (!option.name.empty() && !option.value.empty()) out.push_back(option);
  }
  return out;
}

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& one : all) out += "\n  " + one;
  return out;
}

// A flag without a check would take anything: whoever declares one says what it takes.
TEST(Garbage, EveryFlagSaysWhatItTakes) {
  for (const VerbText& verb : all_verbs().verbs) {
    for (const OptionText& option : with_values(verb.options)) {
      if (option.value == "N" && !option.takes.check) continue;  // whole numbers are read by the parser
      EXPECT_TRUE(option.takes.check) << verb.verb->name << " " << option.name << " takes anything";
    }
  }
  for (const OptionText& option : with_values(all_verbs().globals)) EXPECT_TRUE(option.takes.check) << option.name;
}

TEST(Garbage, IsRefusedByEveryFlagOfEveryVerb) {
  Taken taken;
  for (const VerbText& verb : all_verbs().verbs) {
    for (const OptionText& option : with_values(verb.options)) {
      for (const std::string& value : kUnprintable) ask(*verb.verb, option, value, taken);
      if (kTexts.contains(option.name) || kWritten.contains(option.name)) continue;
      for (const char* value : kNoNames) ask(*verb.verb, option, value, taken);
      if (kNames.contains(option.name)) continue;
      for (const char* value : kNothing) ask(*verb.verb, option, value, taken);
    }
  }
  RecordProperty("asked", taken.asked);
  EXPECT_TRUE(taken.lines.empty()) << taken.lines.size() << " of " << taken.asked
                                   << " were taken:" << joined(taken.lines);
}

TEST(Garbage, RandomValuesOfRandomFlagsAreRefused) {
  const char* wanted = std::getenv("RIDGE_GARBAGE");
  const int count = wanted != nullptr ? std::atoi(wanted) : 5000;
  std::mt19937_64 random(20261116);
  Line line(random);
  Taken taken;
  while (taken.asked < count) {
    const VerbText& verb = all_verbs().verbs[random() % all_verbs().verbs.size()];
    std::vector<OptionText> options = with_values(verb.options);
    for (const OptionText& global : with_values(all_verbs().globals)) options.push_back(global);
    if (options.empty()) continue;
    const OptionText& option = options[random() % options.size()];
    if (option.name == "--plan") continue;  // read before anything else, and refused there
    ask(*verb.verb, option, line.garbage_for(option.name), taken);
  }
  std::printf("%d random values of random flags, %zu taken\n", taken.asked, taken.lines.size());
  EXPECT_TRUE(taken.lines.empty()) << joined(taken.lines);
}

// A value that a verb does not look at is not ignored: the rows that an attack found.
TEST(Garbage, IsRefusedWithTheNearestThatWorks) {
  const auto said = [](std::string_view verb, const std::string& flag, const std::string& value) {
    return refusal(*verb_of(verb), flag, value);
  };
  EXPECT_NE(said("emit", "--engine", "vlm").find("'vllm'"), std::string::npos);
  EXPECT_NE(said("simulate", "--engine-version", "banana").find("0.12"), std::string::npos);
  EXPECT_NE(said("simulate", "--prefill-device", "h10-sxm").find("h100-sxm"), std::string::npos);
  EXPECT_NE(said("goodput", "--practice", "automatd").find("'automated'"), std::string::npos);
  EXPECT_NE(said("plan", "--avoid-vendors", "NVIDA").find("NVIDIA"), std::string::npos);
  EXPECT_NE(said("plan", "--destination", "Chian").find("China"), std::string::npos);
  EXPECT_NE(said("show", "--vendor", "NVIDA").find("NVIDIA"), std::string::npos);
  EXPECT_NE(said("facility", "--cooling", "airr").find("air"), std::string::npos);
  EXPECT_EQ(said("show", "--vendor", "nvidia"), "");
  EXPECT_EQ(said("plan", "--region", "us-texas"), "");
}

}  // namespace
}  // namespace ridge::cli
