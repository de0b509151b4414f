// Where caches of prompts go when the device's own memory is full: host memory, SSDs, a store in the network.
//
//   Result<std::vector<KvTier>> tiers =
//   parse_tiers("host:512GB:50GB/s,ssd:4TB:12GB/s:100us,store:inf:10GB/s:1ms:shared"); query.policies.tiers = *tiers;
//   // nearest first Result<SimulationResult> r = simulate(query, knowledge); r->tiers[0].fetched_tokens;
//   r->tiers[1].declined_tokens;
//
// A beginning of a prompt that is evicted from the device goes to the first tier, what that has no room for to the
// second, and so on; the oldest goes first. A tier that all engines share gets everything as it is computed. A prompt
// that comes back is fetched before its engine takes it in, while others run; where recomputing is faster it is
// recomputed (declined_tokens counts that). Transfers out of one tier follow each other. Writing goes on beside
// everything else and takes no time. Values; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

struct KvTier {
  std::string name;
  double capacity = 0;     ///< bytes: of each engine, or of all together if shared; infinity is allowed
  double bytes_per_s = 0;  ///< read by one engine; infinity is allowed
  double latency = 0;      ///< seconds of each fetch
  bool shared = false;     ///< by all engines: what one has computed another may fetch
};

/// What a tier did in a simulation, all engines together.
struct TierResult {
  std::string name;
  std::uint64_t fetched_tokens = 0;
  std::uint64_t fetches = 0;
  std::uint64_t declined_tokens = 0;  ///< were there, but recomputing was faster
  std::uint64_t lost_tokens = 0;      ///< pushed out of this tier, and no other took them
  double fetch_seconds = 0;           ///< of all fetches, waiting for the link included
  double peak_bytes = 0;              ///< the most that was held at once
};

inline constexpr std::size_t kMostTiers = 8;

/// "name:capacity:bandwidth[:latency][:shared]", comma between tiers, nearest first; "inf" for what has no limit.
/// Refuses (bad_input) what cannot be read, nothing, a capacity or bandwidth of zero, names that occur twice, and more
/// than kMostTiers.
Result<std::vector<KvTier>> parse_tiers(std::string_view text);
/// The same of a list that was made otherwise.
Status check_tiers(const std::vector<KvTier>& tiers);

}  // namespace ridge
