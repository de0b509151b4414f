// What arrives at a serving system: classes of requests, how long they are, when they come; or a recorded trace.
//
//   Result<Workload> chat = find_workload("data/workloads", "chat");       // a named one, or the path of a file
//   Result<Workload> mine = read_trace("azure.csv");                       // Azure CSV, Mooncake JSONL or plain CSV
//   chat->classes[0].input.mean;                                           // tokens
//
// Workloads are values; reading functions are pure but for the file and may be called from any thread. They refuse
// (bad_input, file:line:column) what is malformed: unknown keys, negative, unsorted or absurd times and lengths,
// missing columns, NaN.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/random.hpp"
#include "ridge/base/result.hpp"

namespace ridge {

/// The longest input or output of one request that is believed.
inline constexpr double kMostRequestTokens = 16'000'000;

enum class LengthKind : std::uint8_t { fixed, uniform, exponential, lognormal, empirical };

/// Tokens of an input or output (or turns of a conversation): whole numbers of at least `low`.
struct LengthDistribution {
  LengthKind kind = LengthKind::fixed;
  double mean = 1;
  double cv = 1;   ///< lognormal: standard deviation over mean
  double low = 1;  ///< uniform: the range; others: cut there
  double high = kMostRequestTokens;
  std::vector<double> quantiles = {};  ///< empirical: evenly spaced from the least to the greatest value

  [[nodiscard]] std::uint32_t draw(Random& random) const noexcept;
  /// What draw() gives on average, cuts left aside.
  [[nodiscard]] double expected() const noexcept;
};

/// Requests that are alike. Several classes are mixed by `share`.
struct RequestClass {
  std::string name;
  double share = 1;
  LengthDistribution input;   ///< new tokens of one turn, shared prefix included
  LengthDistribution output;  ///< of one turn
  int priority = 0;           ///< 0 goes first, up to kPriorities - 1
  double ttft_limit = 0;      ///< seconds, 0 = none
  double tpot_limit = 0;
  std::uint32_t shared_prefix = 0;  ///< tokens at the start that all requests of a group have in common
  std::uint32_t prefix_groups = 1;  ///< how many such beginnings there are (system prompts, documents)
  LengthDistribution turns;         ///< of a conversation; each turn's input holds all that was said before
  double think_time = 0;            ///< mean seconds between an answer and the next turn, exponential
};
inline constexpr int kPriorities = 4;

enum class ArrivalKind : std::uint8_t { constant, poisson, gamma, on_off, diurnal };

/// When requests come, for a mean rate given elsewhere.
struct ArrivalProcess {
  ArrivalKind kind = ArrivalKind::poisson;
  double cv = 1;                   ///< gamma: of the gaps; above 1 is bursty
  double on_seconds = 10;          ///< on_off: mean length of a burst, exponential
  double off_seconds = 10;         ///< and of the silence after it
  double period = 86400;           ///< diurnal: seconds of one wave
  double swing = 0.5;              ///< diurnal: rate(t) = mean x (1 + swing x sin(2 pi t / period))
  std::vector<double> parts = {};  ///< diurnal: instead of the wave, rates of equal parts of the period over the mean
};

/// A limit that a scenario sets on a percentile of the latencies.
struct Scenario {
  std::string name;     ///< "offline", "server", "interactive"
  double ttft = 0;      ///< seconds, 0 = none
  double tpot = 0;      ///< seconds per token, 0 = none
  double share = 0.99;  ///< of the requests that have to hold each limit
};

/// Recorded requests in the order of arrival.
struct Trace {
  struct Request {
    double arrival = 0;  ///< seconds since the first
    std::uint32_t input = 0;
    std::uint32_t output = 1;
    std::uint32_t first_key = 0;  ///< prefix blocks are keys[first_key] to keys[first_key + key_count - 1]
    std::uint32_t key_count = 0;
    int priority = 0;
    bool talks = false;      ///< it is a turn of a conversation
    std::uint32_t turn = 0;  ///< of its conversation, from 0
    std::uint32_t next = 0;  ///< place of the turn after it in `requests`; 0 = it is the last
  };
  std::vector<Request> requests;
  std::vector<std::uint64_t> keys;   ///< equal keys at equal places are equal beginnings
  std::uint32_t tokens_per_key = 0;  ///< 0 = no prefix is known
};

struct Workload {
  std::string id;
  std::string name;
  std::string source;
  std::vector<RequestClass> classes;
  ArrivalProcess arrivals;
  std::vector<Scenario> scenarios;
  std::shared_ptr<const Trace> trace;  ///< instead of classes

  /// Means over the mixture or the trace.
  [[nodiscard]] double mean_input() const noexcept;
  [[nodiscard]] double mean_output() const noexcept;
  [[nodiscard]] double mean_turns() const noexcept;
};

/// One class with fixed lengths: what --isl and --osl say.
[[nodiscard]] Workload fixed_workload(double input, double output);

/// Reads one TOML file; docs/data-format.md says how it is written.
Result<Workload> parse_workload(std::string_view text, const std::string& file);
/// `name` is the id of a file NAME.toml in `directory`, or the path of one. Refuses (not_found) others, naming the
/// nearest.
Result<Workload> find_workload(const std::string& directory, const std::string& name);
/// The ids in a directory, sorted.
[[nodiscard]] std::vector<std::string> workload_ids(const std::string& directory);

/// A trace by what its first line looks like:
///   TIMESTAMP,ContextTokens,GeneratedTokens                      Azure LLM inference traces
///   {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": [...]}   Mooncake, one object per line
///   arrival_s,isl,osl[,priority]                                 plain
/// Gives a workload with the trace and one class.
Result<Workload> parse_trace(std::string text, const std::string& file);
Result<Workload> read_trace(const std::string& path);

}  // namespace ridge
