// Networks: the published reference designs, and what has to hold for any of them.
#include "ridge/facility/fabric.hpp"

#include <gtest/gtest.h>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::facility_data;

constexpr double kNdr = 50e9;  // bytes/s, one direction
constexpr double kXdr = 100e9;

FabricRequest rails(int nodes, int ports, int radix, double rate) {
  FabricRequest r;
  r.nodes = nodes;
  r.ports_per_node = ports;
  r.radix = radix;
  r.port_rate = BytesPerSecond(rate);
  return r;
}

struct Published {
  int nodes, leaf, spine, core;
  std::int64_t node_leaf, leaf_spine, spine_core;
};

void expect_counts(const FabricRequest& request, const Published& p) {
  const Result<FabricDesign> d = design_fabric(request);
  ASSERT_TRUE(d) << d.error().text();
  const std::string at = std::to_string(p.nodes) + " nodes";
  ASSERT_EQ(d->tiers.size(), p.core > 0 ? 3u : 2u) << at;
  EXPECT_EQ(d->tiers[0].switches, p.leaf) << at;
  EXPECT_EQ(d->tiers[1].switches, p.spine) << at;
  EXPECT_EQ(d->runs[0].cables, p.node_leaf) << at;
  EXPECT_EQ(d->runs[1].cables, p.leaf_spine) << at;
  if (p.core > 0) {
    EXPECT_EQ(d->tiers[2].switches, p.core) << at;
    EXPECT_EQ(d->runs[2].cables, p.spine_core) << at;
  }
  EXPECT_DOUBLE_EQ(d->oversubscription, 1) << at;
}

// NVIDIA DGX SuperPOD reference architecture for DGX H100 (RA-11333-001), table 4: 31 to 127 nodes with eight NDR ports
// each, and four ports of the UFM appliances in "Compute and UFM".
TEST(Fabric, DgxSuperPodH100HasThePublishedSwitchesAndCables) {
  for (const Published& p : {Published{31, 8, 4, 0, 252, 256, 0}, Published{63, 16, 8, 0, 508, 512, 0},
                             Published{95, 24, 16, 0, 764, 768, 0}, Published{127, 32, 16, 0, 1020, 1024, 0}}) {
    FabricRequest r = rails(p.nodes, 8, 64, kNdr);
    r.management_ports = 4;
    expect_counts(r, p);
  }
}

// NVIDIA DGX SuperPOD reference architecture for DGX B200, larger component counts: two levels up to 256 nodes, three
// above.
TEST(Fabric, DgxSuperPodB200HasThePublishedSwitchesAndCablesInTwoAndThreeLevels) {
  for (const Published& p :
       {Published{64, 16, 8, 0, 512, 512, 0}, Published{128, 32, 16, 0, 1024, 1024, 0},
        Published{256, 64, 32, 0, 2048, 2048, 0}, Published{512, 128, 128, 64, 4096, 4096, 4096},
        Published{1024, 256, 256, 128, 8192, 8192, 8192}, Published{2048, 512, 512, 256, 16384, 16384, 16384}}) {
    expect_counts(rails(p.nodes, 8, 64, kNdr), p);
  }
}

// NVIDIA DGX SuperPOD reference architecture for DGX B300 with XDR InfiniBand, table 3: units of 72 nodes on switches
// of 144 ports. Four units have 18 spines, not 16: 16 does not divide the 72 links of a leaf.
TEST(Fabric, DgxSuperPodB300XdrHasThePublishedSwitchesAndCables) {
  for (const Published& p : {Published{72, 8, 4, 0, 576, 576, 0}, Published{144, 16, 8, 0, 1152, 1152, 0},
                             Published{288, 32, 18, 0, 2304, 2304, 0}, Published{576, 64, 36, 0, 4608, 4608, 0},
                             Published{1296, 144, 72, 0, 10368, 10368, 0}}) {
    expect_counts(rails(p.nodes, 8, 144, kXdr), p);
  }
}

// NVIDIA DGX SuperPOD reference architecture for DGX GB200 (RA-11338-001): a scalable unit is 8 racks of 72 GPUs; a
// rack has 9 NVLink switch trays with 2 chips each, and each GPU one link to each of the 18 chips; a compute tray has
// four NDR ports. 16 units are 9,216 GPUs.
TEST(Fabric, Gb200ScalableUnitHasThePublishedNvlinkCounts) {
  const System* rack = bundle().catalogue.system("rack-gb200-nvl72");
  ASSERT_NE(rack, nullptr);
  EXPECT_EQ(rack->nodes, 18);
  const auto unit = count_scale_up(facility_data(), bundle().catalogue, *rack, 8 * 72);
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->domains, 8);
  EXPECT_EQ(unit->switch_trays, 8 * 9);
  EXPECT_EQ(unit->switch_chips, 8 * 18);
  EXPECT_EQ(unit->links, 8 * 72 * 18);
  EXPECT_DOUBLE_EQ(unit->bisection.value(), 36 * 900e9);
  EXPECT_EQ(16 * 8 * rack->devices(), 9216);
}

