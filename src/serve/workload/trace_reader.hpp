// What the readers of traces share: a request after the other, checked.
//
//   TraceBuilder builder;
//   if (const std::optional<std::string> wrong = builder.add(arrival, input, output)) return error(row, *wrong);
//   return builder.finish("azure.csv", "Azure LLM inference trace");
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ridge/serve/workload.hpp"

namespace ridge::serve {

enum class TraceField : std::uint8_t { arrival, input, output };

struct TraceProblem {
  TraceField field;
  std::string message;
};

class TraceBuilder {
 public:
  /// What is wrong with the request, or nothing; it is added then. Arrivals are in seconds since anything.
  std::optional<TraceProblem> add(double arrival, double input, double output, int priority = 0);
  /// The conversation that the request added last is a turn of.
  void set_session(std::string_view session);
  /// A prefix block of the request added last.
  void add_key(std::uint64_t key);
  void set_tokens_per_key(std::uint32_t tokens) { trace_.tokens_per_key = tokens; }
  Result<Workload> finish(const std::string& file, std::string_view what);

 private:
  Trace trace_;
  std::unordered_map<std::string, std::size_t> last_turns_;  // of each conversation, its place
  double first_ = 0;
};

/// "2023-11-16 18:17:03.9799600" as seconds since 1970, or nothing.
[[nodiscard]] std::optional<double> parse_timestamp(std::string_view text);
/// A finite number, or nothing.
[[nodiscard]] std::optional<double> parse_plain_number(std::string_view text);

Result<Workload> parse_csv_trace(std::string text, const std::string& file);
Result<Workload> parse_mooncake_trace(std::string_view text, const std::string& file);

}  // namespace ridge::serve
