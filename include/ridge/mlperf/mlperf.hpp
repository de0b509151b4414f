// MLPerf results: as their sources give them, what was repaired and by which rule, and where they are kept.
//
//   auto names = mlperf::load_names("data");
//   auto results = mlperf::load_bundled("data", *names);           // datacenter inference and training, repaired
//   for (const mlperf::Row& row : results->rows) use(row.id, row.value / row.accelerators, row.unit);
//   for (const mlperf::Repair& r : results->repairs) say(mlperf::rules()[r.rule].name, r.row, r.before, r.after);
//
//   auto imported = mlperf::read_results({{"summary_results.json", text}}, {.round = "v6.2"});
//   if (!imported) return imported.error();                        // "summary_results.json#/17/Nodes: ..."
//   mlperf::write_database("mlperf.db", mlperf::repair(*std::move(imported), *names), {});
//
// A row keeps what was published beside what the rules made of it, so that both can be counted. Everything here is a
// value; functions are pure but for the files they name, and may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/serve/workload.hpp"

namespace ridge::mlperf {

enum class Suite : std::uint8_t { inference, training };
[[nodiscard]] std::string_view name(Suite suite);

/// One result as its source gives it.
struct Published {
  std::string round;     ///< "v5.1"
  std::string division;  ///< "closed", "open"
  std::string category;  ///< "power", "network", or empty
  std::string availability;
  std::string submitter;
  std::string system;
  std::string platform;  ///< the submitter's folder
  std::string accelerator;
  std::string benchmark;
  std::string model;  ///< of the open division, where it is not the benchmark's
  std::string scenario;
  std::string unit;
  std::string host;
  std::string software;
  std::string weights;  ///< number format of the weights
  int nodes = 1;
  int accelerators_per_node = 0;
  double result = 0;  ///< training: minutes
  std::optional<double> power_w;
  std::optional<double> log_samples_per_s, log_tokens_per_s;  ///< of the submission's own log
  std::optional<double> ttft_p99_ms, tpot_p99_ms;
  // Training only.
  int runs = 0, failed_runs = 0;
  double global_batch = 0;
  std::optional<double> fastest_minutes, scaling_factor;
};

struct Row {
  std::string id;  ///< "i5.1-17": inference v5.1; "t5.1-3": training
  Suite suite = Suite::inference;
  Published published;

  // What the rules made of it.
  std::string accelerator;   ///< id of accelerators.csv, "cpu-only", or the name in small letters if nobody knows it
  std::string device;        ///< id of the catalogue, or empty
  std::string bare_metal;    ///< the accelerator below a virtual one, or empty
  std::string benchmark;     ///< id of benchmarks.csv
  std::string scenario;      ///< "Offline", "Server", "Interactive", "SingleStream", "MultiStream", "Training"
  std::string availability;  ///< "available", "preview", "rdi" or "unknown"
  std::string weights;       ///< "fp8", "fp4", ..., or empty
  std::string unit;          ///< "tokens/s", "samples/s", "queries/s", "ms", "s" or "minutes"
  double value = 0;
  int nodes = 1;
  int accelerators = 0;      ///< in all
  bool power_tuned = false;  ///< MaxQ: run for efficiency, not for speed
  bool copied = false;       ///< the 99 % row of a run that stands there as 99.9 % too

  [[nodiscard]] bool virtualised() const { return !bare_metal.empty(); }
};

/// A published accelerator name and what it is.
struct AcceleratorName {
  std::string accelerator;
  std::string device;
  std::string bare_metal;
  std::string not_modelled;  ///< why there is no device, or empty
  std::string note;
  bool usual = true;  ///< the name most results use
};

/// A benchmark: what it is and what its rules say.
struct Benchmark {
  std::string id;
  Suite suite = Suite::inference;
  std::string kind;          ///< "dense", "moe", "diffusion", "vision", ...
  std::string model;         ///< id of the catalogue, or empty
  std::string not_modelled;  ///< why, or empty
  double input_tokens = 0;   ///< mean; 0 = unknown. Training: the sequence
  double output_tokens = 0;
  std::optional<double> server_ttft_ms, server_tpot_ms, interactive_ttft_ms, interactive_tpot_ms;  ///< limits on p99
  std::optional<Workload> workload;  ///< requests of Server and Interactive: lengths and their spread
  bool speculates = false;           ///< its rules allow speculative decoding in the Interactive scenario
  std::string source;                ///< of the mean lengths
  std::string note;
};

struct Round {
  Suite suite = Suite::inference;
  std::string id;
  std::string date;
  std::string source;
  std::string coverage;
};

/// What two accelerators are held against each other for: their datasheets side by side (`first` alone), what a
/// generation brought, a rack against a server, a chapter of the article, its conclusion.
enum class CompareUse : std::uint8_t { specification, generation, coupling, chapter, conclusion };
struct Comparison {
  CompareUse use = CompareUse::chapter;
  std::string first;
  std::string second;
  std::string benchmark;  ///< of a chapter or the conclusion
  std::string scenario;   ///< the same
};

/// A chapter of the article: a benchmark and what it is called in English and Chinese.
struct Chapter {
  std::string benchmark, en, zh;
};

/// What submissions on devices of a vendor are taken to run on.
struct Stack {
  std::string vendor;       ///< empty: everybody whom no other line names
  std::string engine;       ///< of language models
  std::string pictures;     ///< of pictures and clips
  std::string apart_since;  ///< from this date on, prompts and tokens may have devices of their own; empty = never
};

/// How a benchmark was laid out over an accelerator, where the configurations of submissions are public.
struct PublishedLayout {
  std::string benchmark;
  std::string accelerator;  ///< its id
  std::string scenario;
  std::string from, until;  ///< dates of rounds; no end: still so
  int tp = 1, pp = 1;
};

/// The alias tables of data/mlperf, and what of them is compared.
struct Names {
  std::map<std::string, AcceleratorName, std::less<>> accelerators;      ///< by published name
  std::map<std::string, std::string, std::less<>> inference_benchmarks;  ///< published name to id
  std::map<std::string, std::string, std::less<>> training_benchmarks;
  std::vector<Benchmark> benchmarks;
  std::vector<Round> rounds;
  std::vector<Comparison> comparisons;
  std::vector<Chapter> chapters;
  std::vector<Stack> stacks;  ///< the last one is everybody's
  std::vector<PublishedLayout> layouts;

