// What the words of `ridge cost` do. Each returns the exit code, or an error that main prints.
#pragma once

#include <optional>
#include <string>

#include "app/cli/cost/work.hpp"
#include "ridge/report/report.hpp"

namespace ridge::cli {

struct CostCommand {
  EstimateFlags estimate;
  CostFlags cost;
  std::optional<CostMode> mode;  ///< said as a second word
  std::string html;              ///< FILE of --html, or empty
  bool assumptions = false;      ///< every one is listed, not only those that move the result most
};

/// own, rent, managed or api.
Result<int> cost_one(Session& session, const CostCommand& command, CostMode mode);
Result<int> cost_compare(Session& session, const CostCommand& command);
Result<int> cost_devices(Session& session, const CostCommand& command);
Result<int> cost_break_even(Session& session, const CostCommand& command);
Result<int> cost_decide(Session& session, const CostCommand& command);
Result<int> cost_risk(Session& session, const CostCommand& command);
Result<int> cost_power_cap(Session& session, const CostCommand& command);

/// What was made for each form.
struct Printed {
  Json json;
  Table csv;
  Document page;
  std::string html;  ///< finished, or empty if nobody asked
};
/// The table as programs want it.
[[nodiscard]] Table without_bars(Table table);
/// Prints what the form asks for, and writes the page where --html says so.
Result<int> print_cost(const Session& session, const CostCommand& command, const Printed& printed);

}  // namespace ridge::cli
