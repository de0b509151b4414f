#include "measure/choose.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::measure {
namespace {

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Choice choose(const std::vector<std::vector<double>>& rounds) {
  // A difference below the first is noise whatever the rounds say; above the second it never is.
  constexpr double kLeastNoise = 0.005, kMostNoise = 0.015;
  const std::size_t candidates = rounds.front().size();
  std::vector<double> typical;
  for (const std::vector<double>& round : rounds) typical.push_back(median(round));
  const double scale = median(typical);

  Choice choice;
  std::vector<double> deviation;
  for (std::size_t i = 0; i < candidates; ++i) {
    std::vector<double> times;
    for (std::size_t r = 0; r < rounds.size(); ++r) times.push_back(rounds[r][i] / typical[r] * scale);
    const double middle = median(times);
    for (double& time : times) time = std::abs(time - middle);
    choice.seconds.push_back(middle);
    deviation.push_back(median(times));
  }
  const auto fastest = std::min_element(choice.seconds.begin(), choice.seconds.end());
  const auto at = static_cast<std::size_t>(fastest - choice.seconds.begin());
  const auto as_fast = [&](std::size_t i) {
    const double noise = (deviation[i] + deviation[at]) / *fastest;
    return choice.seconds[i] <= *fastest * (1 + std::clamp(noise, kLeastNoise, kMostNoise));
  };
  while (!as_fast(choice.best)) ++choice.best;
  return choice;
}

}  // namespace ridge::measure
