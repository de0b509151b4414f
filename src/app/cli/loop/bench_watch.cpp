// A trickle against a running service: does it still do what the plan, or its own first hour, says?
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "app/bench/server_metrics.hpp"
#include "app/bench/watch.hpp"
#include "app/cli/loop/bench.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

/// Reads one page with a client of its own.
class Page final : public bench::Listener {
 public:
  bool bytes(std::string_view text, int, bench::Clock::time_point) override {
    body.append(text);
    return body.size() < 4'000'000;
  }
  void ended(bench::Trouble t, int code, const std::string& what, const std::string&,
             bench::Clock::time_point) override {
    over = true;
    status = code;
    detail = t == bench::Trouble::none ? "" : what;
  }
  std::string body, detail;
  int status = 0;
  bool over = false;
};

Result<bench::MetricsPage> read_server(Session& session, const bench::HttpClient::Options& options) {
  bench::HttpClient client(options);
  Page page;
  client.get(0, "/metrics", page);
  while (!page.over && !session.stopped()) client.pump(bench::Clock::now() + std::chrono::milliseconds(200));
  if (!page.over) {
    client.abort(0);
    return Error{ErrorCode::refused, "--watch", "ended"};
  }
  const std::optional<bench::MetricsPage> read = bench::read_metrics_page(page.body);
  if (page.status != 200 || !read) {
    return Error{ErrorCode::refused, options.root + "/metrics",
                 fmt::format("answers {} {}: no metrics of vLLM, SGLang or llama.cpp", page.status, page.detail)};
  }
  return *read;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
  return text;
}

}  // namespace

Result<int> watch_server(Session& session, const BenchFlags& flags) {
  const Result<Seconds> every = parse_quantity<Seconds>(flags.watch);
  if (!every || every->value() <= 0) return Error{ErrorCode::bad_input, "--watch", "write how often: 1min"};
  Result<BenchRun> run = prepare_bench(session, flags);
  if (!run) return run.error();
  SimulationQuery& query = run->answer.query;
  const bool bounded = flags.simulate.given("--requests");
  if (!flags.simulate.deployment.given("--concurrency") && !flags.simulate.given("--request-rate")) {
    query.load = {.kind = OfferedKind::concurrency, .concurrency = 1};
  }
  if (!bounded) query.requests = 5;
  query.duration = 0;
  run->setup.warmup = 1;
  if (const Status s = flags.metrics_only ? Status() : predict_bench(session, *run); !s) return s.error();
  session.catch_interrupts();

  const bool planned = run->answer.predicted.has_value();
  const auto expected = [&](const LatencyDistribution SimulationResult::*which) {
    return planned ? ((*run->answer.predicted).*which).p50() : 0.0;
  };
  bench::Drift ttft(expected(&SimulationResult::ttft));
  bench::Drift tpot(expected(&SimulationResult::tpot));
  if (planned) {
    const PredictionSpread& sure = run->answer.predicted->spread;
    ttft.allow(std::max(std::log(sure.ttft_high), -std::log(sure.ttft_low)));
    tpot.allow(std::max(std::log(sure.tpot_high), -std::log(sure.tpot_low)));
  }
  std::optional<bench::MetricsPage> before;
  bool drifted = false;
  while (!session.stopped()) {
    const auto next = std::chrono::steady_clock::now() + std::chrono::duration<double>(every->value());
    double first = 0;
    double each = 0;
    std::string more;
    if (flags.metrics_only) {
      const Result<bench::MetricsPage> page = read_server(session, run->setup.client);
      if (session.stopped()) break;
      if (!page) return page.error();
      if (before && page->ttft_count > before->ttft_count) {
        first = (page->ttft_sum - before->ttft_sum) / (page->ttft_count - before->ttft_count);
      }
      if (before && page->gap_count > before->gap_count) {
        each = (page->gap_sum - before->gap_sum) / (page->gap_count - before->gap_count);
      }
      more = fmt::format(", {} running, {} waiting", format_number(page->running), format_number(page->waiting));
      before = *page;
    } else {
      query.seed += 1;  // other requests than the last time: nothing of them is cached
      run->setup.salt += 1;
      const Status s = measure_bench(session, *run);
      if (session.stopped()) break;
      if (!s) {
        session.print(fmt::format("{}  {}\n", now_text(), s.error().message));
      } else {
        first = run->answer.measured.ttft.p50();
        each = run->answer.measured.tpot.p50();
        if (run->answer.measured.failed > 0) more = fmt::format(", {} failed", run->answer.measured.failed);
      }
    }
    const std::string at = now_text();
    if (first > 0) ttft.add(first, at);
    if (each > 0) tpot.add(each, at);
    if (first > 0 || each > 0 || flags.metrics_only) {
      session.print(fmt::format("{}  TTFT {}  TPOT {}{}{}{}\n", at, first > 0 ? format(Seconds(first)) : "–",
                                each > 0 ? format(Seconds(each)) : "–", more, ttft.text("TTFT", planned),
                                tpot.text("TPOT", planned)));
      std::fflush(stdout);
    }
    drifted = ttft.drifted() || tpot.drifted();
    while (!session.stopped() && std::chrono::steady_clock::now() < next) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  return drifted ? kCheckFailed : kFine;
}

}  // namespace ridge::cli
