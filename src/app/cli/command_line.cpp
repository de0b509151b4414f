#include "app/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <charconv>
#include <deque>

#include "app/cli/help.hpp"
#include "app/cli/plan_file.hpp"
#include "app/cli/session.hpp"
#include "app/cli/value.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

struct Options::Parser {
  CLI::App* app = nullptr;
};

Options::Options(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
Options::Options(Options&&) noexcept = default;
Options::~Options() = default;

void Options::forget() const {
  for (const auto& reset : resets_) reset();
}

void Options::flag(std::string name, bool& into, std::string help, bool hidden) {
  remember(into);
  parser_->app->add_flag(name, into)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  declared_->texts.push_back({std::move(name), "", std::move(help), {}, hidden});
}

void Options::text(std::string name, std::string value, std::string& into, std::string help, Takes takes) {
  remember(into);
  declared_->targets.push_back({declared_->texts.size(), &into, nullptr});
  parser_->app->add_option(name, into)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  // "-o,--out" is --out to completion and messages; help says that -o does as well.
  if (const std::size_t comma = name.find(','); comma != std::string::npos) {
    help = name.substr(0, comma) + ": " + help;
    name.erase(0, comma + 1);
  }
  declared_->texts.push_back({std::move(name), std::move(value), std::move(help), std::move(takes), false});
}

void Options::list(std::string name, std::string value, std::vector<std::string>& into, std::string help, Takes takes) {
  remember(into);
  declared_->targets.push_back({declared_->texts.size(), nullptr, &into});
  // One value for each time it is given: without this an option would swallow the words after it.
  parser_->app->add_option(name, into)->allow_extra_args(false);
  declared_->texts.push_back(
      {std::move(name), std::move(value), std::move(help) + "; repeatable", std::move(takes), false});
}

void Options::count(std::string name, std::string value, int& into, std::string help) {
  remember(into);
  const auto whole = [](const std::string& text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    const bool good = read.ec == std::errc() && read.ptr == end && number > 0;
    return good ? std::string() : ridge::quoted(text) + " is no whole number from 1";
  };
  parser_->app->add_option(name, into)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->check(whole);
  declared_->texts.push_back({std::move(name), std::move(value), std::move(help), {}, false});
}

void Options::words(std::string value, std::vector<std::string>& into, std::string help, Takes takes) {
  remember(into);
  declared_->targets.push_back({declared_->texts.size(), nullptr, &into});
  parser_->app->add_option("words", into);
  declared_->texts.push_back({"", std::move(value), std::move(help), std::move(takes), false});
}

Status check_value(Session& session, std::string_view option, const Takes& value, const std::string& text) {
  if (!value.check || text.empty()) return {};
  const Status good = value.check(session, text);
  if (good) return {};
  const Error& error = good.error();
  const std::string place = error.where.empty() || error.where == option ? "" : error.where + ": ";
  return Error{error.code, std::string(option), place + error.message};
}

std::function<Status(Session&)> Options::checks() const {
  return [declared = declared_](Session& session) -> Status {
    for (const Target& target : declared->targets) {
      const OptionText& text = declared->texts[target.text];
      if (!text.takes.check) continue;
      const std::string& name = text.name.empty() ? text.value : text.name;
      if (target.one != nullptr) {
        if (const Status s = check_value(session, name, text.takes, *target.one); !s) return s;
        continue;
      }
      for (const std::string& value : *target.many) {
        if (const Status s = check_value(session, name, text.takes, value); !s) return s;
      }
    }
    return {};
  };
}

void Options::exclusive(std::initializer_list<std::string_view> names) {
  for (const std::string_view a : names) {
    for (const std::string_view b : names) {
      if (a < b) parser_->app->get_option(std::string(a))->excludes(parser_->app->get_option(std::string(b)));
    }
  }
}

namespace {

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
  options.text(std::string(kPlanFlag), "FILE", into.plan, "read flags from a plan in TOML; flags you type override it",
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

/// Values of the options that all verbs share, as the session has them.
Status check_globals(Session& session) {
  const GlobalOptions& said = session.options();
  static const std::shared_ptr<const std::vector<OptionText>> kTexts = [] {
    GlobalOptions unused;
    CLI::App app;
    Options options(std::make_unique<Options::Parser>(Options::Parser{&app}));
    declare_globals(options, unused);
    return std::make_shared<const std::vector<OptionText>>(options.texts());
  }();
  const auto check = [&](std::string_view name, const std::string& text) -> Status {
    if (text.empty()) return {};
    const auto at = std::find_if(kTexts->begin(), kTexts->end(), [&](const OptionText& o) { return o.name == name; });
    return check_value(session, name, at->takes, text);
  };
  const std::pair<std::string_view, const std::string*> texts[] = {{"--data", &said.data},
                                                                   {"--as-of", &said.as_of},
                                                                   {"--software-as-of", &said.software_as_of},
                                                                   {"--prices-as-of", &said.prices_as_of},
                                                                   {"--time-limit", &said.time_limit},
                                                                   {"--memory-limit", &said.memory_limit}};
  for (const auto& [name, text] : texts) {
    if (const Status s = check(name, *text); !s) return s;
  }
  const std::pair<std::string_view, const std::vector<std::string>*> lists[] = {{"--catalogue", &said.overlays},
                                                                                {"--prices", &said.price_lists},
                                                                                {"--calibration", &said.calibrations},
                                                                                {"--set", &said.settings}};
  for (const auto& [name, all] : lists) {
    for (const std::string& text : *all) {
      if (const Status s = check(name, text); !s) return s;
    }
  }
  return {};
}

/// The CLI11 application with everything declared on it.
struct Application {
  CLI::App app{"", "ridge"};
  Options globals{std::make_unique<Options::Parser>(Options::Parser{&app})};
  std::deque<Options> options;  // one for each verb
  std::vector<Action> actions;
  bool help = false;
  bool version = false;

  Application(std::span<const Verb> verbs, GlobalOptions& into) {
    app.set_help_flag();
    app.allow_extras();
    // One verb: `ridge report mlperf` is the report of that name, though mlperf is a verb too.
    app.require_subcommand(0, 1);
    declare_globals(globals, into);
    app.add_flag("-h,--help", help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.add_flag("--version", version)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    for (const Verb& verb : verbs) {
      CLI::App* sub = app.add_subcommand(std::string(verb.name));
      sub->fallthrough()->allow_extras();
      options.emplace_back(std::make_unique<Options::Parser>(Options::Parser{sub}));
      actions.push_back(verb.declare(options.back()));
    }
  }

  void forget() {
    help = version = false;
    for (const Options& of_verb : options) of_verb.forget();
  }
};

Command help_asked(Document page) {
  Command command;
  command.help = std::move(page);
  return command;
}

Command version_asked() {
  Command command;
  command.version = true;
  return command;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string near = nearest(word, candidates.data(), candidates.size());
  return near.empty() ? std::string() : "; did you mean " + near + "?";
}

Error unknown_verb(std::string_view word, std::span<const Verb> verbs) {
  std::vector<std::string_view> names = {"help"};
  for (const Verb& verb : verbs) names.push_back(verb.name);
  std::string hint = did_you_mean(word, names);
  if (hint.empty()) hint = "; `ridge help` lists them";
  return {ErrorCode::bad_input, "", "there is no command " + ridge::quoted(word) + hint};
}

/// What other programs call one of the flags that are `here`; empty where nobody is known to.
std::string_view our_name_of(std::string_view flag, const std::vector<std::string_view>& here) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"--quantization", "--precision"},
      {"--dtype", "--precision"},
      {"--kv-cache-dtype", "--kv-precision"},
      {"--input-len", "--isl"},
      {"--random-input-len", "--isl"},
      {"--prompt-length", "--isl"},
      {"--output-len", "--osl"},
      {"--random-output-len", "--osl"},
      {"--max-tokens", "--osl"},
      {"--qps", "--request-rate"},
      {"--rps", "--request-rate"},
      {"--rate", "--request-rate"},
      {"--users", "--concurrency"},
      {"--users", "--request-rate"},
      {"--clients", "--concurrency"},
      {"--years", "--horizon"},
      {"--years", "--life"},
      {"--months", "--horizon"},
      {"--sequence-length", "--seq-length"},
      {"--max-concurrency", "--concurrency"},
      {"--num-gpus", "--gpus"},
      {"--gpu", "--device"},
      {"--accelerator", "--device"},
      {"--hardware", "--device"},
      {"--tensor-parallel-size", "--tp"},
      {"--tp-size", "--tp"},
      {"--dp-size", "--dp"},
      {"--ep-size", "--ep"},
      {"--pipeline-parallel-size", "--pp"},
      {"--data-parallel-size", "--dp"},
      {"--batch-size", "--batch"},
      {"--num-prompts", "--requests"},
  };
  const auto* at = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) {
    return n.first == flag && std::find(here.begin(), here.end(), n.second) != here.end();
  });
  return at == std::end(kNames) ? std::string_view() : at->second;
}

