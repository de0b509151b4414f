// From blocks to the time of a step, from steps to a call, from a call to power and energy.
#include <algorithm>
#include <cmath>

#include "base/normal.hpp"
#include "perf/diffusion/model.hpp"
#include "perf/operators/positions.hpp"

namespace ridge {
namespace {

using perf::AttentionShape;
using perf::Collective;
using perf::DiffusionMetric;
using perf::DitKind;
using perf::DitProduct;
using perf::OpTime;
using perf::Stream;

constexpr double kElement = 2;  // bytes of an activation
constexpr double kMegapixel = 1024.0 * 1024.0;
constexpr double kUsable = 0.98;          // of the memory, the rest is the driver's
constexpr double kUnetBlocks = 40;        // host work of SDXL's 70 short transformer blocks and 17 residual ones
constexpr double kLiveActivations = 20;   // of a block, in tokens of the hidden width
constexpr double kUnetAttention = 64;     // channels of a head of a UNet
constexpr double kDecoderTile = 512;      // pixels of the side of a decoder's tile
constexpr double kDecoderOverlap = 0.25;  // of it, worked on twice

/// Work of one device, by kind.
struct Work {
  std::array<double, kTerms> terms{};
  double flops = 0, bytes = 0;
  double compute = 0, memory = 0, network = 0, fixed = 0;
  double useful = 0;  ///< FLOPs of the operators, all devices, without what is done twice

  void add(Term term, const OpTime& t, double factor, double times) {
    terms[perf::index(term)] += t.seconds * factor * times;
    compute += t.compute * factor * times;
    memory += t.memory * factor * times;
    fixed += t.fixed * factor * times;
  }
  void add_host(double seconds) {
    terms[perf::index(Term::host)] += seconds;
    fixed += seconds;
  }
  [[nodiscard]] double seconds() const {
    double sum = 0;
    for (const double t : terms) sum += t;
    return sum;
  }
};

class DiffusionEvaluation {
 public:
  DiffusionEvaluation(const ResolvedDiffusion& r, const DiffusionLoad& load) noexcept
      : r_(r), load_(load), frames_(load.frames > 0 ? load.frames : r.frames), images_(load.batch * r.passes / r.cfg) {
    const double pixels = load.width * load.height;
    // A causal decoder keeps the first frame alone and makes vae_time frames of each latent one after it.
    latent_frames_ = 1 + std::ceil((frames_ - 1) / r.vae_time);
    image_ = std::max(1.0, pixels / r.pixels_per_token * std::ceil(latent_frames_ / r.patch_time));
    const double ranks = r.ulysses * r.ring;
    image_here_ = image_ / ranks;
    // Text that cannot be cut evenly stays whole on every device (xDiT).
    text_here_ = std::fmod(r.text_tokens, ranks) == 0 ? r.text_tokens / ranks : r.text_tokens;
  }

  DiffusionOutcome run() noexcept {
    if (r_.reason != Reason::none) {
      out_.reason = r_.reason;
      out_.short_by = r_.short_by;
      return out_;
    }
    if (!(load_.steps >= 1 && load_.width >= 1 && load_.height >= 1 && load_.batch >= 1 && frames_ >= 1)) {
      out_.reason = Reason::bad_value;
      return out_;
    }
    out_.estimate.tokens = image_;
    out_.estimate.frames = frames_;
    memory();
    if (out_.reason != Reason::none) return out_;
    Work step;
    if (r_.unet_flops > 0) {
      unet(step);
    } else {
      for (int i = 0; i < r_.kind_count; ++i) blocks(r_.kinds[static_cast<std::size_t>(i)], step);
    }
    finish(step);
    return out_;
  }

 private:
  void memory() noexcept {
    // A clip is decoded one latent frame after the other.
    const double at_once = std::min(frames_, r_.vae_time);
    const double share = r_.vae_parallel ? r_.gpus / r_.copies : 1;
    const double vae = load_.width * load_.height * load_.batch * at_once * r_.vae_bytes_per_pixel / share;
    const double tile = std::min(vae, kDecoderTile * kDecoderTile * at_once * r_.vae_bytes_per_pixel);
    const double tokens = images_ * (image_here_ + text_here_);
    const double steps = kLiveActivations * kElement * tokens * r_.hidden;
    const double weights = r_.resident_bytes;
    const double usable = kUsable * r_.device.memory_capacity;
    const double room = usable - weights;
    const double beside = r_.moved_bytes > 0 ? weights : 0;  // the decoder has the device to itself, or not
    const auto needed = [&](double decoder) { return r_.ideal ? 0 : std::max(decoder - beside, steps); };
    DiffusionEstimate& e = out_.estimate;
    e.vae_tiled = needed(vae) > room && needed(tile) <= room;
    const double activations = needed(e.vae_tiled ? tile : vae);
    e.memory_bytes[static_cast<std::size_t>(MemoryPart::weights)] = weights;
    e.memory_bytes[static_cast<std::size_t>(MemoryPart::activations)] = activations;
    e.memory_bytes[static_cast<std::size_t>(MemoryPart::reserve)] = (1 - kUsable) * r_.device.memory_capacity;
    if (activations > room) {
      out_.reason = Reason::out_of_memory;
      out_.short_by = activations - room;
    }
  }

