#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ridge/base/random.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

TEST(Format, ChoosesThePrefixAPersonWould) {
  EXPECT_EQ(format(Bytes(141e9)), "141 GB");
  EXPECT_EQ(format(BytesPerSecond(4.8e12)), "4.80 TB/s");
  EXPECT_EQ(format(FlopsPerSecond(989.4e12)), "989 TFLOP/s");
  EXPECT_EQ(format(Flops(3.8e25)), "3.80e25 FLOP");
  EXPECT_EQ(format(Watts(1580)), "1.58 kW");
  EXPECT_EQ(format(Watts(700)), "700 W");
  EXPECT_EQ(format(Hertz(1.83e9)), "1.83 GHz");
  EXPECT_EQ(format(TokensPerSecond(12500)), "12.5 ktok/s");
  EXPECT_EQ(format(JoulesPerToken(2.46)), "2.46 J/token");
  EXPECT_EQ(format(Kilograms(1500)), "1500 kg");
  EXPECT_EQ(format(Bytes(327680) / Tokens(1)), "328 kB/token");
}

TEST(Format, TimeGoesFromNanosecondsToYears) {
  EXPECT_EQ(format(Seconds(31e-3)), "31.0 ms");
  EXPECT_EQ(format(Seconds(1.5e-6)), "1.50 us");
  EXPECT_EQ(format(Seconds(90)), "90.0 s");
  EXPECT_EQ(format(Seconds(150)), "2.50 min");
  EXPECT_EQ(format(hours(10)), "10.0 h");
  EXPECT_EQ(format(hours(24 * 18.2)), "18.2 days");
  EXPECT_EQ(format(hours(8760 * 5)), "5.00 years");
  EXPECT_EQ(format(Seconds(1e-15)), "1.00e-15 s");
  EXPECT_EQ(format(Seconds(31e-3) / Tokens(1)), "31.0 ms/token");
}

TEST(Format, EnergyTurnsFromJoulesToKilowattHours) {
  EXPECT_EQ(format(Joules(2.5)), "2.50 J");
  EXPECT_EQ(format(Joules(3.5e6)), "3.50 MJ");
  EXPECT_EQ(format(Joules(3.6e6)), "1.00 kWh");
  EXPECT_EQ(format(Joules(3.6e9 * 42)), "42.0 MWh");
}

TEST(Format, MoneyHasItsSignInFront) {
  EXPECT_EQ(format(Dollars(2e6)), "$2.00M");
  EXPECT_EQ(format(Dollars(1.234e9)), "$1.23B");
  EXPECT_EQ(format(Dollars(-5)), "-$5.00");
  EXPECT_EQ(format(Dollars(0)), "$0");
  EXPECT_EQ(format(GpuRent(2.3 / 3600)), "$2.30/GPU-hour");
  EXPECT_EQ(format(DollarsPerJoule(0.08 / 3.6e6), 2), "$0.080/kWh");
  EXPECT_EQ(format(DollarsPerToken(0.24e-6)), "$0.240/1M tokens");
  EXPECT_EQ(format(DollarsPerSecond(18.4 / 3600)), "$18.4/hour");
  EXPECT_EQ(format(Dollars(30e3) / Gpus(1)), "$30.0k/GPU");
}

TEST(Format, RoundingNeverPrintsAThousandOfAPrefix) {
  EXPECT_EQ(format(Bytes(999.4e9)), "999 GB");
  EXPECT_EQ(format(Bytes(999.6e9)), "1.00 TB");
  EXPECT_EQ(format(Bytes(1000e9)), "1.00 TB");
  EXPECT_EQ(format(Seconds(0.9996)), "1.00 s");
  EXPECT_EQ(format(Seconds(119.9)), "2.00 min");
  EXPECT_EQ(format(Dollars(999.99)), "$1.00k");
  EXPECT_EQ(format(Bytes(999.6e9), 4), "999.6 GB");
  EXPECT_EQ(format(Bytes(999.6e18)), "1.00e21 B");
  EXPECT_EQ(format(Bytes(0.4)), "0.400 B");
}

TEST(Format, DigitsAreSignificantOnes) {
  EXPECT_EQ(format(Bytes(141e9), 1), "100 GB");
  EXPECT_EQ(format(Bytes(141e9), 2), "140 GB");
  EXPECT_EQ(format(Bytes(141e9), 5), "141.00 GB");
  EXPECT_EQ(format(Bytes(141e9), 0), format(Bytes(141e9), 1)) << "clamped";
}

TEST(Format, WholeBytesTokensAndGpusAreCounted) {
  EXPECT_EQ(format(Bytes(512)), "512 B");
  EXPECT_EQ(format(Gpus(8)), "8 GPU");
  EXPECT_EQ(format(Gpus(16384)), "16384 GPU");
  EXPECT_EQ(format(Tokens(7)), "7 tok");
  EXPECT_EQ(format(Gpus(7.5)), "7.50 GPU");
}

TEST(Format, ZeroHasNoSignAndNoDecimals) {
  EXPECT_EQ(format(Bytes(0)), "0 B");
  EXPECT_EQ(format(Bytes(-0.0)), "0 B");
  EXPECT_EQ(format(Seconds(0)), "0 s");
  EXPECT_EQ(format(GpuRent(-0.0)), "$0/GPU-hour");
}

TEST(Format, WhatIsNotFiniteSaysSo) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(format(Seconds(inf)), "inf s");
  EXPECT_EQ(format(Bytes(-inf)), "-inf B");
  EXPECT_EQ(format(GpuRent(inf)), "inf USD/GPU-hour");
  EXPECT_EQ(format(Bytes(std::nan(""))), "nan B");
}

