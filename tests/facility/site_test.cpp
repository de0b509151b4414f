// Racks, power and cooling: every infrastructure figure of the audited guide, recomputed.
#include "ridge/facility/site.hpp"

#include <gtest/gtest.h>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::facility_data;

SiteRequest site(const char* system, int systems = 0) {
  SiteRequest r;
  r.system = bundle().catalogue.system(system);
  EXPECT_NE(r.system, nullptr) << system;
  r.systems = systems;
  return r;
}

RackPlan racks(const SiteRequest& r) {
  const Result<RackPlan> p = plan_racks(r, facility_data());
  EXPECT_TRUE(p) << p.error().text();
  return p ? *p : RackPlan{};
}

// The guide said 5.6 kW (the GPUs alone) and 42 kW for six; the user guide says 10.2 kW, air-cooled.
TEST(Site, DgxH100Draws10200WattsAndSixOfThem61Kilowatts) {
  const RackPlan p = racks(site("dgx-h100", 6));
  EXPECT_DOUBLE_EQ(p.system->power_max->value.value(), 10'200);
  EXPECT_EQ(p.system->cooling, Cooling::air);
  EXPECT_EQ(p.per_rack, 6);  // 6 x 8 = 48 units
  EXPECT_NEAR(p.per_rack_power.value(), 61'200, 1e-6);
  EXPECT_EQ(p.bound, RackBound::units);
  // 61.2 kW is beyond a rear door: four of them, 40.8 kW, is what air carries.
  EXPECT_EQ(p.per_rack_by_air, 4);
}

TEST(Site, FourDgxH100PerRackAre40Point8Kilowatts) {
  SiteRequest r = site("dgx-h100", 16);
  r.limits.rack_power = watts(42'000);
  const RackPlan p = racks(r);
  EXPECT_EQ(p.per_rack, 4);
  EXPECT_EQ(p.bound, RackBound::power);
  EXPECT_NEAR(p.per_rack_power.value(), 40'800, 1e-6);
  EXPECT_EQ(p.cooling->id, "rear-door");
  EXPECT_EQ(p.racks, 4);
}

// The guide said 72 kW for six and that liquid is required; 14.3 kW each, air-cooled, ten units high.
TEST(Site, DgxB200Draws14300WattsAndSixOfThem86Kilowatts) {
  SiteRequest r = site("dgx-b200", 6);
  r.limits.rack_units = 60;
  const RackPlan p = racks(r);
  EXPECT_DOUBLE_EQ(p.system->power_max->value.value(), 14'300);
  EXPECT_EQ(p.system->cooling, Cooling::air);
  EXPECT_EQ(p.per_rack, 6);
  EXPECT_NEAR(p.per_rack_power.value(), 85'800, 1e-6);
}

TEST(Site, Nvl72Draws120To132KilowattsAndNeedsLiquid) {
  const RackPlan p = racks(site("rack-gb200-nvl72", 8));
  EXPECT_GE(p.per_rack_power.value(), 120e3);
  EXPECT_LE(p.per_rack_power.value(), 132e3);
  EXPECT_EQ(p.bound, RackBound::own_rack);
  EXPECT_EQ(p.racks, 8);
  EXPECT_EQ(p.devices, 576);
  EXPECT_EQ(p.cooling->id, "direct-liquid");
  // The published scalable unit has a thermal design power of 1.2 MW with its network and management racks; eight
  // compute racks at their most draw about 1.06 MW.
  EXPECT_NEAR(p.devices_power.value(), 8 * 132e3, 1);
  EXPECT_LT(p.devices_power.value(), 1.2e6);
}

TEST(Site, Gb300AndVeraRubinRacksDrawWhatIsSaid) {
  EXPECT_NEAR(racks(site("rack-gb300-nvl72", 1)).per_rack_power.value(), 18 * 7500, 1);
  const double rubin = racks(site("rack-vera-rubin-nvl72", 1)).per_rack_power.value();
  EXPECT_GE(rubin, 190e3);
  EXPECT_LE(rubin, 230e3);
}

TEST(Site, DevicesHaveTheAuditedPower) {
  const auto tdp = [](const char* id) { return bundle().catalogue.device(id)->tdp->value.value(); };
  EXPECT_DOUBLE_EQ(tdp("h100-sxm"), 700);
  EXPECT_DOUBLE_EQ(tdp("h200-sxm"), 700);
  EXPECT_DOUBLE_EQ(tdp("b200-sxm-180"), 1000);
  EXPECT_DOUBLE_EQ(tdp("gb200-nvl72"), 1200);
  EXPECT_DOUBLE_EQ(tdp("gb300-nvl72"), 1400);
}

TEST(Site, CoolingClassFollowsTheHeatOfARack) {
  const FacilityData& data = facility_data();
  const auto at = [&](double kilowatts) { return data.cooling_for(watts(kilowatts * 1000))->id; };
  EXPECT_EQ(at(10), "air");
  EXPECT_EQ(at(15), "air");
  EXPECT_EQ(at(15.1), "in-row");
  EXPECT_EQ(at(30), "in-row");
  EXPECT_EQ(at(40.8), "rear-door");
  EXPECT_EQ(at(50), "rear-door");
  EXPECT_EQ(at(61.2), "direct-liquid");
  EXPECT_EQ(at(132), "direct-liquid");
  EXPECT_EQ(at(180), "immersion");
  EXPECT_EQ(at(230), "immersion-two-phase");
  EXPECT_EQ(data.cooling_for(watts(1e6)), nullptr);
}

TEST(Site, WhatIsSoldWithColdPlatesKeepsThemHoweverMuchItDraws) {
  System liquid = *bundle().catalogue.system("mi355x-platform");
  liquid.power_max = bundle().catalogue.system("dgx-b200")->power_max;
  SiteRequest r = site("mi355x-platform", 12);
  r.system = &liquid;
  const RackPlan p = racks(r);
  EXPECT_GT(p.per_rack_power.value(), 150'000);
  ASSERT_NE(p.cooling, nullptr);
  EXPECT_EQ(p.cooling->id, "direct-liquid");
}

TEST(Site, KilowattsPerRackTurnIntoDevices) {
  SiteRequest r = site("dgx-h100");
  r.limits.rack_power = watts(30'000);
  r.limits.racks = 10;
  const RackPlan p = racks(r);
  EXPECT_EQ(p.per_rack, 2);  // 20.4 kW; three would be 30.6
  EXPECT_EQ(p.systems, 20);
  EXPECT_EQ(p.devices, 160);
}

TEST(Site, SitePowerIsSharedWithCooling) {
  SiteRequest r = site("dgx-h100");
  r.limits.site_power = watts(1e6);
  r.limits.rack_power = watts(42'000);
  r.limits.pue = 1.25;
  const RackPlan p = racks(r);
  EXPECT_EQ(p.systems, 78);  // 1 MW / (10.2 kW * 1.25) = 78.4
  EXPECT_LE(p.facility.value(), 1e6);
}

TEST(Site, ARackThatIsTooWeakIsInfeasibleWithTheFigure) {
  SiteRequest r = site("dgx-b200", 4);
  r.limits.rack_power = watts(12'000);
  const auto p = plan_racks(r, facility_data());
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, ErrorCode::infeasible);
  EXPECT_NE(p.error().message.find("14.3 kW"), std::string::npos) << p.error().message;
}

TEST(Site, PowerNobodyPublishesIsEstimatedFromTdp) {
  // DGX H100: 10.2 kW over 8 x 700 W; DGX B200: 14.3 kW over 8 x 1000 W.
  EXPECT_NEAR(10'200 / 5'600.0, kPowerOverTdp, 0.03);
  EXPECT_NEAR(14'300 / 8'000.0, kPowerOverTdp, 0.03);
  SiteRequest r = site("mi300x-platform", 4);
  EXPECT_FALSE(plan_racks(r, facility_data()));  // without the device nothing is known
  r.device_power = bundle().catalogue.device("mi300x")->tdp->value;
  const RackPlan p = racks(r);
  EXPECT_NEAR(p.devices_power.value(), 4 * 8 * 750 * 1.8, 1);
  ASSERT_FALSE(p.assumptions.empty());
}

TEST(Site, WeightLimitsWhereTheRackIsWeak) {
  SiteRequest r = site("dgx-h100", 6);
  r.limits.rack_weight = Kilograms(400);
  const RackPlan p = racks(r);
  EXPECT_EQ(p.per_rack, 3);  // 3 x 130.5 = 391.5
  EXPECT_EQ(p.bound, RackBound::weight);
}

TEST(Site, FeedsCarryTheRack) {
  const FacilityData& data = facility_data();
  for (const PowerFeed& feed : data.feeds) {
    if (feed.id == "iec-400-63") {
      EXPECT_NEAR(feed.usable().value(), 43'648, 1);
    }  // sqrt(3) 400 V 63 A
    if (feed.id == "nec-415-60") {
      EXPECT_NEAR(feed.usable().value(), 34'502, 1);
    }  // sqrt(3) 415 V 60 A 0.8
  }
  SiteRequest r = site("dgx-h100", 4);
  const RackPlan p = racks(r);
  EXPECT_GE(p.feed->usable().value() * p.feeds, p.per_rack_power.value());
  EXPECT_EQ(p.feeds, 1);
}

TEST(Site, FloorLoadIsWeightOverFootprint) {
  SiteRequest r = site("dgx-h100", 4);
  const RackPlan p = racks(r);
  // (4 x 130.5 + 150) kg on 0.75 m x 1.2 m
  ASSERT_TRUE(p.floor_load);
  EXPECT_NEAR(p.floor_load->value(), (4 * 130.5 + 150) / 0.9, 1e-6);
}

TEST(Site, ChecklistSaysPassFailOrUnknownWithANumber) {
  SiteRequest r = site("dgx-h100", 12);
  const RackPlan p = racks(r);
  SiteFacts facts;
  facts.racks = &p;
  const auto unknown = checklist(facts, facility_data());
  facts.limits.rack_power = watts(20'000);
  facts.limits.cooling = "rear-door";
  facts.limits.floor_load = KilogramsPerSquareMetre(1500);
  const auto judged = checklist(facts, facility_data());
  const auto verdict = [](const std::vector<ChecklistLine>& lines, const char* requirement) {
    for (const ChecklistLine& line : lines) {
      EXPECT_FALSE(line.number.empty()) << line.requirement;
      if (line.requirement.find(requirement) != std::string::npos) return line.verdict;
    }
    ADD_FAILURE() << "no line about " << requirement;
    return SiteVerdict::unknown;
  };
  EXPECT_EQ(verdict(unknown, "a rack gets"), SiteVerdict::unknown);
  EXPECT_EQ(verdict(judged, "a rack gets"), SiteVerdict::fail);     // 61.2 kW of 20 kW
  EXPECT_EQ(verdict(judged, "takes the heat"), SiteVerdict::fail);  // 61.2 kW of 50 kW
  EXPECT_EQ(verdict(judged, "floor carries"), SiteVerdict::pass);   // 1,037 of 1,500 kg/m2
  EXPECT_EQ(verdict(judged, "air can carry"), SiteVerdict::fail);
}

}  // namespace
}  // namespace ridge
