#include "serve/workload/trace_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "serve/cache/ticks.hpp"

namespace ridge {

namespace serve {

namespace {

constexpr double kLongestTrace = 0.1 * kMostSeconds;

std::optional<TraceProblem> check_length(TraceField field, double tokens, double least) {
  if (std::isfinite(tokens) && tokens >= least && tokens <= kMostRequestTokens && tokens == std::floor(tokens))
    return {};
  return TraceProblem{field, fmt::format("a request has {} to {} whole tokens here", format_number(least, 7),
                                         format_number(kMostRequestTokens, 9))};
}

/// Days since 1970 of a date of the Gregorian calendar; nothing for 31 February.
std::optional<double> days_of(int year, int month, int day) {
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return {};
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

bool digits(std::string_view text, std::size_t at, std::size_t count, int& into) {
  if (at + count > text.size()) return false;
  const auto [end, code] = std::from_chars(text.data() + at, text.data() + at + count, into);
  return code == std::errc() && end == text.data() + at + count && into >= 0;
}

}  // namespace

std::optional<TraceProblem> TraceBuilder::add(double arrival, double input, double output, int priority) {
  if (!std::isfinite(arrival)) return TraceProblem{TraceField::arrival, "an arrival is a finite number of seconds"};
  if (arrival < 0) return TraceProblem{TraceField::arrival, "a request cannot arrive before the start: it is negative"};
  if (trace_.requests.empty()) first_ = arrival;
  const double since = arrival - first_;
  if (!trace_.requests.empty() && since < trace_.requests.back().arrival) {
    return TraceProblem{TraceField::arrival, "the requests are not in the order of arrival: sort them"};
  }
  if (since > kLongestTrace) {
    return TraceProblem{TraceField::arrival, "the trace is longer than five months: check the unit, or cut it"};
  }
  if (auto wrong = check_length(TraceField::input, input, 0)) return wrong;
  if (auto wrong = check_length(TraceField::output, output, 0)) return wrong;
  Trace::Request r;
  r.arrival = since;
  r.input = static_cast<std::uint32_t>(input);
  r.output = static_cast<std::uint32_t>(output);
  r.first_key = static_cast<std::uint32_t>(trace_.keys.size());
  r.priority = priority;
  trace_.requests.push_back(r);
  return {};
}

void TraceBuilder::set_session(std::string_view session) {
  if (session.empty()) return;
  const std::size_t here = trace_.requests.size() - 1;
  Trace::Request& r = trace_.requests[here];
  r.talks = true;
  const auto [at, first] = last_turns_.try_emplace(std::string(session), here);
  if (first) return;
  Trace::Request& before = trace_.requests[at->second];
  before.next = static_cast<std::uint32_t>(here);
  r.turn = before.turn + 1;
  at->second = here;
}

void TraceBuilder::add_key(std::uint64_t key) {
  trace_.keys.push_back(key);
  ++trace_.requests.back().key_count;
}

Result<Workload> TraceBuilder::finish(const std::string& file, std::string_view what) {
  if (trace_.requests.empty()) return Error{ErrorCode::bad_input, file, "there are no requests in it"};
  Workload w;
  const std::size_t slash = file.find_last_of('/');
  w.id = slash == std::string::npos ? file : file.substr(slash + 1);
  w.name = w.id;
  w.source = fmt::format("{}, {}", what, file);
  RequestClass all;
  all.name = "all";
  w.classes.push_back(std::move(all));
  w.trace = std::make_shared<const Trace>(std::move(trace_));
  return w;
}

std::optional<double> parse_plain_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<double> parse_timestamp(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  if (!digits(text, 0, 4, year) || !digits(text, 5, 2, month) || !digits(text, 8, 2, day) ||
      !digits(text, 11, 2, hour) || !digits(text, 14, 2, minute) || text.size() < 19 || text[4] != '-' ||
      text[7] != '-' || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return {};
  }
  std::string_view rest = text.substr(17);
  for (const std::string_view zone : {"Z", "+00:00"}) {
    if (rest.ends_with(zone)) rest.remove_suffix(zone.size());
  }
  const std::optional<double> seconds = parse_plain_number(rest);
  const std::optional<double> days = days_of(year, month, day);
  if (!days || hour > 23 || minute > 59 || !seconds || *seconds < 0 || *seconds >= 61) return {};
  return *days * 86400 + hour * 3600 + minute * 60 + *seconds;
}

}  // namespace serve

Result<Workload> parse_trace(std::string text, const std::string& file) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return Error{ErrorCode::bad_input, file, "there are no requests in it"};
  if (text[start] == '{') return serve::parse_mooncake_trace(text, file);
  return serve::parse_csv_trace(std::move(text), file);
}

Result<Workload> read_trace(const std::string& path) {
  constexpr std::size_t kMostBytes = 1U << 30;
  Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return text.error();
  return parse_trace(*std::move(text), path);
}

}  // namespace ridge
