#include "evidence/cases/rl_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "evidence/rows/case_row.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::evidence {

namespace {

constexpr int kMostRlGpus = 10'000'000;

/// The numbers in the first group, or groups, that match.
std::vector<double> numbers_in(const std::string& text, const char* pattern) {
  std::smatch found;
  std::vector<double> out;
  if (!std::regex_search(text, found, std::regex(pattern))) return out;
  for (std::size_t i = 1; i < found.size(); ++i) out.push_back(parse_plain_number(found[i].str()).value_or(0));
  return out;
}

/// "[4,1,16,8,n/a]": TP, CP, EP, PP, chunks. Older tables have more places between CP and EP, all of them 1.
bool read_list(const std::string& text, TrainingPlan& plan) {
  std::vector<double> degrees;
  std::string part;
  for (const char c : text) {
    if (c == '[') continue;
    if (c == ',' || c == ']') {
      degrees.push_back(parse_plain_number(part).value_or(1));
      part.clear();
    } else {
      part += c;
    }
  }
  if (text.empty() || text.front() != '[' || degrees.size() < 5) return false;
  const std::size_t n = degrees.size();
  plan.tp = static_cast<int>(degrees[0]);
  plan.cp = static_cast<int>(degrees[1]);
  plan.ep = static_cast<int>(degrees[n - 3]);
  plan.pp = static_cast<int>(degrees[n - 2]);
  return true;
}

class RlRowReader {
 public:
  explicit RlRowReader(CaseRow& row) : row_(row) {}

  RlCase run() {
    for (const char* column : {"model", "device", "gpus", "prompts_per_step", "samples_per_prompt", "step_time_s"}) {
      row_.require(column);
    }
    RlQuery& q = c_.query;
    c_.id = row_.text("id");
    c_.source = row_.text("source");
    q.model = row_.text("model");
    q.device = row_.text("device");
    q.date = leading_date(row_.text("date"));
    q.gpus = row_.integer("gpus", 1, kMostRlGpus).value_or(1);
    q.prompts = row_.number("prompts_per_step", 1, 1e6).value_or(1);
    q.samples = row_.number("samples_per_prompt", 1, 1e5).value_or(1);
    read_lengths();
    read_algorithm();
    read_placement();
    read_training();
    read_generation();
    read_measured();
    c_.setting = fmt::format("{}/{}/{}/{}/{}", c_.source, row_.text("engine_version"), q.model, q.device, q.gpus);
    c_.refusal = row_.refusal();
    return std::move(c_);
  }

 private:
  [[nodiscard]] std::string words(const char* column) const { return lower(std::string(row_.text(column))); }
  [[nodiscard]] bool placed(const char* what) const {
    return words("colocated_or_async").find(what) != std::string::npos;
  }

  void read_lengths() {
    RlQuery& q = c_.query;
    const auto mean = row_.number("response_len_mean", 1, 1e7);
    const auto most = row_.number("response_len_max", 1, 1e7);
    q.answers.mean = mean.value_or(0);
    // Where nobody says where answers are cut: far enough out that few are.
    q.answers.most = most ? *most : mean ? 4 * *mean : 4096;
    if (most && mean && *most == *mean) q.answers.cv = 0;  // every answer is drawn to the end
    q.prompt_tokens = row_.number("prompt_len", 0, 1e7).value_or(q.prompt_tokens);
  }

  void read_algorithm() {
    RlQuery& q = c_.query;
    const std::string word = row_.word("algorithm");
    q.algorithm = word == "ppo"    ? RlAlgorithm::ppo
                  : word == "dapo" ? RlAlgorithm::dapo
                  : word == "grpo" ? RlAlgorithm::grpo
                                   : RlAlgorithm::online_dpo;
    if (word != "ppo" && word != "dapo" && word != "grpo" && word.find("dpo") == std::string::npos) {
      row_.refuse("algorithm", "is none of grpo, dapo, ppo and online-dpo");
    }
    q.mini_batch = row_.number("mini_batch", 1, 1e6).value_or(q.mini_batch);
    if (const std::string_view critic = row_.text("critic"); !critic.empty()) q.critic = q.reward_model = critic;
  }

