#include <fmt/format.h>

#include <algorithm>

#include "perf/diffusion/model.hpp"
#include "perf/diffusion/portable.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

using perf::DitKind;
using perf::Stream;

// Reads and writes of a token (in units of its hidden width) by kernels that are not fused in eager PyTorch.
constexpr double kSublayer = 11;  ///< norm 2, scale 2, shift 2, gate 2, residual 3
constexpr double kLayout = 8;     ///< queries, keys, values and output made contiguous
constexpr double kQkNorm =
    34;                      ///< norm of queries and of keys: to 32 bits 3, square 4, mean 2, scale 3, back 3, weight 2
constexpr double kJoin = 8;  ///< queries, keys and values of two streams joined, output parted again
constexpr double kLinear = 16;       ///< linear attention: kernel function and casts to 32 bits
constexpr double kImageElement = 2;  ///< bytes
constexpr double kFewCores = 12;     ///< fewer: cores are large arrays (TPU), and figures per core mean nothing
constexpr int kDeep = 32;            ///< from here on autoencoders have attention and norms of their own (DC-AE)

int heads_of(const Mixer& mixer) {
  return std::max({mixer.heads, mixer.state_v_heads, 1});
}

void add(DitKind& kind, double n, double k, Stream stream) {
  if (kind.product_count < static_cast<int>(kind.products.size())) {
    kind.products[static_cast<std::size_t>(kind.product_count++)] = {n, k, stream};
  }
}

void add_ffn(DitKind& kind, const Ffn& ffn, double hidden, Stream stream) {
  if (ffn.kind == FfnKind::none) return;
  add(kind, (ffn.gated ? 2 : 1) * ffn.width, hidden, stream);
  add(kind, hidden, ffn.width, stream);
}

DitKind dit_kind(const LayerGroup& group, double hidden) {
  const Mixer& mixer = group.mixer;
  const DitBlock& dit = group.dit;
  DitKind kind;
  kind.count = group.count;
  kind.heads = heads_of(mixer);
  kind.head_dim = hidden / kind.heads;
  kind.linear = mixer.kind == MixerKind::linear_attention;
  kind.cross = dit.cross_attention > 0;
  kind.joint = dit.streams > 1 || dit.parallel || dit.joint;
  const Stream stream = dit.joint ? Stream::both : Stream::image;
  kind.host_units = 1 + (dit.second_attention ? 1 : 0);

  const double width = group.ffn.width;
  if (dit.parallel) {
    add(kind, 3 * hidden + (group.ffn.gated ? 2 : 1) * width, hidden, Stream::both);
    add(kind, hidden, hidden + width, Stream::both);
  } else {
    add(kind, 3 * hidden, hidden, stream);
    add(kind, hidden, hidden, stream);
    add_ffn(kind, group.ffn, hidden, stream);
  }
  if (dit.streams > 1) {
    add(kind, 3 * hidden, hidden, Stream::text);
    if (!dit.text_stream_ends) {
      add(kind, hidden, hidden, Stream::text);
      add_ffn(kind, group.ffn, hidden, Stream::text);
    }
    add(kind, (dit.text_modulation > 0 ? dit.text_modulation : dit.modulation) * hidden, hidden, Stream::modulation);
  }
  if (dit.modulation > 0) add(kind, dit.modulation * hidden, hidden, Stream::modulation);
  if (dit.second_attention) {
    add(kind, 3 * hidden, hidden, Stream::image);
    add(kind, hidden, hidden, Stream::image);
    kind.image_attentions = 1;
  }
  if (kind.cross) {
    add(kind, hidden, hidden, Stream::image);
    add(kind, 2 * hidden, dit.cross_attention, Stream::text);
    add(kind, hidden, hidden, Stream::image);
  }
  if (dit.skip) add(kind, hidden, 2 * hidden, Stream::image);

  // Keys times values, and queries times that: one square of the head's width for each head.
  if (kind.linear) kind.state_flops = 4 * hidden * kind.head_dim;
  const double side = group.ffn.depthwise;
  const double inner = (group.ffn.gated ? 2 : 1) * width;
  kind.state_flops += 2 * side * side * inner;

  double units = kSublayer * (dit.parallel ? 1 : 2) + kLayout + (mixer.qk_norm != QkNorm::none ? kQkNorm : 0);
  if (dit.streams > 1) units += kJoin;
  if (dit.parallel) units += 2 * (1 + width / hidden);  // output of both parts joined
  const double activation = ((group.ffn.gated ? 3 : 2) * width + (side > 0 ? 4 * inner : 0)) / hidden;
  units += activation;
  kind.text_bytes = kImageElement * hidden * (kind.joint ? units : 0);
  if (dit.second_attention) units += kSublayer + kLayout + kQkNorm;
  if (kind.cross) units += kSublayer;
  if (kind.linear) units += kLinear;
  kind.image_bytes = kImageElement * hidden * units;
  return kind;
}

