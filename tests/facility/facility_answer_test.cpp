// The whole way from a question to a site.
#include "ridge/facility/facility_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::facility_data;
using testing_support::knowledge;

FacilityAnswer answered(const FacilityQuestion& q) {
  auto a = answer(q, knowledge(), facility_data());
  EXPECT_TRUE(a) << a.error().text();
  return a ? *std::move(a) : FacilityAnswer{};
}

FacilityQuestion about(const char* system) {
  FacilityQuestion q;
  q.system = system;
  return q;
}

TEST(FacilityAnswer, ASuperPodComesOutWhole) {
  FacilityQuestion q = about("dgx-h100");
  q.nodes = 127;
  const FacilityAnswer a = answered(q);
  EXPECT_EQ(a.fabric->switches(), 48);
  EXPECT_EQ(a.fabric->cables(), 1020 + 1024);
  EXPECT_EQ(a.racks.devices, 1016);
  EXPECT_EQ(a.racks.per_rack, 4);  // air-cooled: 50 kW per rack at most
  EXPECT_EQ(a.racks.bound, RackBound::heat);
}

// The published scalable unit of GB200 has a TDP of 1.2 MW with network and management: compute racks and the compute
// network alone come to 1.12 MW at most.
TEST(FacilityAnswer, AGb200ScalableUnitDrawsAboutWhatIsPublished) {
  FacilityQuestion q = about("rack-gb200-nvl72");
  q.nodes = 8;
  const FacilityAnswer a = answered(q);
  EXPECT_EQ(a.racks.devices, 576);
  EXPECT_EQ(a.scale_up->switch_chips, 144);
  EXPECT_EQ(a.fabric->endpoints, 576);
  EXPECT_NEAR(a.racks.peak.value(), 1.2e6, 0.1 * 1.2e6);
  q.nodes = 16 * 8;
  const FacilityAnswer largest = answered(q);
  EXPECT_EQ(largest.racks.devices, 9216);
  EXPECT_EQ(largest.fabric->switches(), 512 + 384 + 144);
}

TEST(FacilityAnswer, SitePowerIsNeverExceeded) {
  for (const double megawatts : {0.1, 0.5, 2.0, 20.0}) {
    for (const char* system : {"dgx-h100", "dgx-b200", "rack-gb200-nvl72"}) {
      FacilityQuestion q = about(system);
      q.limits.site_power = watts(megawatts * 1e6);
      const auto a = answer(q, knowledge(), facility_data());
      if (!a) {
        EXPECT_EQ(a.error().code, ErrorCode::infeasible) << a.error().text();
        continue;
      }
      EXPECT_LE(a->racks.facility.value(), megawatts * 1e6) << system << " " << megawatts;
      // One more would not fit, give or take the switches that come with it.
      FacilityQuestion more = about(system);
      more.nodes = a->racks.systems + 1 + a->racks.systems / 20;
      const auto larger = answer(more, knowledge(), facility_data());
      ASSERT_TRUE(larger);
      EXPECT_GT(larger->racks.facility.value(), megawatts * 1e6) << system << " " << megawatts;
    }
  }
}

TEST(FacilityAnswer, RackPowerTurnsIntoDevices) {
  int before = 0;
  for (const double kilowatts : {11.0, 21.0, 31.0, 41.0, 62.0}) {
    FacilityQuestion q = about("dgx-h100");
    q.limits.rack_power = watts(kilowatts * 1000);
    q.limits.racks = 10;
    const FacilityAnswer a = answered(q);
    EXPECT_GT(a.racks.devices, before) << kilowatts;
    before = a.racks.devices;
  }
  EXPECT_EQ(before, 6 * 8 * 10);
}

