#include "claims/reading/misreadings.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::claims {

bool speaks_of_measurement(const Tokens& tokens) {
  return any_word(tokens,
                  {"measured", "measure", "measures",    "observed", "saw",       "averaged",  "averages", "idle",
                   "idles",    "idling",  "benchmarked", "profiled", "sustained", "throttled", "assume",   "assuming",
                   "suppose",  "getting", "reports",     "reported", "reserved",  "typically"});
}

bool sets_apart(const Tokens& tokens) {
  return any_word(tokens, {"than",    "vs",     "versus",   "compared",  "instead",     "whereas", "while", "but",
                           "unlike",  "not",    "without",  "cheaper",   "rather",      "from",    "below", "above",
                           "another", "others", "engineer", "engineers", "salary",      "staff",   "labor", "increase",
                           "between", "if",     "plus",     "extra",     "respectively"});
}

bool is_log(const Tokens& tokens) {
  constexpr std::ptrdiff_t kMany = 10;
  const auto numbers = std::count_if(tokens.begin(), tokens.end(), [](const Token& t) { return t.is_number(); });
  const auto words =
      std::count_if(tokens.begin(), tokens.end(), [](const Token& t) { return t.type == Token::Type::word; });
  return numbers > kMany && words < 2 * numbers;
}

bool is_listed(const Tokens& tokens, std::size_t at) {
  if (at < 2 || !tokens[at - 2].is_number()) return false;
  if (!tokens[at - 1].is("vs") && !tokens[at - 1].is("versus") && !tokens[at - 1].is("/")) return false;
  // "1200 W vs 700 W for the H100" says whose it is.
  return !any_word(tokens, at + 1, at + 2, {"for"}) &&
         !(at + 1 < tokens.size() && tokens[at + 1].is_name(NameKind::device));
}

bool belongs_elsewhere(const Tokens& tokens, std::size_t at, std::string_view figure) {
  const std::size_t from = at > 8 ? at - 8 : 0;
  const std::size_t to = std::min(at + 7, tokens.size());
  for (std::size_t i = at + 1; i + 1 < to; ++i) {
    if (tokens[i].is("out") && tokens[i + 1].is("of")) return true;
  }
  if (any_word(tokens, at + 1, at + 4, {"overhead", "headroom", "above", "below", "physical", "savings"})) return true;
  if (any_word(tokens, from, at, {"each"}) && any_word(tokens, from, at, {"of", "them"}) &&
      any_word(tokens, from, at, {"having", "has", "with"}) &&
      any_word(tokens, {"two", "distinct", "dies", "devices"})) {
    return true;
  }
  if (at > 0 && tokens[at - 1].is("=")) return true;  // worked out
  // "1,000 W for flagship units"
  if (any_word(tokens, at + 1, at + 2, {"for"}) && at + 2 < tokens.size() && tokens[at + 2].type == Token::Type::word &&
      !any_word(tokens, at + 2, at + 3, {"the", "a", "an", "each"})) {
    return true;
  }
  if (figure == "memory") {
    return tokens[at].text.find("bit") != std::string::npos ||
           any_word(tokens, from, to,
                    {"cpu",     "grace",  "ram",    "host",      "slice", "stack",   "stacks",   "free",  "need",
                     "needs",   "budget", "swap",   "disk",      "nvme",  "lpddr5x", "clock",    "bus",   "node",
                     "variant", "usage",  "within", "container", "used",  "uses",    "distinct", "model", "gcd",
                     "gcds",    "die",    "dies",   "separate",  "half",  "core",    "cores",    "bank",  "banks"});
  }
  if (figure == "bandwidth") {
    return any_word(
        tokens, from, to,
        {"ici",      "unidirectional", "bidirectional", "duplex", "pcie",   "axis",   "axes",    "host",
         "ethernet", "infiniband",     "nic",           "dcn",    "egress", "reduce", "variant", "direction",
         "domain",   "interconnect",   "nvlink",        "stack",  "stacks", "l2",     "sram"});
  }
  if (figure == "power") {
    if (any_word(tokens, {"cluster", "datacenter", "campus", "hall", "halls"})) return true;
    return any_word(tokens, from, to, {"server", "node", "rack", "cluster", "system", "idle", "cooling", "variant"});
  }
  return any_word(tokens, from, to, {"board", "pod", "superpod", "cluster", "variant"});
}

bool is_plausible(const Measure& claimed, const Measure& right) {
  if (right.value == 0 || claimed.value == 0) return false;
  const double ratio = std::abs(claimed.value / right.value);
  if (ratio < 10 && ratio > 0.1) return true;
  for (const double slip : {1e3, 1e-3, 1e6, 1e-6, 16.0, 72.0}) {
    if (std::abs(ratio / slip - 1) < 0.13) return true;
  }
  return false;
}

}  // namespace ridge::claims
