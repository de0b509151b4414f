// Primus: Megatron's arguments as an experiment file, started by its own launcher.
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

struct PrimusKey {
  std::string_view flag, key, value;  ///< an empty value: as given
};
// Where the key is not the flag with underlines.
constexpr PrimusKey kPrimusKeys[] = {
    {"--fp8-format", "fp8", ""},
    {"--fp4-format", "fp4", ""},
    {"--disable-bias-linear", "add_bias_linear", "false"},
    {"--no-gradient-accumulation-fusion", "gradient_accumulation_fusion", "false"},
    {"--data-path", "train_data_path", ""},
};

/// Of Megatron's command line only: Primus always has them so, or has no key for them.
bool left_out(std::string_view flag) {
  constexpr std::string_view kLeftOut[] = {"--use-mcore-models"};
  return std::find(std::begin(kLeftOut), std::end(kLeftOut), flag) != std::end(kLeftOut);
}

/// "$DATA_PATH" in the quotes of a shell is ${DATA_PATH} of Primus.
std::string as_yaml(std::string_view value) {
  if (value.starts_with("\"$") && value.ends_with('"')) {
    return fmt::format("${{{}}}", value.substr(2, value.size() - 3));
  }
  // YAML takes 3e-4 for a word: a number has its point.
  const std::size_t e = value.find('e');
  if (e != std::string_view::npos && e > 0 && value.find('.') == std::string_view::npos &&
      value.find_first_not_of("0123456789e-") == std::string_view::npos) {
    return fmt::format("{}.0{}", value.substr(0, e), value.substr(e));
  }
  const bool plain = value.find_first_of("[]{}*#:, ") == std::string_view::npos;
  return plain ? std::string(value) : fmt::format("\"{}\"", value);
}

}  // namespace

std::string megatron_flag(std::string_view key) {
  for (const PrimusKey& k : kPrimusKeys) {
    if (k.key == key) return std::string(k.flag);
  }
  std::string out = "--" + std::string(key);
  std::replace(out.begin() + 2, out.end(), '_', '-');
  return out;
}

Result<Process> primus_job(const LaunchPlan& p) {
  const Result<Process> megatron = megatron_job(p);
  if (!megatron) return megatron.error();
  Process job{.command = Command("primus-cli direct -- train pretrain --config \"$EXPERIMENT\"")};
  std::string overrides;
  const auto set = [&](std::string_view key, std::string_view value) {
    overrides += fmt::format("      {}: {}\n", key, as_yaml(value));
    job.keys.emplace_back(key, value);
  };
  for (const Command::Part& part : megatron->command.own()) {
    if (part.flag.empty() || left_out(part.flag)) continue;
    const auto named = std::find_if(std::begin(kPrimusKeys), std::end(kPrimusKeys),
                                    [&](const PrimusKey& k) { return k.flag == part.flag; });
    if (named != std::end(kPrimusKeys)) {
      set(named->key, named->value.empty() ? part.value.value_or("true") : std::string(named->value));
      continue;
    }
    std::string key = part.flag.substr(2);
    std::replace(key.begin(), key.end(), '-', '_');
    set(key, part.value.value_or("true"));
  }
  // What its own files set otherwise than Megatron does by itself.
  const auto given = [&](std::string_view key) {
    return std::any_of(job.keys.begin(), job.keys.end(), [&](const auto& one) { return one.first == key; });
  };
  for (const auto& [key, value] : {std::pair{"swiglu", "false"},
                                   {"add_bias_linear", "true"},
                                   {"finetune", "false"},
                                   {"untie_embeddings_and_output_weights", "false"},
                                   {"use_distributed_optimizer", "false"},
                                   {"exit_on_missing_checkpoint", "false"}}) {
    if (!given(key)) set(key, value);
  }
  job.before = megatron->before;
  job.before += fmt::format("export NNODES=$NODES GPUS_PER_NODE={}\n", std::min(p.gpus, p.gpus_per_node));
  if (p.nodes() > 1) job.before += "export NODE_RANK MASTER_ADDR\n";
  job.before += "export DATA_PATH CHECKPOINTS" + std::string(p.shape.rotary_open ? " ROTARY_BASE\n" : "\n") +
                "EXPERIMENT=$(mktemp --suffix=.yaml)\n"
                "cat > \"$EXPERIMENT\" <<'YAML'\n"
                "work_group: ${PRIMUS_TEAM:ridge}\n"
                "user_name: ${PRIMUS_USER:root}\n" +
                fmt::format("exp_name: {}\n", job_name(p)) +
                "workspace: ${PRIMUS_WORKSPACE:./output}\n"
                "modules:\n"
                "  pre_trainer:\n"
                "    framework: megatron\n"
                "    config: pre_trainer.yaml\n"
                "    model: language_model.yaml\n"
                "    overrides:\n" +
                overrides + "YAML\n";
  return job;
}

}  // namespace ridge::launch