  [[nodiscard]] const Benchmark* benchmark(Suite suite, std::string_view id) const;
  /// By the id of an accelerator; the first name that leads there.
  [[nodiscard]] const AcceleratorName* accelerator(std::string_view id) const;
  [[nodiscard]] const Round* round(Suite suite, std::string_view id) const;
  [[nodiscard]] const Stack& stack(std::string_view vendor) const;
  /// What submissions of that date published of their layout, or nullptr.
  [[nodiscard]] const PublishedLayout* layout(std::string_view benchmark, std::string_view accelerator,
                                              std::string_view scenario, std::string_view date) const;
};

/// Reads accelerators.csv, benchmarks.csv, rounds.csv, comparisons.csv, chapters.csv, stacks.csv and layouts.csv of
/// `data_directory`/mlperf. Refuses, with file:line:column, what is malformed or leads nowhere.
Result<Names> load_names(const std::string& data_directory);

/// What a rule is called and does.
struct RuleText {
  std::string_view name;
  std::string_view what;
};
[[nodiscard]] std::span<const RuleText> rules();

/// What a rule did to a row: dropped it, or changed `before` into `after`.
struct Repair {
  std::uint16_t rule = 0;  ///< index into rules()
  std::string row;         ///< id, or the place in a file of a row that was dropped
  std::string before;
  std::string after;
};

/// Rows and what was done to them.
struct Results {
  std::vector<Row> rows;
  std::vector<Repair> repairs;

  [[nodiscard]] const Row* find(std::string_view id) const;
};

/// Applies every rule to the published side of the rows, in the order of rules(). `earlier` are repairs made on
/// reading.
[[nodiscard]] Results repair(std::vector<Row> rows, const Names& names, std::vector<Repair> earlier = {});
[[nodiscard]] inline Results repair(Results read, const Names& names) {
  return repair(std::move(read.rows), names, std::move(read.repairs));
}

/// The bundled table, repaired. Refuses as load_names().
Result<Results> load_bundled(const std::string& data_directory, const Names& names);

struct InputFile {
  std::string path;
  std::string text;
};

struct ReadOptions {
  std::string round;                  ///< where the file does not say: "v6.1"
  std::string system = "datacenter";  ///< rows of the other suite are left out; "edge" for that one
};

/// Reads result files, each recognised by its content; not yet repaired (call repair()).
///
///   summary_results.json       list of records with "Performance_Result" (v4.1 and later)
///   cm-result.json             list with "Organization" and "Result" (v3.0 to v4.0); also an object of such lists
///   summary.json, summary.csv  the same records as an object by number, or as a table (v6.1 and the submission
///   checker) mlperf_log_summary.txt     in its place .../<division>/<org>/results/<system>/<benchmark>/<scenario>/...
///   result_N.txt               training logs in <org>/results/<system>/<benchmark>/; all runs of one folder together
///
/// A log needs `systems/<system>.json` of its submission among the files. Ids are given in the order of the files,
/// round by round. Refuses (bad_input) with file:line:column or file#/record/key: what is cut off, lacks or renames a
/// field, has a value of the wrong kind or out of range, names no known scenario or unit, or holds no result at all.
/// All or nothing: one bad record refuses the whole call.
Result<Results> read_results(std::vector<InputFile> files, const ReadOptions& options);

struct DatabaseOptions {
  bool replace = false;  ///< rounds that are there already are replaced instead of refused
};

/// Puts rows and repairs into an SQLite file, made if it is not there, in one transaction: after an error the file is
/// as it was. Refuses a file that is no such database, and (refused) a round that is there already.
Status write_database(const std::string& path, const Results& results, const DatabaseOptions& options);

/// The published side of all rows of a database; call repair(). Refuses a file that is not there or no such database.
Result<std::vector<Row>> read_database(const std::string& path);

}  // namespace ridge::mlperf
