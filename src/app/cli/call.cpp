#include "app/cli/call.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "app/cli/plan_file.hpp"
#include "app/cli/profiles.hpp"
#include "app/cli/verbs.hpp"
#include "app/cli/wrong.hpp"
#include "catalogue/json_document.hpp"
#include "ridge/limits.hpp"
#include "ridge/names.hpp"
#include "ridge/report.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

/// Flags of each verb, made once.
const Grammar& whole_grammar() {
  static const Grammar all = grammar(verbs());
  return all;
}

/// Switches that write into the data of the program.
bool changes_data(std::string_view verb, std::string_view flag) {
  return verb == "validate" && (flag == "--gate" || flag == "--update");
}

/// Flags of all verbs that anybody may set; where files may be named, those that name one too.
constexpr std::array<std::string_view, 5> kGlobals = {"--set", "--as-of", "--software-as-of", "--prices-as-of",
                                                      "--time-limit"};

/// What is the server's to say, or takes minutes.
struct Owned {
  std::string_view verb;  ///< empty = every
  std::string_view flag;
  std::string_view why;
};
constexpr std::array kOwned = {
    Owned{"", "--threads", "how many threads a question gets is the server's to say: leave it out"},
    Owned{"validate", "--cv", "refits take minutes: use the command line"},
    Owned{"validate", "--decisions", "takes minutes: use the command line"},
};

/// The words after the verb, in this order.
constexpr std::array<std::string_view, 4> kPlaceKeys = {"kind", "id", "file", "text"};

class LineWriter {
 public:
  LineWriter(const Verb& verb, const Catalogue& catalogue, const CallLimits& limits)
      : verb_(verb), catalogue_(catalogue), limits_(limits) {
    for (const VerbText& text : whole_grammar().verbs) {
      if (text.verb->name == verb.name) options_ = &text.options;
    }
  }

  Result<std::vector<std::string>> run(const std::vector<Flag>& flags) {
    words_ = {std::string(verb_.name)};
    for (const std::string_view key : kPlaceKeys) {
      for (const Flag& flag : flags) {
        if (flag.key != key || !is_word(key)) continue;
        if (const Status s = add_word(flag); !s) return s.error();
      }
    }
    for (const Flag& flag : flags) {
      if (is_word(flag.key)) continue;
      if (const Status s = add(flag); !s) return s.error();
    }
    words_.emplace_back("--json");
    return std::move(words_);
  }

 private:
  /// "kind" is a flag of some verbs, and a word after the others.
  [[nodiscard]] bool is_word(std::string_view key) const {
    if (std::find(kPlaceKeys.begin(), kPlaceKeys.end(), key) == kPlaceKeys.end() ||
        (key == "file" && limits_.files == Files::refused))
      return false;
    return std::any_of(options_->begin(), options_->end(), [](const OptionText& o) { return o.name.empty(); });
  }

  Status add_word(const Flag& flag) {
    for (const std::string& text : flag.values) {
      if (flag.key == "text") {
        const bool estate = verb_.name == "plan" && words_.size() == 2 && words_.back() == "fleet";
        if (verb_.name != "check" && !estate) return wrong("text", "is no key of " + std::string(verb_.name));
        if (text.find_first_not_of(" \t\r\n") == std::string::npos) return wrong("text", "is empty");
        words_.push_back(" " + text);  // so that it is not read as an option; the verb never takes it for a path
        continue;
      }
      if (text.empty() || text.starts_with("-")) return wrong(flag.key, quoted(text) + " is no word");
      words_.push_back(text);
    }
    return flag.is_switch ? Status(wrong(flag.key, "is a text")) : Status();
  }

