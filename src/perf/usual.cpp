#include "ridge/usual.hpp"

#include "ridge/capacity.hpp"

namespace ridge {

std::vector<Format> usual_formats(const Device& device, const Model& model) {
  std::vector<Format> formats;
  const Result<Format> stored = parse_format(model.quantization);
  if (!model.quantization.empty() && stored) {
    formats.push_back(*stored);
  } else {
    formats.push_back(Format::bf16);
    if (computes_in(device, Format::fp8)) {
      formats.push_back(Format::fp8);
    } else if (computes_in(device, Format::int8)) {
      formats.push_back(Format::int8);
    }
  }
  if (formats.front() == Format::nvfp4 || formats.front() == Format::mxfp4) return formats;
  if (computes_in(device, Format::nvfp4)) {
    formats.push_back(Format::nvfp4);
  } else if (computes_in(device, Format::mxfp4)) {
    formats.push_back(Format::mxfp4);
  }
  return formats;
}

}  // namespace ridge
