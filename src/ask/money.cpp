#include "ask/money.hpp"

#include <algorithm>
#include <cctype>

#include "ridge/base/letters.hpp"

namespace ridge::ask {

namespace {

struct CurrencySign {
  std::string_view written;
  std::string_view code;
};

constexpr CurrencySign kCurrencySigns[] = {{"RMB", "CNY"}, {"¥", "CNY"}, {"￥", "CNY"}, {"元", "CNY"}, {"€", "EUR"}};

/// The currency at the start of the text, and how many bytes it takes.
std::optional<std::pair<std::string, std::size_t>> currency_at(std::string_view text) {
  for (const CurrencySign& sign : kCurrencySigns) {
    if (text.starts_with(sign.written)) return std::pair(std::string(sign.code), sign.written.size());
  }
  const auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool code = text.size() >= 3 && capital(text[0]) && capital(text[1]) && capital(text[2]) &&
                    (text.size() == 3 || std::isalpha(static_cast<unsigned char>(text[3])) == 0);
  if (!code || text.starts_with("USD") || text.starts_with("GPU")) return std::nullopt;
  return std::pair(std::string(text.substr(0, 3)), std::size_t{3});
}

std::string_view after_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace

std::optional<ForeignMoney> foreign_money(std::string_view text) {
  text = after_blanks(text);
  if (const auto before = currency_at(text)) {
    return ForeignMoney{before->first, "$" + std::string(after_blanks(text.substr(before->second)))};
  }
  const std::size_t number = std::min(text.find_first_not_of("0123456789.,kKM"), text.size());
  if (number == 0) return std::nullopt;
  const std::string_view rest = after_blanks(text.substr(number));
  const auto after = currency_at(rest);
  if (!after) return std::nullopt;
  return ForeignMoney{after->first,
                      "$" + std::string(text.substr(0, number)) + std::string(rest.substr(after->second))};
}

}  // namespace ridge::ask
