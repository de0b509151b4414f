// --set: any figure of the catalogue changed for one run, under every check of the loader.
#include "ridge/catalogue/what_if.hpp"

#include <gtest/gtest.h>

namespace ridge {
namespace {

Result<Catalogue> load_with(const std::vector<std::string>& settings, const WhatIfSubjects& subjects) {
  auto texts = what_if(settings, subjects);
  if (!texts) return texts.error();
  auto loaded = Catalogue::load(
      {.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}, .texts = *std::move(texts)});
  if (!loaded) return what_if_error(loaded.error());
  return loaded;
}

const WhatIfSubjects kAbout{.devices = {"h200-sxm"}, .models = {"llama3.1-8b"}, .systems = {"dgx-h200"}};

TEST(WhatIf, ChangesTheFigureAndNothingElse) {
  const auto plain = load_with({}, kAbout);
  const auto changed = load_with({"device.memory.bandwidth=8TB/s"}, kAbout);
  ASSERT_TRUE(plain && changed) << changed.error().text();
  EXPECT_DOUBLE_EQ(changed->device("h200-sxm")->memory_bandwidth->value.value(), 8e12);
  EXPECT_EQ(changed->device("h200-sxm")->memory_capacity->value, plain->device("h200-sxm")->memory_capacity->value);
  EXPECT_EQ(changed->device("h200-nvl")->memory_bandwidth->value, plain->device("h200-nvl")->memory_bandwidth->value);
  EXPECT_EQ(changed->source(changed->device("h200-sxm")->memory_bandwidth->source).id, kOutsideSource);
  EXPECT_EQ(changed->devices().size(), plain->devices().size());
}

TEST(WhatIf, ShortNamesStandForPaths) {
  const auto changed = load_with({"device.hbm_bandwidth = 8 TB/s", "device.hbm_capacity=288GB", "device.tdp=900W",
                                  "device.fp8=1.5PFLOP/s", "device.scale_up_domain=72", "device.clock=1.9GHz"},
                                 kAbout);
  ASSERT_TRUE(changed) << changed.error().text();
  const Device& d = *changed->device("h200-sxm");
  EXPECT_DOUBLE_EQ(d.memory_bandwidth->value.value(), 8e12);
  EXPECT_DOUBLE_EQ(d.memory_capacity->value.value(), 288e9);
  EXPECT_DOUBLE_EQ(d.tdp->value.value(), 900);
  EXPECT_DOUBLE_EQ(d.peak(PeakFormat::fp8)->value.value(), 1.5e15);
  EXPECT_EQ(d.scale_up_domain->value, 72);
  EXPECT_DOUBLE_EQ(d.boost_clock->value.value(), 1.9e9);
}

TEST(WhatIf, TheLastOfTwoCounts) {
  const auto changed = load_with({"device.tdp=900W", "device.power.tdp=800W"}, kAbout);
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_DOUBLE_EQ(changed->device("h200-sxm")->tdp->value.value(), 800);
}

TEST(WhatIf, GoesToModelsSystemsAndEveryDeviceNamed) {
  const auto changed =
      load_with({"model.layers=64", "model.kv_heads=16", "system.nodes=1", "device.tdp=650W"},
                {.devices = {"h200-sxm", "h100-sxm/mig-3g.40gb"}, .models = {"llama3.1-8b"}, .systems = {"dgx-h200"}});
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_EQ(changed->model("llama3.1-8b")->layers(), 64);
  EXPECT_EQ(changed->model("llama3.1-8b")->groups[0].mixer.kv_heads, 16);
  EXPECT_DOUBLE_EQ(changed->device("h200-sxm")->tdp->value.value(), 650);
  EXPECT_DOUBLE_EQ(changed->device("h100-sxm")->tdp->value.value(), 650);
}

struct Refused {
  std::string setting;
  std::string message;
};

TEST(WhatIf, RefusesWithTheSettingAsThePlaceAndTheFix) {
  const std::vector<Refused> cases = {
      {"device.hbm_bandwith=8TB/s", "did you mean 'device.hbm_bandwidth'"},
      {"device.memory.bandwith=8TB/s", "unknown key 'bandwith' in [device.memory]; did you mean 'bandwidth'?"},
      {"device.hbm_bandwidth=8", "write its unit"},
      {"device.hbm_bandwidth=8GB/s", "implausible"},
      {"device.hbm_bandwidth=8W", "power"},
      {"device.bf16=1979TFLOP/s", "sparse"},
      {"device.hbm_bandwidth", "⟦set=device.hbm_bandwidth=8TB/s⟧"},
      {"device.hbm_bandwidth=", "the value is missing"},
      {"=8TB/s", "write what is to be changed"},
      {"gpu.memory=1TB", "device.KEY, model.KEY or system.KEY"},
      {"device.memory..bandwidth=8TB/s", "device.KEY"},
      {"device.name\n[[device]]=x", "device.KEY"},
      {"device.name=a\nb", "control characters"},
      {"model.layers=many", "whole number"},
  };
  for (const Refused& c : cases) {
    const auto loaded = load_with({c.setting}, kAbout);
    ASSERT_FALSE(loaded) << c.setting;
    EXPECT_EQ(loaded.error().where, "⟦set=" + c.setting + "⟧");
    EXPECT_NE(loaded.error().message.find(c.message), std::string::npos) << loaded.error().text();
    EXPECT_EQ(loaded.error().code, ErrorCode::bad_input);
  }
}

TEST(WhatIf, NeedsSomethingOfThatKindThatIsInTheCatalogue) {
  const auto nothing = what_if(std::vector<std::string>{"device.tdp=1kW"}, {});
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("name one by --device"), std::string::npos);
  const auto inline_model = what_if(std::vector<std::string>{"model.layers=8"}, {.models = {"dense:layers=2"}});
  ASSERT_FALSE(inline_model);
  EXPECT_NE(inline_model.error().message.find("where it is written"), std::string::npos);
}

TEST(WhatIf, ValuesCannotBreakOutOfTheirQuotes) {
  const auto changed = load_with({"device.architecture=x\"\n"}, kAbout);
  ASSERT_FALSE(changed);
  const auto quoted_text = load_with({R"(device.architecture=x" # \)"}, kAbout);
  ASSERT_FALSE(quoted_text);
  EXPECT_NE(quoted_text.error().message.find("there is no architecture"), std::string::npos)
      << quoted_text.error().text();
}

TEST(WhatIf, EveryKeyThatIsOfferedIsUnderstood) {
  for (const std::string& key : what_if_keys()) {
    EXPECT_TRUE(what_if(std::vector<std::string>{key + "=1"}, kAbout)) << key;
  }
}

}  // namespace
}  // namespace ridge
