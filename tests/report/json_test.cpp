#include <gtest/gtest.h>

#include <charconv>
#include <clocale>
#include <cmath>
#include <limits>
#include <string>

#include "ridge/base/random.hpp"
#include "ridge/report/report.hpp"

namespace ridge {
namespace {

TEST(Json, KeysKeepTheirOrderAndASecondSetReplaces) {
  const Json json = Json::object().set("z", 1).set("a", 2).set("z", 3);
  EXPECT_EQ(json.text(), "{\"z\": 3, \"a\": 2}\n");
}

TEST(Json, StringsAreEscaped) {
  EXPECT_EQ(Json("a\"b\\c\nd\te\x1b").text(), "\"a\\\"b\\\\c\\nd\\te\\u001b\"\n");
  EXPECT_EQ(Json("昇腾 910C").text(), "\"昇腾 910C\"\n");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(Json("a\xff-\xc3").text(), "\"a" + replacement + "-" + replacement + "\"\n");
  EXPECT_EQ(Json("\xc0\xaf").text(), "\"" + replacement + replacement + "\"\n");  // overlong '/'
  EXPECT_EQ(Json("\xed\xa0\x80").text().size(), 3 + 3 * 3U);                      // a surrogate is three bad bytes
}

TEST(Json, WhatJsonLacksIsNull) {
  EXPECT_EQ(Json(std::nan("")).text(), "null\n");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null\n");
  EXPECT_EQ(Json().text(), "null\n");
}

TEST(Json, WholeNumbersAreWrittenOut) {
  EXPECT_EQ(exact_number(141e9), "141000000000");
  EXPECT_EQ(exact_number(-8), "-8");
  EXPECT_EQ(exact_number(0), "0");
  EXPECT_EQ(exact_number(0.1), "0.1");
  EXPECT_EQ(exact_number(1e300), "1e+300");
}

TEST(Json, NumbersReadBackEqual) {
  Random draws(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(draws.uniform() - 0.5, static_cast<int>(draws.below(200)) - 100);
    const std::string text = exact_number(value);
    double back = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), back);
    ASSERT_EQ(end.ptr, text.data() + text.size());
    ASSERT_EQ(back, value) << text;
  }
}

TEST(Json, NumbersDoNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  std::setlocale(LC_NUMERIC, "de_DE.UTF-8");  // decimal comma where it is installed
  EXPECT_EQ(Json(0.5).text(), "0.5\n");
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(Json, ShortPartsStayOnOneLineAndLongOnesAreIndented) {
  const std::string x(40, 'x');
  Json list = Json::array();
  for (int i = 0; i < 3; ++i) list.push(Json::object().set("name", x).set("i", i));
  EXPECT_EQ(Json::object().set("schema", "s/1").set("list", list).text(),
            "{\n  \"schema\": \"s/1\",\n  \"list\": [\n    {\"name\": \"" + x + "\", \"i\": 0},\n    {\"name\": \"" +
                x + "\", \"i\": 1},\n    {\"name\": \"" + x + "\", \"i\": 2}\n  ]\n}\n");
}

TEST(Json, AtMakesAKeyAndFindsItAgain) {
  Json json = Json::object();
  json.at("peak") = Json::object();
  json.at("peak").set("bf16", 1);
  EXPECT_EQ(json.text(), "{\"peak\": {\"bf16\": 1}}\n");
  EXPECT_FALSE(json.empty());
  EXPECT_TRUE(Json::object().empty());
  EXPECT_TRUE(Json::array().empty());
}

}  // namespace
}  // namespace ridge
