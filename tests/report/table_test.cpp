#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "report/page/page.hpp"
#include "ridge/report/report.hpp"

namespace ridge {
namespace {

Table devices() {
  Table table;
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "memory", .unit = "bytes", .heading = "memory", .kind = ColumnKind::number},
                   {.key = "note", .heading = "note", .overflow = Overflow::truncate}};
  table.rows = {{Cell("h200-sxm"), Cell(gigabytes(141)), Cell("the one with more memory")}, {Cell("next-chip")}};
  return table;
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, display_width(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

TEST(Terminal, TextStandsLeftAndNumbersRightAndUnknownIsADash) {
  EXPECT_EQ(to_terminal(devices()),
            " device     memory  note\n"
            " h200-sxm   141 GB  the one with more memory\n"
            " next-chip       –  –\n");
}

TEST(Terminal, WideCharactersTakeTwoColumns) {
  Table table = devices();
  table.rows[1][0] = Cell("昇腾910C");  // 2 x 2 + 4 columns
  EXPECT_EQ(to_terminal(table),
            " device    memory  note\n"
            " h200-sxm  141 GB  the one with more memory\n"
            " 昇腾910C       –  –\n");
}

TEST(Terminal, TextIsCutToTheWidthAndNumbersNever) {
  EXPECT_EQ(to_terminal(devices(), {.width = 32}),
            " device     memory  note\n"
            " h200-sxm   141 GB  the one wit…\n"
            " next-chip       –  –\n");
}

TEST(Terminal, TheMostSpareColumnGoesFirst) {
  Table table = devices();
  table.columns[1].spare = 1;
  EXPECT_EQ(to_terminal(table, {.width = 24}),
            " device     note\n"
            " h200-sxm   the one wit…\n"
            " next-chip  –\n"
            " not shown in 24\n"
            " columns: memory\n");
}

TEST(Terminal, WhatDoesNotFitIsLeftOutAndNamed) {
  EXPECT_EQ(to_terminal(devices(), {.width = 24}),
            " device     memory\n"
            " h200-sxm   141 GB\n"
            " next-chip       –\n"
            " not shown in 24\n"
            " columns: note\n");
}

TEST(Terminal, TheFirstColumnAlwaysStays) {
  EXPECT_EQ(to_terminal(devices(), {.width = 3}).substr(0, 18), " device\n h200-sxm\n");
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  Table table = devices();
  table.rows[0][2] = Cell(std::string(200, 'x') + "昇腾昇腾 and words that can be parted");
  for (const Overflow overflow : {Overflow::truncate, Overflow::wrap, Overflow::keep}) {
    table.columns[2].overflow = overflow;
    for (int width = 18; width < 120; ++width) {
      EXPECT_LE(widest_line(to_terminal(table, {.width = width})), width);
    }
  }
}

TEST(Terminal, WrappedCellsGoOnBelow) {
  Table table = devices();
  table.columns[2].overflow = Overflow::wrap;
  EXPECT_EQ(to_terminal(table, {.width = 36}),
            " device     memory  note\n"
            " h200-sxm   141 GB  the one with\n"
            "                    more memory\n"
            " next-chip       –  –\n");
}

TEST(Terminal, AListOfNamesAndValuesLosesNoValue) {
  Table table = report::two_columns("Network");
  table.rows = {{Cell("scale-up"), Cell("127 domains of 8 devices, 508 switch chips, 18,288 links between them")}};
  const std::string text = to_terminal(table, {.width = 40});
  EXPECT_LE(widest_line(text), 40);
  EXPECT_EQ(text.find("not shown"), std::string::npos) << text;
  EXPECT_NE(text.find("between"), std::string::npos) << text;
}

TEST(Terminal, ColourOnlyIfAskedAndItTakesNoRoom) {
  Table table = devices();
  table.rows[0][0] = Cell("h200-sxm").with(Emphasis::good);
  EXPECT_EQ(to_terminal(table).find('\033'), std::string::npos);
  std::string coloured = to_terminal(table, {.width = 0, .colour = true});
  EXPECT_NE(coloured.find("\033[32mh200-sxm\033[0m"), std::string::npos);
  for (std::size_t at; (at = coloured.find('\033')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  }
  EXPECT_EQ(coloured, to_terminal(devices()));
}

TEST(Terminal, TextCannotSteerTheTerminal) {
  Table table = devices();
  table.rows[0][0] = Cell("evil\033[2J\nname\xff");
  const std::string text = to_terminal(table);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("evil\\x1b[2J name\xef\xbf\xbd"), std::string::npos);
}

TEST(Terminal, APageHasItsPartsSetApartAndParagraphsWrapped) {
  Document page;
  page.title = "Page";
  Table list = devices();
  list.title = "List";
  list.headings = false;
  page.blocks = {Paragraph{"one two three four five"}, list};
  EXPECT_EQ(
      to_terminal(page, {.width = 15}),
      "Page\n\none two three\nfour five\n\nList\n h200-sxm\n next-chip\n not shown in\n 15 columns:\n memory, note\n");
}

TEST(Cells, ReadAsPeopleWriteThem) {
  EXPECT_EQ(Cell().text(), "–");
  EXPECT_EQ(Cell(true).text(), "yes");
  EXPECT_EQ(Cell(132).text(), "132");
  EXPECT_EQ(Cell(BytesPerSecond(4.8e12)).text(), "4.80 TB/s");
  EXPECT_EQ(Cell::interval({0.27, 0.31, 0.36}).text(), "0.310 (0.270–0.360)");
  EXPECT_EQ(Cell::interval<Seconds>({0.0272, 0.031, 0.0361}).text(), "31.0 ms (27.2–36.1)");
}

TEST(Cells, AnIntervalAcrossTwoPrefixesNamesBothUnits) {
  EXPECT_EQ(Cell::interval<Seconds>({0.5, 1, 2}).text(), "1.00 s (500 ms–2.00 s)");
}

TEST(Cells, NotANumberIsUnknown) {
  EXPECT_TRUE(Cell(std::nan("")).empty());
  EXPECT_TRUE(Cell(Bytes(INFINITY)).empty());
}

TEST(Cells, ShownTextIsForPeopleAndTheNumberForPrograms) {
  const Cell year = Cell(2024).shown_as("2024");
  EXPECT_EQ(year.text(), "2024");
  EXPECT_EQ(year.json().text(), "2024\n");
  EXPECT_EQ(Cell().shown_as("nothing").text(), "–");
  const Cell marked = Cell("2025-08").shown_as("2025-08 !");
  EXPECT_EQ(marked.text(), "2025-08 !");
  EXPECT_EQ(marked.plain(), "2025-08");
  EXPECT_EQ(marked.json().text(), "\"2025-08\"\n");
}

TEST(Counts, HaveASuffixAndCarryOver) {
  EXPECT_EQ(format_count(8.03e9), "8.03B");
  EXPECT_EQ(format_count(671.026e9), "671B");
  EXPECT_EQ(format_count(999.9e6), "1.00B");
  EXPECT_EQ(format_count(15e12), "15T");
  EXPECT_EQ(format_count(131072), "131k");
}

TEST(Csv, HasBaseUnitsAndTheUnitInTheName) {
  EXPECT_EQ(to_csv(devices()),
            "device,memory_bytes,note\nh200-sxm,141000000000,the one with more memory\nnext-chip,,\n");
}

TEST(Csv, AnIntervalIsThreeColumnsAndAYesIsTrue) {
  Table table;
  table.columns = {{.key = "ttft", .unit = "s", .heading = "TTFT", .kind = ColumnKind::interval},
                   {.key = "fits", .heading = "fits"}};
  table.rows = {{Cell::interval<Seconds>({0.25, 0.5, 1}), Cell(true)}, {Cell(), Cell("a, \"b\"")}};
  EXPECT_EQ(to_csv(table), "ttft_s_low,ttft_s,ttft_s_high,fits\n0.25,0.5,1,true\n,,,\"a, \"\"b\"\"\"\n");
}

TEST(TableJson, IsOneObjectPerRow) {
  EXPECT_EQ(to_json(devices()).text(),
            "[\n  {\"device\": \"h200-sxm\", \"memory_bytes\": 141000000000, \"note\": \"the one with more memory\"},\n"
            "  {\"device\": \"next-chip\", \"memory_bytes\": null, \"note\": null}\n]\n");
}

TEST(Markdown, AlignsAndEscapes) {
  Table table = devices();
  table.title = "Two chips";
  table.rows[1] = {Cell("a|b_c"), Cell(), Cell("x\ny")};
  EXPECT_EQ(
      to_markdown(table),
      "## Two chips\n\n| device | memory | note |\n|---|--:|---|\n| h200-sxm | 141 GB | the one with more memory |\n"
      "| a\\|b\\_c | – | x y |\n");
}

TEST(DisplayWidth, CountsWideCombiningAndPlain) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("昇腾"), 4);
  EXPECT_EQ(display_width("e\xcc\x81"), 1);  // e and a combining acute accent
  EXPECT_EQ(display_width("–·≤×"), 4);
  EXPECT_EQ(display_width("🚀"), 2);
  EXPECT_EQ(display_width("한국어"), 6);
}

TEST(WrapText, KeepsWordsWholeAndBreaksOnlyLongOnes) {
  EXPECT_EQ(wrap_text("aa bb  cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
  EXPECT_EQ(wrap_text("abcdefgh ij", 3), (std::vector<std::string>{"abc", "def", "gh", "ij"}));
  EXPECT_EQ(wrap_text("昇腾昇腾", 5), (std::vector<std::string>{"昇腾", "昇腾"}));
  EXPECT_EQ(wrap_text("", 5), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace ridge
