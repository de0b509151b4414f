#include "evidence/fit/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ridge::evidence {
namespace {

Parameter parameter(const char* name, double prior, double spread) {
  Parameter p;
  p.name = name;
  p.value = p.prior = prior;
  p.spread = spread;
  p.low = prior / 100;
  p.high = prior * 100;
  p.group = "g";
  return p;
}

// Time = a x + b y with a = 2, b = 3 on six rows.
struct Line {
  std::vector<double> x = {1, 2, 3, 1, 5, 2};
  std::vector<double> y = {1, 1, 2, 4, 1, 7};
  std::vector<double> measured;
  Line() {
    for (std::size_t i = 0; i < x.size(); ++i) measured.push_back(2 * x[i] + 3 * y[i]);
  }
  [[nodiscard]] LogErrors errors() const {
    return [this](const Calibration& c, std::span<double> out) {
      for (std::size_t i = 0; i < x.size(); ++i)
        out[i] = std::log((c.value("a") * x[i] + c.value("b") * y[i]) / measured[i]);
    };
  }
};

const Calibration kStart({parameter("a", 1, 3), parameter("b", 1, 3)}, {});

TEST(Fit, FindsTheParametersBehindExactData) {
  const Line line;
  const FitResult r = fit(kStart, "g", line.x.size(), line.errors());
  EXPECT_NEAR(r.calibration.value("a"), 2, 0.02);
  EXPECT_NEAR(r.calibration.value("b"), 3, 0.02);
}

TEST(Fit, OneWildRowMovesLittle) {
  Line line;
  line.measured[2] *= 8;
  const FitResult r = fit(kStart, "g", line.x.size(), line.errors());
  EXPECT_NEAR(r.calibration.value("a"), 2, 0.15);
  EXPECT_NEAR(r.calibration.value("b"), 3, 0.15);
  EXPECT_NEAR(r.log_errors[2], -std::log(8.0), 0.1);
}

TEST(Fit, WithoutEvidenceAParameterStaysAtItsPrior) {
  const Calibration start({parameter("a", 1, 3), parameter("b", 1, 3), parameter("b@elsewhere", 1, 0.2)}, {});
  const Line line;
  const FitResult r = fit(start, "g", line.x.size(), line.errors());
  EXPECT_DOUBLE_EQ(r.calibration.value("b", {"elsewhere"}) / r.calibration.value("b"), 1);
}

// Leaving out the wild row from borrowed slopes arrives where a fit of its own does.
TEST(Fit, BorrowedSlopesLeadToTheSameOptimum) {
  Line line;
  line.measured[2] *= 1.15;
  line.measured[4] *= 0.95;
  FitOptions options;
  options.keep_jacobian = true;
  options.tolerance = 1e-9;
  const FitResult all = fit(kStart, "g", line.x.size(), line.errors(), options);
  ASSERT_EQ(all.jacobian.columns.size(), 2u);
  const std::vector<double> weights = {1, 1, 0, 1, 1, 1};
  options.weights = weights;
  const FitResult own = fit(kStart, "g", line.x.size(), line.errors(), options);
  options.near = &all.jacobian;
  const FitResult near = fit(all.calibration, "g", line.x.size(), line.errors(), options);
  EXPECT_GT(std::abs(all.calibration.value("a") - own.calibration.value("a")), 0.01);  // it matters
  EXPECT_NEAR(near.calibration.value("a"), own.calibration.value("a"), 2e-3);
  EXPECT_NEAR(near.calibration.value("b"), own.calibration.value("b"), 2e-3);
}

// b above 2 refuses the rows that need it; the fit must not hide there.
TEST(Fit, RefusingARowIsNoWayOut) {
  const Line line;
  const LogErrors errors = [&](const Calibration& c, std::span<double> out) {
    line.errors()(c, out);
    if (c.value("a") > 2.5) out[0] = out[1] = std::numeric_limits<double>::quiet_NaN();
  };
  const FitResult r = fit(kStart, "g", line.x.size(), errors);
  EXPECT_NEAR(r.calibration.value("a"), 2, 0.05);
}

}  // namespace
}  // namespace ridge::evidence
