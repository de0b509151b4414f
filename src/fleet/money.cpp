#include "fleet/money.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ridge::fleet {

Exchange::Exchange(const EconomicsData& economics, const std::string& as_of) {
  for (const ExchangeRate& rate : economics.exchange) {
    if (!as_of.empty() && rate.date > as_of) continue;
    Rate& known = rates_[rate.currency];
    if (known.date <= rate.date) known = {rate.usd, rate.date};
  }
}

Status Exchange::set(const std::string& currency, double usd) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (currency.size() != 3 || !std::all_of(currency.begin(), currency.end(), is_capital)) {
    return Error{ErrorCode::bad_input, "", quoted(currency) + " is no currency: write its three letters, CNY"};
  }
  if (currency == "USD") return Error{ErrorCode::bad_input, "", "a dollar is a dollar: leave it out"};
  const auto [at, is_new] = rates_.try_emplace(currency == "RMB" ? "CNY" : currency);
  if (at->second.is_set) return Error{ErrorCode::bad_input, "", quoted(currency) + " is said twice"};
  at->second = {usd, "as the file says", false, true, !is_new};
  return {};
}

std::string Exchange::unknown() const {
  for (const auto& [currency, rate] : rates_) {
    if (!rate.is_known && !rate.used) return currency;
  }
  return {};
}

Result<std::string> Exchange::in_dollars(std::string_view text, double& rate) {
  static const std::pair<std::string_view, std::string_view> kSigns[] = {
      {"€", "EUR"}, {"¥", "CNY"}, {"£", "GBP"}, {"RMB", "CNY"}};
  std::string out(text);
  std::string currency;
  const auto take = [&](std::size_t at, std::size_t length) {
    out.erase(at, length);
    while (at < out.size() && out[at] == ' ') out.erase(at, 1);
    while (at > 0 && out[at - 1] == ' ') out.erase(--at, 1);
    while (!out.empty() && out.front() == ' ') out.erase(0, 1);
    out = "$" + out;
  };
  for (const auto& [sign, code] : kSigns) {
    if (const std::size_t at = out.find(sign); at != std::string::npos && currency.empty()) {
      currency = code;
      take(at, sign.size());
    }
  }
  for (std::size_t at = 0; currency.empty() && at + 3 <= out.size(); ++at) {
    const auto is_capital = [&](std::size_t i) {
      return i < out.size() && std::isupper(static_cast<unsigned char>(out[i])) != 0;
    };
    const bool alone = (at == 0 || std::isalpha(static_cast<unsigned char>(out[at - 1])) == 0) &&
                       (at + 3 == out.size() || std::isalpha(static_cast<unsigned char>(out[at + 3])) == 0);
    const std::string code = out.substr(at, 3);
    if (!alone || !is_capital(at) || !is_capital(at + 1) || !is_capital(at + 2) || code == "GPU" || code == "USD")
      continue;
    currency = code;
    take(at, 3);
  }
  rate = 1;
  if (currency.empty()) return out;
  const auto found = rates_.find(currency);
  if (found == rates_.end()) {
    return Error{ErrorCode::bad_input, "",
                 fmt::format("no exchange rate of {} is known: say it in the file, [exchange] {} = \"$0.5\"", currency,
                             currency)};
  }
  found->second.used = true;
  rate = found->second.usd;
  return out;
}

std::vector<std::string> Exchange::used() const {
  std::vector<std::string> out;
  for (const auto& [currency, rate] : rates_) {
    if (rate.used) out.push_back(fmt::format("{} at ${:.4g} ({})", currency, rate.usd, rate.date));
  }
  return out;
}

}  // namespace ridge::fleet
