#include "app/cli/call/call.hpp"

#include <algorithm>
#include <array>

#include "app/cli/line/plan_file.hpp"
#include "app/cli/line/profiles.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "catalogue/files/json_document.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"
#include "ridge/report/report.hpp"

namespace ridge::cli {

namespace {

/// Flags of each verb, made once.
const Grammar& whole_grammar() {
  static const Grammar all = grammar(verbs());
  return all;
}

const std::vector<OptionText>& texts_of(const Verb& verb) {
  const auto& all = whole_grammar().verbs;
  return std::find_if(all.begin(), all.end(), [&](const VerbText& text) { return text.verb->name == verb.name; })
      ->options;
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

class CallMaker {
 public:
  CallMaker(const Verb& verb, const Catalogue& catalogue, const CallLimits& limits)
      : verb_(verb), catalogue_(catalogue), limits_(limits) {
    call_.verb = &verb;
    options_ = &texts_of(verb);
  }

  Result<Call> run(std::vector<Said> said) {
    for (const std::string_view key : kPlaceKeys) {
      for (const Said& one : said) {
        if (one.key != key || !is_word(key)) continue;
        if (const Status s = add_word(one); !s) return s.error();
      }
    }
    for (Said& one : said) {
      if (is_word(one.key)) continue;
      if (const Status s = add(std::move(one)); !s) return s.error();
    }
    return std::move(call_);
  }

 private:
  /// "kind" is a flag of some verbs, and a word after the others.
  [[nodiscard]] bool is_word(std::string_view key) const {
    if (std::find(kPlaceKeys.begin(), kPlaceKeys.end(), key) == kPlaceKeys.end() ||
        (key == "file" && limits_.files == Files::refused))
      return false;
    return std::any_of(options_->begin(), options_->end(), [](const OptionText& o) { return o.name.empty(); });
  }

  Status add_word(const Said& said) {
    for (const std::string& text : said.values) {
      if (said.key == "text") {
        const bool estate = verb_.name == "plan" && call_.words == std::vector<std::string>{"fleet"};
        if (verb_.name != "check" && !estate) return wrong("text", "is no key of " + std::string(verb_.name));
        if (text.find_first_not_of(" \t\r\n") == std::string::npos) return wrong("text", "is empty");
        call_.words.push_back(" " + text);  // the verb never takes it for a path
        continue;
      }
      if (text.empty() || text.starts_with("-")) return wrong(said.key, quoted(text) + " is no word");
      call_.words.push_back(text);
    }
    return said.is_switch ? Status(wrong(said.key, "is a text")) : Status();
  }

  Status add(Said given) {
    std::string name = "--" + given.key;
    std::replace(name.begin(), name.end(), '_', '-');
    const OptionText* option = find(name);
    if (option == nullptr) return unknown(given.key);
    if (limits_.files == Files::refused) {
      for (const Owned& owned : kOwned) {
        if (owned.flag == name && (owned.verb.empty() || owned.verb == verb_.name)) {
          return wrong(given.key, std::string(owned.why));
        }
      }
    }
    if (option->value.empty()) {
      if (!given.is_switch) return wrong(given.key, "is a switch: write true or false");
      call_.options.push_back({std::move(name), {}, true});
      return {};
    }
    if (given.is_switch) return wrong(given.key, "needs a value, not true");
    std::string joined;
    for (std::string& value : given.values) {
      if (const Status s = check(name, value); !s) return wrong(given.key, s.error().message);
      if (name == "--model" && limits_.files == Files::refused) {
        if (const Status s = put_ids(value); !s) return wrong(given.key, s.error().message);
      }
      joined += (joined.empty() ? "" : ",") + value;
    }
    if (!option->repeatable) given.values = {std::move(joined)};
    call_.options.push_back({std::move(name), std::move(given.values)});
    return {};
  }

  [[nodiscard]] bool may_set(const OptionText& text) const {
    return !text.hidden &&
           (limits_.files == Files::allowed || (!text.takes.path && !changes_data(verb_.name, text.name)));
  }

  [[nodiscard]] Error unknown(std::string_view key) const {
    std::vector<std::string> keys;  // as they are written here
    for (const OptionText& text : *options_) {
      if (!text.name.starts_with("--") || !may_set(text)) continue;
      keys.push_back(text.name.substr(2));
      std::replace(keys.back().begin(), keys.back().end(), '-', '_');
    }
    const std::vector<std::string_view> known(keys.begin(), keys.end());
    const std::string near = nearest(key, known.data(), known.size());
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
  Call call_;
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

Result<Said> read_one(const JsonMember& member) {
  const JsonNode& value = member.value;
  if (value.kind == JsonNode::Kind::flag) return Said{member.key, {}, true};
  if (is_scalar(value)) return Said{member.key, {plain(value)}};
  if (value.kind != JsonNode::Kind::array || value.items.empty()) {
    return wrong(member.key, "is a text, a number, true, or a list of texts");
  }
  Said said{member.key, {}};
  for (const JsonNode& item : value.items) {
    if (!is_scalar(item)) return wrong(member.key, "is a list of texts or numbers");
    said.values.push_back(plain(item));
  }
  return said;
}

}  // namespace

const Verb* verb_of(std::string_view name) {
  const auto all = verbs();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Verb& v) { return v.name == name; });
  return at == all.end() ? nullptr : &*at;
}

Result<std::vector<Said>> read_said(std::string_view json, std::string_view where) {
  const Result<JsonNode> root = parse_json(json, where);
  if (!root) return root.error();
  if (root->kind != JsonNode::Kind::object) return wrong(where, "is a JSON object of flags: {\"model\": ...}");
  std::vector<Said> all;
  for (const JsonMember& member : root->members) {
    const JsonNode& value = member.value;
    if (value.kind == JsonNode::Kind::null || (value.kind == JsonNode::Kind::flag && !value.flag)) continue;
    Result<Said> said = read_one(member);
    if (!said) return said.error();
    all.push_back(*std::move(said));
  }
  return all;
}

Result<Call> make_call(std::string_view verb, std::vector<Said> said, const Catalogue& catalogue,
                       const CallLimits& limits) {
  const Verb* found = verb_of(verb);
  if (found == nullptr) return Error{ErrorCode::not_found, "", "there is no command " + quoted(verb)};
  if (verb == "serve") {
    return Error{ErrorCode::refused, "", "serve never ends, and so never returns: start it from the command line"};
  }
  return CallMaker(*found, catalogue, limits).run(std::move(said));
}

bool Call::says(std::string_view option) const {
  return std::any_of(options.begin(), options.end(), [&](const Said& said) { return said.key == option; });
}

std::vector<std::string> Call::line() const {
  std::vector<std::string> all = {std::string(verb->name)};
  all.insert(all.end(), words.begin(), words.end());
  for (const Said& said : options) {
    if (said.is_switch) all.push_back(said.key);
    for (const std::string& value : said.values) all.push_back(said.key + "=" + value);
  }
  all.emplace_back("--json");
  return all;
}

Status take_call(const Call& asked, Options own, Options globals) {
  if (!asked.words.empty()) {
    if (const Status s = own.set("", asked.words); !s) return s;
  }
  for (const Said& said : asked.options) {
    Options& owner = own.find(said.key) != nullptr ? own : globals;
    if (const Status s = owner.set(said.key, said.values); !s) return s;
  }
  for (const Said& said : asked.options) {
    if (said.key != "--plan") continue;
    static const std::vector<std::string_view> kKnown = [] {
      std::vector<std::string_view> names;
      for (const OptionText& text : whole_grammar().globals) names.push_back(text.name);
      for (const VerbText& verb : whole_grammar().verbs) {
        for (const OptionText& text : verb.options) {
          if (!text.name.empty()) names.push_back(text.name);
        }
      }
      return names;
    }();
    if (const Status s = take_plan_file(said.values.back(), own, globals, kKnown); !s) return s;
  }
  return {};
}

Result<Answer> call(const Call& asked, const SharedData& shared, const Surroundings& surroundings, const StopSign& stop,
                    Files files) {
  Options own(texts_of(*asked.verb));
  const Action action = asked.verb->declare(own);
  GlobalOptions options;
  Options globals(whole_grammar().globals);
  declare_globals(globals, options);
  if (const Status s = take_call(asked, own, globals); !s) return s.error();
  options.json = true;
  options.line = asked.line();
  Answer answer;
  Session session(std::move(options), surroundings, shared, answer.json, stop, files);
  const auto placed = [&](const Error& error) { return located(located(error, own.places()), globals.places()); };
  if (const Status s = use_profiles(own, session); !s) return placed(s.error());
  if (const Status s = check_globals(session); !s) return placed(s.error());
  if (const Status s = own.check(session); !s) return placed(s.error());
  const Result<int> code = action(session);
  if (!code) return placed(code.error());
  answer.exit_code = *code;
  if (!answer.json.starts_with('{')) {
    answer.json = Json::object().set("schema", "ridge.text/1").set("text", answer.json).text();
  }
  return answer;
}

}  // namespace ridge::cli
