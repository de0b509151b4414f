#include <array>

#include "app/cli/show/fields.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

std::string_view word(ScaleUpTopology topology) {
  constexpr std::string_view kWords[] = {"none", "pcie", "bridge", "switched", "mesh", "torus"};
  return kWords[static_cast<std::size_t>(topology)];
}

template <PeakFormat format>
Value peak(const Device& device, const SheetContext&) {
  const auto& figure = device.peak(format);
  if (!figure) return {};
  Cell cell(figure->value);
  if (format == PeakFormat::int8) {  // integer operations are not floating-point ones
    std::string text = cell.text();
    if (const auto at = text.find("FLOP"); at != std::string::npos) text.erase(at, 2);
    cell = cell.shown_as(text);
  }
  return {cell, figure->source};
}

/// Operations per byte of memory traffic above which the device computes rather than waits for memory.
template <PeakFormat format>
Value ridge_point(const Device& device, const SheetContext&) {
  const auto& rate = device.peak(format);
  if (!rate || !device.memory_bandwidth) return {};
  const double ratio = rate->value.value() / device.memory_bandwidth->value.value();
  return {Cell(ratio).shown_as(format_number(ratio) + " FLOP/byte"), {}};
}

constexpr Field peak_field(std::string_view key, std::string_view label, bool listed = false) {
  return number_field(key, "flops_per_s", label, label, "Dense peak", listed);
}
constexpr Field ridge_field(std::string_view key, std::string_view heading, std::string_view label) {
  return quiet_field(key, "flops_per_byte", heading, label, "Ridge point (dense peak / memory bandwidth)");
}

using D = const Device&;
using C = const SheetContext&;

const FieldReader<Device> kDeviceFields[] = {
    {text_field("id", "id", "", kListed), [](D d, C) { return known(d.id); }},
    {text_field("name", "name"), [](D d, C) { return known(d.name); }},
    {text_field("vendor", "vendor", "Design", kListed), [](D d, C) { return known(d.vendor); }},
    {text_field("architecture", "architecture", "Design", kListed), [](D d, C) { return known(d.architecture); }},
    {text_field("chip", "chip", "Design"), [](D d, C) { return known(d.chip); }},
    {number_field("year", "", "year", "year", "Design", kListed),
     [](D d, C) {
       return d.year == 0 ? Value{} : Value{Cell(d.year).shown_as(std::to_string(d.year)), {}};
     }},
    {text_field("process", "process", "Design"), [](D d, C) { return known(d.process); }},
    {text_field("form", "form", "Design"), [](D d, C) { return known(name(d.form)); }},
    {text_field("status", "status", "Design"), [](D d, C) { return known(name(d.status)); }},
    {text_field("confidence", "confidence", "Design"), [](D d, C) { return known(name(d.confidence)); }},
    {peak_field("peak_dense.fp64", "fp64"), peak<PeakFormat::fp64>},
    {peak_field("peak_dense.fp64_tensor", "fp64 tensor"), peak<PeakFormat::fp64_tensor>},
    {peak_field("peak_dense.fp32", "fp32"), peak<PeakFormat::fp32>},
    {peak_field("peak_dense.tf32", "tf32"), peak<PeakFormat::tf32>},
    {peak_field("peak_dense.bf16", "bf16", kListed), peak<PeakFormat::bf16>},
    {peak_field("peak_dense.fp16", "fp16"), peak<PeakFormat::fp16>},
    {peak_field("peak_dense.fp8", "fp8", kListed), peak<PeakFormat::fp8>},
    {peak_field("peak_dense.int8", "int8"), peak<PeakFormat::int8>},
    {peak_field("peak_dense.fp4", "fp4", kListed), peak<PeakFormat::fp4>},
    {text_field("memory_kind", "kind", "Memory"), [](D d, C) { return known(d.memory_kind); }},
    {number_field("memory", "bytes", "memory", "capacity", "Memory", kListed),
     [](D d, C) { return known(d.memory_capacity); }},
    {number_field("memory_bandwidth", "bytes_per_s", "bandwidth", "bandwidth", "Memory", kListed),
     [](D d, C) { return known(d.memory_bandwidth); }},
    {number_field("l2", "bytes", "L2", "L2 cache", "Memory"), [](D d, C) { return known(d.l2); }},
    {number_field("cores", "", "cores", "SMs, CUs or cores", "Cores and power"), [](D d, C) { return known(d.cores); }},
    {number_field("boost_clock", "hz", "clock", "boost clock", "Cores and power"),
     [](D d, C) { return known(d.boost_clock); }},
    {number_field("tdp", "w", "TDP", "TDP", "Cores and power", kListed), [](D d, C) { return known(d.tdp); }},
    {text_field("scale_up_name", "link", "Scale-up"), [](D d, C) { return known(d.scale_up_name); }},
    {text_field("scale_up_topology", "topology", "Scale-up"), [](D d, C) { return known(word(d.scale_up_topology)); }},
    {number_field("scale_up", "bytes_per_s_per_direction", "scale-up/dir", "all links, per direction", "Scale-up",
                  kListed),
     [](D d, C) { return known(d.scale_up_per_direction); }},
    {number_field("scale_up_peer", "bytes_per_s_per_direction", "peer/dir", "between two devices, per direction",
                  "Scale-up"),
     [](D d, C) { return known(d.scale_up_peer_per_direction); }},
    {number_field("scale_up_domain", "", "domain", "devices joined", "Scale-up", kListed),
     [](D d, C) { return known(d.scale_up_domain); }},
    {number_field("pcie_generation", "", "PCIe", "PCIe generation", "Host and network"),
     [](D d, C) { return known(d.pcie_generation); }},
    {number_field("nic", "bytes_per_s_per_direction", "NIC/dir", "network per device, per direction",
                  "Host and network"),
     [](D d, C) { return known(d.nic_per_direction); }},
    {number_field("node_size", "", "per node", "devices per host", "Host and network"),
     [](D d, C) { return known(d.node_size); }},
    {ridge_field("ridge_point.bf16", "ridge bf16", "bf16"), ridge_point<PeakFormat::bf16>},
    {ridge_field("ridge_point.fp8", "ridge fp8", "fp8"), ridge_point<PeakFormat::fp8>},
    {ridge_field("ridge_point.fp4", "ridge fp4", "fp4"), ridge_point<PeakFormat::fp4>},
    {text_field("notes", "notes"), [](D d, C) { return known(d.notes); }},
};