/// About the first word that neither the verb nor the program understood.
Error not_understood(const std::vector<std::string>& left, const std::vector<OptionText>* own,
                     const std::vector<OptionText>& globals, std::string_view verb) {
  const auto option = std::find_if(left.begin(), left.end(), [](const auto& word) { return word.starts_with("-"); });
  if (option == left.end()) return {ErrorCode::bad_input, "", "nothing is done with " + ridge::quoted(left.front())};
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string_view> names = {"--help", "--version"};
  for (const auto* texts : {own, &globals}) {
    if (texts == nullptr) continue;
    for (const OptionText& text : *texts) {
      if (!text.hidden && !text.name.empty()) names.push_back(text.name);
    }
  }
  const std::string_view ours = our_name_of(name, names);
  std::string hint = !ours.empty() ? "; it is " + std::string(ours) + " here" : did_you_mean(name, names);
  if (ours == "--request-rate" && name == "--users") hint += ": users times the requests that each sends in a second";
  if (hint.empty()) hint = "; `ridge help" + (verb.empty() ? "" : " " + std::string(verb)) + "` lists them";
  return {ErrorCode::bad_input, "", "there is no option " + ridge::quoted(name) + hint};
}

Result<Command> understand(Application& application, const std::vector<std::string>& words,
                           std::span<const Verb> verbs) {
  Result<std::vector<std::string>> line = words;
  if (std::any_of(words.begin(), words.end(), [](const auto& word) { return word.starts_with(kPlanFlag); })) {
    line = with_plan_file(words, grammar(verbs));
    if (!line) return line.error();
  }
  try {
    application.app.parse(std::vector<std::string>(line->rbegin(), line->rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string name = error.what();
    return Error{ErrorCode::bad_input, name.substr(0, name.find(':')), "its value is missing"};
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::bad_input, "", error.what()};
  }
  const std::vector<CLI::App*> chosen = application.app.get_subcommands();
  const std::vector<std::string> left = application.app.remaining(true);
  if (chosen.empty()) {
    const bool a_word = !left.empty() && !left.front().starts_with("-");
    if (a_word) return unknown_verb(left.front(), verbs);
    if (!left.empty()) return not_understood(left, nullptr, application.globals.texts(), "");
    if (application.version) return version_asked();
    if (application.help) return help_asked(program_help(grammar(verbs)));
    return Error{ErrorCode::bad_input, "", "a command is missing, for example `ridge show`; `ridge help` lists them"};
  }
  std::size_t index = 0;
  while (verbs[index].name != chosen.front()->get_name()) ++index;
  if (application.help) return help_asked(verb_help(grammar(verbs), index));
  if (!left.empty()) {
    return not_understood(left, &application.options[index].texts(), application.globals.texts(), verbs[index].name);
  }
  if (application.version) return version_asked();
  // Every value that was given is looked at before the verb is: what is not used is not ignored.
  Command command;
  const Action& action = application.actions[index];
  command.check = [own = application.options[index].checks(), kept_alive = action](Session& session) -> Status {
    if (const Status s = check_globals(session); !s) return s;
    return own(session);
  };
  command.action = [check = command.check, action](Session& session) -> Result<int> {
    if (const Status s = check(session); !s) return s.error();
    return action(session);
  };
  return command;
}

}  // namespace

