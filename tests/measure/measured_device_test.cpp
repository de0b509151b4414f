#include <algorithm>
#include <cmath>

#include "bundled.hpp"
#include "evidence/measured/bundle.hpp"
#include "evidence/measured/device.hpp"
#include "evidence/measured/measurement.hpp"
#include "evidence/measured/steps.hpp"
#include "ridge/base/file.hpp"

namespace ridge::evidence {
namespace {

measure::Profile bundled_profile(const std::string& name) {
  const std::string path = std::string(RIDGE_DATA_DIR) + "/profiles/" + name;
  const auto text = read_file(path, 16u << 20);
  EXPECT_TRUE(text) << text.error().text();
  auto profile = read_measurement(*text, path);
  EXPECT_TRUE(profile) << profile.error().text();
  return *std::move(profile);
}

/// The catalogue in which the H200 is as measured, and the calibration that goes with it.
struct Measured {
  Catalogue catalogue;
  MeasuredFit fit;
};
Measured measured_as(const measure::Profile& profile) {
  const OverlayText overlay = measured_overlay(profile, *bundled_catalogue().device("h200-sxm"));
  auto catalogue =
      Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}, .texts = {overlay}});
  EXPECT_TRUE(catalogue) << catalogue.error().text();
  auto fit = fit_measured(profile, "h200-sxm", bundled_calibration(), *catalogue, bundled_engines());
  EXPECT_TRUE(fit) << fit.error().text();
  return {*std::move(catalogue), *std::move(fit)};
}
const Measured& measured_h200() {
  static const Measured measured = measured_as(bundled_profile("h200-sxm.toml"));
  return measured;
}

