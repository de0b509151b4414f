#include "app/cli/line/options.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "app/cli/line/value.hpp"
#include "app/cli/session/session.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

template <class Text>
void Options::add(Into into, const Text& text) {
  declared_->targets.push_back(into);
  declared_->given.push_back(false);
  if (!has_texts()) declared_->texts.push_back(text());
}

void Options::flag(std::string_view name, bool& into, std::string_view help, bool hidden) {
  add(&into, [&] { return OptionText{std::string(name), "", std::string(help), {}, hidden}; });
}

void Options::text(std::string_view name, std::string_view value, std::string& into, std::string_view help,
                   Takes takes) {
  add(&into, [&] {
    OptionText text{std::string(name), std::string(value), std::string(help), std::move(takes)};
    if (const std::size_t comma = name.find(','); comma != std::string_view::npos) {
      text.letter = name.substr(0, comma);
      text.name = name.substr(comma + 1);
      text.help = text.letter + ": " + text.help;
    }
    return text;
  });
}

void Options::list(std::string_view name, std::string_view value, std::vector<std::string>& into, std::string_view help,
                   Takes takes) {
  add(&into, [&] {
    return OptionText{
        std::string(name), std::string(value), std::string(help) + "; repeatable", std::move(takes), false, true};
  });
}

void Options::count(std::string_view name, std::string_view value, int& into, std::string_view help) {
  add(&into, [&] { return OptionText{std::string(name), std::string(value), std::string(help), {}}; });
}

void Options::words(std::string_view value, std::vector<std::string>& into, std::string_view help, Takes takes) {
  add(&into, [&] { return OptionText{"", std::string(value), std::string(help), std::move(takes)}; });
}

void Options::about(unsigned kinds) {
  if (!has_texts() && !declared_->texts.empty()) declared_->texts.back().kinds = kinds;
}

const OptionText* Options::find(std::string_view name) const {
  const auto at = std::find_if(texts().begin(), texts().end(), [&](const OptionText& t) { return t.name == name; });
  return at == texts().end() ? nullptr : &*at;
}

std::size_t Options::index_of(std::string_view name) const {
  const OptionText* text = find(name);
  assert(text != nullptr);
  return static_cast<std::size_t>(text - texts().data());
}

Error located(const Error& error, const Places& places) {
  const std::string option = phrased(error.where, ridge::Voice::flags);
  const auto at = places.find(option);
  if (at == places.end()) return error;
  std::string key = option.substr(option.find_first_not_of('-'));
  std::replace(key.begin(), key.end(), '-', '_');
  return Error{error.code, at->second, named(key) + ": " + error.message};
}

Status Options::set(std::string_view name, const std::vector<std::string>& values, std::string_view place) {
  const std::size_t index = index_of(name);
  declared_->given[index] = true;
  if (!place.empty()) declared_->places[std::string(name)] = place;
  const Into& into = declared_->targets[index];
  if (bool* const* on = std::get_if<bool*>(&into)) {
    **on = true;
    return {};
  }
  if (std::vector<std::string>* const* many = std::get_if<std::vector<std::string>*>(&into)) {
    (*many)->insert((*many)->end(), values.begin(), values.end());
    return {};
  }
  if (values.empty()) return {};
  if (std::string* const* one = std::get_if<std::string*>(&into)) {
    **one = values.back();
    return {};
  }
  const std::string why = no_count(values.back(), *std::get<int*>(into));
  return why.empty() ? Status() : Status(Error{ErrorCode::bad_input, std::string(name), why});
}

bool Options::given(std::string_view name) const {
  return declared_->given[index_of(name)];
}

Status Options::change(std::string_view name, const std::function<Status(std::string&)>& each) {
  if (find(name) == nullptr) return {};
  const Into& into = declared_->targets[index_of(name)];
  if (std::string* const* one = std::get_if<std::string*>(&into)) return each(**one);
  if (std::vector<std::string>* const* many = std::get_if<std::vector<std::string>*>(&into)) {
    for (std::string& value : **many) {
      if (const Status s = each(value); !s) return s;
    }
  }
  return {};
}

std::string no_count(std::string_view text, int& into) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  const bool good = read.ec == std::errc() && read.ptr == end && into > 0;
  return good ? std::string() : ridge::quoted(text) + " is no whole number from 1";
}

