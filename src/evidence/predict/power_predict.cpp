#include "evidence/predict/power_predict.hpp"

#include "evidence/kernels/cases.hpp"
#include "perf/operators/power.hpp"

namespace ridge::evidence {
namespace {

constexpr double kCopied = 4.0 * 1024 * 1024 * 1024;  // bytes read and written by one copy
constexpr double kSide = 8192;                        // of the product

PowerPrediction refused(std::string why) {
  PowerPrediction p;
  p.refusal = std::move(why);
  return p;
}

/// A board that idles, copies or multiplies.
PowerPrediction one_operation(const PowerCase& c, const Knowledge& k, bool roofline) {
  const auto device = k.catalogue.find_device(c.device);
  if (!device) return refused("unknown: " + device.error().text());
  const auto rates = perf::device_rates(*device, k.catalogue, k.calibration);
  if (!rates) return refused("refused: " + rates.error().text());
  const auto power = perf::power_coefficients(k.calibration, rates->architecture);
  PowerPrediction p;
  if (c.work == PowerWork::idle) {
    p.watts = c.gpus * rates->tdp * power.idle;
    return p;
  }
  const Format format = c.precision.value_or(Format::bf16);
  KernelCase kernel;
  kernel.device = c.device;
  kernel.op = c.work == PowerWork::copy ? KernelOp::copy : KernelOp::gemm;
  kernel.bytes = kCopied;
  kernel.m = kernel.n = kernel.k = kSide;
  kernel.weights = kernel.activations = format;
  const KernelPrediction time =
      roofline ? predict_roofline(kernel, k.catalogue) : evidence::predict(kernel, k.catalogue, k.calibration);
  if (!time.refusal.empty()) return refused("refused: " + time.refusal);
  p.seconds = time.seconds;
  const bool copies = c.work == PowerWork::copy;
  const double flops = copies ? 0 : 2 * kSide * kSide * kSide;
  const double bytes = copies ? kCopied : kSide * kSide * (2 * bytes_per_element(format) + 2);
  p.watts = c.gpus * perf::device_power(*rates, power, {flops, bytes, p.seconds});
  return p;
}

/// One step of a model, again and again.
PowerPrediction one_step(const PowerCase& c, const Knowledge& k, bool roofline) {
  InferenceQuery query;
  query.model = c.model;
  query.device = c.device;
  query.gpus = c.gpus;
  query.weights = c.precision;
  query.engine = roofline ? "ideal" : "native";  // steps of ridge-measure, no server around them
  query.load.batch = c.batch;
  const bool prefill = c.work == PowerWork::prefill;
  if (prefill) {
    query.load.mode = LoadMode::prefill;
    query.load.isl = c.isl;
    query.load.osl = 1;
  } else {  // from nothing to twice the context: on average the context
    query.load.mode = LoadMode::fixed_batch;
    query.load.isl = 0;
    query.load.osl = 2 * c.context;
  }
  const auto deployment = resolve(query, k);
  if (!deployment) return refused("refused: " + deployment.error().text());
  const InferenceOutcome outcome = evaluate(*deployment->resolved, query.load);
  if (outcome.reason != Reason::none) return refused(std::string(name(outcome.reason)) + ": the plan cannot run");
  const InferenceEstimate& e = outcome.estimate;
  PowerPrediction p;
  p.watts = e.power_w.mid;
  p.seconds = prefill ? e.prefill_s.mid : e.decode_step_s.mid;
  p.joules_per_token = p.watts * p.seconds / (prefill ? c.batch * c.isl : c.batch);
  return p;
}

}  // namespace

PowerPrediction predict_power(const PowerCase& c, const Knowledge& knowledge, bool roofline) {
  const bool model = c.work == PowerWork::prefill || c.work == PowerWork::decode;
  return model ? one_step(c, knowledge, roofline) : one_operation(c, knowledge, roofline);
}

}  // namespace ridge::evidence
