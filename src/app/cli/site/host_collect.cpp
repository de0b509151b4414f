#include "app/cli/site/host_collect.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace ridge::cli {

namespace {

constexpr std::size_t kMostOutput = 200'000;
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMostPorts = 16;
constexpr int kNotFound = 127;  // of a shell

/// Text that TOML takes: what is not printable ASCII, tab or line end becomes '?', since tools promise no encoding.
std::string clean(std::string text) {
  for (char& c : text) {
    const auto u = static_cast<unsigned char>(c);
    if ((u < 0x20 && c != '\n' && c != '\t') || u >= 0x7f) c = '?';
  }
  return text;
}

std::optional<std::string> read_small(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  std::string text(kMostOutput, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.empty() && in.bad()) return {};
  return clean(std::move(text));
}

/// The paths that a pattern with '*' as whole or only part of a folder's name stands for.
std::vector<std::string> expand(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return {std::string(pattern)};
  const std::string folder(pattern.substr(0, star));
  const std::string_view rest = pattern.substr(star + 1);
  std::vector<std::string> paths;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string next = at->path().string() + std::string(rest);
    for (std::string& path : expand(next)) paths.push_back(std::move(path));
  }
  return paths;
}

/// The command, once for each network device with RDMA where it names one.
std::vector<std::string> for_each_port(std::string_view command) {
  constexpr std::string_view kPort = "{rdma}";
  const std::size_t at = command.find(kPort);
  if (at == std::string_view::npos) return {std::string(command)};
  std::vector<std::string> commands;
  for (const std::string& path : expand("/sys/class/infiniband/*/device/net/*")) {
    std::string one(command);
    one.replace(at, kPort.size(), std::filesystem::path(path).filename().string());
    if (commands.size() < kMostPorts) commands.push_back(std::move(one));
  }
  return commands;
}

/// Runs a command without a terminal or input; nothing if there is no such tool.
std::optional<ToolOutput> run_tool(const std::string& command) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return {};
  }
  if (child == 0) {
    // A group of its own, so that what the tool starts can be ended with it.
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/bin/sh", "sh", "-c", ("LC_ALL=C exec " + command).c_str(), static_cast<char*>(nullptr));
    _exit(kNotFound);
  }
  close(ends[1]);
  ToolOutput output;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  bool late = false;
  while (output.text.size() < kMostOutput) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd ready{ends[0], POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) {
      late = true;
      break;
    }
    std::array<char, 4096> buffer{};
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    if (got <= 0) break;
    output.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (late || output.text.size() >= kMostOutput) kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  output.status = !late && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (output.status == kNotFound) return {};
  output.text = clean(std::move(output.text));
  return output;
}

}  // namespace

HostRecording collect_host() {
  HostRecording r;
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) r.host = clean(name.data());
  if (r.host.empty()) r.host = "host";
  const std::time_t now = std::time(nullptr);
  std::array<char, 16> date{};
  std::tm parts{};
  if (gmtime_r(&now, &parts) != nullptr) std::strftime(date.data(), date.size(), "%Y-%m-%d", &parts);
  r.collected = date.data();
  for (const std::string_view pattern : recorded_files()) {
    for (const std::string& path : expand(pattern)) {
      if (auto text = read_small(path)) r.files[path] = *std::move(text);
    }
  }
  for (const std::string_view pattern : recorded_commands()) {
    for (const std::string& command : for_each_port(pattern)) {
      if (auto output = run_tool(command)) r.tools[command] = *std::move(output);
    }
  }
  return r;
}

}  // namespace ridge::cli