/// |predicted / measured - 1| of the bundled steps of Llama-3.1-8B, ascending.
std::vector<double> errors_of_llama(const Measured& measured) {
  const measure::Profile model = bundled_profile("h200-sxm-llama3.1-8b.toml");
  const Knowledge knowledge{measured.catalogue, bundled_engines(), measured.fit.calibration};
  std::vector<double> errors;
  for (const measure::ModelStep& step : model.steps) {
    const auto p = predict_step(step, model_of(step, model), "h200-sxm", knowledge);
    EXPECT_TRUE(p) << p.error().text();
    if (p) errors.push_back(std::abs(p->seconds / step.seconds - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

std::string like(const std::string& name, double gigabytes = 0, int cores = 0) {
  measure::Profile p;
  p.facts.name = name;
  p.facts.memory_bytes = gigabytes * 1e9;
  p.facts.multiprocessors = cores;
  const auto id = device_like(p, bundled_catalogue());
  return id ? *id : "none";
}

TEST(DeviceLike, NamesOfDriversAreDevicesOfTheCatalogue) {
  EXPECT_EQ(like("NVIDIA H200", 150.1, 132), "h200-sxm");
  EXPECT_EQ(like("NVIDIA H200 NVL", 150.1), "h200-nvl");
  EXPECT_EQ(like("NVIDIA H100 80GB HBM3", 85.0, 132), "h100-sxm");
  EXPECT_EQ(like("NVIDIA H100 PCIe", 85.0, 114), "h100-pcie");
  EXPECT_EQ(like("NVIDIA A100-SXM4-80GB", 85.0, 108), "a100-sxm-80");
  EXPECT_EQ(like("NVIDIA A100 80GB PCIe", 85.0, 108), "a100-pcie-80");
  EXPECT_EQ(like("NVIDIA A100-SXM4-40GB", 42.4, 108), "a100-sxm-40");
  EXPECT_EQ(like("NVIDIA GeForce RTX 4090", 25.4, 128), "rtx4090");
  EXPECT_EQ(like("NVIDIA L40S", 47.7, 142), "l40s");
  EXPECT_EQ(like("Radeon 9999"), "none");
}

TEST(DeviceLike, TheProfileMaySayItItself) {
  measure::Profile p;
  p.facts.name = "Something";
  p.like = "h100-sxm";
  EXPECT_EQ(*device_like(p, bundled_catalogue()), "h100-sxm");
  p.like = "h100-smx";
  EXPECT_FALSE(device_like(p, bundled_catalogue()));
}

// native.toml holds the inverse of what other files are fitted to: a new fit must take it along.
TEST(NativeEngine, HasNoneOfTheFactorsOfServers) {
  EXPECT_NEAR(bundled_calibration().value("serving.prefill", {"native"}), 1, 0.01);
  EXPECT_NEAR(bundled_calibration().value("serving.decode", {"native"}), 1, 0.01);
}

TEST(MeasuredDevice, NoOtherDeviceMoves) {
  const Measured& m = measured_h200();
  for (const std::string device : {"h100-sxm", "h200-nvl", "a100-sxm-80", "b200-sxm-180", "mi300x"}) {
    for (const std::string engine : {"vllm", "native"}) {
      InferenceQuery q;
      q.model = "llama3.1-8b";
      q.device = device;
      q.engine = engine;
      q.load = {.mode = LoadMode::fixed_batch, .isl = 1024, .osl = 128, .batch = 16};
      const auto before = resolve(q, {bundled_catalogue(), bundled_engines(), bundled_calibration()});
      const auto after = resolve(q, {m.catalogue, bundled_engines(), m.fit.calibration});
      ASSERT_TRUE(before && after);
      EXPECT_EQ(evaluate(*before->resolved, q.load).estimate.output_tokens_per_s.mid,
                evaluate(*after->resolved, q.load).estimate.output_tokens_per_s.mid)
          << device << " " << engine;
    }
  }
}

TEST(MeasuredDevice, WithoutPointsItIsAsItsArchitecture) {
  // A profile of a single copy, which no operator is made of, and one product that is exactly as predicted.
  KernelCase c;
  c.device = "h200-sxm";
  c.m = 4096, c.n = 4096, c.k = 4096;
  const double seconds = predict(c, bundled_catalogue(), bundled_calibration()).seconds;
  measure::Profile p;
  p.facts.name = "NVIDIA H200";
  p.points.push_back({.op = "gemm", .format = "bf16", .m = 4096, .n = 4096, .k = 4096, .seconds = seconds});
  const OverlayText overlay = measured_overlay(p, *bundled_catalogue().device("h200-sxm"));
  const auto catalogue =
      Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}, .texts = {overlay}});
  ASSERT_TRUE(catalogue) << catalogue.error().text();
  const auto fit = fit_measured(p, "h200-sxm", bundled_calibration(), *catalogue, bundled_engines());
  ASSERT_TRUE(fit) << fit.error().text();
  for (const double m : {1.0, 64.0, 16384.0}) {
    c.m = m;
    EXPECT_NEAR(predict(c, *catalogue, fit->calibration).seconds /
                    predict(c, bundled_catalogue(), bundled_calibration()).seconds,
                1, 1e-6);
  }
}

TEST(MeasuredDevice, ASlowerDeviceIsPredictedSlower) {
  // Every product takes twice as long as predicted: after the fit most of the factor is there.
  measure::Profile p;
  p.facts.name = "NVIDIA H200";
  std::vector<KernelCase> cases;
  for (const double m : {1.0, 16.0, 256.0, 1024.0, 4096.0, 16384.0}) {
    for (const double n : {4096.0, 8192.0, 28672.0}) {
      KernelCase c;
      c.device = "h200-sxm";
      c.m = m, c.n = n, c.k = 4096;
      cases.push_back(c);
      const double seconds = 2 * predict(c, bundled_catalogue(), bundled_calibration()).seconds;
      p.points.push_back({.op = "gemm", .format = "bf16", .m = m, .n = n, .k = 4096, .seconds = seconds});
    }
  }
  const OverlayText overlay = measured_overlay(p, *bundled_catalogue().device("h200-sxm"));
  const auto catalogue =
      Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}, .texts = {overlay}});
  ASSERT_TRUE(catalogue);
  const auto fit = fit_measured(p, "h200-sxm", bundled_calibration(), *catalogue, bundled_engines());
  ASSERT_TRUE(fit);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_NEAR(predict(cases[i], *catalogue, fit->calibration).seconds / p.points[i].seconds, 1, 0.08) << i;
  }
}

