#include "report/plan/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {
constexpr std::size_t kLosersShown = 8;
}

Paragraph paragraph(std::string text, Emphasis emphasis) {
  return {std::move(text), emphasis};
}

std::string joined_text(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(between)) + part;
  return out;
}

namespace {

/// How a device that lost by a limit could come in.
std::string way_in(const Loser& loser) {
  const std::string& limit = loser.limit;
  if (limit == "price") return "bring a rent with ⟦prices=FILE⟧ (docs/data-format.md), or ask for ⟦own⟧";
  if (limit == "figures") {
    return fmt::format("say the figure with ⟦set⟧, or in a file with ⟦catalogue⟧ (ridge show {})", loser.device);
  }
  if (limit == "delivery") return fmt::format("⟦announced⟧, or ⟦devices={}⟧", loser.device);
  if (limit == "vendor") return "⟦vendors⟧, ⟦avoid_vendors⟧";
  if (limit == "export") return "another ⟦destination⟧, or a licence";
  if (limit == "place") return "another ⟦destination⟧";
  if (limit == "maturity") return "leave out ⟦measured⟧";
  if (limit == "cooling") return "leave out ⟦air_cooled⟧";
  if (limit == "rack") return "a rack that supplies more: ⟦max_rack⟧";
  if (limit == "memory") return "more devices with ⟦gpus⟧, or a narrower ⟦precision⟧";
  if (limit == "layout") return "another model or ⟦precision⟧";
  if (loser.by > 0) return fmt::format("a limit looser by {:.0f} %", std::ceil(100 * loser.by));
  if (limit == "ttft" || limit == "tpot" || limit == "e2e") {
    return fmt::format("a longer ⟦{}⟧, or a ⟦confidence⟧ that it reaches", limit);
  }
  return "another limit";
}

void add_ways_in(Document& page, const std::vector<Loser>& losers, const std::vector<std::string>& ranked) {
  if (losers.empty()) return;
  Table table;
  table.title = "Left out, and how each could come in";
  table.columns = {{.key = "device", .heading = "device"},
                   {.key = "why", .heading = "why", .overflow = Overflow::wrap},
                   {.key = "way_in", .heading = "how it could come in", .overflow = Overflow::wrap}};
  std::set<std::pair<std::string, std::string>> said;  // of one device, whatever layout it was tried in
  for (const Loser& loser : losers) {
    if (std::find(ranked.begin(), ranked.end(), loser.device) != ranked.end()) continue;  // lost in another layout
    if (!said.emplace(loser.device, loser.why).second) continue;
    const bool unpriced = loser.searched && loser.limit == "price";
    table.rows.push_back(
        {Cell(loser.device), Cell(unpriced ? "nobody quotes a rent" : loser.why), Cell(way_in(loser))});
  }
  page.blocks.emplace_back(std::move(table));
}

}  // namespace

void add_thin_prices(Document& page, const std::vector<std::pair<std::string, PriceQuote>>& prices) {
  std::vector<std::string> one, estimated;
  for (const auto& [device, price] : prices) {
    if (price.basis.rfind("bought", 0) == 0) continue;  // an owner's hour is a calculation, not a quote
    if (price.quotes == 1) one.push_back(device);
    if (price.quotes == 0) estimated.push_back(device);
  }
  std::string text;
  if (!one.empty()) text += fmt::format("{} (one quote)", joined_text(one, ", "));
  if (!estimated.empty()) {
    text += fmt::format("{}{} (no quote: estimated from analysts' or lessors' figures)", text.empty() ? "" : "; ",
                        joined_text(estimated, ", "));
  }
  if (text.empty()) return;
  page.blocks.emplace_back(paragraph(fmt::format("Uncertain rents: {}. See ridge show prices --device ID.", text)));
}