TEST(FacilityAnswer, ATrainingPlanBringsItsTrafficAndCheckpoints) {
  FacilityQuestion q = about("dgx-h100");
  q.training = TrainingQuery{};
  q.training->model = "llama3.1-70b";
  q.training->plan.gpus = 512;
  q.training->plan.tp = 8;
  q.training->plan.sequence = 8192;
  q.training->plan.global_batch = 512;
  q.freedom = {.pp = true, .micro_batch = true};
  const FacilityAnswer a = answered(q);
  ASSERT_TRUE(a.plan_traffic && a.storage);
  EXPECT_GT(a.plan_traffic->traffic.out_bytes(), 0);
  // What hides the traffic is a small part of a port, and a tiny one of the memory bandwidth.
  EXPECT_LT(a.plan_traffic->needed.value(), 50e9);
  EXPECT_LT(a.plan_traffic->hbm_share, 0.0149);
  EXPECT_NEAR(a.storage->checkpoint.value(), 0.988e12, 2e9);
  EXPECT_EQ(a.racks.devices, 512);
}

TEST(FacilityAnswer, ATorusKeepsItsShape) {
  FacilityQuestion q = about("pod-tpu-v5p");
  q.nodes = 1;
  const FacilityAnswer a = answered(q);
  ASSERT_TRUE(a.fabric);
  EXPECT_EQ(a.fabric->topology, Topology::torus);
  EXPECT_EQ(a.fabric->endpoints, 8960);
  EXPECT_EQ(a.racks.racks, 140);  // cubes of 64
}

// Nobody says what a pod of TPU v5p draws: as much for a 16-bit FLOP as an H100, and the answer says so.
TEST(FacilityAnswer, PowerThatNobodyPublishesIsEstimatedAndMarked) {
  FacilityQuestion q = about("pod-tpu-v5p");
  q.gpus = 512;
  const FacilityAnswer a = answered(q);
  EXPECT_NEAR(a.racks.per_rack_power.value(), 64 * 1.8 * 700 * 459 / 989.0, 500);
  EXPECT_TRUE(std::any_of(a.assumptions.begin(), a.assumptions.end(),
                          [](const std::string& s) { return s.find("an estimate") != std::string::npos; }));
}

// A part of a pod takes its own racks, wired as near to a cube as they allow, and no more power than they draw.
TEST(FacilityAnswer, APartOfAPodTakesItsOwnRacks) {
  FacilityQuestion q = about("pod-tpu-v7");
  q.gpus = 1024;
  const FacilityAnswer a = answered(q);
  EXPECT_EQ(a.racks.racks, 16);
  EXPECT_EQ(a.racks.devices, 1024);
  ASSERT_TRUE(a.fabric);
  EXPECT_EQ(a.fabric->endpoints, 1024);
  EXPECT_EQ(a.fabric->cables(), 3 * 1024);
  EXPECT_NEAR(a.racks.devices_power / a.racks.per_rack_power, 16, 1e-9);
}

// 100,000 GPUs: what joins them, with the optics by kind and the code that corrects their errors.
TEST(FacilityAnswer, LinksSayWhatCorrectsTheirErrors) {
  FacilityQuestion q = about("dgx-h100");
  q.gpus = 100'000;
  q.topology = Topology::dragonfly_plus;
  q.topology_given = true;
  const FacilityAnswer a = answered(q);
  for (const CableRun& run : a.fabric->runs) {
    const LinkModel* link = facility_data().link(run.link);
    ASSERT_NE(link, nullptr) << run.name;
    ASSERT_NE(facility_data().correction(link->fec), nullptr) << link->id;
  }
  EXPECT_EQ(a.fabric->transceivers, 2.0 * static_cast<double>(a.fabric->cables()));
}

TEST(FacilityAnswer, UnknownNamesAreRefusedWithTheNearest) {
  const auto a = answer(about("dgx-h10"), knowledge(), facility_data());
  ASSERT_FALSE(a);
  EXPECT_NE(a.error().message.find("dgx-h100"), std::string::npos);
  FacilityQuestion q;
  q.device = "h100-sxm";
  q.gpus = 64;
  EXPECT_EQ(answered(q).system->id, "dgx-h100");
  q.device = "mi300x";
  EXPECT_EQ(answered(q).racks.devices, 64);
  q.nodes = 3;
  EXPECT_FALSE(answer(q, knowledge(), facility_data()));  // 24 devices or 64
}

}  // namespace
}  // namespace ridge
