// Verbs that answer the same question give the same number: a plan that was saved is, to the digit, what `plan`
// printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "app/cli/call/call.hpp"
#include "catalogue/files/json_document.hpp"
#include "report/estimate/inference_report.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/random.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

using testing_support::here;
using testing_support::shared;
using testing_support::typed;

/// What the line prints as JSON; null if it is refused.
JsonNode answer(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line + " --json");
  for (std::string word; in >> word;) words.push_back(word);
  const auto said = typed(words);
  EXPECT_TRUE(said) << line << ": " << said.error().text();
  if (!said) return {};
  const auto read = parse_json(said->json, line);
  EXPECT_TRUE(read);
  return read ? *read : JsonNode{};
}

const JsonNode& at(const JsonNode& node, std::string_view path) {
  static const JsonNode kNone;
  const JsonNode* here_node = &node;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    here_node = here_node->find(path.substr(0, dot));
    if (here_node == nullptr) {
      ADD_FAILURE() << "there is no " << path;
      return kNone;
    }
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *here_node;
}

double number(const JsonNode& node, std::string_view path) {
  return at(node, path).number;
}

/// Equal but for the order in which the same factors were multiplied.
void expect_same(double a, double b, std::string_view what) {
  EXPECT_NEAR(a, b, 1e-9 * std::max(std::abs(a), std::abs(b))) << what;
  EXPECT_GT(std::abs(a), 0) << what;
}

class SavedPlan : public testing::Test {
 protected:
  /// The first plan that `line` finds; its file is first().
  JsonNode plan(const std::string& line) {
    plan_ = answer("plan " + line + " --save=" + folder_);
    const JsonNode& plans = at(plan_, "plans");
    return plans.items.empty() ? JsonNode{} : plans.items.front();
  }
  [[nodiscard]] std::string first() const { return " --plan=" + folder_ + "/1.toml"; }
  [[nodiscard]] const JsonNode& all() const { return plan_; }
  ~SavedPlan() override { std::filesystem::remove_all(folder_); }

  /// Dollars, seconds and watts of a plan to serve with, by whichever verb.
  /// Gives the plan; nothing is compared where no plan meets the goal.
  JsonNode expect_agreement(const std::string& line, const std::string& way = "rent") {
    const JsonNode planned = plan("serve " + line);
    if (planned.find("gpus") == nullptr) return planned;
    const JsonNode estimate = answer("estimate infer" + first());
    const JsonNode cost = answer("cost " + way + first());
    for (const char* time : {"ttft_s.mid", "tpot_s.mid", "e2e_s.mid", "e2e_s.high"}) {
      expect_same(number(planned, time), number(estimate, time), time);
    }
    expect_same(number(planned, "power_w.mid"), number(estimate, "power_w.mid"), "power");
    const double osl = number(all(), "goal.output_tokens");
    expect_same(number(planned, "requests_per_replica_per_s") * number(planned, "replicas"),
                number(estimate, "output_tokens_per_s.mid") / osl, "requests per second at full load");
    for (const char* end : {"low", "mid", "high"}) {
      expect_same(number(planned, std::string("usd_per_million_output_tokens.") + end),
                  number(cost, std::string("usd_per_million_tokens_predicted.") + end), line + " $/1M");
    }
    expect_same(number(planned, "usd_per_hour"), number(cost, "usd_per_month") / 730, line + " $/h");
    if (way == "rent" && line.find("spot") == std::string::npos) {
      expect_same(number(planned, "usd_per_million_output_tokens.mid") / 1e6 * 3600 *
                      number(planned, "request_rate_per_s") * osl,
                  number(planned, "usd_per_hour"), "$/token times tokens an hour");
    }
    return planned;
  }

  std::string folder_ = [] {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    return testing::TempDir() + "agreement_" + name;
  }();
  JsonNode plan_;
};

constexpr const char* kChat =
    "--model=llama3.3-70b --request-rate=50 --isl=1000 --osl=250 --ttft=1s --tpot=40ms --devices=h200-sxm";

/// The chat at another rate: fleets of more than a dozen replicas are simulated by the dozen.
std::string at_rate(const std::string& rate) {
  std::string chat = kChat;
  return chat.replace(chat.find("=50"), 3, "=" + rate);
}

