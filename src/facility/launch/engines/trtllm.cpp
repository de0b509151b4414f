// trtllm-serve, with its options file.
#include <fmt/format.h>

#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

Result<Process> trtllm_server(const LaunchPlan& p, std::string_view port) {
  if (p.dp > 1 && p.tp > 1) {
    return cannot("TensorRT-LLM runs attention either tensor- or data-parallel, not both: say ⟦tp=1⟧ or ⟦dp=1⟧");
  }
  if (is_gguf(p.weights)) return cannot("TensorRT-LLM reads no GGUF: emit for llamacpp, or say ⟦precision=int4⟧");
  if (p.online) {
    return cannot(fmt::format("TensorRT-LLM does not narrow weights to {} while it loads them: say ⟦checkpoint⟧",
                              name(p.weights)));
  }
  // Over several nodes every rank is a task of MPI, and the launcher makes the first one the server.
  Process s{.command = Command(fmt::format("{}trtllm-serve serve {}", spans_nodes(p) ? "trtllm-llmapi-launch " : "",
                                           shell_word(p.checkpoint)))};
  Command& c = s.command;
  c.shell("--host", "\"$HOST\"").shell("--port", port);
  c.flag("--tp_size", p.tp * p.dp);
  number_flags_of(c, p);
  if (spans_nodes(p)) c.flag("--gpus_per_node", p.gpus_per_node);
  // Of what is free once the weights are there, not of the whole device.
  if (p.kv_fraction > 0) c.flag("--kv_cache_free_gpu_memory_fraction", p.kv_fraction);
  const FormatFlag* kv = find_format(kv_flags(p.runner), p.kv);
  if (kv == nullptr) {
    return cannot(fmt::format("TensorRT-LLM keeps no KV cache in {}: take fp8 or 16 bits", name(p.kv)));
  }
  std::string yaml;
  const auto line = [&](std::string_view text) { yaml += fmt::format("  echo '{}'\n", text); };
  if (p.dp > 1) line("enable_attention_dp: true");
  if (p.ep > 1 && p.rebalanced) {  // slots are experts and their copies
    line("moe_config:");
    line("  load_balancer:");
    line(fmt::format("    num_slots: {}", p.experts + p.redundant_experts));
    line("    layer_updates_per_iter: 1");
  }
  if (!kv->flag.empty() || p.prefix_hit > 0) line("kv_cache_config:");
  if (!kv->flag.empty()) line(fmt::format("  {} {}", kv->flag, kv->value));
  if (p.prefix_hit > 0) line("  enable_block_reuse: true");
  if (p.role != PoolRole::both) {
    // Servers for prompts cannot run ahead: each of their results leaves before the next begins.
    if (p.role == PoolRole::prefill) line("disable_overlap_scheduler: true");
    line("cache_transceiver_config:");
    line("  backend: DEFAULT");
    line(fmt::format("  max_tokens_in_buffer: {}", p.max_length > 0 ? p.max_length : p.isl + p.osl));
  }
  if (p.lora_rank > 0) {
    s.before += ": \"${LORA:?set LORA to the folder of the adapter}\"\n";
    line("lora_config:");
    line("  max_lora_rank: " + std::to_string(p.lora_rank));
    yaml += "  echo \"  lora_dir: [$LORA]\"\n";
  }
  if (p.draft_tokens > 0) {
    line("speculative_config:");
    if (p.draft == "mtp") {
      line("  decoding_type: MTP");
      line(fmt::format("  num_nextn_predict_layers: {}", p.draft_tokens));
    } else {
      line("  decoding_type: DraftTarget");
      line(fmt::format("  max_draft_len: {}", p.draft_tokens));
      line(fmt::format("  speculative_model_dir: {}", p.draft));
    }
  }
  if (!yaml.empty()) {
    s.before += "OPTIONS=$(mktemp)\n{\n" + yaml + "} > \"$OPTIONS\"\n";
    c.shell("--config", "\"$OPTIONS\"");
  }
  return s;
}

}  // namespace ridge::launch
