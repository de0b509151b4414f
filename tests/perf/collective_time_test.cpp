#include <gtest/gtest.h>

#include "kernel_shapes.hpp"

namespace ridge::perf {
namespace {

using testing_support::bundle;
using testing_support::calibration;
using testing_support::rates_of;
using testing_support::size_between;

LinkRates plain_link() {
  LinkRates link;
  link.bandwidth = link.peer_bandwidth = 100e9;
  return link;
}

// Each of n ranks sends and receives n-1 of n parts to reduce and again to gather.
TEST(CollectiveTime, RingAllReduceMovesTwiceNMinusOneOverN) {
  for (const double n : {2.0, 4.0, 8.0, 72.0}) {
    EXPECT_DOUBLE_EQ(collective_time(plain_link(), Collective::all_reduce, n, 1e9), 2 * (n - 1) / n * 1e9 / 100e9);
    EXPECT_DOUBLE_EQ(collective_time(plain_link(), Collective::all_gather, n, 1e9), (n - 1) / n * 1e9 / 100e9);
    EXPECT_DOUBLE_EQ(collective_time(plain_link(), Collective::reduce_scatter, n, 1e9), (n - 1) / n * 1e9 / 100e9);
    EXPECT_DOUBLE_EQ(collective_time(plain_link(), Collective::all_to_all, n, 1e9), (n - 1) / n * 1e9 / 100e9);
  }
  EXPECT_DOUBLE_EQ(collective_time(plain_link(), Collective::send, 2, 1e9), 1e9 / 100e9);
}

TEST(CollectiveTime, OneRankNeedsNone) {
  for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
    EXPECT_EQ(collective_time(plain_link(), op, 1, 1e9), 0);
  }
}

TEST(CollectiveTime, ASwitchThatReducesTakesTheBufferOnce) {
  LinkRates link = plain_link();
  link.in_network_reduction = true;
  link.reduction_bandwidth = 100e9;
  EXPECT_DOUBLE_EQ(collective_time(link, Collective::all_reduce, 8, 1e9), 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(collective_time(link, Collective::all_gather, 8, 1e9), 7.0 / 8 * 1e9 / 100e9);
}

// Filling its pipeline lengthens a ring; a send between two devices is none.
TEST(CollectiveTime, ASendFillsNoRing) {
  LinkRates link = plain_link();
  link.fill = 0.3;
  EXPECT_DOUBLE_EQ(collective_time(link, Collective::send, 2, 1e9), 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(collective_time(link, Collective::all_gather, 2, 1e9), 0.5 * 1.3 * 1e9 / 100e9);
}

// On a mesh all peers are reached at once, each over its own link.
TEST(CollectiveTime, AllToAllOnAMeshUsesTheLinksToAllPeers) {
  LinkRates link = plain_link();
  link.peer_bandwidth = 10e9;
  EXPECT_DOUBLE_EQ(collective_time(link, Collective::all_to_all, 4, 1e9), 0.75 * 1e9 / 30e9);
  EXPECT_DOUBLE_EQ(collective_time(link, Collective::send, 2, 1e9), 1e9 / 10e9);
}

TEST(CollectiveTime, GrowsWithBytesAndShrinksWithBandwidth) {
  Random draws(41);
  int compared = 0;
  for (const Device& device : bundle().catalogue.devices()) {
    for (const CollectiveLibrary library : {CollectiveLibrary::general, CollectiveLibrary::one_shot}) {
      const LinkRates link = scale_up_link(device, calibration(), library);
      Device twice = device;
      if (twice.scale_up_per_direction) twice.scale_up_per_direction->value *= 2;
      if (twice.scale_up_peer_per_direction) twice.scale_up_peer_per_direction->value *= 2;
      const LinkRates faster = scale_up_link(twice, calibration(), library);
      for (int i = 0; i < 20; ++i) {
        const double bytes = size_between(draws, 1024, 1e9);
        const double ranks = size_between(draws, 2, 73);
        for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                    Collective::all_to_all, Collective::send}) {
          const double t = collective_time(link, op, ranks, bytes);
          EXPECT_LE(t, collective_time(link, op, ranks, bytes * 1.1));
          EXPECT_LE(collective_time(faster, op, ranks, bytes), t);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

// Every rank reads all buffers: the fewest steps, the most bytes. It wins while latency counts, and never loses.
TEST(CollectiveTime, OneShotWinsOnSmallBuffersOnly) {
  const auto device = bundle().catalogue.find_device("h100-sxm");
  ASSERT_TRUE(device);
  const LinkRates ring = scale_up_link(*device, calibration());
  const LinkRates one_shot = scale_up_link(*device, calibration(), CollectiveLibrary::one_shot);
  EXPECT_LT(collective_time(one_shot, Collective::all_reduce, 8, 16384),
            0.5 * collective_time(ring, Collective::all_reduce, 8, 16384));
  EXPECT_EQ(collective_time(one_shot, Collective::all_reduce, 8, 256e6),
            collective_time(ring, Collective::all_reduce, 8, 256e6));
}

TEST(CollectiveTime, StaysBelowTheLinkRate) {
  for (const Device& device : bundle().catalogue.devices()) {
    if (!device.scale_up_per_direction) continue;
    const double link = device.scale_up_per_direction->value.value();
    const LinkRates rates = scale_up_link(device, calibration());
    EXPECT_GE(collective_time(rates, Collective::all_gather, 8, 1e9), 7.0 / 8 * 1e9 / link) << device.id;
    EXPECT_GE(collective_time(rates, Collective::all_reduce, 8, 1e9), 1e9 / link) << device.id;
  }
}

TEST(ElementwiseTime, IsTrafficAndLaunches) {
  const DeviceRates r = rates_of("h200-sxm");
  EXPECT_DOUBLE_EQ(elementwise_time(r, 4.8e9, 3).seconds, 4.8e9 / (4.8e12 * r.memory_share) + 3 * r.launch);
  EXPECT_LE(r.memory_share, 1);
}

}  // namespace
}  // namespace ridge::perf
