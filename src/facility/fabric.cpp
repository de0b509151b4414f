#include "ridge/facility/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr std::string_view kTopologyNames[] = {"rail-fat-tree", "fat-tree", "spine-leaf", "dragonfly-plus", "torus"};
constexpr int kMostNodes = 10'000'000;

std::int64_t ceiling(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The smallest divisor of `of` that is at least `least`, or `of` itself.
int divisor_from(int of, std::int64_t least) {
  for (int d = 1; d <= of; ++d) {
    if (of % d == 0 && d >= least) return d;
  }
  return of;
}

Error refused(std::string message) {
  return {ErrorCode::refused, "", std::move(message)};
}

struct LeafPorts {
  int down = 0, up = 0;
};

/// Ports of a leaf, so that down : up is at most what was asked and nothing is left over.
Result<LeafPorts> leaf_ports(int radix, double oversubscription) {
  const int up = static_cast<int>(std::ceil(radix / (1 + oversubscription) - 1e-9));
  if (up < 1 || up >= radix) {
    return refused(fmt::format("an oversubscription of {} leaves no useful ports on a switch of {}: write 1 to {}",
                               format_number(oversubscription), radix, radix - 1));
  }
  return LeafPorts{radix - up, up};
}

class FatTree {
 public:
  FatTree(const FabricRequest& request, LeafPorts ports) : r_(request), ports_(ports) {}

  Result<FabricDesign> run() {
    d_.topology = r_.topology;
    d_.nodes = r_.nodes;
    d_.rails = r_.ports_per_node;
    d_.endpoints = std::int64_t{r_.nodes} * r_.ports_per_node;
    d_.injection = r_.port_rate * static_cast<double>(d_.endpoints);
    if (r_.nodes == 1) {
      d_.notes.emplace_back("one node needs no network between nodes");
      return std::move(d_);
    }
    const bool one_fits = d_.endpoints <= r_.radix;
    if (r_.topology != Topology::spine_leaf && (r_.levels == 1 || (r_.levels == 0 && one_fits))) {
      if (!one_fits) return too_small(1, r_.radix);
      return one_switch();
    }
    const std::int64_t leaves = r_.topology == Topology::rail_fat_tree
                                    ? r_.ports_per_node * ceiling(r_.nodes, ports_.down)
                                    : ceiling(d_.endpoints, ports_.down);
    const bool two_fit = leaves <= r_.radix;
    const int wanted = r_.topology == Topology::spine_leaf ? 2 : r_.levels;
    if (wanted == 2 && !two_fit) return too_small(2, std::int64_t{r_.radix} * ports_.down);
    if (two_fit && wanted != 3) return two_levels(static_cast<int>(leaves));
    const int half = r_.radix / 2;
    const int per_pod = r_.leaves_per_pod > 0 ? std::min(r_.leaves_per_pod, half) : half;
    const std::int64_t most_leaves = std::int64_t{per_pod} * r_.radix;
    if (leaves > most_leaves) return too_small(3, most_leaves * ports_.down);
    return three_levels(static_cast<int>(leaves), per_pod, most_leaves);
  }

 private:
  Error too_small(int levels, std::int64_t most) const {
    return refused(fmt::format(
        "{} level{} of switches with {} ports join at most {} ports, not {}{}", levels, levels == 1 ? "" : "s",
        r_.radix, format_number(static_cast<double>(most), 9), format_number(static_cast<double>(d_.endpoints), 9),
        levels < 3 ? ": take one level more" : ": take switches with more ports, or ⟦topology=dragonfly-plus⟧"));
  }

  void manage(std::int64_t free_ports) {
    if (r_.management_ports <= 0) return;
    if (free_ports >= r_.management_ports) {
      managed_ = r_.management_ports;
      d_.notes.push_back(fmt::format("{} ports go to the subnet manager", r_.management_ports));
    } else {
      d_.notes.emplace_back(
          "no leaf has a port left for the subnet manager: run it on a switch, or leave one node out");
    }
  }

  Result<FabricDesign> one_switch() {
    d_.levels = 1;
    manage(r_.radix - d_.endpoints);
    d_.tiers = {{"leaf", 1, r_.radix, 0}};
    d_.runs = {{"node-leaf", d_.endpoints + managed_, r_.to_leaf, ""}};
    d_.hops_rail = d_.hops_most = 1;
    d_.bisection = d_.injection / 2;
    d_.most_endpoints = r_.radix;
    return std::move(d_);
  }

  void leaf_level(int leaves) {
    manage(std::int64_t{leaves} * (r_.radix - ports_.up) - d_.endpoints);
    d_.tiers.push_back({"leaf", leaves, ports_.down, ports_.up});
    d_.runs.push_back({"node-leaf", d_.endpoints + managed_, r_.to_leaf, ""});
    links_up_ = std::int64_t{leaves} * ports_.up;
    d_.runs.push_back({"leaf-spine", links_up_, r_.to_spine, ""});
    d_.hops_rail = 1;
  }

  void bisect(std::int64_t narrowest) {
    const auto below = static_cast<double>(d_.endpoints);
    d_.oversubscription = std::max(1.0, below / static_cast<double>(narrowest));
    d_.bisection = d_.injection / 2 / d_.oversubscription;
  }

  Result<FabricDesign> two_levels(int leaves) {
    d_.levels = 2;
    leaf_level(leaves);
    const int spines = divisor_from(ports_.up, ceiling(links_up_, r_.radix));
    d_.tiers.push_back({"spine", spines, leaves * (ports_.up / spines), 0});
    d_.hops_most = 3;
    d_.most_endpoints = std::int64_t{r_.radix} * ports_.down;
    bisect(links_up_);
    return std::move(d_);
  }

  // Leaves of a pod share its spines; spine i of every pod meets the others in core group i. A spine has as many ports
  // up as it has links down.
  Result<FabricDesign> three_levels(int leaves, int per_pod, std::int64_t most_leaves) {
    d_.levels = 3;
    leaf_level(leaves);
    const int pods = static_cast<int>(ceiling(leaves, per_pod));
    const int spines_per_pod = divisor_from(ports_.up, ceiling(std::int64_t{per_pod} * ports_.up, r_.radix / 2));
    const int spines = pods * spines_per_pod;
    const int spine_ports = per_pod * (ports_.up / spines_per_pod);
    const int cores_per_group = divisor_from(spine_ports, ceiling(std::int64_t{pods} * spine_ports, r_.radix));
    const std::int64_t links = std::int64_t{spines} * spine_ports;
    d_.tiers.push_back({"spine", spines, spine_ports, spine_ports});
    d_.tiers.push_back({"core", spines_per_pod * cores_per_group, pods * (spine_ports / cores_per_group), 0});
    d_.runs.push_back({"spine-core", links, r_.to_core, ""});
    d_.hops_most = 5;
    d_.most_endpoints = most_leaves * ports_.down;
    bisect(std::min(links_up_, links));
    return std::move(d_);
  }

  const FabricRequest& r_;
  LeafPorts ports_;
  FabricDesign d_;
  std::int64_t links_up_ = 0;
  int managed_ = 0;
};

/// Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters" (2017): a group is a full bipartite graph of
/// radix/2 leaves and radix/2 spines, and every spine has radix/2 links to spines of other groups.
Result<FabricDesign> dragonfly_plus(const FabricRequest& r) {
  FabricDesign d;
  const int half = r.radix / 2;
  d.topology = r.topology;
  d.nodes = r.nodes;
  d.rails = r.ports_per_node;
  d.endpoints = std::int64_t{r.nodes} * r.ports_per_node;
  d.injection = r.port_rate * static_cast<double>(d.endpoints);
  const std::int64_t per_group = std::int64_t{half} * half;
  const std::int64_t groups = ceiling(d.endpoints, per_group);
  d.most_endpoints = per_group * (per_group + 1);
  if (d.endpoints > d.most_endpoints) {
    return refused(fmt::format("groups of switches with {} ports join at most {} ports, not {}", r.radix,
                               format_number(static_cast<double>(d.most_endpoints), 9),
                               format_number(static_cast<double>(d.endpoints), 9)));
  }
  if (groups == 1) {
    FabricRequest tree = r;
    tree.topology = Topology::fat_tree;
    tree.levels = 0;
    Result<FabricDesign> one = FatTree(tree, {half, half}).run();
    if (one) {
      one->topology = Topology::dragonfly_plus;
      one->notes.emplace_back("one group is enough: a fat tree");
    }
    return one;
  }
  d.levels = 2;
  const std::int64_t leaves = ceiling(d.endpoints, half);
  const std::int64_t spines = groups * half;
  // Every other group is reached over as many links; what does not divide is left unconnected.
  const std::int64_t each = per_group / (groups - 1);
  const std::int64_t global = groups * (groups - 1) / 2 * each;
  d.tiers = {{"leaf", static_cast<int>(leaves), half, half}, {"spine", static_cast<int>(spines), half, half}};
  d.runs = {{"node-leaf", d.endpoints, r.to_leaf, ""},
            {"leaf-spine", leaves * half, r.to_spine, ""},
            {"spine-spine", global, r.to_core, ""}};
  d.hops_rail = 1;
  d.hops_most = 4;  // leaf, spine, spine of the other group, leaf; detours around a busy link take two spines more
  // Half of the groups against the other half: each pair across the cut is joined by `each` links.
  const std::int64_t low = groups / 2;
  const double across = static_cast<double>(low * (groups - low) * each);
  d.bisection = std::min(r.port_rate * across, d.injection / 2);
  d.oversubscription = std::max(1.0, d.injection / 2 / d.bisection);
  d.notes.push_back(fmt::format("{} groups of up to {} ports", groups, per_group));
  return d;
}

Result<FabricDesign> torus(const FabricRequest& r) {
  FabricDesign d;
  d.topology = r.topology;
  std::array<int, 3> extent = r.torus;
  std::int64_t devices = 1;
  int longest = 1;
  for (int& e : extent) {
    if (e < 1) e = 1;
    devices *= e;
    longest = std::max(longest, e);
  }
  if (devices < 2) return Error{ErrorCode::bad_input, "", "a torus needs its extents, for example 4x4x8"};
  std::int64_t links = 0;
  for (const int e : extent) {
    if (e > 1) links += e == 2 ? devices / 2 : devices;
    d.hops_most += e / 2;
  }
  int axes = 0;
  for (const int e : extent) axes += e > 1 ? 1 : 0;
  d.nodes = r.nodes;
  d.rails = 2 * axes;
  d.endpoints = devices;
  d.runs = {{"node-node", links, r.to_leaf, ""}};
  d.hops_rail = 1;
  // Cutting the longest axis in the middle cuts every ring along it twice.
  const std::int64_t rings = devices / longest;
  const double cut = static_cast<double>(rings) * (longest == 2 ? 1 : 2);
  d.bisection = r.port_rate * cut;
  d.injection = r.port_rate * static_cast<double>(devices * 2 * axes);
  d.most_endpoints = devices;
  d.oversubscription = std::max(1.0, d.injection / 2 / d.bisection);
  d.notes.emplace_back("direct links between devices; hops are devices passed");
  return d;
}

}  // namespace

