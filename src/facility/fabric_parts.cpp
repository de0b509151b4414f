// What a network is built of: switches and links by the data.
#include <fmt/format.h>

#include "ridge/base/text.hpp"
#include "ridge/facility/fabric.hpp"

namespace ridge {

void equip(FabricDesign& design, const FacilityData& data, std::string_view fabric, BytesPerSecond port_rate,
           int radix) {
  const SwitchModel* model = data.switch_for(fabric);
  if (model != nullptr && model->radix != radix) model = nullptr;
  const int switches = design.switches();
  Watts power;
  Dollars low;
  Dollars high;
  bool power_known = true;
  bool price_known = true;
  SourceId source;
  if (switches > 0) {
    if (model == nullptr) {
      design.notes.push_back(
          fmt::format("no switch of {} ports for {} is in the data: no power, no price", radix, fabric));
      power_known = price_known = false;
    } else {
      design.switch_model = model->id;
      if (model->power_max) {
        power += model->power_max->value * static_cast<double>(switches);
        source = model->power_max->source;
      } else {
        power_known = false;
        design.notes.push_back(fmt::format("the power of {} is not published", model->name));
      }
      if (model->price) {
        low += model->price->low * static_cast<double>(switches);
        high += model->price->high * static_cast<double>(switches);
      } else {
        price_known = false;
      }
    }
  }
  const bool switches_power_theirs = model != nullptr && model->power_with_optics;
  for (CableRun& run : design.runs) {
    const LinkModel* link = data.link_for(port_rate, run.length);
    if (link == nullptr) {
      design.notes.push_back(
          fmt::format("no link of {} over {} is in the data", format(port_rate), format(run.length)));
      power_known = price_known = false;
      continue;
    }
    run.link = link->id;
    const auto count = static_cast<double>(run.cables);
    design.transceivers += link->transceivers * count;
    // The data sheet of the switch already counts its own ends.
    const double own_share = !switches_power_theirs ? 1.0 : run.name == "node-leaf" ? 0.5 : 0.0;
    if (link->power) power += link->power->value * (count * own_share);
    if (link->price) {
      low += link->price->low * count;
      high += link->price->high * count;
    } else {
      price_known = false;
    }
  }
  if (design.cables() == 0 && switches == 0) return;
  if (power_known) design.power = Sourced<Watts>{power, source};
  if (price_known) design.price = PriceRange{low, high};
}

std::optional<ScaleUpCount> count_scale_up(const FacilityData& data, const Catalogue& catalogue, const System& system,
                                           int devices) {
  const Fabric* fabric = catalogue.fabric(system.scale_up);
  const ScaleUpDesign* design = data.scale_up_for(system.scale_up, system.scale_up_domain);
  if (fabric == nullptr || design == nullptr) return {};
  ScaleUpCount count;
  count.domains = (devices + design->domain - 1) / design->domain;
  count.switch_chips = count.domains * design->switch_chips;
  count.switch_trays = count.domains * design->switch_trays;
  count.links = std::int64_t{count.domains} * design->domain * design->links_per_device;
  if (fabric->device_per_direction) count.bisection = fabric->device_per_direction->value * (design->domain / 2.0);
  return count;
}

}  // namespace ridge
