#include "facility/launch/flags.hpp"

#include <algorithm>

namespace ridge::launch {

namespace {

constexpr NumberFlag kVllm[] = {
    {"--tensor-parallel-size", &LaunchPlan::tp, 1},
    {"--pipeline-parallel-size", &LaunchPlan::pp, 1},
    {"--data-parallel-size", &LaunchPlan::dp, 1},
    {"--max-num-seqs", &LaunchPlan::max_sequences, 0},
    {"--max-num-batched-tokens", &LaunchPlan::max_batched_tokens, 0},
    {"--max-model-len", &LaunchPlan::max_length, 0},
};
constexpr NumberFlag kSglang[] = {
    {"--pp-size", &LaunchPlan::pp, 1},
    {"--dp-size", &LaunchPlan::dp, 1},
    {"--ep-size", &LaunchPlan::ep, 1},
    {"--context-length", &LaunchPlan::max_length, 0},
};
constexpr NumberFlag kLlamacpp[] = {
    {"--parallel", &LaunchPlan::max_sequences, 0},
};
constexpr NumberFlag kTrtllm[] = {
    {"--pp_size", &LaunchPlan::pp, 1},
    {"--ep_size", &LaunchPlan::ep, 1},
    {"--max_batch_size", &LaunchPlan::max_sequences, 0},
    {"--max_num_tokens", &LaunchPlan::max_batched_tokens, 0},
    {"--max_seq_len", &LaunchPlan::max_length, 0},
};
constexpr NumberFlag kMegatron[] = {
    {"--tensor-model-parallel-size", &LaunchPlan::tp, 1},
    {"--pipeline-model-parallel-size", &LaunchPlan::pp, 1},
    {"--num-virtual-stages-per-pipeline-rank", &LaunchPlan::vp, 1},
    {"--context-parallel-size", &LaunchPlan::cp, 1},
    {"--expert-model-parallel-size", &LaunchPlan::ep, 1},
    {"--seq-length", &LaunchPlan::sequence, 0},
    {"--micro-batch-size", &LaunchPlan::micro_batch, 0},
    {"--global-batch-size", &LaunchPlan::global_batch, 0},
};
constexpr NumberFlag kTorchtitan[] = {
    {"--parallelism.tensor_parallel_degree", &LaunchPlan::tp, 1},
    {"--parallelism.pipeline_parallel_degree", &LaunchPlan::pp, 1},
    {"--parallelism.context_parallel_degree", &LaunchPlan::cp, 1},
    {"--parallelism.expert_parallel_degree", &LaunchPlan::ep, 1},
    {"--parallelism.expert_tensor_parallel_degree", &LaunchPlan::etp, 1},
    {"--training.seq_len", &LaunchPlan::sequence, 0},
    {"--training.global_batch_size", &LaunchPlan::global_batch, 0},
};

constexpr NumberFlag kBridge[] = {
    {"--tensor_model_parallel_size", &LaunchPlan::tp, 1},
    {"--pipeline_model_parallel_size", &LaunchPlan::pp, 1},
    {"--virtual_pipeline_model_parallel_size", &LaunchPlan::vp, 1},
    {"--context_parallel_size", &LaunchPlan::cp, 1},
    {"--expert_model_parallel_size", &LaunchPlan::ep, 1},
    {"--seq_length", &LaunchPlan::sequence, 0},
    {"--micro_batch_size", &LaunchPlan::micro_batch, 0},
    {"--global_batch_size", &LaunchPlan::global_batch, 0},
};

constexpr ShapeFlag kShape[] = {
    {"--num-layers", &ModelShape::layers, 0},
    {"--hidden-size", &ModelShape::hidden, 0},
    {"--num-attention-heads", &ModelShape::heads, 0},
    {"--num-query-groups", &ModelShape::kv_heads, 0},
    {"--kv-channels", &ModelShape::head_dim, 0},
    {"--ffn-hidden-size", &ModelShape::ffn, 0},
    {"--vocab-size", &ModelShape::vocab, 0},
    {"--max-position-embeddings", &ModelShape::context, 0},
    {"--num-experts", &ModelShape::experts, 0},
    {"--moe-router-topk", &ModelShape::top_k, 0},
    {"--moe-ffn-hidden-size", &ModelShape::expert_ffn, 0},
    {"--moe-shared-expert-intermediate-size", &ModelShape::shared_ffn, 0},
    {"--q-lora-rank", &ModelShape::q_lora, 0},
    {"--kv-lora-rank", &ModelShape::kv_lora, 0},
    {"--qk-head-dim", &ModelShape::qk_nope, 0},
    {"--qk-pos-emb-head-dim", &ModelShape::qk_rope, 0},
    {"--v-head-dim", &ModelShape::v_dim, 0},
    {"--moe-router-num-groups", &ModelShape::groups, 0},
    {"--moe-router-group-topk", &ModelShape::groups_chosen, 0},
    {"--mtp-num-layers", &ModelShape::mtp_layers, 0},
};

constexpr NumberOfShape kNumbers[] = {
    {"--rotary-base", &ModelShape::rotary_base},
    {"--norm-epsilon", &ModelShape::norm_epsilon},
    {"--rope-scaling-factor", &ModelShape::rope_scaling},
    {"--rotary-scaling-factor", &ModelShape::yarn},
    {"--moe-router-topk-scaling-factor", &ModelShape::router_scaling},
};

// What a flag says about weights, for reading files that people wrote; of those we write, a comment says it.
constexpr FormatFlag kServedWeights[] = {
    {Format::bf16, "--dtype", "bfloat16"},
    {Format::fp16, "--dtype", "float16"},
    {Format::fp16, "--dtype", "half"},
    {Format::fp32, "--dtype", "float32"},
    {Format::fp8, "--quantization", "fp8"},
    {Format::fp8, "--quantization", "modelopt"},
    {Format::fp8, "--quantization", "modelopt_fp8"},
    {Format::fp8, "--quantization", "w8a8_fp8"},
    {Format::int8, "--quantization", "w8a8_int8"},
    {Format::int4, "--quantization", "awq"},
    {Format::int4, "--quantization", "awq_marlin"},
    {Format::int4, "--quantization", "gptq"},
    {Format::int4, "--quantization", "gptq_marlin"},
    {Format::mxfp4, "--quantization", "mxfp4"},
    {Format::nvfp4, "--quantization", "modelopt_fp4"},
    {Format::q4_k_m, "--quantization", "gguf"},
};
constexpr FormatFlag kVllmKv[] = {{Format::bf16, "--kv-cache-dtype", "bfloat16"},
                                  {Format::fp8, "--kv-cache-dtype", "fp8"}};
constexpr FormatFlag kSglangKv[] = {{Format::bf16, "--kv-cache-dtype", "bfloat16"},
                                    {Format::fp8, "--kv-cache-dtype", "fp8_e4m3"}};
constexpr FormatFlag kLlamacppKv[] = {{Format::bf16, "--cache-type-k", "f16"},
                                      {Format::int8, "--cache-type-k", "q8_0"}};
// Not flags but keys of the options file that the script writes.
constexpr FormatFlag kTrtllmKv[] = {
    {Format::bf16, "", ""}, {Format::fp8, "dtype:", "fp8"}, {Format::int8, "dtype:", "int8"}};
// Switches and recipes are read where they stand; these only say which precisions there are.
constexpr FormatFlag kMegatronPrecision[] = {{Format::bf16, "", ""},
                                             {Format::fp16, "", ""},
                                             {Format::fp8, "--fp8-format", "hybrid"},
                                             {Format::mxfp8, "--fp8-recipe", "mxfp8"},
                                             {Format::nvfp4, "--fp4-format", "e2m1"}};
constexpr FormatFlag kTitanPrecision[] = {{Format::bf16, "", ""},
                                          {Format::fp8, "--model.converters", "quantize.linear.float8"},
                                          {Format::mxfp8, "--model.converters", "quantize.linear.mx"}};

constexpr std::string_view kSwitches[] = {
    "--enable-expert-parallel",
    "--enable-eplb",
    "--enable-dbo",
    "--enable-two-batch-overlap",
    "--enable-dp-attention",
    "--trust-remote-code",
    "--enable-prefix-caching",
    "--bf16",
    "--fp16",
    "--use-mcore-models",
    "--sequence-parallel",
    "--use-distributed-optimizer",
    "--use-megatron-fsdp",
    "--recompute-activations",
    "--group-query-attention",
    "--swiglu",
    "--untie-embeddings-and-output-weights",
    "--multi-latent-attention",
    "--moe-grouped-gemm",
    "--overlap-grad-reduce",
    "--overlap-param-gather",
    "--disable-bias-linear",
    "--qk-layernorm",
    "--account-for-embedding-in-pipeline-split",
    "--account-for-loss-in-pipeline-split",
    "--headless",
    "--metrics",
    "--enable-lora",
    "--use-rope-scaling",
    "--add-qkv-bias",
    "--moe-shared-expert-gate",
    "--moe-router-enable-expert-bias",
    "--moe-permute-fusion",
    "--no-load-rng",
    "--exit-on-missing-checkpoint",
    "--cross-entropy-loss-fusion",
    "--checkpoint.enable",
    "--compile.enable",
    "--no-gradient-accumulation-fusion",
    "--init-model-with-meta-device",
    "--log-throughput",
    "--enable-metrics",
    "--deepspeed",
};

}  // namespace

std::span<const NumberFlag> number_flags(LaunchTarget runner) {
  switch (runner) {
    case LaunchTarget::vllm:
      return kVllm;
    case LaunchTarget::sglang:
      return kSglang;
    case LaunchTarget::trtllm:
      return kTrtllm;
    case LaunchTarget::llamacpp:
      return kLlamacpp;
    case LaunchTarget::megatron:
    case LaunchTarget::primus:
      return kMegatron;
    case LaunchTarget::bridge:
      return kBridge;
    case LaunchTarget::torchrun:
      return kTorchtitan;
    case LaunchTarget::deepspeed:
    case LaunchTarget::maxtext:
    case LaunchTarget::slurm:
    case LaunchTarget::k8s:
    case LaunchTarget::dynamo:
      break;
  }
  return {};
}

std::span<const ShapeFlag> shape_flags() {
  return kShape;
}

std::span<const NumberOfShape> shape_numbers() {
  return kNumbers;
}

std::span<const FormatFlag> weight_flags(LaunchTarget runner) {
  if (runner == LaunchTarget::vllm || runner == LaunchTarget::sglang) return kServedWeights;
  if (runner == LaunchTarget::megatron || runner == LaunchTarget::primus) return kMegatronPrecision;
  if (runner == LaunchTarget::torchrun) return kTitanPrecision;
  return {};
}

std::span<const FormatFlag> kv_flags(LaunchTarget runner) {
  if (runner == LaunchTarget::vllm) return kVllmKv;
  if (runner == LaunchTarget::sglang) return kSglangKv;
  if (runner == LaunchTarget::trtllm) return kTrtllmKv;
  if (runner == LaunchTarget::llamacpp) return kLlamacppKv;
  return {};
}

const FormatFlag* find_format(std::span<const FormatFlag> all, Format format) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const FormatFlag& f) { return f.format == format; });
  return at == all.end() ? nullptr : &*at;
}

bool is_switch(std::string_view flag) {
  return std::find(std::begin(kSwitches), std::end(kSwitches), flag) != std::end(kSwitches);
}

}  // namespace ridge::launch
