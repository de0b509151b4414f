#include "app/cli/cost/work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/pools.hpp"
#include "app/cli/session/wrong.hpp"
#include "perf/operators/positions.hpp"
#include "perf/operators/power.hpp"
#include "report/estimate/inference_report.hpp"
#include "report/training/report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge::cli {

namespace {

/// Trained tokens per second from an MFU: MFU x dense peak / FLOPs per token.
Status by_mfu(Session& session, const EstimateFlags& flags, const CostFlags& cost, CostWork& work) {
  const Result<double> mfu = cost.share("--mfu", 0);
  if (!mfu) return mfu.error();
  if (!(*mfu > 0)) return wrong("--mfu", "write a share above 0, for example 40%");
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Result<Model> model = (*catalogue)->find_model(flags.value("--model"));
  if (!model) return model.error();
  const Result<Device> device = (*catalogue)->find_device(work.device);
  if (!device) return device.error();
  Format format = Format::bf16;
  if (flags.given("--precision")) {
    const Result<Format> read = parse_format(flags.value("--precision"));
    if (!read) return wrong("--precision", read.error().message);
    format = *read;
  }
  const Result<int> sequence = flags.whole("--seq-length", usual_sequence(*model), 1, 100'000'000);
  if (!sequence) return sequence.error();
  if (!flags.given("--seq-length")) work.assumptions.push_back(fmt::format("sequences of {} tokens", *sequence));
  const Figure<FlopsPerSecond>& peak = device->peak(perf::peak_format(format));
  if (!peak) return wrong("--precision", fmt::format("{} has no dense peak in {}", device->id, name(format)));
  const double flops = training_flops_per_token(*model, *sequence);
  const double rate = tokens_per_s_at(*mfu, peak->value.value(), static_cast<int>(work.gpus), flops);
  work.tokens_per_s = Interval{rate, rate, rate};
  work.training = true;
  work.title = fmt::format("Train {} on {:.0f} × {} at {:.1f} % MFU, {}", work.model, work.gpus, work.device,
                           100 * *mfu, name(format));
  return {};
}

/// Requests alone, for what is paid by the token: one a second.
Status by_request(const EstimateFlags& flags, CostWork& work) {
  const Result<double> input = flags.count("--isl", usual::kInputTokens, 1, 1e8);
  if (!input) return input.error();
  const Result<double> output = flags.count("--osl", usual::kOutputTokens, 1, 1e8);
  if (!output) return output.error();
  work.input_tokens_per_s = *input;
  work.tokens_per_s = Interval{*output, *output, *output};
  work.requests_per_s = 1;
  work.title = fmt::format("{}, one request a second of {} tokens in and {} out", work.model, format_number(*input, 7),
                           format_number(*output, 7));
  return {};
}

Status by_inference(Session& session, const InferenceQuestion& question, CostWork& work) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<InferenceAnswer> answer = answer_question(session, question, *knowledge, false);
  if (!answer) return answer.error();
  if (answer->refusal) return refusal_error(*answer);
  if (question.query.load.mode == LoadMode::prefill) {
    return wrong("--prefill", "makes no tokens to pay for: leave it out");
  }
  const InferenceEstimate& e = answer->outcome.estimate;
  work.title = fmt::format("{} on {}", answer->query.model, report::deployment_text(*answer));
  work.gpus = answer->facts.gpus;
  work.device = answer->facts.device;
  work.tokens_per_s = e.output_tokens_per_s;
  work.input_tokens_per_s = std::max(0.0, e.total_tokens_per_s.mid - e.output_tokens_per_s.mid);
  work.requests_per_s = e.output_tokens_per_s.mid / answer->query.load.osl;
  work.prefill_share = e.prefill_share;
  if (e.power_w.mid > 0) work.device_power_w = e.power_w.mid / work.gpus;
  work.inference = answer->query;
  work.assumptions = answer->assumptions;
  return {};
}

