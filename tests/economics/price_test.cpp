// Rents that nobody quotes, price lists of others beside the catalogue's, API lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "catalogue/folder.hpp"
#include "economics/cost_case.hpp"
#include "economics/price/api_import.hpp"
#include "economics/price/price_diff.hpp"

namespace ridge {
namespace {

const Catalogue& catalogue() {
  static const Catalogue c = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  return c;
}

RentMarket market(const char* device, PriceKind kind = PriceKind::on_demand) {
  return rent_market(catalogue(), device, kind, "", "", {});
}

TEST(Rents, OfOneProviderTheNewestCounts) {
  const RentMarket m = market("h200-sxm");
  std::map<std::string, std::string> dates;
  for (const Price* p : m.offers) {
    if (p->provider.empty() || p->date.size() == 4) continue;
    const auto [at, added] = dates.emplace(p->provider, p->date);
    EXPECT_EQ(at->second, p->date) << p->provider;
  }
}

// Google sells a TPU v5e in slices of one and of eight chips for the same price.
TEST(Rents, TwoSizesOfOneOfferAreOneQuote) {
  EXPECT_EQ(market("tpu-v5e").quotes(), 1);
  EXPECT_EQ(market("tpu-v6e").quotes(), 1);
  EXPECT_EQ(market("mi355x").quotes(), 3) << "three providers quote it";
}

// GB300 and TPU v7 have analysts' figures alone: used, and said so.
TEST(Rents, WhatNobodyQuotesIsEstimatedFromASeriesAndSaysSo) {
  for (const char* device : {"gb300-nvl72", "tpu-v7"}) {
    const RentMarket m = market(device);
    ASSERT_EQ(m.usd.size(), 3U) << device;
    EXPECT_EQ(m.quotes(), 0) << device;
    EXPECT_NE(m.estimate.find("SemiAnalysis"), std::string::npos) << device << ": " << m.estimate;
    EXPECT_LE(m.usd[0], m.usd[1]);
    EXPECT_LE(m.usd[1], m.usd[2]);
    EXPECT_GT(m.usd[1], 1) << device;
    EXPECT_LT(m.usd[1], 20) << device;
  }
}

TEST(Rents, EstimatesHaveNoPlaceInQuotedMarkets) {
  EXPECT_TRUE(market("h100-sxm").estimate.empty());
  EXPECT_EQ(market("h200-nvl").quotes(), 1) << "one provider quotes it";
  EXPECT_TRUE(rent_market(catalogue(), "gb300-nvl72", PriceKind::on_demand, "AWS", "", {}).usd.empty())
      << "whoever asks for a provider gets no estimate";
  EXPECT_TRUE(rent_market(catalogue(), "gb300-nvl72", PriceKind::on_demand, "", "2024-01", {}).usd.empty())
      << "the figures are of 2026";
}

// ---- price lists

// A list under its provider's name, in a folder of its own: tests run side by side.
class ListFile {
 public:
  explicit ListFile(const std::string& text, const char* name = "nebius.csv") : path_(folder_.write(name, text)) {}
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<Catalogue> load() const {
    return Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {path_}});
  }

 private:
  Folder folder_;
  std::string path_;
};

constexpr std::string_view kHeader = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n";

TEST(PriceDiff, TheCheapestHourStandsBesideTheCataloguesNewest) {
  const ListFile list(std::string(kHeader) + "a,H200,1,5.4,,eu\nb,H200,8,44.8,,eu\n");
  const auto loaded = list.load();
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<PriceChange> changes = price_changes(*loaded, list.path());
  const auto at = std::find_if(changes.begin(), changes.end(), [](const PriceChange& c) {
    return c.device == "h200-sxm" && c.kind == PriceKind::on_demand;
  });
  ASSERT_NE(at, changes.end());
  EXPECT_EQ(at->provider, "Nebius") << "the list is called nebius.csv";
  ASSERT_NE(at->before, nullptr);
  ASSERT_NE(at->after, nullptr);
  EXPECT_EQ(at->offers, 2);
  EXPECT_NEAR(at->median_usd, 5.5, 1e-9);
  EXPECT_NEAR(at->highest_usd, 5.6, 1e-9);
  const auto gone =
      std::find_if(changes.begin(), changes.end(), [](const PriceChange& c) { return c.device == "b200-sxm-180"; });
  ASSERT_NE(gone, changes.end()) << "the catalogue has Nebius' B200, the list does not";
  EXPECT_EQ(gone->after, nullptr);
}

TEST(PriceDiff, WhatIsTakenIsAnOverlayThatReplaces) {
  const ListFile list(std::string(kHeader) + "a,H200,1,5.55,,eu\nc,L40S,1,9.5,1.5,eu\n");
  const auto loaded = list.load();
  ASSERT_TRUE(loaded);
  const std::string toml = overlay_of(price_changes(*loaded, list.path()), list.path(), "skypilot", "2026-11-15");
  const ListFile overlay(toml, "taken.toml");
  const auto taken =
      Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {overlay.path()}, .price_lists = {}});
  ASSERT_TRUE(taken) << taken.error().text();
  const RentMarket m = rent_market(*taken, "h200-sxm", PriceKind::on_demand, "Nebius", "", {});
  ASSERT_EQ(m.usd.size(), 1U);
  EXPECT_NEAR(m.usd[0], 5.55, 1e-9);
}

