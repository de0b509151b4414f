#include "report/site/facility_report.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "report/page/page.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

void add(Table& table, std::string_view what, const std::string& value) {
  table.rows.push_back({Cell(what), Cell(value)});
}

std::string count(double value) {
  return format_number(value, 9);
}

std::string link_text(const FacilityData& data, const std::string& id) {
  const LinkModel* link = data.link(id);
  return link != nullptr ? link->name : "no link known";
}

std::string price_text(const PriceRange& price) {
  return fmt::format("{} to {}", format(price.low, 2), format(price.high, 2));
}

std::vector<std::pair<std::string_view, double>> plugs_by_medium(const FabricDesign& d, const FacilityData& data) {
  std::vector<std::pair<std::string_view, double>> out;
  for (const LinkMedium medium : {LinkMedium::active_optical, LinkMedium::multimode, LinkMedium::single_mode}) {
    double plugs = 0;
    for (const CableRun& run : d.runs) {
      const LinkModel* link = data.link(run.link);
      if (link != nullptr && link->medium == medium) plugs += link->transceivers * static_cast<double>(run.cables);
    }
    if (plugs > 0) out.emplace_back(name(medium), plugs);
  }
  return out;
}

/// What corrects the errors of the links, and how many wrong bits the specification still allows on all of them, both
/// directions busy.
std::vector<std::string> corrections(const FabricDesign& d, const FacilityData& data) {
  std::map<std::string, std::pair<double, double>> codes;  // links, wrong bits a second
  for (const CableRun& run : d.runs) {
    const LinkModel* link = data.link(run.link);
    const ErrorCorrection* code = link == nullptr ? nullptr : data.correction(link->fec);
    if (code == nullptr) continue;
    auto& [links, wrong] = codes[code->name];
    links += static_cast<double>(run.cables);
    wrong += static_cast<double>(run.cables) * 2 * 8 * link->rate.value() * code->errors_left;
  }
  std::vector<std::string> out;
  for (const auto& [code, sums] : codes) {
    out.push_back(fmt::format("{} on {} links; at most {} wrong bits a second are left on all of them", code,
                              count(sums.first), format_number(sums.second, 2)));
  }
  return out;
}

Table fabric_block(const FacilityAnswer& a, const FacilityData& data) {
  const FabricDesign& d = *a.fabric;
  const std::string levels = d.levels > 0 ? fmt::format(", {} level{}", d.levels, d.levels == 1 ? "" : "s") : "";
  Table table = two_columns(
      fmt::format("Network: {}{}{}", name(d.topology), levels, a.scale_out != nullptr ? ", " + a.scale_out->name : ""));
  for (const SwitchTier& tier : d.tiers) {
    add(table, tier.name + " switches",
        tier.up > 0 ? fmt::format("{}, each {} ports down and {} up", count(tier.switches), tier.down, tier.up)
                    : fmt::format("{}, each up to {} ports", count(tier.switches), tier.down));
  }
  for (const CableRun& run : d.runs) {
    add(table, run.name + " cables",
        run.link.empty() ? count(static_cast<double>(run.cables))
                         : fmt::format("{}, {} over {}", count(static_cast<double>(run.cables)),
                                       link_text(data, run.link), format(run.length, 2)));
  }
  if (d.transceivers > 0) {
    std::string kinds;
    for (const auto& [medium, plugs] : plugs_by_medium(d, data)) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? ": " : ", ", count(plugs), medium);
    }
    add(table, "transceivers", count(d.transceivers) + kinds);
  }
  for (const std::string& code : corrections(d, data)) add(table, "error correction", code);
  add(table, "oversubscription", fmt::format("{} : 1", format_number(d.oversubscription, 2)));
  add(table, "bisection, per direction", format(d.bisection));
  if (d.topology == Topology::torus) {
    add(table, "hops at most", fmt::format("{} devices", d.hops_most));
  } else if (d.hops_most > 0) {
    add(table, "switches on the way",
        d.hops_rail == d.hops_most ? count(d.hops_most)
                                   : fmt::format("{} within a leaf, {} at most", d.hops_rail, d.hops_most));
  }
  if (d.power) add(table, "power at most", format(d.power->value));
  if (d.price) add(table, "price, planning range", price_text(*d.price));
  if (a.scale_up) {
    add(table, "scale-up",
        fmt::format("{} domain{} of {} devices, {} switch chips, {} links, {} between halves of a domain",
                    count(a.scale_up->domains), a.scale_up->domains == 1 ? "" : "s", a.system->scale_up_domain,
                    count(a.scale_up->switch_chips), count(static_cast<double>(a.scale_up->links)),
                    format(a.scale_up->bisection)));
  }
  for (const std::string& note : d.notes) add(table, "", note);
  return table;
}

