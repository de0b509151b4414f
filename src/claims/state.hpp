// What a Checker holds.
#pragma once

#include "claims/facts.hpp"
#include "claims/kind.hpp"
#include "claims/names.hpp"
#include "claims/record.hpp"
#include "ridge/claims.hpp"

namespace ridge {

struct Checker::State {
  const Catalogue* catalogue = nullptr;
  claims::Names names;
  claims::Facts facts;
  std::unique_ptr<claims::Record> record;

  [[nodiscard]] claims::Context context() const { return {*catalogue, names, facts, *record}; }
};

}  // namespace ridge
