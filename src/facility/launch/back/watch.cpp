// What watches a plan once it runs: alerts at its limits, and scaling out by its load.
#include <fmt/format.h>

#include <cmath>

#include "facility/launch/cluster/yaml.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

/// What an engine counts, by the names of its own metrics page; empty = it does not.
struct Metrics {
  LaunchTarget runner;
  std::string_view first_token, next_token;  ///< histograms, seconds
  std::string_view running, waiting;         ///< requests
  std::string_view cache;                    ///< share of the KV cache that is taken
};
constexpr Metrics kMetrics[] = {
    {LaunchTarget::vllm, "vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds",
     "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"},
    {LaunchTarget::sglang, "sglang:time_to_first_token_seconds", "sglang:inter_token_latency_seconds",
     "sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage"},
    {LaunchTarget::llamacpp, "", "", "llamacpp:requests_processing", "llamacpp:requests_deferred", ""},
};

const Metrics* metrics_of(LaunchTarget runner) {
  for (const Metrics& m : kMetrics) {
    if (m.runner == runner) return &m;
  }
  return nullptr;
}

/// Requests that the plan has in one replica at once.
double load_of(const LaunchPlan& p) {
  return std::max(1.0, std::ceil(1.0 * p.concurrency / std::max(1, p.replicas)));
}

}  // namespace

std::string alert_rules(const LaunchPlan& p, const LaunchOptions& o) {
  const Metrics* m = metrics_of(p.runner);
  if (m == nullptr) return {};
  const std::string job = job_name(p);
  Yaml y;
  y.line(0, "apiVersion: monitoring.coreos.com/v1").line(0, "kind: PrometheusRule").line(0, "metadata:");
  y.line(1, "name: {}", job).line(0, "spec:").line(1, "groups:").line(2, "- name: {}", job).line(3, "rules:");
  const auto alert = [&](std::string_view name, const std::string& expression, std::string_view wait,
                         std::string_view severity, const std::string& summary) {
    y.line(4, "- alert: {}", name).line(5, "expr: {}", quoted_yaml(expression)).line(5, "for: {}", wait);
    y.line(5, "labels:").line(6, "severity: {}", severity);
    y.line(5, "annotations:").line(6, "summary: {}", quoted_yaml(summary));
  };
  const auto slower = [&](std::string_view name, std::string_view histogram, double limit, std::string_view what) {
    if (histogram.empty() || limit <= 0) return;
    alert(name, fmt::format("histogram_quantile(0.95, sum by (le) (rate({}_bucket[5m]))) > {:.4g}", histogram, limit),
          "10m", "warning", fmt::format("{} p95 of {} is above the plan's {:.4g} s", what, p.model, limit));
  };
  if (p.role != PoolRole::decode) slower("SlowFirstToken", m->first_token, o.ttft_limit_s, "time to the first token,");
  if (p.role != PoolRole::prefill) slower("SlowTokens", m->next_token, o.tpot_limit_s, "time between tokens,");
  if (p.concurrency > 0) {
    alert("MoreLoadThanPlanned",
          fmt::format("avg({0}) + avg({1}) > {2:.0f}", m->running, m->waiting, 1.25 * load_of(p)), "10m", "warning",
          fmt::format("replicas of {} have more than the {:.0f} requests of the plan", p.model, load_of(p)));
  }
  alert("RequestsWait", fmt::format("max({}) > 0", m->waiting), "5m", "warning",
        fmt::format("requests to {} wait for room in a batch", p.model));
  if (!m->cache.empty()) {
    alert("CacheFull", fmt::format("max({}) > 0.95", m->cache), "5m", "warning",
          fmt::format("the KV cache of a server of {} is full: requests are put off", p.model));
  }
  alert("ServersMissing", fmt::format("count({}) < {} or absent({})", m->running, p.replicas, m->running), "5m",
        "critical", fmt::format("fewer than the plan's {} servers of {} answer", p.replicas, p.model));
  if (!p.hardware.error_metric.empty()) {
    alert("DeviceError", fmt::format("max_over_time({}[5m]) > 0", p.hardware.error_metric), "0m", "critical",
          "a device reported an Xid error: look at the host with ridge doctor");
  }
  return y.text();
}

std::string autoscaling(const LaunchPlan& p, const LaunchOptions& o) {
  const Metrics* m = metrics_of(p.runner);
  if (m == nullptr || o.max_replicas <= p.replicas || spans_nodes(p)) return {};
  const std::string job = job_name(p);
  Yaml y;
  y.line(0, "# Needs KEDA and a Prometheus that scrapes the servers; the threshold is the plan's load of one replica.");
  y.line(0, "apiVersion: keda.sh/v1alpha1").line(0, "kind: ScaledObject").line(0, "metadata:").line(1, "name: {}", job);
  y.line(0, "spec:").line(1, "scaleTargetRef:").line(2, "name: {}", job);
  y.line(1, "minReplicaCount: {}", p.replicas).line(1, "maxReplicaCount: {}", o.max_replicas);
  y.line(1, "cooldownPeriod: 600").line(1, "triggers:").line(2, "- type: prometheus").line(3, "metadata:");
  y.line(4, "serverAddress: \"http://prometheus-operated.monitoring:9090\"");
  y.line(4, "query: {}", quoted_yaml(fmt::format("sum({}) + sum({})", m->running, m->waiting)));
  y.line(4, "threshold: \"{:.0f}\"", load_of(p));
  return y.text();
}

}  // namespace ridge::launch
