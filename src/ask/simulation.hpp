// Values of a simulation that are more than a number or a word: "gamma:2", "0.9:20", "2P1D", "0:8", "2@30s".
//
//   ArrivalProcess arrivals;
//   if (const Status s = read_arrivals("gamma:2", arrivals); !s) return s;
//
// Refuse (bad_input) others. Pure; any thread.
#pragma once

#include <string_view>

#include "ridge/base/result.hpp"
#include "ridge/serve/simulation.hpp"

namespace ridge::ask {

[[nodiscard]] Status read_arrivals(std::string_view text, ArrivalProcess& into);
[[nodiscard]] Status read_pools(std::string_view text, int& prefill, int& decode);
[[nodiscard]] Status can_read_pools(std::string_view text);

}  // namespace ridge::ask
