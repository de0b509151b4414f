// The scale-out network of a cluster: switches by level, cables by run, what it carries, what it draws and costs.
//
//   FabricRequest r;
//   r.nodes = 127; r.ports_per_node = 8; r.radix = 64; r.port_rate = BytesPerSecond(50e9);   // DGX H100, NDR
//   r.management_ports = 4;
//   Result<FabricDesign> d = design_fabric(r);
//   d->tiers;        // leaf 32, spine 16
//   d->runs;         // node-leaf 1020, leaf-spine 1024
//
// The counting rules of a fat tree (they reproduce the published DGX SuperPOD tables, tests/facility/fabric_test.cpp):
// half of the ports of a leaf go down; a leaf of a rail tree serves one rail of as many nodes as it has ports down;
// cables from leaf to spine are laid for every port up, also where nodes are still missing; the number of switches
// above a level divides the ports below it, so that each switch spreads its links evenly.
//
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/quantity.hpp"
#include "ridge/base/result.hpp"
#include "ridge/facility/facility.hpp"

namespace ridge {

enum class Topology : std::uint8_t {
  rail_fat_tree,   ///< port i of every node goes to a leaf of rail i
  fat_tree,        ///< ports fill the leaves in order
  spine_leaf,      ///< a fat tree of exactly two levels
  dragonfly_plus,  ///< groups of leaves and spines; spines of different groups are joined directly
  torus,           ///< devices are joined to their neighbours, without switches
};
[[nodiscard]] std::string_view name(Topology topology);
/// "rail-fat-tree", "fat-tree", "spine-leaf", "dragonfly-plus", "torus"; refuses others, naming the nearest.
Result<Topology> parse_topology(std::string_view text);

struct FabricRequest {
  Topology topology = Topology::rail_fat_tree;
  int nodes = 1;
  int ports_per_node = 1;       ///< rails
  int radix = 0;                ///< ports of one switch
  int levels = 0;               ///< 1, 2 or 3; 0 = the fewest that reach everybody
  double oversubscription = 1;  ///< ports down over ports up of a leaf
  int nodes_per_leaf = 0;       ///< 0 = as many as a leaf has ports down; fewer where a leaf belongs to a rack
  int leaves_per_pod = 0;       ///< of three levels: leaves that share their spines; 0 = as many as a spine can join
  int management_ports = 0;     ///< of subnet managers and the like, where leaves have ports left
  BytesPerSecond port_rate;     ///< one direction
  std::array<int, 3> torus{};   ///< extents in devices, for a torus
  Metres to_leaf{20}, to_spine{40}, to_core{80};  ///< length of the cables
};

struct SwitchTier {
  std::string name;  ///< "leaf", "spine", "core"
  int switches = 0;
  int down = 0, up = 0;  ///< ports of one switch that the design reserves
};

struct CableRun {
  std::string name;  ///< "node-leaf", "leaf-spine", "spine-core", "spine-spine", "node-node"
  std::int64_t cables = 0;
  Metres length;
  std::string link;  ///< id of a LinkModel, empty if none was chosen
};

struct FabricDesign {
  Topology topology = Topology::rail_fat_tree;
  int levels = 0;
  int nodes = 0, rails = 0;
  std::int64_t endpoints = 0;  ///< ports of nodes
  std::vector<SwitchTier> tiers;
  std::vector<CableRun> runs;
  double oversubscription = 1;      ///< of the narrowest level: ports in use below it over links through it
  BytesPerSecond bisection;         ///< one direction, between two halves of the nodes
  BytesPerSecond injection;         ///< one direction, all nodes together
  int hops_rail = 0;                ///< switches between two nodes of one leaf
  int hops_most = 0;                ///< switches between the two nodes farthest apart
  std::int64_t most_endpoints = 0;  ///< that this radix and these levels could join
  // with a switch and links chosen, see equip()
  Figure<Watts> power;  ///< switches and transceivers
  std::optional<PriceRange> price;
  std::string switch_model;  ///< id
  double transceivers = 0;
  std::vector<std::string> notes;

  [[nodiscard]] int switches() const;
  [[nodiscard]] std::int64_t cables() const;
};

/// Refuses (bad_input): no nodes, ports or radix; (refused): more endpoints than the levels reach, two levels asked of
/// a network that needs three, an oversubscription that leaves no port up.
Result<FabricDesign> design_fabric(const FabricRequest& request);

/// Chooses switches and links: power, price and transceivers. What the data lacks stays empty, with a note.
void equip(FabricDesign& design, const FacilityData& data, std::string_view fabric, BytesPerSecond port_rate,
           int radix);

/// The switched scale-up network inside the racks or nodes of a cluster.
struct ScaleUpCount {
  int domains = 0;
  int switch_chips = 0;
  int switch_trays = 0;
  std::int64_t links = 0;
  BytesPerSecond bisection;  ///< of one domain, one direction
};
/// Empty if the data does not say how the domain is built.
[[nodiscard]] std::optional<ScaleUpCount> count_scale_up(const FacilityData& data, const Catalogue& catalogue,
                                                         const System& system, int devices);

}  // namespace ridge
