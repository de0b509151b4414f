#include "app/cli/session/dates.hpp"

#include <algorithm>
#include <charconv>

#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr int kStaleMonths = 6;

/// The number of `size` digits at `at`, or 0 if the text ends before.
int part(std::string_view text, std::size_t at, std::size_t size) {
  int value = 0;
  if (text.size() >= at + size) std::from_chars(text.data() + at, text.data() + at + size, value);
  return value;
}

struct Date {
  int year = 0;
  int month = 0;  // 0 = not said
  int day = 0;

  explicit Date(std::string_view text) : year(part(text, 0, 4)), month(part(text, 5, 2)), day(part(text, 8, 2)) {}
};

int days_in(const Date& date) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (date.year % 4 == 0 && date.year % 100 != 0) || date.year % 400 == 0;
  return date.month == 2 && leap ? 29 : kDays[date.month - 1];
}

}  // namespace

Result<std::string_view> parse_date(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd";
  bool good = text.size() == 4 || text.size() == 7 || text.size() == 10;
  for (std::size_t i = 0; good && i < text.size(); ++i) {
    good = kShape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == '-';
  }
  if (good) {
    const Date date(text);
    good = text.size() < 7 || (date.month >= 1 && date.month <= 12);
    good = good && (text.size() < 10 || (date.day >= 1 && date.day <= days_in(date)));
  }
  if (!good) return Error{ErrorCode::bad_input, "", quoted(text) + " is no date; write 2026-06-30, 2026-06 or 2026"};
  return text;
}

bool is_later(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  return a.substr(0, common) > b.substr(0, common);
}

bool is_stale(std::string_view date, std::string_view as_of) {
  if (date.empty() || as_of.empty()) return false;
  const Date then(date), now(as_of);
  // The missing month of a price is its December, that of today January.
  const int months = (now.year * 12 + std::max(now.month, 1)) - (then.year * 12 + (then.month == 0 ? 12 : then.month));
  if (months != kStaleMonths) return months > kStaleMonths;
  return then.day != 0 && now.day != 0 && then.day < now.day;
}

}  // namespace ridge::cli
