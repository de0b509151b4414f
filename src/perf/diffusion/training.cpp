#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/normal.hpp"
#include "perf/diffusion/model.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/diffusion_training.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge {
namespace {

constexpr double kAttentionBackward = 2.5;  // five products instead of two
constexpr double kProductBackward = 2;
// Bytes of a hidden element that a block keeps for its backward pass: Korthikanti et al., arXiv 2205.05198, equation 1
// (34 sbh) without the scores, which fused kernels compute again.
constexpr double kSavedPerToken = 34;
constexpr double kSavedIfRecomputed = 2;  // its input alone
constexpr double kDitWeightBytes = 2, kDitGradientBytes = 2, kStateBytes = 12;
constexpr double kUsualSide = 512;  // pixels
constexpr double kMostMicroBatch = 4096;

class DiffusionTrainer {
 public:
  DiffusionTrainer(const DiffusionTrainingQuery& query, const Knowledge& knowledge) : k_(knowledge) {
    a_.query = query;
  }

  Result<DiffusionTrainingAnswer> run() {
    DiffusionTrainingQuery& q = a_.query;
    const auto device = k_.catalogue.find_device(q.device);
    if (!device) return device.error();
    const auto model = k_.catalogue.find_model(q.model);
    if (!model) return model.error();
    sizes(*model);
    if (const Status s = pipeline(); !s) return s.error();
    if (const Status s = batches(); !s) return s.error();
    links(*device);
    fill_memory(q.micro_batch);
    if (const double over = a_.memory.used() - usable_memory(); over > 0) {
      a_.reason = Reason::out_of_memory;
      a_.short_by = over;
      a_.largest_micro_batch = largest();
      return std::move(a_);
    }
    if (r_->reason != Reason::none) {
      a_.reason = r_->reason;
      a_.short_by = r_->short_by;
      return std::move(a_);
    }
    if (const Status s = time(*device); !s) return s.error();
    return std::move(a_);
  }

 private:
  template <class... A>
  void assume(fmt::format_string<A...> text, A&&... values) {
    a_.assumptions.push_back(fmt::format(text, std::forward<A>(values)...));
  }

  void sizes(const Model& model) {
    DiffusionTrainingQuery& q = a_.query;
    if (q.width <= 0) {
      q.width = q.height = kUsualSide;
      assume("{:.0f} x {:.0f} pixels", q.width, q.height);
    }
    if (q.frames <= 0) {
      q.frames = std::max(model.diffusion.frames, 1);
      if (q.frames > 1) assume("{:.0f} frames", q.frames);
    }
  }

  Status pipeline() {
    DiffusionTrainingQuery& q = a_.query;
    if (q.gpus < 1 || q.tp < 1 || q.gpus % q.tp != 0) {
      return Error{ErrorCode::bad_input, "⟦tp⟧", fmt::format("{} does not divide {} devices", q.tp, q.gpus)};
    }
    DiffusionQuery forward;
    forward.model = q.model;
    forward.device = q.device;
    forward.gpus = forward.ulysses = q.tp;
    forward.ring = 1;
    forward.passes = 1;
    forward.compiled = true;
    forward.weights = q.precision.value_or(Format::bf16);
    if (!q.precision) assume("products in bf16");
    Result<DiffusionPipeline> resolved = resolve(forward, k_);
    if (!resolved) return resolved.error();
    pipeline_ = *std::move(resolved);
    r_ = pipeline_.resolved.get();
    a_.dp = q.gpus / q.tp;
    a_.memory.capacity = r_->device.memory_capacity;
    if (!q.text_encoders) assume("latents and text embeddings were computed before");
    return {};
  }

