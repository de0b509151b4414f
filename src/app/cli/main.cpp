#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "app/cli/line/command_line.hpp"
#include "app/cli/line/completion.hpp"
#include "app/cli/line/help.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/verbs.hpp"
#include "ridge/base/change.hpp"

namespace ridge::cli {

namespace {

/// "2026-08": the month of the newest source, empty if none has a date.
std::string catalogue_month(const Catalogue& catalogue) {
  std::string newest;
  for (const Source& source : catalogue.sources()) newest = std::max(newest, source.date);
  return newest.substr(0, std::string_view("2026-08").size());
}

/// "ridge 1.0.0, catalogue of 2026-08".
std::string version_line(Session& session) {
  const std::string version = "ridge " RIDGE_VERSION;
  const auto catalogue = session.catalogue();
  if (!catalogue) return version + ", no catalogue (" + catalogue.error().text() + ")";
  const std::string month = catalogue_month(**catalogue);
  return month.empty() ? version : version + ", catalogue of " + month;
}

/// What a verb that was given nothing says, with its first example.
std::string with_example(std::string text, const std::vector<std::string>& words) {
  if (words.size() != 1 || text.find("ridge " + words[0] + " ") != std::string::npos) return text;
  for (const Verb& verb : verbs()) {
    const std::string_view example = verb.example.substr(0, verb.example.find('\n'));
    if (verb.name != words[0] || example.ends_with("--help")) continue;
    text += "\n  for example: " + std::string(example) + "\n  `ridge help " + words[0] + "` has more";
  }
  return text;
}

/// Who starts the program may have closed them, and the next file or socket would take their place: a warning then goes
/// to a client, into a database or into the queue of the server's events. What stands in for them takes and gives
/// nothing.
void keep_standard_streams() {
  for (const auto& [stream, mode] :
       {std::pair(STDIN_FILENO, O_WRONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    const int other = open("/dev/null", mode);
    if (other == stream || other < 0) continue;
    dup2(other, stream);
    close(other);
  }
}

int run(std::vector<std::string> words) {
  if (!words.empty() && words[0] == kCompleteWord) {
    for (const std::string& offer : complete({words.begin() + 1, words.end()}, verbs(), look_around())) {
      std::puts(offer.c_str());
    }
    return kFine;
  }
  const Result<std::optional<ForwardedReport>> report = forwarded_report(words);
  if (report && *report) words = (*report)->words;
  GlobalOptions options;
  Result<Command> command = parse_command_line(words, verbs(), options);
  Session session(std::move(options), look_around());
  const auto failed = [&](const Error& error) {
    session.warn(with_example(phrased(error, Voice::flags).text(), words));
    return exit_code(error.code);
  };
  if (!report) return failed(report.error());
  if (!command) return failed(command.error());
  if (command->start) {
    const auto catalogue = session.catalogue();
    session.print(start_page(grammar(verbs()), RIDGE_VERSION, catalogue ? catalogue_month(**catalogue) : ""));
    return kFine;
  }
  if (command->help) {
    session.print(*command->help);
    return kFine;
  }
  if (command->version) {
    session.print(version_line(session) + "\n");
    return kFine;
  }
  const Result<int> done = command->action(session);
  if (done && *report) {
    if (const Status finished = finish_report(session, **report); !finished) return failed(finished.error());
  }
  return done ? *done : failed(done.error());
}

}  // namespace

}  // namespace ridge::cli

int main(int argc, char** argv) {
  ridge::cli::keep_standard_streams();
  int code = ridge::cli::kRefused;
  try {
    code = ridge::cli::run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    std::fputs("ridge: the system gives no more memory: ask for less, or set --memory-limit to end earlier\n", stderr);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::perror("ridge: the output could not be written");
    return ridge::cli::kBadInput;
  }
  return code;
}