// The same reference architecture, compute fabric of 2 to 16 scalable units: a group of each rail has 8 leaves, one for
// each rack, and 6 spines; 64, 128, 256 and 512 leaves, 48, 96, 192 and 384 spines, 18, 36, 72 and 144 core switches.
// Six spines, not five: five do not divide the 18 links of a leaf.
TEST(Fabric, DgxSuperPodGb200HasThePublishedSwitches) {
  for (const Published& p :
       {Published{2, 64, 48, 18, 1152, 1152, 1152}, Published{4, 128, 96, 36, 2304, 2304, 2304},
        Published{8, 256, 192, 72, 4608, 4608, 4608}, Published{16, 512, 384, 144, 9216, 9216, 9216}}) {
    FabricRequest r = rails(p.nodes * 8 * 18, 4, 64, kNdr);  // units of eight racks of 18 trays with four ports
    r.levels = 3;
    r.nodes_per_leaf = 18;
    r.leaves_per_pod = 8;
    expect_counts(r, p);
  }
  // One unit alone needs no core.
  FabricRequest unit = rails(8 * 18, 4, 64, kNdr);
  unit.nodes_per_leaf = 18;
  const auto one = design_fabric(unit);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->levels, 2);
  EXPECT_EQ(one->tiers[0].switches, 32);
  EXPECT_EQ(one->tiers[1].switches, 9);  // 576 links of 64 each
  EXPECT_DOUBLE_EQ(one->oversubscription, 1);
}

TEST(Fabric, TwoLevelsEndAtHalfTheRadixSquared) {
  // A spine reaches `radix` leaves, a leaf serves radix/2 ports: 64 * 32 = 2,048.
  FabricRequest r = rails(256, 8, 64, kNdr);
  r.levels = 2;
  ASSERT_TRUE(design_fabric(r));
  EXPECT_EQ(design_fabric(r)->most_endpoints, 2048);
  r.nodes = 257;
  const auto more = design_fabric(r);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::refused);
  EXPECT_NE(more.error().message.find("2,048"), std::string::npos) << more.error().message;
}

TEST(Fabric, NoSwitchHasMoreLinksThanPorts) {
  for (const Topology topology : {Topology::rail_fat_tree, Topology::fat_tree, Topology::dragonfly_plus}) {
    for (const int radix : {8, 40, 64, 144}) {
      for (const double over : {1.0, 2.0, 3.0}) {
        for (int nodes = 1; nodes <= 3000; nodes = nodes * 3 + 1) {
          FabricRequest r = rails(nodes, 4, radix, kNdr);
          r.topology = topology;
          r.oversubscription = over;
          const auto d = design_fabric(r);
          if (!d) continue;
          for (const SwitchTier& tier : d->tiers) {
            EXPECT_LE(tier.down + tier.up, radix) << name(topology) << " " << radix << " " << nodes << " " << tier.name;
            EXPECT_GE(tier.switches, 1);
          }
          // Links between two levels are seen by both: what leaves upwards arrives below.
          for (std::size_t i = 0; i + 1 < d->tiers.size() && topology != Topology::dragonfly_plus; ++i) {
            EXPECT_EQ(d->runs[i + 1].cables, std::int64_t{d->tiers[i].switches} * d->tiers[i].up);
            EXPECT_GE(std::int64_t{d->tiers[i + 1].switches} * d->tiers[i + 1].down, d->runs[i + 1].cables);
          }
          EXPECT_LE(d->bisection.value(), d->injection.value() / 2 * 1.000001);
        }
      }
    }
  }
}

TEST(Fabric, OversubscriptionSavesSwitchesAndCostsBisection) {
  FabricRequest r = rails(256, 8, 64, kNdr);
  const auto full = design_fabric(r);
  r.oversubscription = 3;
  const auto narrow = design_fabric(r);
  ASSERT_TRUE(full && narrow);
  EXPECT_LT(narrow->switches(), full->switches());
  // 48 ports down to 16 up.
  EXPECT_EQ(narrow->tiers[0].down, 48);
  EXPECT_NEAR(full->bisection / narrow->bisection, narrow->oversubscription, 1e-9);
  EXPECT_DOUBLE_EQ(full->bisection.value(), 2048 * kNdr / 2);
}

