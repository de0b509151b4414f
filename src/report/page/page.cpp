#include "report/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

}  // namespace

Table two_columns(std::string title, Overflow values) {
  Table table;
  table.title = std::move(title);
  table.headings = false;
  table.columns = {{.key = "what", .heading = "what"}, {.key = "value", .heading = "value", .overflow = values}};
  return table;
}

Table quantities_table() {
  Table table;
  table.columns = {{.key = "quantity", .heading = "quantity"},
                   {.key = "unit", .heading = "unit"},
                   {.key = "low", .heading = "low", .kind = ColumnKind::number},
                   {.key = "mid", .heading = "mid", .kind = ColumnKind::number},
                   {.key = "high", .heading = "high", .kind = ColumnKind::number}};
  return table;
}

void add_quantity(Table& table, std::string_view what, std::string_view unit, const Interval& i) {
  table.rows.push_back({Cell(what), Cell(unit), Cell(i.low), Cell(i.mid), Cell(i.high)});
}

Table shares_table(std::string title, std::string what, std::string amount) {
  Table table;
  table.title = std::move(title);
  table.headings = false;
  table.columns = {{.key = what, .heading = what},
                   {.key = amount, .heading = amount, .kind = ColumnKind::number},
                   {.key = "share", .heading = "share", .kind = ColumnKind::number},
                   {.key = "bar", .heading = "bar"}};
  return table;
}

void add_share(Table& table, const std::string& what, Cell amount, double share, int decimals) {
  table.rows.push_back({Cell(what), std::move(amount), Cell(percent(share, decimals)), Cell(bar(share))});
}

std::string percent(double share, int decimals) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}

std::string in_unit(const Interval& i, std::string_view unit, double scale) {
  if (i.low == i.high) return fmt::format("{} {}", format_number(i.mid * scale), unit);
  return fmt::format("{} {} ({}–{})", format_number(i.mid * scale), unit, format_number(i.low * scale),
                     format_number(i.high * scale));
}

Cell time_cell(const Interval& i) {
  return i.low == i.high ? Cell(Seconds(i.mid)) : Cell::interval<Seconds>(i);
}

std::string bar(double share, int width) {
  const double eighths = std::round(std::clamp(share, 0.0, 1.0) * width * 8);
  const auto whole = static_cast<std::size_t>(eighths / 8);
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) out += "█";
  out += kEighths[static_cast<std::size_t>(eighths) % 8];
  if (out.empty() && share > 0) out = "▏";
  return out;
}

std::string spaced(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string spoken(Term term) {
  if (term == Term::linear) return "projections (GEMM)";
  if (term == Term::scale_up) return "scale-up communication";
  if (term == Term::scale_out) return "scale-out communication";
  std::string out(name(term));
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

void add_assumptions(Document& page, const std::vector<std::string>& assumptions) {
  if (assumptions.empty()) return;
  std::string text = "Assumed: ";
  for (std::size_t i = 0; i < assumptions.size(); ++i) text += (i == 0 ? "" : "; ") + assumptions[i];
  page.blocks.emplace_back(Paragraph{text + ".", Emphasis::faint});
}

Json interval_json(const Interval& interval) {
  return Json::object().set("low", interval.low).set("mid", interval.mid).set("high", interval.high);
}

Json changes_json(const Changes& changes) {
  Json out = Json::object();
  for (const Change& c : changes) {
    const bool number = is_json_number(c.value);
    out.set(c.field, c.value == "true" ? Json(true)
                     : number          ? Json(std::strtod(c.value.c_str(), nullptr))
                                       : Json(c.value));
  }
  return out;
}

Json nearest_json(const NearestPlan& plan) {
  return Json::object()
      .set("change", marked(plan.changes))
      .set("effect", plan.effect)
      .set("set", changes_json(plan.changes));
}

Json texts_json(const std::vector<std::string>& assumptions) {
  Json list = Json::array();
  for (const std::string& text : assumptions) list.push(text);
  return list;
}

}  // namespace ridge::report
