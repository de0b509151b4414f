#include "claims/known/figures.hpp"

#include <algorithm>
#include <array>

namespace ridge::claims {

namespace {

template <class Q>
std::optional<FigureValue> of(const Figure<Q>& figure, double factor = 1) {
  if (!figure) return std::nullopt;
  return FigureValue{measure_of(figure->value * factor), figure->source};
}

struct Title {
  std::string_view figure;
  std::string_view title;
};
constexpr std::array kTitles = {
    Title{"memory", "memory"},
    Title{"bandwidth", "memory bandwidth"},
    Title{"power", "power limit"},
    Title{"nvlink", "scale-up bandwidth, both directions"},
    Title{"nvlink-one-way", "scale-up bandwidth, one direction"},
    Title{"peer", "bandwidth to one peer"},
    Title{"nic", "network bandwidth per device"},
    Title{"devices", "number of accelerators"},
    Title{"compute", "compute"},
    Title{"bus", "memory bus width"},
};

}  // namespace

std::optional<PeakFormat> peak_format(std::string_view figure) {
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    if (name(static_cast<PeakFormat>(i)) == figure) return static_cast<PeakFormat>(i);
  }
  return std::nullopt;
}

std::optional<FigureValue> device_figure(const Device& device, std::string_view figure) {
  if (figure.ends_with("-sparse")) {
    const std::string_view dense = figure.substr(0, figure.size() - 7);
    auto value = device_figure(device, dense);
    if (value) value->measure = scaled(value->measure, sparsity_gain(device, dense));
    return value;
  }
  if (const auto format = peak_format(figure)) return of(device.peak(*format));
  if (figure == "memory") return of(device.memory_capacity);
  if (figure == "bandwidth") return of(device.memory_bandwidth);
  if (figure == "power") return of(device.tdp);
  if (figure == "nvlink") return of(device.scale_up_per_direction, 2);
  if (figure == "nvlink-one-way") return of(device.scale_up_per_direction);
  if (figure == "peer") return of(device.scale_up_peer_per_direction);
  if (figure == "nic") return of(device.nic_per_direction);
  return std::nullopt;
}

std::optional<FigureValue> system_figure(const Catalogue& catalogue, const System& system, std::string_view figure) {
  if (figure == "devices") return FigureValue{measure_of(Gpus(system.devices())), system.source};
  if (figure == "power") return of(system.power_max);
  const Device* device = catalogue.device(system.device);
  if (figure == "nic") {
    const auto node = scale_out_per_node(catalogue, system);
    if (!node || system.devices_per_node == 0) return std::nullopt;
    return FigureValue{measure_of(*node / static_cast<double>(system.devices_per_node)), system.source};
  }
  if (device == nullptr) return std::nullopt;
  auto value = device_figure(*device, figure);
  if (value) value->measure = scaled(value->measure, system.devices());
  return value;
}

double sparsity_gain(const Device& device, std::string_view figure) {
  const auto format = peak_format(figure);
  return format ? device.design.sparse_over_dense[static_cast<std::size_t>(*format)] : 1;
}

std::string figure_title(std::string_view figure) {
  const bool sparse = figure.ends_with("-sparse");
  const std::string_view dense = sparse ? figure.substr(0, figure.size() - 7) : figure;
  if (peak_format(dense)) {
    std::string upper(dense);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    std::replace(upper.begin(), upper.end(), '_', ' ');
    return (sparse ? "sparse " : "dense ") + upper + " peak";
  }
  const auto* at = std::find_if(kTitles.begin(), kTitles.end(), [&](const Title& t) { return t.figure == figure; });
  return at == kTitles.end() ? "" : std::string(at->title);
}

std::string figure_words(std::string_view figure) {
  std::string title = figure_title(figure);
  if (title.starts_with("dense ")) title.erase(0, 6);
  return title;
}

}  // namespace ridge::claims
