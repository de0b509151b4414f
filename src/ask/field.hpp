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

#include "ridge/base/limits.hpp"
#include "ridge/base/result.hpp"
#include "ridge/perf/inference.hpp"
#include "ridge/perf/training.hpp"
#include "ridge/rl/rl.hpp"

namespace ridge::ask {

/// To whom a field means something, as bits.
inline constexpr unsigned kInfer = 1, kTrain = 2, kFit = 4, kTechniques = 8, kCompare = 16, kDiffusion = 32,
                          kSimulate = 64, kRl = 128;
/// Tables about one kind of question, whose values are no lists to be compared.
inline constexpr unsigned kSimulation = 256, kCost = 512, kGoodput = 1024, kFacility = 2048, kPlanServe = 4096,
                          kPlanTrain = 8192, kPlanRl = 16384;
/// Fields of a deployment or a job that `ridge emit` writes into files, and that `ridge facility` builds a site for.
inline constexpr unsigned kEmit = 1u << 28, kSite = 1u << 29;
/// Of a plan: says what is asked, not how the search is run.
inline constexpr unsigned kDescribes = 1u << 30;

enum class Takes : std::uint8_t {
  model,
  device,
  system,
  engine,
  text,
  whole,       ///< a whole number from low to high
  count,       ///< a number from low to high, with or without suffix: 15T
  share,       ///< 0.4 or 40%
  watts,       ///< 500W
  rate,        ///< 2GB/s
  per_second,  ///< how many a second, from low to high: 50, 50/s, 5M/day
  gibibytes,   ///< a number of GiB; the question keeps bytes
  seconds,     ///< 30s
  pixels,      ///< 1024, or 1920x1080
  counts,      ///< a list of numbers from low to high: 128k,256k
  format,
  word,  ///< one of `words`
  on,    ///< there or not
  file,
  release,  ///< of an engine: 0.12, v1.2.0rc1
  bytes,    ///< 1TB
  mass,     ///< 1200kg
  load,     ///< of a floor: '1500 kg/m2'
  money,    ///< $2M
  ratio,    ///< 2, 2.5 or 2:1
  // What prices are, at least 0; without "per" of what the field is about.
  rent,
  dollars,
  dollars_per_kwh,
  dollars_per_kw_month,
  dollars_per_year,
  dollars_per_month,
  dollars_per_million,
  years,
  hours,
  power,
  tokens_per_s,
  amount,   ///< a number
  tally,    ///< a whole one
  formats,  ///< a list of them: bf16,fp8
  parsed,   ///< a text that `check` reads
  named,    ///< a name of the data, of the kind `named`
};

/// What only somebody who has the data can look up.
enum class Named : std::uint8_t {
  nothing,
  workload,
  device,
  price_place,
  energy_region,
  region_or_place,
  api_offer,
  failure_record,
  practice,
  storage_tier,
  fabric,
  rack,
  cooling,
  models,   ///< or largest
  devices,  ///< or all
  vendors,
  countries,
  destination,
  fleet,
  read_file,
  made_folder,
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

/// One address for each kind of question.
template <class Q>
inline constexpr char kKindOf = 0;

/// The same of a question whose type the field need not know (ask/member.hpp).
struct AnyMember {
  const void* kind = nullptr;  ///< &kKindOf<Q>
  double (*get)(const void*) = nullptr;
  void (*set)(void*, double) = nullptr;
  Status (*read)(std::string_view, void*) = nullptr;
  std::string (*write)(const void*) = nullptr;
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
  // Of tables about one kind of question.
  std::string_view example = {};                ///< of a quantity, for who writes another
  limits::Limit most = limits::kNumber;         ///< of a quantity
  bool zero = false;                            ///< a quantity may be 0
  Status (*check)(std::string_view) = nullptr;  ///< of what is parsed
  Named named = Named::nothing;
  AnyMember own = {};
  AnyMember other = {};  ///< of a second kind of question that the table serves
  bool foreign = false;  ///< money that may be in another currency: to be exchanged (ask/money.hpp) before it is read
};

/// What describes a deployment or a training job, and what `ridge estimate` is asked of it, in the order of help.
[[nodiscard]] std::span<const Field> deployment_fields();
/// What only a question about reinforcement learning has; the rest of it are fields of training with kRl.
[[nodiscard]] std::span<const Field> rl_fields();
/// What only the question of one verb has, in the order of help.
[[nodiscard]] std::span<const Field> simulation_fields();
[[nodiscard]] std::span<const Field> cost_fields();
[[nodiscard]] std::span<const Field> goodput_fields();
[[nodiscard]] std::span<const Field> facility_fields();
[[nodiscard]] std::span<const Field> plan_fields();
/// Of the first two, by key; nullptr if there is none.
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

/// Into a question of any other kind. Refuses fields that are no part of it.
[[nodiscard]] Status read_any(const Field& field, std::string_view text, const void* kind, void* query);
template <class Q>
[[nodiscard]] Status read_into(const Field& field, std::string_view text, Q& query) {
  return read_any(field, text, &kKindOf<Q>, &query);
}
template <class Q>
[[nodiscard]] bool is_of(const Field& field) {
  return field.own.kind == &kKindOf<Q> || field.other.kind == &kKindOf<Q>;
}

/// A field that says something, and what; a switch says "true".
struct Setting {
  const Field* field = nullptr;
  std::string value;
};
[[nodiscard]] std::vector<Setting> settings_of(const InferenceQuery& query);
[[nodiscard]] std::vector<Setting> settings_of(const TrainingQuery& query);
/// Of a question of any other kind; `usual` is one that says nothing.
[[nodiscard]] std::vector<Setting> settings_any(std::span<const Field> fields, const void* kind, const void* query,
                                                const void* usual);
template <class Q>
[[nodiscard]] std::vector<Setting> settings_in(std::span<const Field> fields, const Q& query) {
  const Q usual{};
  return settings_any(fields, &kKindOf<Q>, &query, &usual);
}

}  // namespace ridge::ask