  [[nodiscard]] double rows(Stream stream) const {
    switch (stream) {
      case Stream::image:
        return images_ * image_here_;
      case Stream::text:
        return images_ * text_here_;
      case Stream::both:
        return images_ * (image_here_ + text_here_);
      case Stream::modulation:
        return images_;
    }
    return 0;
  }
  [[nodiscard]] double all_rows(Stream stream) const {
    switch (stream) {
      case Stream::image:
        return images_ * image_;
      case Stream::text:
        return images_ * r_.text_tokens;
      case Stream::both:
        return images_ * (image_ + r_.text_tokens);
      case Stream::modulation:
        return images_;
    }
    return 0;
  }

  /// Every query meets every key. The kernel's model is causal: of the last q of n positions, q (n - q) + q (q + 1) / 2
  /// pairs, which is q x kv at n = kv + (q - 1) / 2.
  void attend(const DitKind& kind, double queries, double keys, double heads, double times, double useful,
              Work& work) const noexcept {
    AttentionShape shape;
    shape.batch = images_;
    shape.q_len = queries;
    shape.kv_len = keys + 0.5 * (queries - 1);
    shape.q_heads = shape.kv_heads = heads;
    shape.head_dim = kind.head_dim;
    const OpTime t = perf::attention_prefill_time(r_.attention, shape);
    work.add(Term::attention, t, r_.costs.attention, times);
    work.flops += 4 * images_ * heads * kind.head_dim * queries * keys * times;
    work.bytes += t.memory * r_.attention.token_bandwidth * times;
    work.useful += useful;
  }

  /// Self-attention over `tokens` tokens, each device with its heads, keys and values passing by in turns.
  void self_attention(const DitKind& kind, double tokens, double times, Work& work) const noexcept {
    const double heads = kind.heads / r_.ulysses;
    const double part = tokens / r_.ring;
    const double useful = 4 * images_ * kind.heads * kind.head_dim * tokens * tokens * times;
    if (!kind.linear) attend(kind, part, part, heads, r_.ring * times, useful, work);
    const double sharing = r_.ulysses * r_.ring;
    if (sharing <= 1) return;
    const double width = kElement * images_ * r_.hidden;
    double seconds = 0;
    if (r_.ulysses > 1) {  // queries, keys and values to their heads, outputs back to their tokens
      seconds += 4 * perf::collective_time(r_.link, Collective::all_to_all, r_.ulysses, width * tokens / sharing);
    }
    if (r_.ring > 1) {
      const double each = perf::collective_time(r_.link, Collective::send, 2, 2 * width * part / r_.ulysses);
      seconds += (r_.ring - 1) * each;
    }
    work.terms[perf::index(Term::scale_up)] += seconds * times;
    work.network += seconds * times;
  }

  void blocks(const DitKind& kind, Work& total) const noexcept {
    Work work;  // of one block
    for (int i = 0; i < kind.product_count; ++i) {
      const DitProduct& p = kind.products[static_cast<std::size_t>(i)];
      const double m = rows(p.stream);
      if (m <= 0) continue;
      work.add(Term::linear, perf::gemm_time(r_.gemm, m, p.n, p.k), r_.costs.linear, 1);
      work.flops += 2 * m * p.n * p.k;
      work.bytes += r_.gemm.bytes_weight * p.n * p.k + kElement * m * (p.n + p.k);
      work.useful += 2 * all_rows(p.stream) * p.n * p.k;
    }
    self_attention(kind, image_ + (kind.joint ? r_.text_tokens : 0), 1, work);
    if (kind.image_attentions > 0) self_attention(kind, image_, kind.image_attentions, work);
    if (kind.cross && r_.text_tokens > 0) {
      const double useful = 4 * images_ * kind.heads * kind.head_dim * image_ * r_.text_tokens;
      attend(kind, image_here_, r_.text_tokens, kind.heads, 1, useful, work);
    }
    if (kind.state_flops > 0) {  // on ordinary arithmetic units or starved tensor cores: its traffic is what counts
      work.flops += kind.state_flops * rows(Stream::image);
      work.useful += kind.state_flops * all_rows(Stream::image);
    }
    // A pipeline that fuses everything (the roofline) moves none of this.
    const double eager = kind.image_bytes * rows(Stream::image) + kind.text_bytes * rows(Stream::text);
    const double bytes = r_.ideal ? 0 : eager * r_.costs.traffic;
    OpTime moved = perf::elementwise_time(r_.device, bytes, 0);
    moved.seconds = perf::smooth_max(moved.memory, bytes / r_.costs.elementwise);
    work.add(kind.linear ? Term::state : Term::elementwise, moved, 1, 1);
    work.bytes += bytes;

    // The host starts kernels ahead of the device: whichever is slower sets the pace.
    const bool parallel = r_.ulysses * r_.ring > 1;
    const double host = kind.host_units *
                        (r_.costs.host + (parallel ? r_.costs.host_parallel : 0) + r_.costs.host_ring * (r_.ring - 1));
    const double device = work.seconds();
    if (host > 0) work.add_host(perf::smooth_max(device, host) - device);
    accumulate(total, work, kind.count);
  }

