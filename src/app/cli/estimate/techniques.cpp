// ridge estimate techniques: what each gains for this plan, beside what people quote.
#include "app/cli/estimate/estimate.hpp"
#include "report/estimate/techniques_report.hpp"

namespace ridge::cli {

Result<int> estimate_techniques(Session& session, const EstimateFlags& flags) {
  Result<InferenceQuestion> question = inference_question(flags, session.software_date());
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<std::string> directory = session.data_directory();
  if (!directory) return directory.error();
  const auto quotes = load_quoted_gains(*directory + "/techniques");
  if (!quotes) return quotes.error();
  const InferenceQuery asked = question->query;
  question->query = plain_plan(asked);
  const Result<InferenceAnswer> plain = answer_question(session, *question, *knowledge, false);
  if (!plain) return plain.error();
  if (plain->refusal) return refusal_error(*plain);
  InferenceQuery laid_out = plain->query;  // with the layout that was chosen
  laid_out.lora_rank = asked.lora_rank;
  laid_out.load = asked.load;
  const auto gains = technique_gains(laid_out, *knowledge);
  if (!gains) return gains.error();
  if (session.form() == Form::json) {
    session.print(report::techniques_json(*plain, *gains, *quotes).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::techniques_table(*gains, *quotes)));
  } else {
    session.print(report::techniques_page(*plain, *gains, *quotes));
  }
  return kFine;
}

}  // namespace ridge::cli
