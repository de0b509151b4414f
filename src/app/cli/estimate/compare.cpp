// ridge estimate compare: every combination of the lists among the flags, side by side.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "report/estimate/compare_report.hpp"

namespace ridge::cli {

namespace {

constexpr std::string_view kAxes[] = {"--model",     "--device",           "--system",       "--gpus",  "--tp",
                                      "--precision", "--weight-precision", "--kv-precision", "--engine"};
constexpr std::size_t kMostPlans = 100;

/// Flags with one value each, for every combination.
Result<std::vector<EstimateFlags>> combinations(const EstimateFlags& flags) {
  std::vector<EstimateFlags> all = {flags};
  for (const std::string_view axis : kAxes) {
    if (!flags.given(axis)) continue;
    const Result<std::vector<std::string>> values = split_list(axis, flags.value(axis));
    if (!values) return values.error();
    if (all.size() * values->size() > kMostPlans) {
      return Error{ErrorCode::bad_input, std::string(axis),
                   fmt::format("these lists make more than {} plans: leave some out", kMostPlans)};
    }
    std::vector<EstimateFlags> wider;
    for (const EstimateFlags& one : all) {
      for (const std::string& value : *values) wider.emplace_back(one).set(axis, value);
    }
    all.swap(wider);
  }
  return all;
}

}  // namespace

Result<int> estimate_compare(Session& session, const EstimateFlags& flags) {
  const Result<std::vector<EstimateFlags>> plans = combinations(flags);
  if (!plans) return plans.error();
  std::vector<InferenceQuestion> questions;
  for (const EstimateFlags& plan : *plans) {
    Result<InferenceQuestion> question = inference_question(plan, session.software_date());
    if (!question) return question.error();
    questions.push_back(*std::move(question));
  }
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const bool explain = flags.given("--html");
  std::vector<InferenceAnswer> answers;
  for (const InferenceQuestion& question : questions) {
    Result<InferenceAnswer> answer = answer_question(session, question, *knowledge, explain);
    if (!answer) return answer.error();
    answers.push_back(*std::move(answer));
  }
  if (explain) {
    const Status written = session.files().write(flags.value("--html"), report::compare_html(answers));
    if (!written) return written.error();
  }
  const bool none = std::all_of(answers.begin(), answers.end(), [](const auto& a) { return a.refusal.has_value(); });
  if (session.form() == Form::json) {
    session.print(report::compare_json(answers).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::compare_table(answers)));
  } else {
    session.print(report::compare_page(answers));
  }
  return none ? kRefused : kFine;
}

}  // namespace ridge::cli
