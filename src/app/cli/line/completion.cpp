#include "app/cli/line/completion.hpp"

#include <algorithm>

namespace ridge::cli {

std::vector<std::string> complete_files(Session&, const std::vector<std::string>&) {
  return {std::string(kOfferFiles)};
}

std::vector<std::string> complete_directories(Session&, const std::vector<std::string>&) {
  return {std::string(kOfferDirectories)};
}

namespace {

const OptionText* find_option(std::string_view name, const std::vector<OptionText>& options) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const auto& option) { return option.name == name; });
  return at == options.end() ? nullptr : &*at;
}

/// The words before the one under the cursor, sorted out.
struct Line {
  const VerbText* verb = nullptr;
  std::string_view first_word;          ///< the verb as written, also if there is none of that name
  std::vector<std::string> words;       ///< after the verb, without options
  const OptionText* pending = nullptr;  ///< an option that waits for its value
  GlobalOptions globals;                ///< where the data is, as far as the line says
};

Line read_line(std::span<const std::string> before, const Grammar& grammar) {
  Line line;
  for (const std::string& word : before) {
    if (line.pending != nullptr) {
      if (line.pending->name == "--data") line.globals.data = word;
      if (line.pending->name == "--catalogue") line.globals.overlays.push_back(word);
      if (line.pending->name == "--prices") line.globals.price_lists.push_back(word);
      line.pending = nullptr;
    } else if (word.starts_with("-")) {
      const OptionText* option = line.verb != nullptr ? find_option(word, line.verb->options) : nullptr;
      if (option == nullptr) option = find_option(word, grammar.globals);
      if (option != nullptr && !option->value.empty()) line.pending = option;
    } else if (line.first_word.empty()) {
      line.first_word = word;
      for (const VerbText& verb : grammar.verbs) {
        if (verb.verb->name == word) line.verb = &verb;
      }
    } else {
      line.words.push_back(word);
    }
  }
  return line;
}

std::vector<std::string> offers(const Line& line, const std::string& word, const Grammar& grammar, Session& session) {
  std::vector<std::string> all;
  if (line.pending != nullptr) {
    return line.pending->takes.completer ? line.pending->takes.completer(session, line.words) : all;
  }
  if (word.starts_with("-")) {
    const auto add = [&](const std::vector<OptionText>& options) {
      for (const OptionText& option : options) {
        if (!option.hidden && !option.name.empty()) all.push_back(option.name);
      }
    };
    if (line.verb != nullptr) add(line.verb->options);
    add(grammar.globals);
    return all;
  }
  if (line.first_word.empty() || (line.first_word == "help" && line.words.empty())) {
    for (const VerbText& verb : grammar.verbs) all.emplace_back(verb.verb->name);
    if (line.first_word.empty()) all.emplace_back("help");
    return all;
  }
  const OptionText* words = line.verb != nullptr ? find_option("", line.verb->options) : nullptr;
  return words != nullptr && words->takes.completer ? words->takes.completer(session, line.words) : all;
}

}  // namespace

std::vector<std::string> complete(const std::vector<std::string>& words, std::span<const Verb> verbs,
                                  const Surroundings& surroundings) {
  const std::string word = words.empty() ? std::string() : words.back();
  const Grammar known = grammar(verbs);
  const Line line = read_line(std::span(words).first(words.empty() ? 0 : words.size() - 1), known);
  Session session(line.globals, surroundings);
  // A list of keys is completed at its end, a descending key after its sign.
  std::size_t kept = line.pending == nullptr ? 0 : word.rfind(',') + 1;
  if (line.pending != nullptr && kept == 0 && word.starts_with("-")) kept = 1;
  std::vector<std::string> result;
  for (std::string& offer : offers(line, word, known, session)) {
    if (!offer.starts_with("@")) offer.insert(0, word, 0, kept);
    const bool fits = offer.starts_with("@") || offer.starts_with(word);
    if (fits && std::find(result.begin(), result.end(), offer) == result.end()) result.push_back(std::move(offer));
  }
  return result;
}

}  // namespace ridge::cli
