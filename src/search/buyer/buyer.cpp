#include "search/buyer/buyer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"
#include "search/buyer/policy.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::search {

namespace {

// ECCN 3A090 (88 FR 73458, 25 October 2023): processing performance, and that per mm2 of die.
constexpr double kClassA = 4800, kLowest = 1600, kDenseA = 5.92;
constexpr double kMiddle = 2400, kSparseB = 1.6, kDenseB = 3.2;
/// Bytes a second of memory above which letters of April 2025 to NVIDIA, AMD and Intel ask for a licence (NVIDIA's form
/// 8-K of 2025-04-15 names the bandwidth of the H20; Intel's of the same month says 1,400 GB/s).
constexpr double kLetterBandwidth = 1.4e12;
/// Server power over that of its devices where no system is in the catalogue: a DGX H100 takes 10.2 kW for 8 x 700 W.
constexpr double kUsualOverhead = 1.8;
/// Servers of eight in a rack: four DGX H100 fill one of 41 kW (NVIDIA DGX SuperPOD reference architecture).
constexpr int kServersARack = 4;

bool names(const std::vector<std::string>& list, std::string_view word) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& s) { return lower(s) == lower(word); });
}

double bits(PeakFormat format) {
  static constexpr std::array<double, kPeakFormats> kBits = {64, 64, 32, 19, 16, 16, 8, 8, 4};
  return kBits[static_cast<std::size_t>(format)];
}

/// Kernels of its design, or serving or training on the device itself.
bool is_measured(const Device& device, const Calibration& calibration) {
  const bool kernels = calibration.knows_kernels_of(device.architecture);
  if (kernels) return true;
  const DeviceKeys keys{device.id, device.architecture, kernels};
  for (const std::string_view group : {"serving", "training"}) {
    const Sureness sure = calibration.effects().of(group, keys, "");
    if (sure.device == device.id && sure.device_rows > 0) return true;
  }
  return false;
}

Loser unknown_power(const Device& device) {
  return {device.id, "its power is not published", "figures", 0, false};
}

}  // namespace

double total_processing_performance(const Device& device) {
  double most = 0;
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    const auto format = static_cast<PeakFormat>(i);
    if (device.peak(format)) most = std::max(most, device.peak(format)->value.value() * 1e-12 * bits(format));
  }
  return most;
}

/// Cards and modules of servers, not of desks.
bool for_data_centres(const Device& device) {
  return device.form == FormFactor::pcie || device.form == FormFactor::sxm || device.form == FormFactor::oam;
}

std::string export_class(const Device& device, const ExportRules& rules) {
  const double tpp = total_processing_performance(device);
  if (names(rules.licence_free, device.vendor) || tpp < kLowest) return "";
  if (tpp >= kClassA) return "3A090.a: processing performance of 4,800 or more";
  const auto die =
      std::find_if(rules.dies.begin(), rules.dies.end(), [&](const auto& d) { return d.first == device.chip; });
  if (!for_data_centres(device) || die == rules.dies.end()) return "";
  const double density = tpp / die->second;
  if (density >= kDenseA) return "3A090.a: 1,600 or more, and 5.92 or more per mm²";
  if (tpp >= kMiddle && density >= kSparseB) return "3A090.b: 2,400 or more, and 1.6 or more per mm²";
  if (density >= kDenseB) return "3A090.b: 1,600 or more, and 3.2 or more per mm²";
  return "";
}

bool licensed_by_letter(const Device& device, const ExportRules& rules) {
  return !names(rules.licence_free, device.vendor) && export_class(device, rules).empty() && for_data_centres(device) &&
         device.memory_bandwidth && device.memory_bandwidth->value.value() >= kLetterBandwidth;
}

std::string letter_text(const std::vector<std::string>& devices) {
  std::string all;
  for (const std::string& device : devices) all += (all.empty() ? "" : ", ") + device;
  return fmt::format(
      "{} {} a US licence by letter of April 2025, which was granted for the H20 and the MI308X from August 2025 on: "
      "ask "
      "what holds today",
      all, devices.size() == 1 ? "needs" : "need");
}

const System* smallest_system(const Catalogue& catalogue, const std::string& device, bool with_power) {
  const System* found = nullptr;
  for (const System& system : catalogue.systems()) {
    if (with_power && !system.power_max) continue;
    if (system.device == device && (found == nullptr || system.devices() < found->devices())) found = &system;
  }
  return found;
}

int rack_gpus(const Device& device, const Catalogue& catalogue) {
  int rack = 0;
  for (const System& system : catalogue.systems()) {
    if (system.device == device.id && system.kind == SystemKind::rack) rack = std::max(rack, system.devices());
  }
  if (rack > 0) return rack;
  return kServersARack * (device.node_size ? device.node_size->value : 8);
}