TEST_F(SavedPlan, CostsWhatThePlanSaid) {
  EXPECT_NE(expect_agreement(kChat).find("gpus"), nullptr);
  expect_agreement(kChat + std::string(" --load=0.5"));
  expect_agreement("--model=llama3.1-8b --gpus=8 --devices=h100-sxm --isl=1000 --osl=250");
}

TEST_F(SavedPlan, KeepsHowCapacityIsHad) {
  expect_agreement(kChat + std::string(" --own"), "own");
  expect_agreement(kChat + std::string(" --purchase=spot"));
  expect_agreement(kChat + std::string(" --purchase=reserved"));
  expect_agreement(kChat + std::string(" --region=Prime"));
  expect_agreement(kChat + std::string(" --as-of=2025-12"));
  expect_agreement("--model=llama3.1-8b --request-rate=2 --devices=h100-sxm/mig-3g.40gb");
}

TEST_F(SavedPlan, KeepsWhatChangesTheWork) {
  expect_agreement(kChat + std::string(" --prefix-hit=0.5"));
  // Weights in 8 bits, products in 16: the device does not compute in FP8.
  expect_agreement("--model=llama3.1-8b --request-rate=5 --devices=a100-sxm-80 --precision=fp8");
}

// The percentiles are those of the same requests at the same times.
TEST_F(SavedPlan, IsSimulatedAsItWasConfirmed) {
  for (const char* line : {"", " --prefix-hit=0.5"}) {
    const JsonNode planned = plan("serve " + at_rate("30") + line);
    const JsonNode simulated = answer("simulate" + first());
    expect_same(number(planned, "ttft_p95_s"), number(simulated, "ttft_s.p95.mid"), "TTFT");
    expect_same(number(planned, "tpot_p95_s"), number(simulated, "tpot_s.p95.mid"), "TPOT");
  }
}

// Both pools are in the file, whole: whoever reads it sees the devices, layouts, counts and link of the plan, and
// the same percentiles and dollars.
TEST_F(SavedPlan, OfPoolsIsReadBackWhole) {
  for (const char* line :
       {"--model=deepseek-r1 --devices=gb200-nvl72 --request-rate=150 --isl=2000 --osl=1000 --ttft=3s --tpot=30ms",
        "--model=qwen3-235b-a22b --devices=h200-sxm --request-rate=40 --isl=3000 --osl=300 --ttft=2s --tpot=40ms",
        "--model=deepseek-r1 --devices=gb200-nvl72 --request-rate=150 --isl=2000 --osl=1000 --ttft=3s --tpot=30ms "
        "--ep=72"}) {
    SCOPED_TRACE(line);
    plan(std::string("serve --disaggregate ") + line);
    ASSERT_FALSE(at(all(), "alternatives").items.empty());
    const JsonNode& pair = at(all(), "alternatives").items.front();
    const std::string saved = " --plan=" + folder_ + "/pools-1.toml";
    const JsonNode estimate = answer("estimate infer" + saved);
    for (const std::string pool : {"prefill", "decode"}) {
      const JsonNode& planned = at(pair, "pools." + pool);
      const JsonNode& read = at(estimate, pool);
      EXPECT_EQ(at(planned, "device").text, at(read, "device").text);
      EXPECT_EQ(number(planned, "gpus_per_engine"), number(read, "gpus"));
      EXPECT_EQ(at(planned, "weights").text, at(read, "weight_precision").text);
      EXPECT_EQ(at(planned, "kv").text, at(read, "kv_precision").text);
      for (const char* degree : {"tp", "pp", "dp", "ep", "redundant_experts"}) {
        EXPECT_EQ(number(planned, degree), number(read, degree)) << pool << ' ' << degree;
      }
      EXPECT_EQ(number(planned, "engines"), number(estimate, pool + "_engines"));
    }
    EXPECT_EQ(number(pair, "pools.kv_link_bytes_per_s"), number(estimate, "kv_link_bytes_per_s"));
    const JsonNode played = answer("simulate" + saved);
    expect_same(number(pair, "pools.ttft_p95_s"), number(played, "ttft_s.p95.mid"), "TTFT");
    expect_same(number(pair, "pools.tpot_p95_s"), number(played, "tpot_s.p95.mid"), "TPOT");
    const JsonNode cost = answer("cost rent" + saved);
    expect_same(number(pair, "usd_per_hour"), number(cost, "usd_per_month") / 730, "$/h");
    expect_same(number(pair, "usd_per_million_output_tokens"), number(cost, "usd_per_million_tokens"), "$/1M");
    const std::string script = at(answer("emit --for=slurm" + saved), "text").text;
    EXPECT_NE(script.find("prefill"), std::string::npos);
  }
}