Status check_value(Session& session, std::string_view option, const Takes& value, const std::string& text) {
  if (!value.check || text.empty()) return {};
  const Status good = value.check(session, text);
  if (good) return {};
  const Error& error = good.error();
  const std::string place =
      error.where.empty() || phrased(error.where, ridge::Voice::flags) == option ? "" : error.where + ": ";
  return Error{error.code, std::string(option), place + error.message};
}

Status Options::check(Session& session) const {
  for (const auto& group : declared_->exclusive) {
    std::string_view first;
    for (const std::string_view name : group) {
      if (!given(name)) continue;
      if (!first.empty()) return Error{ErrorCode::bad_input, std::string(first), "excludes " + std::string(name)};
      first = name;
    }
  }
  for (std::size_t i = 0; i < declared_->targets.size(); ++i) {
    const OptionText& text = texts()[i];
    if (!text.takes.check) continue;
    const std::string& name = text.name.empty() ? text.value : text.name;
    const auto is_there = [&](const std::string& value) {
      // A variable of a shell that is not set, an empty field of a form: never what leaves a restriction out.
      return declared_->given[i] && value.empty()
                 ? Status(Error{ErrorCode::bad_input, name, "its value is empty: write one, or leave it out"})
                 : Status();
    };
    if (std::string* const* one = std::get_if<std::string*>(&declared_->targets[i])) {
      if (const Status s = is_there(**one); !s) return s;
      if (const Status s = check_value(session, name, text.takes, **one); !s) return s;
    } else if (std::vector<std::string>* const* many = std::get_if<std::vector<std::string>*>(&declared_->targets[i])) {
      for (const std::string& value : **many) {
        if (const Status s = is_there(value); !s) return s;
        if (const Status s = check_value(session, name, text.takes, value); !s) return s;
      }
    }
  }
  return {};
}

void declare_globals(Options& options, GlobalOptions& into) {
  options.flag("--json", into.json, "print JSON, in base units, with the unit in each key");
  options.flag("--csv", into.csv, "print CSV, in base units, with the unit in each column's name");
  options.flag("--md", into.markdown, "print Markdown");
  options.exclusive({"--json", "--csv", "--md"});
  options.text("--data", "DIR", into.data, "read the catalogue there instead of the bundled one", value::folder());
  options.list("--catalogue", "FILE", into.overlays, "add entries of your own from a TOML file", value::file());
  options.list("--prices", "FILE", into.price_lists, "add prices of your own from a CSV file", value::file());
  options.list("--calibration", "FILE", into.calibrations, "use what `ridge calibrate --cases` found on your machines",
               value::file());
  options.list("--set", "KEY=VALUE", into.settings,
               "what if: a figure of the device, model or system in question, device.hbm_bandwidth=8TB/s",
               value::what_if());
  options.text("--plan", "FILE", into.plan, "read flags from a plan in TOML; flags you type override it",
               value::file());
  options.text("--as-of", "DATE", into.as_of, "take prices and software as they were then: 2026-06-30, or 2026-06",
               value::date());
  options.text("--software-as-of", "DATE", into.software_as_of, "the same of engines and their kernels alone",
               value::date());
  options.text("--prices-as-of", "DATE", into.prices_as_of, "the same of prices alone", value::date());
  options.text("--time-limit", "TIME", into.time_limit,
               "end long work after it: 30s; a search answers with its best so far",
               value::quantity<Seconds>("30s", limits::kTimeLimit));
  options.text("--memory-limit", "BYTES", into.memory_limit, "end long work once the program has more: 4GB",
               value::quantity<Bytes>("4GB"));
  options.flag("--no-color", into.no_colour, "no colours, even on a terminal");
}

Status check_globals(Session& session) {
  static const std::vector<OptionText> kTexts = grammar({}).globals;
  GlobalOptions said = session.options();
  Options options(kTexts);
  declare_globals(options, said);
  return options.check(session);
}

Grammar grammar(std::span<const Verb> verbs) {
  GlobalOptions unused;
  Options globals;
  declare_globals(globals, unused);
  Grammar result;
  result.globals = globals.texts();
  result.globals.push_back({"--help", "", "explain the command", {}, false});
  result.globals.push_back({"--version", "", "print the version and the date of the catalogue", {}, false});
  for (const Verb& verb : verbs) {
    Options options;
    (void)verb.declare(options);
    result.verbs.push_back({&verb, options.texts()});
  }
  return result;
}

}  // namespace ridge::cli