  Status batches() {
    DiffusionTrainingQuery& q = a_.query;
    const double dp = a_.dp;
    if (q.global_batch > 0 && std::fmod(q.global_batch, dp) != 0) {
      return Error{ErrorCode::bad_input, "⟦global_batch⟧",
                   fmt::format("{:.0f} images do not divide over {:.0f} replicas: write {:.0f}", q.global_batch, dp,
                               dp * std::ceil(q.global_batch / dp))};
    }
    if (q.micro_batch <= 0) {
      const double each = q.global_batch > 0 ? q.global_batch / dp : kMostMicroBatch;
      q.micro_batch = 1;
      const double fits = std::max(1.0, largest());
      for (double m = 1; m <= std::min(each, fits); m *= 2) {
        if (q.global_batch <= 0 || std::fmod(each, m) == 0) q.micro_batch = m;
      }
      if (q.global_batch > 0 && each <= fits) q.micro_batch = each;
      assume("{:.0f} images at once on a replica", q.micro_batch);
    }
    if (q.global_batch <= 0) {
      q.global_batch = q.micro_batch * dp;
      assume("{:.0f} images a step", q.global_batch);
    }
    if (std::fmod(q.global_batch, dp * q.micro_batch) != 0) {
      return Error{
          ErrorCode::bad_input, "⟦micro_batch⟧",
          fmt::format("{:.0f} x {:.0f} replicas do not divide a batch of {:.0f}", q.micro_batch, dp, q.global_batch)};
    }
    a_.accumulation = q.global_batch / dp / q.micro_batch;
    return {};
  }

  [[nodiscard]] double activations(double images) const {
    const DiffusionTrainingQuery& q = a_.query;
    const double pixels = q.width * q.height;
    if (r_->unet_flops > 0) {  // what its kernels write is half of what they move
      const double kept = 0.5 * r_->unet_traffic * pixels / (1024.0 * 1024.0) * images;
      return q.recompute ? kept * kSavedIfRecomputed / kSavedPerToken : kept;
    }
    const double latent = 1 + std::ceil((q.frames - 1) / r_->vae_time);
    const double tokens = pixels / r_->pixels_per_token * std::ceil(latent / r_->patch_time) + r_->text_tokens;
    double blocks = 0;
    for (int i = 0; i < r_->kind_count; ++i) blocks += r_->kinds[static_cast<std::size_t>(i)].count;
    const double one = tokens * r_->hidden * images / q.tp;
    return q.recompute ? one * (blocks * kSavedIfRecomputed + kSavedPerToken) : one * blocks * kSavedPerToken;
  }

  void fill_memory(double micro_batch) {
    DiffusionTrainingMemory& m = a_.memory;
    const double mine = r_->parameters / a_.query.tp;
    m.weights = kDitWeightBytes * mine;
    m.gradients = kDitGradientBytes * mine;
    m.optimizer = kStateBytes * mine / a_.dp;
    m.text_encoders = a_.query.text_encoders ? kDitWeightBytes * r_->text_parameters : 0;
    m.activations = activations(micro_batch);
  }

  [[nodiscard]] double usable_memory() const {
    return k_.calibration.value("training.usable_memory") * a_.memory.capacity;
  }

  double largest() {
    fill_memory(0);
    const double room = usable_memory() - a_.memory.used();
    return std::max(0.0, std::floor(room / std::max(activations(1), 1.0)));
  }

  void links(const Device& device) {
    DiffusionTrainingQuery& q = a_.query;
    domain_ = device.scale_up_domain ? device.scale_up_domain->value : 1;
    if (q.gpus <= domain_ || q.network_per_gpu > 0) return;
    q.network_per_gpu = device.nic_per_direction ? device.nic_per_direction->value.value() : usual::kNetwork;
    assume("network of {} a device and direction", format(BytesPerSecond(q.network_per_gpu)));
  }

