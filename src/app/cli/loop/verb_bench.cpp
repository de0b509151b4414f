// ridge bench: load a server, measure it, and put the prediction beside it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "app/bench/bench_report.hpp"
#include "app/cli/call/connections.hpp"
#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/loop/bench.hpp"
#include "app/cli/session/interrupt.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/verbs.hpp"
#include "report/page/html.hpp"
#include "report/simulate/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kTrialRequests = 200;
constexpr double kRateStep = 1.05;  ///< a rate is found to this
constexpr double kLeastRate = 1e-3;
constexpr double kFirstClients = 8;

/// One line that is drawn again and again while it runs.
class LiveLine {
 public:
  explicit LiveLine(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) == 1) {}
  ~LiveLine() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  void show(const bench::BenchView& v) {
    if (!wanted_) return;
    const std::string text =
        fmt::format("\r\x1b[K{}, {} in flight{}, TTFT {} (p99 {}), TPOT {} (p99 {}), {} tok/s",
                    progress_line("measuring", std::clamp(v.share, 0.0, 1.0), v.seconds,
                                  static_cast<double>(v.finished), "requests"),
                    v.in_flight, v.failed > 0 ? fmt::format(", {} failed", v.failed) : "", format(Seconds(v.ttft_p50)),
                    format(Seconds(v.ttft_p99)), format(Seconds(v.tpot_p50)), format(Seconds(v.tpot_p99)),
                    format_number(v.output_tokens_per_s));
    std::fputs(text.c_str(), stderr);
    drawn_ = true;
  }

 private:
  bool wanted_;
  bool drawn_ = false;
};

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// The rate that holds the limits, by trial: from what a few clients get, doubled until it does not, then halved in
/// between.
Result<bench::BenchResult> find_rate(bench::BenchSetup& setup, double& rate) {
  double holds = 0;
  double breaks = 0;
  bench::BenchResult best;
  bench::BenchSetup few = setup;
  few.query.load = {.kind = OfferedKind::concurrency, .concurrency = kFirstClients};
  few.query.requests = 2 * kFirstClients;
  few.query.duration = 0;
  const Result<bench::BenchResult> first = bench::run_bench(few);
  if (!first) return first.error();
  if (first->stopped_early) return *first;
  rate = std::max(first->requests_per_s, kLeastRate);
  while (true) {
    setup.query.load.rate = rate;
    setup.salt += 1;
    Result<bench::BenchResult> trial = bench::run_bench(setup);
    if (!trial) return trial.error();
    const LatencyLimits& l = setup.query.limits;
    const auto within = [&](const LatencyDistribution& d, double limit) {
      return limit <= 0 || d.quantile(l.share) <= limit;
    };
    const bool good = trial->failed == 0 && trial->finished > 0 && within(trial->ttft, l.ttft) &&
                      within(trial->tpot, l.tpot) && within(trial->e2e, l.e2e);
    const bool stopped = trial->stopped_early;
    if (good && !stopped) {
      holds = rate;
      best = *std::move(trial);
    } else {
      breaks = rate;
      if (holds == 0) best = *std::move(trial);
    }
    if (stopped || (breaks > 0 && holds > 0 && breaks / holds < kRateStep) || (breaks > 0 && breaks < kLeastRate))
      break;
    rate = breaks == 0 ? rate * 2 : holds == 0 ? rate / 4 : std::sqrt(holds * breaks);
  }
  rate = holds;
  return best;
}

}  // namespace

