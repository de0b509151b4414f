// Files of a simulation for other programs: requests as CSV, steps for a trace viewer.
#include <fmt/format.h>

#include <iterator>

#include "report/simulate/report.hpp"

namespace ridge::report {

namespace {

double seconds_of(std::int64_t ticks) {
  return static_cast<double>(ticks) / kTicksPerSecond;
}
double microseconds_of(std::int64_t ticks) {
  return static_cast<double>(ticks) / kTicksPerSecond * 1e6;
}

}  // namespace

std::string request_csv_header() {
  return "id,class,engine,end,input_tokens,output_tokens,cached_tokens,preemptions,arrival_s,scheduled_s,first_token_s,"
         "last_token_s,ttft_s,tpot_s,e2e_s\n";
}

void append_request_csv(std::string& out, const RequestRecord& r) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{},{},{},{},{},{},{},{},{:.9f}", r.id, r.request_class, r.engine, name(r.end), r.input, r.output,
                 r.cached, r.preemptions, seconds_of(r.arrival));
  const bool finished = r.end == RequestRecord::End::finished;
  if (r.scheduled >= 0) {
    fmt::format_to(to, ",{:.9f}", seconds_of(r.scheduled));
  } else {
    out += ',';
  }
  if (!finished) {
    out += ",,,,,\n";
    return;
  }
  fmt::format_to(to, ",{:.9f},{:.9f},{:.9f},", seconds_of(r.first_token), seconds_of(r.last_token),
                 seconds_of(r.first_token - r.arrival));
  if (r.output > 1) fmt::format_to(to, "{:.9f}", seconds_of(r.last_token - r.first_token) / (r.output - 1));
  fmt::format_to(to, ",{:.9f}\n", seconds_of(r.last_token - r.arrival));
}

void ViewerTrace::event(std::string_view text) {
  out_ += events_++ == 0 ? "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" : ",\n";
  out_ += text;
}

void ViewerTrace::name_engine(std::uint32_t engine) {
  if (engine < named_.size() && named_[engine]) return;
  if (engine >= named_.size()) named_.resize(engine + 1);
  named_[engine] = true;
  constexpr const char* kName =
      "{{\"name\": \"{}\", \"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": \"{}\"}}}}";
  event(fmt::format(fmt::runtime(kName), "process_name", engine, 0, fmt::format("engine {}", engine)));
  event(fmt::format(fmt::runtime(kName), "thread_name", engine, 0, "steps"));
}

void ViewerTrace::add(const StepRecord& s) {
  if (full()) return;
  name_engine(s.engine);
  const std::string what = s.prefill_tokens == 0 ? fmt::format("decode {}", s.decoding)
                           : s.decoding == 0     ? fmt::format("prefill {}", s.prefill_tokens)
                                                 : fmt::format("prefill {} + decode {}", s.prefill_tokens, s.decoding);
  event(
      fmt::format("{{\"name\": \"{}\", \"cat\": \"steps\", \"ph\": \"X\", \"pid\": {}, \"tid\": 0, \"ts\": {:.3f}, "
                  "\"dur\": {:.3f}, \"args\": {{\"steps\": {}}}}}",
                  what, s.engine, microseconds_of(s.start), microseconds_of(s.end - s.start), s.steps));
  const auto counter = [&](const char* track, const std::string& values) {
    event(fmt::format("{{\"name\": \"{}\", \"ph\": \"C\", \"pid\": {}, \"ts\": {:.3f}, \"args\": {{{}}}}}", track,
                      s.engine, microseconds_of(s.start), values));
  };
  counter("requests", fmt::format("\"decoding\": {}, \"waiting\": {}", s.decoding, s.queue));
  counter("KV cache, % in use", fmt::format("\"KV cache\": {:.1f}", 100 * s.kv_share));
}

void ViewerTrace::add(const RequestRecord& r) {
  if (full() || r.end != RequestRecord::End::finished) return;
  name_engine(r.engine);
  const auto span = [&](const char* what, std::int64_t from, std::int64_t to) {
    for (const char phase : {'b', 'e'}) {
      event(
          fmt::format("{{\"name\": \"{}\", \"cat\": \"request\", \"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": 1, "
                      "\"ts\": {:.3f}, \"args\": {{\"input\": {}, \"output\": {}}}}}",
                      what, phase, r.id, r.engine, microseconds_of(phase == 'b' ? from : to), r.input, r.output));
    }
  };
  span("wait", r.arrival, r.scheduled);
  span("prefill", r.scheduled, r.first_token);
  span("decode", r.first_token, r.last_token);
}

std::string ViewerTrace::finish() {
  if (events_ == 0) out_ = "{\"traceEvents\": [";
  out_ += "\n]}\n";
  return std::move(out_);
}

}  // namespace ridge::report
