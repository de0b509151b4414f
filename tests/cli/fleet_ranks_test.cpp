#include "app/cli/plan/fleet_ranks.hpp"

#include <gtest/gtest.h>

namespace ridge::cli {
namespace {

TEST(FleetRanks, WhatARankSendsComesBackToTheLastBit) {
  fleet::Rated serves;
  fleet::Option option;
  option.service = 1;
  option.device = "h100-sxm";
  option.gpus = 2;
  option.requests_per_s = 1.0 / 3;
  option.watts = 1234.5678901234567;
  option.layout = "TP2, fp8: 7\nlines";
  option.slowness = 1.1;
  option.query.emplace();
  option.query->model = "llama3.1-8b";
  option.query->device = "h100-sxm";
  option.query->gpus = 2;
  serves.options.push_back(option);
  fleet::Rated trains;
  trains.rates.push_back({"mi300x", 1e-5 / 7, 900, "on 64 GPUs"});
  fleet::Rated fails;
  fails.error = Error{ErrorCode::infeasible, "e.toml:3:1", "no kind\n  a: why"};
  std::vector<fleet::Rated> all(3);
  const std::string bytes = write_rated(2, fails) + write_rated(0, serves) + write_rated(1, trains);
  ASSERT_TRUE(read_rated(bytes, all));
  ASSERT_EQ(all[0].options.size(), 1U);
  const fleet::Option& back = all[0].options[0];
  EXPECT_EQ(back.requests_per_s, option.requests_per_s);
  EXPECT_EQ(back.watts, option.watts);
  EXPECT_EQ(back.slowness, option.slowness);
  EXPECT_EQ(back.layout, option.layout);
  EXPECT_EQ(back.query->model, "llama3.1-8b");
  EXPECT_EQ(back.query->gpus, 2);
  ASSERT_EQ(all[1].rates.size(), 1U);
  EXPECT_EQ(all[1].rates[0].share_per_gpu_hour, 1e-5 / 7);
  ASSERT_TRUE(all[2].error);
  EXPECT_EQ(all[2].error->message, fails.error->message);
  EXPECT_FALSE(read_rated(bytes.substr(0, bytes.size() - 3), all));
  EXPECT_FALSE(read_rated("9:", all));
  std::vector<fleet::Rated> fewer(1);
  EXPECT_FALSE(read_rated(bytes, fewer));
}

}  // namespace
}  // namespace ridge::cli
