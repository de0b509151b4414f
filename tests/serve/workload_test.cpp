// What arrives: distributions, arrival processes, files and traces, and what of them is refused where.
#include "ridge/serve/workload.hpp"

#include <cmath>

#include "serve/workload/request_source.hpp"
#include "support.hpp"

namespace ridge {
namespace {

using namespace testing_support;

double mean_of(const LengthDistribution& d) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    Random random(3, i);
    sum += d.draw(random);
  }
  return sum / 40'000;
}

TEST(Lengths, HaveTheMeanTheySay) {
  EXPECT_EQ(mean_of({.kind = LengthKind::fixed, .mean = 77}), 77);
  EXPECT_NEAR(mean_of({.kind = LengthKind::uniform, .low = 100, .high = 300}), 200, 1);
  EXPECT_NEAR(mean_of({.kind = LengthKind::exponential, .mean = 500}), 500, 8);
  EXPECT_NEAR(mean_of({.kind = LengthKind::lognormal, .mean = 1000, .cv = 1}), 1000, 15);
  const LengthDistribution known{.kind = LengthKind::empirical, .quantiles = {1, 11, 101}};
  EXPECT_NEAR(mean_of(known), known.expected(), 0.5);
  EXPECT_DOUBLE_EQ(known.expected(), 31);  // (6 + 56) / 2
}

TEST(Arrivals, KeepTheirRateAndTheirSpread) {
  struct Kind {
    ArrivalProcess process;
    double cv;  // of the gaps
  };
  const Kind kinds[] = {{{.kind = ArrivalKind::constant}, 0},
                        {{.kind = ArrivalKind::poisson}, 1},
                        {{.kind = ArrivalKind::gamma, .cv = 2.5}, 2.5},
                        {{.kind = ArrivalKind::diurnal, .period = 100, .swing = 0.8}, -1},
                        {{.kind = ArrivalKind::on_off, .on_seconds = 1, .off_seconds = 3}, -1}};
  for (const Kind& kind : kinds) {
    serve::ArrivalStream stream(kind.process, 20, 5);
    double before = 0;
    double squares = 0;
    const int count = 200'000;
    for (int i = 0; i < count; ++i) {
      const double now = stream.next();
      ASSERT_GE(now, before);
      squares += (now - before) * (now - before);
      before = now;
    }
    EXPECT_NEAR(count / before, 20, 0.6) << static_cast<int>(kind.process.kind);
    const double mean = before / count;
    const double cv = std::sqrt(std::max(0.0, squares / count / (mean * mean) - 1));
    if (kind.cv >= 0) {
      EXPECT_NEAR(cv, kind.cv, 0.05 * kind.cv + 1e-3) << static_cast<int>(kind.process.kind);
    } else {
      EXPECT_GT(cv, 1.05) << "bursts spread the gaps";
    }
  }
}

TEST(Workloads, ThatAreBundledLoadAndHaveRequests) {
  const std::string folder = std::string(RIDGE_DATA_DIR) + "/workloads";
  const auto ids = workload_ids(folder);
  EXPECT_GE(ids.size(), 12U);
  for (const std::string& id : ids) {
    const auto w = find_workload(folder, id);
    ASSERT_TRUE(w) << w.error().text();
    EXPECT_EQ(w->id, id);
    EXPECT_GT(w->mean_input(), 0);
    EXPECT_GT(w->mean_output(), 0);
    EXPECT_EQ(id.starts_with("mlperf-"), !w->scenarios.empty()) << id;
  }
  const auto wrong = find_workload(folder, "chatt");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("chat"), std::string::npos);
}

std::string refusal(const Result<Workload>& w) {
  return w ? "" : w.error().text();
}

TEST(WorkloadFiles, AreRefusedAtTheirPlace) {
  const auto of = [](const char* text) { return refusal(parse_workload(text, "mine.toml")); };
  const char* good =
      "name = 'x'\nsource = 'mine'\n[[class]]\nname = 'a'\ninput = { mean = 10 }\noutput = { mean = 5 }\n";
  EXPECT_EQ(of(good), "");
  EXPECT_NE(of("name = 'x'\nsource = 'mine'\n[[class]]\nname = 'a'\ninput = { mean = -1 }\noutput = { mean = 5 }\n")
                .find("mine.toml:5:"),
            std::string::npos);
  EXPECT_NE(
      of("name = 'x'\nsource = 'mine'\n[[class]]\nname = 'a'\ninput = { mean = 1, typo = 2 }\noutput = { mean = 5 }")
          .find("mine.toml:5:"),
      std::string::npos);
  EXPECT_NE(of("name = 'x'\nsource = 'mine'\n").find("class"), std::string::npos);
}

