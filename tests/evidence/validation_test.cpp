#include "evidence/validate/validation.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ridge::evidence {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

Case make(const char* id, CaseKind kind, const char* mode, const char* device) {
  Case c;
  c.id = id;
  c.kind = kind;
  c.mode = mode;
  c.device = device;
  return c;
}

Case kernel(const char* id, KernelOp op, const char* device) {
  Case c = make(id, CaseKind::kernel, "", device);
  KernelCase input;
  input.op = op;
  c.input = input;
  return c;
}

const std::vector<Case> kCases = {make("a", CaseKind::inference, "offline", "h100"),
                                  make("b,\"x\"", CaseKind::inference, "closed-loop", "h200"),
                                  kernel("c", KernelOp::mla_decode, "h200")};

std::vector<ResultRow> rows() {
  return {{0, Metric::output_tok_s, 100, {90, 110, 120}, {}, 200, kNothing},
          {1,
           Metric::ttft_ms,
           50,
           {kNothing, kNothing, kNothing},
           "out_of_memory: short by 3 GB, really",
           kNothing,
           kNothing},
          {2, Metric::seconds, 1e-5, {8e-6, 9e-6, 1.2e-5}, {}, 1e-6, kNothing}};
}

TEST(Validation, RowsHaveExactlyTheseColumns) {
  EXPECT_EQ(rows_csv(kCases, rows()),
            "id,metric,measured,predicted,low,high,error,refusal\n"
            "a,output_tok_s,100,110,90,120,0.1,\n"
            "\"b,\"\"x\"\"\",ttft_ms,50,,,,,\"out_of_memory: short by 3 GB, really\"\n"
            "c,seconds,1e-05,9e-06,8e-06,1.2e-05,-0.1,\n");
}

TEST(Validation, ModesAndOperatorClassesAreSummarisedApart) {
  const Catalogue catalogue;
  const auto lines = summary(kCases, rows(), GroupBy::none, catalogue);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].category.label(), "output_tok_s offline");
  EXPECT_EQ(lines[1].category.label(), "ttft_ms closed-loop");
  EXPECT_EQ(lines[2].category.label(), "seconds attention");
  EXPECT_DOUBLE_EQ(lines[1].errors.coverage(), 0);
  ASSERT_EQ(lines[1].refusals.size(), 1u);
  EXPECT_EQ(lines[1].refusals[0].first, "out_of_memory");
  EXPECT_DOUBLE_EQ(lines[0].roofline.median, 1.0);
}

TEST(Validation, GroupingSplitsByDevice) {
  const Catalogue catalogue;
  std::vector<Case> cases = kCases;
  cases[1].mode = "offline";
  auto all = rows();
  all[1] = {1, Metric::output_tok_s, 10, {9, 10, 11}, {}, kNothing, kNothing};
  const auto lines = summary(cases, all, GroupBy::device, catalogue);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].group, "h100");
  EXPECT_EQ(lines[1].group, "h200");
  EXPECT_EQ(lines[1].category, lines[0].category);
}

TEST(Validation, AddedRowsStandApart) {
  const Catalogue catalogue;
  std::vector<Case> cases = kCases;
  cases[0].fitted = false;
  const auto lines = summary(cases, rows(), GroupBy::none, catalogue);
  EXPECT_EQ(lines.back().category.label(), "added: output_tok_s offline");
}

// 200 tok/s is the datasheet's bound: 110 is allowed, 210 is not; a kernel in less than the bound neither.
TEST(Validation, FasterThanTheRooflineIsFound) {
  auto all = rows();
  EXPECT_TRUE(faster_than_roofline(all).empty());
  all[0].predicted.mid = 210;
  all[2].predicted.mid = 0.9e-6;
  EXPECT_EQ(faster_than_roofline(all), (std::vector<std::size_t>{0, 2}));
}

TEST(Validation, EveryGroupWordIsKnown) {
  for (const char* word : {"model", "device", "source", "engine", "precision", "mode", "class"}) {
    EXPECT_TRUE(parse_group(word).has_value()) << word;
  }
  EXPECT_FALSE(parse_group("colour").has_value());
}

}  // namespace
}  // namespace ridge::evidence
