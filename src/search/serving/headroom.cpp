#include "ridge/search/headroom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ridge/base/csv.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr int kMostSpares = 1000;
constexpr double kMostPeak = 1000;
constexpr double kMostRate = 1e9;

int replicas_within(int gpus, int gpus_per_replica) {
  return std::max(1, (gpus + gpus_per_replica - 1) / std::max(1, gpus_per_replica));
}

}  // namespace

int Spares::replicas(int gpus_per_replica, int gpus_per_node, int gpus_per_rack) const {
  switch (unit) {
    case Unit::replica:
      return count + rolling;
    case Unit::node:
      return count * replicas_within(gpus_per_node, gpus_per_replica) + rolling;
    case Unit::rack:
      return count * replicas_within(gpus_per_rack, gpus_per_replica) + rolling;
  }
  return count + rolling;
}

std::string Spares::text() const {
  if (count == 0) return {};
  switch (unit) {
    case Unit::replica:
      return fmt::format("N+{}", count);
    case Unit::node:
      return "a node";
    case Unit::rack:
      return "a rack";
  }
  return {};
}

Result<Spares> parse_spares(std::string_view text) {
  const std::string word = lower(text);
  if (word == "none") return Spares{};
  if (word == "node") return Spares{Spares::Unit::node, 1};
  if (word == "rack") return Spares{Spares::Unit::rack, 1};
  const std::string_view number = std::string_view(word).substr(word.starts_with("n+") ? 2 : 0);
  const Result<double> count = parse_count(number);
  if (!count || *count < 0 || *count > kMostSpares || *count != std::floor(*count)) {
    return Error{ErrorCode::bad_input, "", "write N+1, N+2, node, rack or none, not " + quoted(text)};
  }
  return Spares{Spares::Unit::replica, static_cast<int>(*count)};
}

Result<double> parse_peak(std::string_view text) {
  std::string_view number = text;
  double unit = 1;
  if (number.ends_with("x") || number.ends_with("X")) {
    number.remove_suffix(1);
  } else if (number.ends_with("%")) {
    number.remove_suffix(1);
    unit = 0.01;
  }
  const Result<double> times = parse_count(number);
  if (!times || !(*times * unit >= 1 && *times * unit <= kMostPeak)) {
    return Error{ErrorCode::bad_input, "", "write how many times the mean the busiest time has, for example 3x"};
  }
  return *times * unit;
}

double TrafficShape::peak() const {
  return parts.empty() ? 1 : *std::max_element(parts.begin(), parts.end());
}

Result<TrafficShape> parse_traffic(std::string csv, const std::string& file) {
  const auto table = CsvTable::parse(std::move(csv), file);
  if (!table) return table.error();
  const auto wrong = [&](const std::string& message) { return Error{ErrorCode::bad_input, file, message}; };
  const auto hours = table->column("hour");
  const auto rates = table->column("requests_per_s");
  const auto shares = table->column("share");
  if (!hours || rates.has_value() == shares.has_value()) {
    return wrong("has the columns hour and requests_per_s, or hour and share");
  }
  if (table->rows() < 2 || table->rows() > kMostTrafficParts) {
    return wrong(fmt::format("has {} rows; 2 to {} equally long parts of a day or week are taken", table->rows(),
                             kMostTrafficParts));
  }
  TrafficShape shape;
  shape.name = file;
  const std::size_t value = rates ? *rates : *shares;
  std::vector<double> starts;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const Result<double> hour = parse_count(table->cell(row, *hours));
    if (!hour) return table->error(row, *hours, "write an hour from the start: 0, 1, 2");
    const Result<double> part = parse_count(table->cell(row, value));
    if (!part || *part < 0 || *part > kMostRate) return table->error(row, value, "write a number of at least 0");
    starts.push_back(*hour);
    shape.parts.push_back(*part);
  }
  shape.part_hours = starts[1] - starts[0];
  if (!(shape.part_hours > 0)) return table->error(1, *hours, "hours have to grow");
  for (std::size_t row = 2; row < starts.size(); ++row) {
    const double meant = starts[0] + shape.part_hours * static_cast<double>(row);
    if (std::fabs(starts[row] - meant) > 1e-6 * std::max(1.0, meant)) {
      return table->error(row, *hours, "hours are evenly spaced: " + format_number(meant, 6) + " is expected");
    }
  }
  const double mean =
      std::accumulate(shape.parts.begin(), shape.parts.end(), 0.0) / static_cast<double>(shape.parts.size());
  if (!(mean > 0)) return wrong("there are no requests at all");
  if (rates) shape.mean_rate = mean;
  for (double& part : shape.parts) part /= mean;
  return shape;
}

}  // namespace ridge
