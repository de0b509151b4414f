#include <gtest/gtest.h>

#include <string>

#include "claims/text/written_number.hpp"

namespace ridge::claims {
namespace {

Measure scan(std::string_view text) {
  const auto found = scan_measure(text, 0);
  EXPECT_TRUE(found) << text;
  return found ? found->measure : Measure{};
}

TEST(Measure, DigitsMayBeGroupedByCommasOrSpaces) {
  EXPECT_EQ(scan("12,288 of").value, 12288);
  EXPECT_EQ(scan("16 384 GPUs").value, 16384);
  EXPECT_EQ(scan("38,847,600,000 Joules").value, 38847600000.0);
  // Where spaces part columns, they do not group.
  EXPECT_EQ(scan_measure("864 350", 0, false)->measure.value, 864);
}

TEST(Measure, ABitIsAnEighthOfAByteAndPrefixesAreDecimal) {
  EXPECT_DOUBLE_EQ(scan("400 Gb/s").value, 50e9);
  EXPECT_DOUBLE_EQ(scan("400 GB/s").value, 400e9);
  EXPECT_DOUBLE_EQ(scan("1 GiB").value, 1073741824.0);
  EXPECT_DOUBLE_EQ(scan("20 petaflops").value, 20e15);
}

TEST(Measure, PricesPerTokenMayBeSpelledOut) {
  // 54.2 cents per million tokens = $0.542 / 1e6 tokens.
  EXPECT_NEAR(scan("54.2 cents per million tokens").value, 0.542e-6, 1e-15);
  EXPECT_NEAR(scan("$0.42 per 1M tokens").value, 0.42e-6, 1e-15);
  EXPECT_NEAR(scan("$1.42/hr/GPU").value, 1.42 / 3600, 1e-12);
  EXPECT_TRUE(is_a<DollarsPerToken>(scan("$1.95 per million\ntokens")));
}

TEST(Measure, ALetterBehindANumberIsAMagnitudeNotAUnit) {
  const Measure m = scan("405B parameters");
  EXPECT_EQ(m.value, 405e9);
  EXPECT_FALSE(m.has_unit());
  EXPECT_EQ(scan("$3.9M").value, 3.9e6);
  EXPECT_EQ(scan("175-billion-parameter").value, 175e9);
}

TEST(Measure, RangesFactorsAndPercentagesKeepTheirForm) {
  const Measure range = scan("$27,000-40,000");
  EXPECT_EQ(range.value, 27000);
  EXPECT_EQ(range.high, 40000);
  const Measure percent = scan("70%-87.5%");
  EXPECT_DOUBLE_EQ(percent.value, 0.7);
  EXPECT_DOUBLE_EQ(percent.high, 0.875);
  EXPECT_EQ(scan("2.5x").form, Measure::Form::factor);
  EXPECT_EQ(scan("4-5 times").high, 5);
  // Years are no range.
  EXPECT_FALSE(scan("2023-2024").is_range());
}

TEST(Measure, TheLastDigitSaysHowExactItIs) {
  EXPECT_EQ(scan("280").written, 1);
  EXPECT_EQ(scan("280").significant, 10);
  EXPECT_DOUBLE_EQ(scan("4.8 TB/s").written, 0.1e12);
}

TEST(Measure, SignsAreBounds) {
  EXPECT_EQ(scan("~4,000 tok/s").bound, Measure::Bound::about);
  EXPECT_EQ(scan("<2x").bound, Measure::Bound::at_most);
  const Measure plus = scan("600+ TFLOPS");
  EXPECT_EQ(plus.bound, Measure::Bound::at_least);
  EXPECT_DOUBLE_EQ(plus.value, 600e12);
}

TEST(Measure, WhatIsLeftOverIsRefused) {
  EXPECT_FALSE(parse_claimed("141 GB of"));
  EXPECT_FALSE(parse_claimed("many"));
  EXPECT_FALSE(parse_claimed(""));
  ASSERT_TRUE(parse_claimed("-64%"));
  EXPECT_DOUBLE_EQ(parse_claimed("-64%")->value, -0.64);
}

TEST(Measure, FaithfulTextReadsBack) {
  for (const char* text : {"289712 tok/s", "$0.2354/1M tokens", "4.8 TB/s", "38847600000 J", "1.35 kW"}) {
    const Measure m = scan(text);
    const auto again = parse_claimed(faithful(m));
    ASSERT_TRUE(again) << faithful(m);
    EXPECT_NEAR(again->value, m.value, 1e-9 * m.value) << faithful(m);
  }
}

TEST(Measure, HostileNumbersEndNowhere) {
  EXPECT_FALSE(scan_measure(std::string(5000, '9'), 0));
  EXPECT_TRUE(scan_measure("1e999", 0) == std::nullopt || true);
  for (const char* text : {"$", "~", "<=", "1e+", "..", "1,,2", "5-", "5-$", "$-", "%", "1 per", "1/", "9 GPU-"}) {
    (void)scan_measure(text, 0);
  }
}

}  // namespace
}  // namespace ridge::claims
