#include "app/cli/line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/line/help.hpp"
#include "app/cli/line/plan_file.hpp"
#include "app/cli/line/profiles.hpp"
#include "app/cli/session/session.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

std::vector<std::string_view> names_of(const std::vector<Options>& all, const Options& globals) {
  std::vector<std::string_view> names;
  const auto add = [&](const Options& options) {
    for (const OptionText& text : options.texts()) {
      if (!text.name.empty()) names.push_back(text.name);
    }
  };
  add(globals);
  for (const Options& options : all) add(options);
  return names;
}

/// The CLI11 application over what verbs declare.
struct Application {
  CLI::App app{"", "ridge"};
  Options globals;
  std::vector<Options> options;  // one for each verb
  std::vector<Action> actions;
  bool help = false;
  bool version = false;

  Application(std::span<const Verb> verbs, GlobalOptions& into) {
    app.set_help_flag();
    app.allow_extras();
    // One verb: `ridge report mlperf` is the report of that name, though mlperf is a verb too.
    app.require_subcommand(0, 1);
    declare_globals(globals, into);
    put_on(app, globals);
    app.add_flag("-h,--help", help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.add_flag("--version", version)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    for (const Verb& verb : verbs) {
      CLI::App* sub = app.add_subcommand(std::string(verb.name));
      sub->fallthrough()->allow_extras();
      actions.push_back(verb.declare(options.emplace_back()));
      put_on(*sub, options.back());
    }
  }

  static void put_on(CLI::App& app, const Options& options) {
    constexpr auto kLast = CLI::MultiOptionPolicy::TakeLast;
    for (std::size_t i = 0; i < options.texts().size(); ++i) {
      const OptionText& text = options.texts()[i];
      const std::string name = text.name.empty()     ? "words"
                               : text.letter.empty() ? text.name
                                                     : text.letter + "," + text.name;
      const Options::Into& into = options.targets()[i];
      if (bool* const* on = std::get_if<bool*>(&into)) {
        app.add_flag(name, **on)->multi_option_policy(kLast);
      } else if (std::string* const* one = std::get_if<std::string*>(&into)) {
        app.add_option(name, **one)->multi_option_policy(kLast);
      } else if (int* const* number = std::get_if<int*>(&into)) {
        app.add_option(name, **number)->multi_option_policy(kLast)->check([](const std::string& said) {
          int unused = 0;
          return no_count(said, unused);
        });
      } else {
        CLI::Option* many = app.add_option(name, *std::get<std::vector<std::string>*>(into));
        // One value for each time it is given: without this an option would swallow the words after it.
        if (!text.name.empty()) many->allow_extra_args(false);
      }
    }
    for (const auto& group : options.exclusives()) {
      for (const std::string_view a : group) {
        for (const std::string_view b : group) {
          if (a < b) app.get_option(std::string(a))->excludes(app.get_option(std::string(b)));
        }
      }
    }
  }

  /// Tells what was given from what is so by itself.
  static void mark_given(CLI::App& app, Options& options) {
    for (std::size_t i = 0; i < options.texts().size(); ++i) {
      const std::string& name = options.texts()[i].name;
      if (app.get_option(name.empty() ? "words" : name)->count() > 0) options.mark_given(i);
    }
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

/// What people call a question that a command answers under another name; empty where nobody is known to.
std::string command_for(std::string_view word, std::span<const Verb> verbs) {
  static constexpr std::pair<std::string_view, std::string_view> kCommands[] = {
      {"devices", "show devices"},
      {"gpus", "show devices"},
      {"accelerators", "show devices"},
      {"models", "show models"},
      {"list", "show"},
      {"ls", "show"},
      {"systems", "show systems"},
      {"info", "show"},
      {"prices", "show prices"},
      {"explain", "estimate infer"},
      {"predict", "estimate"},
      {"rent", "cost rent"},
      {"buy", "plan serve"},
      {"search", "plan"},
      {"recommend", "plan serve"},
      {"deploy", "emit"},
      {"launch", "emit"},
      {"version", "--version"},
  };
  std::string commands;
  for (const Verb& verb : verbs) {
    for (const VerbKind& kind : verb.kinds) {
      if (kind.word == word)
        commands += fmt::format("{}`ridge {} {}`", commands.empty() ? "" : " or ", verb.name, word);
    }
  }
  const auto* const at =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const auto& c) { return c.first == word; });
  if (commands.empty() && at != std::end(kCommands)) commands = fmt::format("`ridge {}`", at->second);
  return commands;
}

Error unknown_verb(std::string_view word, std::span<const Verb> verbs) {
  if (const std::string meant = command_for(word, verbs); !meant.empty()) {
    return {ErrorCode::bad_input, "", fmt::format("there is no command {}; it is {}", ridge::quoted(word), meant)};
  }
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
      {"--input-tokens", "--isl"},
      {"--prompt-tokens", "--isl"},
      {"--output-len", "--osl"},
      {"--random-output-len", "--osl"},
      {"--max-tokens", "--osl"},
      {"--output-tokens", "--osl"},
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
      {"--n-gpus", "--gpus"},
      {"--num-devices", "--gpus"},
      {"--count", "--gpus"},
      {"--gpu", "--devices"},
      {"--gpu", "--device"},
      {"--accelerator", "--devices"},
      {"--accelerator", "--device"},
      {"--hardware", "--devices"},
      {"--hardware", "--device"},
      {"--devices", "--device"},
      {"--trace", "--workload"},
      {"--monthly-budget", "--budget"},
      {"--max-cost", "--budget"},
      {"--lora", "--task"},
      {"--qlora", "--task"},
      {"--tensor-parallel-size", "--tp"},
      {"--tp-size", "--tp"},
      {"--tensor-parallel", "--tp"},
      {"--pipeline-parallel", "--pp"},
      {"--data-parallel", "--dp"},
      {"--expert-parallel", "--ep"},
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

/// The flag that takes a file of this kind, where the verb has one.
std::string flag_for(std::string_view word, const std::vector<OptionText>* own) {
  static constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {".csv", "--cases"}, {".csv", "--workload"}, {".jsonl", "--workload"}, {"config.json", "--model"}};
  for (const auto& [ending, flag] : kFlags) {
    const auto is_it = [name = flag](const OptionText& option) { return option.name == name; };
    if (own != nullptr && word.ends_with(ending) && std::any_of(own->begin(), own->end(), is_it))
      return std::string(flag);
  }
  return {};
}

/// "`ridge plan` and `ridge simulate`": the commands that have the option; empty if none has.
std::string commands_with(std::string_view option, const std::vector<Options>& options, std::span<const Verb> verbs) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    const OptionText* text = options[i].find(option);
    if (text != nullptr && !text->hidden) found.push_back(fmt::format("`ridge {}`", verbs[i].name));
  }
  std::string out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == found.size() ? " and " : ", ") + found[i];
  }
  return out;
}