Result<BenchRun> prepare_bench(Session& session, const BenchFlags& flags) {
  if (flags.words.size() != 1) {
    return Error{ErrorCode::bad_input, "URL", "say which server: ridge bench http://127.0.0.1:8000"};
  }
  const Result<bench::Endpoint> endpoint = bench::read_url(flags.words[0]);
  if (!endpoint) return endpoint.error();
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  const EstimateFlags& d = flags.simulate.deployment;
  BenchRun run;
  run.predicts = d.given("--model") && (d.given("--device") || d.given("--system"));
  Result<SimulationQuestion> question =
      run.predicts ? simulation_question(flags.simulate, *data + "/workloads", session.software_date(), session.files())
                   : load_question(flags.simulate, *data + "/workloads", session.files());
  if (!question) return question.error();
  run.find_rate = question->find_rate;
  run.answer.query = std::move(question->query);
  run.answer.assumptions = std::move(question->assumptions);
  run.answer.chat = flags.chat;
  run.answer.date = date_now();
  SimulationQuery& query = run.answer.query;
  const bool bounded = flags.simulate.given("--requests") || flags.simulate.given("--duration");
  if (run.find_rate && !bounded) query.requests = kTrialRequests;
  if (!bounded && !run.find_rate && query.load.kind != OfferedKind::trace) {
    // As many as make percentiles, and no more than a coffee's time.
    query.requests =
        query.load.kind == OfferedKind::concurrency ? std::clamp(4 * query.load.concurrency, 50.0, 1000.0) : 200;
  }

  bench::BenchSetup& setup = run.setup;
  setup.client.root = endpoint->root;
  setup.client.ca_file = flags.ca_file;
  if (const char* key = std::getenv(flags.key_variable.c_str()); key != nullptr) setup.client.key = key;
  const auto time = [](std::string_view flag, const std::string& text, double& into) -> Status {
    if (text.empty()) return {};
    const Result<Seconds> s = parse_quantity<Seconds>(text);
    if (!s || s->value() <= 0) return Error{ErrorCode::bad_input, std::string(flag), "write a time, for example 60s"};
    into = s->value();
    return {};
  };
  if (const Status s = time("--stall-timeout", flags.stall, setup.client.stall_seconds); !s) return s.error();
  if (const Status s = time("--request-timeout", flags.timeout, setup.client.request_seconds); !s) return s.error();
  const Result<int> warmup = read_whole("--warmup", flags.warmup, 4, 0, 100'000);
  if (!warmup) return warmup.error();
  setup.warmup = *warmup;
  setup.model = flags.served_name;
  setup.chat = flags.chat;
  setup.words = flags.text_prompts;
  setup.plain = flags.plain;
  setup.salt = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return run;
}

Status predict_bench(Session& session, BenchRun& run) {
  if (!run.predicts) return {};
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  SimulationQuery& query = run.answer.query;
  const Result<InferenceAnswer> plan = ridge::answer(query.deployment, *knowledge, {.explain = false});
  if (!plan) return plan.error();
  if (plan->refusal) return refusal_error(*plan);
  query.deployment = plan->query;
  struct Watcher final : SimulationObserver {
    explicit Watcher(const Session& of) : session(of) {}
    bool go_on(double) override { return !session.stopped(); }
    const Session& session;
  } watcher(session);
  Result<SimulationResult> predicted = simulate(query, *knowledge, &watcher);
  if (!predicted) return predicted.error();
  if (const Status s = session.in_time(); !s) return s;
  report::SimulationAnswer titled;
  titled.query = query;
  titled.result = *predicted;
  run.answer.plan_title = report::simulation_title(titled);
  run.answer.plan_title = run.answer.plan_title.substr(0, run.answer.plan_title.find(" · "));
  for (const std::string& one : predicted->assumptions) run.answer.assumptions.push_back(one);
  run.answer.predicted = *std::move(predicted);
  return {};
}

Status measure_bench(Session& session, BenchRun& run) {
  allow_connections();
  session.catch_interrupts();
  LiveLine line(!session.is_called());
  run.setup.query = run.answer.query;
  run.setup.go_on = [&](const bench::BenchView& v) {
    line.show(v);
    return !session.stopped();
  };
  double rate = 0;
  Result<bench::BenchResult> measured = run.find_rate ? find_rate(run.setup, rate) : bench::run_bench(run.setup);
  if (!measured) return measured.error();
  run.answer.measured = *std::move(measured);
  if (run.find_rate) run.answer.query.load = {.kind = OfferedKind::rate, .rate = rate};
  return {};
}

namespace {

Status write_results(const Session& session, const BenchFlags& flags, const BenchRun& run,
                     const std::string& requests) {
  const auto write = [&](const std::string& path, const auto& text) -> Status {
    return path.empty() ? Status() : session.files().write(path, text());
  };
  if (const Status s = write(flags.save_result, [&] { return bench::vllm_json(run.answer).text(); }); !s) return s;
  if (const Status s = write(flags.simulate.value("--requests-csv"), [&] { return requests; }); !s) return s;
  if (const Status s = write(flags.simulate.value("--html"),
                             [&] {
                               const Document page = bench::bench_page(run.answer);
                               report::HtmlPage html(page.title);
                               html.add(page);
                               html.add(report::Provenance{{}, command_text(session)});
                               return html.finish();
                             });
      !s) {
    return s;
  }
  if (flags.evidence.empty()) return {};
  const Result<std::string> row = bench::evidence_row(run.answer, fmt::format("own-{}", run.answer.date), flags.source);
  if (!row) return row.error();
  const Result<std::string> before = session.files().read(flags.evidence, 16u << 20);
  if (before && !before->starts_with(bench::evidence_header())) {
    return Error{ErrorCode::bad_input, flags.evidence, "has other columns than the rows of this program: name another"};
  }
  return session.files().write(flags.evidence, (before ? *before : bench::evidence_header()) + *row);
}

Result<int> run_bench_verb(Session& session, const BenchFlags& flags) {
  if (!flags.watch.empty()) return watch_server(session, flags);
  if (flags.suite) return run_suite(session, flags);
  Result<BenchRun> run = prepare_bench(session, flags);
  if (!run) return run.error();
  if (!flags.learn.empty() && !run->predicts) {
    return Error{ErrorCode::bad_input, "--learn",
                 "learns how a plan's stack differs: give --plan, or --model and --device"};
  }
  if (const Status s = run->find_rate ? Status() : predict_bench(session, *run); !s) return s.error();
  std::string requests = report::request_csv_header();
  if (flags.simulate.given("--requests-csv")) {
    run->setup.hear = [&](const RequestRecord& r) { report::append_request_csv(requests, r); };
  }
  if (const Status s = measure_bench(session, *run); !s) return s.error();
  if (run->find_rate && run->answer.query.load.rate > 0) {
    if (const Status s = predict_bench(session, *run); !s) return s.error();
  }
  if (const Status s = write_results(session, flags, *run, requests); !s) return s.error();
  if (session.form() == Form::json) {
    session.print(bench::bench_json(run->answer).text());
  } else {
    session.print(bench::bench_page(run->answer));
    if (run->find_rate && run->answer.query.load.rate <= 0) session.print("No rate that was tried holds the limits.\n");
  }
  if (!flags.learn.empty()) {
    if (const Status s = learn(session, flags.learn, {run->answer}); !s) return s.error();
  }
  if (run->find_rate && run->answer.query.load.rate <= 0) return kRefused;
  if (run->answer.measured.finished == 0) return kRefused;
  return bench::all_inside(run->answer) ? kFine : kCheckFailed;
}

Action declare_bench(Options& options) {
  auto flags = std::make_shared<BenchFlags>();
  options.words("URL", flags->words, "of the server: http://127.0.0.1:8000");
  flags->simulate.declare_without(options, {"--timeline-csv", "--perfetto"});
  options.flag("--chat", flags->chat, "use the chat endpoint, with words (default: completions with token ids)");
  options.flag("--text-prompts", flags->text_prompts, "words instead of token ids for completions too");
  options.flag("--plain", flags->plain, "send only what OpenAI's own API knows (no ignore_eos)");
  options.text("--served-model-name", "NAME", flags->served_name,
               "model name of the server (default: the server is asked)", value::name());
  options.text("--key-env", "NAME", flags->key_variable, "the variable that holds the API key; RIDGE_API_KEY",
               value::name("_"));
  options.text("--ca-file", "FILE", flags->ca_file, "certificates (PEM) to trust instead of the system's",
               value::file());
  options.text("--warmup", "N", flags->warmup, "requests before those that count; 4", value::whole(0, 100'000));
  options.text("--stall-timeout", "T", flags->stall, "without a byte, a request has failed; 120s",
               value::quantity<Seconds>("60s"));
  options.text("--request-timeout", "T", flags->timeout, "longer than this, a request has failed; 15min",
               value::quantity<Seconds>("60s"));
  options.text("--save-result", "FILE", flags->save_result, "write JSON in the shape of `vllm bench serve`",
               value::written());
  options.text("--evidence", "FILE", flags->evidence, "add a row with the columns of data/evidence", value::written());
  options.text("--source", "NAME", flags->source, "of such rows; own", value::name());
  options.text("--learn", "FILE", flags->learn, "update what this stack does differently: an overlay for --calibration",
               value::written());
  options.flag("--suite", flags->suite, "measure the few points that teach most; with --learn");
  options.text("--watch", "T", flags->watch, "look every so often, and say when it drifts from the plan: 1min",
               value::quantity<Seconds>("1min"));
  options.flag("--metrics-only", flags->metrics_only, "with --watch: send nothing, read /metrics");
  return [flags](Session& session) -> Result<int> {
    if (session.is_called() && !session.may_name_files()) {
      return Error{ErrorCode::refused, "bench", "sends requests to another server: run it from a shell"};
    }
    Result<WhatIfSubjects> subjects = what_if_subjects(flags->simulate.deployment);
    if (!subjects) return subjects.error();
    session.about(*std::move(subjects));
    return run_bench_verb(session, *flags);
  };
}

}  // namespace

Verb bench_verb() {
  return {
      "bench", "load a real server, and put the prediction beside what it does",
      "Sends the loads of `ridge simulate` (workloads, traces, lengths, arrivals, closed and open loops, "
      "conversations) "
      "to any OpenAI-compatible server and measures time to first token, time per token, gaps, end-to-end times, "
      "goodput and errors by kind. What this client adds is measured too and printed. Ctrl-C keeps what was "
      "measured.\n\n"
      "With a plan (--plan, or --model and --device) it prints the prediction beside it, percentile by percentile, and "
      "why the two may differ; it exits with 3 if something lies outside its interval. --learn updates an overlay that "
      "every later answer takes by --calibration.\n\n"
      "A key comes from $RIDGE_API_KEY, never from the line. Nothing is sent anywhere but to the URL; redirects are "
      "not followed.",
      "ridge bench --help", declare_bench};
}

}  // namespace ridge::cli
