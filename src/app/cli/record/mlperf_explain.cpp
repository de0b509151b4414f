// ridge mlperf explain: submissions beside what the engine predicts for them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/record/mlperf.hpp"
#include "app/cli/session/progress.hpp"
#include "report/record/mlperf_report.hpp"

namespace ridge::cli {

namespace {

using mlperf::Explanation;

double median_of_sorted(const std::vector<double>& values) {
  return values[values.size() / 2];
}

/// Runs of one benchmark need about the same number of tokens: how far the implied numbers spread is how far the
/// predicted rates are from each other's truth.
std::vector<std::string> training_remarks(const std::vector<Explanation>& explanations) {
  std::map<std::string, std::vector<double>> implied;
  for (const Explanation& e : explanations) {
    if (e.implied_tokens) implied[e.row->benchmark].push_back(*e.implied_tokens);
  }
  std::vector<std::string> remarks;
  for (auto& [benchmark, tokens] : implied) {
    std::sort(tokens.begin(), tokens.end());
    const double median = median_of_sorted(tokens);
    std::vector<double> away;
    for (const double t : tokens) away.push_back(std::abs(t / median - 1));
    std::sort(away.begin(), away.end());
    remarks.push_back(fmt::format(
        "{}: {} tokens in the median of {} runs; they are {:.0f} % away from it in the median. Runs need about "
        "the same number of tokens (more with larger batches), so that this is how well the predicted rates "
        "agree with the times.",
        benchmark, format_count(median), tokens.size(), 100 * median_of_sorted(away)));
  }
  return remarks;
}

std::string accuracy(const std::vector<Explanation>& explanations) {
  std::vector<double> errors;
  for (const Explanation& e : explanations) {
    if (e.measured) errors.push_back(std::abs(e.predicted.mid / *e.measured - 1));
  }
  if (errors.empty()) return "";
  std::sort(errors.begin(), errors.end());
  return fmt::format(
      "{} results; |predicted / measured - 1| is {:.0f} % in the median, {:.0f} % at the 90th percentile.",
      errors.size(), 100 * median_of_sorted(errors), 100 * errors[errors.size() * 9 / 10]);
}

}  // namespace

int print_mlperf(Session& session, std::string_view command, const Table& table,
                 const std::vector<std::string>& remarks) {
  if (session.form() == Form::json) {
    Json json = Json::object();
    json.set("schema", report::kMlperfSchema).set("command", command).set("rows", to_json(table));
    Json list = Json::array();
    for (const std::string& remark : remarks) list.push(remark);
    json.set("assumptions", std::move(list));
    session.print(json.text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(table));
  } else {
    Document page;
    page.blocks.emplace_back(table);
    for (const std::string& remark : remarks) page.blocks.emplace_back(Paragraph{remark, Emphasis::faint});
    session.print(page);
  }
  return kFine;
}

Result<int> mlperf_explain(Session& session, const MlperfRecord& record, const mlperf::Row& row) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<Explanation> explanation = mlperf::explain(row, record.names, *knowledge);
  if (!explanation) return explanation.error();
  if (session.form() == Form::json) {
    session.print(report::mlperf_explanation_json(*explanation).text());
  } else if (session.form() == Form::csv) {
    const bool training = explanation->implied_tokens.has_value();
    session.print(to_csv(training ? report::mlperf_training_table({*explanation})
                                  : report::mlperf_prediction_table({*explanation})));
  } else {
    session.print(report::mlperf_explanation_page(*explanation));
  }
  return kFine;
}

Result<int> mlperf_explain(Session& session, const MlperfRecord& record, const mlperf::RowList& rows) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  std::vector<Explanation> explanations;
  std::map<std::string, int> refused;
  {
    Progress progress = session.progress("predicting");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      progress.show(static_cast<double>(i) / static_cast<double>(rows.size()));
      Result<Explanation> e = mlperf::explain(*rows[i], record.names, *knowledge);
      if (e) {
        explanations.push_back(*std::move(e));
      } else {
        ++refused[e.error().message.substr(e.error().message.find(": ") + 2)];
      }
    }
  }
  if (explanations.empty()) {
    // The reason of most, not the one that comes first by name.
    const auto usual = std::max_element(refused.begin(), refused.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string why = refused.empty() ? std::string() : ": " + usual->first;
    if (refused.size() > 1) {
      why += fmt::format(" ({} of {}; {} others for other reasons)", usual->second, rows.size(),
                         rows.size() - static_cast<std::size_t>(usual->second));
    }
    return Error{ErrorCode::refused, "", "none of these results is modelled" + why};
  }
  const bool training = explanations.front().implied_tokens.has_value();
  std::vector<std::string> remarks = training ? training_remarks(explanations) : std::vector{accuracy(explanations)};
  for (const auto& [why, count] : refused) remarks.push_back(fmt::format("{} not modelled: {}.", count, why));
  return print_mlperf(
      session, "explain",
      training ? report::mlperf_training_table(explanations) : report::mlperf_prediction_table(explanations), remarks);
}

}  // namespace ridge::cli
