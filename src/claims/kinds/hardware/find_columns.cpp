// Tables with a part in each column and a figure in each row, as data sheets compare them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"

namespace ridge::claims {

namespace {

/// The one part a column is headed with; nullptr if there is none, or several, or it is about their difference.
const Token* part_of_column(const TableCell& cell) {
  const Token* part = nullptr;
  for (const Token& t : cell.header->tokens) {
    if (!t.is_name(NameKind::device) && !t.is_name(NameKind::system)) continue;
    if (part != nullptr) return nullptr;
    part = &t;
  }
  const bool difference =
      header_has(cell, {"vs", "versus", "advantage", "improvement", "gain", "delta", "ratio", "over"});
  return difference ? nullptr : part;
}

/// One value stands in the cell, perhaps as a range: "80 GB / 94 GB" are those of two versions.
bool has_one_value(const TableCell& cell) {
  return std::count_if(cell.tokens.begin(), cell.tokens.end(), [](const Token& t) { return t.is_number(); }) == 1;
}

bool is_footnoted(const Tokens& tokens) {
  return any_word(tokens, {"*", "^"});
}

}  // namespace

void find_columns(const Passage& row, Collector& out) {
  const Tokens& title = row.cells[0].tokens;
  if (any_word(title, {"total", "node", "system", "server", "rack", "pod", "cluster", "host", "cache", "l2", "pcie",
                       "per", "network", "usable", "min", "minimum", "required"})) {
    return;
  }
  // The row's title takes the place of a header: it names the figure, and perhaps the unit.
  const auto header = make_header(row.cells[0].text, title);
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const Token* part = part_of_column(row.cells[i]);
    const TableCell cell{header, row.cells[i].tokens};
    if (part == nullptr || !has_one_value(cell) || any_word(cell.tokens, {"pcie", "up", "per"})) continue;
    const Token& number = *first_number(cell.tokens);
    const auto m = cell_measure(cell);
    if (!m || out.used(number)) continue;
    const std::string figure = column_figure(cell, *m);
    if (figure.empty()) continue;
    std::string of = part->name->id;
    if (part->name->kind == NameKind::system && header_has(row.cells[i], {"per", "gpu"})) {
      of = out.context().catalogue.system(of)->device;
    }
    std::vector<Found> inputs = {{"of", of}, {"figure", figure}};
    if (any_word(title, {"sparse", "sparsity"}) || any_word(cell.tokens, {"sparse", "sparsity"})) {
      inputs.push_back({"sparse", "yes"});
    } else if (const auto dense = look_up(out.context(), of + ":" + figure); dense && peak_format(figure)) {
      // A footnote on twice the dense rate says that it is sparse.
      const bool twice = std::abs(m->value / dense->measure.value - 2) < 0.1;
      if (twice && (is_footnoted(cell.tokens) || is_footnoted(title))) continue;
    }
    Measure claimed = *m;
    claimed.text = number.measure.has_unit() ? number.text : faithful(claimed);
    out.add(specification_kind(), number, claimed,
            fmt::format("{}: {} {}", part->text, figure_words(figure), claimed.text), std::move(inputs));
  }
}

}  // namespace ridge::claims