/// A question to `plan serve` of a kind that people ask; the same for the same draws.
std::string random_question(Random& draws) {
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return words.begin()[draws.below(words.size())];
  };
  std::string line = fmt::format(
      "--model={} --devices={} --request-rate={} --isl={} --osl={} --confidence={}%",
      one_of({"llama3.1-8b", "qwen3-8b", "llama3.2-3b", "qwen3-30b-a3b", "gpt-oss-20b", "llama3.3-70b"}),
      one_of({"h100-sxm", "h200-sxm", "b200-sxm-180", "mi300x", "l40s", "a100-sxm-80", "rtx4090", "gb300-nvl72"}),
      0.5 * static_cast<double>(1 + draws.below(60)), 64 * (1 + draws.below(40)), 16 * (1 + draws.below(40)),
      50 + 10 * draws.below(4));
  if (draws.below(2) == 0) line += fmt::format(" --ttft={}ms", 500 * (1 + draws.below(10)));
  if (draws.below(2) == 0) line += fmt::format(" --tpot={}ms", 20 * (1 + draws.below(5)));
  if (draws.below(4) == 0) line += fmt::format(" --prefix-hit={}%", 10 * (1 + draws.below(8)));
  if (draws.below(4) == 0) line += fmt::format(" --load=0.{}", 3 + draws.below(6));
  if (draws.below(4) == 0) line += fmt::format(" --precision={}", one_of({"bf16", "fp8"}));
  if (draws.below(3) == 0) line += fmt::format(" --purchase={}", one_of({"reserved", "spot"}));
  return line;
}

/// Fifty questions by their number, asked of plan, estimate, cost, simulate and emit.
class RandomQuestions : public SavedPlan, public testing::WithParamInterface<int> {};

TEST_P(RandomQuestions, HaveOneAnswerWhoeverIsAsked) {
  constexpr int kQuestions = 50;
  constexpr double kSimulatedAsTheyAre = 12;  // larger fleets are simulated by the dozen
  int answered = 0;
  int simulated = 0;
  for (int i = 0; i < kQuestions; ++i) {
    Random draws(23, static_cast<std::uint64_t>(GetParam() * kQuestions + i));
    const std::string line = random_question(draws);
    SCOPED_TRACE(line);
    const JsonNode planned = expect_agreement(line);
    if (planned.find("gpus") == nullptr) continue;  // nothing meets it
    ++answered;
    // No single script starts a replica over several nodes; cards for one's desk come one to a node.
    const bool wide = number(planned, "gpus_per_replica") > (line.find("rtx4090") != std::string::npos ? 1 : 8);
    const JsonNode emitted = answer((wide ? "emit --for=slurm" : "emit --for=vllm") + first());
    if (!wide) {
      EXPECT_NE(at(emitted, "text").text.find(line.substr(8, line.find(' ') - 8)), std::string::npos);
    }
    if (number(planned, "replicas") > kSimulatedAsTheyAre) continue;
    const JsonNode played = answer("simulate" + first());
    expect_same(number(planned, "ttft_p95_s"), number(played, "ttft_s.p95.mid"), "TTFT");
    expect_same(number(planned, "tpot_p95_s"), number(played, "tpot_s.p95.mid"), "TPOT");
    ++simulated;
    if (HasFailure()) return;  // one question says enough
  }
  EXPECT_GT(answered, kQuestions / 3);
  EXPECT_GT(simulated, kQuestions / 4);
}
INSTANTIATE_TEST_SUITE_P(TwoHundred, RandomQuestions, testing::Range(0, 4));

TEST_F(SavedPlan, TakesAnotherLoadFromTheLine) {
  plan("serve " + std::string(kChat));
  const JsonNode clients = answer("cost rent --concurrency=100" + first());
  EXPECT_EQ(number(clients, "utilization"), 1) << "the plan's load is not that of 100 clients";
  EXPECT_GT(number(answer("simulate --workload=chat --requests=300" + first()), "ttft_s.p95.mid"), 0);
  EXPECT_GT(number(answer("simulate --find-rate --requests=300" + first()), "ttft_s.p95.mid"), 0);
}

