#include <gtest/gtest.h>

#include <map>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundled;
using testing_support::contains;
using testing_support::refusal_of;
using testing_support::starts_with;

const Fabric& fabric_of(std::string_view id) {
  const Fabric* found = bundled().fabric(id);
  EXPECT_NE(found, nullptr) << id;
  static const Fabric none;
  return found == nullptr ? none : *found;
}

TEST(Fabric, InfiniBandDoublesWithEveryGeneration) {
  // Four lanes of 50, 100, 200 and 400 Gb/s; eight bits make a byte.
  const std::map<std::string_view, double> gigabytes_per_second = {
      {"infiniband-hdr", 25}, {"infiniband-ndr400", 50}, {"infiniband-xdr", 100}, {"infiniband-gdr", 200}};
  for (const auto& [id, rate] : gigabytes_per_second) {
    EXPECT_DOUBLE_EQ(fabric_of(id).port_per_direction->value.value(), rate * 1e9) << id;
  }
  EXPECT_EQ(fabric_of("infiniband-gdr").status, Sale::announced);
}

TEST(Fabric, SwitchesCarryTheSameWhetherPortsAreSplitOrNot) {
  // QM9700: 64 x 400 = 128 x 200 Gb/s; SN5600: 64 x 800 = 128 x 400 = 256 x 200 Gb/s.
  const auto through = [](std::string_view id) {
    const Fabric& fabric = fabric_of(id);
    return fabric.port_per_direction->value.value() * fabric.switch_radix->value;
  };
  EXPECT_DOUBLE_EQ(through("infiniband-ndr200"), through("infiniband-ndr400"));
  EXPECT_DOUBLE_EQ(through("roce-v2-200"), through("roce-v2-800"));
  EXPECT_DOUBLE_EQ(through("roce-v2-400"), through("roce-v2-800"));
  EXPECT_DOUBLE_EQ(through("roce-v2-800"), 51.2e12 / 8);
}

TEST(Fabric, NvLinkDeviceRateIsAWholeNumberOfLinks) {
  const std::map<std::string_view, double> links = {{"nvlink2", 6},     {"nvlink3", 12},    {"nvlink4", 18},
                                                    {"nvlink5", 18},    {"nvlink6", 36},    {"nvlink4-bridge", 12},
                                                    {"xgmi-mi300x", 7}, {"xgmi-mi355x", 7}, {"hccs", 7},
                                                    {"ici-v5p", 6},     {"ici-v5e", 4},     {"gaudi3-ethernet", 21}};
  for (const auto& [id, count] : links) {
    EXPECT_DOUBLE_EQ(fabric_of(id).device_per_direction->value / fabric_of(id).port_per_direction->value, count) << id;
  }
}

TEST(Fabric, OnlySomeSwitchesReduce) {
  EXPECT_TRUE(fabric_of("infiniband-ndr400").in_network_reduction);
  EXPECT_TRUE(fabric_of("nvlink4").in_network_reduction);
  EXPECT_FALSE(fabric_of("nvlink3").in_network_reduction);
  EXPECT_FALSE(fabric_of("roce-v2-400").in_network_reduction);
}

TEST(Fabric, KindIsPrintedAsItIsWritten) {
  EXPECT_EQ(name(fabric_of("infiniband-hdr").kind), "infiniband");
  EXPECT_EQ(name(fabric_of("unified-bus").kind), "unified_bus");
  EXPECT_EQ(name(fabric_of("pcie-5-x16").kind), "pcie");
}

std::string fabric_with(std::string_view lines) {
  return "[[fabric]]\nid = \"mine\"\nname = \"Mine\"\nkind = \"ethernet\"\nsource = \"ieee-8023\"\n" +
         std::string(lines);
}

TEST(Fabric, WithoutAnyRateIsRefused) {
  EXPECT_EQ(refusal_of(fabric_with("port_per_direction = \"25 Gb/s\"\n")), "");
  EXPECT_TRUE(starts_with(refusal_of(fabric_with("")), "mine.toml:2:6: a fabric needs port_per_direction"));
}

TEST(Fabric, LinkBeyondItsDeviceIsRefused) {
  EXPECT_TRUE(
      contains(refusal_of(fabric_with("port_per_direction = \"50 GB/s\"\ndevice_per_direction = \"25 GB/s\"\n")),
               "one link cannot carry more than all links of a device"));
}

TEST(Fabric, RateOutOfReasonIsRefused) {
  // 400 GB/s is the most a port may have; terabytes a second are a slip.
  EXPECT_TRUE(contains(refusal_of(fabric_with("port_per_direction = \"400 TB/s\"\n")), "did you mean 400 GB/s?"));
  EXPECT_TRUE(contains(refusal_of(fabric_with("port_per_direction = \"25 Gb/s\"\nkind_of = \"x\"\n")),
                       "unknown key 'kind_of'"));
}

}  // namespace
}  // namespace ridge
