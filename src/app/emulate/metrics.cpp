#include "app/emulate/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ridge::emulate {

namespace {

// The edges of vLLM's own histograms (vllm/v1/metrics, read 2026-08).
constexpr std::array kTtftEdges = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5,   0.75,
                                   1.0,   2.5,   5.0,  7.5,  10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0};
constexpr std::array kGapEdges = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4, 0.5,
                                  0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0};
constexpr std::array kRequestEdges = {0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
                                      30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};

void head(std::string& out, std::string_view name, std::string_view kind, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

}  // namespace

void Histogram::add(double value) {
  const auto at = std::lower_bound(edges_.begin(), edges_.end(), value);
  ++counts_[static_cast<std::size_t>(at - edges_.begin())];
  sum_ += value;
}

void Histogram::append(std::string& out, std::string_view name, std::string_view help,
                       const std::string& labels) const {
  head(out, name, "histogram", help);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    below += counts_[i];
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, edges_[i], below);
  }
  below += counts_.back();
  fmt::format_to(std::back_inserter(out), "{}_bucket{{{},le=\"+Inf\"}} {}\n{}_sum{{{}}} {}\n{}_count{{{}}} {}\n", name,
                 labels, below, name, labels, sum_, name, labels, below);
}

Metrics::Metrics(const std::string& model)
    : labels_("engine=\"0\",model_name=\""), ttft_(kTtftEdges), gaps_(kGapEdges), e2e_(kRequestEdges) {
  for (const char c : model) {
    if (c == '"' || c == '\\') labels_ += '\\';
    labels_ += c == '\n' ? ' ' : c;
  }
  labels_ += '"';
}

void Metrics::ended(const RequestRecord& record, LiveEnd end, double e2e_seconds) {
  if (end == LiveEnd::rejected || end == LiveEnd::too_long) return rejected();
  prompt_ += record.input;
  queried_ += record.input;
  cached_ += record.cached;
  if (end == LiveEnd::finished) {
    ++finished_;
    generated_ += record.output;
    e2e_.add(e2e_seconds);
  } else {
    ++(end == LiveEnd::cancelled ? cancelled_ : failed_);
  }
}

std::string Metrics::text(const LiveState& state) const {
  std::string out;
  const auto one = [&](std::string_view name, std::string_view kind, std::string_view help, double value,
                       std::string_view more = {}) {
    head(out, name, kind, help);
    fmt::format_to(std::back_inserter(out), "{}{{{}{}}} {}\n", name, labels_, more, value);
  };
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  one("vllm:num_requests_running", "gauge", "Requests in the batches of the engines.", count(state.running));
  one("vllm:num_requests_waiting", "gauge", "Requests that wait to be scheduled.", count(state.waiting));
  one("vllm:kv_cache_usage_perc", "gauge", "Share of the KV cache that requests hold; 1 is all of it.", state.kv_share);
  one("vllm:num_preemptions_total", "counter", "Requests that lost their place.", count(state.preemptions));
  one("vllm:prompt_tokens_total", "counter", "Tokens of prompts.", count(prompt_));
  one("vllm:generation_tokens_total", "counter", "Tokens of answers.", count(generated_));
  one("vllm:prefix_cache_queries_total", "counter", "Tokens looked for in the prefix cache.", count(queried_));
  one("vllm:prefix_cache_hits_total", "counter", "Tokens found there.", count(cached_));
  head(out, "vllm:request_success_total", "counter", "Requests that ended well or were left by their client.");
  fmt::format_to(std::back_inserter(out),
                 "vllm:request_success_total{{{},finished_reason=\"length\"}} {}\n"
                 "vllm:request_success_total{{{},finished_reason=\"abort\"}} {}\n",
                 labels_, finished_, labels_, cancelled_);
  ttft_.append(out, "vllm:time_to_first_token_seconds", "From arrival to the first token.", labels_);
  gaps_.append(out, "vllm:inter_token_latency_seconds", "Between tokens.", labels_);
  e2e_.append(out, "vllm:e2e_request_latency_seconds", "From arrival to the last token.", labels_);
  one("ridge:requests_rejected_total", "counter", "Refused by a limit, or too long.", count(rejected_));
  one("ridge:requests_failed_total", "counter", "Cut by a failure or by patience.", count(failed_));
  one("ridge:engines_up", "gauge", "Engines that serve.", state.engines_up);
  one("ridge:lateness_p99_seconds", "gauge", "How late this machine was, against the prediction.", late_.p99());
  return out;
}

}  // namespace ridge::emulate