// Replicas need not fill the last node.
TEST_F(SavedPlan, CanBeLaunched) {
  const JsonNode planned = plan("serve " + at_rate("40") + " --confidence=50%");
  ASSERT_NE(static_cast<int>(number(planned, "gpus")) % 4, 0) << "take another goal: its nodes are alike";
  EXPECT_NE(at(answer("emit --for=vllm" + first()), "text").text.find("ALL_REPLICAS="), std::string::npos);
}

TEST_F(SavedPlan, TrainsAsLongAndForAsMuchAsThePlanSaid) {
  const std::string run = "train --model=llama3.1-70b --tokens=15T --days=90 --devices=mi300x";
  for (const std::string line : {"", " --own", " --purchase=spot", " --goodput=0.9", " --task=lora",
                                 " --seq-length=131072 --global-batch=64 --confidence=50%"}) {
    const JsonNode planned = plan(run + line);
    const JsonNode estimate = answer("estimate train" + first());
    const JsonNode cost = answer((line == " --own" ? "cost own" : "cost rent") + first());
    expect_same(number(planned, "step_s.mid"), number(estimate, "step_time_s.mid"), line + " step");
    expect_same(number(planned, "power_w.mid"), number(estimate, "power_w.mid"), line + " power");
    expect_same(number(planned, "duration_days.mid"), number(cost, "run.time_s") / 86400, line + " days");
    expect_same(number(planned, "cost_usd.mid"), number(cost, "run.usd"), line + " dollars");
  }
}

/// The texts of "assumptions" that begin so.
std::vector<std::string> assumed(const JsonNode& node, std::string_view beginning) {
  std::vector<std::string> out;
  for (const JsonNode& one : at(node, "assumptions").items) {
    if (one.text.starts_with(beginning)) out.push_back(one.text);
  }
  return out;
}

// What nobody says of a training run is the same whoever is asked, and said.
TEST(TrainingDefaults, AreTheSameForEstimateAndPlan) {
  // A context below the usual sequence; numbers of devices that are no power of two; a micro-batch of three.
  for (const std::string run :
       {"--model=llama3.1-8b --gpus=64", "--model=gpt2-xl --gpus=8", "--model=llama3.1-8b --gpus=96",
        "--model=llama3.1-8b --gpus=100", "--model=llama3.1-8b --gpus=24 --micro-batch=3",
        "--model=llama3.1-8b --gpus=16 --seq-length=131072"}) {
    const JsonNode planned = answer("plan train --precision=bf16 --devices=h100-sxm " + run);
    const JsonNode estimated = answer("estimate train --precision=bf16 --device=h100-sxm " + run);
    ASSERT_FALSE(at(planned, "plans").items.empty()) << run;
    const JsonNode& best = at(planned, "plans").items.front();
    EXPECT_EQ(number(best, "global_batch"), number(estimated, "query.global_batch")) << run;
    EXPECT_EQ(number(best, "sequence_tokens"), number(estimated, "query.seq_length_tokens")) << run;
    EXPECT_EQ(at(best, "schedule").text == "interleaved", number(best, "vp") > 1) << run;
    for (const char* what : {"a batch of", "sequences of"}) {
      EXPECT_EQ(assumed(planned, what), assumed(estimated, what)) << run;
    }
    // The search knows more layouts than the estimate tries: it is never slower.
    EXPECT_GE(number(best, "tokens_per_s.mid") * (1 + 1e-9), number(estimated, "tokens_per_s.mid")) << run;
  }
}

TEST(TrainingDefaults, ALayoutWithoutChoiceGetsABatchItCanShareOut) {
  // 64 replicas, and 32 sequences would make four million tokens.
  const JsonNode fixed = answer(
      "estimate train --model=llama3.1-8b --device=b200-sxm-180 --gpus=64 --tp=1 --pp=1 --micro-batch=1 "
      "--seq-length=131072 --recompute=full --offload=1");
  EXPECT_EQ(number(fixed, "query.global_batch"), 64);
}

TEST(TrainingDefaults, AScheduleIsNamedAsItWasEvaluated) {
  const JsonNode e = answer("estimate train --model=llama3.1-70b --device=h100-sxm --gpus=64 --tp=4 --pp=4 --vp=5");
  EXPECT_EQ(at(e, "query.schedule").text, "interleaved");
  EXPECT_EQ(number(e, "vp"), 5);
}

