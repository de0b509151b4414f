// From what was measured to what later answers assume: rows of evidence, an overlay, a suite of points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/loop/bench.hpp"
#include "evidence/calibration/overlay.hpp"
#include "evidence/settings/bundle.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kFileLimit = 16u << 20;
constexpr std::size_t kSuitePoints = 4;
constexpr double kSuiteSeconds = 120;  ///< of one point, as predicted

/// "mine.toml" → "mine.csv": the rows that an overlay was fitted to stay beside it.
std::string rows_file(const std::string& overlay) {
  const std::size_t dot = overlay.ends_with(".toml") ? overlay.size() - 5 : overlay.size();
  return overlay.substr(0, dot) + ".csv";
}

}  // namespace

Status learn(Session& session, const std::string& overlay, const std::vector<bench::BenchAnswer>& answers) {
  const std::string path = rows_file(overlay);
  const Result<std::string> before = session.files().read(path, kFileLimit);
  std::string rows = before ? *before : bench::evidence_header();
  if (!rows.starts_with(bench::evidence_header())) {
    return Error{ErrorCode::bad_input, path, "has other columns than the rows of this program: move it away"};
  }
  auto number = static_cast<int>(std::count(rows.begin(), rows.end(), '\n'));
  for (const bench::BenchAnswer& answer : answers) {
    const Result<std::string> row = bench::evidence_row(answer, fmt::format("own-{}", number++), "own");
    if (!row) return Error{row.error().code, "--learn", row.error().message};
    rows += *row;
  }
  if (const Status s = session.files().write(path, rows); !s) return s;

  const auto directory = session.data_directory();
  if (!directory) return directory.error();
  const auto catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const auto engines = session.engines();
  if (!engines) return engines.error();
  const auto calibration = session.calibration();
  if (!calibration) return calibration.error();
  const auto workloads = evidence::load_assumed_workloads(*directory);
  if (!workloads) return workloads.error();
  const std::vector<std::string> files{path};
  const auto cases = evidence::load_cases(files, *workloads);
  if (!cases) return cases.error();
  const evidence::OverlayFit fit = evidence::learn_overlay(**calibration, *cases, **catalogue, **engines);
  if (fit.before.predicted == 0) return Error{ErrorCode::refused, "--learn", "none of the rows could be predicted"};
  if (const Status s = session.files().write(overlay, evidence::overlay_toml(fit.calibration)); !s) return s;
  if (session.form() == Form::json) return {};
  session.print(
      fmt::format("\nLearned from {} {} in {}: their error was {:.1f} % in the median and is {:.1f} %. Later answers "
                  "about this stack "
                  "take it by --calibration {}.\n",
                  cases->size(), cases->size() == 1 ? "row" : "rows", path, 100 * fit.before.median,
                  100 * fit.after.median, overlay));
  return {};
}

Result<int> run_suite(Session& session, const BenchFlags& flags) {
  Result<BenchRun> base = prepare_bench(session, flags);
  if (!base) return base.error();
  if (!base->predicts) {
    return Error{ErrorCode::bad_input, "--suite",
                 "chooses points by what is least sure: give --plan, or --model and --device"};
  }
  // Candidates: one client to many, short and long prompts, much and little output.
  const double isl = std::max(16.0, std::round(base->answer.query.workload.mean_input()));
  const double osl = std::max(16.0, std::round(base->answer.query.workload.mean_output()));
  struct Point {
    BenchRun run;
    double width = 0;    ///< of the intervals, in logarithms
    double seconds = 0;  ///< it will take
    double at[3] = {};   ///< clients, input, output in logarithms: how far points are apart
  };
  std::vector<Point> points;
  for (const double clients : {1.0, 4.0, 16.0, 64.0, 256.0}) {
    for (const double longer : {1.0, 4.0}) {
      Point p{*base, 0, 0, {std::log(clients), std::log(longer), 0}};
      SimulationQuery& q = p.run.answer.query;
      q.workload = fixed_workload(isl * longer, std::min(osl, 256.0));
      q.workload.name = fmt::format("{:.0f} tokens in, {:.0f} out", isl * longer, std::min(osl, 256.0));
      q.load = {.kind = OfferedKind::concurrency, .concurrency = clients};
      q.requests = std::max(8.0, 3 * clients);
      q.duration = 0;
      if (const Status s = predict_bench(session, p.run); !s) continue;
      const SimulationResult& r = *p.run.answer.predicted;
      p.seconds = r.makespan;
      p.width = std::log(r.spread.tpot_high / r.spread.tpot_low) +
                std::log(r.spread.throughput_high / r.spread.throughput_low);
      if (p.seconds <= kSuiteSeconds && r.finished > 0) points.push_back(std::move(p));
    }
  }
  if (points.empty()) return Error{ErrorCode::refused, "--suite", "no point of it runs in two minutes on this plan"};
  // One at a time: the widest interval, worth less the nearer a point is to those that are chosen: errors of one stack
  // are alike, and more so where the work is alike.
  std::vector<bench::BenchAnswer> answers;
  std::vector<const Point*> chosen;
  while (chosen.size() < std::min(kSuitePoints, points.size()) && !session.stopped()) {
    const Point* best = nullptr;
    double most = -1;
    for (const Point& p : points) {
      if (std::find(chosen.begin(), chosen.end(), &p) != chosen.end()) continue;
      double fresh = 1;
      for (const Point* other : chosen) {
        const double far = std::hypot(p.at[0] - other->at[0], p.at[1] - other->at[1]);
        fresh = std::min(fresh, 1 - std::exp(-far));
      }
      if (fresh * p.width > most) {
        most = fresh * p.width;
        best = &p;
      }
    }
    if (best == nullptr) break;
    chosen.push_back(best);
    BenchRun run = best->run;
    if (const Status s = measure_bench(session, run); !s) return s.error();
    if (session.form() != Form::json) session.print(bench::bench_page(run.answer));
    if (run.answer.measured.finished > 0 && !run.answer.measured.stopped_early)
      answers.push_back(std::move(run.answer));
  }
  if (session.form() == Form::json) {
    Json all = Json::array();
    for (const bench::BenchAnswer& a : answers) all.push(bench::bench_json(a));
    session.print(Json::object().set("schema", "ridge.bench-suite/1").set("points", all).text());
  }
  if (!flags.learn.empty() && !answers.empty()) {
    if (const Status s = learn(session, flags.learn, answers); !s) return s.error();
  }
  const bool inside =
      std::all_of(answers.begin(), answers.end(), [](const bench::BenchAnswer& a) { return bench::all_inside(a); });
  return inside ? kFine : kCheckFailed;
}

}  // namespace ridge::cli
