// What the dollars of the first plan depend on, and what would make another the first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/text.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::search {

namespace {

constexpr double kFactor = 2;         ///< half and twice, of load and traffic
constexpr double kPriceFactor = 1.2;  ///< of a price without quotes that differ
constexpr std::size_t kRivals = 2;
constexpr double kFarOff = 0.5;  ///< a price that would have to fall by more is no news

double swing(const Sensitivity& s) {
  return std::abs(std::log(s.usd_at_more / s.usd_at_less));
}

}  // namespace

void add_sensitivity(const ServingQuest& quest, ServingVerdict& verdict, const Knowledge& knowledge) {
  if (verdict.plans.empty() || quest.goal.request_rate <= 0) return;
  const ServingPlan& best = verdict.plans.front();
  if (!best.usd_per_million || !(best.usd_per_million->mid > 0) || !best.usd_per_gpu_hour || !best.usd_per_hour) return;
  const double now = best.usd_per_million->mid;
  const double rent = *best.usd_per_gpu_hour;
  const auto add = [&](const std::string& what, double less, double more, std::string at_less, std::string at_more) {
    if (!std::isfinite(less) || !std::isfinite(more) || !(less > 0) || !(more > 0)) return;
    verdict.sensitivity.push_back({what, less, more, std::move(at_less), std::move(at_more)});
  };

  const bool spread = best.quote && best.quote->low > 0 && best.quote->high > best.quote->low;
  const double low = spread ? best.quote->low : rent / kPriceFactor;
  const double high = spread ? best.quote->high : rent * kPriceFactor;
  add("price of an hour", now * low / rent, now * high / rent, format(Dollars(low)), format(Dollars(high)));

  // The same replicas at the same load: what whole replicas cost.
  const auto at_rate = [&](double times) {
    const double replicas = std::ceil((best.replicas - best.spares) * times * (1 - 1e-9)) + best.spares;
    return now * replicas / (best.replicas * times);
  };
  const double rate = quest.goal.request_rate;
  add("requests a second", at_rate(1 / kFactor), at_rate(kFactor), format_number(rate / kFactor),
      format_number(rate * kFactor));

  const double tpot = quest.goal.tpot_s;
  const double base = best_cost(quest, best.query, best.query.load, tpot, rent, knowledge);
  const auto tokens = [&](const char* what, double InferenceLoad::*length) {
    const auto at = [&](double times) {
      InferenceLoad load = best.query.load;
      load.*length = std::max(1.0, load.*length * times);
      ServingQuest changed = quest;
      changed.goal.osl = load.osl;
      return now * best_cost(changed, best.query, load, tpot, rent, knowledge) / base;
    };
    add(what, at(1 / kFactor), at(kFactor), format_number(best.query.load.*length / kFactor, 7) + " tokens",
        format_number(best.query.load.*length * kFactor, 7) + " tokens");
  };
  if (std::isfinite(base) && base > 0) {
    tokens("length of prompts", &InferenceLoad::isl);
    tokens("length of answers", &InferenceLoad::osl);
  }
  std::stable_sort(verdict.sensitivity.begin(), verdict.sensitivity.end(),
                   [](const Sensitivity& a, const Sensitivity& b) { return swing(a) > swing(b); });

  if (quest.goal.objective != Objective::cost) return;
  for (std::size_t i = 1; i < std::min(verdict.plans.size(), kRivals + 1); ++i) {
    const ServingPlan& rival = verdict.plans[i];
    if (!rival.usd_per_hour || !rival.usd_per_gpu_hour || !(*rival.usd_per_hour > 0)) continue;
    const double times = *best.usd_per_hour / *rival.usd_per_hour;
    if (times < 1 - kFarOff) continue;
    verdict.would_change.push_back(fmt::format("{} would be first below {} an hour ({} now)", rival.query.device,
                                               format(Dollars(*rival.usd_per_gpu_hour * times)),
                                               format(Dollars(*rival.usd_per_gpu_hour))));
  }
  if (verdict.plans.size() > 1 && verdict.plans[1].usd_per_hour) {
    const double times = *verdict.plans[1].usd_per_hour / *best.usd_per_hour;
    verdict.would_change.push_back(fmt::format("{} stays first up to {} an hour ({} now)", best.query.device,
                                               format(Dollars(rent * times)), format(Dollars(rent))));
  }
  if (best.sure.gpus_if_measured && *best.sure.gpus_if_measured < best.gpus) {
    verdict.would_change.push_back(fmt::format("one run that confirms the prediction leaves {} of its {} devices",
                                               *best.sure.gpus_if_measured, best.gpus));
  }
}

}  // namespace ridge::search
