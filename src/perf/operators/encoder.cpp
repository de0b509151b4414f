#include "ridge/perf/encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/operators/kernels.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr double kElementwiseUnits = 30;  // reads and writes of a token in its width outside of products, 16 bits each
constexpr double kLaunches = 12;          // small kernels of a layer

/// Width of a head that attention kernels compute: FlashAttention has templates for these (its README); 72 takes 96.
double padded_head(double width) {
  constexpr double kTemplates[] = {32, 64, 96, 128, 192, 256};
  for (const double t : kTemplates) {
    if (width <= t) return t;
  }
  return width;
}

/// Sequences of patches that attend to each other, and what becomes of them.
struct PatchWork {
  double sequences = 0;
  double length = 0;
  double tokens = 0;
};

PatchWork patches_of(const Encoder& e, const MediaLoad& media) {
  if (e.kind == Encoder::Kind::audio) {
    const double clips = std::ceil(media.audio_s / e.clip_s);
    const double length = e.clip_s * e.frames_per_s;
    return {clips, length, clips * length / std::max(e.audio_merge, 1)};
  }
  const double merged = static_cast<double>(e.patch) * e.merge;
  if (e.tile > 0) {  // as many tiles as cover the image, and one of the whole of it
    const double across = std::ceil(media.width / e.tile);
    const double down = std::ceil(media.height / e.tile);
    double tiles = across * down;
    if (e.most_tiles > 0) tiles = std::min<double>(tiles, e.most_tiles);
    if (tiles > 1) ++tiles;
    const double side = static_cast<double>(e.tile) / e.patch;
    const double each = e.tile / merged;
    return {media.images * tiles, side * side, media.images * tiles * each * each};
  }
  double across = std::max(1.0, std::round(media.width / merged));
  double down = std::max(1.0, std::round(media.height / merged));
  if (e.most_tokens > 0 && across * down > e.most_tokens) {  // scaled down, its sides in proportion
    const double shrink = std::sqrt(across * down / e.most_tokens);
    across = std::max(1.0, std::floor(across / shrink));
    down = std::max(1.0, std::floor(down / shrink));
  }
  return {media.images, across * down * e.merge * e.merge, media.images * across * down};
}

double encoder_parameters(const Encoder& e) {
  if (e.parameters > 0) return e.parameters;
  const double h = e.hidden;
  return e.layers * (4 * h * h + (e.gated ? 3.0 : 2.0) * h * e.width);
}

}  // namespace

