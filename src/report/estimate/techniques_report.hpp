// What techniques gain here beside what people quote: table and JSON of `ridge estimate techniques`.
//
// Pure; any thread.
#pragma once

#include <span>

#include "ridge/catalogue/quoted_gain.hpp"
#include "ridge/perf/answer.hpp"
#include "ridge/perf/techniques.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

/// The factors of each technique, and the quotes for it as "2 to 4".
[[nodiscard]] Table techniques_table(std::span<const TechniqueGain> gains, std::span<const QuotedGain> quotes);
[[nodiscard]] Document techniques_page(const InferenceAnswer& plain, std::span<const TechniqueGain> gains,
                                       std::span<const QuotedGain> quotes);
[[nodiscard]] Json techniques_json(const InferenceAnswer& plain, std::span<const TechniqueGain> gains,
                                   std::span<const QuotedGain> quotes);

}  // namespace ridge::report