TEST(Fabric, FewNodesNeedOneSwitchAndOneNeedsNone) {
  EXPECT_EQ(design_fabric(rails(8, 8, 64, kNdr))->switches(), 1);
  EXPECT_EQ(design_fabric(rails(8, 8, 64, kNdr))->hops_most, 1);
  EXPECT_EQ(design_fabric(rails(1, 8, 64, kNdr))->switches(), 0);
}

TEST(Fabric, SpineLeafIsATreeOfTwoLevels) {
  FabricRequest r = rails(32, 2, 128, kNdr);
  r.topology = Topology::spine_leaf;
  const auto d = design_fabric(r);
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->levels, 2);
  EXPECT_EQ(d->hops_most, 3);
}

// Shpiner et al. 2017: a group has (radix/2)^2 endpoints and as many global links; radix 64 reaches 1024 * 1025.
TEST(Fabric, DragonflyPlusJoinsGroupsDirectly) {
  FabricRequest r = rails(1024, 4, 64, kNdr);
  r.topology = Topology::dragonfly_plus;
  const auto d = design_fabric(r);
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->most_endpoints, 1024 * 1025);
  // 4 groups; each pair is joined by floor(1024 / 3) links.
  EXPECT_EQ(d->runs[2].cables, 6 * 341);
  EXPECT_EQ(d->tiers[0].switches, 128);
  EXPECT_EQ(d->tiers[1].switches, 128);
  EXPECT_EQ(d->hops_most, 4);
  // A fat tree of the same size has a third level.
  EXPECT_EQ(design_fabric(rails(1024, 4, 64, kNdr))->levels, 3);
}

TEST(Fabric, TorusHasThreeLinksPerDeviceAndIsCutTwice) {
  FabricRequest r;
  r.topology = Topology::torus;
  r.torus = {16, 16, 16};
  r.port_rate = BytesPerSecond(100e9);
  const auto d = design_fabric(r);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->cables(), 3 * 4096);
  EXPECT_DOUBLE_EQ(d->bisection.value(), 2 * 256 * 100e9);
  EXPECT_EQ(d->hops_most, 24);
  EXPECT_EQ(d->switches(), 0);
}

TEST(Fabric, PartsGivePowerAndPrice) {
  auto d = design_fabric(rails(128, 8, 64, kNdr));
  ASSERT_TRUE(d);
  equip(*d, facility_data(), "infiniband-ndr400", BytesPerSecond(kNdr), 64);
  EXPECT_EQ(d->switch_model, "qm9700");
  ASSERT_TRUE(d->power && d->price);
  // 48 switches of 1.72 kW, and the nodes' ends of 1,024 links at 8.5 W.
  EXPECT_NEAR(d->power->value.value(), 48 * 1720 + 1024 * 8.5, 1);
  EXPECT_EQ(d->transceivers, 2 * 2048);
  EXPECT_LT(d->price->low.value(), d->price->high.value());
  EXPECT_EQ(d->runs[0].link, "multimode-400");
}

TEST(Fabric, CopperIsTakenWhereItReaches) {
  const FacilityData& data = facility_data();
  EXPECT_EQ(data.link_for(BytesPerSecond(kNdr), Metres(2))->medium, LinkMedium::copper);
  EXPECT_EQ(data.link_for(BytesPerSecond(kNdr), Metres(30))->medium, LinkMedium::multimode);
  EXPECT_EQ(data.link_for(BytesPerSecond(kNdr), Metres(80))->medium, LinkMedium::single_mode);
  EXPECT_EQ(data.link_for(BytesPerSecond(kNdr), Metres(10'000)), nullptr);
}

TEST(Fabric, NonsenseIsRefused) {
  EXPECT_FALSE(design_fabric(rails(0, 8, 64, kNdr)));
  EXPECT_FALSE(design_fabric(rails(8, 8, 2, kNdr)));
  FabricRequest r = rails(128, 8, 64, kNdr);
  r.oversubscription = 0.5;
  EXPECT_FALSE(design_fabric(r));
  EXPECT_FALSE(parse_topology("fat-trees-and-more"));
  EXPECT_EQ(*parse_topology("dragonfly-plus"), Topology::dragonfly_plus);
}

}  // namespace
}  // namespace ridge