TEST(Format, DimensionsWithoutANameAreSpelledOut) {
  using Odd = Quantity<Dimension<2, -1, 0, 0, 0, 0, 0, 1, -2>>;
  EXPECT_EQ(format(Odd(3.5)), "3.50 B^2*kg/s/m^2");
  EXPECT_EQ(format(1.0 / Bytes(4)), "0.250 /B");
}

// For any quantity q: parse(format(q, 17)) = q but for the rounding of one division and one multiplication.
template <class Q>
void check_round_trip(std::uint64_t stream) {
  Random draws(2024, stream);
  for (int i = 0; i < 2000; ++i) {
    const double sign = draws.below(2) == 0 ? 1 : -1;
    const Q q(sign * std::pow(10.0, 60 * draws.uniform() - 30));
    const std::string text = format(q, 17);
    const auto back = parse_quantity<Q>(text);
    ASSERT_TRUE(back) << text << ": " << back.error().text();
    ASSERT_NEAR(back->value() / q.value(), 1, 1e-15) << text;
    // With three digits the error is at most half of the third one, and a prefix never carries a thousand.
    const std::string rough = format(q);
    const auto near = parse_quantity<Q>(rough);
    ASSERT_TRUE(near) << rough << ": " << near.error().text();
    ASSERT_NEAR(near->value() / q.value(), 1, 0.00501) << rough;
  }
}

TEST(Format, ReadsBack) {
  check_round_trip<Bytes>(1);
  check_round_trip<Seconds>(2);
  check_round_trip<Flops>(3);
  check_round_trip<Joules>(4);
  check_round_trip<Dollars>(5);
  check_round_trip<Tokens>(6);
  check_round_trip<Gpus>(7);
  check_round_trip<Kilograms>(8);
  check_round_trip<Hertz>(9);
  check_round_trip<BytesPerSecond>(10);
  check_round_trip<FlopsPerSecond>(11);
  check_round_trip<Watts>(12);
  check_round_trip<TokensPerSecond>(13);
  check_round_trip<JoulesPerToken>(14);
  check_round_trip<DollarsPerSecond>(15);
  check_round_trip<DollarsPerToken>(16);
  check_round_trip<DollarsPerJoule>(17);
  check_round_trip<GpuRent>(18);
  check_round_trip<decltype(Kilograms() / Metres() / Metres())>(19);
  check_round_trip<decltype(Seconds() / Tokens())>(20);
  check_round_trip<decltype(Dollars() / Watts())>(21);
  check_round_trip<decltype(Dollars() / Bytes() / Seconds())>(22);
  check_round_trip<decltype(1.0 / Bytes())>(23);
  check_round_trip<Quantity<Dimension<2, -1, 0, 0, 0, 0, 0, 1, -2>>>(24);
}

TEST(FormatNumber, SetsThousandsApartAndKeepsThePartBeforeThePoint) {
  EXPECT_EQ(format_number(12304.2), "12,304");
  EXPECT_EQ(format_number(0.2346), "0.235");
  EXPECT_EQ(format_number(2.5), "2.50");
  EXPECT_EQ(format_number(5), "5");
  EXPECT_EQ(format_number(-1234567), "-1,234,567");
  EXPECT_EQ(format_number(999.96), "1,000");
  EXPECT_EQ(format_number(123456.75, 8), "123,456.75");
  EXPECT_EQ(format_number(0.00012), "0.000120");
}

TEST(FormatNumber, FarFromOneIsScientific) {
  EXPECT_EQ(format_number(1.5e15), "1.50e15");
  EXPECT_EQ(format_number(2e-7), "2.00e-7");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "inf");
}

constexpr std::string_view kDevices[] = {"h100-sxm", "h200-sxm", "h200-nvl", "mi300x", "gb200", "a100-sxm-80"};

TEST(Nearest, PutsTheSmallestChangeFirst) {
  EXPECT_EQ(nearest("mi30x", kDevices, 6), "'mi300x'");
  EXPECT_EQ(nearest("h200-sxn", kDevices, 6, 1), "'h200-sxm'");
  EXPECT_EQ(nearest("h020-sxm", kDevices, 6, 1), "'h200-sxm'") << "a swap of neighbours is one change";
  EXPECT_EQ(nearest("H200_SXM", kDevices, 6, 2), "'h200-sxm' or 'h100-sxm'");
}

TEST(Nearest, NamesThatGoOnAreNear) {
  EXPECT_EQ(nearest("h200", kDevices, 6, 2), "'h200-sxm' or 'h200-nvl'");
  EXPECT_EQ(nearest("a100", kDevices, 6, 1), "'a100-sxm-80'");
}

TEST(Nearest, NothingIsBetterThanAWildGuess) {
  EXPECT_EQ(nearest("tpu-v5p", kDevices, 6), "");
  EXPECT_EQ(nearest("", kDevices, 6), "");
  EXPECT_EQ(nearest("h200", kDevices, 0), "");
  EXPECT_EQ(nearest(std::string(100'000, 'h'), kDevices, 6), "");
}

TEST(Quoted, IsShortAndPrintable) {
  EXPECT_EQ(quoted("µs"), "'µs'");
  EXPECT_EQ(quoted("a\n\x1b[0m\x7f\xff"), "'a??[0m?\?'");
  EXPECT_EQ(quoted("abcdef", 3), "'abc...'");
  EXPECT_EQ(quoted("abc", 3), "'abc'");
  EXPECT_EQ(quoted(""), "''");
}

}  // namespace
}  // namespace ridge
