// ridge estimate train: one plan, how it scales, and its pipeline as a trace.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/cli/estimate.hpp"
#include "app/cli/report_file.hpp"
#include "report/training_report.hpp"
#include "ridge/file.hpp"
#include "ridge/plan.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr int kMostLayers = 100'000;
constexpr double kMostFactor = 1000;
constexpr int kPageScale = 16;  ///< times the devices, to which the curve of a page goes where nothing is said
constexpr int kMostSequences = 100'000'000;

Error wrong(std::string_view flag, std::string message) {
  return {ErrorCode::bad_input, std::string(flag), std::move(message)};
}

template <class T>
Status take(const Result<T>& from, T& into) {
  if (!from) return from.error();
  into = *from;
  return {};
}

/// One of a few words; the value stays if the flag was not given.
template <class E, std::size_t N>
Status choose(const EstimateFlags& flags, std::string_view flag,
              const std::array<std::pair<std::string_view, E>, N>& words, E& into) {
  if (!flags.given(flag)) return {};
  std::string known;
  for (const auto& [word, value] : words) {
    if (word == flags.value(flag)) {
      into = value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return wrong(flag, fmt::format("{} is none of {}", quoted(flags.value(flag)), known));
}

class TrainingQuestioner {
 public:
  TrainingQuestioner(const EstimateFlags& flags, const std::string& as_of) : flags_(flags) { out_.query.date = as_of; }

  Result<TrainingQuestion> run() {
    for (const auto step : {&TrainingQuestioner::names, &TrainingQuestioner::layout, &TrainingQuestioner::batch,
                            &TrainingQuestioner::words, &TrainingQuestioner::extras, &TrainingQuestioner::experts,
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
    TrainingQuery& q = out_.query;
    if (!flags_.given("--model")) {
      return wrong("--model", "name a model, for example --model llama3.1-70b; `ridge show models` lists them");
    }
    q.model = flags_.value("--model");
    q.device = flags_.value("--device");
    q.system = flags_.value("--system");
    if (q.device.empty() && q.system.empty()) {
      return wrong("--device", "name a device, for example --device h100-sxm; `ridge show devices` lists them");
    }
    if (flags_.given("--engine")) {
      q.engine = flags_.value("--engine");
    } else {
      assume("engine {}", q.engine);
    }
    q.engine_version = flags_.value("--engine-version");
    if (flags_.given("--precision")) {
      const Result<Format> format = parse_format(flags_.value("--precision"));
      if (!format) return wrong("--precision", format.error().message);
      q.precision = *format;
      q.block_scales = flags_.value("--precision") == "fp8-block";
    }
    return {};
  }

  Status layout() {
    TrainingPlan& p = out_.query.plan;
    if (!flags_.given("--gpus") && !flags_.given("--from")) {
      return wrong("--gpus", "say how many devices, for example --gpus 512");
    }
    const std::pair<const char*, int*> degrees[] = {{"--tp", &p.tp}, {"--pp", &p.pp},    {"--cp", &p.cp},
                                                    {"--ep", &p.ep}, {"--etp", &p.etp},  {"--vp", &p.vp},
                                                    {"--dp", &p.dp}, {"--gpus", &p.gpus}};
    for (const auto& [flag, into] : degrees) {
      if (const Status s = take(flags_.whole(flag, *into, 1, kMostDevices), *into); !s) return s;
    }
    const double product = 1.0 * p.tp * p.pp * p.cp * std::max(p.dp, 1);
    if (product > kMostDevices) return too_many_devices("--tp", product);
    if (!flags_.given("--gpus")) {
      if (const Status s = take(flags_.whole("--from", 1, 1, kMostDevices), p.gpus); !s) return s;
    }
    out_.freedom.tp = !flags_.given("--tp");
    out_.freedom.pp = !flags_.given("--pp");
    out_.freedom.ep = !flags_.given("--ep");
    return {};
  }

  Status batch() {
    TrainingPlan& p = out_.query.plan;
    if (const Status s = take(flags_.whole("--seq-length", p.sequence, 1, kMostSequences), p.sequence); !s) return s;
    if (const Status s = take(flags_.whole("--global-batch", 1, 1, kMostSequences), p.global_batch); !s) return s;
    if (const Status s = take(flags_.whole("--micro-batch", 1, 1, kMostSequences), p.micro_batch); !s) return s;
    out_.freedom.sequence = !flags_.given("--seq-length");
    out_.freedom.global_batch = !flags_.given("--global-batch");
    out_.freedom.micro_batch = !flags_.given("--micro-batch");
    return {};
  }

  Status words() {
    TrainingQuery& q = out_.query;
    if (flags_.given("--sharding")) {
      const Result<Sharding> sharding = parse_sharding(flags_.value("--sharding"));
      if (!sharding) return wrong("--sharding", sharding.error().message);
      q.plan.sharding = *sharding;
    }
    if (flags_.given("--recompute")) {
      const Result<Recompute> recompute = parse_recompute(flags_.value("--recompute"));
      if (!recompute) return wrong("--recompute", recompute.error().message);
      q.plan.recompute = *recompute;
    }
    if (flags_.given("--task")) {
      const Result<TrainingTask> task = parse_training_task(flags_.value("--task"));
      if (!task) return wrong("--task", task.error().message);
      q.task = *task;
    }
    static constexpr std::array<std::pair<std::string_view, Schedule>, 5> kSchedules = {
        {{"1f1b", Schedule::one_f_one_b},
         {"interleaved", Schedule::interleaved},
         {"zero-bubble", Schedule::zero_bubble},
         {"dualpipe", Schedule::dual_pipe},
         {"dual-pipe", Schedule::dual_pipe}}};
    if (const Status s = choose(flags_, "--schedule", kSchedules, q.plan.schedule); !s) return s;
    out_.freedom.schedule = !flags_.given("--schedule");
    if (flags_.given("--schedule") && q.plan.schedule == Schedule::one_f_one_b && !flags_.given("--vp")) {
      q.plan.vp = 1;  // who asks for it by name wants whole stages
    }
    if (q.plan.schedule == Schedule::interleaved && q.plan.vp == 1) {
      return wrong("--vp", "an interleaved schedule has at least two chunks per stage; say --schedule 1f1b for one");
    }
    static constexpr std::array<std::pair<std::string_view, ContextParallel>, 3> kKinds = {
        {{"ring", ContextParallel::ring},
         {"all-gather", ContextParallel::all_gather},
         {"ulysses", ContextParallel::ulysses}}};
    return choose(flags_, "--cp-kind", kKinds, q.plan.context);
  }

  Status extras() {
    TrainingQuery& q = out_.query;
    q.mtp = flags_.is_on("--mtp");
    if (flags_.given("--lora-rank")) {
      if (const Status s = take(flags_.whole("--lora-rank", q.lora_rank, 1, 4096), q.lora_rank); !s) return s;
      if (flags_.given("--task") && q.task != TrainingTask::lora) {
        return wrong("--lora-rank", "is of adapters: say --task lora, or leave it out");
      }
      q.task = TrainingTask::lora;
    }
    double offload = 0;
    if (const Status s = take(flags_.share("--offload", 0), offload); !s) return s;
    q.plan.offload = static_cast<float>(offload);
    q.plan.offload_optimizer = flags_.is_on("--offload-optimizer");
    if (const Status s = take(flags_.whole("--wide-layers", 0, 0, kMostLayers), q.wide_layers); !s) return s;
    if (flags_.given("--shard-group")) {
      if (q.plan.sharding != Sharding::hsdp) return wrong("--shard-group", "is of --sharding hsdp");
      if (const Status s = take(flags_.whole("--shard-group", 0, 1, kMostDevices), q.plan.shard_group); !s) return s;
    }
    if (const Status s = take(flags_.count("--tokens", 0, 1, 1e18), out_.tokens); !s) return s;
    if (!flags_.given("--power-cap")) return {};
    const Result<Watts> cap = parse_quantity<Watts>(flags_.value("--power-cap"));
    if (!cap) return wrong("--power-cap", cap.error().message);
    if (*cap <= Watts(0)) return wrong("--power-cap", "write a power above 0, for example 500W");
    q.power_cap = cap->value();
    return {};
  }

  Status experts() {
    TrainingPlan& p = out_.query.plan;
    double imbalance = 1;
    double capacity = 0;
    if (const Status s = take(flags_.count("--imbalance", 1, 1, kMostFactor), imbalance); !s) return s;
    if (const Status s = take(flags_.count("--capacity", 0, 1, kMostFactor), capacity); !s) return s;
    p.imbalance = static_cast<float>(imbalance);
    p.capacity = static_cast<float>(capacity);
    return {};
  }

  Status cluster() {
    TrainingCluster& c = out_.query.cluster;
    if (const Status s = take(flags_.count("--oversubscription", 0, 1, kMostFactor), c.oversubscription); !s) return s;
    if (const Status s = take(flags_.whole("--pod", 0, 1, kMostDevices), c.pod); !s) return s;
    static constexpr std::array<std::pair<std::string_view, SwitchReduction>, 4> kReductions = {
        {{"none", SwitchReduction::none},
         {"nvls", SwitchReduction::scale_up},
         {"sharp", SwitchReduction::scale_out},
         {"both", SwitchReduction::both}}};
    if (const Status s = choose(flags_, "--reduction", kReductions, c.reduction); !s) return s;
    static constexpr std::array<std::pair<std::string_view, RankOrder>, 2> kOrders = {
        {{"tp-cp-ep-dp-pp", RankOrder::data_before_pipeline}, {"tp-cp-ep-pp-dp", RankOrder::pipeline_before_data}}};
    if (const Status s = choose(flags_, "--rank-order", kOrders, c.order); !s) return s;
    if (const Status s = take(flags_.count("--data-bytes", c.data_bytes, 0.1, 1e9), c.data_bytes); !s) return s;
    if (!flags_.given("--data-rate")) {
      if (flags_.given("--data-bytes"))
        return wrong("--data-bytes", "is read at --data-rate: add it, for example 2GB/s");
      assume("reading the data set never limits");
      return {};
    }
    const Result<BytesPerSecond> rate = parse_quantity<BytesPerSecond>(flags_.value("--data-rate"));
    if (!rate) return wrong("--data-rate", rate.error().message);
    if (*rate <= BytesPerSecond(0)) return wrong("--data-rate", "write a rate above 0, for example 2GB/s");
    c.data_rate = rate->value();
    return {};
  }

  Status curve() {
    if (!flags_.given("--scale")) {
      for (const std::string_view flag : {"--from", "--to", "--svg"}) {
        if (flags_.given(flag)) return wrong(flag, "is of a curve: say --scale weak or --scale strong");
      }
      return {};
    }
    static constexpr std::array<std::pair<std::string_view, Scaling>, 2> kScalings = {
        {{"weak", Scaling::weak}, {"strong", Scaling::strong}}};
    Scaling scaling = Scaling::weak;
    if (const Status s = choose(flags_, "--scale", kScalings, scaling); !s) return s;
    out_.scaling = scaling;
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

Error refusal_error(const TrainingAnswer& answer) {
  std::string text =
      fmt::format("{} on {} cannot run: {}", answer.query.model, report::training_text(answer), answer.refusal->why);
  std::size_t width = 0;
  for (const NearestPlan& plan : answer.refusal->nearest) width = std::max(width, plan.change.size());
  for (const NearestPlan& plan : answer.refusal->nearest) {
    text += fmt::format("\n  {:<{}}  {}", plan.change, width, plan.effect);
  }
  return {ErrorCode::infeasible, "", std::move(text)};
}

}  // namespace

Result<TrainingQuestion> training_question(const EstimateFlags& flags, const std::string& as_of) {
  return TrainingQuestioner(flags, as_of).run();
}

Result<int> estimate_train(Session& session, const EstimateFlags& flags) {
  const Result<TrainingQuestion> question = training_question(flags, session.options().as_of);
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
  report::TrainingReportOptions options{.tokens = question->tokens, .usd_per_gpu_hour = {}};
  std::optional<ScalingCurve> curve;
  if (question->scaling && !answer->refusal) {
    curve = scaling(*answer, *question->scaling, question->from, question->to);
  }
  if ((question->scaling || flags.given("--html")) && !answer->refusal) {  // both price the curve
    Buyer buyer;
    buyer.date = session.options().as_of;
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
    return refusal_error(*answer);
  }
  if (flags.given("--trace")) {
    const Result<std::string> trace = report::pipeline_trace(*answer);
    if (!trace) return trace.error();
    if (const Status s = write_file_atomically(flags.value("--trace"), *trace); !s) return s.error();
  }
  if (flags.given("--svg")) {
    const std::string title = fmt::format("Train {} on {}", answer->query.model, answer->facts.device);
    const Status s = write_file_atomically(flags.value("--svg"), report::scaling_svg(*curve, title));
    if (!s) return s.error();
  }
  if (flags.given("--html")) {
    const int gpus = answer->query.plan.gpus;
    const ScalingCurve shown = curve ? *curve : scaling(*answer, Scaling::weak, gpus, kPageScale * gpus);
    const report::Provenance provenance{
        report::sources_of(knowledge->catalogue, {answer->query.model}, {answer->facts.device}), command_text(session)};
    const Status s =
        write_file_atomically(flags.value("--html"), report::training_html(*answer, options, shown, provenance));
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
