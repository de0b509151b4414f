#include "ridge/perf/usual.hpp"

#include "ridge/perf/capacity.hpp"
#include "ridge/perf/training.hpp"

namespace ridge {

std::optional<Format> eight_bits(const Device& device) {
  if (computes_in(device, Format::fp8)) return Format::fp8;
  if (computes_in(device, Format::int8)) return Format::int8;
  return {};
}

std::optional<Format> four_bits(const Device& device) {
  if (computes_in(device, Format::nvfp4)) return Format::nvfp4;
  if (computes_in(device, Format::mxfp4)) return Format::mxfp4;
  return {};
}

const char* usual_training_engine(TrainingTask task) {
  return task == TrainingTask::pretrain ? "megatron" : "hf-peft";
}

Format eight_bit_cache(const Device& device, const Catalogue& catalogue) {
  const Architecture* design = catalogue.architecture(device.architecture);
  const bool others =
      design != nullptr && design->rate_over_bf16[static_cast<std::size_t>(PeakFormat::fp8)].has_value();
  return others && !computes_in(device, Format::fp8) ? Format::int8 : Format::fp8;
}

std::vector<Format> usual_formats(const Device& device, const Model& model) {
  std::vector<Format> formats;
  const Result<Format> stored = parse_format(model.quantization);
  if (!model.quantization.empty() && stored) {
    formats.push_back(*stored);
  } else {
    formats.push_back(Format::bf16);
    if (const auto eight = eight_bits(device)) formats.push_back(*eight);
  }
  if (formats.front() == Format::nvfp4 || formats.front() == Format::mxfp4) return formats;
  if (const auto four = four_bits(device)) formats.push_back(*four);
  return formats;
}

std::vector<Format> fitting_formats(const Device& device) {
  std::vector<Format> formats = {Format::bf16, eight_bits(device).value_or(Format::fp8), Format::int4};
  if (const auto four = four_bits(device)) formats.push_back(*four);
  return formats;
}

std::vector<Format> usual_training_formats(const Device& device) {
  std::vector<Format> formats = {Format::bf16};
  if (eight_bits(device) == Format::fp8) formats.push_back(Format::fp8);
  return formats;
}

}  // namespace ridge
