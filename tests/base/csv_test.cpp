#include "ridge/base/csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ridge {
namespace {

using std::string_literals::operator""s;

std::string error_of(std::string text, std::size_t limit = CsvTable::kDefaultLimit) {
  const auto table = CsvTable::parse(std::move(text), "t.csv", limit);
  return table ? "no error" : table.error().text();
}

TEST(Csv, FindsCellsByTheNameOfTheirColumn) {
  const auto table = CsvTable::parse("id,price\nh100,25000\nh200,31000\n", "t.csv");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->rows(), 2u);
  EXPECT_EQ(table->columns(), 2u);
  ASSERT_EQ(table->column("price"), 1u);
  EXPECT_EQ(table->cell(0, 1), "25000");
  EXPECT_EQ(table->cell(1, 0), "h200");
  EXPECT_FALSE(table->column("Price"));
}

TEST(Csv, MissingColumnIsRefusedWithTheNearest) {
  const auto table = CsvTable::parse("id,price\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows(), 0u);
  const auto column = table->required_column("prices");
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().code, ErrorCode::not_found);
  EXPECT_EQ(column.error().text(), "t.csv:1:1: the column 'prices' is missing: did you mean 'price'?");
  EXPECT_EQ(*table->required_column("id"), 0u);
}

TEST(Csv, QuotedCellsMayHoldCommasLinesAndDoubledQuotes) {
  const auto table = CsvTable::parse("a,b\n\"x, \"\"y\"\"\n2\",\"\"\nlast,\"q\"\n", "t.csv");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->cell(0, 0), "x, \"y\"\n2");
  EXPECT_EQ(table->cell(0, 1), "");
  EXPECT_EQ(table->cell(1, 1), "q");
  EXPECT_EQ(table->line(1, 0), 4u) << "the quoted cell takes two lines";
}

TEST(Csv, LineEndsAreLfOrCrlfAndTheLastIsOptional) {
  for (const char* text : {"a,b\n1,2\n", "a,b\n1,2", "a,b\r\n1,2\r\n", "a,b\r\n1,2",
                           "\xEF\xBB\xBF"
                           "a,b\n1,2\n"}) {
    const auto table = CsvTable::parse(text, "t.csv");
    ASSERT_TRUE(table) << table.error().text();
    EXPECT_EQ(table->header(0), "a");
    ASSERT_EQ(table->rows(), 1u);
    EXPECT_EQ(table->cell(0, 1), "2");
  }
}

TEST(Csv, PositionsCountLinesAndCharactersFromOne) {
  const auto table = CsvTable::parse("a,b,c\nµs,ß,\"x\"\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->where(0, 0), "t.csv:2:1");
  EXPECT_EQ(table->where(0, 1), "t.csv:2:4") << "µ is one character";
  EXPECT_EQ(table->character(0, 2), 6u);
  EXPECT_EQ(table->error(0, 2, "why").text(), "t.csv:2:6: why");
  const auto marked = CsvTable::parse(
      "\xEF\xBB\xBF"
      "a,b\n",
      "t.csv");
  ASSERT_TRUE(marked);
  EXPECT_EQ(error_of("\xEF\xBB\xBF"
                     "a,a\n"),
            "t.csv:1:3: the column 'a' is there twice")
      << "the mark is no character";
}

TEST(Csv, ViewsStayValidInTheMovedOrCopiedTable) {
  auto first = CsvTable::parse("a\n1\n", "t.csv");  // short enough for the small-string buffer
  ASSERT_TRUE(first);
  const CsvTable copy = *first;
  const CsvTable moved = *std::move(first);
  EXPECT_EQ(copy.cell(0, 0), "1");
  EXPECT_EQ(moved.cell(0, 0), "1");
}

TEST(Csv, RowsMustHaveAsManyCellsAsTheHeader) {
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "t.csv:3:1: this row has 1 cell, the header has 2");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"),
            "t.csv:2:1: this row has 3 cells, the header has 2: a cell with a comma in it goes between double quotes");
  EXPECT_EQ(error_of("a,b\n1,2\n\n"), "t.csv:3:1: this line is empty, the header has 2 cells: remove it");
}

TEST(Csv, BrokenQuotesAreRefusedWhereTheyStand) {
  EXPECT_EQ(error_of("a,b\n1,\"2\n3,4\n"), "t.csv:2:3: the quote that opens this cell is never closed");
  EXPECT_EQ(error_of("a,b\n1,x\"2\n"),
            "t.csv:2:4: a quote inside a cell: put the cell between double quotes and double this one");
  EXPECT_EQ(error_of("a,b\n1,\"2\"x\n"),
            "t.csv:2:6: text after a closing quote: a quote inside a quoted cell is written twice");
}

TEST(Csv, HeaderMustNameEveryColumnOnce) {
  EXPECT_EQ(error_of(""), "t.csv:1:1: the table is empty: the first row must name the columns");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "t.csv:1:1: the table is empty: the first row must name the columns");
  EXPECT_EQ(error_of("a,,b\n"), "t.csv:1:3: a column without a name");
  EXPECT_EQ(error_of("a,b,a\n"), "t.csv:1:5: the column 'a' is there twice");
}