std::optional<Loser> refused(const Device& device, const Buyer& buyer, const Knowledge& knowledge) {
  const auto out = [&](std::string limit, std::string why, double by = 0) {
    return Loser{device.id, std::move(why), std::move(limit), by, false};
  };
  const bool asked = names(buyer.devices, device.id);
  if (!device.memory_capacity) return out("figures", "memory is not published");
  if (!device.memory_bandwidth) return out("figures", "memory bandwidth is not published");
  if (device.status == Sale::announced && !buyer.announced && !asked)
    return out("delivery", "announced, not on sale yet");
  if (!buyer.vendors.empty() && !names(buyer.vendors, device.vendor)) {
    return out("vendor", fmt::format("of {}, which is not among the vendors allowed", device.vendor));
  }
  if (names(buyer.avoid_vendors, device.vendor)) return out("vendor", fmt::format("of {}, ruled out", device.vendor));
  if (buyer.export_licence) {
    const std::string of_class = export_class(device, {buyer.licence_free, buyer.dies});
    if (!of_class.empty()) {
      return out("export", fmt::format("needs an export licence for {} ({})", buyer.destination, of_class));
    }
  }
  if (names(buyer.elsewhere, device.vendor)) {
    return out("place", fmt::format("rented from {} alone, which is not known to have any in {}", device.vendor,
                                    buyer.destination));
  }
  if (buyer.measured && !is_measured(device, knowledge.calibration)) {
    return out("maturity", "no measurements of its design or of serving or training on it are published");
  }
  const System* system = smallest_system(knowledge.catalogue, device.id);
  if (buyer.air_cooled && system != nullptr && system->cooling == Cooling::liquid) {
    return out("cooling", fmt::format("{} is cooled by liquid", system->name));
  }
  if (buyer.power_w > 0 && !device.tdp) return unknown_power(device);
  if (buyer.rack_w > 0) {
    const System* fed = smallest_system(knowledge.catalogue, device.id, true);
    if (fed == nullptr && !device.tdp) return unknown_power(device);
    const double node = device.node_size ? device.node_size->value : 1;
    const double unit =
        fed != nullptr ? fed->power_max->value.value() : device.tdp->value.value() * kUsualOverhead * node;
    if (unit > buyer.rack_w) {
      return out("rack",
                 fmt::format("one {} takes {}, a rack has {}", fed != nullptr ? fed->name : "server of " + device.name,
                             format(Watts(unit)), format(Watts(buyer.rack_w))),
                 unit / buyer.rack_w - 1);
    }
  }
  return {};
}

Result<Candidates> candidates(Buyer& buyer, Objective objective, const Knowledge& knowledge) {
  std::vector<std::string_view> vendors;
  for (const Device& device : knowledge.catalogue.devices()) vendors.push_back(device.vendor);
  std::sort(vendors.begin(), vendors.end());
  vendors.erase(std::unique(vendors.begin(), vendors.end()), vendors.end());
  if (const Status s = check_vendors("⟦vendors⟧", buyer.vendors, vendors); !s) return s.error();
  if (const Status s = check_vendors("⟦avoid_vendors⟧", buyer.avoid_vendors, vendors); !s) return s.error();
  for (Fleet& fleet : buyer.fleet) {
    const auto device = knowledge.catalogue.find_device(fleet.device);
    if (!device) return device.error();
    fleet.device = device->id;
  }
  Candidates found;
  const auto consider = [&](const Device& device) {
    if (auto loser = refused(device, buyer, knowledge)) {
      found.excluded.push_back(*std::move(loser));
    } else if (objective == Objective::energy && !device.tdp) {
      found.excluded.push_back(unknown_power(device));
    } else {
      const bool by_letter = buyer.export_licence && licensed_by_letter(device, {buyer.licence_free, buyer.dies});
      if (by_letter) found.by_letter.push_back(device.id);
      found.devices.push_back(device);
    }
  };
  if (buyer.devices.empty()) {
    for (const Device& device : knowledge.catalogue.devices()) consider(device);
  } else {
    for (const std::string& id : buyer.devices) {
      auto device = knowledge.catalogue.find_device(id);
      if (!device) return device.error();
      consider(*device);
    }
  }
  if (found.devices.empty()) {
    return Error{ErrorCode::infeasible, "", "no device is left:" + list_of(found.excluded)};
  }
  return found;
}

std::vector<double> power_caps(const std::vector<double>& asked, bool search, const Device& device) {
  constexpr double kShares[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4};
  const double limit = device.tdp ? device.tdp->value.value() : 0;
  std::vector<double> caps;
  const auto add = [&](double cap) {
    if (!(limit > 0) || cap >= limit) cap = 0;
    if (std::find(caps.begin(), caps.end(), cap) == caps.end()) caps.push_back(cap);
  };
  if (asked.empty()) add(0);
  for (const double cap : asked) add(cap);
  if (search) {
    for (const double share : kShares) add(std::round(share * limit));
  }
  return caps;
}

}  // namespace ridge::search
