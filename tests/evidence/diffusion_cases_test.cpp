#include "evidence/cases/diffusion_cases.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "evidence/cases/case_files.hpp"
#include "evidence/predict/predict.hpp"

namespace ridge::evidence {
namespace {

constexpr const char* kHeader =
    "id,source,date,engine,model,device,gpus,ulysses,ring,weight_precision,steps,width,height,batch,batch_latency_s,"
    "images_per_s,power_w,energy_per_image_j\n";

struct Answer {
  Case asked;
  std::vector<Prediction> predicted;
};

Answer ask(const std::string& row, Basis basis = Basis::calibrated) {
  const std::string data = RIDGE_DATA_DIR;
  const auto catalogue = Catalogue::load({.data_directory = data, .overlays = {}, .price_lists = {}});
  const auto engines = load_engines(data + "/engines");
  const auto calibration = load_calibration(data + "/calibration");
  const auto cases = read_cases(kHeader + row + "\n", "mine.csv", {});
  EXPECT_TRUE(catalogue && engines && calibration && cases);
  const Knowledge knowledge{*catalogue, *engines, *calibration};
  return {cases->front(), predict(cases->front(), knowledge, basis)};
}

TEST(DiffusionCases, PredictEveryTargetInTheUnitOfItsColumn) {
  const std::string row =
      "a,s,2026-02,diffusers/xdit,flux.1-dev,h100-sxm,2,2,1,bf16,50,1024,1024,4,27.7,0.144,1240,8600";
  const Answer a = ask(row);
  ASSERT_EQ(a.predicted.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(a.predicted[i].refusal.empty()) << a.predicted[i].refusal;
    EXPECT_NEAR(std::log(a.predicted[i].value.mid / a.asked.targets[i].measured), 0, std::log(1.5)) << i;
  }
  EXPECT_LT(ask(row, Basis::roofline).predicted[0].value.mid, a.predicted[0].value.mid);
}

TEST(DiffusionCases, LeaveTheSplitOpenWhereItIsNotPublished) {
  const Answer a = ask("a,s,2026-02,diffusers/xdit,flux.1-dev,h100-sxm,4,,,bf16,50,1024,1024,4,14,,,");
  ASSERT_EQ(a.predicted.size(), 1u);
  const Answer by_heads = ask("a,s,2026-02,diffusers/xdit,flux.1-dev,h100-sxm,4,4,1,bf16,50,1024,1024,4,14,,,");
  EXPECT_EQ(a.predicted[0].value.mid, by_heads.predicted[0].value.mid);
}

TEST(DiffusionCases, RefuseALanguageModel) {
  const Answer a = ask("a,s,2026-02,diffusers,llama3.1-8b,h100-sxm,1,1,1,bf16,50,1024,1024,4,14,,,");
  EXPECT_NE(a.predicted[0].refusal.find("language model"), std::string::npos) << a.predicted[0].refusal;
}

}  // namespace
}  // namespace ridge::evidence
