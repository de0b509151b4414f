#include "app/cli/plan/save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/cli/line/plan_file.hpp"
#include "ask/field.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/pools.hpp"
#include "ridge/report/report.hpp"
#include "search/problems/serving_problem.hpp"

namespace ridge::cli {

namespace {

class PlanWriter {
 public:
  explicit PlanWriter(std::string kind) { file_.kind = std::move(kind); }

  void add(std::string_view flag, std::string_view value) { file_.flags.emplace_back(flag, value); }
  void add(std::string_view flag, double value) { add(flag, exact_number(value)); }
  /// What says nothing where it is not above `usual`.
  void above(const char* flag, double value, double usual) {
    if (value > usual) add(flag, value);
  }
  void seconds(const char* flag, double value) {
    if (value > 0) add(flag, exact_number(value) + "s");
  }
  /// How one engine stands, and in which formats.
  void layout(const InferenceQuery& q, const DeploymentFacts& facts) {
    add("--tp", q.tp);
    above("--pp", q.pp, 1);
    above("--dp", q.dp, 1);
    above("--ep", q.ep, 1);
    above("--redundant-experts", facts.redundant_experts, 0);
    above("--draft-tokens", q.load.draft_tokens, 0);
    above("--acceptance", q.load.acceptance, 0);
    add("--weight-precision", ridge::name(facts.weights));
    add("--activation-precision", ridge::name(facts.activations));
    add("--kv-precision", ridge::name(facts.kv));
  }
  /// So that `ridge cost` takes the same prices.
  void prices(const Buyer& buyer, const std::optional<double>& usd_per_gpu_hour) {
    if (buyer.date == buyer.software_date) {
      if (!buyer.date.empty()) add("--as-of", buyer.date);
    } else {
      if (!buyer.date.empty()) add("--prices-as-of", buyer.date);
      if (!buyer.software_date.empty()) add("--software-as-of", buyer.software_date);
    }
    if (buyer.purchase == Purchase::own) {
      if (!buyer.region.empty()) add("--region", buyer.region);
    } else if (buyer.purchase == Purchase::reserved || buyer.purchase == Purchase::any) {  // only plans look at these
      if (usd_per_gpu_hour) add("--price", '$' + exact_number(*usd_per_gpu_hour));
    } else {
      if (!buyer.region.empty()) add("--provider", buyer.region);
      if (buyer.purchase == Purchase::spot) add("--spot", "true");
    }
  }
  [[nodiscard]] const PlanFile& file() const { return file_; }