  void read_placement() {
    RlQuery& q = c_.query;
    const std::string how = words("colocated_or_async");
    if (placed("async")) {
      const auto off = numbers_in(how, "(\\d+)-step off");
      q.placement = RlPlacement::asynchronous;
      if (!off.empty() && off[0] <= 1) q.placement = RlPlacement::one_step_off;
      const auto staleness = numbers_in(how, "staleness ([0-9.]+)");
      q.staleness = !staleness.empty() ? staleness[0] : !off.empty() ? off[0] : 0.5;
      q.partial = placed("partial") || placed("fully");
      // Such stacks train on the log-probabilities that the engine returned.
      if (placed("fully")) q.old_log_probs = false;
      q.generators = row_.integer("generators", 1, kMostRlGpus).value_or(0);
    }
    if (const auto critic = numbers_in(words("train_layout"), "actor (\\d+) nodes, critic/reward (\\d+) nodes");
        !critic.empty()) {
      q.critic_gpus = static_cast<int>(std::lround(q.gpus * critic[1] / (critic[0] + critic[1])));
    }
  }

  void read_training() {
    RlQuery& q = c_.query;
    const std::string layout = words("train_layout");
    const std::string engine = row_.word("engine");
    const auto says = [&](const char* word) { return layout.find(word) != std::string::npos; };
    q.training.engine = says("fsdp") ? "fsdp" : engine == "deepspeed-chat" || says("zero") ? "deepspeed" : "megatron";
    if (q.training.engine != "megatron") q.training.plan.sharding = Sharding::zero3;
    if (says("zero")) q.packing = false;
    if (read_list(layout, q.training.plan)) {
      q.freedom.tp = q.freedom.pp = q.freedom.ep = false;
    } else if (q.training.engine != "megatron") {
      q.freedom.tp = q.freedom.pp = q.freedom.ep = false;
    } else if (const auto degrees = numbers_in(layout, "tp(\\d+) pp(\\d+) ep(\\d+)"); !degrees.empty()) {
      q.freedom.tp = q.freedom.pp = q.freedom.ep = false;
      q.training.plan.tp = static_cast<int>(degrees[0]);
      q.training.plan.pp = static_cast<int>(degrees[1]);
      q.training.plan.ep = static_cast<int>(degrees[2]);
    }
    q.training.plan.offload_optimizer = says("optimizer on cpu");
    const std::string precision = words("precision");
    if (precision.find("fp8 train") != std::string::npos) q.training.precision = Format::fp8;
  }

  void read_generation() {
    RlQuery& q = c_.query;
    InferenceQuery& g = q.generation;
    const std::string layout = words("gen_layout");
    g.engine = layout.find("tensorrt") != std::string::npos ? "trtllm"
               : layout.find("hybrid") != std::string::npos ? "deepspeed-mii"
               : layout.find("sglang") != std::string::npos ? "sglang"
                                                            : "vllm";
    if (const auto degrees = numbers_in(layout, "\\[(\\d+),(\\d+)\\]"); !degrees.empty()) {
      g.tp = static_cast<int>(degrees[0]);
      g.pp = static_cast<int>(degrees[1]);
    }
    // Batches that run to the end of their longest answer before the next one starts.
    if (g.engine == "trtllm" || g.engine == "deepspeed-mii") q.batching = BatchingPolicy::fixed;
    g.max_sequences = row_.number("max_sequences", 1, 1e6).value_or(g.max_sequences);
    if (words("precision").find("fp8 gen") != std::string::npos) g.weights = g.activations = Format::fp8;
  }

  void read_measured() {
    RlMeasured& m = c_.measured;
    m.step_s = row_.number("step_time_s", 1e-3, 1e7).value_or(0);
    m.log_probs_s = row_.number("logprob_s", 0, 1e7).value_or(0);
    m.training_s = row_.number("train_s", 0, 1e7).value_or(0);
    // In a flow the column is what trainers wait for answers.
    if (!placed("fully")) m.generation_s = row_.number("generation_s", 0, 1e7).value_or(0);
    m.reference_s = row_.number("reference_s", 0, 1e7).value_or(0);
  }

  CaseRow& row_;
  RlCase c_;
};

}  // namespace

Result<std::vector<RlCase>> read_rl_cases(std::string csv, const std::string& name) {
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  std::vector<RlCase> out;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    out.push_back(RlRowReader(row).run());
  }
  return out;
}

std::string_view name(RlMetric metric) {
  constexpr std::string_view kNames[] = {"step", "generation", "log-probs", "reference", "training"};
  return kNames[static_cast<std::size_t>(metric)];
}

}  // namespace ridge::evidence
