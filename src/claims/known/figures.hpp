// Figures of devices and systems by the words that claims use for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "claims/text/written_number.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::claims {

struct FigureValue {
  Measure measure;
  SourceId source;
};

/// "fp8", "bf16", ... as a peak format, or nothing.
[[nodiscard]] std::optional<PeakFormat> peak_format(std::string_view figure);

/// Of one device: a peak ("bf16", dense), "memory", "bandwidth", "power", "nvlink" (both directions), "nvlink-one-way",
/// "peer" (one direction), "nic" (one direction). Nothing if it is unknown or no figure of a device.
[[nodiscard]] std::optional<FigureValue> device_figure(const Device& device, std::string_view figure);

/// Of a system: "devices", "power", "nic" (per device, one direction), or a figure of its device, all devices together.
[[nodiscard]] std::optional<FigureValue> system_figure(const Catalogue& catalogue, const System& system,
                                                       std::string_view figure);

/// Peak with structured sparsity over dense peak; 1 where the design has none.
[[nodiscard]] double sparsity_gain(const Device& device, std::string_view figure);

/// "dense FP8 peak", "memory bandwidth": for people. Empty if it is no figure.
[[nodiscard]] std::string figure_title(std::string_view figure);
/// The same as a claim may put it, which does not say whether a peak is dense: "FP8 peak".
[[nodiscard]] std::string figure_words(std::string_view figure);

}  // namespace ridge::claims
