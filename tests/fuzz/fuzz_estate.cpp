// Any bytes are an estate's file or an error with its place; what is accepted has months, demand and finite numbers.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "economics/economics_data.hpp"
#include "ridge/fleet/fleet.hpp"
#include "search/buyer/policy.hpp"
#include "support/bundle.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ridge::Knowledge kKnowledge = ridge::testing_support::knowledge();
  static const auto kEconomics = ridge::load_economics(RIDGE_DATA_DIR "/economics", kKnowledge.catalogue);
  static const auto kPolicy = ridge::search::load_policy(RIDGE_DATA_DIR "/policy");
  require(kEconomics.ok() && kPolicy.ok());
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto estate = ridge::fleet::read_estate(text, "e.toml", kKnowledge, *kEconomics, *kPolicy, "2026-11-16");
  if (!estate) {
    require(!estate.error().message.empty() && estate.error().where.starts_with("e.toml"));
    return 0;
  }
  const ridge::fleet::Problem& problem = estate->problem;
  require(problem.months >= 1 && problem.hours >= 1);
  for (const ridge::fleet::Service& service : problem.services) {
    for (const double demand : service.demand) require(std::isfinite(demand) && demand >= 0);
  }
  return 0;
}
