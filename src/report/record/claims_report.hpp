// Audits of claims for people and for programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ridge/claims/claims.hpp"
#include "ridge/report/report.hpp"

namespace ridge::report {

struct ClaimsView {
  bool all = false;  ///< also what is right; otherwise errors and what could not be checked
};

/// One claim at full length: verdict, right value, formula, inputs with sources.
[[nodiscard]] Document claim_page(const Finding& finding);
/// A document or claim file: counts, then a table of findings, then what was not understood.
[[nodiscard]] Document audit_page(const Audit& audit, const ClaimsView& view);
[[nodiscard]] Table audit_table(const Audit& audit, const ClaimsView& view);
/// The text with each finding below the line it stands in; long lines are cut around it.
[[nodiscard]] std::string annotated(const Audit& audit, std::string_view text, const ClaimsView& view,
                                    const TerminalStyle& style);
[[nodiscard]] Json audits_json(std::span<const Audit> audits);

}  // namespace ridge::report