  Status add(const Flag& given) {
    std::string name = "--" + given.key;
    std::replace(name.begin(), name.end(), '_', '-');
    const OptionText* option = find(name);
    if (option == nullptr) return unknown(given.key, name);
    if (limits_.files == Files::refused) {
      for (const Owned& owned : kOwned) {
        if (owned.flag == name && (owned.verb.empty() || owned.verb == verb_.name)) {
          return wrong(given.key, std::string(owned.why));
        }
      }
    }
    if (option->value.empty()) {
      if (!given.is_switch) return wrong(given.key, "is a switch: write true or false");
      words_.push_back(name);
      return {};
    }
    if (given.is_switch) return wrong(given.key, "needs a value, not true");
    const bool repeatable = option->help.ends_with("repeatable");
    std::string joined;
    for (std::string value : given.values) {
      if (const Status s = check(name, value); !s) return wrong(given.key, s.error().message);
      if (name == "--model" && limits_.files == Files::refused) {
        if (const Status s = put_ids(value); !s) return wrong(given.key, s.error().message);
      }
      if (repeatable) {
        words_.push_back(name + "=" + value);
      } else {
        joined += (joined.empty() ? "" : ",") + value;
      }
    }
    if (!repeatable) words_.push_back(name + "=" + joined);
    return {};
  }

  [[nodiscard]] bool may_set(const OptionText& text) const {
    return !text.hidden &&
           (limits_.files == Files::allowed || (!text.takes.path && !changes_data(verb_.name, text.name)));
  }

  [[nodiscard]] Error unknown(std::string_view key, std::string_view name) const {
    std::vector<std::string_view> known;
    for (const OptionText& text : *options_) {
      if (!text.name.empty() && may_set(text)) known.push_back(text.name);
    }
    const std::string near = nearest(name, known.data(), known.size());
    return wrong(key, "is no key of " + std::string(verb_.name) + (near.empty() ? "" : "; did you mean " + near + "?"));
  }

  [[nodiscard]] const OptionText* find(std::string_view name) const {
    for (const OptionText& text : *options_) {
      if (text.name == name && may_set(text)) return &text;
    }
    for (const OptionText& text : whole_grammar().globals) {
      if (text.name != name || text.hidden) continue;
      const bool anybody = std::find(kGlobals.begin(), kGlobals.end(), name) != kGlobals.end();
      // The catalogue is the session's, so --data is nobody's.
      if (anybody || (limits_.files == Files::allowed && text.takes.path && name != "--data")) return &text;
    }
    return nullptr;
  }

  [[nodiscard]] Status check(std::string_view name, const std::string& value) const {
    if (name == "--requests") {
      const Result<double> count = parse_count(value);
      if (count && *count > limits_.most_requests) {
        return wrong("", limits::beyond(limits::kServedRequests));
      }
    }
    if (name == "--draws" || name == "--trials") {
      const Result<double> count = parse_count(value);
      if (count && *count > limits_.most_draws) return wrong("", limits::beyond(limits::kServedDraws));
    }
    return {};
  }

  /// Ids of the catalogue in the place of names, so that no name is looked for among files.
  [[nodiscard]] Status put_ids(std::string& models) const {
    if (models.starts_with("dense:") || models.starts_with("moe:")) return {};
    std::string ids;
    for (std::string_view rest = models; !rest.empty();) {
      const std::string_view id = rest.substr(0, rest.find(','));
      const Result<const Model*> model = model_named(catalogue_, id);
      if (!model) {
        return wrong("", "there is no model " + quoted(id) + "; a model written out (dense:layers=...) works too");
      }
      if ((*model)->id != id && !format_in_name(id).empty()) {
        return wrong("",
                     quoted(id) + " tells a format: write " + quoted((*model)->id) + " and the format under its key");
      }
      ids += (ids.empty() ? "" : ",") + (*model)->id;
      rest.remove_prefix(std::min(rest.size(), id.size() + 1));
    }
    models = std::move(ids);
    return {};
  }

  const Verb& verb_;
  const Catalogue& catalogue_;
  const CallLimits& limits_;
  const std::vector<OptionText>* options_ = nullptr;
  std::vector<std::string> words_;
};

/// The reader of lines that this thread keeps for a verb, taken out while a call uses it.
class KeptReader {
 public:
  explicit KeptReader(const Verb& verb) : verb_(verb) {
    if (!verb.keeps_arguments) return;
    reader_ = std::move(slot());
    if (!reader_) reader_ = std::make_unique<LineReader>(verb);
  }
  ~KeptReader() {
    if (reader_) slot() = std::move(reader_);
  }
  KeptReader(const KeptReader&) = delete;
  KeptReader& operator=(const KeptReader&) = delete;
  [[nodiscard]] LineReader* reader() const { return reader_.get(); }

