// [[fabric]]: networks between nodes and links between devices.
#include "catalogue/files/words.hpp"
#include "catalogue/tables/tables.hpp"

namespace ridge {

namespace {

constexpr std::string_view kFabricKinds[] = {"infiniband", "ethernet", "nvlink",      "xgmi", "ici",
                                             "neuronlink", "hccs",     "unified_bus", "pcie"};

}  // namespace

std::string_view name(FabricKind kind) {
  return kFabricKinds[static_cast<std::size_t>(kind)];
}

Fabric read_fabric(TableReader t) {
  Fabric fabric;
  fabric.id = t.id();
  fabric.name = t.text("name");
  fabric.kind = enumerator<FabricKind>(t, "kind", kFabricKinds);
  fabric.status = sale(t);
  fabric.notes = t.optional_text("notes");
  fabric.source = t.source();
  fabric.place = t.place();
  // One port: from 10 Gb Ethernet to twice what is announced; all links of a device: see Device.
  fabric.port_per_direction =
      t.figure<BytesPerSecond>("port_per_direction", gigabytes_per_second(1), gigabytes_per_second(400));
  fabric.device_per_direction =
      t.figure<BytesPerSecond>("device_per_direction", gigabytes_per_second(1), gigabytes_per_second(20'000));
  fabric.latency = t.figure<Seconds>("latency", Seconds(1e-8), Seconds(1e-3));
  fabric.switch_radix = t.figure_integer("switch_radix", 2, 4096);
  fabric.in_network_reduction = t.flag("in_network_reduction");
  if (!fabric.port_per_direction && !fabric.device_per_direction) {
    t.refuse("id",
             "a fabric needs port_per_direction (one port or link) or device_per_direction (all links of a device)");
  }
  if (fabric.port_per_direction && fabric.device_per_direction &&
      fabric.port_per_direction->value > fabric.device_per_direction->value) {
    t.refuse("port_per_direction",
             "one link cannot carry more than all links of a device: check which figure is which");
  }
  return fabric;
}

}  // namespace ridge