TEST(MeasuredDevice, TheOverlayReadsAsACalibration) {
  const Measured& m = measured_h200();
  const std::string path = testing::TempDir() + "ridge_measured_overlay.toml";
  ASSERT_TRUE(write_file_atomically(path, measured_parameters_toml(m.fit, bundled_profile("h200-sxm.toml"))));
  const std::string overlays[] = {path};
  const auto calibration = load_calibration(RIDGE_DATA_DIR "/calibration", overlays);
  ASSERT_TRUE(calibration) << calibration.error().text();
  EXPECT_NEAR(calibration->value("gemm.memory", {"hopper"}),
              m.fit.calibration.value("gemm.memory", {"hopper-measured"}), 1e-4);
}

// The bar of the measured profile. Its steps are of another model, but its products and heads are also those of Llama:
// the second test leaves those points out.
TEST(MeasuredDevice, StepsOfLlamaAreWithinFivePercentInTheMedianAndTwelveAtWorst) {
  const std::vector<double> errors = errors_of_llama(measured_h200());
  ASSERT_GE(errors.size(), 70u);
  EXPECT_LE(errors[errors.size() / 2], 0.05);
  EXPECT_LE(errors.back(), 0.12);
}

// What the page of accuracy prints is what the fit and the steps say: the last line is of all steps.
TEST(MeasuredFindings, AreOfTheBundledProfileAndItsModel) {
  const Knowledge knowledge{bundled_catalogue(), bundled_engines(), bundled_calibration()};
  const auto found = measured_findings(RIDGE_DATA_DIR, knowledge);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 1u);
  const MeasuredFinding& h200 = found->front();
  EXPECT_EQ(h200.device, "h200-sxm");
  EXPECT_EQ(h200.models, std::vector<std::string>{"llama3.1-8b"});
  ASSERT_EQ(h200.steps.size(), 5u);
  const std::vector<double> errors = errors_of_llama(measured_h200());
  EXPECT_EQ(h200.steps.back().points, static_cast<int>(errors.size()));
  EXPECT_NEAR(h200.steps.back().worst_after, errors.back(), 1e-9);
  EXPECT_LT(h200.steps.back().median_after, h200.steps.back().median_before / 2);
  EXPECT_EQ(h200.points.size(), measured_h200().fit.gains.size());
}

TEST(MeasuredFindings, AFolderWithoutProfilesIsRefused) {
  const Knowledge knowledge{bundled_catalogue(), bundled_engines(), bundled_calibration()};
  EXPECT_FALSE(measured_findings("no/such/folder", knowledge));
}

TEST(MeasuredDevice, StepsOfLlamaAreAsCloseWithoutPointsOfItsMatricesAndHeads) {
  measure::Profile profile = bundled_profile("h200-sxm.toml");
  const std::size_t all = profile.points.size();
  std::erase_if(profile.points, [](const measure::Point& p) {
    const bool matrix = (p.k == 4096 && (p.n == 6144 || p.n == 4096 || p.n == 28672)) || (p.k == 14336 && p.n == 4096);
    return (p.op == "gemm" && matrix) || (p.q_heads == 32 && p.kv_heads == 8);
  });
  ASSERT_LT(profile.points.size(), all - 100);
  const std::vector<double> errors = errors_of_llama(measured_as(profile));
  ASSERT_GE(errors.size(), 70u);
  EXPECT_LE(errors[errors.size() / 2], 0.05);
  EXPECT_LE(errors.back(), 0.12);
}

// A prefill of B sequences in p passes is p times one of B / p.
TEST(MeasuredSteps, PassesAddUp) {
  const Knowledge knowledge{bundled_catalogue(), bundled_engines(), bundled_calibration()};
  measure::ModelStep step;
  step.phase = "prefill";
  step.precision = "bf16";
  step.batch = 16;
  step.context = 2048;
  const auto one = predict_step(step, "llama3.1-8b", "h200-sxm", knowledge);
  step.batch = 64;
  step.passes = 4;
  const auto four = predict_step(step, "llama3.1-8b", "h200-sxm", knowledge);
  ASSERT_TRUE(one && four);
  EXPECT_NEAR(four->seconds, 4 * one->seconds, 1e-9 * four->seconds);
  ASSERT_EQ(four->operators.size(), one->operators.size());
  EXPECT_NEAR(four->operators[0].seconds, 4 * one->operators[0].seconds, 1e-9 * four->operators[0].seconds);
}

}  // namespace
}  // namespace ridge::evidence