TEST(Csv, WhatIsNotTextIsRefused) {
  EXPECT_EQ(error_of("a,b\n1,\0\n"s), "t.csv:2:3: a NUL byte: this is not a text file");
  EXPECT_EQ(error_of("a,b\n1,\"\0\"\n"s), "t.csv:2:4: a NUL byte: this is not a text file");
  EXPECT_EQ(error_of("a,b\r1,2\r"), "t.csv:1:5: a carriage return without a line feed: end lines with LF or CRLF");
  // Latin-1, a stray continuation, an overlong slash, a surrogate, above U+10FFFF, a sequence cut short
  for (const char* bad : {"\xE4", "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(error_of("a,b\n1,x" + std::string(bad)), "t.csv:2:4: malformed UTF-8: save the file as UTF-8");
  }
  EXPECT_EQ(error_of("a\n€ \xF0\x9F\x98\x80\n"), "no error");
}

TEST(Csv, SizeLimitIsExact) {
  EXPECT_EQ(error_of("a\n12345\n", 8), "no error");
  EXPECT_EQ(error_of("a\n123456\n", 8), "t.csv: the table has 9 bytes, more than the limit of 8");
}

TEST(Csv, WhatIsWrittenReadsBack) {
  const std::vector<std::vector<std::string>> rows = {{"plain", "two words"},      {"a,b", "say \"hi\""}, {"", ""},
                                                      {"line\nbreak", "cr\r\nlf"}, {"\"", " padded "},    {"µ", "€"}};
  std::string out;
  CsvWriter writer(out);
  writer
      .cell(
          "\xEF\xBB\xBF"
          "first")
      .cell("second")
      .end_row();
  for (const auto& row : rows) writer.cell(row[0]).cell(row[1]).end_row();

  const auto table = CsvTable::parse(out, "t.csv");
  ASSERT_TRUE(table) << table.error().text() << "\n" << out;
  EXPECT_EQ(table->header(0),
            "\xEF\xBB\xBF"
            "first");
  ASSERT_EQ(table->rows(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(table->cell(i, 0), rows[i][0]);
    EXPECT_EQ(table->cell(i, 1), rows[i][1]);
  }
}

TEST(Csv, QuotesAreWrittenOnlyWhereNeeded) {
  std::string out;
  CsvWriter writer(out);
  writer.cell("a").cell("b c").cell("1,5").end_row();
  writer.cell("").end_row();
  EXPECT_EQ(out, "a,b c,\"1,5\"\n\"\"\n");
}

TEST(ForgivingCsv, TheHeaderTellsTheSeparator) {
  for (const char* text : {"a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n"}) {
    const auto table = CsvTable::parse_forgiving(text, "t.csv");
    ASSERT_TRUE(table.ok()) << table.error().text();
    EXPECT_EQ(table->columns(), 2u) << text;
    EXPECT_EQ(table->cell(0, 1), "2") << text;
  }
  const auto quoted = CsvTable::parse_forgiving("a;b\n\"1;2\";3,4\n", "t.csv");
  ASSERT_TRUE(quoted.ok());
  EXPECT_EQ(quoted->cell(0, 0), "1;2");
  EXPECT_EQ(quoted->cell(0, 1), "3,4");
}

TEST(ForgivingCsv, ColumnNamesAreFolded) {
  const auto table = CsvTable::parse_forgiving("\n Model , Output Tok/s,,model,TTFT (ms),\nx,1,2,3,4\n", "t.csv");
  ASSERT_TRUE(table.ok()) << table.error().text();
  EXPECT_EQ(table->columns(), 5u) << "a separator at the end is no column";
  EXPECT_EQ(table->column("ttft_ms"), 4u);
  EXPECT_EQ(table->column("model"), 0u) << "of two, the first";
  EXPECT_EQ(table->column("output_tok_s"), 1u);
  EXPECT_EQ(table->line(0, 0), 3u);
  EXPECT_EQ(table->fault(0), "");
}

TEST(ForgivingCsv, AFaultIsOfItsRowAlone) {
  const auto table = CsvTable::parse_forgiving("a,b\n1\n\n2,3\n4,5,6\n7,8,\n", "t.csv");
  ASSERT_TRUE(table.ok()) << table.error().text();
  ASSERT_EQ(table->rows(), 4u);
  EXPECT_EQ(table->fault(0), "t.csv:2:1: this row has 1 cell, the header has 2");
  EXPECT_EQ(table->cell(0, 1), "") << "what is missing is empty";
  EXPECT_EQ(table->fault(1), "");
  EXPECT_EQ(table->cell(1, 1), "3");
  EXPECT_NE(table->fault(2), "");
  EXPECT_EQ(table->fault(3), "");
}

TEST(ForgivingCsv, WhatIsNoQuoteIsALetter) {
  const auto table = CsvTable::parse_forgiving("a,b\n\"x,2\n5\" card,3\n \"y, z\" ,4\n \"p, q\",6\r7,\xff\n", "t.csv");
  ASSERT_TRUE(table.ok()) << table.error().text();
  ASSERT_EQ(table->rows(), 5u);
  EXPECT_EQ(table->cell(0, 0), "\"x") << "text stands after the next quote: it closes nothing";
  EXPECT_EQ(table->cell(1, 0), "5\" card");
  EXPECT_EQ(table->cell(2, 0), "y, z");
  EXPECT_EQ(table->cell(3, 0), "p, q");
  EXPECT_EQ(table->cell(4, 1), "?");
  for (std::size_t row = 0; row < 5; ++row) EXPECT_EQ(table->fault(row), "");
}

TEST(ForgivingCsv, WhatIsNoTableIsRefused) {
  EXPECT_FALSE(CsvTable::parse_forgiving("", "t.csv").ok());
  EXPECT_FALSE(CsvTable::parse_forgiving(" \n\n", "t.csv").ok());
  EXPECT_FALSE(CsvTable::parse_forgiving(std::string("a,b\n1,\0\n", 8), "t.csv").ok());
}

}  // namespace
}  // namespace ridge
