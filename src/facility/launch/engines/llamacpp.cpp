// llama-server of llama.cpp.
#include <fmt/format.h>

#include "facility/launch/flags.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

Result<Process> llamacpp_server(const LaunchPlan& p, std::string_view port) {
  if (spans_nodes(p)) {
    return cannot(
        fmt::format("llama.cpp serves from one node, a replica takes {} devices of nodes of {}: emit for vllm",
                    per_replica(p), p.gpus_per_node));
  }
  if (p.dp > 1 || p.ep > 1) return cannot("llama.cpp has no data- or expert-parallel ranks: say ⟦dp=1⟧ ⟦ep=1⟧");
  if (p.tp > 1 && p.pp > 1)
    return cannot("llama.cpp splits a model by layers or by tensors, not both: say ⟦tp=1⟧ or ⟦pp=1⟧");
  if (p.role != PoolRole::both) return cannot("llama.cpp hands no caches over: emit pools for vllm, sglang or trtllm");
  if (p.online) return cannot("llama.cpp does not narrow weights while it loads them");
  Process s{.command = Command("llama-server")};
  Command& c = s.command;
  if (p.checkpoint.ends_with(".gguf")) {
    c.flag("--model", p.checkpoint);
  } else {
    c.flag("--hf-repo", p.checkpoint);
  }
  c.flag("--alias", p.model).shell("--host", "\"$HOST\"").shell("--port", port);
  // All layers on the devices, and nothing adjusted behind the plan's back.
  c.flag("--n-gpu-layers", "all").flag("--fit", "off").flag("--flash-attn", "on");
  if (per_replica(p) == 1) {
    c.flag("--split-mode", "none");
  } else {
    std::string shares = "1";
    for (int i = 1; i < per_replica(p); ++i) shares += ",1";
    c.flag("--split-mode", p.tp > 1 ? "tensor" : "layer").flag("--tensor-split", shares);
  }
  number_flags_of(c, p);
  // Slots share the context evenly: each gets its longest sequence.
  if (p.max_length > 0) c.flag("--ctx-size", p.max_length * std::max(1, p.max_sequences));
  if (p.max_batched_tokens > 0) {
    c.flag("--batch-size", p.max_batched_tokens).flag("--ubatch-size", p.max_batched_tokens);
  }
  const FormatFlag* kv = find_format(kv_flags(p.runner), p.kv);
  if (kv == nullptr) return cannot(fmt::format("llama.cpp keeps no KV cache in {}: take int8 or 16 bits", name(p.kv)));
  c.flag(kv->flag, kv->value).flag("--cache-type-v", kv->value);
  // By default a slot's cache is copied to the host before another prompt takes the slot: 67 MB for 512 tokens of an 8B
  // model, half of its TTFT. A plan without shared beginnings has no use for it.
  if (p.prefix_hit == 0) c.flag("--cache-ram", 0);
  if (p.lora_rank > 0) {
    s.before += ": \"${LORA:?set LORA to the adapter in GGUF}\"\n";
    c.shell("--lora", "\"$LORA\"");
  }
  if (p.draft_tokens > 0) {
    if (p.draft == "mtp") return cannot("llama.cpp drafts by a second model: say ⟦draft_model=FILE.gguf⟧");
    c.flag("--spec-draft-model", p.draft).flag("--spec-draft-n-max", p.draft_tokens);
  }
  c.flag("--metrics");
  return s;
}

}  // namespace ridge::launch
