// The front of the racks, unit by unit.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/chart/svg.hpp"
#include "report/site/facility_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr double kUnit = 10;  // pixels of one rack unit
constexpr double kRackWidth = 190;
constexpr double kGap = 70;
constexpr double kTop = 74;
constexpr double kLeft = 46;
constexpr double kFoot = 62;
constexpr std::string_view kFrame = "#24292f";
constexpr std::string_view kEmpty = "#f6f8fa";

struct Box {
  std::string label;
  int units = 1;
  int colour = 0;
};

struct Front {
  std::string title;
  std::string below;
  std::string below_too;
  std::vector<Box> boxes;  ///< from the bottom
};

void draw(Svg& svg, double x, int units, const Front& front) {
  const double height = units * kUnit;
  svg.text(x + kRackWidth / 2, kTop - 12, front.title, {.anchor = "middle", .size = 13, .bold = true});
  svg.rectangle(x, kTop, kRackWidth, height, {.stroke = kFrame, .width = 1.5, .fill = kEmpty});
  for (int u = 0; u <= units; u += 6) {
    svg.text(x - 6, kTop + height - u * kUnit + 4, std::to_string(u), {.anchor = "end", .size = 9, .fill = kFaint});
  }
  int at = 0;
  for (const Box& box : front.boxes) {
    if (at + box.units > units) break;
    const double y = kTop + height - (at + box.units) * kUnit;
    svg.rectangle(x + 3, y + 1, kRackWidth - 6, box.units * kUnit - 2,
                  {.stroke = colour(box.colour), .width = 1, .fill = colour(box.colour), .opacity = 0.5});
    if (!box.label.empty()) {
      const double size = box.units == 1 ? 8 : 11;
      svg.text(x + kRackWidth / 2, y + box.units * kUnit / 2 + size / 3, box.label,
               {.anchor = "middle", .size = size, .fill = kFrame, .bold = box.units > 1});
    }
    at += box.units;
  }
  svg.text(x + kRackWidth / 2, kTop + height + 20, front.below, {.anchor = "middle", .size = 12});
  svg.text(x + kRackWidth / 2, kTop + height + 37, front.below_too, {.anchor = "middle", .size = 11, .fill = kFaint});
}

/// A rack system is drawn by its trays: compute trays around the switch trays of its scale-up network, power shelves at
/// both ends.
Front rack_system(const FacilityAnswer& a, const FacilityData& data, int& units) {
  Front front;
  const System& s = *a.system;
  const ScaleUpDesign* design = data.scale_up_for(s.scale_up, s.scale_up_domain);
  const int trays = design == nullptr ? 0 : design->switch_trays;
  const std::string compute = fmt::format("compute tray, {} devices", s.devices_per_node);
  constexpr int kShelves = 4;
  for (int i = 0; i < kShelves; ++i) front.boxes.push_back({"power shelf", 1, 7});
  const int below = trays > 0 ? s.nodes * 4 / 9 : s.nodes;
  for (int i = 0; i < below; ++i) front.boxes.push_back({compute, 1, 0});
  for (int i = 0; i < trays; ++i) front.boxes.push_back({"scale-up switch tray", 1, 2});
  for (int i = below; i < s.nodes; ++i) front.boxes.push_back({compute, 1, 0});
  for (int i = 0; i < kShelves; ++i) front.boxes.push_back({"power shelf", 1, 7});
  units = std::max(units, static_cast<int>(front.boxes.size()));
  return front;
}

Front node_rack(const FacilityAnswer& a) {
  Front front;
  const int units = a.system->rack_units ? a.system->rack_units->value : 4;
  for (int i = 0; i < a.racks.per_rack; ++i) front.boxes.push_back({a.system->name, units, 0});
  return front;
}

}  // namespace

std::string elevation_svg(const FacilityAnswer& a, const FacilityData& data) {
  const RackPlan& r = a.racks;
  int units = r.rack->units;
  std::vector<Front> fronts;
  Front devices = a.system->kind == SystemKind::node ? node_rack(a) : rack_system(a, data, units);
  int needed = 0;
  for (const Box& box : devices.boxes) needed += box.units;
  units = std::max(units, needed);
  devices.title = fmt::format("{} of these", r.racks);
  devices.below = fmt::format("{} at most", format(r.per_rack_power));
  devices.below_too = r.per_rack_weight > Kilograms(0) ? format(r.per_rack_weight) : std::string();
  if (r.cooling != nullptr) devices.below_too += (devices.below_too.empty() ? "" : ", ") + r.cooling->id;
  fronts.push_back(std::move(devices));
  if (a.fabric && a.fabric->switches() > 0) {
    const SwitchModel* model = a.scale_out == nullptr ? nullptr : data.switch_for(a.scale_out->id);
    const int high = model == nullptr ? 1 : model->rack_units;
    Front network;
    int left = (units - 4) / high;
    int drawn = 0;
    for (std::size_t t = 0; t < a.fabric->tiers.size(); ++t) {
      const SwitchTier& tier = a.fabric->tiers[t];
      // Racks of switches get their share of every level.
      int share = (tier.switches + std::max(1, r.network_racks) - 1) / std::max(1, r.network_racks);
      share = std::min(share, left);
      for (int i = 0; i < share; ++i) network.boxes.push_back({tier.name + " switch", high, static_cast<int>(t) + 1});
      left -= share;
      drawn += share;
    }
    network.title = fmt::format("{} of these", std::max(1, r.network_racks));
    network.below = fmt::format("{} of {} switches", drawn, a.fabric->switches());
    network.below_too = model == nullptr ? "" : model->name;
    fronts.push_back(std::move(network));
  }
  const double width =
      kLeft * 2 + static_cast<double>(fronts.size()) * kRackWidth + static_cast<double>(fronts.size() - 1) * kGap;
  Svg svg(std::max(width, 420.0), kTop + units * kUnit + kFoot);
  svg.text(kLeft, 24,
           fmt::format("{} × {}, {} devices", format_number(r.systems, 9), a.system->name, format_number(r.devices, 9)),
           {.size = 15, .bold = true});
  svg.text(kLeft, 42, fmt::format("{} peak, {} with cooling", format(r.peak), format(r.facility)),
           {.size = 11, .fill = kFaint});
  double x = kLeft;
  for (const Front& front : fronts) {
    draw(svg, x, units, front);
    x += kRackWidth + kGap;
  }
  return svg.finish();
}

}  // namespace ridge::report
