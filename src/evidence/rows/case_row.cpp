#include "evidence/rows/case_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "ridge/base/letters.hpp"

namespace ridge::evidence {
namespace {

bool digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// "12,345.6": groups of three after the first.
bool has_thousands(std::string_view number) {
  const std::string_view whole = number.substr(0, number.find('.'));
  std::size_t comma = whole.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma > 3) return false;
  for (std::size_t from = 0;; from = comma + 1, comma = whole.find(',', from)) {
    const std::string_view group = whole.substr(from, comma == std::string_view::npos ? comma : comma - from);
    if (!digits(group) || (from > 0 && group.size() != 3)) return false;
    if (comma == std::string_view::npos) return true;
  }
}

/// Formats under names that parse_format() does not know.
constexpr std::pair<std::string_view, std::string_view> kFormatNames[] = {
    {"float8", "fp8"},      {"fp8-e5m2", "fp8"},    {"float8-e4m3fn", "fp8"}, {"fp8-e4m3fn", "fp8"},
    {"bf16-mixed", "bf16"}, {"fp16-mixed", "fp16"}, {"fp8-mixed", "fp8"},     {"fp8-hybrid", "fp8"},
    {"mixed-bf16", "bf16"}, {"fp8-kv", "fp8"},      {"float", "fp32"},        {"awq-int4", "awq"},
    {"int4-awq", "awq"},    {"gptq-int4", "gptq"},  {"awq-marlin", "awq"},    {"gptq-marlin", "gptq"},
    {"q4-k-m", "q4_k_m"}};

}  // namespace

std::string_view cell_text(const CsvTable& table, std::size_t row, std::string_view column) {
  constexpr std::string_view kNoFigure[] = {"n/a", "na", "-", "nan", "null"};
  const auto position = table.column(column);
  if (!position) return {};
  const std::string_view cell = trimmed(table.cell(row, *position), " \t");
  const bool nothing = std::any_of(std::begin(kNoFigure), std::end(kNoFigure),
                                   [&](std::string_view word) { return same_word(word, cell); });
  return nothing ? std::string_view() : cell;
}

std::string folded_word(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '_' || c == ' ' ? '-' : lower(c);
  return out;
}

std::optional<double> cell_number(const CsvTable& table, std::string_view cell) {
  if (const auto plain = parse_plain_number(cell)) return plain;
  std::string number(cell);
  const bool decimal_comma = table.separator() == ';' && std::count(number.begin(), number.end(), ',') == 1 &&
                             number.find('.') == std::string::npos;
  if (decimal_comma) {
    std::replace(number.begin(), number.end(), ',', '.');
  } else if (has_thousands(number)) {
    std::erase(number, ',');
  } else {
    return std::nullopt;
  }
  return parse_plain_number(number);
}

Result<std::optional<Format>> cell_format(std::string_view cell) {
  const std::string word = folded_word(cell);
  if (word.empty() || word == "unknown" || word == "auto") return std::optional<Format>();
  const auto* const known = std::find_if(std::begin(kFormatNames), std::end(kFormatNames),
                                         [&](const auto& name) { return name.first == word; });
  const Result<Format> parsed = parse_format(known == std::end(kFormatNames) ? std::string_view(word) : known->second);
  if (!parsed) return parse_format(cell).error();  // as it was written
  return std::optional<Format>(*parsed);
}

std::optional<double> parse_plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string leading_date(std::string_view text) {
  if (text.size() < 4 || !digits(text.substr(0, 4))) return {};
  std::size_t length = 4;
  // "-07" is a month; "-2025" is the other end of a range of years.
  for (int part = 0; part < 2; ++part) {
    const bool more = text.size() >= length + 3 && text[length] == '-' && digits(text.substr(length + 1, 2)) &&
                      (text.size() == length + 3 || !digits(text.substr(length + 3, 1)));
    if (!more) break;
    length += 3;
  }
  return std::string(text.substr(0, length));
}

std::string CaseRow::located(std::string_view column, const std::string& message) const {
  return fmt::format("{}: {}: {}", table_.where(row_, table_.column(column).value_or(0)), column, message);
}

void CaseRow::refuse(std::string_view column, const std::string& message) {
  refuse_whole(located(column, message));
}

bool CaseRow::require(std::string_view column) {
  if (!text(column).empty()) return true;
  refuse(column, "this cell is empty, and no prediction can be made without it");
  return false;
}

std::optional<double> CaseRow::number(std::string_view column, double low, double high) {
  const std::string_view cell = text(column);
  if (cell.empty()) return std::nullopt;
  const auto value = cell_number(table_, cell);
  if (!value) {
    refuse(column, fmt::format("'{}' is not a number", cell));
    return std::nullopt;
  }
  if (*value < low || *value > high) {
    refuse(column, fmt::format("{} is outside of {:g} to {:g}", cell, low, high));
    return std::nullopt;
  }
  return value;
}

std::optional<int> CaseRow::integer(std::string_view column, int low, int high) {
  const auto value = number(column, low, high);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value)) {
    refuse(column, fmt::format("{} is not a whole number", text(column)));
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

std::optional<Format> CaseRow::format(std::string_view column) {
  const auto parsed = cell_format(text(column));
  if (!parsed) {
    refuse(column, parsed.error().message);
    return std::nullopt;
  }
  return *parsed;
}

}  // namespace ridge::evidence