// A board with fewer watts for its rate keeps less of its clock: less energy at the same speed would be a gift. That
// holds for the flagship of a design too, whose own figures tell what a product draws.
TEST(PowerLimits, OfTheUsersOwnLowerTheClock) {
  const std::string prompts = " --model=llama3.1-8b --isl=8000 --osl=2";
  const auto speed = [&](const std::string& device, const std::string& more) {
    return number(answer("estimate infer --device=" + device + prompts + more), "output_tokens_per_s.mid");
  };
  for (const std::string device : {"h100-sxm", "h100-pcie", "mi300x"}) {
    const double whole = speed(device, ""), half = speed(device, " --set=device.tdp=250W");
    EXPECT_LT(half, 0.95 * whole) << device;
    EXPECT_GT(half, 0.5 * whole) << device;
  }
  const auto watts = [](const std::string& more) {
    return number(answer("estimate infer --model=llama3.1-8b --device=h100-sxm" + more), "power_w.mid");
  };
  EXPECT_LE(watts(" --set=device.tdp=500W"), 500);

  const std::string file = testing::TempDir() + "agreement_tdp.toml";
  ASSERT_TRUE(write_file_atomically(file,
                                    "[[source]]\nid = \"us\"\ntitle = \"t\"\nwhere = \"w\"\ndate = \"2026-10\"\n"
                                    "kind = \"measurement\"\n[[device]]\nid = \"h100-sxm\"\nreplace = true\n"
                                    "based_on = \"h100-sxm\"\nsource = \"us\"\npower.tdp = \"500 W\"\n"));
  EXPECT_EQ(speed("h100-sxm", " --catalogue=" + file), speed("h100-sxm", " --set=device.tdp=500W"));
  EXPECT_LT(speed("h100-sxm", " --catalogue=" + file), speed("h100-sxm", ""));
  std::filesystem::remove(file);
}

// A cap is refused, ignored or extrapolated alike for every kind of work, and never makes anything faster.
TEST(PowerLimits, CapsAreTreatedAlikeByEveryEstimate) {
  for (const std::string work :
       {"infer --model=llama3.1-8b", "train --model=llama3.1-8b --gpus=8", "diffusion --model=sdxl"}) {
    const std::string line = "estimate " + work + " --device=h100-sxm --power-cap=";
    EXPECT_EQ(assumed(answer(line + "900W"), "a cap of 900 W is above the limit").size(), 1u) << work;
    EXPECT_EQ(assumed(answer(line + "500W"), "power capped at 500 W").size(), 1u) << work;
    EXPECT_EQ(assumed(answer(line + "250W"), "caps below 40 %").size(), 1u) << work;
    std::vector<std::string> words;
    std::istringstream in(line + "50W --json");
    for (std::string word; in >> word;) words.push_back(word);
    const auto idle = typed(words);
    ASSERT_FALSE(idle) << work;
    EXPECT_NE(idle.error().message.find("draws idle"), std::string::npos) << idle.error().text();
  }
}

// The dollars of a device among all are those of the device alone, with every flag that moves them.
TEST(Costs, OfADeviceAreThoseOfCostRent) {
  const std::string work = " --model=llama3.3-70b --device=h100-sxm --gpus=4 --concurrency=64";
  for (const std::string flags : {"", " --utilization=60%", " --contract=1-year"}) {
    const JsonNode all = answer("cost devices" + work + flags);
    ASSERT_EQ(at(all, "devices").items.size(), 1u);
    const JsonNode& one = at(all, "devices").items.front();
    expect_same(number(one, "usd_per_million_tokens"),
                number(answer("cost rent" + work + flags), "usd_per_million_tokens"), flags);
    expect_same(number(one, "spot_usd_per_million_tokens"),
                number(answer("cost rent --spot" + work + flags), "usd_per_million_tokens"), flags);
  }
}

/// A question that leaves open how the model is served, as both verbs take it.
std::string open_question(Random& draws) {
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return words.begin()[draws.below(words.size())];
  };
  std::string line = fmt::format(" --model={} --request-rate={} --isl={} --osl={}",
                                 one_of({"llama3.1-8b", "qwen3-8b", "llama3.3-70b", "gpt-oss-20b", "qwen3-30b-a3b"}),
                                 5 * (1 + draws.below(20)), 128 * (1 + draws.below(16)), 32 * (1 + draws.below(16)));
  if (draws.below(2) == 0)
    line += fmt::format(" --ttft={}ms --tpot={}ms", 1000 * (1 + draws.below(4)), 30 * (1 + draws.below(4)));
  if (draws.below(3) == 0) line += fmt::format(" --confidence={}%", 50 + 10 * draws.below(4));
  if (draws.below(3) == 0) line += " --precision=bf16";
  return line;
}