class DiffusionResolver {
 public:
  DiffusionResolver(const DiffusionQuery& query, const Knowledge& knowledge) : q_(query), k_(knowledge) {}

  Result<DiffusionPipeline> run() {
    auto model = k_.catalogue.find_model(q_.model);
    if (!model) return model.error();
    auto device = k_.catalogue.find_device(q_.device);
    if (!device) return device.error();
    if (model->id != q_.model) assume("model '{}' is read as {}", q_.model, model->id);
    if (device->id != q_.device) assume("device '{}' is read as {}", q_.device, device->id);
    if (model->type == ModelType::language) {
      return Error{ErrorCode::refused, q_.model, "is a language model: it makes no images; ask `estimate infer`"};
    }
    if (model->type == ModelType::diffusion_unet && model->diffusion.flops_per_evaluation <= 0) {
      return Error{ErrorCode::refused, q_.model, "the work of one evaluation of this UNet is not published"};
    }
    if (model->groups.size() > ResolvedDiffusion::kMaxKinds) {
      return Error{ErrorCode::refused, q_.model,
                   fmt::format("more than {} kinds of blocks are not modelled", ResolvedDiffusion::kMaxKinds)};
    }
    r_.ideal = q_.engine == "ideal" || q_.engine == "roofline";
    if (!r_.ideal && !q_.engine.starts_with("diffusers") && q_.engine != "xdit") {
      assume("which engine runs the pipeline makes no difference, only whether it compiles: '{}' is taken as {}",
             q_.engine, q_.compiled ? "TensorRT and its like" : "diffusers and xDiT in eager PyTorch");
    }
    set_model(*model);
    layout(*model);
    if (const Status status = set_device(std::move(*device)); !status) return status.error();
    memory();
    spreads();
    DiffusionPipeline out;
    out.resolved = std::make_unique<ResolvedDiffusion>(r_);
    out.assumptions = std::move(assumptions_);
    return out;
  }

 private:
  template <class... A>
  void assume(fmt::format_string<A...> text, A&&... values) {
    assumptions_.push_back(fmt::format(text, std::forward<A>(values)...));
  }
  void infeasible(Reason reason, double short_by = 0) {
    if (r_.reason != Reason::none) return;
    r_.reason = reason;
    r_.short_by = short_by;
  }

  void set_model(const Model& model) {
    const Diffusion& d = model.diffusion;
    r_.hidden = model.hidden;
    r_.passes = q_.passes > 0 ? q_.passes : std::max(d.passes_per_step, 1);
    r_.frames = std::max(d.frames, 1);
    r_.vae_time = std::max(d.vae_time, 1);
    r_.patch_time = std::max(d.patch_time, 1);
    denoisers_ = std::max(d.denoisers, 1);
    r_.text_tokens = d.text_tokens;
    const double side = static_cast<double>(std::max(d.patch, 1)) * std::max(d.vae_down, 1);
    r_.pixels_per_token = side * side;
    deep_ = d.vae_down >= kDeep;
    r_.parameters = count_parameters(model).total;
    if (model.type == ModelType::diffusion_unet) {
      r_.unet_flops = d.flops_per_evaluation;
      r_.unet_attention = d.attention_per_evaluation;
      r_.unet_traffic = d.traffic_per_evaluation;
    }
    for (const LayerGroup& group : model.groups) {
      if (group.count > 0) r_.kinds[static_cast<std::size_t>(r_.kind_count++)] = dit_kind(group, model.hidden);
    }
    const auto value = [&](std::string_view name) { return k_.calibration.value(name); };
    const bool known_encoders = d.text_parameters > 0;
    r_.text_parameters = known_encoders ? d.text_parameters : value("diffusion.text_encoder");
    r_.vae_flops_per_pixel = d.vae_flops_per_pixel > 0 ? d.vae_flops_per_pixel : value("diffusion.vae_work");
    r_.vae_bytes_per_pixel = value("diffusion.vae_memory");
    if (!known_encoders) assume("text encoders of {:.1f} billion parameters", r_.text_parameters / 1e9);
    if (denoisers_ > 1) assume("{} networks are loaded, one works at a time", denoisers_);
  }

