// The bundled data, and answers to queries, for tests.
#pragma once

#include <gtest/gtest.h>

#include "support/bundle.hpp"

namespace ridge::testing_support {

/// The answer to a query; a failed resolve() fails the test.
inline InferenceOutcome answer(const InferenceQuery& query) {
  const auto deployment = resolve(query, knowledge());
  EXPECT_TRUE(deployment) << deployment.error().text();
  return deployment ? evaluate(*deployment->resolved, query.load) : InferenceOutcome{};
}

}  // namespace ridge::testing_support
