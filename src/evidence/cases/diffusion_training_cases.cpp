#include "evidence/cases/diffusion_training_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/normal.hpp"
#include "evidence/rows/case_row.hpp"
#include "evidence/rows/errors.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::evidence {

namespace {

constexpr double kLoggedSpread = 0.15;  ///< of the logarithm: what the two values are weighed against their priors with
constexpr int kMostTrainers = 10'000'000;

/// "flux.1-schnell (256x256, MLPerf)": the model as the catalogue has it, and the pixels of a side.
void read_name(const std::string& text, DiffusionTrainingQuery& q) {
  const std::size_t open = text.find(" (");
  q.model = lower(text.substr(0, open));
  std::replace(q.model.begin(), q.model.end(), ' ', '-');
  if (open == std::string::npos) return;
  const std::size_t cross = text.find('x', open);
  if (cross == std::string::npos) return;
  q.width = parse_plain_number(text.substr(open + 2, cross - open - 2)).value_or(0);
  q.height = q.width;
}

DiffusionTrainingCase read_trained(CaseRow& row) {
  DiffusionTrainingCase c;
  for (const char* column : {"model", "device", "gpus", "global_batch", "step_time_s"}) row.require(column);
  c.id = row.text("id");
  DiffusionTrainingQuery& q = c.query;
  read_name(std::string(row.text("model")), q);
  q.device = row.text("device");
  q.gpus = row.integer("gpus", 1, kMostTrainers).value_or(1);
  q.tp = row.integer("tp", 1, kMostTrainers).value_or(1);
  q.global_batch = row.number("global_batch", 1, 1e9).value_or(0);
  q.micro_batch = row.number("micro_batch", 1, 1e6).value_or(0);
  q.precision = row.format("precision");
  q.text_encoders = row.text("text_encoders") == "yes";
  c.submitter = row.text("submitter");
  c.step_s = row.number("step_time_s", 1e-6, 1e6).value_or(0);
  c.refusal = row.refusal();
  return c;
}

struct Trained {
  std::size_t case_index = 0;
  DiffusionTrainingAnswer answer;
};

const Parameter& training_parameter(const Calibration& c, std::string_view name) {
  return *std::find_if(c.parameters().begin(), c.parameters().end(),
                       [&](const Parameter& p) { return p.name == name; });
}

class TrainedFit {
 public:
  TrainedFit(const std::vector<DiffusionTrainingCase>& cases, const std::vector<Trained>& trained,
             const Calibration& calibration)
      : cases_(cases),
        trained_(trained),
        passes_(training_parameter(calibration, "diffusion_training.passes")),
        around_(training_parameter(calibration, "diffusion_training.around")) {
    for (const Trained& t : trained_) ++rows_[cases_[t.case_index].submitter];
  }

  /// By rows of all submitters but one.
  DiffusionTrainingFactors without(std::string_view submitter) const {
    DiffusionTrainingFactors f{passes_.prior, around_.prior, 0};
    double best = loss(f, submitter);
    for (double step = 0.4; step > 0.002; step *= 0.5) {
      bool moved = true;
      while (moved) {
        moved = false;
        for (const double by : {std::exp(step), std::exp(-step)}) {
          for (const bool first : {true, false}) {
            DiffusionTrainingFactors tried = f;
            const Parameter& p = first ? passes_ : around_;
            double& value = first ? tried.passes : tried.around;
            value = std::clamp(value * by, p.low, p.high);
            const double l = loss(tried, submitter);
            if (l >= best - 1e-9) continue;
            best = l;
            f = tried;
            moved = true;
          }
        }
      }
    }
    return f;
  }