Result<Command> parse_command_line(const std::vector<std::string>& words, std::span<const Verb> verbs,
                                   GlobalOptions& globals) {
  if (words.empty()) {
    Command command;
    command.start = true;
    return command;
  }
  if (words[0] == "help") {
    if (words.size() == 1 || words[1] == "all") return help_asked(program_help(grammar(verbs)));
    const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.name == words[1]; });
    if (verb == verbs.end()) return unknown_verb(words[1], verbs);
    return help_asked(verb_help(grammar(verbs), static_cast<std::size_t>(verb - verbs.begin())));
  }

  Application application(verbs, globals);
  globals.line = words;
  return understand(application, words, verbs);
}

struct LineReader::Declared {
  explicit Declared(const Verb& of) : verb(of) {}
  const Verb& verb;
  int lines = 0;
  GlobalOptions globals;
  Application application{std::span(&verb, 1), globals};
};

LineReader::LineReader(const Verb& verb) : declared_(std::make_unique<Declared>(verb)) {
  assert(verb.keeps_arguments && "what an action changes would show in the next line");
}
LineReader::~LineReader() = default;

Result<Command> LineReader::read(const std::vector<std::string>& words, GlobalOptions& globals) {
  // CLI11 remembers every option that it ever read, in order: now and then it has to be made anew.
  constexpr int kMostLines = 1000;
  if (++declared_->lines > kMostLines) declared_ = std::make_unique<Declared>(declared_->verb);
  declared_->globals = {};
  declared_->application.forget();
  Result<Command> command = understand(declared_->application, words, std::span(&declared_->verb, 1));
  globals = declared_->globals;
  return command;
}

Grammar grammar(std::span<const Verb> verbs) {
  GlobalOptions unused;
  const Application application(verbs, unused);
  Grammar result;
  result.globals = application.globals.texts();
  result.globals.push_back({"--help", "", "explain the command", {}, false});
  result.globals.push_back({"--version", "", "print the version and the date of the catalogue", {}, false});
  for (std::size_t i = 0; i < verbs.size(); ++i) result.verbs.push_back({&verbs[i], application.options[i].texts()});
  return result;
}

}  // namespace ridge::cli
