#include "ridge/base/change.hpp"

#include <gtest/gtest.h>

#include "base/shell.hpp"

namespace ridge {
namespace {

TEST(Phrased, NamesFieldsAsEachReaderWritesThem) {
  const std::string text = "say ⟦power_cap⟧, for example ⟦power_cap=500W⟧";
  EXPECT_EQ(phrased(text, Voice::flags), "say --power-cap, for example --power-cap 500W");
  EXPECT_EQ(phrased(text, Voice::json), "say \"power_cap\", for example \"power_cap\": \"500W\"");
  EXPECT_EQ(phrased(text, Voice::python), "say power_cap, for example power_cap=\"500W\"");
}

TEST(Phrased, ChangesAreOneCommandLineOneObjectOrOneCall) {
  const Changes changes = {{"tp", "8"}, {"budget", "$3.2M"}, {"partial_rollouts", "true"}};
  EXPECT_EQ(as_flags(changes), "--tp 8 --budget '$3.2M' --partial-rollouts");
  EXPECT_EQ(phrased(marked(changes), Voice::json), R"("tp": 8, "budget": "$3.2M", "partial_rollouts": true)");
  EXPECT_EQ(phrased(marked(changes), Voice::python), R"(tp=8, budget="$3.2M", partial_rollouts=True)");
  EXPECT_EQ(phrased_in_json(marked({{"tp", "8"}}), Voice::json), R"(\"tp\": 8)");
  EXPECT_EQ(as_flags({}), "");
}

TEST(Phrased, WhatIsNoMarkStaysAsItIs) {
  for (const char* text : {"", "⟦", "⟧", "⟦Tp⟧", "⟦⟧", "⟦a b⟧", "⟦tp", "100 % of ⟦", "a--b, --tp"}) {
    EXPECT_EQ(phrased(text, Voice::flags), text);
    EXPECT_EQ(phrased(text, Voice::json), text);
  }
  EXPECT_EQ(phrased("⟦⟦tp⟧", Voice::flags), "⟦--tp");
}

TEST(Phrased, ProgramsAreToldTheKeyAlone) {
  const Error of_library{ErrorCode::bad_input, "⟦power_cap⟧", "say ⟦gpus⟧"};
  EXPECT_EQ(phrased(of_library, Voice::flags).text(), "--power-cap: say --gpus");
  EXPECT_EQ(phrased(of_library, Voice::json).where, "power_cap");
  EXPECT_EQ(phrased(of_library, Voice::python).text(), "power_cap: say gpus");
  EXPECT_EQ(phrased(Error{ErrorCode::bad_input, "⟦set=device.tdp=1⟧", ""}, Voice::json).where, "set");
  EXPECT_EQ(phrased(Error{ErrorCode::bad_input, "--power-cap", ""}, Voice::json).where, "power_cap");
  EXPECT_EQ(phrased(Error{ErrorCode::bad_input, "my-plan.toml:3:1", ""}, Voice::json).where, "my-plan.toml:3:1");
}

TEST(Phrased, ACommandToCopyHoldsNothingButItsWords) {
  EXPECT_EQ(phrased("⟦model=my models/$(id)⟧", Voice::flags), "--model 'my models/$(id)'");
  EXPECT_EQ(phrased("⟦model=it's;id⟧", Voice::flags), "--model 'it'\\''s;id'");
  EXPECT_EQ(shell_word("dense:layers=32,a@b"), "dense:layers=32,a@b");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(JsonNumber, IsWhatJsonCallsOne) {
  for (const char* yes : {"0", "8", "-1", "0.5", "1e9", "2.5E-3"}) EXPECT_TRUE(is_json_number(yes)) << yes;
  for (const char* no : {"", "-", "08", "1.", ".5", "1e", "8k", "500W", "nan", "0x10", "1 "})
    EXPECT_FALSE(is_json_number(no)) << no;
}

}  // namespace
}  // namespace ridge
