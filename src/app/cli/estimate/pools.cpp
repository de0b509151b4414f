// ridge estimate infer --disaggregate: prompts on one pool of engines, tokens on another.
#include "app/cli/estimate/pools.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "ask/simulation.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/capacity.hpp"

namespace ridge::cli {

namespace {

constexpr int kMost = 100'000;
constexpr double kUsualNic = 12.5e9;  ///< bytes/s per device where nothing is said

Error cannot_run(std::string_view which, const InferenceAnswer& pool, const Knowledge& knowledge) {
  Error error = refusal_error(pool);
  error.message = fmt::format("the {} pool: {}", which, error.message);
  CapacityQuestion question{.engine = pool.query.engine, .date = pool.query.date, .kv = pool.query.kv};
  question.isl = pool.query.load.isl;
  question.osl = std::max(1.0, pool.query.load.osl);
  if (const auto fewest =
          fewest_devices(question, pool.query.model, pool.facts.device, pool.facts.weights, knowledge)) {
    error.message +=
        fmt::format("\nThe smallest pool that can exist has {} × {}, TP {}{}.", fewest->gpus, pool.facts.device,
                    fewest->tp, fewest->pp > 1 ? fmt::format(", PP {}", fewest->pp) : "");
  }
  return error;
}

}  // namespace

Result<InferenceQuery> prefill_query(const EstimateFlags& flags, const InferenceQuery& decode) {
  InferenceQuery q = decode;
  if (flags.given("--prefill-device")) {
    q.device = flags.value("--prefill-device");
    q.system.clear();
  }
  q.load.draft_tokens = q.load.acceptance = 0;
  q.max_sequences = 0;
  if (flags.given("--prefill-precision")) {
    const Result<Format> weights = parse_format(flags.value("--prefill-precision"));
    if (!weights) return wrong("--prefill-precision", weights.error().message);
    q.weights = *weights;
    q.activations.reset();  // what the device computes in
  }
  const Result<int> copies = flags.whole("--prefill-redundant-experts", q.experts.redundant, 0, kMost);
  if (!copies) return copies.error();
  q.experts.redundant = *copies;
  const Result<double> cap = flags.number("--prefill-power-cap", q.power_cap);
  if (!cap) return cap.error();
  q.power_cap = *cap;
  const bool said = flags.given("--prefill-tp") || flags.given("--prefill-dp") || flags.given("--prefill-ep");
  if (said) {
    q.gpus = 0;
    q.pp = 1;
    const Result<int> tp = flags.whole("--prefill-tp", 1, 1, kMost);
    if (!tp) return tp.error();
    const Result<int> dp = flags.whole("--prefill-dp", 1, 1, kMost);
    if (!dp) return dp.error();
    const Result<int> ep = flags.whole("--prefill-ep", *dp > 1 ? *tp * *dp : 1, 1, kMost);
    if (!ep) return ep.error();
    q.tp = *tp;
    q.dp = *dp;
    q.ep = *ep;
    if (1.0 * *tp * *dp > kMostDevices) return too_many_devices("--prefill-dp", 1.0 * *tp * *dp);
    q.gpus = *tp * *dp;
  }
  return q;
}

Result<report::PoolsAnswer> answer_pools(Session& session, const EstimateFlags& flags, const Knowledge& knowledge) {
  Result<InferenceQuestion> question = inference_question(flags, session.software_date());
  if (!question) return question.error();
  InferenceQuery& decode = question->query;
  if (decode.load.mode != LoadMode::closed_loop) {
    return Error{ErrorCode::bad_input, "--disaggregate",
                 "say by --concurrency how many clients one decode engine has: pools are not for --batch, --offline or "
                 "--prefill"};
  }
  const Result<InferenceQuery> prompts = prefill_query(flags, decode);
  if (!prompts) return prompts.error();
  // Each pool as a deployment of its own: what it assumes, and why it cannot run.
  report::PoolsAnswer a;
  InferenceQuestion alone = *question;
  alone.query.load.prefilled = true;
  auto second = answer_question(session, alone, knowledge, false);
  if (!second) return second.error();
  alone = {*prompts, {}};
  alone.query.load.mode = LoadMode::prefill;
  alone.query.load.batch = std::max(1, prompts->dp);
  alone.query.load.osl = 1;
  auto first = answer_question(session, alone, knowledge, false);
  if (!first) return first.error();
  if (first->refusal) return cannot_run("prefill", *first, knowledge);
  if (second->refusal) return cannot_run("decode", *second, knowledge);
  const auto of_prompts = resolve(first->query, knowledge);
  const auto of_tokens = resolve(second->query, knowledge);
  if (!of_prompts) return of_prompts.error();
  if (!of_tokens) return of_tokens.error();
  const auto device = knowledge.catalogue.find_device(first->facts.device);
  const double nic = device && device->nic_per_direction ? device->nic_per_direction->value.value() : kUsualNic;
  a.setting.link_bytes_per_s = nic * first->facts.gpus;
  if (const std::string& link = flags.value("--kv-link"); !link.empty()) {
    const Result<BytesPerSecond> rate = parse_quantity<BytesPerSecond>(link);
    if (!rate || rate->value() <= 0)
      return Error{ErrorCode::bad_input, "--kv-link", "write a rate, for example 50GB/s"};
    a.setting.link_bytes_per_s = rate->value();
  }
  if (const std::string& pools = flags.value("--pools"); !pools.empty()) {
    std::pair<int, int>& engines = a.engines.emplace();
    if (const Status read = ask::read_pools(pools, engines.first, engines.second); !read)
      return wrong("--pools", read.error().message);
  }
  a.outcome = evaluate_pools(*of_prompts->resolved, *of_tokens->resolved, decode.load, a.setting);
  if (a.outcome.reason != Reason::none) {
    return Error{ErrorCode::infeasible, "",
                 fmt::format("the {} pool cannot run: {}", a.outcome.prefill_fails ? "prefill" : "decode",
                             name(a.outcome.reason))};
  }
  a.assumptions = second->assumptions;
  for (const std::string& sentence : first->assumptions) {
    if (std::find(a.assumptions.begin(), a.assumptions.end(), sentence) == a.assumptions.end()) {
      a.assumptions.push_back("prefill: " + sentence);
    }
  }
  a.assumptions.push_back(fmt::format("prefill engines work {:.0f} % of the time, so that prompts wait little",
                                      100 * a.setting.prefill_use));
  a.assumptions.push_back(fmt::format("caches leave a prefill engine at {}, beside the next prompts",
                                      format(BytesPerSecond(a.setting.link_bytes_per_s))));
  a.prefill = *std::move(first);
  a.decode = *std::move(second);
  return a;
}

Result<int> estimate_pools(Session& session, const EstimateFlags& flags) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<report::PoolsAnswer> answered = answer_pools(session, flags, *knowledge);
  if (!answered) return answered.error();
  const report::PoolsAnswer& a = *answered;
  if (session.form() == Form::json) {
    session.print(report::pools_json(a).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::pools_table(a)));
  } else {
    session.print(report::pools_page(a));
  }
  return kFine;
}

}  // namespace ridge::cli
