// The resolved pipeline: what evaluate() works on. Flat numbers in base units, filled once by resolve().
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "perf/operators/kernels.hpp"
#include "perf/operators/power.hpp"
#include "ridge/perf/diffusion.hpp"

namespace ridge {

namespace perf {

/// Whose rows a product has.
enum class Stream : std::uint8_t {
  image,
  text,
  both,        ///< image and text tokens in one sequence
  modulation,  ///< one row per image: projections of the time embedding
};

struct DitProduct {
  double n = 0;
  double k = 0;
  Stream stream = Stream::image;
};

/// Blocks that are alike.
struct DitKind {
  double count = 0;
  std::array<DitProduct, 16> products{};
  int product_count = 0;
  double heads = 1, head_dim = 64;
  bool linear = false;          ///< linear attention: its work is counted in state_flops and elementwise traffic
  bool joint = false;           ///< image and text tokens attend to each other
  bool cross = false;           ///< image tokens attend to text tokens
  double image_attentions = 0;  ///< further self-attentions of the image tokens alone
  double state_flops = 0;       ///< per image token
  double image_bytes = 0;       ///< elementwise traffic per image token
  double text_bytes = 0;        ///< per text token
  double host_units = 1;        ///< self-attentions: what the host's time goes with
};

/// What eager software adds; from calibration. The defaults are the roofline.
struct DiffusionCosts {
  double elementwise = std::numeric_limits<double>::infinity();  ///< bytes/s of norms, modulation, residuals
  double attention = 1;                                          ///< factor on the time of attention
  double linear = 1;                                             ///< factor on the time of products
  double vae = 1;            ///< share of the product rate that the decoder's convolutions reach
  double unet = 1;           ///< likewise a UNet
  double call = 0;           ///< host time of a call outside of the steps
  double host = 0;           ///< host time per block and self-attention
  double host_parallel = 0;  ///< more of it with sequence parallelism
  double host_ring = 0;      ///< and per step of a ring
  double traffic = 1;        ///< of the elementwise traffic, the share that is left where kernels are fused
};

enum class DiffusionMetric : std::uint8_t { latency, power, energy };
struct DiffusionSpread {
  double low = 0.7;
  double high = 1.4;
};

}  // namespace perf

struct ResolvedDiffusion {
  static constexpr int kMaxKinds = 8;

  Reason reason = Reason::none;  ///< a plan that cannot run whatever the load
  double short_by = 0;
  bool ideal = false;

  double gpus = 1, ulysses = 1, ring = 1, cfg = 1;
  double copies = 1;  ///< of the pipeline, each with calls of its own: a UNet has no sequence to share
  bool vae_parallel = false;
  std::array<perf::DitKind, kMaxKinds> kinds{};
  int kind_count = 0;
  double hidden = 0;
  double pixels_per_token = 256;  ///< of one side squared: (patch x vae_down)^2
  double text_tokens = 0;
  double passes = 1;
  double frames = 1, vae_time = 1, patch_time = 1;
  double unet_flops = 0;      ///< of one evaluation at 1024 x 1024; 0 = a transformer
  double unet_attention = 0;  ///< of these
  double unet_traffic = 0;    ///< bytes of one evaluation at 1024 x 1024 that are not those of products

  perf::GemmRates gemm;
  double wide_flops = 1;  ///< FLOP/s of large products in 16 bits, which encoders and decoder stay in
  perf::AttentionRates attention;
  perf::DeviceRates device;
  perf::LinkRates link;
  perf::PowerCoefficients power;
  perf::DiffusionCosts costs;

  double parameters = 0;
  double weight_bytes = 0;     ///< transformers or UNet and VAE, on every device
  double pass_bytes = 0;       ///< of them, what one pass reads
  double resident_bytes = 0;   ///< weights that are on a device at once
  double moved_bytes = 0;      ///< weights that cross from the host and back in every call
  double text_parameters = 0;  ///< of the text encoders
  double vae_flops_per_pixel = 0;
  double vae_bytes_per_pixel = 0;  ///< largest set of live activations of the decoder

  std::array<perf::DiffusionSpread, 3> spread{};
  // How little is known of what no measurement of a pipeline informs: standard deviations of the logarithm.
  double unsure_whole = 0;  ///< of the whole time
  double unsure_unet = 0;   ///< of the time of a UNet's products
  double unsure_vae = 0;    ///< of the time of the decoder
};

}  // namespace ridge
