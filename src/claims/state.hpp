// What a Checker holds.
#pragma once

#include "claims/facts.hpp"
#include "claims/kind.hpp"
#include "claims/names.hpp"
#include "ridge/claims.hpp"

namespace ridge {

struct Checker::State {
  const Catalogue* catalogue = nullptr;
  claims::Names names;
  claims::Facts facts;

  [[nodiscard]] claims::Context context() const { return {*catalogue, names, facts}; }
};

}  // namespace ridge
