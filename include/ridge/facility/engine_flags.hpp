// Which flags a release of an engine takes: facts read from its source by tools/engine_flags.py, in data/engines/flags.
//
//   const Result<EngineReleases> releases = EngineReleases::open(data + "/engines/flags");
//   const Result<EngineRelease> vllm = releases->load("vllm", "");        // the newest; "0.27.1" for that one
//   vllm->find("--max-num-seqs")->type;                                   // FlagType::whole
//   vllm->problem("--dtype", "fp7");   // "--dtype takes auto, half, ..., not 'fp7'"
//
// Only names, types, defaults and choices: what a value does is not in there. A release is a value; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

enum class FlagType : std::uint8_t { toggle, whole, number, text, json, list };

struct EngineFlag {
  FlagType type = FlagType::text;
  std::string usual;                 ///< the default as text; empty = none, or only known when the engine runs
  std::vector<std::string> choices;  ///< empty = any
  bool negated = false;              ///< a switch that has a --no- form too
  bool deprecated = false;
  std::string file;  ///< of the engine's source
};

class EngineRelease {
 public:
  std::string engine;
  std::string version;
  std::string source;
  std::map<std::string, EngineFlag, std::less<>> flags;

  /// Also --no-X of a switch that has it, --X_Y for --X-Y where the engine takes either, and the flag of "--X.key".
  [[nodiscard]] const EngineFlag* find(std::string_view flag) const;
  /// Why this release does not take the flag with that value (nothing for a switch); empty if it does.
  [[nodiscard]] std::string problem(std::string_view flag, const std::optional<std::string>& value) const;
};

class EngineReleases {
 public:
  /// Lists ENGINE-VERSION.toml of the folder. Refuses a folder that cannot be read.
  static Result<EngineReleases> open(const std::string& directory);
  /// Newest first.
  [[nodiscard]] std::vector<std::string> versions(std::string_view engine) const;
  /// The newest where `version` is empty; "0.27" is the newest that starts so. Refuses (not_found) a release nobody
  /// read, naming the nearest, and a malformed file with its place.
  [[nodiscard]] Result<EngineRelease> load(std::string_view engine, std::string_view version) const;

 private:
  std::string directory_;
  std::vector<std::pair<std::string, std::string>> all_;  ///< engine, version
};

/// Reads one such file.
Result<EngineRelease> parse_engine_release(std::string_view text, std::string_view file);

}  // namespace ridge