 private:
  [[nodiscard]] double loss(const DiffusionTrainingFactors& f, std::string_view without) const {
    const auto prior = [](double value, const Parameter& p) {
      const double z = std::log(value / p.prior) / p.spread;
      return 0.5 * z * z;
    };
    double sum = prior(f.passes, passes_) + prior(f.around, around_);
    for (const Trained& t : trained_) {
      const DiffusionTrainingCase& c = cases_[t.case_index];
      if (c.submitter == without) continue;
      const double z = std::log(c.step_s / compose(t.answer.parts, f, 1).step_s.mid) / kLoggedSpread;
      // A submitter of many rows has one stack; errors weigh by their size, so that one row does not decide.
      sum += std::abs(z) / std::sqrt(static_cast<double>(rows_.at(c.submitter)));
    }
    return sum;
  }

  const std::vector<DiffusionTrainingCase>& cases_;
  const std::vector<Trained>& trained_;
  const Parameter& passes_;
  const Parameter& around_;
  std::map<std::string, int> rows_;
};

FoldLine trained_line(std::string what, const std::vector<DiffusionTrainingRow>& rows,
                      const std::vector<DiffusionTrainingCase>& cases,
                      const std::function<bool(const DiffusionTrainingCase&)>& keep) {
  std::vector<Comparison> left_out, own;
  for (const DiffusionTrainingRow& r : rows) {
    const DiffusionTrainingCase& c = cases[r.case_index];
    if (!keep(c)) continue;
    left_out.push_back({c.step_s, r.left_out.mid, r.left_out.low, r.left_out.high});
    own.push_back({c.step_s, r.predicted.mid, r.predicted.low, r.predicted.high});
  }
  return fold_line(std::move(what), left_out, own);
}

}  // namespace

Result<std::vector<DiffusionTrainingCase>> read_diffusion_training_cases(std::string csv, const std::string& name) {
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  std::vector<DiffusionTrainingCase> out;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    out.push_back(read_trained(row));
  }
  return out;
}

DiffusionTrainingFindings judge_diffusion_training(const std::vector<DiffusionTrainingCase>& cases,
                                                   const Knowledge& knowledge) {
  DiffusionTrainingFindings f;
  std::vector<Trained> trained;
  std::map<std::string, DiffusionTrainingFactors> left_out;
  std::map<std::string, int> models;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const DiffusionTrainingCase& c = cases[i];
    if (!c.refusal.empty()) {
      f.refused.push_back(c.refusal);
      continue;
    }
    Result<DiffusionTrainingAnswer> a = answer(c.query, knowledge);
    if (!a || a->reason != Reason::none) {
      f.refused.push_back(fmt::format("{}: {}", c.id, a ? std::string(name(a->reason)) : a.error().message));
      continue;
    }
    trained.push_back({i, *std::move(a)});
    left_out[c.submitter] = {};
    ++models[c.query.model];
  }
  const TrainedFit fit(cases, trained, knowledge.calibration);
  const DiffusionTrainingFactors own = diffusion_training_factors(knowledge.calibration);
  f.chosen = fit.without({});
  for (auto& [submitter, factors] : left_out) {
    factors = fit.without(submitter);
    factors.spread = own.spread;
  }
  std::vector<double> off;
  for (const Trained& t : trained) {
    const DiffusionTrainingCase& c = cases[t.case_index];
    const double batch = c.query.global_batch;
    f.rows.push_back({t.case_index, compose(t.answer.parts, own, batch).step_s,
                      compose(t.answer.parts, left_out.at(c.submitter), batch).step_s});
    off.push_back(std::abs(std::log(c.step_s / f.rows.back().left_out.mid)));
  }
  if (!off.empty()) f.chosen.spread = quantile(std::move(off), 0.8) / kNormal90;
  f.lines.push_back(trained_line("step", f.rows, cases, [](const DiffusionTrainingCase&) { return true; }));
  for (const auto& [model, rows] : models) {
    f.lines.push_back(trained_line("step, " + model, f.rows, cases,
                                   [&m = model](const DiffusionTrainingCase& c) { return c.query.model == m; }));
  }
  for (const auto& [submitter, factors] : left_out) {
    f.lines.push_back(trained_line("step, by " + submitter, f.rows, cases,
                                   [&s = submitter](const DiffusionTrainingCase& c) { return c.submitter == s; }));
  }
  return f;
}

}  // namespace ridge::evidence
