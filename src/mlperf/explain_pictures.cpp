// A submission of pictures or clips predicted: what runs at once, in which formats, on how many devices.
#include "mlperf/explain_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ridge/perf/diffusion.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge::mlperf {

namespace {

constexpr std::size_t kShownPlans = 6;

Error picture_not_modelled(const Row& row, const std::string& why) {
  return {ErrorCode::refused, "", fmt::format("{} is not modelled: {}", row.id, why)};
}

/// What one sample of a benchmark of pictures or clips is, by the rules of the round.
struct Picture {
  std::string_view benchmark;
  double steps, width, height, frames;
};
constexpr std::array kPictures = {Picture{"stable-diffusion-xl", 20, 1024, 1024, 1},
                                  Picture{"wan-2.2-t2v-a14b", 20, 1280, 720, 81}};

/// A label is what the network computes in where it names a format; 32 bits are what was loaded.
Format picture_format(const Row& row, const Device& device) {
  const auto says = [&](std::string_view word) { return row.weights.find(word) != std::string::npos; };
  const std::optional<Format> narrow = eight_bits(device);
  if (narrow && (says("fp8") || says("int8"))) return says("fp8") ? *narrow : Format::int8;
  if (says("bf16") || says("bfloat16") || says("fp16")) return Format::bf16;
  return narrow.value_or(Format::bf16);
}

class PictureExplainer {
 public:
  PictureExplainer(const Row& row, const Benchmark& benchmark, const Device& device, const Names& names,
                   const Knowledge& knowledge, const Picture& picture)
      : row_(row), benchmark_(benchmark), device_(device), knowledge_(knowledge), picture_(picture) {
    e_.row = &row;
    e_.model = benchmark.model;
    e_.device = device.id;
    e_.engine = names.stack(device.vendor).pictures;
    e_.unit = row.unit;
    e_.measured = row.value;
    e_.accelerators = row.accelerators;
  }

  Result<Explanation> run() {
    const bool one_by_one = row_.scenario == "SingleStream";
    if (one_by_one) {
      shared();
    } else {
      alone();
    }
    if (e_.attempts.empty()) return picture_not_modelled(row_, refusal_);
    std::stable_sort(e_.attempts.begin(), e_.attempts.end(), [&](const Attempt& a, const Attempt& b) {
      return one_by_one ? a.predicted.mid < b.predicted.mid : a.predicted.mid > b.predicted.mid;
    });
    if (e_.attempts.size() > kShownPlans) e_.attempts.resize(kShownPlans);
    e_.assumptions.insert(e_.assumptions.begin(), {benchmark_.note,
                                                   "the pipeline is compiled: kernels fused, a graph "
                                                   "replays the steps; what runs at once is chosen"});
    return e_;
  }

 private:
  [[nodiscard]] DiffusionQuery query(double batch) const {
    DiffusionQuery q;
    q.model = benchmark_.model;
    q.device = device_.id;
    q.engine = "diffusers";
    q.gpus = 1;
    q.compiled = true;
    q.weights = picture_format(row_, device_);
    q.load = {.steps = picture_.steps,
              .width = picture_.width,
              .height = picture_.height,
              .batch = batch,
              .frames = picture_.frames};
    return q;
  }

  /// Every device makes pictures of its own.
  void alone() {
    for (const double batch : {1.0, 2.0, 4.0, 8.0, 16.0}) {
      attempt(query(batch), row_.accelerators, fmt::format("{} x 1, {:.0f} at once", row_.accelerators, batch));
    }
  }

  /// All devices make one together: heads and tokens are shared, and the two passes of guidance.
  void shared() {
    const int domain = device_.scale_up_domain ? std::max(1, device_.scale_up_domain->value) : 1;
    for (int gpus = 1; gpus <= std::min(row_.accelerators, domain); gpus = gpus < 8 ? 2 * gpus : gpus + 8) {
      for (const int cfg : {1, 2}) {
        if (gpus % cfg != 0) continue;
        DiffusionQuery q = query(1);
        q.gpus = gpus;
        q.cfg = cfg;
        q.vae_parallel = true;
        attempt(q, 1, fmt::format("{} devices share one{}", gpus, cfg > 1 ? ", guidance on two halves" : ""));
      }
    }
  }

  void attempt(DiffusionQuery q, int replicas, const std::string& plan) {
    for (const Format pairs : {Format::bf16, Format::fp8}) {
      if (pairs == Format::fp8 && (*q.weights == Format::bf16 || !device_.peak(PeakFormat::fp8))) continue;
      q.attention = pairs;
      const Result<DiffusionPipeline> pipeline = resolve(q, knowledge_);
      if (!pipeline) {
        refusal_ = pipeline.error().message;
        return;
      }
      const DiffusionOutcome outcome = evaluate(*pipeline->resolved, q.load);
      if (outcome.reason != Reason::none) continue;
      const DiffusionEstimate& estimate = outcome.estimate;
      const bool one_by_one = row_.scenario == "SingleStream";
      const Interval predicted =
          one_by_one ? estimate.batch_latency_s
                     : Interval{replicas * estimate.images_per_s.low, replicas * estimate.images_per_s.mid,
                                replicas * estimate.images_per_s.high};
      e_.attempts.push_back(
          {fmt::format("{}, {} products, {} attention", plan, name(*q.weights), name(pairs)), predicted});
      const bool better =
          e_.predicted.mid == 0 || (one_by_one ? predicted.mid < e_.predicted.mid : predicted.mid > e_.predicted.mid);
      if (!better) continue;
      e_.predicted = predicted;
      e_.plan = e_.attempts.back().plan;
      e_.bound = name(estimate.bound);
      e_.why = fmt::format("a denoising step of {:.0f} at once takes {:.0f} ms and is bound by {}", q.load.batch,
                           1e3 * estimate.step_s, e_.bound);
      e_.assumptions = pipeline->assumptions;
    }
  }

  const Row& row_;
  const Benchmark& benchmark_;
  const Device& device_;
  const Knowledge& knowledge_;
  const Picture& picture_;
  Explanation e_;
  std::string refusal_ = "nothing fits";
};

}  // namespace

Result<Explanation> explain_diffusion(const Row& row, const Benchmark& benchmark, const Device& device,
                                      const Names& names, const Knowledge& knowledge) {
  const auto* const picture =
      std::find_if(kPictures.begin(), kPictures.end(), [&](const Picture& p) { return p.benchmark == benchmark.id; });
  if (picture == kPictures.end()) return picture_not_modelled(row, "what one sample is, is not known");
  return PictureExplainer(row, benchmark, device, names, knowledge, *picture).run();
}

}  // namespace ridge::mlperf
