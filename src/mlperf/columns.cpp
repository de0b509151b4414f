#include "mlperf/columns.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"

namespace ridge::mlperf {

namespace {
constexpr std::size_t kTableLimit = 64u << 20;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::size_t> Columns::find(std::string_view column) {
  for (const auto& [name, place] : places_) {
    // Names are literals: the same one is the same pointer.
    if (name.data() == column.data() && name.size() == column.size()) return place;
  }
  const Result<std::size_t> place = table_.required_column(column);
  if (!place) {
    if (!error_) error_ = place.error();
    return std::nullopt;
  }
  places_.emplace_back(column, *place);
  return *place;
}

std::string_view Columns::view(std::size_t row, std::string_view column) {
  const auto place = find(column);
  return place ? table_.cell(row, *place) : std::string_view();
}

std::optional<double> Columns::optional_number(std::size_t row, std::string_view column, double low, double high) {
  const std::string_view text = view(row, column);
  if (text.empty()) return std::nullopt;
  const auto value = number_of(text);
  if (!value) {
    refuse(row, column, quoted(text) + " is not a number");
  } else if (*value < low || *value > high) {
    refuse(row, column, fmt::format("{} is outside {:g} to {:g}", quoted(text), low, high));
  } else {
    return value;
  }
  return std::nullopt;
}

double Columns::number(std::size_t row, std::string_view column, double low, double high) {
  const auto value = optional_number(row, column, low, high);
  if (!value) refuse(row, column, "a number is missing");
  return value.value_or(low);
}

int Columns::whole(std::size_t row, std::string_view column, int low, int high) {
  const double value = number(row, column, low, high);
  if (value != std::floor(value)) refuse(row, column, "a whole number belongs here");
  return static_cast<int>(value);
}

void Columns::refuse(std::size_t row, std::string_view column, std::string message) {
  if (error_) return;
  const auto place = find(column);
  if (place) error_ = table_.error(row, *place, std::move(message));
}

Result<CsvTable> read_table(const std::string& path) {
  Result<std::string> text = read_file(path, kTableLimit);
  if (!text) return text.error();
  return CsvTable::parse(*std::move(text), path, kTableLimit);
}

}  // namespace ridge::mlperf
