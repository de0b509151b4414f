// What a Checker holds.
#pragma once

#include "claims/known/facts.hpp"
#include "claims/known/kind.hpp"
#include "claims/known/mlperf_record.hpp"
#include "claims/text/names.hpp"
#include "ridge/claims/claims.hpp"

namespace ridge {

struct Checker::State {
  const Catalogue* catalogue = nullptr;
  claims::Names names;
  claims::Facts facts;
  std::unique_ptr<claims::Record> record;

  [[nodiscard]] claims::Context context() const { return {*catalogue, names, facts, *record}; }
};

}  // namespace ridge
