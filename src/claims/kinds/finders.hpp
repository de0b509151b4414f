// The text sides of kinds whose formula and pattern would not fit into one file.
#pragma once

#include <string>

#include "claims/reading/collector.hpp"

namespace ridge::claims {

void find_calculations(const Passage& passage, Collector& out);
void find_specifications(const Passage& passage, Collector& out);
/// Which figure of the part before it the number at `at` is, in a clause that does not say: "H100 has 80 GB". Empty if
/// the clause is about something else.
[[nodiscard]] std::string plain_figure(const Tokens& tokens, std::size_t at);
/// "memory", "bandwidth" or "power" by the unit alone, or empty.
[[nodiscard]] std::string figure_by_unit(const Measure& m);
/// The figure a cell states under its header, given what it is measured in; empty if none.
[[nodiscard]] std::string column_figure(const TableCell& cell, const Measure& m);
/// Rows of a table whose columns are headed with parts.
void find_columns(const Passage& row, Collector& out);
void find_training_times(const Passage& passage, Collector& out);
void find_training_rates(const Passage& passage, Collector& out);
void find_training_costs(const Passage& passage, Collector& out);
void find_run_costs(const Passage& passage, Collector& out);

/// The devices and systems a number of a sentence may be about: those of the sentence, nearest first, then those of the
/// one before.
[[nodiscard]] std::vector<const Token*> parts_in_scope(const Passage& sentence, std::size_t at);

/// Takes up a factor or percentage that holds between two parts in scope, for this figure; false if it holds for none.
bool find_pair(const Passage& sentence, std::size_t at, const std::string& figure, const std::string& as,
               Collector& out);

/// After all kinds: what is left of a sentence and is what the catalogue says (find_known.cpp).
void find_known_figures(const Passage& sentence, Collector& out);

}  // namespace ridge::claims