  static void accumulate(Work& total, const Work& part, double times) noexcept {
    for (std::size_t i = 0; i < kTerms; ++i) total.terms[i] += part.terms[i] * times;
    total.flops += part.flops * times;
    total.bytes += part.bytes * times;
    total.compute += part.compute * times;
    total.memory += part.memory * times;
    total.network += part.network * times;
    total.fixed += part.fixed * times;
    total.useful += part.useful * times;
  }

  void unet(Work& work) const noexcept {
    const double size = load_.width * load_.height / kMegapixel;
    const double flops = r_.unet_flops * size * images_;
    const double pairs = r_.unet_attention * size * size * images_;  // grows with the square of the pixels
    OpTime t;
    t.compute = (flops - r_.unet_attention * size * images_) / (r_.gemm.flops * r_.costs.unet);
    t.memory = r_.pass_bytes / r_.gemm.bandwidth;
    t.seconds = perf::smooth_max(t.compute, t.memory);
    work.add(Term::linear, t, 1, 1);
    work.flops = work.useful = flops + pairs - r_.unet_attention * size * images_;
    work.bytes = r_.pass_bytes;
    if (pairs > 0) {  // as attention of heads of 64 channels over that many tokens
      AttentionShape shape;
      shape.q_len = image_;  // where it has most of them
      shape.kv_len = shape.q_len + 0.5 * (shape.q_len - 1);
      shape.batch = 1;
      shape.head_dim = kUnetAttention;
      shape.q_heads = shape.kv_heads = pairs / (4 * kUnetAttention * shape.q_len * shape.q_len);
      work.add(Term::attention, perf::attention_prefill_time(r_.attention, shape), r_.costs.attention, 1);
    }
    const double traffic = r_.ideal ? 0 : r_.unet_traffic * size * images_ * r_.costs.traffic;
    if (traffic > 0) {
      OpTime moved = perf::elementwise_time(r_.device, traffic, 0);
      moved.seconds = perf::smooth_max(moved.memory, traffic / r_.costs.elementwise);
      work.add(Term::elementwise, moved, 1, 1);
      work.bytes += traffic;
    }
    const double host = kUnetBlocks * r_.costs.host;
    const double device = work.seconds();
    if (host > 0) work.add_host(perf::smooth_max(device, host) - device);
  }

  /// Text encoders before the steps, the decoder after them, on every device alike or shared among them.
  void ends(Work& call) noexcept {
    const double text = 2 * r_.text_parameters * r_.text_tokens * images_;
    const double share = r_.vae_parallel ? r_.gpus / r_.copies : 1;
    const double tiles = out_.estimate.vae_tiled ? (1 + kDecoderOverlap) * (1 + kDecoderOverlap) : 1;
    const double vae = r_.vae_flops_per_pixel * load_.width * load_.height * load_.batch * frames_ * tiles / share;
    vae_seconds_ = vae / (r_.wide_flops * r_.costs.vae);
    OpTime t;
    t.compute = text / r_.wide_flops + vae_seconds_;
    t.seconds = t.compute;
    call.add(Term::head, t, 1, 1);
    call.flops += text + vae;
    if (r_.cfg > 1) {  // both halves of the prediction meet after each step
      const double latents = kElement * load_.batch * image_ * r_.hidden / 16;
      const double seconds = load_.steps * perf::collective_time(r_.link, Collective::send, 2, latents);
      call.terms[perf::index(Term::scale_up)] += seconds;
      call.network += seconds;
    }
    call.add_host(r_.costs.call);
    if (r_.moved_bytes > 0) {
      const double moved = r_.moved_bytes / r_.device.host_link;
      call.terms[perf::index(Term::offload)] += moved;
      call.fixed += moved;
    }
  }

  [[nodiscard]] double power(const Work& call, double seconds) const noexcept {
    const double waiting = call.terms[perf::index(Term::host)] + call.terms[perf::index(Term::scale_up)];
    return perf::device_power(r_.device, r_.power, {call.flops, call.bytes, seconds, waiting});
  }