TEST(PriceDiff, GpuhuntsListsAreRead) {
  constexpr std::string_view kColumns = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\n";
  const ListFile list(std::string(kColumns) + "p4de,us-east-1,32.0,96,1152,8,A100,80,False\n" +
                          "p4de,us-east-1,12.0,96,1152,8,A100,80,True\nc6i,us-east-1,1.0,4,8,0,,,False\n",
                      "aws.csv");
  const auto loaded = list.load();
  ASSERT_TRUE(loaded) << loaded.error().text();
  const std::vector<PriceChange> changes = price_changes(*loaded, list.path());
  const auto at = std::find_if(changes.begin(), changes.end(), [](const PriceChange& c) {
    return c.device == "a100-sxm-80" && c.kind == PriceKind::on_demand;
  });
  ASSERT_NE(at, changes.end());
  EXPECT_NEAR(at->median_usd, 4, 1e-9);
  const ListFile broken(std::string(kColumns) + "p4de,us-east-1,cheap,96,1152,8,A100,80,False\n", "aws.csv");
  const auto refused = broken.load();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("aws.csv:2:"), std::string::npos) << refused.error().text();
}

// ---- API lists

TEST(ApiList, LiteLlmIsReadAndTiedToModels) {
  const auto list = read_api_list(ApiForm::litellm, R"({
    "sample_spec": {"input_cost_per_token": 0},
    "groq/llama-3.1-8b-instruct": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 5e-08,
      "output_cost_per_token": 8e-08, "cache_read_input_token_cost": 2e-08, "max_input_tokens": 128000},
    "dear/llama-3.1-8b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 1e-06,
      "output_cost_per_token": 1e-06},
    "x/nobody-knows": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1e-06,
      "output_cost_per_token": 1e-06},
    "x/llama-3.1-70b:free": {"litellm_provider": "x", "mode": "chat", "input_cost_per_token": 0,
      "output_cost_per_token": 0}})",
                                  "list.json", catalogue());
  ASSERT_TRUE(list) << list.error().text();
  ASSERT_EQ(list->offers.size(), 1U);
  EXPECT_EQ(list->offers[0].model, "llama3.1-8b");
  EXPECT_NEAR(list->offers[0].input_usd_per_million, 0.05, 1e-9) << "the cheaper of two";
  EXPECT_NEAR(*list->offers[0].cached_usd_per_million, 0.02, 1e-9);
  EXPECT_EQ(list->untied, 1);
  EXPECT_EQ(list->free_of_charge, 1);
  const std::vector<ApiChange> changes = api_changes(list->offers, {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].before, nullptr);
  EXPECT_TRUE(api_changes(list->offers, list->offers).empty()) << "nothing moved";
}

TEST(ApiList, OpenRouterWritesPricesAsTexts) {
  const auto list = read_api_list(ApiForm::openrouter, R"({"data": [{"id": "qwen/qwen3-32b", "context_length": 40960,
    "pricing": {"prompt": "0.0000001", "completion": "0.0000003"}, "top_provider": {"max_completion_tokens": 4096}}]})",
                                  "models.json", catalogue());
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(list->offers.at(0).id, "openrouter-qwen3-32b");
  EXPECT_NEAR(list->offers[0].output_usd_per_million, 0.3, 1e-9);
  EXPECT_EQ(*list->offers[0].longest_output, 4096);
}

TEST(ApiList, BrokenHostileAndForeignFilesAreRefusedWithTheirPlace) {
  const auto refusal = [](ApiForm form, std::string_view text) {
    const auto list = read_api_list(form, text, "f.json", catalogue());
    return list ? std::string("taken") : list.error().text();
  };
  EXPECT_NE(refusal(ApiForm::litellm, "{\"a\": {\"mode\": \"chat\",").find("f.json:1"), std::string::npos);
  EXPECT_NE(refusal(ApiForm::litellm, "[1, 2]").find("f.json"), std::string::npos);
  EXPECT_NE(refusal(ApiForm::litellm, R"({"llama-3.1-8b": {"litellm_provider": "p", "mode": "chat",
    "input_cost_per_token": 5, "output_cost_per_token": 1e-6}})")
                .find("f.json#/llama-3.1-8b/input_cost_per_token"),
            std::string::npos);
  EXPECT_NE(refusal(ApiForm::openrouter, "{}").find("/data"), std::string::npos);
  EXPECT_NE(refusal(ApiForm::openrouter, R"({"data": [{"id": "qwen/qwen3-32b", "pricing": {"prompt": "free"}}]})")
                .find("f.json#/data/0/pricing/prompt"),
            std::string::npos);
  EXPECT_NE(refusal(ApiForm::openrouter, R"({"data": []})").find("right kind of file"), std::string::npos);
}

}  // namespace
}  // namespace ridge
