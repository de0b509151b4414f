#include "app/cli/show/fields.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

using S = const System&;
using F = const Fabric&;
using C = const SheetContext&;

std::string torus_text(const System& system) {
  if (system.torus[0] == 0) return {};
  std::string text;
  for (const int extent : system.torus) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

/// A figure of the system's device, times the number of devices.
template <class Q>
Value of_all_devices(const System& system, const SheetContext& context, Figure<Q> Device::*figure) {
  const Device* device = context.catalogue.device(system.device);
  if (device == nullptr || !(device->*figure)) return {};
  return {Cell((device->*figure)->value * system.devices()), {}};
}

Value total_bf16(const System& system, const SheetContext& context) {
  const Device* device = context.catalogue.device(system.device);
  if (device == nullptr || !device->peak(PeakFormat::bf16)) return {};
  return {Cell(device->peak(PeakFormat::bf16)->value * system.devices()), {}};
}

Value scale_out(const System& system, const SheetContext& context) {
  const auto rate = scale_out_per_node(context.catalogue, system);
  return rate ? Value{Cell(*rate), {}} : Value{};
}

const FieldReader<System> kSystemFields[] = {
    {text_field("id", "id", "", kListed), [](S s, C) { return known(s.id); }},
    {text_field("name", "name"), [](S s, C) { return known(s.name); }},
    {text_field("kind", "kind", "System", kListed), [](S s, C) { return known(name(s.kind)); }},
    {text_field("status", "status", "System"), [](S s, C) { return known(name(s.status)); }},
    {text_field("device", "device", "System", kListed), [](S s, C) { return known(s.device); }},
    {number_field("nodes", "", "nodes", "nodes", "System", kListed), [](S s, C) { return stated(s, s.nodes); }},
    {number_field("devices_per_node", "", "per node", "devices per node", "System", kListed),
     [](S s, C) { return stated(s, s.devices_per_node); }},
    {quiet_field("devices", "", "devices", "devices", "System"), [](S s, C) { return known(s.devices()); }},
    {text_field("scale_up", "scale-up", "Links", kListed), [](S s, C) { return known(s.scale_up); }},
    {number_field("scale_up_domain", "", "domain", "devices joined by scale-up", "Links", kListed),
     [](S s, C) { return stated(s, s.scale_up_domain); }},
    {text_field("torus", "torus", "Links"), [](S s, C) { return known(torus_text(s)); }},
    {text_field("scale_out", "scale-out", "Links", kListed), [](S s, C) { return known(s.scale_out); }},
    {number_field("nics_per_node", "", "NICs/node", "network ports per node", "Links", kListed),
     [](S s, C) { return known(s.nics_per_node); }},
    {quiet_field("scale_out_per_node", "bytes_per_s_per_direction", "scale-out/node", "network per node, per direction",
                 "Links"),
     scale_out},
    {quiet_field("pod", "", "pod", "devices joined without oversubscription", "Links"),
     [](S s, C) { return known(s.pod); }},
    {quiet_field("oversubscription", "", "oversubscription", "ports of a pod over its links to others", "Links"),
     [](S s, C) { return known(s.oversubscription); }},
    {number_field("host_memory_per_node", "bytes", "host memory", "host memory per node", "Body"),
     [](S s, C) { return known(s.host_memory); }},
    {number_field("local_storage_per_node", "bytes", "storage", "local storage per node", "Body"),
     [](S s, C) { return known(s.local_storage); }},
    {number_field("power_max", "w", "power", "power at most", "Body", kListed),
     [](S s, C) { return known(s.power_max); }},
    {text_field("cooling", "cooling", "Body"), [](S s, C) { return known(name(s.cooling)); }},
    {number_field("weight", "kg", "weight", "weight", "Body"), [](S s, C) { return known(s.weight); }},
    {number_field("rack_units", "", "rack units", "rack units", "Body"), [](S s, C) { return known(s.rack_units); }},
    {quiet_field("total_memory", "bytes", "memory", "memory", "All devices together"),
     [](S s, C c) { return of_all_devices(s, c, &Device::memory_capacity); }},
    {quiet_field("total_memory_bandwidth", "bytes_per_s", "bandwidth", "memory bandwidth", "All devices together"),
     [](S s, C c) { return of_all_devices(s, c, &Device::memory_bandwidth); }},
    {quiet_field("total_peak_dense_bf16", "flops_per_s", "bf16", "dense bf16 peak", "All devices together"),
     total_bf16},
    {quiet_field("total_tdp", "w", "device TDP", "TDP", "All devices together"),
     [](S s, C c) { return of_all_devices(s, c, &Device::tdp); }},
    {text_field("notes", "notes"), [](S s, C) { return known(s.notes); }},
};

const FieldReader<Fabric> kFabricFields[] = {
    {text_field("id", "id", "", kListed), [](F f, C) { return known(f.id); }},
    {text_field("name", "name", "", kListed), [](F f, C) { return known(f.name); }},
    {text_field("kind", "kind", "Fabric", kListed), [](F f, C) { return known(name(f.kind)); }},
    {text_field("status", "status", "Fabric"), [](F f, C) { return known(name(f.status)); }},
    {number_field("port", "bytes_per_s_per_direction", "port/dir", "one port or link, per direction", "Fabric",
                  kListed),
     [](F f, C) { return known(f.port_per_direction); }},
    {number_field("device", "bytes_per_s_per_direction", "device/dir", "all links of a device, per direction", "Fabric",
                  kListed),
     [](F f, C) { return known(f.device_per_direction); }},
    {number_field("latency", "s", "latency", "latency of a small message", "Fabric", kListed),
     [](F f, C) { return known(f.latency); }},
    {number_field("switch_radix", "", "radix", "ports of one switch", "Fabric", kListed),
     [](F f, C) { return known(f.switch_radix); }},
    {text_field("in_network_reduction", "reduces", "Fabric", kListed),
     [](F f, C) {
       return Value{Cell(f.in_network_reduction), {}};
     }},
    {text_field("notes", "notes"), [](F f, C) { return known(f.notes); }},
};

}  // namespace

Sheet system_sheet(std::span<const System> systems, const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "systems";
  sheet.singular = "system";
  fill<System>(sheet, systems, kSystemFields, context);
  sheet.add_blocks = [systems, &context](std::size_t entry, Document& page, References& references) {
    if (Table prices = newest_prices(systems[entry].device, context, 5, references); !prices.rows.empty()) {
      prices.title = "Newest prices of its device";
      page.blocks.push_back(std::move(prices));
    }
  };
  return sheet;
}

Sheet fabric_sheet(std::span<const Fabric> fabrics, const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "fabrics";
  sheet.singular = "fabric";
  fill<Fabric>(sheet, fabrics, kFabricFields, context);
  sheet.add_blocks = [fabrics, &context](std::size_t entry, Document& page, References&) {
    std::vector<std::string> systems;
    for (const System& system : context.catalogue.systems()) {
      if (system.scale_up == fabrics[entry].id || system.scale_out == fabrics[entry].id) systems.push_back(system.id);
    }
    add_list(page, "Systems with it", systems);
  };
  return sheet;
}

}  // namespace ridge::cli
