#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundled;
using testing_support::contains;
using testing_support::load_with_overlay;
using testing_support::refusal_of;
using testing_support::starts_with;

const System& system_of(std::string_view id) {
  const System* found = bundled().system(id);
  EXPECT_NE(found, nullptr) << id;
  static const System none;
  return found == nullptr ? none : *found;
}

TEST(System, Nvl72IsEighteenTraysOfFourInOneDomain) {
  for (const std::string_view id : {"rack-gb200-nvl72", "rack-gb300-nvl72", "rack-vera-rubin-nvl72"}) {
    const System& rack = system_of(id);
    EXPECT_EQ(rack.nodes, 18) << id;
    EXPECT_EQ(rack.devices_per_node, 4) << id;
    EXPECT_EQ(rack.devices(), 72) << id;
    EXPECT_EQ(rack.scale_up_domain, 72) << id;
  }
}

TEST(System, PortsTimesTheirRateIsWhatTheNodeSends) {
  // 8 x 400 Gb/s = 8 x 50 GB/s = 400 GB/s, and so on, in one direction.
  const std::map<std::string_view, double> gigabytes_per_second = {
      {"dgx-a100", 200},      {"dgx-h100", 400},         {"dgx-h200", 400},         {"dgx-b200", 400},
      {"dgx-b300", 800},      {"aws-p4d", 50},           {"aws-p5", 400},           {"aws-p5en", 400},
      {"aws-trn2", 400},      {"aws-p6-b200", 400},      {"aws-p6-b300", 800},      {"gcp-a3-mega", 200},
      {"gcp-a3-high", 100},   {"gcp-a4", 400},           {"azure-nd-h100-v5", 400}, {"server-gaudi3", 600},
      {"server-gaudi2", 300}, {"rack-gb200-nvl72", 200}, {"rack-gb300-nvl72", 400}, {"mi300x-platform", 400}};
  for (const auto& [id, expected] : gigabytes_per_second) {
    const auto rate = scale_out_per_node(bundled(), system_of(id));
    ASSERT_TRUE(rate) << id;
    EXPECT_DOUBLE_EQ(rate->value(), expected * 1e9) << id;
  }
}

TEST(System, ScaleOutIsUnknownWithoutPortsOrFabric) {
  EXPECT_FALSE(scale_out_per_node(bundled(), system_of("node-gh200-96")));
  System ports_unknown = system_of("dgx-h100");
  ports_unknown.nics_per_node.reset();
  EXPECT_FALSE(scale_out_per_node(bundled(), ports_unknown));
}

TEST(System, TpuPodsAreTheirTorus) {
  const std::map<std::string_view, std::array<int, 3>> extents = {{"pod-tpu-v4", {16, 16, 16}},
                                                                  {"pod-tpu-v5e", {16, 16, 1}},
                                                                  {"pod-tpu-v5p", {16, 20, 28}},
                                                                  {"pod-tpu-v6e", {16, 16, 1}},
                                                                  {"pod-tpu-v7", {16, 24, 24}}};
  for (const auto& [id, torus] : extents) {
    const System& pod = system_of(id);
    EXPECT_EQ(pod.torus, torus) << id;
    EXPECT_EQ(pod.devices(), torus[0] * torus[1] * torus[2]) << id;
    EXPECT_EQ(pod.scale_up_domain, pod.devices()) << id;
  }
}

TEST(System, ScaleUpFabricRunsAtTheRateOfTheDevice) {
  // PCIe is 31 or 63 GB/s after its encoding and 32 or 64 before it: hence 4 %.
  int checked = 0;
  for (const System& system : bundled().systems()) {
    if (system.scale_up.empty()) continue;
    const Fabric& fabric = *bundled().fabric(system.scale_up);
    ASSERT_TRUE(fabric.device_per_direction) << system.id << " is joined by " << fabric.id;
    const auto& of_device = bundled().device(system.device)->scale_up_per_direction;
    if (!of_device) continue;
    EXPECT_NEAR(fabric.device_per_direction->value / of_device->value, 1, 0.04) << system.id;
    ++checked;
  }
  EXPECT_GE(checked, 40);
}

TEST(System, EveryScaleOutFabricHasARateOfItsPort) {
  for (const System& system : bundled().systems()) {
    if (!system.scale_out.empty()) {
      EXPECT_TRUE(bundled().fabric(system.scale_out)->port_per_direction) << system.id;
    }
  }
}

TEST(System, DrawsMoreThanItsDevicesAndLessThanThreeTimesThat) {
  int checked = 0;
  for (const System& system : bundled().systems()) {
    const Device& device = *bundled().device(system.device);
    if (!system.power_max || !device.tdp) continue;
    const Watts devices = device.tdp->value * system.devices();
    EXPECT_GT(system.power_max->value, devices) << system.id;
    EXPECT_LT(system.power_max->value, devices * 3) << system.id;
    ++checked;
  }
  EXPECT_GE(checked, 8);
}

