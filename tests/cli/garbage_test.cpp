// A value that is none of its flag is refused by the verb that declares the flag, whether it is used or not.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "app/cli/call.hpp"
#include "app/cli/verbs.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

using testing_support::here;
using testing_support::shared;

/// Texts that may be anything, names that are looked up where they are used, and what is a file.
const std::set<std::string_view> kFree = {"--provider",       "--region",     "--offer",         "--against",
                                          "--engine-version", "--resolution", "--save",          "--model",
                                          "--device",         "--system",     "--prefill-device"};

std::vector<std::string> accepted(const std::string& line, const std::string& garbage) {
  std::vector<std::string> words;
  std::istringstream in(line + " --json");
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<std::string> taken;
  const StopSign never;
  static const Grammar kGrammar = grammar(verbs());
  for (const VerbText& verb : kGrammar.verbs) {
    if (verb.verb->name != words[0]) continue;
    for (const OptionText& option : verb.options) {
      if (option.name.empty() || option.value.empty() || kFree.contains(option.name)) continue;
      if (option.value == "FILE" || option.value == "OUT" || option.value == "DIR") continue;
      std::vector<std::string> with = words;
      with.push_back(option.name + "=" + garbage);
      if (call(with, shared(), here(), never, Files::allowed)) taken.push_back(option.name);
    }
  }
  return taken;
}

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& one : all) out += " " + one;
  return out;
}

class Garbage : public testing::TestWithParam<const char*> {};

TEST_P(Garbage, IsRefusedByEveryFlag) {
  for (const char* garbage : {"zzz", "1x2y"}) {
    const std::vector<std::string> taken = accepted(GetParam(), garbage);
    EXPECT_TRUE(taken.empty()) << GetParam() << " took '" << garbage << "' for" << joined(taken);
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, Garbage,
                         testing::Values("cost own --device=h100-sxm --gpus=8", "cost rent --device=h100-sxm --gpus=8",
                                         "estimate infer --model=llama3.1-8b --device=h100-sxm"));

}  // namespace
}  // namespace ridge::cli
