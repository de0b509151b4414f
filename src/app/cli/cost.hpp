// What the words of `ridge cost` do. Each returns the exit code, or an error that main prints.
#pragma once

#include <string>

#include "app/cli/cost_work.hpp"

namespace ridge::cli {

struct CostCommand {
  EstimateFlags estimate;
  CostFlags cost;
  std::string html;  ///< FILE of --html, or empty
};

/// own, rent, managed or api.
Result<int> cost_one(Session& session, const CostCommand& command, CostMode mode);

/// Prints what the form asks for, and writes the page where --html says so.
struct Printed {
  Json json;
  Table csv;
  Document page;
  std::string html;  ///< finished, or empty if nobody asked
};
Result<int> print_cost(const Session& session, const CostCommand& command, const Printed& printed);

}  // namespace ridge::cli
