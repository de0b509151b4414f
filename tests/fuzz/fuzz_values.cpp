// Any text is a value of a flag or is refused with a reason; two bytes choose the flag, the rest is the text. Whoever
// asks may name no file. Flags of one name are mostly the same in every verb (--model, --device): one in 16 texts goes
// to any of them, the others to the first. Two flags of `show` build every listing to know their words, which takes as
// long as a thousand others: they are among the one in 16 only.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "app/cli/verbs.hpp"
#include "fuzz/sample.hpp"
#include "support/session.hpp"

namespace {

using namespace ridge::cli;

void require(bool condition) {
  if (!condition) std::abort();
}

const std::vector<OptionText>& options() {
  static const std::vector<OptionText> kAll = [] {
    std::vector<OptionText> all;
    const Grammar known = grammar(verbs());
    for (const VerbText& verb : known.verbs) {
      for (const OptionText& option : verb.options) {
        if (option.takes.check) all.push_back(option);
      }
    }
    return all;
  }();
  return kAll;
}

const std::vector<const OptionText*>& names() {
  static const std::vector<const OptionText*> kFirst = [] {
    std::vector<const OptionText*> first;
    std::set<std::string> seen = {"--vendor", "--architecture"};
    for (const OptionText& option : options()) {
      if (seen.insert(option.name).second) first.push_back(&option);
    }
    return first;
  }();
  return kFirst;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static std::string out;
  static const ridge::cli::StopSign kNever;
  static Session session({}, testing_support::here(), testing_support::shared(), out, kNever, Files::refused);
  const std::size_t which = data[0] * 256u + data[1];
  const bool any = ridge::fuzz::one_in(16, data, size);
  const OptionText& option = any ? options()[which % options().size()] : *names()[which % names().size()];
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const ridge::Status good = check_value(session, option.name, option.takes, text);
  require(good.ok() || (!good.error().message.empty() && good.error().text().find(option.name) != std::string::npos));
  require(!good.ok() || text.find('\0') == std::string::npos);
  return 0;
}
