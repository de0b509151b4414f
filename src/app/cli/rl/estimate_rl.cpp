// ridge estimate rl: one step by phase, who waits for whom, days and dollars.
#include <fmt/format.h>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/rl/question.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/rl/report.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "ridge/search/plan.hpp"

namespace ridge::cli {

namespace {

Error rl_refusal(const RlAnswer& a) {
  const std::string text =
      fmt::format("{} on {} × {} cannot run: {}", a.query.model, a.query.gpus, a.query.device, a.refusal->why);
  return {ErrorCode::infeasible, "", text + nearest_lines(*a.refusal)};
}

}  // namespace

Error of_rl_flag(Error error) {
  if (error.where == "answer lengths") error.where = "answer_tokens";
  if (const ask::Field* field = ask::find_field(error.where)) error.where = ask::flag_of(*field);
  return error;
}

Result<RlQuery> rl_question(const EstimateFlags& flags, const std::string& as_of) {
  RlQuery q;
  q.date = as_of;
  if (!flags.given("--model")) return wrong("--model", "name a model, for example --model qwen2.5-7b");
  if (!flags.given("--device") && !flags.given("--system")) {
    return wrong("--device", "name a device, for example --device h100-sxm");
  }
  if (!flags.given("--gpus")) return wrong("--gpus", "say how many devices, for example --gpus 32");
  if (flags.given("--answer-lengths")) {
    for (const std::string_view flag : {"--answer-tokens", "--answer-cv", "--answer-most"}) {
      if (flags.given(flag)) return wrong(flag, "is said by --answer-lengths: leave one of them out");
    }
  }
  if (const Status s = flags.read(q); !s) return s.error();
  InferenceQuery engine;  // of what describes engines alone
  if (const Status s = flags.read(engine); !s) return s.error();
  q.generation.memory_utilization = engine.memory_utilization;
  q.generation.max_sequences = engine.max_sequences;
  q.generation.kv = engine.kv;
  q.model = q.training.model;
  q.device = q.training.device;
  q.system = q.training.system;
  q.gpus = q.training.plan.gpus;
  if (q.gpus > kMostDevices) return too_many_devices("--gpus", q.gpus);
  const double product = 1.0 * q.training.plan.tp * q.training.plan.pp * q.training.plan.cp;
  if (product > kMostDevices) return too_many_devices("--tp", product);
  if (1.0 * q.generation.tp * q.generation.pp > kMostDevices) return too_many_devices("--gen-tp", kMostDevices + 1.0);
  if (flags.given("--lora-rank")) q.lora_rank = q.training.lora_rank;
  if (flags.given("--steps")) {
    const Result<double> steps = flags.count("--steps", 0, 1, 1e7);
    if (!steps) return steps.error();
    q.steps = *steps;
  }
  q.freedom = {.tp = !flags.given("--tp"),
               .pp = !flags.given("--pp"),
               .ep = !flags.given("--ep"),
               .micro_batch = !flags.given("--micro-batch")};
  const bool flows = q.placement == RlPlacement::asynchronous;
  if (!flows && flags.given("--staleness")) return wrong("--staleness", "is of --placement async");
  if (!flows && flags.is_on("--partial-rollouts")) return wrong("--partial-rollouts", "is of --placement async");
  if (flags.given("--critic") && q.algorithm != RlAlgorithm::ppo) return wrong("--critic", "is of --algorithm ppo");
  return q;
}

Result<int> estimate_rl(Session& session, const EstimateFlags& flags) {
  const Result<RlQuery> question = rl_question(flags, session.software_date());
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  Result<RlAnswer> a = ridge::answer(*question, *knowledge, {.patience = session.patience()});
  if (const Status s = session.in_time(); !s) return s.error();
  if (!a) return of_rl_flag(a.error());
  add_changes(session, a->assumptions);
  report::RlReportOptions options;
  if (question->steps > 0 && !a->refusal) {
    Buyer buyer;
    buyer.date = session.price_date();
    if (const auto price = price_of(knowledge->catalogue, a->generation.device, buyer, nullptr)) {
      options.usd_per_gpu_hour = price->mid;
      a->assumptions.push_back(fmt::format("${} a GPU-hour, the {}", format_number(price->mid), price->basis));
    }
  }
  if (session.form() == Form::json) {
    session.print(report::rl_json(*a, options).text());
    return a->refusal ? kRefused : kFine;
  }
  if (a->refusal) return rl_refusal(*a);
  if (flags.given("--html")) {
    const report::Provenance provenance{
        report::sources_of(knowledge->catalogue, {a->query.model}, {a->generation.device}), command_text(session)};
    const Status s = session.files().write(flags.value("--html"), report::rl_html(*a, options, provenance));
    if (!s) return s.error();
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(report::rl_table(*a)));
  } else {
    session.print(report::rl_page(*a, options));
  }
  return kFine;
}

}  // namespace ridge::cli
