#include "ridge/economics/goodput.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "economics/goodput/case.hpp"
#include "economics/goodput/parts.hpp"

namespace ridge {
namespace {

constexpr std::size_t at(FailureCause cause) {
  return static_cast<std::size_t>(cause);
}
constexpr std::size_t at(LossKind kind) {
  return static_cast<std::size_t>(kind);
}

/// A job of 1,000 GPUs that is interrupted every `mtbf_s`, with blocking checkpoints and spares enough.
GoodputInputs job(double mtbf_s, double stall_s, double restart_s) {
  GoodputInputs in;
  in.gpus = 1000;
  in.spare_gpus = 1e6;
  in.per_gpu_hour[at(FailureCause::gpu)] = 3600 / mtbf_s / in.gpus;
  in.restart_s = restart_s;
  in.repair_s = 3600;
  in.checkpoint = {.stall_s = stall_s, .lag_s = 0, .load_s = 0, .shortest_interval_s = 0};
  in.useful_s = 30 * 86400.0;
  return in;
}

// Mean and closed form: M e^(R/M) (e^((t+d)/M) - 1) for each t of work. 30 days at an MTBF of 2 to 12 h are 60 to 400
// failures in each of 2,000 runs: the mean is known to about 0.1 %.
TEST(Goodput, SimulationAgreesWithDaly) {
  for (const double mtbf : {2 * 3600.0, 12 * 3600.0}) {
    for (const double stall : {10.0, 300.0}) {
      for (const double restart : {60.0, 1800.0}) {
        const GoodputInputs in = job(mtbf, stall, restart);
        const GoodputOutputs closed = expected_goodput(in);
        const GoodputSample sample = simulate_goodput(in, 2000, 11);
        EXPECT_NEAR(sample.mean.goodput / closed.goodput, 1, 0.005) << mtbf << ' ' << stall << ' ' << restart;
        EXPECT_NEAR(sample.mean.interruptions / closed.interruptions, 1, 0.01);
        EXPECT_NEAR(sample.mean.time_to_train_s / closed.time_to_train_s, 1, 0.005);
      }
    }
  }
}

TEST(Goodput, SimulationAgreesWithDalyForAsynchronousWrites) {
  GoodputInputs in = job(6 * 3600, 5, 300);
  in.checkpoint.lag_s = 200;
  in.checkpoint.shortest_interval_s = 200;
  const GoodputSample sample = simulate_goodput(in, 2000, 3);
  EXPECT_NEAR(sample.mean.goodput / expected_goodput(in).goodput, 1, 0.01);
  GoodputInputs blocking = in;
  blocking.checkpoint.lag_s = 0;
  EXPECT_GT(simulate_goodput(blocking, 2000, 3).mean.goodput, sample.mean.goodput) << "what is not yet written is lost";
}

// d/dt of the expected time per work is zero at the optimum; Daly's is within a thousandth of the best goodput.
TEST(Goodput, DalyIntervalIsTheBest) {
  const GoodputInputs in = job(4 * 3600, 60, 300);
  const GoodputOutputs best = expected_goodput(in);
  EXPECT_NEAR(best.young_s, std::sqrt(2 * 60 * 4 * 3600.0), 1e-9);
  for (const double factor : {0.5, 0.8, 1.25, 2.0}) {
    GoodputInputs other = in;
    other.interval_s = best.checkpoint_interval_s * factor;
    EXPECT_LT(expected_goodput(other).goodput, best.goodput) << factor;
  }
  const IntervalCurve curve = sweep_interval(in, 13, 400, 5);
  EXPECT_LT(std::abs(std::log2(curve.best_s / best.young_s)), 1.01) << "within one step of the sweep's flat top";
}

TEST(Goodput, NothingFailsNothingIsLost) {
  GoodputInputs in = job(1e30, 0, 100);
  in.per_gpu_hour = {};
  in.interval_s = 3600;
  EXPECT_NEAR(expected_goodput(in).goodput, 1, 1e-9);
  EXPECT_NEAR(simulate_goodput(in, 3, 1).mean.goodput, 1, 1e-12);
  in.straggler_share = 0.05;
  EXPECT_NEAR(simulate_goodput(in, 3, 1).mean.goodput, 1 / 1.05, 1e-12);
}

// Lost GPU-hours add up: time to train = useful + all losses but idle spares.
TEST(Goodput, LossesAddUpToTheTime) {
  GoodputInputs in = job(3 * 3600, 40, 400);
  in.straggler_share = 0.02;
  in.spare_gpus = 16;
  in.repair_s = 86400;
  in.per_gpu_hour[at(FailureCause::software)] = in.per_gpu_hour[at(FailureCause::gpu)] / 4;
  for (const GoodputOutputs& out : {simulate_goodput(in, 200, 2).mean, expected_goodput(in)}) {
    double lost = std::accumulate(out.lost_gpu_hours.begin(), out.lost_gpu_hours.end(), 0.0);
    lost -= out.lost_gpu_hours[at(LossKind::idle_spares)];
    const double all = (out.time_to_train_s - in.useful_s) * in.gpus / 3600;
    EXPECT_NEAR(lost / all, 1, 1e-6);
    const double causes = std::accumulate(out.lost_by_cause.begin(), out.lost_by_cause.end(), 0.0);
    const double failed = out.lost_gpu_hours[at(LossKind::rework)] + out.lost_gpu_hours[at(LossKind::restart)] +
                          out.lost_gpu_hours[at(LossKind::spares)];
    EXPECT_NEAR(causes / failed, 1, 1e-6);
  }
}

TEST(Goodput, WithoutSparesEveryFailureWaitsForItsRepair) {
  GoodputInputs in = job(12 * 3600, 10, 100);
  in.spare_gpus = 0;
  in.repair_s = 4 * 3600;
  const GoodputSample sample = simulate_goodput(in, 500, 4);
  const double waited = sample.mean.lost_gpu_hours[at(LossKind::spares)] * 3600 / in.gpus;
  EXPECT_NEAR(waited / sample.mean.interruptions, in.repair_s, 1);
  EXPECT_NEAR(expected_goodput(in).goodput / sample.mean.goodput, 1, 0.02);
  in.spare_gpus = 16;
  EXPECT_NEAR(expected_goodput(in).goodput / simulate_goodput(in, 500, 4).mean.goodput, 1, 0.02);
}

// A rack that fails as one takes 72 GPUs out of the spares, a node 8.
TEST(Goodput, BlastRadiusEmptiesTheSpares) {
  GoodputInputs in = job(6 * 3600, 10, 100);
  in.per_gpu_hour[at(FailureCause::scale_up)] = in.per_gpu_hour[at(FailureCause::gpu)];
  in.per_gpu_hour[at(FailureCause::gpu)] = 0;
  in.spare_gpus = 80;
  in.repair_s = 12 * 3600;
  in.domain_gpus = 8;
  const double node = simulate_goodput(in, 300, 9).mean.goodput;
  in.domain_gpus = 72;
  const double rack = simulate_goodput(in, 300, 9).mean.goodput;
  EXPECT_GT(node, rack + 0.1);
  EXPECT_NEAR(expected_goodput(in).goodput, rack, 0.05) << "approximate where spares run out";
}

TEST(Goodput, JobThatFailsFasterThanItRestartsGivesUp) {
  GoodputInputs in = job(60, 10, 600);
  in.useful_s = 3600;
  const GoodputSample sample = simulate_goodput(in, 4, 1);
  EXPECT_TRUE(sample.gave_up);
  EXPECT_LT(sample.mean.goodput, 0.05);
}

TEST(Goodput, WhetherAHugeJobEndsIsKnownQuickly) {
  // A million devices that fail every 3 minutes: going on until 20 times the useful time is spent, or simulating all
  // trials of what ends only just, would take minutes.
  GoodputInputs in = job(180, 10, 300);
  in.useful_s = 30 * 86400;
  const auto start = std::chrono::steady_clock::now();
  const GoodputSample lasting = simulate_goodput(in, 200, 1);
  EXPECT_FALSE(lasting.gave_up);
  EXPECT_LT(lasting.trials, 50);
  EXPECT_GE(lasting.trials, 5);
  EXPECT_NEAR(lasting.mean.goodput, expected_goodput(in).goodput, 0.02 * lasting.mean.goodput);
  in.restart_s = 3600;
  const GoodputSample hopeless = simulate_goodput(in, 200, 1);
  EXPECT_TRUE(hopeless.gave_up);
  EXPECT_LE(hopeless.mean.goodput, 0.05);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Goodput, SameSeedSameAnswer) {
  const GoodputInputs in = job(6 * 3600, 20, 300);
  EXPECT_EQ(simulate_goodput(in, 20, 5).mean.time_to_train_s, simulate_goodput(in, 20, 5).mean.time_to_train_s);
  EXPECT_NE(simulate_goodput(in, 20, 5).mean.time_to_train_s, simulate_goodput(in, 20, 6).mean.time_to_train_s);
}

// 14 bytes for each of 405 billion parameters at 100 GB/s: 57 s. In the background, only the copy to the host stalls.
TEST(Checkpoint, StallFollowsTheSlowestLink) {
  CheckpointSetup setup{
      .strategy = CheckpointStrategy::sharded, .bytes = 14 * 405e9, .gpus = 16384, .storage_bytes_per_s = 100e9};
  EXPECT_NEAR(checkpoint_cost(setup).stall_s, 56.7, 0.1);
  setup.strategy = CheckpointStrategy::async;
  EXPECT_NEAR(checkpoint_cost(setup).stall_s, 14 * 405e9 / 16384 / 25e9, 1e-9);
  EXPECT_NEAR(checkpoint_cost(setup).lag_s, 56.7, 0.1);
  setup.strategy = CheckpointStrategy::full;
  EXPECT_NEAR(checkpoint_cost(setup).stall_s, 14 * 405e9 / 5e9, 1e-6);
  setup.strategy = CheckpointStrategy::in_memory;
  EXPECT_LT(checkpoint_cost(setup).lag_s, 0.1);
  setup.strategy = CheckpointStrategy::delta;
  EXPECT_NEAR(checkpoint_cost(setup).lag_s, 5.67, 0.01);
}

// The Llama 3 405B record, with the rates taken from it: 419 interruptions in 54 days, more than 90 % effective time.
// The count is Poisson: 419 +- 20. The rates of two other clusters bracket it.
TEST(Goodput, ReproducesTheLlama3Record) {
  const Catalogue catalogue = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  const EconomicsData data = *load_economics(std::string(RIDGE_DATA_DIR) + "/economics", catalogue);
  GoodputQuery q;
  q.gpus = 16384;
  q.parameters = 405.85e9;
  q.tier = "tectonic";
  q.calendar_s = 54 * 86400.0;
  const auto ask = [&](const char* record, const char* practice) {
    q.record = record;
    q.practice = practice;
    const Result<GoodputAnswer> a = answer_goodput(q, catalogue, data);
    if (!a) ADD_FAILURE() << a.error().text();
    return *a;
  };
  const GoodputAnswer llama = ask("llama3-405b", "automated");
  EXPECT_NEAR(llama.sample.mean.interruptions, 419, 4);
  EXPECT_LT(llama.sample.interruptions.low, 419);
  EXPECT_GT(llama.sample.interruptions.high, 419);
  EXPECT_NEAR(llama.sample.interruptions.high - llama.sample.interruptions.low, 2 * 1.645 * std::sqrt(419.0), 12);
  EXPECT_GT(llama.sample.goodput.low, 0.90);
  EXPECT_NEAR(llama.sample.mean.time_to_train_s / 86400, 54, 0.2);
  // Ten minutes of diagnosis for each interruption are about the published limit.
  EXPECT_GT(ask("llama3-405b", "diagnosed").sample.mean.goodput, 0.895);
  EXPECT_GT(ask("rsc-1", "automated").sample.mean.interruptions, 419);
  EXPECT_LT(ask("rsc-2", "automated").sample.mean.interruptions, 419);
}

TEST(Goodput, LengthOrSizeNobodySaidIsRefused) {
  const Catalogue catalogue = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  const EconomicsData data = *load_economics(std::string(RIDGE_DATA_DIR) + "/economics", catalogue);
  GoodputQuery q;
  q.gpus = 64;
  EXPECT_EQ(answer_goodput(q, catalogue, data).error().where, "⟦checkpoint_size⟧");
  q.parameters = 8e9;
  EXPECT_EQ(answer_goodput(q, catalogue, data).error().where, "⟦duration⟧");
  q.useful_s = -5;
  q.calendar_s = -5;
  EXPECT_FALSE(answer_goodput(q, catalogue, data).ok());
}

// Engineers, spares and lost hours are in what a useful token costs; without failures it is the plain price.
TEST(Goodput, UsefulTokensCarryTheLosses) {
  const Catalogue catalogue = *Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  const EconomicsData data = *load_economics(std::string(RIDGE_DATA_DIR) + "/economics", catalogue);
  GoodputQuery q;
  q.gpus = 16384;
  q.parameters = 405.85e9;
  q.useful_s = 54 * 86400.0;
  q.tokens = 1e12;
  q.usd_per_gpu_hour = 2;
  const GoodputAnswer a = *answer_goodput(q, catalogue, data);
  EXPECT_NEAR(a.usd_per_million_tokens, 2.0 * 16384 * 54 * 24 / 1e6, 1e-6);
  EXPECT_GT(a.usd_per_million_useful_tokens, a.usd_per_million_tokens / a.sample.mean.goodput);
  EXPECT_NEAR(a.run_usd - a.lost_usd, 2.0 * 16384 * 54 * 24, 1);
}

TEST(Goodput, RefusesWhatCannotBe) {
  GoodputInputs in = job(3600, 10, 100);
  EXPECT_TRUE(check(in).ok());
  in.gpus = 0;
  EXPECT_EQ(check(in).error().where, "⟦gpus⟧");
  in = job(3600, 10, 100);
  in.restart_s = std::nan("");
  EXPECT_EQ(check(in).error().where, "⟦restart⟧");
  in = job(3600, 10, 100);
  in.per_gpu_hour[0] = -1e-6;
  EXPECT_EQ(check(in).error().where, "⟦rate⟧");
  EXPECT_EQ(parse_checkpoint_strategy("asinc").error().message,
            "'asinc' is no way to checkpoint; did you mean 'async'?");
}

}  // namespace
}  // namespace ridge
