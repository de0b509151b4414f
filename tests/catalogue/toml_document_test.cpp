#include "catalogue/files/toml_document.hpp"

#include <gtest/gtest.h>

namespace ridge {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

void expect_refused_at(std::string_view text, std::string_view where) {
  const Result<TomlNode> root = parse_toml(text, "f.toml");
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(root.error().code, ErrorCode::bad_input);
  EXPECT_EQ(root.error().where, where) << root.error().message;
}

TEST(TomlDocument, KeysAndValuesKnowTheirLineAndColumn) {
  const Result<TomlNode> root = parse_toml("a = 1\n\n[t]\n  key = \"text\"\n", "f.toml");
  ASSERT_TRUE(root.ok()) << root.error().text();
  const TomlMember* key = root->find("t")->value.find("key");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->line, 4U);
  EXPECT_EQ(key->column, 3U);
  EXPECT_EQ(key->value.column, 9U);
  EXPECT_EQ(key->value.text, "text");
  EXPECT_EQ(root->find("b"), nullptr);
}

TEST(TomlDocument, EveryKindOfValueArrives) {
  const Result<TomlNode> root = parse_toml("a=1\nb=1.5\nc=true\nd=2026-08-01\ne=[1,2]\nf={g=1}\nh='x'\n", "f.toml");
  ASSERT_TRUE(root.ok()) << root.error().text();
  EXPECT_EQ(root->find("a")->value.integer, 1);
  EXPECT_EQ(root->find("b")->value.number, 1.5);
  EXPECT_TRUE(root->find("c")->value.flag);
  EXPECT_EQ(root->find("d")->value.kind, TomlNode::Kind::date);
  EXPECT_EQ(root->find("e")->value.items.size(), 2U);
  EXPECT_EQ(root->find("f")->value.find("g")->value.integer, 1);
  EXPECT_EQ(root->find("h")->value.kind, TomlNode::Kind::text);
}

TEST(TomlDocument, MalformedTextIsRefusedWhereItBreaks) {
  expect_refused_at("a = \n", "f.toml:1:5");
  expect_refused_at("a = 1\na = 2\n", "f.toml:2:5");
  expect_refused_at("a = \"never closed", "f.toml:1:18");
  expect_refused_at("[table", "f.toml:1:7");
  expect_refused_at("a = { b = 1", "f.toml:1:12");
}

TEST(TomlDocument, TextThatIsNotUtf8IsRefused) {
  expect_refused_at("a = 1\nb = \"\xff\xfe\"\n", "f.toml:2:5");
  expect_refused_at("\xed\xa0\x80 = 1\n", "f.toml:1:1");
}

TEST(TomlDocument, LettersBeyondAsciiStandInQuotesAndCommentsAlone) {
  expect_refused_at("a = 1\nµ = 2\n", "f.toml:2:1");
  expect_refused_at("a = { mean = 1, µean = 2 }\n", "f.toml:1:17");
  EXPECT_FALSE(parse_toml("a = +\"µ\"\n", "f.toml").ok());
  const Result<TomlNode> root = parse_toml(
      "\xEF\xBB\xBF# µ\na = \"µ\"\n\"µ\" = 'µ'\nb = \"\"\"\nµ\"\"\"\"\"\nc = \"\"\"x \\\n  µ\"\"\"\n", "f.toml");
  ASSERT_TRUE(root.ok()) << root.error().text();
  EXPECT_EQ(root->find("a")->value.text, "µ");
  EXPECT_EQ(root->find("µ")->value.text, "µ");
  EXPECT_EQ(root->find("b")->value.text, "µ\"\"");
  EXPECT_EQ(root->find("c")->value.text, "x µ");
}

TEST(TomlDocument, DeepNestingIsRefusedBeforeItIsParsed) {
  expect_refused_at("a = " + repeated("[", 100'000), "f.toml:1:29");
  expect_refused_at("a = " + repeated("{a=", 100'000), "f.toml:1:77");
  expect_refused_at("a" + repeated(".a", 1'000'000) + " = 1", "f.toml:1:32");
  expect_refused_at("[a" + repeated(".a", 1'000'000) + "]", "f.toml:1:33");
  expect_refused_at("a" + repeated(" . \"a\"", 100'000) + " = 1", "f.toml:1:93");
}

TEST(TomlDocument, DotsAndBracketsInTextAndCommentsDoNotNest) {
  const std::string dots = repeated(".[{", 100);
  const std::string text = "a = \"" + dots + "\"\nb = '" + dots + "'\nc = \"\"\"\n" + dots + "\\\"\"\"\" # " + dots +
                           "\nd = '''" + dots + "''''\ne = [" + repeated("1.5, ", 200) + "]\n";
  const Result<TomlNode> root = parse_toml(text, "f.toml");
  EXPECT_TRUE(root.ok()) << root.error().text();
}

TEST(TomlDocument, MoreThanTheLimitIsRefused) {
  const Result<TomlNode> root = parse_toml(std::string(kTomlSizeLimit + 1, '\n'), "f.toml");
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(root.error().where, "f.toml");
}

}  // namespace
}  // namespace ridge