/// About the first word that neither the verb nor the program understood. `elsewhere`: commands that know the option.
Error not_understood(const std::vector<std::string>& left, const std::vector<OptionText>* own,
                     const std::vector<OptionText>& globals, std::string_view verb,
                     const std::function<std::string(std::string_view)>& elsewhere) {
  const auto option = std::find_if(left.begin(), left.end(), [](const auto& word) { return word.starts_with("-"); });
  if (option == left.end()) {
    const std::string flag = flag_for(left.front(), own);
    return {ErrorCode::bad_input, "",
            "nothing is done with " + ridge::quoted(left.front()) +
                (flag.empty() ? "" : "; did you mean " + flag + " " + left.front() + "?")};
  }
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
  if (ours == "--task") hint = name == "--qlora" ? "; it is --frozen int4 here" : "; it is --task lora here";
  if (ours == "--request-rate" && name == "--users") hint += ": users times the requests that each sends in a second";
  if (const std::string others = ours.empty() ? elsewhere(name) : std::string(); !others.empty()) {
    hint = "; it is an option of " + others;
  }
  if (hint.empty()) hint = "; `ridge help" + (verb.empty() ? "" : " " + std::string(verb)) + "` lists them";
  return {ErrorCode::bad_input, "", "there is no option " + ridge::quoted(name) + hint};
}

Result<Command> understand(Application& application, const std::vector<std::string>& words, std::span<const Verb> verbs,
                           const std::string& plan) {
  try {
    application.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string name = error.what();
    return Error{ErrorCode::bad_input, name.substr(0, name.find(':')), "its value is missing"};
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::bad_input, "", error.what()};
  }
  const std::vector<CLI::App*> chosen = application.app.get_subcommands();
  const std::vector<std::string> left = application.app.remaining(true);
  const auto elsewhere = [&](std::string_view option) { return commands_with(option, application.options, verbs); };
  if (chosen.empty()) {
    const bool a_word = !left.empty() && !left.front().starts_with("-");
    if (a_word) return unknown_verb(left.front(), verbs);
    if (!left.empty()) return not_understood(left, nullptr, application.globals.texts(), "", elsewhere);
    if (application.version) return version_asked();
    if (application.help) return help_asked(program_help(grammar(verbs)));
    return Error{ErrorCode::bad_input, "", "a command is missing, for example `ridge show`; `ridge help` lists them"};
  }
  std::size_t index = 0;
  while (verbs[index].name != chosen.front()->get_name()) ++index;
  // `ridge plam serve`: serve is a command too, but the word before it was meant as one.
  if (!left.empty() && left.front() == words.front() && !left.front().starts_with("-")) {
    return unknown_verb(left.front(), verbs);
  }
  if (application.help) {
    const auto verb = std::find(words.begin(), words.end(), verbs[index].name);
    const auto word = verb == words.end() ? verb : verb + 1;
    return help_asked(verb_help(grammar(verbs), index, word == words.end() ? std::string_view() : *word));
  }
  if (!left.empty()) {
    return not_understood(left, &application.options[index].texts(), application.globals.texts(), verbs[index].name,
                          elsewhere);
  }
  if (application.version) return version_asked();
  Options own = application.options[index];
  Application::mark_given(application.app, application.globals);
  Application::mark_given(*chosen.front(), own);
  if (!plan.empty()) {
    if (const Status s =
            take_plan_file(plan, own, application.globals, names_of(application.options, application.globals));
        !s)
      return s.error();
  }
  // Every value that was given is looked at before the verb is: what is not used is not ignored.
  Command command;
  const auto placed = [own, globals = application.globals](const Error& error) {
    return located(located(error, own.places()), globals.places());
  };
  command.check = [own, placed, kept_alive = application.actions[index]](Session& session) -> Status {
    if (const Status s = check_globals(session); !s) return placed(s.error());
    const Status s = own.check(session);
    return s ? s : placed(s.error());
  };
  command.action = [check = command.check, own, placed,
                    action = application.actions[index]](Session& session) -> Result<int> {
    if (const Status s = use_profiles(own, session); !s) return placed(s.error());
    if (const Status s = check(session); !s) return s.error();
    Result<int> done = action(session);
    return done ? done : placed(done.error());
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
    return help_asked(verb_help(grammar(verbs), static_cast<std::size_t>(verb - verbs.begin()),
                                words.size() > 2 ? std::string_view(words[2]) : std::string_view()));
  }

  Application application(verbs, globals);
  globals.line = words;
  return understand(application, words, verbs, globals.plan);
}

}  // namespace ridge::cli
