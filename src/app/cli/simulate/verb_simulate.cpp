// ridge simulate: a serving system request by request.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/progress.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/simulate/flags.hpp"
#include "app/cli/verbs.hpp"
#include "report/simulate/report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/serve/simulation_load.hpp"

namespace ridge::cli {

namespace {

/// Shows progress, heeds Ctrl-C, and keeps what the files need.
class Watcher final : public SimulationObserver {
 public:
  Watcher(Session& session, const SimulateFlags& flags, bool searching)
      : session_(session),
        progress_(session.progress(searching ? "searching" : "simulating")),
        wants_csv_(!searching && flags.given("--requests-csv")),
        wants_trace_(!searching && flags.given("--perfetto")) {
    session.catch_interrupts();
    if (wants_csv_) csv = report::request_csv_header();
  }
  void request(const RequestRecord& r) override {
    if (wants_csv_) report::append_request_csv(csv, r);
    if (wants_trace_) trace.add(r);
  }
  void steps(const StepRecord& s) override {
    if (wants_trace_) trace.add(s);
  }
  bool go_on(double share) override {
    progress_.show(share);
    return !session_.stopped();
  }

  std::string csv;
  report::ViewerTrace trace;

 private:
  Session& session_;
  Progress progress_;
  bool wants_csv_;
  bool wants_trace_;
};

Status write_files(const Session& session, const SimulateFlags& flags, const report::SimulationAnswer& answer,
                   const Catalogue& catalogue, Watcher& watcher) {
  const auto write = [&](std::string_view flag, const auto& text) -> Status {
    return flags.given(flag) ? session.files().write(flags.value(flag), text()) : Status();
  };
  if (const Status s = write("--requests-csv", [&] { return watcher.csv; }); !s) return s;
  if (const Status s = write("--perfetto", [&] { return watcher.trace.finish(); }); !s) return s;
  if (const Status s = write("--timeline-csv", [&] { return to_csv(report::timeline_table(answer.result)); }); !s) {
    return s;
  }
  return write("--html", [&] {
    const InferenceQuery& plan = answer.query.deployment;
    return report::simulation_html(answer,
                                   {report::sources_of(catalogue, {plan.model}, {plan.device}), command_text(session)});
  });
}

void show_search(RateSearch search, report::SimulationAnswer& answer) {
  SimulationQuery& q = answer.query;
  answer.result = search.at_rate;
  if (search.rate > 0) {
    q.load.kind = OfferedKind::rate;
    q.load.rate = search.rate;
  } else {  // what a client alone sees
    q.load.kind = OfferedKind::concurrency;
    q.load.concurrency = 1;
    q.requests = static_cast<double>(search.at_rate.arrived);
    q.duration = 0;
  }
  answer.search = std::move(search);
}

/// The question again with no first tier, a part of it, and more.
Status size_tiers(const Knowledge& knowledge, const InferenceDeployment& deployment, Watcher& watcher,
                  report::SimulationAnswer& answer) {
  constexpr double kFactors[] = {0, 0.125, 0.25, 0.5, 1, 2, 4};
  for (const double factor : kFactors) {
    SimulationQuery q = answer.query;
    q.policies.tiers.front().capacity *= factor;
    if (factor == 0) q.policies.tiers.erase(q.policies.tiers.begin());
    const Result<SimulationResult> r =
        q.policies.disaggregation ? simulate(q, knowledge, &watcher) : simulate(q, deployment, nullptr, &watcher);
    if (!r) return r.error();
    report::TierSize size;
    size.capacity = factor * answer.query.policies.tiers.front().capacity;
    size.cached_share =
        r->input_tokens > 0 ? static_cast<double>(r->cached_tokens) / static_cast<double>(r->input_tokens) : 0;
    size.later_ttft_p95 = (r->later_turn_ttft.count() > 0 ? r->later_turn_ttft : r->ttft).p95();
    size.requests_per_s = r->requests_per_s;
    size.overloaded = r->overloaded;
    size.peak_bytes = factor > 0 ? r->tiers.front().peak_bytes : 0;
    answer.sizes.push_back(size);
  }
  return {};
}

Result<int> run_simulation(Session& session, const SimulateFlags& flags) {
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  Result<SimulationQuestion> question =
      simulation_question(flags, *data + "/workloads", session.software_date(), session.files());
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();

  // The estimate completes the layout, and says what would run if this does not.
  report::SimulationAnswer answer;
  answer.query = std::move(question->query);
  answer.assumptions = std::move(question->assumptions);
  const Result<InferenceAnswer> plan = ridge::answer(answer.query.deployment, *knowledge, {.explain = false});
  if (!plan) return plan.error();
  if (plan->refusal) return refusal_error(*plan);
  answer.query.deployment = plan->query;
  add_changes(session, answer.assumptions);

  const double asked = answer.query.requests;
  const bool capped = std::isfinite(session.most_requests()) && !(asked > 0 && asked <= session.most_requests());
  if (capped) answer.query.requests = session.most_requests();

  const auto start = std::chrono::steady_clock::now();
  Watcher watcher(session, flags, question->find_rate);
  if (question->find_rate) {
    Result<RateSearch> search = find_rate(answer.query, *knowledge, &watcher);
    if (!search) return search.error();
    if (search->rate <= 0 && search->at_rate.stopped_early) {
      return Error{ErrorCode::refused, "--find-rate", "ended before a rate was found that holds the limits"};
    }
    show_search(*std::move(search), answer);
  } else {
    Result<SimulationResult> result = simulate(answer.query, *knowledge, &watcher);
    if (!result) return result.error();
    answer.result = *std::move(result);
    if (flags.is_on("--size-tiers")) {
      if (!std::isfinite(answer.query.policies.tiers.front().capacity)) {
        return wrong("--size-tiers", "the first tier has no end: write a capacity to halve and double");
      }
      const Result<InferenceDeployment> deployment = resolve(answer.query.deployment, *knowledge);
      if (!deployment) return deployment.error();
      if (const Status s = size_tiers(*knowledge, *deployment, watcher, answer); !s) return s.error();
    }
  }
  if (capped && static_cast<double>(answer.result.arrived) >= session.most_requests()) {
    answer.result.stopped_early = true;
    answer.assumptions.push_back(fmt::format("cut after {} requests, the most that are simulated here",
                                             format_number(session.most_requests(), 9)));
  }
  if (capped && answer.query.requests == session.most_requests()) answer.query.requests = asked;
  answer.load_share = load_share(answer.query, answer.result, *knowledge);
  answer.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (const Status s = write_files(session, flags, answer, knowledge->catalogue, watcher); !s) return s.error();
  if (session.form() == Form::json) {
    session.print(report::simulation_json(answer).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::latency_table(answer)));
  } else {
    session.print(report::simulation_page(answer));
  }
  return answer.search && answer.search->rate <= 0 ? kRefused : kFine;
}

Action declare_simulate(Options& options) {
  auto flags = std::make_shared<SimulateFlags>();
  flags->declare(options);
  return [flags](Session& session) -> Result<int> {
    if (const Status s = flags->deployment.valid(session); !s) return s.error();
    Result<WhatIfSubjects> subjects = what_if_subjects(flags->deployment);
    if (!subjects) return subjects.error();
    session.about(*std::move(subjects));
    return run_simulation(session, *flags);
  };
}

}  // namespace

Verb simulate_verb() {
  return {"simulate", "what each request sees: latency distributions, queues, goodput",
          "Plays requests against a serving system: time to first token, time per token, throughput and goodput under "
          "limits, queue, batch and KV cache over time, preemptions, prefix hits, energy. The step times are those of "
          "`ridge estimate`.\n\n"
          "Requests come from a named workload, fixed lengths (--isl, --osl) or a trace, at a rate, from so many "
          "clients, or all at once. Given --find-rate it looks for the highest rate that holds the limits. An open "
          "loop that cannot keep up is said to be overloaded. Ctrl-C ends early with what is known so far.",
          "ridge simulate --model llama3.1-70b --device h100-sxm --gpus 8 --workload chat --request-rate 10 --requests "
          "5000 --ttft 500ms --tpot 80ms\n"
          "ridge simulate --model llama3.1-8b --device h100-sxm --isl 1000 --osl 250 --concurrency 64\n"
          "ridge simulate --model llama3.1-8b --device l40s --workload rag --ttft 1s --tpot 60ms --find-rate --json",
          declare_simulate};
}

}  // namespace ridge::cli
