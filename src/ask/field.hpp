// The fields of a question: each is said once, and whoever asks or answers takes it from there.
//
//   for (const Field& f : deployment_fields())                        // declare: --power-cap W, "limit of each device"
//     if (f.infer) options.text(flag_of(f), ...);
//   if (const Status s = read(*find_field("power_cap"), "500W", query); !s) return s;     // query.power_cap = 500
//   for (const Setting& s : settings_of(query)) print(s.field->key, s.value);             // power_cap 500W
//
// What settings_of() writes, read() reads back to the same question. A field knows its unit, its range, its words and
// which verbs it means something to; it knows nothing of command lines, JSON or TOML. Rules between fields (a batch
// excludes clients) belong to who makes the question. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/inference.hpp"
#include "ridge/result.hpp"
#include "ridge/rl.hpp"
#include "ridge/training.hpp"

namespace ridge::ask {

/// To whom a field means something, as bits.
inline constexpr unsigned kInfer = 1, kTrain = 2, kFit = 4, kTechniques = 8, kCompare = 16, kDiffusion = 32,
                          kSimulate = 64, kRl = 128;

enum class Takes : std::uint8_t {
  model,
  device,
  system,
  engine,
  text,
  whole,      ///< a whole number from low to high
  count,      ///< a number from low to high, with or without suffix: 15T
  share,      ///< 0.4 or 40%
  watts,      ///< 500W
  rate,       ///< 2GB/s
  gibibytes,  ///< a number of GiB; the question keeps bytes
  seconds,    ///< 30s
  pixels,     ///< 1024, or 1920x1080
  counts,     ///< a list of numbers from low to high: 128k,256k
  format,
  word,  ///< one of `words`
  on,    ///< there or not
  file,
  release,  ///< of an engine: 0.12, v1.2.0rc1
};

struct Word {
  std::string_view text;
  int value;
};

/// How a question of one kind keeps a field: as a number (formats, words and switches too), as a name, or in a way of
/// its own.
template <class Q>
struct Member {
  double (*get)(const Q&) = nullptr;  ///< NaN: the question says nothing by this field
  void (*set)(Q&, double) = nullptr;
  std::string Q::*name = nullptr;
  Status (*read)(std::string_view, Q&) = nullptr;
  std::string (*write)(const Q&) = nullptr;  ///< empty: nothing
  bool always = false;                       ///< is written even where it is what is usual

  explicit operator bool() const { return get != nullptr || name != nullptr || read != nullptr; }
};

struct Field {
  std::string_view key;         ///< "power_cap": of JSON, TOML and Python; on a command line --power-cap
  std::string_view value_name;  ///< "W"; empty for what takes no value
  std::string_view help;
  unsigned verbs = 0;
  Takes takes = Takes::text;
  double low = 0;
  double high = 0;
  std::span<const Word> words = {};
  Result<int> (*parse)(std::string_view) = nullptr;  ///< of a word that has more spellings than `words` lists
  Member<InferenceQuery> infer = {};
  Member<TrainingQuery> train = {};
  Member<RlQuery> rl = {};
};

/// What describes a deployment or a training job, and what `ridge estimate` is asked of it, in the order of help.
[[nodiscard]] std::span<const Field> deployment_fields();
/// What only a question about reinforcement learning has; the rest of it are fields of training with kRl.
[[nodiscard]] std::span<const Field> rl_fields();
/// Of both, by key; nullptr if there is none.
[[nodiscard]] const Field* find_field(std::string_view key);
/// "--power-cap" of "power_cap", for people at a command line.
[[nodiscard]] std::string flag_of(const Field& field);

/// The value as a number: bytes, watts, the format's or word's number. Refuses (bad_input, `where` = the key) what is
/// no such value or out of range. Names, releases, sizes in pixels, texts and files are 0.
[[nodiscard]] Result<double> read_value(const Field& field, std::string_view text);
/// Refuses what read_value() refuses, and of a text what no question would read.
[[nodiscard]] Status check_value(const Field& field, std::string_view text);
/// The text that read_value() reads to the same number.
[[nodiscard]] std::string write_value(const Field& field, double value);

/// Refuses (bad_input) what is no release of anything: "banana".
[[nodiscard]] Status check_release(std::string_view text);

[[nodiscard]] Status read(const Field& field, std::string_view text, InferenceQuery& query);
[[nodiscard]] Status read(const Field& field, std::string_view text, TrainingQuery& query);
/// Fields that are not its own are read into the layout of its trainers.
[[nodiscard]] Status read(const Field& field, std::string_view text, RlQuery& query);

/// A field that says something, and what; a switch says "true".
struct Setting {
  const Field* field = nullptr;
  std::string value;
};
[[nodiscard]] std::vector<Setting> settings_of(const InferenceQuery& query);
[[nodiscard]] std::vector<Setting> settings_of(const TrainingQuery& query);
/// Its own fields; the layout of its trainers is settings_of(query.training).
[[nodiscard]] std::vector<Setting> settings_of(const RlQuery& query);

}  // namespace ridge::ask
