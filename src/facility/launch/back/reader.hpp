// The command of a launch file, read back flag by flag. Internal to src/facility.
//
//   CommandReader reader(read_script(text), "vllm.sh", &release);
//   Result<LaunchCheck> check = reader.run();
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facility/launch/words.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge::launch {

inline constexpr double kMostDevices = 10e6;  ///< that a plan may start

/// The whole number a text starts with, spaces left out; at most a million, 0 if there is none.
[[nodiscard]] int leading_number(std::string_view text);

class CommandReader {
 public:
  /// `file` and `release` outlive the reader; a release is what flags are judged by, nullptr = not at all.
  CommandReader(Script script, std::string_view file, const EngineRelease* release)
      : script_(std::move(script)), file_(file), release_(release) {}
  Result<LaunchEngine> engine();
  Result<LaunchCheck> run();

 private:
  [[nodiscard]] Error wrong(std::uint32_t line, std::string message) const;
  [[nodiscard]] Result<int> number(const Word& word, std::string_view of) const;
  Status share(const std::string& flag, const Word& value, double& into) const;
  [[nodiscard]] bool is_toggle(const std::string& flag) const;
  /// Which of the commands starts an engine, and where its own words begin.
  Status find_runner();
  Status found(LaunchTarget runner, const std::vector<Word>& command, std::size_t first);
  /// Adds to the problems what the release does not take.
  void judge(const std::string& flag, const std::optional<std::string>& value, std::size_t at);
  Status flags();
  void turn_on(const std::string& flag);
  Status take(const std::string& flag, const Word& value);
  Status special(const std::string& flag, const Word& value);
  /// Engines that are set by keys (launch_reader_keys.cpp): KEY=VALUE among the words, or a file that the script
  /// writes.
  Status keys();
  Status key(const std::string& name, const Word& value);
  /// What stands around the command (launch_reader_plan.cpp).
  Status surroundings();
  Status training(int nodes);
  Status serving(int nodes, int replicas, int all);
  /// How the plan's tokens reach experts, where they have to.
  void exchange();

  Script script_;
  std::string_view file_;
  const EngineRelease* release_;
  std::size_t own_ = 0;  ///< words before it are not the engine's
  LaunchCheck out_;
  std::vector<Word> words_;
  bool expert_parallel_ = false, by_tensor_ = false, by_block_ = false;
  int ranks_ = 1, per_node_ = 0, nodes_ = 0, shard_ = 1, replicate_ = 1, local_batch_ = 0, instances_ = 1;
  int context_ = 0;
  std::string backend_, exchange_mode_;  ///< how tokens reach experts
  int steps_ = 0;                        ///< of gradients that are added up
  double device_batch_ = 0;              ///< of one device and one of those steps
  bool shards_optimizer_ = false;
};

/// "vllm-0.27.1" → "0.27.1"; empty for another engine.
[[nodiscard]] std::string release_of(std::string_view text, LaunchTarget runner);

}  // namespace ridge::launch
