// Young (1974) and Daly (2006): the expected time of a run that checkpoints and fails.
#include <algorithm>
#include <cmath>

#include "economics/goodput/parts.hpp"
#include "ridge/economics/goodput.hpp"

namespace ridge {

namespace economics {

double interruptions_per_s(const GoodputInputs& in) noexcept {
  double per_gpu_hour = 0;
  for (const double rate : in.per_gpu_hour) per_gpu_hour += rate;
  return per_gpu_hour * in.gpus / 3600;
}

bool needs_spare(FailureCause cause) noexcept {
  return cause != FailureCause::software && cause != FailureCause::network;
}

double broken_gpus(const GoodputInputs& in, FailureCause cause) noexcept {
  return cause == FailureCause::scale_up ? std::max(in.domain_gpus, in.unit_gpus) : in.unit_gpus;
}

double daly_interval(double stall_s, double mtbf_s) noexcept {
  if (stall_s >= 2 * mtbf_s) return mtbf_s;
  const double x = std::sqrt(stall_s / (2 * mtbf_s));
  return std::sqrt(2 * stall_s * mtbf_s) * (1 + x / 3 + x * x / 9) - stall_s;
}

namespace {

/// P(N > most) of a Poisson count.
double poisson_above(double mean, double most) noexcept {
  if (most < 0) return 1;
  if (!(mean > 0)) return 0;
  if (mean > 400) return mean > most ? 1 : 0;
  double term = std::exp(-mean);
  double below = term;
  for (int n = 1; n <= static_cast<int>(most); ++n) {
    term *= mean / n;
    below += term;
    if (term < 1e-14 && n > mean) break;
  }
  return std::max(0.0, 1 - below);
}

/// Two sizes of failures take GPUs out of the spares: single units, and whole domains.
struct SpareLoad {
  double units_per_s = 0, domains_per_s = 0;
};

/// Seconds that a failure which takes `need` GPUs waits, if so many units and domains are under repair on average.
double wait_for(const GoodputInputs& in, double need, double units, double domains) noexcept {
  const double domain = std::max(in.domain_gpus, in.unit_gpus);
  const bool large = need > in.unit_gpus;
  double term = std::exp(-domains);
  double wait = 0;
  for (int n = 0; n < 200; ++n) {
    const double left = in.spare_gpus - need - domain * n;
    const double spare_units = std::floor(left / in.unit_gpus);
    const double short_of = poisson_above(units, spare_units);
    // All spares are under repair then; the first that is large enough is back after one repair time shared among them.
    const double helpful = in.spare_gpus < need ? 0 : large ? n : n + std::max(0.0, spare_units + 1);
    wait += term * short_of * in.repair_s / (helpful + 1);
    term *= domains / (n + 1);
    if (term < 1e-14 && n > domains) break;
  }
  return wait;
}

/// Seconds that an interruption waits for spares, on average over all causes.
double spare_wait(const GoodputInputs& in, double per_s) noexcept {
  if (in.repair_s <= 0) return 0;
  SpareLoad load;
  for (std::size_t i = 0; i < kFailureCauses; ++i) {
    const auto cause = static_cast<FailureCause>(i);
    if (!needs_spare(cause)) continue;
    const double rate = in.per_gpu_hour[i] * in.gpus / 3600;
    (broken_gpus(in, cause) > in.unit_gpus ? load.domains_per_s : load.units_per_s) += rate;
  }
  // Nothing fails while the job waits, so that fewer are under repair as the wait grows: halve towards the point where
  // both agree.
  double wait = 0;
  for (int i = 0; i < 30; ++i) {
    const double scale = in.repair_s / (1 + per_s * wait);
    const double units = load.units_per_s * scale;
    const double domains = load.domains_per_s * scale;
    double next = load.units_per_s * wait_for(in, in.unit_gpus, units, domains);
    if (load.domains_per_s > 0) {
      next += load.domains_per_s * wait_for(in, std::max(in.domain_gpus, in.unit_gpus), units, domains);
    }
    next /= per_s;
    if (std::abs(next - wait) < 1e-3) return next;
    wait = (wait + next) / 2;
  }
  return wait;
}

}  // namespace

double expected_segment(double interval_s, double stall_s, double down_s, double per_s) noexcept {
  if (per_s <= 0) return interval_s + stall_s;
  // Daly (2006), eq. 20, with failures during the restart: M e^(R/M) (e^((t+d)/M) - 1).
  return std::exp(down_s * per_s) * std::expm1((interval_s + stall_s) * per_s) / per_s;
}

}  // namespace economics

using namespace economics;

GoodputOutputs expected_goodput(const GoodputInputs& in) noexcept {
  GoodputOutputs out;
  const double per_s = interruptions_per_s(in);
  const double work = in.useful_s * (1 + in.straggler_share);
  const CheckpointCost& c = in.checkpoint;
  out.mtbf_s = per_s > 0 ? 1 / per_s : std::numeric_limits<double>::infinity();
  out.young_s = std::sqrt(2 * c.stall_s * out.mtbf_s);
  out.daly_s = per_s > 0 ? daly_interval(c.stall_s, out.mtbf_s) : out.mtbf_s;

  const double restart = in.detection_s + in.restart_s + c.load_s;
  const double wait = per_s > 0 ? spare_wait(in, per_s) : 0;
  // What is written after the stall is lost with what came after it.
  const double down = restart + c.lag_s;
  double interval = in.interval_s;
  if (interval <= 0) {
    interval = std::clamp(out.daly_s, std::max(c.shortest_interval_s, 1.0), std::max(work, 1.0));
  }
  interval = std::max(interval, c.shortest_interval_s);
  out.checkpoint_interval_s = interval;
  const double step = std::min(interval, work);
  const double working = work / step * expected_segment(step, c.stall_s, down, per_s);
  out.interruptions = working * per_s;
  out.time_to_train_s = working + out.interruptions * wait;
  out.goodput = in.useful_s / out.time_to_train_s;
  out.engineer_hours = out.interruptions * in.engineer_hours;

  const double gpu_hours = in.gpus / 3600;
  const double segments = work / interval;
  auto& lost = out.lost_gpu_hours;
  const auto at = [](LossKind kind) { return static_cast<std::size_t>(kind); };
  lost[at(LossKind::checkpoints)] = segments * c.stall_s * gpu_hours;
  lost[at(LossKind::stragglers)] = in.useful_s * in.straggler_share * gpu_hours;
  // A restart that fails is cut short: M (1 - e^(-R/M)) on average.
  const double restarting = per_s > 0 ? -std::expm1(-restart * per_s) / per_s : 0;
  lost[at(LossKind::restart)] = out.interruptions * restarting * gpu_hours;
  lost[at(LossKind::spares)] = out.interruptions * wait * gpu_hours;
  const double all = (out.time_to_train_s - in.useful_s) * gpu_hours;
  lost[at(LossKind::rework)] = std::max(0.0, all - lost[at(LossKind::checkpoints)] - lost[at(LossKind::stragglers)] -
                                                 lost[at(LossKind::restart)] - lost[at(LossKind::spares)]);
  lost[at(LossKind::idle_spares)] = in.spare_gpus * out.time_to_train_s / 3600;
  const double failed = lost[at(LossKind::rework)] + lost[at(LossKind::restart)] + lost[at(LossKind::spares)];
  if (per_s > 0) {
    for (std::size_t i = 0; i < kFailureCauses; ++i) {
      out.lost_by_cause[i] = failed * (in.per_gpu_hour[i] * in.gpus / 3600) / per_s;
    }
  }
  return out;
}

}  // namespace ridge
