// Every figure of the audited infrastructure tables, against what the program knows.
#include <gtest/gtest.h>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::facility_data;

double port(const char* fabric) {
  const Fabric* f = bundle().catalogue.fabric(fabric);
  return f != nullptr && f->port_per_direction ? f->port_per_direction->value.value() * 8 / 1e9 : 0;
}

// One port, one direction, Gb/s.
TEST(InfraFacts, PortsRunAtTheAuditedRates) {
  EXPECT_DOUBLE_EQ(port("infiniband-hdr"), 200);
  EXPECT_DOUBLE_EQ(port("infiniband-ndr200"), 200);
  EXPECT_DOUBLE_EQ(port("infiniband-ndr400"), 400);
  EXPECT_DOUBLE_EQ(port("infiniband-xdr"), 800);
  EXPECT_DOUBLE_EQ(port("infiniband-gdr"), 1600);
  EXPECT_DOUBLE_EQ(port("roce-v2-400"), 400);
  EXPECT_DOUBLE_EQ(port("roce-v2-800"), 800);
  EXPECT_DOUBLE_EQ(port("ethernet-400g"), 400);
  // XDR ships; the guide called it planned.
  EXPECT_EQ(bundle().catalogue.fabric("infiniband-xdr")->status, Sale::shipping);
  EXPECT_EQ(bundle().catalogue.fabric("infiniband-gdr")->status, Sale::announced);
}

// All ports of a node, one direction, GB/s.
TEST(InfraFacts, NodesSendWhatIsAudited) {
  const auto node = [](const char* id) {
    const System* s = bundle().catalogue.system(id);
    if (s == nullptr) return 0.0;
    const auto rate = scale_out_per_node(bundle().catalogue, *s);
    return rate ? rate->value() / 1e9 : 0.0;
  };
  for (const char* id : {"dgx-h100", "dgx-h200", "dgx-b200", "aws-p5", "aws-p5en", "aws-trn2", "aws-p6-b200"}) {
    EXPECT_DOUBLE_EQ(node(id), 400) << id;
  }
  EXPECT_DOUBLE_EQ(node("dgx-b300"), 800);
  EXPECT_DOUBLE_EQ(node("aws-p6-b300"), 800);
  EXPECT_DOUBLE_EQ(node("gcp-a3-mega"), 200);
  EXPECT_DOUBLE_EQ(node("gcp-a3-high"), 100);
  EXPECT_DOUBLE_EQ(node("aws-p4d"), 50);
  // GB200: 400 Gb/s per GPU, four to a tray; GB300: 800.
  EXPECT_DOUBLE_EQ(node("rack-gb200-nvl72"), 200);
  EXPECT_DOUBLE_EQ(node("rack-gb300-nvl72"), 400);
}

// All links of a device, one direction, GB/s; vendors print both directions.
TEST(InfraFacts, ScaleUpLinksCarryWhatIsAudited) {
  const auto device = [](const char* id) {
    const Device* d = bundle().catalogue.device(id);
    return d != nullptr && d->scale_up_per_direction ? d->scale_up_per_direction->value.value() / 1e9 : 0;
  };
  EXPECT_DOUBLE_EQ(device("v100-sxm2-32"), 150);
  EXPECT_DOUBLE_EQ(device("a100-sxm-80"), 300);
  EXPECT_DOUBLE_EQ(device("h800-sxm"), 200);
  EXPECT_DOUBLE_EQ(device("h100-sxm"), 450);
  EXPECT_DOUBLE_EQ(device("b200-sxm-180"), 900);
  EXPECT_DOUBLE_EQ(device("gb200-nvl72"), 900);
  EXPECT_DOUBLE_EQ(device("rubin-vr200"), 1800);
  EXPECT_DOUBLE_EQ(device("mi300x"), 448);
  EXPECT_DOUBLE_EQ(device("mi355x"), 535.5);
  EXPECT_DOUBLE_EQ(bundle().catalogue.device("mi300x")->scale_up_peer_per_direction->value.value(), 64e9);
}

TEST(InfraFacts, ADgxHasEightDevicesAndAnNvl72HasSeventyTwo) {
  for (const char* id : {"dgx-h100", "dgx-h200", "dgx-b200"})
    EXPECT_EQ(bundle().catalogue.system(id)->devices(), 8) << id;
  const System* rack = bundle().catalogue.system("rack-gb200-nvl72");
  EXPECT_EQ(rack->devices(), 72);
  EXPECT_EQ(rack->nodes * 2, 36);  // two Grace to a tray
  EXPECT_EQ(bundle().catalogue.system("dgx-b200")->cooling, Cooling::air);
  EXPECT_NEAR(rack->weight->value.value(), 1360, 1);
  EXPECT_NEAR(bundle().catalogue.system("dgx-b200")->local_storage->value.value(), 8 * 3.84e12, 1e9);
}

TEST(InfraFacts, StorageClassesHaveTheAuditedRates) {
  const auto& data = facility_data();
  const auto cluster = [&](const char* id) { return data.storage_class(id)->cluster->value.value() / 1e9; };
  const auto unit = [&](const char* id) { return data.storage_class(id)->unit->value.value() / 1e9; };
  EXPECT_DOUBLE_EQ(cluster("lustre"), 100);
  EXPECT_DOUBLE_EQ(cluster("gpfs"), 100);
  EXPECT_DOUBLE_EQ(cluster("vast"), 100);
  EXPECT_DOUBLE_EQ(cluster("flashblade"), 50);
  EXPECT_DOUBLE_EQ(10 * unit("weka"), 80);  // ten nodes
  EXPECT_DOUBLE_EQ(unit("object"), 20);
  EXPECT_DOUBLE_EQ(unit("netapp"), 10);
}

TEST(InfraFacts, EveryFigureNamesASource) {
  const auto& data = facility_data();
  const auto check = [](const auto& entries) {
    for (const auto& entry : entries) EXPECT_GT(entry.source.index, 0u) << entry.id;
  };
  check(data.switches);
  check(data.links);
  check(data.scale_up);
  check(data.storage);
  check(data.cooling);
  check(data.racks);
  check(data.feeds);
  check(data.systems);
  check(data.cuda);
  check(data.drivers);
  check(data.rules);
  for (const SwitchModel& s : data.switches) {
    const Fabric* fabric = bundle().catalogue.fabric(s.fabric);
    ASSERT_NE(fabric, nullptr) << s.id;
    if (fabric->switch_radix) {
      EXPECT_EQ(fabric->switch_radix->value, s.radix) << s.id;
    }
  }
}

}  // namespace
}  // namespace ridge