  Status time(const Device& device) {
    const DiffusionTrainingQuery& q = a_.query;
    DiffusionLoad load{.steps = 1, .width = q.width, .height = q.height, .batch = q.micro_batch, .frames = q.frames};
    const DiffusionOutcome o = evaluate(*r_, load);
    if (o.reason != Reason::none && o.reason != Reason::out_of_memory) {
      a_.reason = o.reason;
      a_.short_by = o.short_by;
      return {};
    }
    if (o.reason == Reason::out_of_memory) {  // the decoder's memory, which training does not need
      return Error{ErrorCode::refused, q.model, "one image does not fit the pipeline: use fewer pixels"};
    }
    const auto term = [&](Term t) { return o.estimate.terms_s[static_cast<std::size_t>(t)]; };
    const double moved = term(Term::elementwise) + term(Term::state);
    const double shared = term(Term::scale_up);
    DiffusionTrainingParts& p = a_.parts;
    p.forward = term(Term::linear) + term(Term::attention) + moved + shared;
    p.backward = kProductBackward * (term(Term::linear) + moved) + kAttentionBackward * term(Term::attention) + shared;
    if (q.recompute) p.backward += p.forward;
    p.forward *= a_.accumulation;
    p.backward *= a_.accumulation;
    if (q.text_encoders) {
      p.text = a_.accumulation * 2 * r_->text_parameters * r_->text_tokens * q.micro_batch / r_->wide_flops;
    }
    const double mine = r_->parameters / q.tp;
    exchange(device, kDitGradientBytes * mine);
    p.optimizer = k_.calibration.value("training.optimizer") * mine / a_.dp /
                  (r_->device.memory_bandwidth * r_->device.memory_share);
    a_.estimate = compose(p, diffusion_training_factors(k_.calibration), q.global_batch);
    a_.estimate.flops_per_step = 3 * o.estimate.flops_per_step * a_.accumulation * a_.dp;
    const double peak = r_->device.peak[static_cast<std::size_t>(Format::bf16)] * q.gpus;
    a_.estimate.mfu = peak > 0 ? a_.estimate.flops_per_step / a_.estimate.step_s.mid / peak : 0;
    return {};
  }

  /// Within the domain first, then every device of it exchanges its share with those of other domains.
  void exchange(const Device& device, double bytes) {
    const double near = std::clamp(std::floor(static_cast<double>(domain_) / a_.query.tp), 1.0, 1.0 * a_.dp);
    const double far = std::ceil(a_.dp / near);
    const perf::LinkRates up = perf::scale_up_link(device, k_.calibration);
    a_.parts.exchange = perf::collective_time(up, perf::Collective::all_reduce, near, bytes);
    if (far <= 1) return;
    const perf::LinkRates out = perf::scale_out_link(
        a_.query.network_per_gpu, k_.calibration.value("training.scale_out_latency"), k_.calibration);
    a_.parts.exchange += perf::collective_time(out, perf::Collective::all_reduce, far, bytes / near);
  }

  const Knowledge& k_;
  DiffusionTrainingAnswer a_;
  DiffusionPipeline pipeline_;
  const ResolvedDiffusion* r_ = nullptr;
  int domain_ = 1;
};

}  // namespace

DiffusionTrainingFactors diffusion_training_factors(const Calibration& calibration) {
  return {calibration.value("diffusion_training.passes"), calibration.value("diffusion_training.around"),
          calibration.value("diffusion_training.spread")};
}

DiffusionTrainingEstimate compose(const DiffusionTrainingParts& parts, const DiffusionTrainingFactors& factors,
                                  double global_batch) {
  DiffusionTrainingEstimate e;
  e.forward_s = factors.passes * parts.forward;
  e.backward_s = factors.passes * parts.backward;
  e.text_s = factors.passes * parts.text;
  e.exposed_s = perf::smooth_max(e.backward_s, parts.exchange) - e.backward_s;
  e.optimizer_s = parts.optimizer;
  e.around_s = factors.around;
  const double step = e.forward_s + e.backward_s + e.text_s + e.exposed_s + e.optimizer_s + e.around_s;
  const double half = std::exp(kNormal90 * factors.spread);
  e.step_s = {step / half, step, step * half};
  e.images_per_s = {global_batch / e.step_s.high, global_batch / step, global_batch / e.step_s.low};
  return e;
}

Result<DiffusionTrainingAnswer> answer(const DiffusionTrainingQuery& query, const Knowledge& knowledge) {
  return DiffusionTrainer(query, knowledge).run();
}

}  // namespace ridge