TEST(Costs, OfDevicesNameTheWinnerOfThePlan) {
  int answered = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    Random draws(31, i);
    const std::string line = open_question(draws);
    SCOPED_TRACE(line);
    const std::string devices = "h100-sxm,h200-sxm,b200-sxm-180,mi300x,l40s,gb300-nvl72";
    const JsonNode planned = answer("plan serve" + line + " --devices=" + devices);
    const JsonNode costs = answer("cost devices" + line + " --device=" + devices);
    if (at(planned, "plans").items.empty()) continue;
    ++answered;
    const JsonNode& first = at(planned, "plans").items.front();
    const JsonNode& cheapest = at(costs, "devices").items.front();
    EXPECT_EQ(at(first, "device").text, at(cheapest, "device").text);
    for (const JsonNode& plan : at(planned, "plans").items) {
      for (const JsonNode& one : at(costs, "devices").items) {
        if (at(one, "device").text != at(plan, "device").text) continue;
        expect_same(number(plan, "usd_per_million_output_tokens.mid"), number(one, "usd_per_million_tokens"),
                    at(plan, "device").text);
      }
    }
    // The winner's line says how.
    const std::string how = at(cheapest, "note").text;
    EXPECT_NE(how.find("TP"), std::string::npos) << how;
    EXPECT_NE(how.find(at(first, "weights").text), std::string::npos) << how;
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, 6);
}

TEST(Costs, DecideForTheWinnerOfThePlan) {
  int answered = 0;
  for (std::uint64_t i = 0; i < 8; ++i) {
    Random draws(37, i);
    const std::string line = open_question(draws);
    SCOPED_TRACE(line);
    const JsonNode planned = answer("plan serve --own" + line + " --devices=h100-sxm,mi300x");
    if (at(planned, "plans").items.size() < 2) continue;
    ++answered;
    const JsonNode decided = answer("cost decide" + line + " --device=h100-sxm --against=mi300x");
    EXPECT_EQ(at(decided, "against.winner").text, at(at(planned, "plans").items.front(), "device").text);
  }
  EXPECT_GT(answered, 2);
}

// A place where a device may not be sent is no place to own it.
TEST(Costs, NameNoRegionWhereTheDeviceNeedsALicence) {
  const auto listed = [](const std::string& device, std::string_view region) {
    const JsonNode decided = answer("cost decide --device=" + device + " --gpus=8");
    const auto& rows = at(decided, "regions").items;
    EXPECT_GT(rows.size(), 50U);
    return std::any_of(rows.begin(), rows.end(), [&](const JsonNode& row) { return at(row, "region").text == region; });
  };
  for (const char* region : {"iran", "china-west"}) {
    EXPECT_FALSE(listed("h100-sxm", region)) << region;
    EXPECT_TRUE(listed("h20-96", region)) << region;
  }
  EXPECT_TRUE(listed("h100-sxm", "norway"));
}

// QLoRA: what stays frozen in four bits leaves room for a model that does not fit in sixteen.
TEST(FineTuning, FrozenWeightsOfFourBitsFitWhereSixteenDoNot) {
  const std::string run = "estimate train --model=llama2-13b --device=rtx4090 --seq-length=2048";
  EXPECT_FALSE(at(answer(run + " --task=lora"), "fits").flag);
  const JsonNode narrow = answer(run + " --frozen=int4");
  EXPECT_TRUE(at(narrow, "fits").flag);
  EXPECT_EQ(number(narrow, "query.global_batch") * 2048, 128 * 1024);
}

