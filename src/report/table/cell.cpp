#include <cmath>
#include <iterator>

#include "ridge/base/change.hpp"
#include "ridge/base/text.hpp"
#include "ridge/report/report.hpp"

namespace ridge {

namespace {

/// " ms" of "31.0 ms", "" of "31.0": what follows the number.
std::string_view unit_of(std::string_view formatted) {
  const auto blank = formatted.find(' ');
  return blank == std::string_view::npos ? std::string_view() : formatted.substr(blank);
}

}  // namespace

Cell::Cell(double low, double mid, double high, int digits, Exponents exponents, Kind kind)
    : low_(low), mid_(mid), high_(high), exponents_(exponents), digits_(static_cast<std::int8_t>(digits)), kind_(kind) {
  if (!std::isfinite(mid)) *this = Cell();
}

Cell Cell::shown_as(std::string_view text) const {
  Cell copy = *this;
  if (!empty()) copy.shown_ = text;
  return copy;
}

Cell Cell::with(Emphasis emphasis) const {
  Cell copy = *this;
  copy.emphasis_ = emphasis;
  return copy;
}

std::string Cell::formatted(double value) const {
  if (exponents_ == Exponents{}) return format_number(value, digits_);
  int exponents[9];
  for (std::size_t i = 0; i < 9; ++i) exponents[i] = exponents_[i];
  return detail::format_measure(value, exponents, digits_);
}

std::string Cell::text() const {
  if (kind_ == Kind::empty) return "–";
  if (!shown_.empty()) return phrased(shown_, Voice::flags);
  if (kind_ == Kind::text) return phrased(text_, Voice::flags);
  if (kind_ == Kind::boolean) return mid_ != 0 ? "yes" : "no";
  const std::string mid = formatted(mid_);
  if (kind_ == Kind::number) return mid;
  std::string low = formatted(low_);
  std::string high = formatted(high_);
  const std::string_view unit = unit_of(mid);
  if (!unit.empty() && unit_of(low) == unit && unit_of(high) == unit) {  // said once, beside the number itself
    low.resize(low.size() - unit.size());
    high.resize(high.size() - unit.size());
  }
  return mid + " (" + low + "–" + high + ")";
}

std::string Cell::plain() const {
  switch (kind_) {
    case Kind::empty:
      return "";
    case Kind::text:
      return phrased(text_, Voice::flags);
    case Kind::boolean:
      return mid_ != 0 ? "true" : "false";
    case Kind::number:
    case Kind::interval:
      return exact_number(mid_);
  }
  return "";
}

Json Cell::json() const {
  switch (kind_) {
    case Kind::empty:
      return {};
    case Kind::text:
      return text_;
    case Kind::boolean:
      return mid_ != 0;
    case Kind::number:
      return mid_;
    case Kind::interval:
      return Json::object().set("low", low_).set("mid", mid_).set("high", high_);
  }
  return {};
}

std::string format_count(double value, int digits) {
  static constexpr char kSuffixes[] = {'k', 'M', 'B', 'T'};
  if (std::abs(value) < 1000) return format_number(value, digits);
  std::size_t step = 0;
  double scaled = value / 1000;
  // 999.9e6 with three digits is 1.00B, not 1,000M.
  const double limit = 1000 - 0.5 * std::pow(10.0, 3 - digits);
  while (std::abs(scaled) >= limit && step + 1 < std::size(kSuffixes)) {
    scaled /= 1000;
    ++step;
  }
  return format_number(scaled, digits) + kSuffixes[step];
}

}  // namespace ridge
