// [[system]]: servers, racks and pods; what of them has to fit together.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "catalogue/files/words.hpp"
#include "catalogue/tables/tables.hpp"

namespace ridge {

namespace {

constexpr std::string_view kSystemKinds[] = {"node", "rack", "pod"};
constexpr std::string_view kCoolings[] = {"", "air", "liquid"};
constexpr int kMostInSystem = 1'000'000;

void read_scale_up(TableReader t, System& system) {
  system.scale_up = t.reference("fabric", "fabric");
  system.scale_up_domain = t.optional_integer("domain", 1, 1, kMostInSystem);
  if (system.scale_up_domain > system.devices()) {
    t.refuse("domain", fmt::format("{} devices joined, but {} x {} = {} there are", system.scale_up_domain,
                                   system.nodes, system.devices_per_node, system.devices()));
  }
  if (system.scale_up_domain > 1 && system.scale_up.empty()) {
    t.refuse("domain", "devices joined by what? Add fabric = \"...\" with the id of a [[fabric]]");
  }
  if (!t.has("torus")) return;
  const std::vector<int> extents = t.integers("torus", 1, kMostInSystem);
  if (extents.size() != system.torus.size()) {
    t.refuse("torus", "a torus has three extents; write 1 for a dimension it lacks, as in [16, 16, 1]");
    return;
  }
  std::copy(extents.begin(), extents.end(), system.torus.begin());
  const double product = double{1} * extents[0] * extents[1] * extents[2];
  if (product != system.scale_up_domain) {
    t.refuse("torus", fmt::format("{} x {} x {} = {}, but the domain has {} devices", extents[0], extents[1],
                                  extents[2], product, system.scale_up_domain));
  }
}

void read_scale_out(TableReader t, System& system) {
  system.scale_out = t.reference("fabric", "fabric");
  system.nics_per_node = t.figure_integer("nics_per_node", 1, 1024);
  if (system.nics_per_node && system.scale_out.empty()) {
    t.refuse("nics_per_node", "ports of which fabric? Add fabric = \"...\" with the id of a [[fabric]]");
  }
  system.pod = t.figure_integer("pod", 2, kMostInSystem);
  system.oversubscription = t.figure_integer("oversubscription", 1, 100);
  if (system.oversubscription && !system.pod) {
    t.refuse("oversubscription", "beyond how many devices? Add pod = N, the devices that are joined without it");
  }
}

}  // namespace

std::string_view name(SystemKind kind) {
  return kSystemKinds[static_cast<std::size_t>(kind)];
}
std::string_view name(Cooling cooling) {
  return kCoolings[static_cast<std::size_t>(cooling)];
}

System read_system(TableReader t) {
  System system;
  system.id = t.id();
  system.name = t.text("name");
  system.kind = enumerator<SystemKind>(t, "kind", kSystemKinds);
  system.status = sale(t);
  t.require("device");
  system.device = t.reference("device", "device");
  system.nodes = t.optional_integer("nodes", 1, 1, 100'000);
  system.devices_per_node = t.integer("devices_per_node", 1, 1024);
  if (t.has("cooling")) {
    const auto known = std::span(kCoolings).subspan(1);
    system.cooling = static_cast<Cooling>(1 + word_index(t, "cooling", known));
  }
  system.notes = t.optional_text("notes");
  system.source = t.source();
  system.place = t.place();
  if (system.kind == SystemKind::node && system.nodes != 1)
    t.refuse("nodes", "a node is one node: call it a rack or a pod");

  read_scale_up(t.table("scale_up"), system);
  read_scale_out(t.table("scale_out"), system);

  TableReader host = t.table("host");
  system.host_memory = host.figure<Bytes>("memory", gigabytes(8), gigabytes(100'000));
  system.local_storage = host.figure<Bytes>("storage", gigabytes(50), gigabytes(10'000'000));

  // A device draws tens of watts, a pod of ten thousand some tens of megawatts.
  const double count = system.devices();
  system.power_max = t.table("power").figure<Watts>("max", watts(30) * count, watts(10'000) * count);

  TableReader body = t.table("body");
  system.weight = body.figure<Kilograms>("weight", Kilograms(2), Kilograms(5'000'000));
  system.rack_units = body.figure_integer("rack_units", 1, 100);
  return system;
}

std::optional<BytesPerSecond> scale_out_per_node(const Catalogue& catalogue, const System& system) {
  const Fabric* fabric = catalogue.fabric(system.scale_out);
  if (fabric == nullptr || !fabric->port_per_direction || !system.nics_per_node) return std::nullopt;
  return fabric->port_per_direction->value * system.nics_per_node->value;
}

}  // namespace ridge