Result<EncoderEstimate> encode(const Model& model, const DeploymentFacts& facts, const MediaLoad& media, bool ideal,
                               const Knowledge& knowledge) {
  const Encoder& e = model.encoder;
  const bool sees = e.kind == Encoder::Kind::vision;
  const auto refuse = [&](const char* where, std::string why) {
    return Error{ErrorCode::refused, where, std::move(why)};
  };
  if (media.images > 0 && !sees) {
    return refuse("images",
                  fmt::format("no encoder of pictures is known for {}; qwen3-vl-8b, llama4-scout and internvl3-8b "
                              "have one",
                              model.id));
  }
  if (media.audio_s > 0 && e.kind != Encoder::Kind::audio) {
    return refuse("audio", fmt::format("no encoder of sound is known for {}; qwen2-audio-7b has one", model.id));
  }
  if (!(media.images > 0) && !(media.audio_s > 0)) return refuse("images", "say how many pictures, or how much sound");
  if (sees && !(media.width >= e.patch && media.height >= e.patch)) {
    return Error{ErrorCode::bad_input, "image size",
                 fmt::format("a picture has at least one patch of {0} x {0} pixels", e.patch)};
  }
  Result<Device> device = knowledge.catalogue.find_device(facts.device);
  if (!device) return device.error();
  const auto rates =
      ideal ? perf::datasheet_rates(*device) : perf::device_rates(*device, knowledge.catalogue, knowledge.calibration);
  if (!rates) return rates.error();
  const perf::GemmRates gemm = ideal ? perf::ideal_gemm_rates(*rates, Format::bf16, Format::bf16)
                                     : perf::gemm_rates(*rates, knowledge.calibration, Format::bf16, Format::bf16);
  const perf::AttentionRates attention = ideal ? perf::ideal_attention_rates(*rates, Format::bf16, Format::bf16)
                                               : perf::attention_rates(*rates, knowledge.calibration, Format::bf16,
                                                                       Format::bf16, perf::AttentionPath::library);

  const PatchWork work = patches_of(e, media);
  EncoderEstimate out;
  out.tokens = std::ceil(work.tokens);
  out.patches = work.sequences * work.length;
  out.parameters = encoder_parameters(e);
  // Images are spread over the devices of a replica; one that is alone is encoded by one of them.
  const double devices = std::max(1.0, std::min<double>(facts.tp, work.sequences));
  const double rows = out.patches / devices;
  const double h = e.hidden;
  const double up = (e.gated ? 2.0 : 1.0) * e.width;
  const double products = perf::gemm_time(gemm, rows, 3 * h, h).seconds + perf::gemm_time(gemm, rows, h, h).seconds +
                          perf::gemm_time(gemm, rows, up, h).seconds + perf::gemm_time(gemm, rows, h, e.width).seconds;
  const auto attend = [&](double length) {
    perf::AttentionShape shape;  // every patch sees every other: as a causal one of that many more keys
    shape.batch = out.patches / devices / length;
    shape.q_len = length;
    shape.kv_len = length + 0.5 * (length - 1);
    shape.q_heads = shape.kv_heads = e.heads;
    shape.head_dim = ideal ? h / e.heads : padded_head(h / e.heads);
    return perf::attention_prefill_time(attention, shape).seconds;
  };
  const double window = e.window > 0 ? std::min(work.length, 1.0 * e.window * e.window) : work.length;
  const double full = e.window > 0 ? e.full_layers : e.layers;
  const double moved = perf::elementwise_time(*rates, kElementwiseUnits * 2 * h * rows, ideal ? 0 : kLaunches).seconds;
  const double device_s =
      e.layers * (products + moved) + full * attend(work.length) + (e.layers - full) * attend(window);
  // Engines do not put encoders into graphs: the host launches every layer.
  const double host = ideal ? 0 : e.layers * knowledge.calibration.value("host.eager_layer");
  out.seconds = perf::smooth_max(device_s, host);
  const double pairs = out.patches * (full * work.length + (e.layers - full) * window);
  out.flops = 2 * out.patches * e.layers * (4 * h * h + (e.gated ? 3.0 : 2.0) * h * e.width) + 4 * h * pairs;
  return out;
}

void add_encoder(InferenceEstimate& e, const EncoderEstimate& encoder, const InferenceLoad& load, double replicas) {
  const double t = encoder.seconds;
  for (Interval* i : {&e.prefill_s, &e.ttft_s, &e.e2e_s}) *i = {i->low + t, i->mid + t, i->high + t};
  // A replica that encodes neither prefills nor decodes meanwhile.
  const double mean = 0.5 * (1 + load.length_low);
  const double requests = e.output_tokens_per_s.mid / std::max(1.0, load.osl * mean) / std::max(replicas, 1.0);
  const double share = 1 / (1 + requests * t);
  for (Interval* i : {&e.output_tokens_per_s, &e.total_tokens_per_s}) {
    *i = {i->low * share, i->mid * share, i->high * share};
  }
  e.joules_per_output_token = {e.joules_per_output_token.low / share, e.joules_per_output_token.mid / share,
                               e.joules_per_output_token.high / share};
  if (load.mode == LoadMode::fixed_batch) return;  // encodes before it decodes
  for (Interval* i : {&e.tpot_s, &e.itl_s}) *i = {i->low / share, i->mid / share, i->high / share};
}

}  // namespace ridge
