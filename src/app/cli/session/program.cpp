#include "app/cli/session/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ridge::cli {

namespace {

namespace fs = std::filesystem;

bool can_run(const fs::path& path) {
  std::error_code absent;
  return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, absent);
}

}  // namespace

std::string find_program(std::initializer_list<std::string_view> names, const std::string& beside) {
  for (const std::string_view name : names) {
    if (!beside.empty() && can_run(fs::path(beside) / name)) return (fs::path(beside) / name).string();
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      const fs::path at = fs::path(rest.substr(0, colon)) / name;
      if (can_run(at)) return at.string();
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
  }
  return {};
}

Result<int> run_program(const std::string& program, const std::vector<std::string>& words, Sound sound) {
  const pid_t child = fork();
  if (child < 0)
    return Error{ErrorCode::refused, program, fmt::format("could not be started: {}", std::strerror(errno))};
  if (child == 0) {
    if (sound == Sound::silent) {
      const int nothing = open("/dev/null", O_RDWR);
      dup2(nothing, STDIN_FILENO);
      dup2(nothing, STDOUT_FILENO);
      dup2(nothing, STDERR_FILENO);
    }
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};  // NOLINT: execv takes them so
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return Error{ErrorCode::refused, program, fmt::format("was ended by signal {}", WTERMSIG(status))};
}

}  // namespace ridge::cli
