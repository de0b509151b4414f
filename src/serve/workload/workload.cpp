#include "ridge/serve/workload.hpp"

#include <algorithm>
#include <cmath>

namespace ridge {

std::uint32_t LengthDistribution::draw(Random& random) const noexcept {
  double value = mean;
  switch (kind) {
    case LengthKind::fixed:
      break;
    case LengthKind::uniform:
      // Whole numbers from low to high, each as likely.
      value = std::floor(low + random.uniform() * (std::floor(high) - std::ceil(low) + 1));
      break;
    case LengthKind::exponential:
      value = mean * random.exponential();
      break;
    case LengthKind::lognormal: {
      const double variance = std::log1p(cv * cv);
      value = std::exp(std::log(mean) - 0.5 * variance + std::sqrt(variance) * random.normal());
      break;
    }
    case LengthKind::empirical: {
      const double at = random.uniform() * static_cast<double>(quantiles.size() - 1);
      const auto below = static_cast<std::size_t>(at);
      const double next = quantiles[std::min(below + 1, quantiles.size() - 1)];
      value = quantiles[below] + (at - static_cast<double>(below)) * (next - quantiles[below]);
      break;
    }
  }
  return static_cast<std::uint32_t>(std::clamp(std::round(value), std::max(low, 1.0), high));
}

double LengthDistribution::expected() const noexcept {
  if (kind == LengthKind::uniform) return 0.5 * (low + high);
  if (kind != LengthKind::empirical) return mean;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < quantiles.size(); ++i) sum += 0.5 * (quantiles[i] + quantiles[i + 1]);
  return quantiles.size() > 1 ? sum / static_cast<double>(quantiles.size() - 1) : quantiles.front();
}

namespace {

template <class Read>
double mixture(const Workload& w, const Read& read) {
  double sum = 0;
  double shares = 0;
  for (const RequestClass& c : w.classes) {
    sum += c.share * read(c);
    shares += c.share;
  }
  return shares > 0 ? sum / shares : 0;
}

}  // namespace

double Workload::mean_turns() const noexcept {
  return trace ? 1 : mixture(*this, [](const RequestClass& c) { return c.turns.expected(); });
}

double Workload::mean_output() const noexcept {
  if (!trace) return mixture(*this, [](const RequestClass& c) { return c.output.expected(); });
  double sum = 0;
  for (const Trace::Request& r : trace->requests) sum += r.output;
  return sum / static_cast<double>(std::max<std::size_t>(1, trace->requests.size()));
}

double Workload::mean_input() const noexcept {
  if (!trace) {
    return mixture(*this, [](const RequestClass& c) {
      // Turn i of t begins with the i - 1 before it.
      const double before = 0.5 * (c.turns.expected() - 1) * (c.input.expected() + c.output.expected());
      return c.input.expected() + before;
    });
  }
  double sum = 0;
  for (const Trace::Request& r : trace->requests) sum += r.input;
  return sum / static_cast<double>(std::max<std::size_t>(1, trace->requests.size()));
}

Workload fixed_workload(double input, double output) {
  Workload w;
  w.id = "fixed";
  w.name = "fixed lengths";
  RequestClass c;
  c.name = "all";
  c.input.mean = input;
  c.output.mean = output;
  w.classes.push_back(std::move(c));
  return w;
}

}  // namespace ridge
