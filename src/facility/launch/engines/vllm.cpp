// vllm serve.
#include <fmt/format.h>

#include <array>

#include "facility/launch/exchange.hpp"
#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

/// Ranks that vLLM takes for adapters; it pads to the next one.
int lora_slot(int rank) {
  for (const int slot : {1, 8, 16, 32, 64, 128, 256, 320, 512}) {
    if (rank <= slot) return slot;
  }
  return 0;
}

}  // namespace

Result<Process> vllm_server(const LaunchPlan& p, std::string_view port) {
  Process s{.command = Command("vllm serve " + shell_word(p.checkpoint))};
  Command& c = s.command;
  c.flag("--served-model-name", p.model).shell("--host", "\"$HOST\"").shell("--port", port);
  number_flags_of(c, p);
  if (p.embeds) c.flag("--runner", "pooling");
  if (p.ep > 1) {
    if (p.ep != p.tp * p.dp) {
      return cannot(fmt::format("vLLM spreads experts over all tp × dp = {} ranks, not over {}: say ⟦ep={}⟧ or 1",
                                p.tp * p.dp, p.ep, p.tp * p.dp));
    }
    c.flag("--enable-expert-parallel");
    if (const ExchangeFlags way = exchange_flags(p); !way.backend.empty()) c.flag("--all2all-backend", way.backend);
    if (p.rebalanced) c.flag("--enable-eplb");
    if (p.redundant_experts > 0)
      c.flag("--eplb-config", fmt::format("{{\"num_redundant_experts\": {}}}", p.redundant_experts));
    if (p.two_batches) c.flag("--enable-dbo");
  }
  if (spans_nodes(p)) {
    // The engine starts its ranks on all nodes by itself; only the first one listens for requests.
    s.before = "HEADLESS=()\nif ((NODE_RANK > 0)); then HEADLESS=(--headless); fi\n";
    c.flag("--distributed-executor-backend", "mp")
        .shell("--nnodes", "\"$NODES\"")
        .shell("--node-rank", "\"$NODE_RANK\"")
        .shell("--master-addr", "\"$MASTER_ADDR\"")
        .raw("\"${HEADLESS[@]}\"");
  }
  // A checkpoint says by itself how its weights are stored; a flag is for weights that are narrowed while they load.
  if (p.online) c.flag("--quantization", "fp8");
  if (p.weights == Format::bf16 || p.weights == Format::fp16 || p.weights == Format::fp32) {
    c.flag("--dtype", p.weights == Format::bf16 ? "bfloat16" : p.weights == Format::fp16 ? "float16" : "float32");
  }
  if (is_gguf(p.weights)) return cannot("vLLM reads no GGUF: emit for llamacpp, or say ⟦precision=int4⟧");
  const FormatFlag* kv = find_format(kv_flags(p.runner), p.kv);
  if (kv == nullptr) return cannot(fmt::format("vLLM keeps no KV cache in {}: take fp8 or 16 bits", name(p.kv)));
  c.flag(kv->flag, kv->value);
  if (p.memory_utilization > 0) c.flag("--gpu-memory-utilization", p.memory_utilization);
  if (p.prefix_hit > 0) c.flag("--enable-prefix-caching");
  if (p.role != PoolRole::both) {
    if (!p.hardware.pools) {
      return cannot(fmt::format("vLLM hands caches over by NIXL, which is not there for devices of {}", p.vendor));
    }
    // Every data-parallel rank of a server takes a port of its own for the handshake.
    s.variables = {{"VLLM_NIXL_SIDE_CHANNEL_HOST", "\"$(hostname -i | cut -d' ' -f1)\""},
                   {"VLLM_NIXL_SIDE_CHANNEL_PORT",
                    fmt::format("\"$(({} + replica * {}))\"", p.role == PoolRole::prefill ? 5600 : 5800, p.dp)}};
    c.flag("--kv-transfer-config", fmt::format("{{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"{}\"}}",
                                               p.role == PoolRole::prefill ? "kv_producer" : "kv_consumer"));
  }
  if (p.lora_rank > 0) {
    const int slot = lora_slot(p.lora_rank);
    if (slot == 0) return cannot(fmt::format("vLLM takes adapters up to rank 512, not {}", p.lora_rank));
    s.before += ": \"${LORA:?set LORA to NAME=FOLDER of the adapter}\"\n";
    c.flag("--enable-lora").flag("--max-lora-rank", slot).shell("--lora-modules", "\"$LORA\"");
  }
  if (p.draft_tokens > 0) {
    c.flag("--speculative-config",
           p.draft == "mtp"
               ? fmt::format("{{\"method\": \"mtp\", \"num_speculative_tokens\": {}}}", p.draft_tokens)
               : fmt::format("{{\"method\": \"draft_model\", \"model\": \"{}\", \"num_speculative_tokens\": {}}}",
                             p.draft, p.draft_tokens));
  }
  return s;
}

}  // namespace ridge::launch