 private:
  PlanFile file_;
};

/// A repository that was given stays: it says what is loaded, the catalogue's id only what it looks like.
const std::string& model_name(const std::string& given, const std::string& id) {
  return given.find('/') != std::string::npos ? given : id;
}

PlanFile plan_file(const ServingQuest& quest, const ServingPlan& p, const std::string& given) {
  const InferenceQuery& q = p.query;
  const ServingGoal& goal = quest.goal;
  PlanWriter out("serve");
  out.add("--model", model_name(given, q.model));
  out.add("--device", q.device);
  out.add("--gpus", 1.0 * p.replicas * q.gpus);
  out.layout(q, p.facts);
  out.add("--engine", q.engine);
  out.add("--max-batched-tokens", q.max_batched_tokens);
  if (q.power_cap > 0) out.add("--power-cap", exact_number(q.power_cap) + "W");
  out.add("--isl", goal.isl);
  out.add("--osl", goal.osl);
  out.above("--prefix-hit", goal.prefix_hit, 0);
  // The clients of full load for verbs that know no arrivals, and the share of it that is asked of the replicas.
  out.add("--concurrency", p.concurrency * p.replicas);
  out.add("--utilization", std::min(1.0, p.load()));
  out.add("--request-rate", p.rate);
  out.above("--requests", p.simulated_requests, 0);
  out.seconds("--ttft", goal.ttft_s);
  out.seconds("--tpot", goal.tpot_s);
  out.seconds("--e2e", goal.e2e_s);
  out.prices(goal.buyer, p.usd_per_gpu_hour);
  return out.file();
}

double each_rank(const ServingPool& pool) {
  return std::ceil(pool.concurrency / std::max(1, pool.query.dp));
}

/// What both pools can do in output tokens a second, as `ridge cost` will find it of the file.
double output_tokens_per_s(const ServingQuest& quest, const PoolPair& pair, const Knowledge& knowledge) {
  InferenceQuery decode = pair.decode.query;
  decode.max_sequences = each_rank(pair.decode);
  InferenceLoad load = quest.problem->load_of(decode);
  load.concurrency = pair.decode.concurrency;
  const auto prompts = resolve(pair.prefill.query, knowledge);
  const auto tokens = resolve(decode, knowledge);
  if (!prompts || !tokens) return 0;
  PoolsSetting setting;
  setting.link_bytes_per_s = pair.link_bytes_per_s;
  const PoolsOutcome o = evaluate_pools(*prompts->resolved, *tokens->resolved, load, setting);
  if (o.reason != Reason::none) return 0;
  return busy_engines(o, pair.prefill.engines, pair.decode.engines) * o.output_tokens_per_s.mid;
}

/// Both pools whole: one engine of each, how many there are, and the link between them.
PlanFile pools_file(const ServingQuest& quest, const PoolPair& pair, const std::string& given,
                    const Knowledge& knowledge) {
  const ServingGoal& goal = quest.goal;
  const InferenceQuery& q = pair.decode.query;
  const InferenceQuery& first = pair.prefill.query;
  PlanWriter out("serve");
  out.add("--model", model_name(given, q.model));
  out.add("--device", q.device);
  out.add("--gpus", q.gpus);  // of one engine
  out.layout(q, pair.decode.facts);
  out.add("--engine", q.engine);
  out.add("--max-batched-tokens", q.max_batched_tokens);
  out.add("--max-num-seqs", each_rank(pair.decode));
  if (q.power_cap > 0) out.add("--power-cap", exact_number(q.power_cap) + "W");
  out.add("--disaggregate", fmt::format("{}P{}D", pair.prefill.engines, pair.decode.engines));
  out.add("--prefill-device", first.device);
  out.add("--prefill-tp", first.tp);
  out.add("--prefill-dp", first.dp);
  out.add("--prefill-ep", first.ep);
  if (pair.decode.facts.redundant_experts > 0 || pair.prefill.facts.redundant_experts > 0)
    out.add("--prefill-redundant-experts", pair.prefill.facts.redundant_experts);
  out.add("--prefill-precision", ridge::name(pair.prefill.facts.weights));
  if (first.power_cap > 0) out.add("--prefill-power-cap", exact_number(first.power_cap) + "W");
  out.add("--kv-link", exact_number(pair.link_bytes_per_s) + "B/s");
  out.add("--isl", goal.isl);
  out.add("--osl", goal.osl);
  out.add("--concurrency", pair.decode.concurrency);  // of one engine
  if (const double most = output_tokens_per_s(quest, pair, knowledge); most > 0)
    out.add("--utilization", std::min(1.0, goal.request_rate * goal.osl / most));
  out.add("--request-rate", goal.request_rate);
  out.above("--requests", pair.simulated_requests, 0);
  out.seconds("--ttft", goal.ttft_s);
  out.seconds("--tpot", goal.tpot_s);
  out.seconds("--e2e", goal.e2e_s);
  std::optional<double> price;
  for (std::size_t g = 0; g < quest.problem->groups(); ++g) {
    if (quest.problem->spec(g).device == q.device) price = quest.problem->spec(g).usd_per_gpu_hour;
  }
  out.prices(goal.buyer, price);
  return out.file();
}

PlanFile plan_file(const TrainingQuest& quest, const TrainingPick& p, const std::string& given) {
  const TrainingGoal& goal = quest.goal;
  PlanWriter out("train");
  for (const ask::Setting& s : ask::settings_of(training_query(goal, p, given)))
    out.add(ask::flag_of(*s.field), s.value);
  out.above("--tokens", goal.tokens, 0);
  if (goal.tokens > 0) out.add("--goodput", p.goodput / kept_share(goal.buyer, quest.economics));
  out.prices(goal.buyer, p.usd_per_hour ? std::optional(*p.usd_per_hour / p.plan.gpus) : std::nullopt);
  return out.file();
}

template <class Quest, class Verdict>
Result<int> save_all(const FileAccess& files, const std::string& directory, const Quest& quest, const Verdict& verdict,
                     const std::string& given) {
  if (const Status s = files.make_folder(directory); !s) return s.error();
  for (std::size_t i = 0; i < verdict.plans.size(); ++i) {
    const std::string path = fmt::format("{}/{}.toml", directory, i + 1);
    const Status s = files.write(path, plan_file_text(plan_file(quest, verdict.plans[i], given)));
    if (!s) return s.error();
  }
  return static_cast<int>(verdict.plans.size());
}

}  // namespace

TrainingQuery training_query(const TrainingGoal& goal, const TrainingPick& p, const std::string& given) {
  TrainingQuery q;
  q.model = model_name(given, goal.model);
  q.device = p.device;
  q.engine = goal.engine;
  q.task = goal.task;
  q.precision = p.precision;
  q.power_cap = p.power_cap;
  q.plan = p.plan;
  q.plan.sharding = p.estimate.sharding;
  q.plan.vp = std::max(q.plan.vp, 1);
  return q;
}

Result<int> save_plans(const FileAccess& files, const std::string& directory, const ServingQuest& quest,
                       const ServingVerdict& verdict, const std::string& given, const Knowledge& knowledge) {
  Result<int> saved = save_all(files, directory, quest, verdict, given);
  if (!saved) return saved;
  int pairs = 0;
  for (const Alternative& other : verdict.alternatives) {
    if (!other.pools) continue;
    const std::string path = fmt::format("{}/pools-{}.toml", directory, ++pairs);
    const Status s = files.write(path, plan_file_text(pools_file(quest, *other.pools, given, knowledge)));
    if (!s) return s.error();
  }
  return *saved + pairs;
}

Result<int> save_plans(const FileAccess& files, const std::string& directory, const TrainingQuest& quest,
                       const TrainingVerdict& verdict, const std::string& given, const Knowledge& /*knowledge*/) {
  return save_all(files, directory, quest, verdict, given);
}

Status take_profile(const std::string& data_directory, const std::string& profile, PlanFlags& flags, PlanKind kind) {
  const std::string path = data_directory + "/buyers/" + profile + ".toml";
  if (profile.find('/') != std::string::npos) return Error{ErrorCode::bad_input, "--profile", "a name, not a path"};
  const Result<std::string> text = read_file(path, 1'000'000);
  if (!text) {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(data_directory + "/buyers", absent)) {
      names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    return Error{ErrorCode::not_found, "--profile",
                 "there is no profile " + ridge::quoted(profile) + "; there are " + all};
  }
  const Result<TomlNode> root = parse_toml(*text, path);
  if (!root) return root.error();
  for (const char* table : {"both", kind == PlanKind::serve ? "serve" : "train"}) {
    const TomlMember* part = root->find(table);
    if (part == nullptr) continue;
    for (const TomlMember& member : part->value.members) {
      std::string flag = "--" + member.key;
      std::replace(flag.begin(), flag.end(), '_', '-');
      const std::string value = member.value.kind == TomlNode::Kind::flag      ? (member.value.flag ? "true" : "")
                                : member.value.kind == TomlNode::Kind::integer ? std::to_string(member.value.integer)
                                : member.value.kind == TomlNode::Kind::number  ? exact_number(member.value.number)
                                                                               : member.value.text;
      if (!flags.fill(flag, value)) {
        return Error{ErrorCode::bad_input, place_text(path, member.line, member.column), "there is no flag " + flag};
      }
    }
  }
  return {};
}

}  // namespace ridge::cli