TEST(Traces, OfThreeKindsReadAlike) {
  const auto azure = parse_trace(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.4799600,"
      "3180,8\n",
      "azure.csv");
  ASSERT_TRUE(azure) << azure.error().text();
  const auto plain = parse_trace("arrival_s,isl,osl\n7,4808,10\n7.5,3180,8\n", "plain.csv");
  ASSERT_TRUE(plain) << plain.error().text();
  const auto mooncake = parse_trace(
      "{\"timestamp\": 0, \"input_length\": 4808, \"output_length\": 10, \"hash_ids\": [1, 2]}\n"
      "{\"timestamp\": 500, \"input_length\": 3180, \"output_length\": 8, \"hash_ids\": [1, 9]}\n",
      "moon.jsonl");
  ASSERT_TRUE(mooncake) << mooncake.error().text();
  for (const auto* w : {&*azure, &*plain, &*mooncake}) {
    ASSERT_EQ(w->trace->requests.size(), 2U);
    EXPECT_NEAR(w->trace->requests[1].arrival, 0.5, 1e-6);
    EXPECT_EQ(w->trace->requests[0].input, 4808U);
    EXPECT_EQ(w->trace->requests[1].output, 8U);
  }
  EXPECT_EQ(mooncake->trace->tokens_per_key, 512U);
  EXPECT_EQ(mooncake->trace->keys, (std::vector<std::uint64_t>{1, 2, 1, 9}));
}

TEST(Traces, ThatAreBadAreRefusedWithLineAndColumn) {
  const auto of = [](const char* text, const char* file) { return refusal(parse_trace(text, file)); };
  const auto starts = [](const std::string& text, const char* with) { EXPECT_EQ(text.rfind(with, 0), 0U) << text; };
  starts(of("arrival_s,isl,osl\n0,10,10\n-1,10,10\n", "t.csv"), "t.csv:3:1: a request cannot arrive before");
  starts(of("arrival_s,isl,osl\n-1,10,10\n", "t.csv"), "t.csv:2:1: a request cannot arrive before");
  starts(of("arrival_s,isl,osl\n5,10,10\n4,10,10\n", "t.csv"), "t.csv:3:1: the requests are not in the order");
  starts(of("arrival_s,isl,osl\n0,10,1e12\n", "t.csv"), "t.csv:2:6: ");
  starts(of("arrival_s,isl,osl\n0,-3,10\n", "t.csv"), "t.csv:2:3: ");
  starts(of("arrival_s,isl,osl\nnan,10,10\n", "t.csv"), "t.csv:2:1: 'nan' is no number");
  starts(of("arrival_s,isl,osl\n0,10.5,10\n", "t.csv"), "t.csv:2:3: ");
  starts(of("arrival_s,isl\n0,10\n", "t.csv"), "t.csv:1:1: the column 'osl' is missing");
  starts(of("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1\n", "t.csv"), "t.csv:2:1: 'yesterday'");
  starts(of("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-31 10:00:00,1,1\n", "t.csv"), "t.csv:2:1: '2023-02-31");
  starts(of("{\"timestamp\": 0, \"input_length\": 1}\n", "t.jsonl"), "t.jsonl:1:1: 'output_length' is missing");
  starts(of("{\"timestamp\": 0, \"input_length\": \"a\", \"output_length\": 1}\n", "t.jsonl"), "t.jsonl:1:18: ");
  starts(of("{\"timestamp\": 9, \"input_length\": 1, \"output_length\": 1}\n{\"timestamp\": 1,", "t.jsonl"),
         "t.jsonl:2:");
  EXPECT_NE(of("{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n{\"session\": \"line:1:\", \"session\": "
               "\"b\"}",
               "t.jsonl")
                .find("t.jsonl:2:24: 'session' was said already, at t.jsonl:2:2: say it once"),
            std::string::npos);
  starts(of("", "t.csv"), "t.csv: there are no requests");
}

}  // namespace
}  // namespace ridge