// Of runs that train, too: the same layouts, formats, failures and dollars.
TEST(Costs, OfDevicesThatTrainNameTheWinnerOfThePlan) {
  const std::string devices = "h100-sxm,h200-sxm,b200-sxm-180,mi300x";
  for (const std::string run :
       {" --model=llama3.1-8b --gpus=64 --tokens=1T", " --model=llama3.1-70b --gpus=512 --tokens=2T --precision=bf16",
        " --model=qwen3-30b-a3b --gpus=128 --tokens=1T --seq-length=8192", " --model=llama3.1-8b --gpus=8 --task=lora",
        " --model=llama3.1-8b --gpus=64 --tokens=1T --goodput=0.9"}) {
    SCOPED_TRACE(run);
    const JsonNode planned = answer("plan train --objective=cost" + run + " --devices=" + devices);
    const JsonNode costs = answer("cost devices" + run + " --device=" + devices);
    ASSERT_FALSE(at(planned, "plans").items.empty());
    const JsonNode& first = at(planned, "plans").items.front();
    EXPECT_EQ(at(first, "device").text, at(at(costs, "devices").items.front(), "device").text);
    const bool whole = run.find("--tokens") != std::string::npos;  // dollars of the run, or of a billion tokens
    const double tokens = whole ? (run.find("2T") != std::string::npos ? 2e12 : 1e12) : 1e9;
    for (const JsonNode& plan : at(planned, "plans").items) {
      for (const JsonNode& one : at(costs, "devices").items) {
        if (at(one, "device").text != at(plan, "device").text) continue;
        expect_same(number(plan, "cost_usd.mid"), number(one, "usd_per_million_tokens") * tokens / 1e6,
                    at(plan, "device").text);
        EXPECT_NE(at(one, "note").text.find("TP"), std::string::npos);
      }
    }
    const JsonNode own = answer("plan train --own --objective=cost" + run + " --devices=h100-sxm,mi300x");
    const JsonNode decided = answer("cost decide" + run + " --device=h100-sxm --against=mi300x");
    EXPECT_EQ(at(decided, "against.winner").text, at(at(own, "plans").items.front(), "device").text);
  }
}

// Prompts on one pool and tokens on another cost what the estimate of both says they make.
TEST(Costs, OfTwoPoolsAreThoseOfTheirEngines) {
  const std::string work = " --model=llama3.3-70b --device=h100-sxm --tp=4 --concurrency=64 --disaggregate";
  const JsonNode pools = answer("estimate infer" + work);
  const JsonNode cost = answer("cost rent --price=$2" + work);
  const double prefill = number(pools, "prefill_engines");
  const double decode = number(pools, "decode_engines");
  // Engines for prompts are counted to work 60 % of the time: rounded down they are a little busier, and still keep up.
  EXPECT_GE(prefill, 0.6 * decode * number(pools, "prefill_engines_per_decode_engine"));
  const double gpus = 4 * (prefill + decode);
  EXPECT_EQ(number(cost, "gpus"), gpus);
  const double made = decode * number(pools, "output_tokens_per_s.mid");
  EXPECT_NEAR(number(cost, "usd_per_million_tokens"), 2 * gpus / (made * 3600) * 1e6, 1e-9);
}

// What a rate that nobody says is, said.
TEST(Costs, OfDevicesAssumeARate) {
  const JsonNode costs = answer("cost devices --model=llama3.1-8b --device=h100-sxm,h200-sxm");
  EXPECT_EQ(assumed(costs, "100 requests a second").size(), 1u);
}

// Prices of one day, software of another; --as-of is both.
TEST(Dates, OfSoftwareAndPricesAreApart) {
  const std::string work = "cost rent --model=llama3.1-8b --device=h100-sxm --concurrency=64";
  const JsonNode now = answer(work);
  const JsonNode software = answer(work + " --software-as-of=2024-06");
  const JsonNode prices = answer(work + " --prices-as-of=2025-06");
  EXPECT_EQ(number(now, "usd_per_month"), number(software, "usd_per_month"));
  EXPECT_NE(number(now, "usd_per_million_tokens"), number(software, "usd_per_million_tokens"));
  EXPECT_NE(number(now, "usd_per_month"), number(prices, "usd_per_month"));
  const JsonNode both = answer(work + " --as-of=2025-06");
  const JsonNode each = answer(work + " --software-as-of=2025-06 --prices-as-of=2025-06");
  EXPECT_EQ(number(both, "usd_per_million_tokens"), number(each, "usd_per_million_tokens"));
  EXPECT_EQ(number(both, "usd_per_month"), number(prices, "usd_per_month"));
  for (const std::string flag : {"--as-of", "--software-as-of", "--prices-as-of"}) {
    const auto said = typed({"estimate", "infer", "--model=llama3.1-8b", "--device=h100-sxm", flag + "=yesterday"});
    ASSERT_FALSE(said) << flag;
    EXPECT_EQ(said.error().where, flag);
  }
}

