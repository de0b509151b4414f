#include <gtest/gtest.h>

#include "ridge/perf/perf.hpp"

namespace ridge {
namespace {

TEST(Format, EveryNameReadsBackAsItself) {
  for (std::size_t i = 0; i < kFormats; ++i) {
    const auto format = static_cast<Format>(i);
    const auto read = parse_format(name(format));
    ASSERT_TRUE(read) << name(format);
    EXPECT_EQ(*read, format);
  }
}

TEST(Format, WeightOnlyQuantisersAreInt4) {
  for (const char* text : {"awq", "gptq", "w4a16"}) EXPECT_EQ(*parse_format(text), Format::int4) << text;
  EXPECT_EQ(*parse_format("q4_k_m"), Format::q4_k_m);
}

TEST(Format, BlocksOfLlamaCppAreKnownByBothSpellings) {
  EXPECT_EQ(*parse_format("q8-0"), Format::q8_0);
  EXPECT_EQ(*parse_format("q8_0"), Format::q8_0);
  EXPECT_EQ(*parse_format("q4_0"), Format::q4_0);
  EXPECT_EQ(*parse_format("q6_k"), Format::q6_k);
  for (const Format f : {Format::q4_k_m, Format::q4_0, Format::q6_k, Format::q8_0}) EXPECT_TRUE(is_gguf(f)) << name(f);
  for (const Format f : {Format::bf16, Format::int4, Format::nvfp4}) EXPECT_FALSE(is_gguf(f)) << name(f);
}

TEST(Format, AnUnknownNameIsRefusedWithTheNearest) {
  const auto f = parse_format("pf16");
  ASSERT_FALSE(f);
  EXPECT_NE(f.error().message.find("fp16"), std::string::npos) << f.error().message;
}

// nvfp4: 4 bits and an 8-bit scale per 16 = 4.5; mxfp4: per 32 = 4.25; int4: 16-bit scale and 4-bit zero per 128
// = 4.16.
TEST(Format, StorageCountsScales) {
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::nvfp4) * 8, 4.5);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::mxfp4) * 8, 4.25);
  EXPECT_NEAR(bytes_per_weight(Format::int4) * 8, 4.16, 0.005);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::q4_k_m) * 8, 4.85);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::q4_0) * 32, 18);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::q6_k) * 256, 210);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::q8_0) * 32, 34);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::fp8), 1);
  EXPECT_DOUBLE_EQ(bytes_per_element(Format::bf16), 2);
  EXPECT_DOUBLE_EQ(bytes_per_weight(Format::mxfp8) * 32, 33);
}

}  // namespace
}  // namespace ridge
