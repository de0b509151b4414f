// ridge emulate: a server that answers at the predicted pace of a plan, on no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "app/cli/call/connections.hpp"
#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/interrupt.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/simulate/flags.hpp"
#include "app/cli/verbs.hpp"
#include "app/emulate/emulator.hpp"
#include "report/simulate/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr const char* kKeyVariable = "RIDGE_EMULATE_KEY";

struct EmulateFlags {
  SimulateFlags simulate;
  std::string port = "8000";
  std::string host = "127.0.0.1";
  std::string speed;
  std::string name;
  std::string ports;
  bool quiet = false;
};

std::string ended_text(const emulate::Emulator& server, const SimulationResult& result) {
  const LatencyDistribution& late = server.lateness();
  return fmt::format("{} answered, {} tokens out, {} refused, {} preemptions; this machine was late by {} (p99 {})\n",
                     format_number(static_cast<double>(server.finished()), 9),
                     format_number(static_cast<double>(server.generated()), 9), result.rejected + result.too_long,
                     result.preemptions, format(Seconds(late.p50())), format(Seconds(late.p99())));
}

Result<int> run_emulate(Session& session, const EmulateFlags& flags) {
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  Result<SimulationQuestion> question =
      simulation_question(flags.simulate, *data + "/workloads", session.software_date(), session.files());
  if (!question) return question.error();
  const Result<int> port = read_whole("--port", flags.port, 8000, 0, 65535);
  if (!port) return port.error();
  const Result<int> ports = read_whole("--ports", flags.ports, 1, 1, 64);
  if (!ports) return ports.error();
  const Result<double> speed = read_count("--speed", flags.speed, 1, 0.001, 1000);
  if (!speed) return speed.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();

  report::SimulationAnswer answer;
  answer.query = std::move(question->query);
  const Result<InferenceAnswer> plan = ridge::answer(answer.query.deployment, *knowledge, {.explain = false});
  if (!plan) return plan.error();
  if (plan->refusal) return refusal_error(*plan);
  answer.query.deployment = plan->query;
  answer.result.facts = plan->facts;
  answer.result.gpus = plan->facts.gpus;
  const SimulationQuery& query = answer.query;

  catch_interrupts();
  allow_connections();
  emulate::EmulatorOptions options;
  options.address = flags.host;
  options.speed = *speed;
  options.model = flags.name.empty() ? plan->query.model : flags.name;
  if (const char* key = std::getenv(kKeyVariable); key != nullptr) options.key = key;
  options.block_tokens = static_cast<std::uint32_t>(query.policies.block_tokens);
  options.usual_output = static_cast<std::uint32_t>(std::max(1.0, std::round(query.workload.mean_output())));
  options.stopped = [&session] { return session.stopped(); };
  std::vector<std::unique_ptr<emulate::Emulator>> servers;
  for (int i = 0; i < *ports; ++i) {
    options.port = *port == 0 ? 0 : *port + i;
    Result<std::unique_ptr<emulate::Emulator>> server = emulate::Emulator::listen(options);
    if (!server) return server.error();
    servers.push_back(*std::move(server));
  }
  std::string title = report::simulation_title(answer);
  title = title.substr(0, title.find(" · "));
  const bool v6 = flags.host.find(':') != std::string::npos;
  for (const auto& server : servers) {
    session.print(fmt::format("http://{}{}{}:{}/v1  {}{}{}  (Ctrl-C ends it)\n", v6 ? "[" : "", flags.host,
                              v6 ? "]" : "", server->port(), title,
                              query.replicas > 1 ? fmt::format(" × {}", query.replicas) : "",
                              *speed != 1 ? fmt::format(", {} times as fast", format_number(*speed, 3)) : ""));
  }
  std::fflush(stdout);

  // One thread for each port; what they share is read alone.
  std::vector<std::optional<Result<SimulationResult>>> results(servers.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < servers.size(); ++i) {
    threads.emplace_back([&, i] { results[i].emplace(serve_live(query, *knowledge, *servers[i])); });
  }
  results[0].emplace(serve_live(query, *knowledge, *servers[0]));
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!*results[i]) return results[i]->error();
    if (!flags.quiet) session.print(ended_text(*servers[i], **results[i]));
  }
  return kFine;
}

Action declare_emulate(Options& options) {
  auto flags = std::make_shared<EmulateFlags>();
  flags->simulate.declare_without(options, {"--speed", "--request-rate", "--arrivals", "--scenario", "--requests",
                                            "--duration", "--seed", "--ttft", "--tpot", "--e2e", "--limit-share",
                                            "--find-rate", "--requests-csv", "--timeline-csv", "--perfetto", "--html"});
  options.text("--port", "N", flags->port, "port to listen on (default: 8000; 0: any that is free)",
               value::whole(0, 65535));
  options.text("--host", "ADDRESS", flags->host, "address to listen on (default: 127.0.0.1)", value::name(".:-"));
  options.text("--ports", "N", flags->ports, "number of servers, on consecutive ports, each with its own engine",
               value::whole(1, 64));
  options.text("--speed", "X", flags->speed, "run X times as fast as predicted (default: 1)",
               value::number(0.001, 1000));
  options.text("--served-model-name", "NAME", flags->name, "model name that requests use (default: the model's id)",
               value::name());
  options.flag("--quiet", flags->quiet, "nothing is said at the end");
  return [flags](Session& session) -> Result<int> {
    if (session.is_called()) {
      return Error{ErrorCode::refused, "emulate", "listens until it is ended: start it from a shell"};
    }
    Result<WhatIfSubjects> subjects = what_if_subjects(flags->simulate.deployment);
    if (!subjects) return subjects.error();
    session.about(*std::move(subjects));
    return run_emulate(session, *flags);
  };
}

}  // namespace

Verb emulate_verb() {
  return {
      "emulate", "a server that answers as a plan would, on no GPU",
      "Listens as an OpenAI-compatible server and answers at the predicted pace: the scheduler of `ridge simulate` "
      "runs in real time (or --speed times as fast), tokens are streamed when they would be, and KV cache, prefix "
      "hits, preemption, API limits, failures and cold starts are as simulated. Answers are words without meaning.\n\n"
      "/v1/completions, /v1/chat/completions, /v1/models, /health, /version, and /metrics under vLLM's names. "
      "For routers, gateways, autoscalers, dashboards and clients, before there is hardware. Where "
      "$RIDGE_EMULATE_KEY is set, requests must carry it as a bearer token.",
      "ridge emulate --help", declare_emulate};
}

}  // namespace ridge::cli
