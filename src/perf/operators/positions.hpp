// Where formats and terms stand in the arrays of this module, and which peak of a datasheet a format runs at.
//
//   rates.peak[index(Format::fp8)]
//   device.peak(peak_format(Format::mxfp8))        // the fp8 peak
#pragma once

#include <cstddef>

#include "ridge/catalogue/catalogue.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::perf {

constexpr std::size_t index(Format format) {
  return static_cast<std::size_t>(format);
}
constexpr std::size_t index(Term term) {
  return static_cast<std::size_t>(term);
}

/// fp32 on tensor cores is tf32; block formats have the peak of their plain one.
[[nodiscard]] PeakFormat peak_format(Format format);

}  // namespace ridge::perf