std::string_view name(Topology topology) {
  return kTopologyNames[static_cast<std::size_t>(topology)];
}

Result<Topology> parse_topology(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kTopologyNames); ++i) {
    if (kTopologyNames[i] == text) return static_cast<Topology>(i);
  }
  const std::string near = nearest(text, kTopologyNames, std::size(kTopologyNames));
  return Error{ErrorCode::bad_input, "",
               fmt::format("there is no topology {}; {}", quoted(text),
                           near.empty() ? "there are rail-fat-tree, fat-tree, spine-leaf, dragonfly-plus and torus"
                                        : "did you mean " + near + "?")};
}

int FabricDesign::switches() const {
  int sum = 0;
  for (const SwitchTier& tier : tiers) sum += tier.switches;
  return sum;
}

std::int64_t FabricDesign::cables() const {
  std::int64_t sum = 0;
  for (const CableRun& run : runs) sum += run.cables;
  return sum;
}

Result<FabricDesign> design_fabric(const FabricRequest& request) {
  if (request.topology == Topology::torus) return torus(request);
  const auto bad = [](const char* message) { return Error{ErrorCode::bad_input, "", message}; };
  if (request.nodes < 1 || request.nodes > kMostNodes) return bad("a network joins 1 to 10 million nodes");
  if (request.ports_per_node < 1 || request.ports_per_node > 1024) return bad("a node has 1 to 1,024 ports");
  if (request.radix < 4 || request.radix > 4096) return bad("a switch has 4 to 4,096 ports");
  if (request.levels < 0 || request.levels > 3) return bad("a fat tree has 1, 2 or 3 levels");
  if (!(request.oversubscription >= 1)) return bad("oversubscription is ports down over ports up: 1 or more");
  if (request.topology == Topology::dragonfly_plus) return dragonfly_plus(request);
  Result<LeafPorts> ports = leaf_ports(request.radix, request.oversubscription);
  if (!ports) return ports.error();
  if (request.nodes_per_leaf > 0 && request.nodes_per_leaf < ports->down) {
    ports->down = request.nodes_per_leaf;
    ports->up = std::max(1, static_cast<int>(std::ceil(ports->down / request.oversubscription - 1e-9)));
  }
  return FatTree(request, *ports).run();
}

}  // namespace ridge