 private:
  [[nodiscard]] std::unique_ptr<LineReader>& slot() const {
    thread_local std::map<std::string_view, std::unique_ptr<LineReader>> kept;
    return kept[verb_.name];
  }
  const Verb& verb_;
  std::unique_ptr<LineReader> reader_;
};

std::string plain(const JsonNode& node) {
  return node.kind == JsonNode::Kind::text      ? node.text
         : node.kind == JsonNode::Kind::integer ? std::to_string(node.integer)
                                                : exact_number(node.number);
}

bool is_scalar(const JsonNode& node) {
  return node.kind == JsonNode::Kind::text || node.kind == JsonNode::Kind::integer ||
         node.kind == JsonNode::Kind::number;
}

Result<Flag> read_flag(const JsonMember& member) {
  const JsonNode& value = member.value;
  if (value.kind == JsonNode::Kind::flag) return Flag{member.key, {}, true};
  if (is_scalar(value)) return Flag{member.key, {plain(value)}};
  if (value.kind != JsonNode::Kind::array || value.items.empty()) {
    return wrong(member.key, "is a text, a number, true, or a list of texts");
  }
  Flag flag{member.key, {}};
  for (const JsonNode& item : value.items) {
    if (!is_scalar(item)) return wrong(member.key, "is a list of texts or numbers");
    flag.values.push_back(plain(item));
  }
  return flag;
}

}  // namespace

const Verb* verb_of(std::string_view name) {
  const auto all = verbs();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Verb& v) { return v.name == name; });
  return at == all.end() ? nullptr : &*at;
}

Result<std::vector<Flag>> read_flags(std::string_view json, std::string_view where) {
  const Result<JsonNode> root = parse_json(json, where);
  if (!root) return root.error();
  if (root->kind != JsonNode::Kind::object) return wrong(where, "is a JSON object of flags: {\"model\": ...}");
  std::vector<Flag> flags;
  for (const JsonMember& member : root->members) {
    const JsonNode& value = member.value;
    if (value.kind == JsonNode::Kind::null || (value.kind == JsonNode::Kind::flag && !value.flag)) continue;
    Result<Flag> flag = read_flag(member);
    if (!flag) return flag.error();
    flags.push_back(*std::move(flag));
  }
  return flags;
}

Result<std::vector<std::string>> call_words(std::string_view verb, const std::vector<Flag>& flags,
                                            const Catalogue& catalogue, const CallLimits& limits) {
  const Verb* found = verb_of(verb);
  if (found == nullptr) return Error{ErrorCode::not_found, "", "there is no command " + quoted(verb)};
  if (verb == "serve") {
    return Error{ErrorCode::refused, "", "serve never ends, and so never returns: start it from the command line"};
  }
  return LineWriter(*found, catalogue, limits).run(flags);
}

Result<Answer> call(const std::vector<std::string>& words, const SharedData& shared, const Surroundings& surroundings,
                    const StopSign& stop, Files files) {
  // All verbs are looked at only where a plan file may hold flags of others: one is much faster.
  const bool plans = std::any_of(words.begin(), words.end(), [](const auto& w) { return w.starts_with(kPlanFlag); });
  const Verb& verb = *verb_of(words.front());
  const std::span<const Verb> known = plans ? verbs() : std::span(&verb, 1);
  GlobalOptions options;
  KeptReader kept(verb);
  const bool reads = !plans && kept.reader() != nullptr;
  Result<Command> command = reads ? kept.reader()->read(words, options) : parse_command_line(words, known, options);
  if (!command) return command.error();
  Answer answer;
  Session session(std::move(options), surroundings, shared, answer.json, stop, files);
  command = measured_command(*std::move(command), words, known, session);
  if (!command) return command.error();
  const Result<int> code = command->action(session);
  if (!code) return code.error();
  answer.exit_code = *code;
  if (!answer.json.starts_with('{')) {
    answer.json = Json::object().set("schema", "ridge.text/1").set("text", answer.json).text();
  }
  return answer;
}

}  // namespace ridge::cli
