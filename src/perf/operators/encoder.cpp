#include "ridge/perf/encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/operators/encoder.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr double kElementwiseUnits = 30;  // reads and writes of a token in its width outside of products, 16 bits each
constexpr double kLaunches = 12;          // small kernels of a layer

// What holds four in five encoders of pictures and sound in front of a language model, as shares of the time predicted.
// Plain transformers on an H200 took 1.3 to 2.7 times of it (docs/validate.md); engines fuse norms and rotations, and
// no encoder was measured inside one, so that the middle stays and the far end is what was seen.
constexpr double kFastEncoder = 0.8;
constexpr double kSlowEncoder = 2.7;

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

namespace perf {

EncoderEstimate encoder_time(const Model& model, const DeviceRates& rates, double tp, const MediaLoad& media,
                             bool ideal, const Calibration& calibration) {
  const GemmRates gemm = ideal ? ideal_gemm_rates(rates, Format::bf16, Format::bf16)
                               : gemm_rates(rates, calibration, Format::bf16, Format::bf16);
  const AttentionRates attention =
      ideal ? ideal_attention_rates(rates, Format::bf16, Format::bf16)
            : attention_rates(rates, calibration, Format::bf16, Format::bf16, AttentionPath::library);

  const Encoder& e = model.encoder;
  const PatchWork work = patches_of(e, media);
  EncoderEstimate out;
  out.tokens = std::ceil(work.tokens);
  out.patches = work.sequences * work.length;
  out.parameters = encoder_parameters(e);
  // Images are spread over the devices of a replica; one that is alone is encoded by one of them.
  const double devices = std::max(1.0, std::min<double>(tp, work.sequences));
  const double rows = out.patches / devices;
  const double h = e.hidden;
  const double up = (e.gated ? 2.0 : 1.0) * e.width;
  const double products = gemm_time(gemm, rows, 3 * h, h).seconds + gemm_time(gemm, rows, h, h).seconds +
                          gemm_time(gemm, rows, up, h).seconds + gemm_time(gemm, rows, h, e.width).seconds;
  const auto attend = [&](double length) {
    AttentionShape shape;  // every patch sees every other: as a causal one of that many more keys
    shape.batch = out.patches / devices / length;
    shape.q_len = length;
    shape.kv_len = length + 0.5 * (length - 1);
    shape.q_heads = shape.kv_heads = e.heads;
    shape.head_dim = ideal ? h / e.heads : padded_head(h / e.heads);
    return attention_prefill_time(attention, shape).seconds;
  };
  const double window = e.window > 0 ? std::min(work.length, 1.0 * e.window * e.window) : work.length;
  const double full = e.window > 0 ? e.full_layers : e.layers;
  const double moved = elementwise_time(rates, kElementwiseUnits * 2 * h * rows, ideal ? 0 : kLaunches).seconds;
  out.device_s = e.layers * (products + moved) + full * attend(work.length) + (e.layers - full) * attend(window);
  // Engines do not put encoders into graphs: the host launches every layer.
  out.host_s = ideal ? 0 : e.layers * calibration.value("host.eager_layer");
  const double pairs = out.patches * (full * work.length + (e.layers - full) * window);
  out.flops = 2 * out.patches * e.layers * (4 * h * h + (e.gated ? 3.0 : 2.0) * h * e.width) + 4 * h * pairs;
  if (const double read = model.cross_tokens(); read > 0) {  // layers of the decoder read it: nothing joins the prompt
    out.tokens = 0;
    const Mixer& m = model.groups.front().mixer;
    const double keys = 2.0 * m.kv_heads * m.head_dim;
    out.device_s += model.layers() * gemm_time(gemm, rows, keys, model.hidden).seconds;
    out.flops += 2 * out.patches * keys * model.hidden * model.layers();
  }
  out.seconds = smooth_max(out.device_s, out.host_s);
  return out;
}

}  // namespace perf

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
    return refuse(
        "audio",
        fmt::format("no encoder of sound is known for {}; whisper-large-v3 and qwen2-audio-7b have one", model.id));
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
  return perf::encoder_time(model, *rates, facts.tp, media, ideal, knowledge.calibration);
}

Status within_reach(const Model& model, double isl, double osl) {
  if (model.embeds && osl > 1) {
    return Error{ErrorCode::refused, "⟦osl⟧",
                 fmt::format("{} gives a vector or a score and writes no answer: say ⟦osl=1⟧, or ⟦prefill⟧", model.id)};
  }
  const bool speech = model.cross_tokens() > 0;
  if (!speech && !model.reads_both_ways()) return {};
  const double said = speech ? isl + osl : isl;
  if (model.context <= 0 || said <= model.context) return {};
  if (speech) {
    return Error{
        ErrorCode::refused, "⟦isl⟧",
        fmt::format("{} has {} places for what is said in a clip of {:.0f} s: write ⟦isl={:.0f}⟧ ⟦osl={:.0f}⟧",
                    model.id, model.context, model.encoder.clip_s, usual::kSpeechPrompt, usual::kSpeechTokens)};
  }
  return Error{
      ErrorCode::refused, "⟦isl⟧",
      fmt::format("{} reads at most {} tokens of a text: write ⟦isl={}⟧", model.id, model.context, model.context)};
}

Interval encoder_interval(double seconds) {
  return {kFastEncoder * seconds, seconds, kSlowEncoder * seconds};
}

void add_encoder(InferenceEstimate& e, const EncoderEstimate& encoder, const InferenceLoad& load, double replicas) {
  const bool certain = e.ttft_s.low == e.ttft_s.high;  // a datasheet's bound
  const double mid = encoder.seconds;
  const Interval t = certain ? Interval{mid, mid, mid} : encoder_interval(mid);
  for (Interval* i : {&e.prefill_s, &e.ttft_s, &e.e2e_s}) *i = {i->low + t.low, i->mid + t.mid, i->high + t.high};
  // A replica that encodes neither prefills nor decodes meanwhile.
  const double mean = 0.5 * (1 + load.length_low);
  const double requests = e.output_tokens_per_s.mid / std::max(1.0, load.osl * mean) / std::max(replicas, 1.0);
  const auto share = [&](double seconds) { return 1 / (1 + requests * seconds); };
  for (Interval* i : {&e.output_tokens_per_s, &e.total_tokens_per_s}) {
    *i = {i->low * share(t.high), i->mid * share(t.mid), i->high * share(t.low)};
  }
  const auto longer = [&](Interval& i) { i = {i.low / share(t.low), i.mid / share(t.mid), i.high / share(t.high)}; };
  longer(e.joules_per_output_token);
  if (load.mode == LoadMode::fixed_batch) return;  // encodes before it decodes
  longer(e.tpot_s);
  longer(e.itl_s);
}

}  // namespace ridge
