#include "evidence/case_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ridge::evidence {
namespace {

bool digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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

std::string_view CaseRow::text(std::string_view column) const {
  const auto position = table_.column(column);
  return position ? table_.cell(row_, *position) : std::string_view();
}

void CaseRow::refuse(std::string_view column, const std::string& message) {
  if (!refusal_.empty()) return;
  const auto position = table_.column(column);
  refusal_ = fmt::format("{}: {}: {}", table_.where(row_, position.value_or(0)), column, message);
}

bool CaseRow::require(std::string_view column) {
  if (!text(column).empty()) return true;
  refuse(column, "this cell is empty, and no prediction can be made without it");
  return false;
}

std::optional<double> CaseRow::number(std::string_view column, double low, double high) {
  const std::string_view cell = text(column);
  if (cell.empty()) return std::nullopt;
  const auto value = parse_plain_number(cell);
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
  const std::string_view cell = text(column);
  if (cell.empty() || cell == "unknown") return std::nullopt;
  const auto parsed = parse_format(cell);
  if (!parsed) {
    refuse(column, parsed.error().message);
    return std::nullopt;
  }
  return *parsed;
}

}  // namespace ridge::evidence
