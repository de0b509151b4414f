// python3 -m sglang.launch_server.
#include <fmt/format.h>

#include "facility/launch/exchange.hpp"
#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

Result<Process> sglang_server(const LaunchPlan& p, std::string_view port) {
  Process s{.command = Command("python3 -m sglang.launch_server")};
  Command& c = s.command;
  c.flag("--model-path", p.checkpoint).flag("--served-model-name", p.model);
  c.shell("--host", "\"$HOST\"").shell("--port", port);
  // Data-parallel attention divides the tensor-parallel ranks: tp-size counts both. Requests and chunks are given for
  // all of its ranks together.
  c.flag("--tp-size", p.tp * p.dp);
  number_flags_of(c, p);
  if (p.embeds) c.flag("--is-embedding");
  if (p.max_sequences > 0) c.flag("--max-running-requests", p.max_sequences * p.dp);
  if (p.max_batched_tokens > 0) c.flag("--chunked-prefill-size", p.max_batched_tokens * p.dp);
  if (p.dp > 1) c.flag("--enable-dp-attention");
  if (p.ep > 1 && p.ep != p.tp * p.dp) {
    return cannot(fmt::format("SGLang spreads experts over all {} ranks, not over {}: say ⟦ep={}⟧ or 1", p.tp * p.dp,
                              p.ep, p.tp * p.dp));
  }
  if (p.ep > 1) {
    if (const ExchangeFlags way = exchange_flags(p); !way.backend.empty()) {
      c.flag("--moe-a2a-backend", way.backend).flag("--deepep-mode", way.mode);
    }
    if (p.rebalanced) c.flag("--enable-eplb");
    if (p.redundant_experts > 0) c.flag("--ep-num-redundant-experts", p.redundant_experts);
    if (p.two_batches) c.flag("--enable-two-batch-overlap");
  }
  if (spans_nodes(p)) {
    c.shell("--nnodes", "\"$NODES\"")
        .shell("--node-rank", "\"$NODE_RANK\"")
        .shell("--dist-init-addr", "\"$MASTER_ADDR:20000\"");
  }
  if (!p.hardware.sglang_device.empty()) c.flag("--device", p.hardware.sglang_device);
  if (p.online) c.flag("--quantization", "fp8");
  if (p.weights == Format::bf16 || p.weights == Format::fp16 || p.weights == Format::fp32) {
    c.flag("--dtype", p.weights == Format::bf16 ? "bfloat16" : p.weights == Format::fp16 ? "float16" : "float32");
  }
  if (is_gguf(p.weights)) c.flag("--load-format", "gguf").flag("--quantization", "gguf");
  const FormatFlag* kv = find_format(kv_flags(p.runner), p.kv);
  if (kv == nullptr) return cannot(fmt::format("SGLang keeps no KV cache in {}: take fp8 or 16 bits", name(p.kv)));
  c.flag(kv->flag, kv->value);
  if (p.memory_utilization > 0) c.flag("--mem-fraction-static", p.memory_utilization);
  c.flag("--enable-metrics");
  if (p.role != PoolRole::both) {
    c.flag("--disaggregation-mode", name(p.role)).flag("--disaggregation-transfer-backend", p.hardware.transfer);
    if (p.role == PoolRole::prefill) {
      // Where decode servers ask for caches; the router has to know it too.
      const bool counted = port.find("replica") != std::string_view::npos;
      constexpr std::string_view kFlag = "--disaggregation-bootstrap-port";
      counted ? c.shell(kFlag, "\"$((8998 + replica))\"") : c.flag(kFlag, 8998);
      s.beside = counted ? " $((8998 + replica))" : " 8998";
    }
  }
  if (p.lora_rank > 0) {
    s.before += ": \"${LORA:?set LORA to NAME=FOLDER of the adapter}\"\n";
    c.flag("--enable-lora").flag("--max-lora-rank", p.lora_rank).shell("--lora-paths", "\"$LORA\"");
  }
  if (p.draft_tokens > 0) {
    // NEXTN runs the model's own MTP layers; one draft at a time, as the plan assumes.
    c.flag("--speculative-algorithm", p.draft == "mtp" ? "NEXTN" : "STANDALONE");
    if (p.draft != "mtp") c.flag("--speculative-draft-model-path", p.draft);
    c.flag("--speculative-num-steps", p.draft_tokens)
        .flag("--speculative-eagle-topk", 1)
        .flag("--speculative-num-draft-tokens", p.draft_tokens + 1);
  }
  return s;
}

}  // namespace ridge::launch
