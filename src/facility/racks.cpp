#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"
#include "ridge/facility/site.hpp"

namespace ridge {

namespace {

constexpr std::string_view kUsualRack = "rack-48";
constexpr double kUsualSpike = 1.2;  // over the peak, for milliseconds: what feeds have to ride through
constexpr double kBusyShare = 0.6;   // of the devices' TDP between waiting and computing, as in the training engine
constexpr std::string_view kRearDoor = "rear-door";
constexpr int kMostSystems = 1'000'000;
constexpr int kUnitsLeft = 4;  // of a rack of switches, for patch panels

Error bad(std::string message) {
  return {ErrorCode::bad_input, "", std::move(message)};
}

class Planner {
 public:
  Planner(const SiteRequest& request, const FacilityData& data) : r_(request), data_(data) {}

  Result<RackPlan> run() {
    if (r_.system == nullptr) return bad("name a system, for example ⟦system=dgx-h100⟧");
    p_.system = r_.system;
    bool estimated = false;
    const std::optional<Watts> draws = system_power(*r_.system, r_.device_power, estimated);
    if (!draws) {
      return bad(
          fmt::format("the power of {} is not known: say it in a file of your own (⟦catalogue⟧), under [system.power]",
                      r_.system->id));
    }
    if (estimated) {
      p_.assumptions.push_back(
          fmt::format("one {} draws {}: {} times the TDP of its devices, as in systems that say it", r_.system->id,
                      format(*draws), kPowerOverTdp));
    }
    p_.rack = data_.rack(r_.rack.empty() ? kUsualRack : std::string_view(r_.rack));
    if (p_.rack == nullptr) return bad(fmt::format("there is no rack {}", quoted(r_.rack)));
    each_ = *draws;
    if (const Status s = per_rack(); !s) return s.error();
    if (const Status s = count(); !s) return s.error();
    body();
    power();
    return std::move(p_);
  }

 private:
  [[nodiscard]] bool is_rack() const { return r_.system->kind != SystemKind::node; }

  void limit(double most, RackBound bound) {
    if (most < best_) {
      best_ = most;
      p_.bound = bound;
    }
  }

  Status per_rack() {
    const System& s = *r_.system;
    const SiteLimits& l = r_.limits;
    if (is_rack()) limit(1, RackBound::own_rack);
    if (!is_rack()) {
      const int units = l.rack_units.value_or(p_.rack->units);
      if (!l.rack_units) p_.assumptions.push_back(fmt::format("racks of {} units", units));
      if (s.rack_units) {
        limit(std::floor(static_cast<double>(units) / s.rack_units->value), RackBound::units);
      } else {
        p_.assumptions.push_back(fmt::format("{} takes as much room as there is: its height is not known", s.id));
      }
      if (s.weight) {
        limit(std::floor(l.rack_weight.value_or(p_.rack->load) / s.weight->value), RackBound::weight);
      }
    }
    if (l.rack_power) limit(std::floor(*l.rack_power / each_ + 1e-9), RackBound::power);
    if (l.rack_heat) limit(std::floor(*l.rack_heat / each_ + 1e-9), RackBound::heat);
    if (best_ < 1) {
      std::string why;
      if (p_.bound == RackBound::units) {
        why =
            fmt::format("is {} units high, a rack has {}", s.rack_units->value, l.rack_units.value_or(p_.rack->units));
      } else if (p_.bound == RackBound::weight) {
        why = fmt::format("weighs {}, a rack carries {}", format(s.weight->value),
                          format(l.rack_weight.value_or(p_.rack->load)));
      } else if (p_.bound == RackBound::heat) {
        why = fmt::format("draws {}, the cooling of a rack takes {}", format(each_), format(*l.rack_heat));
      } else {
        why = fmt::format("draws {}, a rack gives {}", format(each_), format(*l.rack_power));
      }
      return Error{ErrorCode::infeasible, "", fmt::format("not one {} fits into a rack: it {}", s.id, why)};
    }
    if (best_ > kMostSystems) best_ = 1;  // neither height nor weight nor a limit is known
    p_.per_rack = static_cast<int>(best_);
    return {};
  }

  Status count() {
    p_.systems = r_.systems;
    if (p_.systems <= 0) {
      // As many as racks, and the power of the site, allow.
      double most = kMostSystems;
      if (r_.limits.racks) most = static_cast<double>(*r_.limits.racks) * p_.per_rack;
      if (r_.limits.site_power) {
        cooling_of(each_ * static_cast<double>(p_.per_rack));
        const Watts all_in = each_ * pue();
        most = std::min(most, std::floor(*r_.limits.site_power / all_in));
      }
      if (most >= kMostSystems) return bad("say how many: ⟦gpus⟧, ⟦nodes⟧, ⟦racks⟧ or ⟦site_power⟧");
      if (most < 1)
        return Error{ErrorCode::infeasible, "", fmt::format("the site does not power one {}", r_.system->id)};
      p_.systems = static_cast<int>(most);
    }
    if (p_.systems < p_.per_rack) {
      p_.per_rack = p_.systems;
      p_.bound = RackBound::asked;
    }
    p_.devices = p_.systems * r_.system->devices();
    p_.racks = (p_.systems + p_.per_rack - 1) / p_.per_rack;
    if (r_.share != nullptr) {
      p_.share = r_.share->devices;
      const int wanted = r_.devices > 0 ? std::min(r_.devices, p_.devices) : p_.devices;
      p_.racks = (wanted + p_.share - 1) / p_.share;
      p_.devices = p_.racks * p_.share;
      p_.racks += r_.share->others * p_.systems;
    } else if (r_.system->kind == SystemKind::pod) {
      p_.assumptions.push_back(
          fmt::format("how many racks a {} takes is not published: counted as one", r_.system->id));
    }
    return {};
  }

