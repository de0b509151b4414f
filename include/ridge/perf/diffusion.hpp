// Pictures and clips by diffusion: one pure function from a resolved pipeline and a load to time, memory, power,
// energy.
//
//   DiffusionQuery q;
//   q.model = "flux.1-dev"; q.device = "h100-sxm"; q.gpus = 4; q.ulysses = 4;
//   q.load = {.steps = 28, .width = 1024, .height = 1024, .batch = 2};
//   auto pipeline = resolve(q, knowledge);                              // allocates; refuses with a reason
//   DiffusionOutcome o = evaluate(*pipeline->resolved, q.load);         // pure, noexcept, allocates nothing
//   if (o.reason == Reason::none) use(o.estimate.batch_latency_s.mid / q.load.batch);
//
// A call runs the text encoders, `steps` denoising steps and the decoder of the VAE. Eager PyTorch (diffusers, xDiT):
// the host starts every kernel, each reads and writes memory. Compiled (TensorRT, torch.compile): what follows a
// product is fused into it, a graph replays the step. Several devices share the tokens of one call, split by heads
// (Ulysses) or passed round a ring, and the two passes of guidance (CFG parallel). Every token of a clip attends to all
// of its frames. What is infeasible is an answer (reason, short_by), not an error.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ridge/perf/inference.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge {

struct DiffusionLoad {
  double steps = 28;
  double width = 1024, height = 1024;  ///< pixels
  double batch = 1;                    ///< images or clips per call
  double frames = 0;                   ///< of a clip; 0 = as the model usually makes, 1 for pictures
};

/// The question as users put it. Empty or zero = the usual choice, listed in `assumptions`.
struct DiffusionQuery {
  std::string model;
  std::string device;
  std::string engine = "diffusers";  ///< "ideal": the datasheet alone
  int gpus = 0;                      ///< that share one call; 0 = cfg x ulysses x ring
  int ulysses = 0, ring = 0;         ///< 0 and 0: Ulysses as far as it divides the heads, the ring for the rest
  int cfg = 1;                       ///< 2: the passes with and without the prompt run on devices of their own
  int passes = 0;                    ///< of the network per step; 0 = the model's, 1 where guidance is distilled
  bool compiled = false;             ///< kernels fused, steps replayed as a graph
  bool takes_turns = false;          ///< parts wait on the host and are on the device one after the other
  bool vae_parallel = false;         ///< devices share the decoder's work; otherwise each does all of it
  std::optional<Format> weights;
  std::optional<Format> attention;  ///< of queries, keys and values; 16 bits unless said
  double power_cap = 0;             ///< watts per device, 0 = none
  ResourceScale scale;
  DiffusionLoad load;
};

struct DiffusionEstimate {
  Interval batch_latency_s;  ///< one call: all images of the batch
  Interval images_per_s;
  Interval power_w;  ///< all devices
  Interval energy_per_image_j;
  std::array<double, kTerms> terms_s{};  ///< of the call; they add up to it. Term::head: text encoders and VAE
  double step_s = 0;                     ///< one denoising step of the batch
  double flops_per_step = 0;             ///< of the transformer or UNet, whole batch, guidance passes included
  std::array<double, kMemoryParts> memory_bytes{};  ///< per device; no KV cache
  Bound bound = Bound::compute;
  double tokens = 0;       ///< that attend to each other, text aside
  double frames = 1;       ///< of the clip as made
  bool vae_tiled = false;  ///< the decoder works on tiles, because it does not fit whole
};

struct DiffusionOutcome {
  Reason reason = Reason::none;
  double short_by = 0;  ///< bytes per device, or what the reason counts
  DiffusionEstimate estimate;
};

/// A pipeline ready to be evaluated: flat numbers, no pointers into the catalogue. Opaque outside src/perf.
struct ResolvedDiffusion;

struct DiffusionPipeline {
  DiffusionPipeline();
  DiffusionPipeline(DiffusionPipeline&&) noexcept;
  DiffusionPipeline& operator=(DiffusionPipeline&&) noexcept;
  ~DiffusionPipeline();
  std::unique_ptr<ResolvedDiffusion> resolved;
  std::vector<std::string> assumptions;
};

/// Refuses (bad_input, not_found, refused): unknown names, language models, devices without the figures needed, a UNet
/// whose work nobody published. A plan that cannot run (devices, heads, memory) resolves; evaluate() says why it
/// cannot.
Result<DiffusionPipeline> resolve(const DiffusionQuery& query, const Knowledge& knowledge);

[[nodiscard]] DiffusionOutcome evaluate(const ResolvedDiffusion& pipeline, const DiffusionLoad& load) noexcept;

}  // namespace ridge
