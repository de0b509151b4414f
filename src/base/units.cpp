#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace ridge::detail {

namespace {

enum Prefixes : unsigned { kNone = 0, kLarge = 1, kSmall = 2, kBinary = 4, kBillion = 8 };

struct UnitWord {
  std::string_view word;
  double multiply;
  double divide;
  Exponents exponents;
  unsigned prefixes;
};

// Exponents are in the order of Dimension: byte, second, flop, joule, dollar, token, GPU, kilogram, metre.
constexpr UnitWord kUnits[] = {
    {"B", 1, 1, {1}, kLarge | kBinary},
    {"byte", 1, 1, {1}, kNone},
    {"bytes", 1, 1, {1}, kNone},
    {"b", 1, 8, {1}, kLarge},
    {"bit", 1, 8, {1}, kLarge},
    {"bits", 1, 8, {1}, kNone},
    {"bps", 1, 8, {1, -1}, kLarge},
    {"s", 1, 1, {0, 1}, kSmall},
    {"sec", 1, 1, {0, 1}, kNone},
    {"second", 1, 1, {0, 1}, kNone},
    {"seconds", 1, 1, {0, 1}, kNone},
    {"min", 60, 1, {0, 1}, kNone},
    {"minute", 60, 1, {0, 1}, kNone},
    {"minutes", 60, 1, {0, 1}, kNone},
    {"h", 3600, 1, {0, 1}, kNone},
    {"hr", 3600, 1, {0, 1}, kNone},
    {"hour", 3600, 1, {0, 1}, kNone},
    {"hours", 3600, 1, {0, 1}, kNone},
    {"d", 86400, 1, {0, 1}, kNone},
    {"day", 86400, 1, {0, 1}, kNone},
    {"days", 86400, 1, {0, 1}, kNone},
    {"week", 604800, 1, {0, 1}, kNone},
    {"weeks", 604800, 1, {0, 1}, kNone},
    {"month", 2628000, 1, {0, 1}, kNone},  // 730 h, what leases and cloud price lists count
    {"months", 2628000, 1, {0, 1}, kNone},
    {"year", 31536000, 1, {0, 1}, kNone},  // 8,760 h
    {"years", 31536000, 1, {0, 1}, kNone},
    {"yr", 31536000, 1, {0, 1}, kNone},
    {"y", 31536000, 1, {0, 1}, kNone},
    {"Hz", 1, 1, {0, -1}, kLarge},
    {"FLOP", 1, 1, {0, 0, 1}, kLarge},
    {"FLOPS", 1, 1, {0, -1, 1}, kLarge},
    {"OP", 1, 1, {0, 0, 1}, kLarge},
    {"OPS", 1, 1, {0, -1, 1}, kLarge},
    {"J", 1, 1, {0, 0, 0, 1}, kLarge | kSmall},
    {"Wh", 3600, 1, {0, 0, 0, 1}, kLarge | kSmall},
    {"W", 1, 1, {0, -1, 0, 1}, kLarge | kSmall},
    {"USD", 1, 1, {0, 0, 0, 0, 1}, kNone},
    {"$", 1, 1, {0, 0, 0, 0, 1}, kNone},
    {"tok", 1, 1, {0, 0, 0, 0, 0, 1}, kLarge | kBillion},
    {"token", 1, 1, {0, 0, 0, 0, 0, 1}, kLarge | kBillion},
    {"tokens", 1, 1, {0, 0, 0, 0, 0, 1}, kLarge | kBillion},
    {"GPU", 1, 1, {0, 0, 0, 0, 0, 0, 1}, kNone},
    {"GPUs", 1, 1, {0, 0, 0, 0, 0, 0, 1}, kNone},
    {"g", 1, 1e3, {0, 0, 0, 0, 0, 0, 0, 1}, kLarge},
    {"m", 1, 1, {0, 0, 0, 0, 0, 0, 0, 0, 1}, kSmall},
};

struct PrefixWord {
  std::string_view word;
  int power;
  double multiply;
  Prefixes group;
};

constexpr PrefixWord kPrefixes[] = {
    {"k", 3, 1, kLarge},        {"M", 6, 1, kLarge},        {"G", 9, 1, kLarge},        {"T", 12, 1, kLarge},
    {"P", 15, 1, kLarge},       {"E", 18, 1, kLarge},       {"Z", 21, 1, kLarge},       {"Y", 24, 1, kLarge},
    {"m", -3, 1, kSmall},       {"u", -6, 1, kSmall},       {"\u00b5", -6, 1, kSmall},  // micro sign
    {"\u03bc", -6, 1, kSmall},  // Greek mu, which looks the same
    {"n", -9, 1, kSmall},       {"p", -12, 1, kSmall},      {"Ki", 0, 0x1p10, kBinary}, {"Mi", 0, 0x1p20, kBinary},
    {"Gi", 0, 0x1p30, kBinary}, {"Ti", 0, 0x1p40, kBinary}, {"Pi", 0, 0x1p50, kBinary}, {"B", 9, 1, kBillion},
};

const UnitWord* exact(std::string_view word) {
  const auto* found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& u) { return u.word == word; });
  return found == std::end(kUnits) ? nullptr : found;
}

