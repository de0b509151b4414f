#include "ridge/serve/kv_tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ridge/base/letters.hpp"
#include "ridge/base/quantity.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr double kSlowestTier = 1e3;      // bytes/s: less is a typing error
constexpr double kLongestLatency = 3600;  // seconds

Error tier_error(std::string_view tier, const std::string& why) {
  return {ErrorCode::bad_input, "kv tiers", fmt::format("{}: {}", quoted(tier), why)};
}

template <class Q>
Result<double> limit_or_inf(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  const Result<Q> read = parse_quantity<Q>(std::string(text));
  if (!read) return read.error();
  return read->value();
}

Result<KvTier> parse_tier(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  constexpr std::string_view kForm =
      "write name:capacity:bandwidth[:latency][:shared], for example ssd:4TB:12GB/s:100us";
  if (parts.size() < 3 || parts.size() > 5) return tier_error(text, std::string(kForm));
  KvTier tier;
  tier.name = parts[0];
  const Result<double> capacity = limit_or_inf<Bytes>(parts[1]);
  if (!capacity) return tier_error(text, capacity.error().message);
  tier.capacity = *capacity;
  const Result<double> rate = limit_or_inf<BytesPerSecond>(parts[2]);
  if (!rate) return tier_error(text, rate.error().message);
  tier.bytes_per_s = *rate;
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (parts[i] == "shared" && i + 1 == parts.size()) {
      tier.shared = true;
      continue;
    }
    if (i != 3) return tier_error(text, std::string(kForm));
    const Result<Seconds> latency = parse_quantity<Seconds>(parts[i]);
    if (!latency) return tier_error(text, latency.error().message);
    tier.latency = latency->value();
  }
  return tier;
}

}  // namespace

Status check_tiers(const std::vector<KvTier>& tiers) {
  if (tiers.size() > kMostTiers) {
    return Error{ErrorCode::bad_input, "kv tiers",
                 fmt::format("{} tiers are not modelled, {} are", tiers.size(), kMostTiers)};
  }
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const KvTier& t = tiers[i];
    if (t.name.empty()) return tier_error(t.name, "a tier has a name");
    if (!(t.capacity > 0))
      return tier_error(t.name, "a tier holds more than nothing: leave it out, or write a capacity");
    if (!(t.bytes_per_s >= kSlowestTier)) {
      return tier_error(t.name, "a tier that cannot be read is none: write a bandwidth, for example 12GB/s");
    }
    if (!(t.latency >= 0 && t.latency <= kLongestLatency)) {
      return tier_error(t.name, "write a latency of 0 s to one hour");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (tiers[j].name == t.name) return tier_error(t.name, "two tiers have this name");
    }
  }
  return {};
}

Result<std::vector<KvTier>> parse_tiers(std::string_view text) {
  std::vector<KvTier> tiers;
  for (const std::string& part : split(std::string(text), ',')) {
    Result<KvTier> tier = parse_tier(part);
    if (!tier) return tier.error();
    tiers.push_back(*std::move(tier));
  }
  if (const Status s = check_tiers(tiers); !s) return s.error();
  return tiers;
}

}  // namespace ridge