Table traffic_block(const PlanTraffic& t) {
  Table table;
  table.title = "Traffic of the plan, per device and step, one direction";
  table.columns = {{.key = "collective", .heading = "collective"},
                   {.key = "scale_up", .unit = "bytes", .heading = "scale-up", .kind = ColumnKind::number},
                   {.key = "network", .unit = "bytes", .heading = "network", .kind = ColumnKind::number}};
  for (std::size_t i = 0; i < kTrafficKinds; ++i) {
    if (t.traffic.up[i] <= 0 && t.traffic.out[i] <= 0) continue;
    table.rows.push_back(
        {Cell(name(static_cast<TrafficKind>(i))), Cell(Bytes(t.traffic.up[i])), Cell(Bytes(t.traffic.out[i]))});
  }
  table.rows.push_back({Cell("all"), Cell(Bytes(t.traffic.up_bytes())), Cell(Bytes(t.traffic.out_bytes()))});
  return table;
}

std::string traffic_text(const PlanTraffic& t) {
  const BytesPerSecond port(t.traffic.port);
  return fmt::format(
      "To hide behind {} of computation in a step of {}, the network needs {} per device: {:.0f} % of its port of {}, "
      "{:.2g} % of "
      "the memory bandwidth. (A rule that asks for half of the memory bandwidth, {}, is not met by any system and not "
      "needed.)",
      format(Seconds(t.compute_seconds)), format(Seconds(t.step_seconds)), format(t.needed), 100 * (t.needed / port),
      format(port), 100 * t.hbm_share, format(t.memory_bandwidth * 0.5));
}

Table strategy_block(const StorageNeed& s) {
  Table table;
  table.title = "Ways to save a checkpoint";
  table.columns = {{.key = "strategy", .heading = "strategy"},
                   {.key = "stall", .unit = "s", .heading = "stall", .kind = ColumnKind::number},
                   {.key = "stall_share", .heading = "of time", .kind = ColumnKind::number},
                   {.key = "loss_most", .unit = "s", .heading = "lost at most", .kind = ColumnKind::number},
                   {.key = "needed", .unit = "bytes_per_s", .heading = "write rate", .kind = ColumnKind::number},
                   {.key = "host_memory", .unit = "bytes", .heading = "host memory", .kind = ColumnKind::number},
                   {.key = "feasible", .heading = "works"},
                   {.key = "why", .heading = "", .overflow = Overflow::wrap}};
  for (const StrategyCost& c : s.strategies) {
    table.rows.push_back(
        {Cell(name(c.strategy)), Cell(c.stall),
         Cell(c.stall_share).shown_as(fmt::format("{:.2g} %", 100 * c.stall_share)), Cell(c.loss_most), Cell(c.needed),
         c.host_memory > Bytes(0) ? Cell(c.host_memory) : Cell(),
         Cell(c.feasible).shown_as(c.feasible ? "yes" : "no").with(c.feasible ? Emphasis::none : Emphasis::bad),
         Cell(c.why)});
  }
  return table;
}

Table storage_block(const std::vector<StorageVerdict>& verdicts) {
  Table table;
  table.title = "Which storage serves it";
  table.columns = {{.key = "storage", .heading = "storage"},
                   {.key = "serves", .heading = "serves"},
                   {.key = "units", .heading = "units", .kind = ColumnKind::number},
                   {.key = "why", .heading = "why", .overflow = Overflow::wrap}};
  for (const StorageVerdict& v : verdicts) {
    table.rows.push_back({Cell(v.storage->name), Cell(v.serves).shown_as(v.serves ? "yes" : "no"),
                          v.units > 0 ? Cell(v.units) : Cell(), Cell(v.why)});
  }
  return table;
}

