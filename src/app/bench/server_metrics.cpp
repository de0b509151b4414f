#include "app/bench/server_metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ridge::bench {

namespace {

constexpr double kMost = 1e15;  ///< of anything that a server counts: sums of such are still numbers
enum class What { running, waiting, kv, ttft_sum, ttft_count, gap_sum, gap_count };
struct Known {
  std::string_view name;
  std::string_view kind;
  What what;
};
// Names of vLLM (V1, older in the second lines), SGLang and llama.cpp's server, read in their sources 2026-08.
constexpr Known kKnown[] = {
    {"vllm:num_requests_running", "vLLM", What::running},
    {"vllm:num_requests_waiting", "vLLM", What::waiting},
    {"vllm:kv_cache_usage_perc", "vLLM", What::kv},
    {"vllm:gpu_cache_usage_perc", "vLLM", What::kv},
    {"vllm:time_to_first_token_seconds_sum", "vLLM", What::ttft_sum},
    {"vllm:time_to_first_token_seconds_count", "vLLM", What::ttft_count},
    {"vllm:inter_token_latency_seconds_sum", "vLLM", What::gap_sum},
    {"vllm:inter_token_latency_seconds_count", "vLLM", What::gap_count},
    {"vllm:time_per_output_token_seconds_sum", "vLLM", What::gap_sum},
    {"vllm:time_per_output_token_seconds_count", "vLLM", What::gap_count},
    {"sglang:num_running_reqs", "SGLang", What::running},
    {"sglang:num_queue_reqs", "SGLang", What::waiting},
    {"sglang:token_usage", "SGLang", What::kv},
    {"sglang:time_to_first_token_seconds_sum", "SGLang", What::ttft_sum},
    {"sglang:time_to_first_token_seconds_count", "SGLang", What::ttft_count},
    {"sglang:inter_token_latency_seconds_sum", "SGLang", What::gap_sum},
    {"sglang:inter_token_latency_seconds_count", "SGLang", What::gap_count},
    {"llamacpp:requests_processing", "llama.cpp", What::running},
    {"llamacpp:requests_deferred", "llama.cpp", What::waiting},
};

}  // namespace

std::optional<MetricsPage> read_metrics_page(std::string_view text) {
  MetricsPage page;
  bool found = false;
  int shares = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t stop = std::min(line.find_first_of("{ "), line.size());
    const std::string_view name = line.substr(0, stop);
    const auto* known =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
    if (known == std::end(kKnown)) continue;
    const std::size_t close = stop < line.size() && line[stop] == '{' ? line.rfind('}') : stop;
    if (close == std::string_view::npos) continue;
    std::string_view number = line.substr(std::min(close + 1, line.size()));
    while (number.starts_with(' ')) number.remove_prefix(1);
    double value = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc() ||
        !(std::abs(value) <= kMost)) {  // nor NaN
      continue;
    }
    found = true;
    page.kind = known->kind;
    switch (known->what) {
      case What::running:
        page.running += value;
        break;
      case What::waiting:
        page.waiting += value;
        break;
      case What::kv:
        page.kv = page.kv.value_or(0) + value;
        ++shares;
        break;
      case What::ttft_sum:
        page.ttft_sum += value;
        break;
      case What::ttft_count:
        page.ttft_count += value;
        break;
      case What::gap_sum:
        page.gap_sum += value;
        break;
      case What::gap_count:
        page.gap_count += value;
        break;
    }
  }
  if (!found) return std::nullopt;
  if (page.kv && shares > 1) page.kv = *page.kv / shares;
  return page;
}

bool MetricsSampler::add(std::string_view text) {
  const std::optional<MetricsPage> page = read_metrics_page(text);
  if (!page) return false;
  ServerMetrics& r = result_;
  r.kind = page->kind;
  const double n = ++r.samples;
  const auto move = [&](double& mean, double& most, double value) {
    mean += (value - mean) / n;
    most = std::max(most, value);
  };
  move(r.mean_running, r.most_running, page->running);
  move(r.mean_waiting, r.most_waiting, page->waiting);
  move(r.mean_kv, r.most_kv, page->kv.value_or(0));
  return true;
}

}  // namespace ridge::bench
