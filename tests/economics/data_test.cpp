#include <gtest/gtest.h>

#include <cmath>

#include "economics/economics_data.hpp"
#include "ridge/energy.hpp"

namespace ridge {
namespace {

const Catalogue& catalogue() {
  static const Catalogue c = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  return c;
}
const EconomicsData& data() {
  static const Result<EconomicsData> d = load_economics(std::string(RIDGE_DATA_DIR) + "/economics", catalogue());
  if (!d) ADD_FAILURE() << d.error().text();
  return *d;
}

TEST(EconomicsData, EveryNameOfTheCatalogueExists) {
  for (const ServerPrice& s : data().servers) {
    EXPECT_NE(catalogue().device(s.device), nullptr) << s.id;
    if (!s.system.empty()) {
      ASSERT_NE(catalogue().system(s.system), nullptr) << s.id;
      EXPECT_EQ(catalogue().system(s.system)->devices(), s.gpus) << s.id;
    }
  }
  for (const ApiOffer& o : data().offers) {
    if (!o.model.empty()) {
      EXPECT_NE(catalogue().model(o.model), nullptr) << o.id;
    }
  }
}

// Table 5 of the Llama 3 paper: 419 unexpected interruptions in 54 days of 16,384 GPUs, one in about three hours.
TEST(EconomicsData, LlamaRecordCounts419) {
  const FailureRecord& r = **data().record("llama3-405b");
  EXPECT_EQ(r.total(), 419);
  double per_hour = 0;
  for (const double rate : r.per_gpu_hour()) per_hour += rate * 16384;
  EXPECT_NEAR(1 / per_hour, 3.09, 0.01);
}

// 6.50 and 2.34 failures per 1,000 node-days.
TEST(EconomicsData, ClusterRecordsKeepTheirTotals) {
  const auto per_thousand_node_days = [](const FailureRecord& r) {
    return r.total() / (r.gpus / 8 * r.hours / 24) * 1000;
  };
  EXPECT_NEAR(per_thousand_node_days(**data().record("rsc-1")), 6.5, 1e-9);
  EXPECT_NEAR(per_thousand_node_days(**data().record("rsc-2")), 2.34, 1e-9);
}

TEST(EconomicsData, RegionsWithoutAPriceAreUnknown) {
  EXPECT_NEAR(*(*data().region("us-texas"))->electricity_usd_per_kwh, 0.066, 1e-12);
  EXPECT_FALSE((*data().region("sweden"))->electricity_usd_per_kwh.has_value());
  EXPECT_NEAR(*(*data().region("sweden"))->co2_kg_per_kwh, 0.041, 1e-9);
}

TEST(EconomicsData, UnknownIdNamesTheNearest) {
  EXPECT_EQ(data().profile("hyperscalar").error().message,
            "there is no profile 'hyperscalar'; did you mean 'hyperscaler'?");
}

// $8 to $2.89 in three years.
TEST(EconomicsData, DeclineIsPerYear) {
  EXPECT_NEAR(data().declines.at(0).per_year(), 1 - std::pow(2.89 / 8, 1 / 3.0), 1e-12);
}

}  // namespace
}  // namespace ridge
