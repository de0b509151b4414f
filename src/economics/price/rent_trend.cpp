#include "economics/price/rent_trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/catalogue/engine.hpp"

namespace ridge {

namespace {

constexpr int kYear = 12;  // months

std::string month_text(int month) {
  return fmt::format("{:04}-{:02}", month / kYear, month % kYear + 1);
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace

RentTrend rent_trend(const std::vector<RentHistory>& histories, std::string_view as_of) {
  const int until = as_of.empty() ? 1 << 20 : static_cast<int>(std::floor(kYear * year_of(as_of)));
  RentTrend trend;
  std::vector<double> changes;
  int first = 1 << 20;
  int last = 0;
  for (const RentHistory& history : histories) {
    const std::size_t before = changes.size();
    for (const auto& [month, usd] : history.quotes) {
      if (month > until) continue;
      const auto earlier = std::find_if(history.quotes.begin(), history.quotes.end(),
                                        [&, at = month](const auto& quote) { return quote.first == at - kYear; });
      if (earlier == history.quotes.end()) continue;
      changes.push_back(usd / earlier->second - 1);
      first = std::min(first, earlier->first);
      last = std::max(last, month);
    }
    trend.series += changes.size() > before ? 1 : 0;
  }
  if (changes.empty()) return trend;
  std::sort(changes.begin(), changes.end());
  trend.low = quantile(changes, 0.1);
  trend.mid = quantile(changes, 0.5);
  trend.high = quantile(changes, 0.9);
  trend.pairs = static_cast<int>(changes.size());
  trend.first = month_text(first);
  trend.last = month_text(last);
  return trend;
}

}  // namespace ridge