Unit scaled(const UnitWord& unit, int power, double multiply) {
  Unit result{power, unit.multiply * multiply, unit.divide, {}};
  std::copy(std::begin(unit.exponents), std::end(unit.exponents), result.exponents);
  return result;
}

constexpr Step kDecimal[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
constexpr Step kSmallAndDecimal[] = {{1e-9, "n"}, {1e-6, "u"}, {1e-3, "m"}, {1, ""},     {1e3, "k"},
                                     {1e6, "M"},  {1e9, "G"},  {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
constexpr Step kTime[] = {{1e-9, "ns"},     {1e-6, "us"},    {1e-3, "ms"},         {1, "s", 120},
                          {60, "min", 120}, {3600, "h", 48}, {86400, "days", 730}, {31536000, "years", 1e6}};
// Below a kilowatt-hour in joules, above it as it is billed.
constexpr Step kEnergy[] = {{1e-3, "mJ"},   {1, "J"},       {1e3, "kJ"},     {1e6, "MJ", 3.6},
                            {3.6e6, "kWh"}, {3.6e9, "MWh"}, {3.6e12, "GWh"}, {3.6e15, "TWh"}};
constexpr Step kMoney[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "B"}, {1e12, "T"}};
constexpr Step kPlain[] = {{1, "", 1e15}};

constexpr Kind kKinds[] = {
    {{1}, "an amount of data", "", "141", " GB", "B", 1, kDecimal, true},
    {{0, 1}, "a duration", "", "40", " ms", "", 1, kTime},
    {{0, 0, 1}, "an amount of work", "", "6.2", " EFLOP", "FLOP", 1, kDecimal},
    {{0, 0, 0, 1}, "an energy", "", "3", " kWh", "", 1, kEnergy},
    {{0, 0, 0, 0, 1}, "an amount of money", "$", "2", "M", "", 1, kMoney},
    {{0, 0, 0, 0, 0, 1}, "a number of tokens", "", "15", " Ttok", "tok", 1, kDecimal, true},
    {{0, 0, 0, 0, 0, 0, 1}, "a number of GPUs", "", "8", " GPU", "GPU", 1, kPlain, true},
    {{0, 0, 0, 0, 0, 0, 0, 1}, "a mass", "", "130", " kg", "kg", 1, kPlain},
    {{0, 0, 0, 0, 0, 0, 0, 0, 1}, "a length", "", "2.5", " m", "m", 1, kPlain},
    {{0, 0, 0, 0, 0, 0, 0, 0, 2}, "an area", "", "40", " m2", "m2", 1, kPlain},
    {{0, -1}, "a frequency", "", "1830", " MHz", "Hz", 1, kDecimal},
    {{1, -1}, "a bandwidth", "", "4.8", " TB/s", "B/s", 1, kDecimal},
    {{0, -1, 1}, "a compute rate", "", "989.4", " TFLOP/s", "FLOP/s", 1, kDecimal},
    {{0, -1, 0, 1}, "a power", "", "700", " W", "W", 1, kSmallAndDecimal},
    {{0, -1, 0, 0, 0, 1}, "a token rate", "", "4000", " tok/s", "tok/s", 1, kDecimal},
    {{0, -1, 0, 0, 0, 1, -1}, "a token rate per GPU", "", "500", " tok/s/GPU", "tok/s/GPU", 1, kDecimal},
    {{0, 0, 0, 1, 0, -1}, "an energy per token", "", "2.46", " J/token", "J/token", 1, kSmallAndDecimal},
    {{0, 0, 0, -1, 0, 1}, "an energy efficiency", "", "2.5", " tok/J", "tok/J", 1, kDecimal},
    {{0, 0, 1, -1}, "an energy efficiency", "", "1.4", " TFLOP/J", "FLOP/J", 1, kDecimal},
    {{-1, 0, 1}, "an arithmetic intensity", "", "295", " FLOP/B", "FLOP/B", 1, kPlain},
    {{1, 0, 0, 0, 0, -1}, "an amount of data per token", "", "320", " kB/token", "B/token", 1, kDecimal, true},
    {{0, 0, 1, 0, 0, -1}, "an amount of work per token", "", "140", " GFLOP/token", "FLOP/token", 1, kDecimal},
    {{0, 1, 0, 0, 0, -1}, "a time per token", "", "31", " ms/token", "/token", 1, kTime},
    {{0, -1, 0, 0, 1}, "a running cost", "$", "18.40", "/hour", "/hour", 1 / 3600.0, kMoney},
    {{0, 0, 0, 0, 1, -1}, "a price per token", "$", "0.24", "/1M tokens", "/1M tokens", 1e-6, kMoney},
    {{0, 0, 0, -1, 1}, "a price of energy", "$", "0.08", "/kWh", "/kWh", 1 / 3.6e6, kMoney},
    {{0, -1, 0, 0, 1, 0, -1}, "a rent per GPU", "$", "2.30", "/GPU-hour", "/GPU-hour", 1 / 3600.0, kMoney},
    {{0, 0, 0, 0, 1, 0, -1}, "a price per GPU", "$", "30", "k/GPU", "/GPU", 1, kMoney},
    {{0, 1, 0, -1, 1}, "a price per power", "$", "11", "/W", "/W", 1, kMoney},
    {{-1, 0, 0, 0, 1}, "a price of data", "$", "0.09", "/GB", "/GB", 1e-9, kMoney},
    {{-1, -1, 0, 0, 1}, "a price of storage", "$", "0.02", "/GB-month", "/GB-month", 1e-9 / 2628000, kMoney},
    {{0, 0, 0, 0, 0, 0, 0, 1, -2}, "a floor load", "", "1500", " kg/m2", "kg/m2", 1, kPlain},
};

constexpr const char* kBaseNames[kBaseUnits] = {"B", "s", "FLOP", "J", "USD", "tok", "GPU", "kg", "m"};

std::vector<std::string> all_spellings() {
  std::vector<std::string> all;
  for (const UnitWord& unit : kUnits) {
    if (unit.word != "$") all.emplace_back(unit.word);
    for (const PrefixWord& prefix : kPrefixes) {
      if (unit.prefixes & prefix.group) all.push_back(std::string(prefix.word) + std::string(unit.word));
    }
  }
  return all;
}

}  // namespace

std::optional<Unit> find_unit(std::string_view word) {
  if (const UnitWord* unit = exact(word)) return scaled(*unit, 0, 1);
  for (const PrefixWord& prefix : kPrefixes) {
    if (!word.starts_with(prefix.word)) continue;
    const UnitWord* unit = exact(word.substr(prefix.word.size()));
    if (unit && (unit->prefixes & prefix.group)) return scaled(*unit, prefix.power, prefix.multiply);
  }
  return std::nullopt;
}

const std::vector<std::string>& unit_spellings() {
  static const std::vector<std::string> spellings = all_spellings();
  return spellings;
}

bool is_counted(std::string_view word) {
  constexpr std::string_view kCounted[] = {"tok", "token", "tokens", "GPU", "GPUs", "USD"};
  return std::find(std::begin(kCounted), std::end(kCounted), word) != std::end(kCounted);
}

int magnitude(char letter) {
  switch (letter) {
    case 'k':
      return 3;
    case 'M':
      return 6;
    case 'B':
      return 9;
    case 'T':
      return 12;
    default:
      return 0;
  }
}

const Kind* find_kind(const Exponents& exponents) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
    return std::equal(std::begin(exponents), std::end(exponents), std::begin(kind.exponents));
  });
  return found == std::end(kKinds) ? nullptr : found;
}

std::string spell(const Exponents& exponents) {
  std::string above, below;
  for (int i = 0; i < kBaseUnits; ++i) {
    const int e = exponents[i];
    if (e == 0) continue;
    std::string& part = e > 0 ? above : below;
    if (e < 0) part += '/';
    if (e > 0 && !part.empty()) part += '*';
    part += kBaseNames[i];
    if (e > 1 || e < -1) part += '^' + std::to_string(e < 0 ? -e : e);
  }
  return above + below;
}

}  // namespace ridge::detail
