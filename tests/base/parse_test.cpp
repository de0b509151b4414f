#include <gtest/gtest.h>

#include <clocale>
#include <string>

#include "ridge/base/text.hpp"

namespace ridge {
namespace {

using KilogramsPerSquareMetre = decltype(Kilograms() / Metres() / Metres());

template <class Q>
double read(std::string_view text) {
  const auto q = parse_quantity<Q>(text);
  EXPECT_TRUE(q) << text << ": " << (q ? "" : q.error().text());
  return q ? q->value() : -1;
}

template <class Q>
std::string error_of(std::string_view text) {
  const auto q = parse_quantity<Q>(text);
  return q ? "no error" : q.error().text();
}

TEST(ParseQuantity, DecimalPrefixesCountThousandsAndBinaryOnesCount1024) {
  EXPECT_EQ(read<Bytes>("141 GB"), 141e9);
  EXPECT_EQ(read<Bytes>("15 TB"), 15e12);
  EXPECT_EQ(read<Bytes>("1 TiB"), 0x1p40);
  EXPECT_EQ(read<Bytes>("1.5 KiB"), 1536);
  EXPECT_EQ(read<Bytes>("5EB"), 5e18) << "the E is a prefix, not an exponent";
  EXPECT_EQ(read<Bytes>("5e3B"), 5e3);
}

TEST(ParseQuantity, DecimalPrefixesAreExact) {
  // 8.03 * 1e9 in binary is 8029999999.999999; the text says 8,030,000,000.
  EXPECT_EQ(read<Bytes>("8.03 GB"), 8030000000.0);
  EXPECT_EQ(read<Bytes>("8.03e3 MB"), 8030000000.0);
  EXPECT_EQ(read<Seconds>("1.1 ms"), 1.1e-3);
  EXPECT_EQ(read<DollarsPerToken>("$0.7/1M tokens"), 0.7e-6);
  EXPECT_EQ(read<FlopsPerSecond>("989.4 TFLOP/s"), 989.4e12);
}

TEST(ParseQuantity, SmallBIsABitAndLargeBAByte) {
  EXPECT_EQ(read<BytesPerSecond>("400 Gb/s"), 50e9);
  EXPECT_EQ(read<BytesPerSecond>("400 Gbps"), 50e9);
  EXPECT_EQ(read<BytesPerSecond>("400 Gbit/s"), 50e9);
  EXPECT_EQ(read<BytesPerSecond>("4.8 TB/s"), 4.8e12);
}

TEST(ParseQuantity, FlopsInCapitalsIsARate) {
  EXPECT_EQ(read<FlopsPerSecond>("989 TFLOPS"), 989e12);
  EXPECT_EQ(read<FlopsPerSecond>("1979 TOP/s"), 1979e12);
  EXPECT_EQ(read<FlopsPerSecond>("1979 TOPS"), 1979e12);
  EXPECT_EQ(read<Flops>("3.8e25 FLOP"), 3.8e25);
  EXPECT_EQ(error_of<FlopsPerSecond>("989 TFLOPs"),
            "column 5: 'TFLOPs' may mean an amount or a rate: write 'TFLOP' or 'TFLOP/s'");
}

TEST(ParseQuantity, PowerEnergyFrequencyAndMass) {
  EXPECT_EQ(read<Watts>("700 W"), 700);
  EXPECT_EQ(read<Watts>("10.2 kW"), 10200);
  EXPECT_EQ(read<Watts>("500kW"), 500e3);
  EXPECT_EQ(read<Watts>("3 J/s"), 3);
  EXPECT_EQ(read<Joules>("3 kWh"), 3 * 3.6e6);
  EXPECT_EQ(read<Joules>("2 W*h"), 7200);
  EXPECT_EQ(read<JoulesPerToken>("2.46 J/token"), 2.46);
  EXPECT_EQ(read<Hertz>("1830 MHz"), 1830e6);
  EXPECT_EQ(read<Hertz>("5/s"), 5);
  EXPECT_EQ(read<Kilograms>("130 kg"), 130);
  for (const char* text : {"1500 kg/m2", "1500 kg/m^2", "1500 kg/m\u00b2", "1.5e6 g / m2"}) {
    EXPECT_EQ(read<KilogramsPerSquareMetre>(text), 1500) << text;
  }
}

TEST(ParseQuantity, TimeFromNanosecondsToYears) {
  EXPECT_EQ(read<Seconds>("40 ms"), 0.04);
  EXPECT_EQ(read<Seconds>("40ms"), 0.04);
  for (const char* text : {"1.5 us", "1.5 \u00b5s", "1.5\u03bcs", "1500 ns"}) EXPECT_EQ(read<Seconds>(text), 1.5e-6);
  EXPECT_EQ(read<Seconds>("2 h"), 7200);
  EXPECT_EQ(read<Seconds>("2 min"), 120);
  EXPECT_EQ(read<Seconds>("60 days"), 60 * 86400.0);
  EXPECT_EQ(read<Seconds>("12 months"), read<Seconds>("1 year"));
}

TEST(ParseQuantity, MoneyTakesItsSignInFrontAndItsMagnitudeBehind) {
  EXPECT_EQ(read<Dollars>("$2M"), 2e6);
  EXPECT_EQ(read<Dollars>("$1.2B"), 1.2e9);
  EXPECT_EQ(read<Dollars>("$30k"), 30e3);
  EXPECT_EQ(read<Dollars>("2 M USD"), 2e6);
  EXPECT_EQ(read<Dollars>("-$5"), -5);
  EXPECT_EQ(read<Dollars>("$-5"), -5);
  EXPECT_EQ(read<GpuRent>("$2.30/GPU-hour"), 2.3 / 3600);
  EXPECT_EQ(read<GpuRent>("$2.30/GPU/h"), 2.3 / 3600);
  EXPECT_EQ(read<GpuRent>("2.30 USD/GPU-hour"), 2.3 / 3600);
  EXPECT_EQ(read<DollarsPerJoule>("$0.08/kWh"), 0.08e-3 / 3600);
  EXPECT_EQ(read<decltype(Dollars() / Gpus())>("$30k/GPU"), 30e3);
}

TEST(ParseQuantity, TokensAreCountedInMillions) {
  for (const char* text :
       {"$0.24/1M tokens", "$0.24/Mtok", "$0.24/M tokens", "$0.24/1000000 tok", "$0.24 / 1M tokens"}) {
    EXPECT_EQ(read<DollarsPerToken>(text), 0.24e-6) << text;
  }
  EXPECT_EQ(read<TokensPerSecond>("4000 tok/s"), 4000);
  EXPECT_EQ(read<TokensPerSecond>("12.5k tok/s"), 12500);
  for (const char* text : {"15T tokens", "15 T tokens", "15 Ttok", "15000B tokens"})
    EXPECT_EQ(read<Tokens>(text), 15e12);
  EXPECT_EQ(read<Gpus>("16k GPUs"), 16000);
  EXPECT_EQ(read<Bytes>("15 B"), 15) << "alone, B is a byte";
}

TEST(ParseQuantity, SpacesAroundAreIgnored) {
  EXPECT_EQ(read<BytesPerSecond>("  4.8 TB / s\t"), 4.8e12);
  EXPECT_EQ(read<Bytes>("-3 GB"), -3e9);
  EXPECT_EQ(read<Bytes>("0 B"), 0);
  EXPECT_EQ(read<Bytes>(".5 GB"), 5e8);
}

TEST(ParseQuantity, MissingUnitIsRefusedWithTheWholeFix) {
  EXPECT_EQ(error_of<Bytes>("141"), "column 4: a unit is missing: write for example '141 GB'");
  EXPECT_EQ(error_of<GpuRent>("2.30"), "column 5: a unit is missing: write for example '$2.30/GPU-hour'");
  EXPECT_EQ(error_of<BytesPerSecond>("4.8 TB/"), "column 8: a unit is missing after the last sign");
}

TEST(ParseQuantity, UnknownUnitIsRefusedWithTheNearest) {
  EXPECT_EQ(error_of<Bytes>("141 gb"), "column 5: 'gb' is no unit known here: did you mean 'Gb', 'GB' or 'b'?");
  EXPECT_EQ(error_of<Bytes>("141 KB"), "column 5: 'KB' is no unit known here: write 'kB' for 1000 or 'KiB' for 1024");
  EXPECT_EQ(error_of<Seconds>("2 huors"), "column 3: 'huors' is no unit known here: did you mean 'hours' or 'hour'?");
  EXPECT_EQ(error_of<Bytes>("141 \u00b5xyzzy"), "column 5: '\u00b5xyzzy' is no unit known here");
  EXPECT_EQ(error_of<Bytes>("1 M"), "column 3: 'M' is no unit known here: did you mean 'm', 'MB' or 'Mb'?");
  EXPECT_EQ(error_of<Bytes>("5 %"), "column 3: '%' is no unit");
}

TEST(ParseQuantity, AnotherDimensionIsRefusedByName) {
  EXPECT_EQ(error_of<BytesPerSecond>("141 GB"),
            "column 5: 'GB' is an amount of data; a bandwidth such as '4.8 TB/s' belongs here");
  EXPECT_EQ(error_of<Watts>("3 kWh"), "column 3: 'kWh' is an energy; a power such as '700 W' belongs here");
  EXPECT_EQ(error_of<GpuRent>("$2.30"),
            "column 1: '$2.30' is an amount of money; a rent per GPU such as '$2.30/GPU-hour' belongs here");
  EXPECT_EQ(error_of<Bytes>("3 kg*m"),
            "column 3: 'kg*m' is not what this figure is measured in; an amount of data such as '141 GB' belongs here");
}

TEST(ParseQuantity, WhatIsNotANumberIsRefused) {
  EXPECT_EQ(error_of<Bytes>(""), "column 1: a number is missing: write for example '141 GB'");
  EXPECT_EQ(error_of<Bytes>("much"), "column 1: 'much' does not start with a number: write for example '141 GB'");
  for (const char* text : {"nan GB", "inf GB", "-inf GB", "infinity GB", "0x10 GB", "+3 GB", "--3 GB", ".GB", "-"}) {
    EXPECT_FALSE(parse_quantity<Bytes>(text)) << text;
  }
  EXPECT_EQ(error_of<Bytes>("-0 GB"), "column 1: zero has no sign: write '0'");
  EXPECT_FALSE(parse_quantity<Dollars>("$-0.00"));
}

TEST(ParseQuantity, CommasInNumbersAreRefusedBecauseTheyMeanTwoThings) {
  EXPECT_EQ(error_of<Bytes>("4,8 GB"),
            "column 2: numbers are written without separators and with a decimal point: '1250.5'");
  EXPECT_FALSE(parse_quantity<Bytes>("1,000 GB"));
  EXPECT_FALSE(parse_quantity<Bytes>("1_000 GB"));
}

TEST(ParseQuantity, FiguresBeyondADoubleAreRefused) {
  for (const char* text : {"1e400 B", "1e-400 B", "1e300 EB", "1e308 KiB"}) {
    EXPECT_NE(error_of<Bytes>(text).find("beyond what a number can hold"), std::string::npos) << error_of<Bytes>(text);
  }
  EXPECT_NE(error_of<Seconds>("1e-320 ps").find("beyond"), std::string::npos);
  EXPECT_EQ(read<Bytes>("0e99999999999 GB"), 0);
}

TEST(ParseQuantity, TextAfterTheUnitIsRefused) {
  EXPECT_EQ(error_of<Bytes>("141 GB HBM3e"), "column 8: 'HBM3e' after the unit is not understood: remove it");
  EXPECT_FALSE(parse_quantity<Bytes>("141 GB,"));
  EXPECT_FALSE(parse_quantity<Bytes>("141 GB 3"));
  EXPECT_EQ(error_of<KilogramsPerSquareMetre>("1 kg/m^4"), "column 8: a power is 2 or 3, as in 'm^2'");
  EXPECT_EQ(error_of<DollarsPerToken>("$1/0 tok"), "column 4: nothing can be divided by zero");
}

TEST(ParseQuantity, LongTextAndBrokenBytesMakeShortCleanMessages) {
  const std::string long_text = "1 " + std::string(100'000, 'G');
  EXPECT_EQ(error_of<Bytes>(long_text),
            "column 1: a quantity is short, this text is 100002 characters long: write for example '141 GB'");
  EXPECT_EQ(error_of<Bytes>("1 GB \xff\x01"), "column 6: '?\?' after the unit is not understood: remove it");
}

TEST(ParseQuantity, LocaleDoesNotMatter) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8", "C"}) {
    if (!std::setlocale(LC_ALL, locale)) continue;  // those that the machine has
    EXPECT_EQ(read<Bytes>("1.5 GB"), 1.5e9) << locale;
    EXPECT_EQ(format(Bytes(1.5e9)), "1.50 GB") << locale;
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(ParseCount, SuffixesMultiplyExactly) {
  EXPECT_EQ(*parse_count("15T"), 15e12);
  EXPECT_EQ(*parse_count("8.03B"), 8030000000.0);
  EXPECT_EQ(*parse_count("4k"), 4000);
  EXPECT_EQ(*parse_count(" 70 M "), 70e6);
  EXPECT_EQ(*parse_count("1.5e13"), 1.5e13);
  EXPECT_EQ(*parse_count("128Ki"), 131072);
  EXPECT_EQ(*parse_count("0"), 0);
}

TEST(ParseCount, RefusesOtherSuffixesSignsAndText) {
  EXPECT_EQ(parse_count("4K").error().text(),
            "column 2: 'K' does not end a count: write '4k' for thousands or '4Ki' for units of 1024");
  EXPECT_EQ(parse_count("8G").error().text(), "column 2: 'G' does not end a count: write '8B' for billions");
  EXPECT_EQ(parse_count("-3").error().text(),
            "column 1: this number cannot be negative: write for example '64', '4k' or '15T'");
  for (const char* text : {"", "x", "12,304", "1e400", "1e308T", "4kk", "nan", "inf"})
    EXPECT_FALSE(parse_count(text)) << text;
}

TEST(ParseShare, IsAPercentageOrAFraction) {
  EXPECT_EQ(*parse_share("40%"), 0.4);
  EXPECT_EQ(*parse_share("0.4"), 0.4);
  EXPECT_EQ(*parse_share("100 %"), 1);
  EXPECT_EQ(*parse_share("0"), 0);
  EXPECT_EQ(parse_share("40").error().text(), "column 1: '40' is more than the whole: write '40%'");
  for (const char* text : {"", "-1%", "101%", "4 of 10", "40 percent"}) EXPECT_FALSE(parse_share(text)) << text;
}

}  // namespace
}  // namespace ridge