  void layout(const Model& model) {
    int heads = 1;
    for (const LayerGroup& group : model.groups) heads = std::max(heads, heads_of(group.mixer));
    const int cfg = std::max(q_.cfg, 1);
    const int all = q_.gpus > 0 ? q_.gpus : cfg * std::max(q_.ulysses, 1) * std::max(q_.ring, 1);
    if (all % cfg != 0) infeasible(Reason::gpus_do_not_multiply, cfg);
    if (cfg > r_.passes) infeasible(Reason::bad_value, cfg);  // as many passes as devices that share them, or more
    int gpus = std::max(1, all / cfg);
    if (r_.unet_flops > 0 && gpus > 1 && q_.ulysses <= 1 && q_.ring <= 1) {
      r_.copies = gpus;
      gpus = 1;
      assume("a UNet has no sequence to share out: {:.0f} calls run side by side", r_.copies);
    }
    int ulysses = q_.ulysses;
    int ring = q_.ring;
    if (ulysses <= 0 && ring > 0) ulysses = std::max(1, gpus / ring);
    if (ulysses <= 0) {
      ulysses = gpus;
      while (ulysses > 1 && (gpus % ulysses != 0 || heads % ulysses != 0)) --ulysses;
      if (gpus > 1) assume("sequence parallel: Ulysses over {}, ring over {}", ulysses, gpus / ulysses);
    }
    if (ring <= 0) ring = std::max(1, gpus / ulysses);
    if (ulysses * ring != gpus) infeasible(Reason::gpus_do_not_multiply, cfg * ulysses * ring);
    if (r_.unet_flops > 0 && gpus > 1) infeasible(Reason::sequence_not_divisible, gpus);
    if (heads % ulysses != 0) infeasible(Reason::heads_not_divisible, heads);
    r_.gpus = all;
    r_.cfg = cfg;
    r_.ulysses = ulysses;
    r_.ring = ring;
    r_.vae_parallel = q_.vae_parallel;
  }

  Status set_device(Device device) {
    const auto scale = [](auto& figure, double factor) {
      if (figure) figure->value *= factor;
    };
    for (auto& peak : device.peak_dense) scale(peak, q_.scale.compute * q_.scale.clock);
    scale(device.memory_bandwidth, q_.scale.memory_bandwidth);
    scale(device.memory_capacity, q_.scale.memory_capacity);
    scale(device.scale_up_per_direction, q_.scale.scale_up);
    scale(device.scale_up_peer_per_direction, q_.scale.scale_up);
    scale(device.boost_clock, q_.scale.clock);
    auto rates = r_.ideal ? perf::datasheet_rates(device) : perf::device_rates(device, k_.catalogue, k_.calibration);
    if (!rates) return rates.error();
    r_.device = *rates;
    if (q_.power_cap > 0) {
      const auto said = perf::cap_power(r_.device, q_.power_cap, device.id, k_.calibration);
      if (!said) return said.error();
      for (const std::string& text : *said) assume("{}", text);
    }
    const Format weights = q_.weights.value_or(Format::bf16);
    if (!q_.weights) assume("weights in {}", name(weights));
    const bool native = r_.device.native[static_cast<std::size_t>(weights)];
    const Format activations = native && weights != Format::fp32 ? weights : Format::bf16;
    r_.pass_bytes = r_.parameters * bytes_per_weight(weights);
    r_.weight_bytes = denoisers_ * r_.pass_bytes;
    const auto value = [&](std::string_view name) { return k_.calibration.value(name); };
    known_ = k_.calibration.knows_kernels_of(device.architecture);
    if (r_.ideal) {
      r_.gemm = perf::ideal_gemm_rates(r_.device, weights, activations);
      r_.wide_flops = perf::ideal_gemm_rates(r_.device, Format::bf16, Format::bf16).flops;
      const Format pairs = q_.attention.value_or(Format::bf16);
      r_.attention = perf::ideal_attention_rates(r_.device, pairs, pairs);
      r_.link.bandwidth = r_.link.peer_bandwidth =
          device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : r_.device.host_link;
      r_.device.architecture = {};
      r_.device.design = {};
      return {};
    }
    r_.gemm = perf::gemm_rates(r_.device, k_.calibration, weights, activations);
    r_.wide_flops = perf::gemm_rates(r_.device, k_.calibration, Format::bf16, Format::bf16).flops;
    q_.compiled ? current_attention(device.architecture) : portable_attention();
    r_.link = perf::scale_up_link(device, k_.calibration);
    const double share = q_.compiled ? 1 : value("diffusion.link");  // fused: nothing is transposed around an exchange
    r_.link.bandwidth *= share;
    r_.link.peer_bandwidth *= share;
    r_.power = perf::power_coefficients(k_.calibration, r_.device.architecture);
    // Where kernels were never timed alone, pictures lose what prompts lose in servers on the same chips.
    const double prompts =
        known_ ? 1 : k_.calibration.value("serving.prefill", {device.architecture}) / value("serving.prefill");
    r_.costs = {.elementwise = elementwise_rate(),
                .attention = value("diffusion.attention") * prompts,
                .linear = value("diffusion.linear") * prompts,
                .vae = k_.calibration.value("diffusion.vae", {deep_ ? "deep" : ""}),
                .unet = value("diffusion.unet"),
                .call = value("diffusion.call"),
                .host = value("diffusion.host"),
                .host_parallel = value("diffusion.host_parallel"),
                .host_ring = value("diffusion.host_ring")};
    if (q_.compiled) {
      r_.costs.elementwise = r_.device.memory_bandwidth * r_.device.memory_share;
      r_.costs.traffic = value("diffusion.fused");
      r_.costs.vae = std::min(1.0, r_.costs.vae * value("diffusion.vae_compiled"));
      r_.costs.linear *= value("diffusion.compiled");
      r_.costs.attention *= value("diffusion.compiled");
      r_.costs.call = r_.costs.host = r_.costs.host_parallel = r_.costs.host_ring = 0;  // graphs; calls follow in a row
    }
    r_.device.architecture = {};  // nothing resolved points into the catalogue
    r_.device.design = {};        // nor is timed by its design
    return {};
  }