  void cooling_of(Watts per_rack) {
    p_.cooling = data_.cooling_for(per_rack);
    if (p_.cooling == nullptr) return;
    // A cold-plate system brings its own plates, also where the heat alone would not ask for them, or asks for more.
    if (r_.system->cooling != Cooling::liquid) return;
    const auto plates = std::find_if(data_.cooling.begin(), data_.cooling.end(),
                                     [](const CoolingClass& c) { return c.liquid_to_chip; });
    if (plates != data_.cooling.end()) p_.cooling = &*plates;
  }

  [[nodiscard]] double pue() const {
    if (r_.limits.pue) return *r_.limits.pue;
    const CoolingClass* has = data_.cooling_class(r_.limits.cooling);
    if (has != nullptr) return has->pue();
    return p_.cooling != nullptr ? p_.cooling->pue() : 1.3;
  }

  void body() {
    const System& s = *r_.system;
    p_.per_rack_power = each_ * (p_.share > 0 ? static_cast<double>(p_.share) / s.devices() : p_.per_rack);
    if (s.rack_units) p_.per_rack_units = s.rack_units->value * p_.per_rack;
    if (s.weight) {
      p_.per_rack_weight = s.weight->value * static_cast<double>(p_.per_rack);
      if (!is_rack()) p_.per_rack_weight += p_.rack->own;
      p_.floor_load = p_.per_rack_weight / (p_.rack->width * p_.rack->depth);
    }
    cooling_of(p_.per_rack_power);
    const CoolingClass* door = data_.cooling_class(kRearDoor);
    if (s.cooling == Cooling::air && door != nullptr) {
      p_.per_rack_by_air = std::min(p_.per_rack, static_cast<int>(std::floor(door->high / each_ + 1e-9)));
    }
    if (r_.switch_count > 0) {
      const int room =
          std::max(1, (r_.limits.rack_units.value_or(p_.rack->units) - kUnitsLeft) / std::max(1, r_.switch_units));
      p_.network_racks = (r_.switch_count + room - 1) / room;
    }
  }

  void power() {
    p_.devices_power = each_ * (static_cast<double>(p_.devices) / r_.system->devices());
    p_.network_power = r_.network;
    p_.peak = p_.devices_power + p_.network_power;
    const double spike = r_.limits.spike.value_or(kUsualSpike);
    if (!r_.limits.spike) p_.assumptions.push_back(fmt::format("spikes of {:.0f} % above the peak", 100 * (spike - 1)));
    p_.spike = p_.peak * spike;
    p_.swing = r_.device_power * (kBusyShare * static_cast<double>(p_.devices));
    p_.pue = pue();
    if (!r_.limits.pue)
      p_.assumptions.push_back(
          fmt::format("PUE {}, the middle of what is usual with such cooling", format_number(p_.pue)));
    p_.facility = p_.peak * p_.pue;
    for (const PowerFeed& feed : data_.feeds) {
      const int feeds = static_cast<int>(std::ceil(p_.per_rack_power / feed.usable() - 1e-9));
      // The smallest number of feeds, and of those the smallest breaker.
      if (p_.feed == nullptr || feeds < p_.feeds || (feeds == p_.feeds && feed.usable() < p_.feed->usable())) {
        p_.feed = &feed;
        p_.feeds = feeds;
      }
    }
  }

  const SiteRequest& r_;
  const FacilityData& data_;
  RackPlan p_;
  Watts each_;
  double best_ = 1e18;
};

}  // namespace

std::optional<Watts> system_power(const System& system, Watts device_power, bool& estimated) {
  estimated = !system.power_max;
  if (system.power_max) return system.power_max->value;
  if (!(device_power > Watts(0))) return {};
  return device_power * (kPowerOverTdp * system.devices());
}

std::string_view name(RackBound bound) {
  constexpr std::string_view kNames[] = {
      "power", "cooling", "height", "weight", "it is a rack of its own", "there are no more"};
  return kNames[static_cast<std::size_t>(bound)];
}

Result<RackPlan> plan_racks(const SiteRequest& request, const FacilityData& data) {
  return Planner(request, data).run();
}

BytesPerSecond needed_per_port(const TrainingTraffic& traffic, double compute_seconds) {
  if (compute_seconds <= 0) return BytesPerSecond(0);
  return BytesPerSecond(traffic.out_bytes() / compute_seconds);
}

}  // namespace ridge
