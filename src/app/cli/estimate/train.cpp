// ridge estimate train: one plan, how it scales, and its pipeline as a trace.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/report_file.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/training/report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"
#include "ridge/search/plan.hpp"

namespace ridge::cli {

namespace {

constexpr int kPageScale = 16;  ///< times the devices, to which the curve of a page goes where nothing is said

class TrainingQuestioner {
 public:
  TrainingQuestioner(const EstimateFlags& flags, const std::string& as_of) : flags_(flags) { out_.query.date = as_of; }

  Result<TrainingQuestion> run() {
    if (const Status s = names(); !s) return s.error();
    if (const Status s = flags_.read(out_.query); !s) return s.error();
    for (const auto step : {&TrainingQuestioner::layout, &TrainingQuestioner::words, &TrainingQuestioner::extras,
                            &TrainingQuestioner::cluster, &TrainingQuestioner::curve}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    out_.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status names() {
    if (!flags_.given("--model")) {
      return wrong("--model", "name a model, for example --model llama3.1-70b; `ridge show models` lists them");
    }
    if (!flags_.given("--device") && !flags_.given("--system")) {
      return wrong("--device", "name a device, for example --device h100-sxm; `ridge show devices` lists them");
    }
    for (const std::string_view flag : {"--resolution", "--frames", "--steps", "--text-encoders"}) {
      if (!flags_.given(flag) && !flags_.is_on(flag)) continue;
      return wrong(flag, out_.query.model.empty() ? "is of models that make images or clips"
                                                  : out_.query.model + " makes no images: leave it out");
    }
    return {};
  }

  Status layout() {
    TrainingPlan& p = out_.query.plan;
    // Adapters are mostly trained on one device; everything else starts with the question of how many.
    const bool one = out_.query.task == TrainingTask::lora || flags_.given("--lora-rank") || flags_.given("--frozen");
    if (!flags_.given("--gpus") && !flags_.given("--from") && !one) {
      return wrong("--gpus",
                   "say how many devices, for example --gpus 8; `ridge plan train` finds how many a run needs");
    }
    const double product = 1.0 * p.tp * p.pp * p.cp * std::max(p.dp, 1);
    if (product > kMostDevices) return too_many_devices("--tp", product);
    if (p.gpus > kMostDevices) return too_many_devices("--gpus", p.gpus);
    if (!flags_.given("--gpus")) {
      if (const Status s = take(flags_.whole("--from", static_cast<int>(product), 1, kMostDevices), p.gpus); !s)
        return s;
      if (!flags_.given("--from")) assume("{:.0f} device{}", product, product == 1 ? "" : "s");
    }
    out_.freedom.tp = !flags_.given("--tp");
    out_.freedom.pp = !flags_.given("--pp");
    out_.freedom.ep = !flags_.given("--ep");
    out_.freedom.sequence = !flags_.given("--seq-length");
    out_.freedom.global_batch = !flags_.given("--global-batch");
    out_.freedom.micro_batch = !flags_.given("--micro-batch");
    return {};
  }

  Status words() {
    TrainingQuery& q = out_.query;
    out_.freedom.schedule = !flags_.given("--schedule");
    if (flags_.given("--schedule") && q.plan.schedule == Schedule::one_f_one_b && !flags_.given("--vp")) {
      q.plan.vp = 1;  // who asks for it by name wants whole stages
    }
    if (q.plan.schedule == Schedule::interleaved && q.plan.vp == 1) {
      return wrong("--vp", "an interleaved schedule has at least two chunks per stage; say --schedule 1f1b for one");
    }
    return {};
  }

  Status extras() {
    TrainingQuery& q = out_.query;
    for (const char* flag : {"--lora-rank", "--frozen"}) {
      if (!flags_.given(flag)) continue;
      if (flags_.given("--task") && q.task != TrainingTask::lora) {
        return wrong(flag, "is of adapters: say --task lora, or leave it out");
      }
      q.task = TrainingTask::lora;
    }
    for (const char* flag : {"--packing", "--example-cv"}) {
      if (!flags_.given(flag) || flags_.given("--example-tokens")) continue;
      return wrong(flag, "is of examples shorter than a row: say how long they are, for example --example-tokens 400");
    }
    if (flags_.given("--example-tokens") && q.task == TrainingTask::pretrain) {
      return wrong("--example-tokens", "is of fine-tuning: say --task sft or --task lora");
    }
    if (!flags_.given("--engine")) {
      q.engine = usual_training_engine(q.task);
      assume("engine {}", q.engine);
    }
    if (flags_.given("--shard-group") && q.plan.sharding != Sharding::hsdp) {
      return wrong("--shard-group", "is of --sharding hsdp");
    }
    return take(flags_.count("--tokens", 0, 1, 1e18), out_.tokens);
  }

  Status cluster() {
    if (flags_.given("--data-rate")) return {};
    if (flags_.given("--data-bytes")) {
      return wrong("--data-bytes", "is read at --data-rate: add it, for example 2GB/s");
    }
    assume("reading the data set never limits");
    return {};
  }

  Status curve() {
    if (!flags_.given("--scale")) {
      for (const std::string_view flag : {"--from", "--to", "--svg"}) {
        if (flags_.given(flag)) return wrong(flag, "is of a curve: say --scale weak or --scale strong");
      }
      return {};
    }
    const Result<double> scaling = ask::read_value(*ask::find_field("scale"), flags_.value("--scale"));
    if (!scaling) return wrong("--scale", scaling.error().message);
    out_.scaling = *scaling == 0 ? Scaling::weak : Scaling::strong;
    const int gpus = out_.query.plan.gpus;
    if (const Status s = take(flags_.whole("--from", gpus, 1, kMostDevices), out_.from); !s) return s;
    if (const Status s = take(flags_.whole("--to", std::max(out_.from, gpus) * 16, 1, kMostDevices), out_.to); !s)
      return s;
    if (out_.to < out_.from) return wrong("--to", "the curve ends before it starts: write at least --from");
    return {};
  }

  const EstimateFlags& flags_;
  TrainingQuestion out_;
};

Error training_refusal(const TrainingAnswer& answer) {
  const std::string text =
      fmt::format("{} on {} cannot run: {}", answer.query.model, report::training_text(answer), answer.refusal->why);
  return {ErrorCode::infeasible, "", text + nearest_lines(*answer.refusal)};
}

}  // namespace

Result<TrainingQuestion> training_question(const EstimateFlags& flags, const std::string& as_of) {
  return TrainingQuestioner(flags, as_of).run();
}

Result<int> estimate_train(Session& session, const EstimateFlags& flags) {
  if (flags.given("--model")) {
    const Result<const Catalogue*> catalogue = session.catalogue();
    if (!catalogue) return catalogue.error();
    const Result<Model> model = (*catalogue)->find_model(flags.value("--model"));
    if (model && model->type != ModelType::language) return estimate_diffusion_training(session, flags);
  }
  const Result<TrainingQuestion> question = training_question(flags, session.software_date());
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  Result<TrainingAnswer> answer = ridge::answer(question->query, question->freedom, *knowledge);
  if (!answer) return answer.error();
  auto& assumptions = answer->assumptions;
  assumptions.insert(assumptions.begin(), question->assumptions.begin(), question->assumptions.end());
  if (question->tokens > 0) {
    assumptions.emplace_back("days without failures, restarts and checkpoints: ridge goodput counts them");
  }
  for (const std::string& setting : session.options().settings) assumptions.push_back("what if " + setting);
  report::TrainingReportOptions options{.tokens = question->tokens,
                                        .usd_per_gpu_hour = {},
                                        .sold_bytes = sold_memory(knowledge->catalogue, answer->facts.device)};
  std::optional<ScalingCurve> curve;
  if (question->scaling && !answer->refusal) {
    curve = scaling(*answer, *question->scaling, question->from, question->to);
  }
  if ((question->scaling || flags.given("--html")) && !answer->refusal) {  // both price the curve
    Buyer buyer;
    buyer.date = session.price_date();
    const auto price = price_of(knowledge->catalogue, answer->facts.device, buyer, nullptr);
    if (price) {
      options.usd_per_gpu_hour = price->mid;
      assumptions.push_back(fmt::format("${} a GPU-hour, the {}", format_number(price->mid), price->basis));
    }
  }
  if (session.form() == Form::json) {
    session.print(report::training_json(*answer, options, curve).text());
    if (answer->refusal) return kRefused;
  } else if (answer->refusal) {
    return training_refusal(*answer);
  }
  if (flags.given("--trace")) {
    const Result<std::string> trace = report::pipeline_trace(*answer);
    if (!trace) return trace.error();
    if (const Status s = session.files().write(flags.value("--trace"), *trace); !s) return s.error();
  }
  if (flags.given("--svg")) {
    const std::string title = fmt::format("Train {} on {}", answer->query.model, answer->facts.device);
    const Status s = session.files().write(flags.value("--svg"), report::scaling_svg(*curve, title));
    if (!s) return s.error();
  }
  if (flags.given("--html")) {
    const int gpus = answer->query.plan.gpus;
    const ScalingCurve shown = curve ? *curve : scaling(*answer, Scaling::weak, gpus, kPageScale * gpus);
    const report::Provenance provenance{
        report::sources_of(knowledge->catalogue, {answer->query.model}, {answer->facts.device}), command_text(session)};
    const Status s =
        session.files().write(flags.value("--html"), report::training_html(*answer, options, shown, provenance));
    if (!s) return s.error();
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(curve ? report::scaling_table(*curve, options.usd_per_gpu_hour)
                               : report::training_table(*answer, options)));
  } else if (session.form() != Form::json) {
    session.print(report::training_page(*answer, options, curve));
  }
  return kFine;
}

}  // namespace ridge::cli