/// Whole engines of both pools, as --pools says or as they balance. They are priced as one device, and have to be one.
Status by_pools(Session& session, const EstimateFlags& flags, CostWork& work) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<report::PoolsAnswer> pools = answer_pools(session, flags, *knowledge);
  if (!pools) return pools.error();
  const DeploymentFacts& prompts = pools->prefill.facts;
  const DeploymentFacts& tokens = pools->decode.facts;
  if (prompts.device != tokens.device) {
    return wrong("--prefill-device",
                 "two devices have two prices: leave it out, or let `ridge plan serve "
                 "--mixed-pools` weigh them");
  }
  const PoolsOutcome& o = pools->outcome;
  const auto [prefill, decode] = report::engines_of(*pools);
  const double pace = busy_engines(o, prefill, decode);
  work.title = fmt::format("{}: prefill on {} engines of {}, decode on {} of {}", pools->decode.query.model, prefill,
                           report::deployment_text(pools->prefill), decode, report::deployment_text(pools->decode));
  work.gpus = 1.0 * prefill * prompts.gpus + 1.0 * decode * tokens.gpus;
  work.device = tokens.device;
  work.tokens_per_s =
      Interval{pace * o.output_tokens_per_s.low, pace * o.output_tokens_per_s.mid, pace * o.output_tokens_per_s.high};
  const InferenceLoad& load = pools->decode.query.load;
  work.requests_per_s = work.tokens_per_s->mid / load.osl;
  work.input_tokens_per_s = work.requests_per_s * load.isl;
  work.prefill_share = prefill * prompts.gpus / work.gpus;
  if (o.power_w.mid > 0) work.device_power_w = o.power_w.mid / o.gpus;
  work.assumptions = pools->assumptions;
  return {};
}

Status by_training(Session& session, const TrainingQuestion& question, CostWork& work) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  Result<TrainingAnswer> answer = ridge::answer(question.query, question.freedom, *knowledge);
  if (!answer) return answer.error();
  if (answer->refusal) {
    return Error{ErrorCode::infeasible, "", fmt::format("the plan cannot run: {}", answer->refusal->why)};
  }
  const TrainingEstimate& e = answer->outcome.estimate;
  work.training = true;
  work.title = fmt::format("Train {} on {}", answer->query.model, report::training_text(*answer));
  work.gpus = answer->query.plan.gpus;
  work.device = answer->facts.device;
  work.tokens_per_s = e.tokens_per_s;
  if (e.power_w.mid > 0) work.device_power_w = e.power_w.mid / work.gpus;
  work.assumptions = question.assumptions;
  work.assumptions.insert(work.assumptions.end(), answer->assumptions.begin(), answer->assumptions.end());
  work.training_answer = *std::move(answer);
  return {};
}

template <class Question>
Result<CostWork> work_by(Session& session, const Question& question,
                         Status (*fill)(Session&, const Question&, CostWork&)) {
  CostWork work;
  work.model = question.query.model;
  work.power_cap_w = question.query.power_cap;
  if (const Status s = fill(session, question, work); !s) return s.error();
  return work;
}

}  // namespace

Result<CostWork> cost_work(Session& session, const EstimateFlags& flags, const CostFlags& cost) {
  CostWork work;
  work.model = flags.value("--model");
  work.device = flags.value("--device");
  work.system = flags.value("--system");
  const Result<int> gpus = flags.whole("--gpus", 1, 1, 10'000'000);
  if (!gpus) return gpus.error();
  work.gpus = *gpus;
  if (flags.given("--power-cap")) {
    const Result<Watts> cap = parse_quantity<Watts>(flags.value("--power-cap"));
    if (!cap) return wrong("--power-cap", cap.error().message);
    work.power_cap_w = cap->value();
  }
  if (work.device.empty() && !work.system.empty()) {
    const Result<const Catalogue*> catalogue = session.catalogue();
    if (!catalogue) return catalogue.error();
    const System* system = (*catalogue)->system(work.system);
    if (system == nullptr)
      return Error{ErrorCode::not_found, "--system", fmt::format("there is no system {}", quoted(work.system))};
    work.device = system->device;
    if (!flags.given("--gpus")) work.gpus = system->devices();
  }
  const Result<double> tokens = flags.count("--tokens", 0, 1, 1e18);
  if (!tokens) return tokens.error();
  work.run_tokens = *tokens;

  const bool estimate = !work.model.empty() && !work.device.empty() && !cost.given("--throughput");
  if (cost.given("--mfu")) {
    if (work.model.empty()) return wrong("--mfu", "needs --model: its FLOPs per token");
    if (work.device.empty()) return wrong("--mfu", "needs --device: its dense peak");
    if (const Status s = by_mfu(session, flags, cost, work); !s) return s.error();
  } else if (estimate) {
    // What only a training run has makes it one.
    const bool serving = flags.check(kInfer).ok();
    if (!serving && !flags.check(kTrain).ok()) return flags.check(kInfer).error();
    if (serving && flags.is_on("--disaggregate")) {
      if (const Status s = by_pools(session, flags, work); !s) return s.error();
    } else if (serving) {
      const Result<InferenceQuestion> question = inference_question(flags, session.software_date());
      if (!question) return question.error();
      if (const Status s = by_inference(session, *question, work); !s) return s.error();
    } else {
      const Result<TrainingQuestion> question = training_question(flags, session.software_date());
      if (!question) return question.error();
      if (const Status s = by_training(session, *question, work); !s) return s.error();
    }
  } else if (!work.model.empty() && work.device.empty() && !cost.given("--throughput")) {
    if (const Status s = by_request(flags, work); !s) return s.error();
  } else {
    work.training = flags.given("--tokens");
    if (!work.device.empty()) work.title = fmt::format("{:.0f} × {}", work.gpus, work.device);
  }
  return work;
}