TEST_F(SavedPlan, KeepsDatesAndCaps) {
  expect_agreement(kChat + std::string(" --software-as-of=2025-06 --prices-as-of=2026-01"));
  const JsonNode capped = expect_agreement(kChat + std::string(" --power-cap=500W --confidence=60%"));
  EXPECT_EQ(number(capped, "power_cap_w"), 500);
}

// --spot adds nothing to a table that has both: on demand stays on demand.
TEST(Costs, OfDevicesOnDemandAreNotThoseOfSpot) {
  const std::string work = " --model=llama3.3-70b --device=h100-sxm --gpus=4 --concurrency=64";
  const JsonNode plain = answer("cost devices" + work);
  const JsonNode spot = answer("cost devices --spot" + work);
  const auto each = [](const JsonNode& all) {
    return number(at(all, "devices").items.front(), "usd_per_million_tokens");
  };
  expect_same(each(plain), each(spot), "on demand");
}

// Energy of a place nobody knows has no price; its name is refused as `cost own` refuses it.
TEST(Regions, OfOwnersAreKnownOrRefused) {
  const auto said = typed(
      {"plan", "serve", "--model=llama3.1-8b", "--request-rate=1", "--devices=h100-sxm", "--own", "--region=mars"});
  ASSERT_FALSE(said);
  EXPECT_NE(said.error().text().find("--region: there is no provider or region of prices 'mars'"), std::string::npos)
      << said.error().text();
}

// What a request is where nobody says, too.
TEST(ServingDefaults, AreTheSameForEstimateAndPlan) {
  const JsonNode planned = answer("plan serve --model=llama3.1-8b --request-rate=5 --devices=h100-sxm");
  const JsonNode estimated = answer("estimate infer --model=llama3.1-8b --device=h100-sxm");
  EXPECT_EQ(number(planned, "goal.input_tokens"), number(estimated, "query.isl_tokens"));
  EXPECT_EQ(number(planned, "goal.output_tokens"), number(estimated, "query.osl_tokens"));
  for (const char* what : {"1024 tokens in", "256 tokens out"}) {
    EXPECT_EQ(assumed(planned, what).size(), 1u) << what;
    EXPECT_EQ(assumed(estimated, what).size(), 1u) << what;
  }
}

// Each of these forgot a field of the question once.
TEST_F(SavedPlan, KeepsTheGroupThatSharesACopy) {
  const JsonNode planned =
      plan("train --model=llama3.1-70b --gpus=512 --engine=fsdp --sharding=hsdp --devices=h100-sxm --tokens=1T");
  expect_same(number(planned, "step_s.mid"), number(answer("estimate train" + first()), "step_time_s.mid"), "step");
}

TEST(PowerCap, SweepsTheLayoutThatRunsWithoutACap) {
  const JsonNode sweep = answer("cost power-cap --model=llama3.1-405b --device=h100-sxm --gpus=16 --price=$2/GPU-hour");
  EXPECT_GE(at(sweep, "points").items.size(), 10u);
}

TEST(NextCommand, AsksTheSameQuestion) {
  const std::string asked = "--model=llama3.1-70b --device=h100-sxm --gpus=2 --cpu-offload-gb=20 --concurrency=4";
  const auto question = answer("estimate infer " + asked);
  const auto next = report::command_flags([] {
    InferenceQuery q;
    q.model = "llama3.1-70b";
    q.device = "h100-sxm";
    q.gpus = 2;
    q.cpu_offload = 20.0 * 1024 * 1024 * 1024;
    q.load.mode = LoadMode::closed_loop;
    q.load.concurrency = 4;
    q.load.isl = 1024;
    q.load.osl = 256;
    return q;
  }());
  expect_same(number(question, "output_tokens_per_s.mid"),
              number(answer("estimate infer " + next), "output_tokens_per_s.mid"), next);
}

TEST(CostByMfu, KnowsThePeakOfEveryFormat) {
  const JsonNode cost = answer(
      "cost rent --model=llama2-7b --device=v100-sxm2-32 --gpus=8 --mfu=40% --precision=fp16 --price=$1/GPU-hour");
  EXPECT_GT(number(cost, "usd_per_month"), 0);
}

}  // namespace
}  // namespace ridge::cli
