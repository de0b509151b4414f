// The parts of `ridge bench`: prepare, predict, measure; learn from it; a suite of points; a watch over days.
//
//   Result<BenchRun> run = prepare_bench(session, flags);
//   predict_bench(session, *run); measure_bench(session, *run);      // run->answer has both
//   learn(session, "mine.toml", {run->answer});
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_report.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/simulate/flags.hpp"

namespace ridge::cli {

struct BenchFlags {
  SimulateFlags simulate;
  std::vector<std::string> words;
  bool chat = false, text_prompts = false, plain = false, suite = false, metrics_only = false;
  std::string served_name;
  std::string key_variable = "RIDGE_API_KEY";
  std::string warmup, stall, timeout, ca_file;
  std::string save_result, evidence, learn, watch;
  std::string source = "own";
};

struct BenchRun {
  bench::BenchAnswer answer;
  bench::BenchSetup setup;
  bool predicts = false;
  bool find_rate = false;
};

/// Refuses what simulation_question() does, and a URL that is none.
Result<BenchRun> prepare_bench(Session& session, const BenchFlags& flags);
/// Nothing where there is no plan.
Status predict_bench(Session& session, BenchRun& run);
Status measure_bench(Session& session, BenchRun& run);

/// Adds rows to FILE.csv beside the overlay and fits the overlay to all of them anew. Refuses loads that are no closed
/// loop of fixed lengths.
Status learn(Session& session, const std::string& overlay, const std::vector<bench::BenchAnswer>& answers);
/// A few closed loops, those whose prediction is least sure and that differ most.
Result<int> run_suite(Session& session, const BenchFlags& flags);
/// A trickle, until Ctrl-C.
Result<int> watch_server(Session& session, const BenchFlags& flags);

}  // namespace ridge::cli