Result<CostWork> work_of(Session& session, const InferenceQuestion& question) {
  return work_by(session, question, by_inference);
}

Result<CostWork> work_of(Session& session, const TrainingQuestion& question) {
  return work_by(session, question, by_training);
}

Result<CostWork> capped_work(Session& session, const CostWork& work, double cap_w) {
  CostWork capped = work;
  capped.power_cap_w = cap_w;
  Status s;
  if (work.inference) {
    InferenceQuestion question{*work.inference, {}};
    question.query.power_cap = cap_w;
    s = by_inference(session, question, capped);
  } else {
    TrainingQuestion question;
    question.query = work.training_answer->query;
    question.query.power_cap = cap_w;
    s = by_training(session, question, capped);
  }
  if (!s) return s.error();
  capped.assumptions = work.assumptions;
  return capped;
}

Result<CostAnswer> cost_of(Session& session, const EconomicsData& data, const CostWork& work, const CostFlags& flags,
                           CostMode mode) {
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  CostQuery query;
  query.mode = mode;
  query.device = work.device;
  query.system = work.system;
  query.model = work.model;
  query.as_of = session.price_date();
  query.device_power_w = work.device_power_w;
  query.power_cap_w = work.power_cap_w;
  if (const Status s = flags.fill(query); !s) return s.error();
  if (!work.device.empty()) {
    const Result<const Calibration*> calibration = session.calibration();
    if (!calibration) return calibration.error();
    if (const Result<Device> device = (*catalogue)->find_device(work.device)) {
      query.idle_share = perf::power_coefficients(**calibration, device->architecture).idle;
    }
  }
  Result<CostCase> made = cost_case(query, **catalogue, data);
  if (!made) return made.error();
  CostInputs& in = made->inputs;
  in.gpus = work.gpus;
  in.input_tokens_per_s = work.input_tokens_per_s;
  in.requests_per_s = work.requests_per_s;
  in.prefill_share = work.prefill_share;
  if (work.tokens_per_s) in.output_tokens_per_s = work.tokens_per_s->mid;
  const ask::ExchangeRates rates = with_known_rates(query.exchange, data, query.as_of);
  if (const Status s = flags.apply(*made, rates); !s) return s.error();
  if (!flags.given("--utilization"))
    made->assumptions.push_back({"utilization", "work all the time (utilisation 100 %)"});
  if (!flags.given("--goodput") && mode != CostMode::api) {
    made->assumptions.push_back({"goodput", "nothing fails (goodput 100 %)"});
  }
  for (const std::string& text : work.assumptions) made->assumptions.push_back({"", text});
  if (const Status s = check(in); !s) return s.error();
  static constexpr std::string_view kHow[] = {"owned", "rented", "on a managed platform", "by API"};
  std::string what = work.title;
  if (what.empty())
    what = mode == CostMode::api ? "tokens" : fmt::format("{:.0f} GPU{}", work.gpus, work.gpus == 1 ? "" : "s");
  if (mode == CostMode::api && work.inference) {
    what = fmt::format("{}, as many requests as {:.0f} × {} serve", work.model, work.gpus, work.device);
  }
  const std::string title = fmt::format("{}, {}", what, kHow[static_cast<std::size_t>(mode)]);
  return answer_cost(title, *std::move(made), work.tokens_per_s, work.training, work.run_tokens);
}

}  // namespace ridge::cli