Table storage_summary(const FacilityAnswer& a) {
  const StorageNeed& s = *a.storage;
  Table table = two_columns("Storage");
  if (s.checkpoint > Bytes(0)) add(table, "one checkpoint", format(s.checkpoint));
  add(table, "capacity", format(s.capacity));
  if (s.read_data > BytesPerSecond(0)) add(table, "reading, to feed training", format(s.read_data));
  if (s.read_restart > BytesPerSecond(0)) {
    add(table, "reading, to start in 5 min", format(s.read_restart));
  }
  if (!s.strategies.empty()) {
    add(table, "writing, in the background", format(s.write_background));
    add(table, "writing, sharded in 1 % of the time", format(s.write_sharded));
  }
  if (a.storage_request->dataset > Bytes(0)) {
    const DatasetTier tier = dataset_tier(a.storage_request->dataset);
    add(table, "usual for such a data set",
        fmt::format("{}, above {}{}", tier.tier, format(tier.rate), tier.per_node ? " per node" : ""));
  }
  return table;
}

Table rack_block(const FacilityAnswer& a) {
  const RackPlan& r = a.racks;
  Table table = two_columns("Racks, power and cooling");
  add(table, "systems", fmt::format("{} × {}, {} devices", count(r.systems), r.system->name, count(r.devices)));
  add(table, "per rack",
      r.share > 0 ? fmt::format("{} devices, a part of a {}", r.share, name(r.system->kind))
                  : fmt::format("{}, limited by {}", r.per_rack,
                                r.bound == RackBound::own_rack ? "being a rack of its own"
                                : r.bound == RackBound::asked  ? "the number asked for"
                                                               : std::string(name(r.bound))));
  add(table, "racks",
      r.network_racks > 0 ? fmt::format("{} and {} of switches", count(r.racks), r.network_racks) : count(r.racks));
  add(table, "a rack draws at most", format(r.per_rack_power));
  if (r.per_rack_weight > Kilograms(0))
    add(table, "a rack weighs",
        fmt::format("{} ({} on its footprint)", format(r.per_rack_weight), format(*r.floor_load)));
  if (r.cooling != nullptr) {
    add(table, "cooling",
        fmt::format("{}: {} to {} per rack{}", r.cooling->name, format(r.cooling->low, 2), format(r.cooling->high, 2),
                    r.per_rack_power > r.cooling->high ? " as a rule, less than these draw" : ""));
  } else {
    add(table, "cooling", "more than any class takes");
  }
  if (r.feed != nullptr)
    add(table, "feeds of a rack", fmt::format("{} × {}, twice that for spares", r.feeds, r.feed->name));
  add(table, "devices and hosts at most", format(r.devices_power));
  if (r.network_power > Watts(0)) add(table, "network at most", format(r.network_power));
  add(table, "peak", format(r.peak));
  add(table, "spikes", format(r.spike));
  add(table, "swing, all devices in step", format(r.swing));
  add(table, fmt::format("with cooling, PUE {}", format_number(r.pue)), format(r.facility));
  add(table, "energy of a year at peak", format(r.facility * Seconds(kHoursPerYear * 3600)));
  return table;
}

}  // namespace

Table checklist_table(const std::vector<ChecklistLine>& lines) {
  Table table;
  table.title = "Checklist";
  table.columns = {{.key = "area", .heading = "area"},
                   {.key = "requirement", .heading = "requirement", .overflow = Overflow::wrap},
                   {.key = "verdict", .heading = "verdict"},
                   {.key = "number", .heading = "figure", .overflow = Overflow::wrap},
                   {.key = "fix", .heading = "next", .overflow = Overflow::wrap}};
  for (const ChecklistLine& line : lines) {
    const Emphasis emphasis = line.verdict == SiteVerdict::pass   ? Emphasis::good
                              : line.verdict == SiteVerdict::fail ? Emphasis::bad
                                                                  : Emphasis::faint;
    table.rows.push_back({Cell(line.area), Cell(line.requirement), Cell(name(line.verdict)).with(emphasis),
                          Cell(line.number), line.fix.empty() ? Cell("") : Cell(line.fix)});
  }
  return table;
}