Table partitions_table(const Device& device, References& references) {
  Table table;
  table.title = "Partitions";
  table.columns = {{.key = "name", .heading = "id"},
                   {.key = "compute", .heading = "compute", .kind = ColumnKind::number},
                   {.key = "bandwidth", .heading = "bandwidth", .kind = ColumnKind::number},
                   {.key = "memory", .unit = "bytes", .heading = "memory", .kind = ColumnKind::number},
                   {.key = "source", .heading = ""}};
  const auto percent = [](double share) { return Cell(share).shown_as(format_number(share * 100) + " %"); };
  for (const Partition& partition : device.partitions) {
    table.rows.push_back({Cell(device.id + "/" + partition.name), percent(partition.compute_share),
                          percent(partition.bandwidth_share), Cell(partition.memory),
                          Cell(references.mark(partition.source)).with(Emphasis::faint)});
  }
  return table;
}

}  // namespace

Sheet device_sheet(std::span<const Device> devices, const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "devices";
  sheet.singular = "device";
  fill<Device>(sheet, devices, kDeviceFields, context);
  sheet.add_json = [devices, &context](std::size_t entry, Json& object) {
    Json partitions = Json::array();
    for (const Partition& partition : devices[entry].partitions) {
      partitions.push(Json::object()
                          .set("name", partition.name)
                          .set("compute_share", partition.compute_share)
                          .set("bandwidth_share", partition.bandwidth_share)
                          .set("memory_bytes", partition.memory.value())
                          .set("source", context.catalogue.source(partition.source).id));
    }
    object.set("partitions", std::move(partitions));
  };
  sheet.add_blocks = [devices, &context](std::size_t entry, Document& page, References& references) {
    const Device& device = devices[entry];
    if (!device.partitions.empty()) page.blocks.push_back(partitions_table(device, references));
    std::vector<std::string> systems;
    for (const System& system : context.catalogue.systems()) {
      if (system.device == device.id) {
        systems.push_back(system.id + " (" + std::to_string(system.nodes * system.devices_per_node) + ")");
      }
    }
    add_list(page, "Systems with it (devices in each)", systems);
    if (Table prices = newest_prices(device.id, context, 5, references); !prices.rows.empty()) {
      page.blocks.push_back(std::move(prices));
    }
  };
  return sheet;
}

}  // namespace ridge::cli