void add_ways_taken(Document& page, const std::vector<std::pair<std::string, PriceQuote>>& prices) {
  std::vector<std::pair<std::string, std::vector<std::string>>> ways;  // in the order of first appearance
  for (const auto& [device, price] : prices) {
    const auto same = std::find_if(ways.begin(), ways.end(),
                                   [&, &basis = price.basis](const auto& way) { return way.first == basis; });
    (same == ways.end() ? ways.emplace_back(price.basis, std::vector<std::string>{}) : *same).second.push_back(device);
  }
  std::string text;
  for (const auto& [basis, devices] : ways) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", joined_text(devices, ", "), basis);
  }
  if (!text.empty()) page.blocks.emplace_back(paragraph("Paid by what is cheapest. " + text + "."));
}

void add_losers(Document& page, const std::vector<Loser>& losers, const std::vector<std::string>& ranked, bool why) {
  if (why) return add_ways_in(page, losers, ranked);
  std::vector<const Loser*> searched;
  std::vector<std::pair<std::string, std::vector<std::string>>> others;  // in the order of first appearance
  for (const Loser& loser : losers) {
    if (loser.searched && loser.limit != "price") {
      if (std::find(ranked.begin(), ranked.end(), loser.device) == ranked.end()) searched.push_back(&loser);
      continue;
    }
    const std::string reason = loser.searched ? "without a price" : loser.why;
    const auto same = [&](const auto& entry) { return entry.first == reason; };
    const auto at = std::find_if(others.begin(), others.end(), same);
    if (at != others.end()) {
      at->second.push_back(loser.device);
    } else {
      others.push_back({reason, {loser.device}});
    }
  }
  // What missed by least is what a reader would ask about.
  std::stable_sort(searched.begin(), searched.end(), [](const Loser* a, const Loser* b) {
    return (a->by > 0 ? a->by : 1e9) < (b->by > 0 ? b->by : 1e9);
  });
  std::set<std::string_view> said;  // whatever layouts it was tried in
  std::erase_if(searched, [&](const Loser* loser) { return !said.insert(loser->device).second; });
  if (!searched.empty()) {
    Table table;
    table.headings = false;
    table.columns = {{.key = "rejected", .heading = ""},
                     {.key = "device", .heading = "device"},
                     {.key = "why", .heading = "why", .overflow = Overflow::wrap}};
    for (std::size_t i = 0; i < std::min(searched.size(), kLosersShown); ++i) {
      table.rows.push_back({Cell("rejected").with(Emphasis::faint), Cell(searched[i]->device), Cell(searched[i]->why)});
    }
    page.blocks.emplace_back(std::move(table));
    if (searched.size() > kLosersShown) {
      page.blocks.emplace_back(paragraph(
          fmt::format("and {} more that cannot meet the limits (⟦json⟧ lists them)", searched.size() - kLosersShown),
          Emphasis::faint));
    }
  }
  if (others.empty()) return;
  Table left_out = two_columns("Left out (⟦why⟧ says how each could come in)", Overflow::wrap);
  left_out.columns.front().overflow = Overflow::wrap;
  for (const auto& [reason, devices] : others) {
    left_out.rows.push_back(
        {Cell(reason).with(Emphasis::faint),
         Cell(devices.size() > 6 ? fmt::format("{} devices", devices.size()) : joined_text(devices, ", "))});
  }
  page.blocks.emplace_back(std::move(left_out));
}

std::vector<std::string> doubts(const std::optional<PriceQuote>& quote, const IntervalClass& resembles) {
  std::vector<std::string> out;
  if (quote && quote->lone && !quote->newest.empty()) out.push_back("one quote, of " + quote->newest);
  if (quote && quote->old && quote->quotes > 1) out.push_back("quotes of " + quote->newest + " and before");
  if (resembles.resembles == "new device") out.emplace_back("not measured");
  if (resembles.resembles == "new software") out.emplace_back("not measured with this software");
  if (resembles.resembles == "new-device") out.emplace_back("no measured kernels of its design");
  return out;
}

std::string chance_text(double probability) {
  if (probability > 0.995) return "> 99 %";
  if (probability < 0.005) return "< 1 %";
  return fmt::format("{:.0f} %", 100 * probability);
}

