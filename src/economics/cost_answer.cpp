#include "economics/cost_answer.hpp"

#include <cmath>
#include <utility>

namespace ridge {

Interval usd_interval(double usd, const Interval& rate, const std::optional<Interval>& rent) {
  const auto joint = [](double a, double b) { return std::exp(std::hypot(std::log(a), std::log(b))); };
  const bool estimated = rent && rent->low > 0;
  return {usd / joint(rate.high / rate.mid, estimated ? rent->mid / rent->low : 1), usd,
          usd * joint(rate.mid / rate.low, estimated ? rent->high / rent->mid : 1)};
}

CostAnswer answer_cost(std::string title, CostCase cost_case, const std::optional<Interval>& tokens_per_s,
                       bool training, double run_tokens) {
  CostAnswer answer;
  answer.title = std::move(title);
  answer.training = training;
  answer.run_tokens = run_tokens;
  if (tokens_per_s) cost_case.inputs.output_tokens_per_s = tokens_per_s->mid;
  answer.out = evaluate(cost_case.inputs);
  const bool by_time = cost_case.inputs.mode != CostMode::api;
  if (by_time && tokens_per_s && tokens_per_s->low > 0 && tokens_per_s->low < tokens_per_s->high) {
    answer.usd_per_million_tokens =
        usd_interval(answer.out.usd_per_million_tokens, *tokens_per_s, cost_case.estimated_rent);
  }
  if (run_tokens > 0) {
    answer.run_usd = run_tokens / 1e6 * answer.out.usd_per_million_tokens;
    answer.run_days = run_tokens / answer.out.tokens_per_month * 730 / 24;
    const SitePower& power = cost_case.inputs.power;
    answer.run_footprint = footprint(answer.out.joules_per_token * run_tokens, power.pue, cost_case.grid);
  }
  answer.cost_case = std::move(cost_case);
  return answer;
}

}  // namespace ridge
