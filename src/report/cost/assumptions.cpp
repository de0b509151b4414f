#include "report/cost/assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ridge/base/change.hpp"
#include "ridge/economics/cost.hpp"

namespace ridge::report {

namespace {

constexpr std::string_view kAssumedTitle = "Assumed, what moves the result most first";
constexpr double kTenth = 0.1;

struct InputOf {
  std::string_view field;
  double& (*input)(CostInputs&);
};
constexpr std::array kInputs = {
    InputOf{"price", [](CostInputs& in) -> double& { return in.rent_usd_per_gpu_hour; }},
    InputOf{"discount", [](CostInputs& in) -> double& { return in.rent_discount; }},
    InputOf{"platform", [](CostInputs& in) -> double& { return in.platform_share; }},
    InputOf{"preemptions", [](CostInputs& in) -> double& { return in.preemptions_per_hour; }},
    InputOf{"preemption_loss", [](CostInputs& in) -> double& { return in.preemption_loss_hours; }},
    InputOf{"server_price", [](CostInputs& in) -> double& { return in.server_usd; }},
    InputOf{"network_price", [](CostInputs& in) -> double& { return in.network_usd; }},
    InputOf{"cost_of_capital", [](CostInputs& in) -> double& { return in.cost_of_capital; }},
    InputOf{"life", [](CostInputs& in) -> double& { return in.life_years; }},
    InputOf{"residual", [](CostInputs& in) -> double& { return in.residual_share; }},
    InputOf{"colocation", [](CostInputs& in) -> double& { return in.colocation_usd_per_kw_month; }},
    InputOf{"region", [](CostInputs& in) -> double& { return in.electricity_usd_per_kwh; }},
    InputOf{"maintenance", [](CostInputs& in) -> double& { return in.maintenance_share; }},
    InputOf{"staff", [](CostInputs& in) -> double& { return in.staff_usd_per_year; }},
    InputOf{"device_power", [](CostInputs& in) -> double& { return in.power.device_busy_w; }},
    InputOf{"host_power", [](CostInputs& in) -> double& { return in.power.host_w; }},
    InputOf{"network_power", [](CostInputs& in) -> double& { return in.power.network_storage_share; }},
    InputOf{"pue", [](CostInputs& in) -> double& { return in.power.pue; }},
    InputOf{"utilization", [](CostInputs& in) -> double& { return in.utilisation; }},
    InputOf{"goodput", [](CostInputs& in) -> double& { return in.goodput; }},
};

std::optional<double> change_by(const std::string& field, const CostInputs& in) {
  const auto* const at =
      std::find_if(kInputs.begin(), kInputs.end(), [&](const InputOf& one) { return one.field == field; });
  if (at == kInputs.end()) return std::nullopt;
  // A rent beside hardware that is bought: what renting costs moves by as much.
  if (field == "price" && in.mode == CostMode::own) return kTenth;
  CostInputs more = in;
  at->input(more) *= 1 + kTenth;
  const double now = evaluate(in).usd_per_useful_gpu_hour;
  const double then = evaluate(more).usd_per_useful_gpu_hour;
  const double change = then / now - 1;
  return std::isfinite(change) ? std::optional<double>(change) : std::nullopt;
}

/// Whose hardware it is decides most of the others; what has no number comes last.
double weight(const Weighed& w) {
  if (w.assumption.field == "profile") return 1;
  return w.change ? std::abs(*w.change) : -1;
}

void sort_weighed(std::vector<Weighed>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Weighed& a, const Weighed& b) { return weight(a) > weight(b); });
}

}  // namespace

std::vector<Weighed> weighed(const CostCase& cost_case) {
  std::vector<Weighed> all;
  for (const Assumption& a : cost_case.assumptions) all.push_back({a, change_by(a.field, cost_case.inputs)});
  sort_weighed(all);
  return all;
}

void join_weighed(std::vector<Weighed>& all, const std::vector<Weighed>& more) {
  for (const Weighed& w : more) {
    const auto same = [&](const Weighed& other) { return other.assumption.text == w.assumption.text; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(w);
  }
  sort_weighed(all);
}

Table assumptions_table(const std::vector<Weighed>& assumed) {
  Table table;
  table.title = kAssumedTitle;
  table.columns = {{.key = "assumption", .heading = "assumption", .overflow = Overflow::wrap},
                   {.key = "change", .heading = "10 % more", .kind = ColumnKind::number},
                   {.key = "field", .heading = "change it by"}};
  for (const Weighed& w : assumed) {
    const bool owner = w.assumption.field == "profile";
    table.rows.push_back({Cell(w.assumption.text),
                          w.change ? Cell(*w.change).shown_as(fmt::format("{:+.1f} %", 100 * *w.change))
                                   : Cell(owner ? "sets others" : ""),
                          Cell(w.assumption.field.empty() ? std::string() : named(w.assumption.field))});
  }
  return table;
}

void shorten_assumptions(Document& page, std::size_t rows) {
  for (std::size_t i = 0; i < page.blocks.size(); ++i) {
    Table* table = std::get_if<Table>(&page.blocks[i]);
    if (table == nullptr || table->title != kAssumedTitle || table->rows.size() <= rows + 1) continue;
    const std::size_t more = table->rows.size() - rows;
    table->rows.resize(rows);
    page.blocks.insert(
        page.blocks.begin() + static_cast<std::ptrdiff_t>(i) + 1,
        Paragraph{fmt::format("and {} more that move it less (⟦assumptions⟧ lists all)", more), Emphasis::faint});
    return;
  }
}

}  // namespace ridge::report