std::string evidence_text(const IntervalClass& c) {
  if (c.rows == 0) {
    return c.p90_error > 0 ? fmt::format(
                                 "Confidence: rank 1 has not been measured ({}); what is as new to the fit is off by "
                                 "{:.0f} % (median), "
                                 "{:.0f} % (p90).",
                                 c.resembles, 100 * c.median_error, 100 * c.p90_error)
                           : "Confidence: no measurements resemble rank 1; its interval is a guess.";
  }
  return fmt::format(
      "Confidence: {} measurements resemble rank 1 ({}); cross-validated, such predictions are off by {:.0f} % "
      "(median), {:.0f} % (p90).",
      c.rows, c.resembles, 100 * c.median_error, 100 * c.p90_error);
}

std::string searched_text(const PlanStatistics& s) {
  std::string text = fmt::format("Searched {} plans", format_number(static_cast<double>(s.size), 20));
  if (s.seconds > 0) text += fmt::format(" in {} s", format_number(s.seconds, 2));
  if (s.pruned > 0) {
    text +=
        fmt::format(" ({} evaluated, the rest shown to be worse)", format_number(static_cast<double>(s.evaluated), 20));
  }
  text += ".";
  if (!s.complete) text += " Stopped early: " + (s.stopped.empty() ? "the best so far." : s.stopped);
  return text;
}

Paragraph and_more(std::size_t devices) {
  return paragraph(fmt::format("and {} devices more (⟦top=N⟧)", devices), Emphasis::faint);
}

Paragraph next_commands(const std::string& again, std::string_view next) {
  return paragraph(fmt::format("Next: {0} ⟦explain=1⟧ │ {0} ⟦save=plans/⟧ │ {1} ⟦plan=plans/1.toml⟧", again, next),
                   Emphasis::faint);
}

void set_statistics(Json& json, const PlanStatistics& s) {
  Json out = Json::object();
  out.set("candidates", static_cast<double>(s.size));
  out.set("evaluated", static_cast<double>(s.evaluated));
  out.set("pruned", static_cast<double>(s.pruned));
  out.set("search_s", s.seconds);
  out.set("workers", s.workers);
  json.set("statistics", std::move(out));
}

Json losers_json(const std::vector<Loser>& losers) {
  Json list = Json::array();
  for (const Loser& loser : losers) {
    Json one = Json::object();
    one.set("device", loser.device);
    one.set("searched", loser.searched);
    one.set("limit", loser.limit);
    one.set("why", loser.why);
    one.set("missed_by_share", loser.by > 0 ? Json(loser.by) : Json());
    list.push(std::move(one));
  }
  return list;
}

std::string limits_text(const Buyer& buyer, std::string_view budget_of) {
  std::string out;
  const auto add = [&](const std::string& text) { out += " · " + text; };
  if (buyer.budget_usd > 0) {
    // A service is budgeted by the year or the month, a run as a whole.
    const std::string month =
        budget_of == "a year" ? fmt::format(" ({} a month)", format(Dollars(buyer.budget_usd / 12))) : std::string();
    add(fmt::format("budget {} {}{}", format(Dollars(buyer.budget_usd)), budget_of, month));
  }
  if (buyer.power_w > 0) add("power ≤ " + format(Watts(buyer.power_w)));
  if (buyer.rack_w > 0) add("racks ≤ " + format(Watts(buyer.rack_w)));
  if (buyer.air_cooled) add("air-cooled");
  if (!buyer.vendors.empty()) add("only " + joined_text(buyer.vendors, ", "));
  if (!buyer.avoid_vendors.empty()) add("not " + joined_text(buyer.avoid_vendors, ", "));
  if (!buyer.destination.empty()) add("used in " + buyer.destination);
  if (!buyer.region.empty()) add("prices of " + buyer.region);
  if (buyer.measured) add("measured designs only");
  if (buyer.vendor_share < 1) add(fmt::format("no vendor over {:.0f} %", 100 * buyer.vendor_share));
  for (const Fleet& fleet : buyer.fleet) add(fmt::format("{} {} there already", fleet.gpus, fleet.device));
  if (buyer.purchase == Purchase::any) add("bought or rented, whichever is cheapest");
  if (buyer.purchase != Purchase::on_demand && buyer.purchase != Purchase::any) add(std::string(name(buyer.purchase)));
  return out;
}

}  // namespace ridge::report