  /// Bytes/s of kernels that do one operation each: a core issues only so many loads and stores a clock, however fast
  /// the memory behind it is; and no more than half of the memory's rate, as where cores are few and large.
  [[nodiscard]] double elementwise_rate() const {
    const double memory = 0.5 * r_.device.memory_bandwidth;
    if (r_.device.cores < kFewCores) return memory;
    return std::min(memory, perf::core_clocks(r_.device) * k_.calibration.value("diffusion.elementwise"));
  }

  /// Portable kernels (FlashAttention-2) use the matrix instructions that all generations share: 2,048 FLOPs per core
  /// and clock, whatever later ones would give.
  void portable_attention() {
    r_.attention =
        perf::attention_rates(r_.device, k_.calibration, Format::bf16, Format::bf16, perf::AttentionPath::library);
    if (r_.device.cores < kFewCores) return;
    const double shared =
        perf::core_clocks(r_.device) * perf::kSharedMatrixFlops * k_.calibration.value("attention.prefill");
    r_.attention.prefill_flops = std::min(r_.attention.prefill_flops, shared);
  }

  /// What FlashAttention-3, cuDNN and their like reach on the device itself.
  void current_attention(std::string_view architecture) {
    const Format pairs = q_.attention.value_or(Format::bf16);
    r_.attention = perf::attention_rates(r_.device, k_.calibration, pairs, pairs, perf::AttentionPath::library);
    r_.attention.exponentials *= k_.calibration.value("diffusion.exponential", {architecture});
  }

  void memory() {
    const double text = 2 * r_.text_parameters;
    r_.resident_bytes = q_.takes_turns ? std::max(r_.pass_bytes, text) : r_.weight_bytes + text;
    if (q_.takes_turns) {
      r_.moved_bytes = 2 * (r_.weight_bytes + text);
      assume("each part crosses from host memory and back in every call, at {}",
             format(BytesPerSecond(r_.device.host_link)));
    }
    const double missing = r_.resident_bytes - r_.device.memory_capacity;
    if (missing > 0) infeasible(Reason::out_of_memory, missing);
  }

  void spreads() {
    static constexpr std::string_view kNames[] = {"batch_latency_s/diffusion", "power_w/diffusion",
                                                  "energy_per_image_j/diffusion"};
    for (std::size_t i = 0; i < 3; ++i) {
      const IntervalClass* c = k_.calibration.interval(kNames[i], known_ ? "diffusion" : "new-device");
      if (c != nullptr && !r_.ideal) r_.spread[i] = {c->low, c->high};
    }
    if (r_.ideal) return;
    // Pipelines were measured in eager PyTorch, of transformers, on two devices: what else is asked is known less well.
    if (q_.compiled) r_.unsure_whole = prior_spread("diffusion.compiled");
    r_.unsure_unet = prior_spread("diffusion.unet");
    r_.unsure_vae = prior_spread(q_.compiled ? "diffusion.vae_compiled" : "diffusion.vae");
  }

  [[nodiscard]] double prior_spread(std::string_view name) const {
    for (const Parameter& p : k_.calibration.parameters()) {
      if (p.name == name) return p.spread;
    }
    return 0;
  }

  const DiffusionQuery& q_;
  const Knowledge& k_;
  ResolvedDiffusion r_;
  bool known_ = false;
  int denoisers_ = 1;
  bool deep_ = false;  ///< a decoder that starts at a 32nd of the side
  std::vector<std::string> assumptions_;
};

}  // namespace

DiffusionPipeline::DiffusionPipeline() = default;
DiffusionPipeline::DiffusionPipeline(DiffusionPipeline&&) noexcept = default;
DiffusionPipeline& DiffusionPipeline::operator=(DiffusionPipeline&&) noexcept = default;
DiffusionPipeline::~DiffusionPipeline() = default;

Result<DiffusionPipeline> resolve(const DiffusionQuery& query, const Knowledge& knowledge) {
  return DiffusionResolver(query, knowledge).run();
}

}  // namespace ridge