Document facility_page(const FacilityAnswer& a, const FacilityData& data) {
  Document page;
  page.title = fmt::format("A site for {} × {}, {} devices", format_number(a.racks.systems, 9), a.system->name,
                           format_number(a.racks.devices, 9));
  int failed = 0;
  int unknown = 0;
  for (const ChecklistLine& line : a.checklist) {
    failed += line.verdict == SiteVerdict::fail ? 1 : 0;
    unknown += line.verdict == SiteVerdict::unknown ? 1 : 0;
  }
  page.blocks.emplace_back(Paragraph{
      fmt::format("{} rack{} of {} at most, {} in all with cooling{}. Checklist: {} failed, {} unknown.", a.racks.racks,
                  a.racks.racks == 1 ? "" : "s", format(a.racks.per_rack_power), format(a.racks.facility),
                  a.fabric && a.fabric->switches() > 0
                      ? fmt::format("; {} switch{}, {} cables", format_number(a.fabric->switches(), 9),
                                    a.fabric->switches() == 1 ? "" : "es",
                                    format_number(static_cast<double>(a.fabric->cables()), 9))
                      : "",
                  failed, unknown),
      Emphasis::strong});
  if (a.fabric) page.blocks.emplace_back(fabric_block(a, data));
  if (a.plan_traffic) {
    page.blocks.emplace_back(traffic_block(*a.plan_traffic));
    page.blocks.emplace_back(Paragraph{traffic_text(*a.plan_traffic)});
  }
  if (a.storage) {
    page.blocks.emplace_back(storage_summary(a));
    if (!a.storage->strategies.empty()) page.blocks.emplace_back(strategy_block(*a.storage));
    page.blocks.emplace_back(storage_block(a.storage_verdicts));
  }
  page.blocks.emplace_back(rack_block(a));
  page.blocks.emplace_back(checklist_table(a.checklist));
  std::string assumed = "Assumed: ";
  for (std::size_t i = 0; i < a.assumptions.size(); ++i) assumed += (i == 0 ? "" : "; ") + a.assumptions[i];
  if (!a.assumptions.empty()) page.blocks.emplace_back(Paragraph{assumed + ".", Emphasis::faint});
  return page;
}

Table facility_table(const FacilityAnswer& a) {
  Table table;
  table.columns = {{.key = "section", .heading = "section"},
                   {.key = "what", .heading = "what"},
                   {.key = "unit", .heading = "unit"},
                   {.key = "value", .heading = "value", .kind = ColumnKind::number}};
  const auto row = [&](const char* section, std::string_view what, const char* unit, double value) {
    table.rows.push_back({Cell(section), Cell(what), Cell(unit), Cell(value)});
  };
  if (a.fabric) {
    for (const SwitchTier& tier : a.fabric->tiers) row("network", tier.name + " switches", "", tier.switches);
    for (const CableRun& run : a.fabric->runs)
      row("network", run.name + " cables", "", static_cast<double>(run.cables));
    row("network", "bisection", "bytes/s", a.fabric->bisection.value());
    if (a.fabric->power) row("network", "power", "W", a.fabric->power->value.value());
  }
  if (a.plan_traffic) {
    row("traffic", "network bytes per device and step", "bytes", a.plan_traffic->traffic.out_bytes());
    row("traffic", "needed per port", "bytes/s", a.plan_traffic->needed.value());
  }
  if (a.storage) {
    row("storage", "checkpoint", "bytes", a.storage->checkpoint.value());
    row("storage", "capacity", "bytes", a.storage->capacity.value());
    row("storage", "read", "bytes/s", a.storage->read().value());
    row("storage", "write", "bytes/s", a.storage->write().value());
  }
  row("racks", "systems", "", a.racks.systems);
  row("racks", "devices", "", a.racks.devices);
  row("racks", "per rack", "", a.racks.per_rack);
  row("racks", "racks", "", a.racks.racks);
  row("racks", "power per rack", "W", a.racks.per_rack_power.value());
  row("racks", "peak", "W", a.racks.peak.value());
  row("racks", "with cooling", "W", a.racks.facility.value());
  return table;
}

}  // namespace ridge::report
