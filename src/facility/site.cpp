// The checklist of a site, each line with the figure behind it.
#include "ridge/facility/site.hpp"

#include <fmt/format.h>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

class Checker {
 public:
  Checker(const SiteFacts& facts, const FacilityData& data) : f_(facts), data_(data) {}

  std::vector<ChecklistLine> run() {
    if (f_.racks != nullptr) {
      power();
      cooling();
      body();
    }
    if (f_.fabric != nullptr) network();
    if (f_.storage != nullptr && !f_.storage->strategies.empty()) storage();
    operations();
    return std::move(lines_);
  }

 private:
  void add(const char* area, std::string requirement, SiteVerdict verdict, std::string number, std::string fix = {}) {
    lines_.push_back({area, std::move(requirement), verdict, std::move(number), std::move(fix)});
  }

  /// Needed against offered: unknown if nothing was said.
  template <class Q>
  void compare(const char* area, const std::string& what, Q needed, const std::optional<Q>& offered,
               const std::string& flag, const std::string& fix) {
    if (!offered) {
      add(area, what, SiteVerdict::unknown, fmt::format("{} needed", format(needed)), "say what there is: " + flag);
      return;
    }
    const bool enough = needed <= *offered;
    add(area, what, enough ? SiteVerdict::pass : SiteVerdict::fail,
        fmt::format("{} of {}", format(needed), format(*offered)), enough ? "" : fix);
  }

  void power() {
    const RackPlan& r = *f_.racks;
    compare("power", "a rack gets what its equipment draws at most", r.per_rack_power, f_.limits.rack_power,
            "⟦rack_power⟧", "fewer systems per rack, or more feeds");
    compare("power", "the building feeds all of it, cooling included", r.facility, f_.limits.site_power, "⟦site_power⟧",
            "fewer systems, or cooling with a lower PUE");
    if (r.feed != nullptr) {
      add("power", "feeds of a rack, with spares (2N)", SiteVerdict::unknown,
          fmt::format("2 × {} of {} ({} each)", r.feeds, r.feed->name, format(r.feed->usable())),
          "compare with the breakers on site");
    }
    if (f_.limits.spike) {
      add("power", "UPS and breakers ride through spikes", SiteVerdict::pass,
          fmt::format("{} for milliseconds", format(r.spike)));
    } else {
      add("power", "UPS and breakers ride through spikes", SiteVerdict::unknown,
          fmt::format("{} for milliseconds, swings of {}", format(r.spike), format(r.swing)),
          "ask the vendor of the UPS; ⟦spike⟧");
    }
  }

  void cooling() {
    const RackPlan& r = *f_.racks;
    const std::string heat = fmt::format("{} per rack", format(r.per_rack_power));
    const CoolingClass* has = data_.cooling_class(f_.limits.cooling);
    if (has != nullptr) {
      const bool enough = r.per_rack_power <= has->high;
      add("cooling", fmt::format("{} takes the heat", has->name), enough ? SiteVerdict::pass : SiteVerdict::fail,
          fmt::format("{}, up to {}", heat, format(has->high)),
          enough ? "" : "spread over more racks, or cool closer to the chip");
      const bool needs_liquid = r.system->cooling == Cooling::liquid;
      if (needs_liquid && !has->liquid_to_chip) {
        add("cooling", "liquid reaches the cold plates", SiteVerdict::fail,
            fmt::format("{} is liquid-cooled", r.system->id), "a coolant loop with distribution units");
      }
    } else if (r.cooling != nullptr) {
      add("cooling", fmt::format("{}, or closer to the chip", r.cooling->name), SiteVerdict::unknown, heat,
          "say what there is: ⟦cooling⟧");
    } else {
      add("cooling", "a way to take the heat", SiteVerdict::fail, heat,
          "more than any class takes: spread over more racks");
    }
    if (r.system->cooling == Cooling::air && r.per_rack_by_air < r.per_rack) {
      add("cooling", "air can carry the heat of air-cooled systems", SiteVerdict::fail,
          fmt::format("{}; a rear door takes {} of them", heat, r.per_rack_by_air),
          fmt::format("at most {} per rack", r.per_rack_by_air));
    }
  }

  void body() {
    const RackPlan& r = *f_.racks;
    if (r.per_rack_units > 0) {
      const int units = f_.limits.rack_units.value_or(r.rack->units);
      add("building", "the rack is high enough", r.per_rack_units <= units ? SiteVerdict::pass : SiteVerdict::fail,
          fmt::format("{} of {} units", r.per_rack_units, units));
    }
    if (r.floor_load) {
      compare("building", "the floor carries a rack on its own footprint", *r.floor_load, f_.limits.floor_load,
              "⟦floor_load⟧", "spread the load over plates, or fewer systems per rack");
    } else {
      add("building", "the floor carries a rack", SiteVerdict::unknown, "the weight is not known", "ask the vendor");
    }
  }

  void network() {
    const FabricDesign& d = *f_.fabric;
    const bool full = d.oversubscription <= 1.0001;
    add("network", "no level of the network is narrower than the one below",
        full ? SiteVerdict::pass : SiteVerdict::fail,
        fmt::format("{} : 1, {} between halves", format_number(d.oversubscription, 2), format(d.bisection)),
        full ? "" : "more switches above the leaves, or plans whose traffic stays below them");
    if (f_.traffic && f_.compute_seconds > 0) {
      const BytesPerSecond needed = needed_per_port(*f_.traffic, f_.compute_seconds);
      const BytesPerSecond has(f_.traffic->port);
      add("network", "a port carries the plan's traffic beside its computation",
          needed <= has ? SiteVerdict::pass : SiteVerdict::fail,
          fmt::format("{} per device of {} ({:.0f} %)", format(needed), format(has), 100 * (needed / has)),
          needed <= has ? "" : "larger batches, other degrees, or faster ports");
    }
  }

  void storage() {
    const StorageNeed& s = *f_.storage;
    compare("storage", fmt::format("storage takes {} checkpoints", name(s.best)), s.write(), f_.limits.storage_write,
            "⟦storage_write⟧", "a longer interval, or more storage servers");
  }

  void operations() {
    add("operations", "a batch scheduler places whole jobs (gang scheduling)", SiteVerdict::unknown,
        "Slurm, or Kubernetes with Kueue or Volcano", "ridge emit --for slurm, or k8s");
    add("operations", "hosts are alike and healthy", SiteVerdict::unknown, "one facts file per host",
        "ridge doctor --collect on each host, then ridge doctor --facts FILES");
    add("operations", "devices, links, heat and power are watched", SiteVerdict::unknown,
        "DCGM, NCCL tests, PDU metering", "an exporter on every host and an alarm on Xid, ECC and link errors");
    add("security", "tenants are apart: partitions of the fabric, networks, keys", SiteVerdict::unknown,
        "P_Keys or VLANs per tenant, storage encrypted", "part of the site's own review");
  }

  const SiteFacts& f_;
  const FacilityData& data_;
  std::vector<ChecklistLine> lines_;
};

}  // namespace

std::string_view name(SiteVerdict verdict) {
  constexpr std::string_view kNames[] = {"pass", "fail", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::vector<ChecklistLine> checklist(const SiteFacts& facts, const FacilityData& data) {
  return Checker(facts, data).run();
}

}  // namespace ridge
