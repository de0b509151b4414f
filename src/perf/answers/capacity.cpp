#include "ridge/perf/capacity.hpp"

#include <algorithm>

#include "perf/inference/layers.hpp"
#include "perf/inference/resolved.hpp"

namespace ridge {
namespace {

constexpr int kFirstContext = 4096;
constexpr int kLastContext = 1 << 20;

InferenceQuery query_of(const CapacityQuestion& question, const std::string& model, const std::string& device,
                        Format weights) {
  InferenceQuery q;
  q.model = model;
  q.device = device;
  q.engine = question.engine;
  q.date = question.date;
  q.weights = weights;
  q.kv = question.kv;
  q.load = {.mode = LoadMode::fixed_batch, .isl = question.isl, .osl = question.osl, .batch = 1};
  return q;
}

/// One weight without its scales.
double bare_bytes(Format format) {
  switch (format) {
    case Format::int4:
    case Format::mxfp4:
    case Format::nvfp4:
      return 0.5;
    case Format::mxfp8:
      return 1;
    default:
      return bytes_per_weight(format);
  }
}

/// Tensor parallel as far as heads allow, the rest as stages.
std::optional<FewestDevices> holds(InferenceQuery q, int gpus, const Knowledge& knowledge) {
  for (int pp = 1; pp <= gpus; pp *= 2) {
    q.gpus = gpus;
    q.tp = gpus / pp;
    q.pp = pp;
    const auto deployment = resolve(q, knowledge);
    if (!deployment) return std::nullopt;
    const InferenceOutcome o = evaluate(*deployment->resolved, q.load);
    if (o.reason == Reason::none) return FewestDevices{gpus, q.tp, pp, o.estimate};
    if (o.reason != Reason::heads_not_divisible) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<WeightMemory> weight_memory(const Model& model, Format format) {
  if (model.type != ModelType::language) {
    return Error{ErrorCode::refused, model.id, "is no language model: it has no weights of layers to count"};
  }
  ResolvedInference r;
  for (auto& rates : r.gemm) rates.bytes_weight = bytes_per_weight(Format::bf16);
  r.gemm[ResolvedInference::kNarrow].bytes_weight = bytes_per_weight(format);
  if (const Status s = perf::fill_layers(r, model, {format, Format::bf16, 0}); !s) return s.error();
  return WeightMemory{count_parameters(model).total * bare_bytes(format), perf::weight_bytes(r, model, format)};
}

std::vector<KvRow> kv_by_context(const Model& model) {
  std::vector<KvRow> rows;
  for (int tokens = kFirstContext; tokens <= kLastContext; tokens *= 2) {
    rows.push_back(
        {tokens, kv_bytes_per_sequence(model, 2, tokens).value(), kv_bytes_per_sequence(model, 1, tokens).value()});
  }
  return rows;
}

std::optional<FewestDevices> fewest_devices(const CapacityQuestion& question, const std::string& model,
                                            const std::string& device, Format weights, const Knowledge& knowledge,
                                            int most) {
  const InferenceQuery q = query_of(question, model, device, weights);
  for (int gpus = 1; gpus <= most; gpus *= 2) {
    if (auto found = holds(q, gpus, knowledge)) return found;
  }
  return std::nullopt;
}

const Model* largest_model(const CapacityQuestion& question, const std::string& device, Format weights, int gpus,
                           const Knowledge& knowledge) {
  const auto found = knowledge.catalogue.find_device(device);
  if (!found || !found->memory_capacity) return nullptr;
  // A board reports binary gigabytes: a little more than its name says. What exceeds even that needs no evaluation.
  const double room = found->memory_capacity->value.value() * 1.08 * gpus;
  std::vector<std::pair<double, const Model*>> models;
  for (const Model& model : knowledge.catalogue.models()) {
    if (model.type != ModelType::language) continue;
    const double parameters = count_parameters(model).total;
    if (parameters * 0.5 <= room) models.emplace_back(parameters, &model);
  }
  std::stable_sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [parameters, model] : models) {
    const auto memory = weight_memory(*model, weights);
    if (!memory || memory->stored > room) continue;
    if (holds(query_of(question, model->id, device, weights), gpus, knowledge)) return model;
  }
  return nullptr;
}

bool computes_in(const Device& device, Format format) {
  switch (format) {
    case Format::fp8:
    case Format::mxfp8:
      return device.peak(PeakFormat::fp8).has_value();
    case Format::int8:
      return device.peak(PeakFormat::int8).has_value();
    case Format::mxfp4:
      return device.peak(PeakFormat::fp4).has_value();
    case Format::nvfp4:
      return device.peak(PeakFormat::fp4).has_value() && device.design.nvfp4;
    case Format::int4:
    case Format::q4_k_m:
    case Format::q4_0:
    case Format::q6_k:
    case Format::q8_0:
      return false;
    case Format::fp32:
    case Format::bf16:
    case Format::fp16:
      return true;
  }
  return true;
}

}  // namespace ridge