TEST(System, PublishedMaximumPower) {
  EXPECT_DOUBLE_EQ(system_of("dgx-h100").power_max->value.value(), 10'200);
  EXPECT_DOUBLE_EQ(system_of("dgx-b200").power_max->value.value(), 14'300);
  EXPECT_DOUBLE_EQ(system_of("rack-gb200-nvl72").power_max->value.value(), 132'000);
}

TEST(System, AnIdMeansOneThing) {
  std::set<std::string_view> ids;
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
  };
  add(bundled().devices());
  add(bundled().fabrics());
  add(bundled().systems());
  add(bundled().models());
  add(bundled().prices());
}

constexpr std::string_view kSystem = R"([[source]]
id = "mine"
title = "My rack"
where = "my desk"
date = "2026"
kind = "estimate"

[[system]]
id = "my-rack"
name = "My rack"
kind = "rack"
device = "h100-sxm"
nodes = 4
devices_per_node = 8
source = "mine"
)";

std::string with(std::string_view lines) {
  return std::string(kSystem) + std::string(lines);
}

TEST(System, OfAUserIsAdded) {
  const auto loaded =
      load_with_overlay(with("[system.scale_up]\nfabric = \"nvlink4\"\ndomain = 8\n"
                             "[system.scale_out]\nfabric = \"infiniband-ndr400\"\nnics_per_node = 4\n"
                             "[system.power]\nmax = \"44 kW\"\n"));
  ASSERT_TRUE(loaded) << loaded.error().text();
  const System* rack = loaded->system("my-rack");
  ASSERT_NE(rack, nullptr);
  EXPECT_EQ(rack->devices(), 32);
  EXPECT_EQ(rack->status, Sale::shipping);
  EXPECT_DOUBLE_EQ(scale_out_per_node(*loaded, *rack)->value(), 200e9);
  EXPECT_EQ(loaded->source(rack->power_max->source).id, "mine");
}

TEST(System, OfAnUnknownDeviceIsRefusedWithTheNearest) {
  std::string text = with("");
  text.replace(text.find("h100-sxm"), 8, "h100-smx");
  EXPECT_TRUE(starts_with(refusal_of(text), "mine.toml:12:10: there is no device 'h100-smx'; did you mean 'h100-sxm'"));
}

TEST(System, OnAnUnknownFabricIsRefusedWithTheNearest) {
  const std::string refusal = refusal_of(with("[system.scale_out]\nfabric = \"infiniband-ndr40\"\n"));
  EXPECT_TRUE(starts_with(refusal, "mine.toml:17:10: there is no fabric 'infiniband-ndr40'"));
  EXPECT_TRUE(contains(refusal, "infiniband-ndr400"));
}

TEST(System, DomainBeyondItsDevicesIsRefused) {
  EXPECT_TRUE(starts_with(refusal_of(with("[system.scale_up]\nfabric = \"nvlink4\"\ndomain = 33\n")),
                          "mine.toml:18:10: 33 devices joined, but 4 x 8 = 32 there are"));
}

TEST(System, DomainWithoutAFabricIsRefused) {
  EXPECT_TRUE(contains(refusal_of(with("[system.scale_up]\ndomain = 8\n")), "joined by what?"));
}

TEST(System, TorusThatIsNotItsDomainIsRefused) {
  EXPECT_TRUE(contains(refusal_of(with("[system.scale_up]\nfabric = \"ici-v4\"\ndomain = 32\ntorus = [4, 4, 4]\n")),
                       "4 x 4 x 4 = 64, but the domain has 32 devices"));
  EXPECT_TRUE(contains(refusal_of(with("[system.scale_up]\nfabric = \"ici-v4\"\ndomain = 16\ntorus = [4, 4]\n")),
                       "three extents"));
}

TEST(System, PortsOfNoFabricAreRefused) {
  EXPECT_TRUE(contains(refusal_of(with("[system.scale_out]\nnics_per_node = 8\n")), "ports of which fabric?"));
}

TEST(System, OversubscriptionNeedsThePodItBeginsBeyond) {
  EXPECT_TRUE(contains(refusal_of(with("[system.scale_out]\nfabric = \"roce-v2-400\"\noversubscription = 7\n")),
                       "beyond how many devices?"));
  EXPECT_EQ(system_of("meta-roce-h100").pod->value, 3072);
  EXPECT_EQ(system_of("meta-roce-h100").oversubscription->value, 7);
  EXPECT_FALSE(system_of("dgx-h100").oversubscription);
}

TEST(System, NodeOfSeveralNodesIsRefused) {
  std::string text = with("");
  text.replace(text.find("\"rack\""), 6, "\"node\"");
  EXPECT_TRUE(starts_with(refusal_of(text), "mine.toml:13:9: a node is one node"));
}

TEST(System, PowerWithoutUnitOrOutOfReasonIsRefused) {
  EXPECT_TRUE(contains(refusal_of(with("[system.power]\nmax = 44\n")), "a bare number where a quantity belongs"));
  EXPECT_TRUE(contains(refusal_of(with("[system.power]\nmax = \"44 W\"\n")), "did you mean 44 kW?"));
}

TEST(System, UnknownKindCoolingAndKeyAreRefused) {
  std::string text = with("");
  text.replace(text.find("\"rack\""), 6, "\"tower\"");
  EXPECT_TRUE(contains(refusal_of(text), "'tower' is no kind; use node, rack, pod"));
  EXPECT_TRUE(contains(refusal_of(with("cooling = \"water\"\n")), "'water' is no cooling; use air, liquid"));
  EXPECT_TRUE(contains(refusal_of(with("wieght = \"2 kg\"\n")), "unknown key 'wieght'"));
}

}  // namespace
}  // namespace ridge