  void finish(const Work& step) noexcept {
    DiffusionEstimate& e = out_.estimate;
    e.step_s = step.seconds();
    e.flops_per_step = step.useful;
    Work call;
    accumulate(call, step, load_.steps);
    ends(call);
    e.terms_s = call.terms;
    const double seconds = call.seconds();
    const double unet = r_.unet_flops > 0 ? call.terms[perf::index(Term::linear)] / seconds : 0;
    const double unsure = std::hypot(r_.unsure_whole, r_.unsure_unet * unet, r_.unsure_vae * vae_seconds_ / seconds);
    const auto with = [&](double mid, DiffusionMetric metric) {
      const perf::DiffusionSpread& s = r_.spread[static_cast<std::size_t>(metric)];
      const double low = std::hypot(std::log(s.low), kNormal90 * unsure);
      const double high = std::hypot(std::log(s.high), kNormal90 * unsure);
      return Interval{mid * std::exp(-low), mid, mid * std::exp(high)};
    };
    e.batch_latency_s = with(seconds, DiffusionMetric::latency);
    const Interval& t = e.batch_latency_s;
    const double images = load_.batch * r_.copies;
    e.images_per_s = {images / t.high, images / t.mid, images / t.low};
    const double watts = r_.gpus * power(call, seconds);
    e.power_w = with(watts, DiffusionMetric::power);
    e.energy_per_image_j = with(watts * seconds / images, DiffusionMetric::energy);
    const double busiest = std::max({call.compute, call.memory, call.network, call.fixed});
    e.bound = busiest == call.compute   ? Bound::compute
              : busiest == call.memory  ? Bound::memory_bandwidth
              : busiest == call.network ? Bound::scale_up
                                        : Bound::host;
  }

  const ResolvedDiffusion& r_;
  const DiffusionLoad& load_;
  const double frames_;
  const double images_;  ///< of one device, guidance passes counted
  double latent_frames_ = 1;
  double image_ = 0, image_here_ = 0, text_here_ = 0;  ///< tokens
  double vae_seconds_ = 0;
  DiffusionOutcome out_;
};

/// The pipeline at the clock that its power cap leaves to the load; itself where it draws less.
ResolvedDiffusion diffusion_within_cap(const ResolvedDiffusion& pipeline, const DiffusionLoad& load) noexcept {
  const auto watts = [&](const ResolvedDiffusion& r) {
    return DiffusionEvaluation(r, load).run().estimate.power_w.mid / r.gpus;
  };
  const double cap = pipeline.device.power_cap;
  const double uncapped = watts(pipeline);
  if (uncapped <= cap) return pipeline;
  ResolvedDiffusion full = pipeline;
  ResolvedDiffusion open = pipeline;
  open.power.cap = std::numeric_limits<double>::infinity();
  const double idle = full.power.idle * full.device.tdp;
  full.device.overdrawn = std::max(1.0, (watts(open) - idle) / std::max(uncapped - idle, 1e-9));
  const auto at = [&](double clock) {
    ResolvedDiffusion r = full;
    const double memory = perf::memory_left(r.device, clock);
    r.device.clock = clock;
    r.gemm.flops *= clock;
    r.gemm.step /= clock;
    r.gemm.bandwidth *= memory;
    r.wide_flops *= clock;
    r.attention.prefill_flops *= clock;
    r.attention.exponentials *= clock;
    r.attention.token_bandwidth *= memory;
    r.costs.elementwise *= memory;
    return r;
  };
  ResolvedDiffusion capped = at(perf::clock_within(cap, [&](double clock) { return watts(at(clock)); }));
  const auto seconds = [&](const ResolvedDiffusion& r) {
    return DiffusionEvaluation(r, load).run().estimate.batch_latency_s.mid;
  };
  const double kept = seconds(pipeline) / std::max(seconds(capped), 1e-12);
  const double lost = perf::kUnsureOfCap * std::clamp(1 - kept, 0.0, 0.99);
  for (const DiffusionMetric metric : {DiffusionMetric::latency, DiffusionMetric::energy}) {
    perf::DiffusionSpread& s = capped.spread[static_cast<std::size_t>(metric)];
    s = {s.low / std::min(1 + lost, 1 / kept), s.high / (1 - lost)};
  }
  return capped;
}

}  // namespace

DiffusionOutcome evaluate(const ResolvedDiffusion& pipeline, const DiffusionLoad& load) noexcept {
  if (pipeline.device.power_cap > 0) return DiffusionEvaluation(diffusion_within_cap(pipeline, load), load).run();
  return DiffusionEvaluation(pipeline, load).run();
}

}  // namespace ridge
