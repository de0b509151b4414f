// Leases by the month, prices per unit of compute or memory, and what one of several costs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/misreadings.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_lease(Inputs& inputs) {
  const auto price = inputs.measure("price");
  if (!price) return price.error();
  const auto gpus = inputs.count("gpus", 1.0);
  if (!gpus) return gpus.error();
  if (!is_a<DollarsPerSecond>(price->measure)) return cannot("the lease is no price per month");
  Recomputed result;
  result.right = measure_of(GpuRent(price->measure.value / *gpus));
  result.formula = fmt::format("{} / {:g}, a month being 730 h", price->shown, *gpus);
  result.readings.push_back(
      {scaled(*result.right, *gpus), Verdict::unit, "that is the rent of the whole server", 0.02});
  return result;
}

Result<Recomputed> recompute_price_per(Inputs& inputs) {
  const Context& context = inputs.context();
  const auto price = inputs.measure("price");
  if (!price) return price.error();
  const auto gpus = inputs.count("gpus", 1.0);
  if (!gpus) return gpus.error();
  const std::string figure = inputs.text("figure");
  const auto device = inputs.device();
  if (!device) return device.error();
  const auto value = look_up(context, (*device)->id + ":" + figure);
  if (!value) return value.error();
  inputs.note(figure, value->shown, value->source);
  const auto over = [&](double dollars, double amount) {
    Measure m = price->measure;
    for (std::size_t i = 0; i < 9; ++i) {
      m.exponents[i] = i == 6 ? 0 : static_cast<std::int8_t>(price->measure.exponents[i] - value->measure.exponents[i]);
    }
    m.form = Measure::Form::plain;
    m.value = m.high = dollars / amount;
    m.text = shown(m);
    return m;
  };
  const double each = price->measure.value / *gpus;
  Recomputed result;
  result.right = over(each, value->measure.value);
  result.formula = *gpus == 1 ? fmt::format("{} / {}", price->shown, value->shown)
                              : fmt::format("{} / {:g} / {}", price->shown, *gpus, value->shown);
  if (const Name* name = context.names.of_id((*device)->id)) {
    for (const std::string& other : name->also) {
      const auto there = look_up(context, other + ":" + figure);
      if (!there) continue;
      result.readings.push_back({over(each, there->measure.value), Verdict::right, "that is " + there->shown, 0.012});
    }
  }
  if (const double gain = sparsity_gain(**device, figure); gain != 1) {
    result.readings.push_back({over(each, value->measure.value * gain), Verdict::sparse,
                               "that is per sparse rate, where others are per dense rate"});
    if (inputs.has("price-range")) {
      const auto range = inputs.measure("price-range");
      if (!range) return range.error();
      Measure low = over(range->measure.value, value->measure.value * gain);
      // Any price of the range stands for the reading; the claimed figure picks one.
      const double high = range->measure.high / (value->measure.value * gain);
      const double claimed = inputs.claim().claimed.value;
      if (claimed >= low.value * 0.99 && claimed <= high * 1.01) {
        low.value = low.high = claimed;
        result.readings.push_back({low, Verdict::sparse, "that is per sparse rate, where others are per dense rate"});
      }
    }
  }
  return result;
}

Result<Recomputed> recompute_price_each(Inputs& inputs) {
  const auto total = inputs.measure("total");
  if (!total) return total.error();
  const auto gpus = inputs.count("gpus");
  if (!gpus) return gpus.error();
  Recomputed result;
  result.right = measure_of(Dollars(total->measure.value / *gpus));
  result.formula = fmt::format("{} / {:g}", total->shown, *gpus);
  // Both figures are the document's own: where they part, it contradicts itself.
  const Measure& claimed = inputs.claim().claimed;
  const double nearest = std::clamp(result.right->value, claimed.value, claimed.high);
  result.compare = Compare::holds;
  result.holds = std::abs(nearest - result.right->value) <= 0.03 * result.right->value;
  result.otherwise = Verdict::contradiction;
  return result;
}

// --- finding them in text ----------------------------------------------------------------------------------------

const Token* row_subject(const Passage& row) {
  return row.cells.empty() ? nullptr : first_hardware(row.cells[0].tokens);
}

std::string device_of(const Token& subject, const Catalogue& catalogue) {
  if (subject.name->kind == NameKind::device) return subject.name->id;
  return catalogue.system(subject.name->id)->device;
}

/// How many accelerators a column of prices is about: "Price 8x GPU baseboard", "(rack)".
double priced_together(const TableCell& cell, const std::string& device, const Catalogue& catalogue) {
  if (any_word(cell.tokens, {"rack"})) {
    for (const System& s : catalogue.systems()) {
      if (s.kind == SystemKind::rack && s.device == device) return s.devices();
    }
    return 0;
  }
  for (const Token& t : cell.header->tokens) {
    if (t.is_number() && t.measure.form == Measure::Form::factor) return t.measure.value;
  }
  return 1;
}

void recognise_price_per(const Passage& row, Collector& out) {
  if (!row.is_row()) return;
  const Token* subject = row_subject(row);
  if (subject == nullptr) return;
  const std::string device = device_of(*subject, out.context().catalogue);
  using PerFlops = Quantity<Dimension<0, 1, -1, 0, 1>>;
  using PerByteSecond = Quantity<Dimension<-1, -1, 0, 0, 1>>;
  using PerByte = Quantity<Dimension<-1, 0, 0, 0, 1>>;
  const Token* claimed = nullptr;
  Measure claimed_measure;
  std::string figure;
  struct Priced {
    const Token* token;
    Measure measure;
    double count;
  };
  std::vector<Priced> prices;
  std::vector<Priced> rents;
  for (const TableCell& cell : row.cells) {
    const auto m = cell_measure(cell);
    if (!m) continue;
    const Token& number = *first_number(cell.tokens);
    if (is_a<PerFlops>(*m) || is_a<PerByteSecond>(*m) || is_a<PerByte>(*m)) {
      claimed = &number;
      claimed_measure = *m;
      const Token* format = first_name(cell.header->tokens, NameKind::format);
      figure = !is_a<PerFlops>(*m) ? "memory" : format == nullptr ? "bf16" : format->name->id;
      // "FP16" stands for 16-bit rates: some parts are slower in FP16 proper.
      if (figure == "fp16") figure = "bf16";
    } else if (is_a<Dollars>(*m)) {
      prices.push_back({&number, *m, priced_together(cell, device, out.context().catalogue)});
    } else if (is_a<DollarsPerSecond>(*m)) {
      rents.push_back({&number, *m, 1});
    }
  }
  if (claimed == nullptr) return;
  const std::vector<Priced>& all = is_a<PerByteSecond>(claimed_measure) ? rents : prices;
  if (all.empty()) return;
  // A price of several that are sold together is firmer than a range for one.
  const auto best =
      std::max_element(all.begin(), all.end(), [](const Priced& a, const Priced& b) { return a.count < b.count; });
  if (best->count == 0) return;
  std::vector<Found> inputs = {
      found("price", best->measure), {"gpus", fmt::format("{}", best->count)}, {"device", device}, {"figure", figure}};
  for (const Priced& p : all) {
    if (p.count == 1 && p.measure.is_range()) inputs.push_back({"price-range", p.token->text, p.measure});
    out.use(*p.token);
  }
  claimed_measure.text = claimed->text;
  out.add(price_per_kind(), *claimed, claimed_measure,
          fmt::format("{}: {} per {}", subject->text, claimed->text, figure_words(figure)), std::move(inputs));
}

void recognise_price_each(const Passage& row, Collector& out) {
  if (!row.is_row()) return;
  const Token* subject = row_subject(row);
  if (subject == nullptr) return;
  const std::string device = device_of(*subject, out.context().catalogue);
  const TableCell *one = nullptr, *several = nullptr;
  double count = 0;
  for (const TableCell& cell : row.cells) {
    const auto m = cell_measure(cell);
    if (!m || !is_a<Dollars>(*m) || !header_has(cell, {"price", "cost"})) continue;
    const double together = priced_together(cell, device, out.context().catalogue);
    if (together > 1) {
      several = &cell;
      count = together;
    } else if (together == 1 && any_word(cell.header->tokens, {"gpu", "card", "each"})) {
      one = &cell;
    }
  }
  if (one == nullptr || several == nullptr) return;
  const Token& claimed = *first_number(one->tokens);
  out.add(
      price_each_kind(), claimed,
      fmt::format("{}: {} each, {} for {:g}", subject->text, claimed.text, first_number(several->tokens)->text, count),
      {found("total", first_number(several->tokens)->measure), {"gpus", fmt::format("{}", count)}});
}

/// Leases are remembered: later sentences compare them.
void recognise_lease(const Passage& passage, Collector& out) {
  const Tokens& tokens = passage.tokens;
  const Token* device = nullptr;
  double count = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is_name(NameKind::device)) {
      device = &tokens[i];
      const bool several = i >= 2 && tokens[i - 1].is("*") && tokens[i - 2].is_number();
      count = several ? tokens[i - 2].measure.value : 1;
      if (several) out.use(tokens[i - 2]);
    }
    const bool monthly = tokens[i].is_number() && is_a<DollarsPerSecond>(tokens[i].measure) &&
                         tokens[i].text.find("month") != std::string::npos;
    if (monthly && device != nullptr && count > 0) {
      out.memory.lease[device->name->id] = scaled(tokens[i].measure, 1 / count);
      out.use(tokens[i]);
      device = nullptr;
    }
  }
  // "the rental price of the B200 is higher than that of the H200 (by 70%-87.5%)"
  if (passage.is_row() || !any_stem(tokens, 0, tokens.size(), {"rental", "leas", "rent"})) return;
  const std::size_t a = name_after(tokens, 0, NameKind::device);
  const std::size_t b = a == kNowhere ? kNowhere : name_after(tokens, a + 1, NameKind::device);
  if (b == kNowhere) return;
  const auto of = out.memory.lease.find(tokens[a].name->id);
  const auto to = out.memory.lease.find(tokens[b].name->id);
  if (of == out.memory.lease.end() || to == out.memory.lease.end()) return;
  const bool higher = any_word(tokens, a, b, {"higher", "more"});
  for (std::size_t i = b; i < std::min(b + 6, tokens.size()); ++i) {
    const bool percent = tokens[i].is_number() && tokens[i].measure.form == Measure::Form::percent;
    if (!percent || !higher) continue;
    out.add(price_gap_kind(), tokens[i],
            fmt::format("{} leases for {} more than {}", tokens[a].text, tokens[i].text, tokens[b].text),
            {found("of", of->second), found("to", to->second)});
  }
}

/// "8 H100 for $8000/month is $1.37/GPU-hour".
void recognise_lease_rate(const Passage& passage, Collector& out) {
  if (passage.is_row()) return;
  const Tokens& tokens = passage.tokens;
  const Token *month = nullptr, *hour = nullptr;
  double gpus = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (!t.is_number()) continue;
    const bool rent = is_a<DollarsPerSecond>(t.measure);
    if (rent && t.text.find("month") != std::string::npos) month = &t;
    if (rent && t.text.find('h') != std::string::npos && t.text.find("month") == std::string::npos) hour = &t;
    const bool of_device =
        !t.measure.has_unit() && t.measure.form != Measure::Form::percent && i + 1 < tokens.size() &&
        (tokens[i + 1].is_name(NameKind::device) ||
         (tokens[i + 1].is("*") && i + 2 < tokens.size() && tokens[i + 2].is_name(NameKind::device)));
    if (of_device || (is_a<Gpus>(t.measure) && !rent)) gpus = t.measure.value;
  }
  if (month == nullptr || hour == nullptr || gpus <= 0 || out.used(*hour)) return;
  // "$2/hour for the GPU, and storage costs $200 a month" are two prices.
  const auto first = static_cast<std::size_t>(std::min(month, hour) - tokens.data());
  const auto last = static_cast<std::size_t>(std::max(month, hour) - tokens.data());
  if (sets_apart(tokens) || any_word(tokens, first, last, {"and"})) return;
  out.use(*month);
  out.add(lease_kind(), *hour, fmt::format("{} for {:g} is {} each", month->text, gpus, hour->text),
          {{"price", month->text, month->measure}, {"gpus", fmt::format("{}", gpus)}});
}

Result<Recomputed> recompute_gap(Inputs& inputs) {
  const auto of = inputs.measure("of");
  if (!of) return of.error();
  const auto to = inputs.measure("to");
  if (!to) return to.error();
  if (to->measure.value == 0) return cannot("nothing can be divided by zero");
  Recomputed result;
  result.right = measure_of(of->measure.value / to->measure.value - 1, Measure::Form::percent);
  result.formula = fmt::format("{} / {} - 1, both prices of the same document", of->shown, to->shown);
  result.otherwise = Verdict::contradiction;
  return result;
}

}  // namespace

const Kind& lease_kind() {
  static const Kind kind{
      "lease",
      "a lease by the month as a rent per accelerator and hour",
      "price / gpus / 730 h",
      "price gpus?",
      true,
      recompute_lease,
      recognise_lease_rate,
  };
  return kind;
}

const Kind& price_gap_kind() {
  static const Kind kind{
      "price-gap",     "how far two prices of the same document are apart", "of / to - 1", "of to", true, recompute_gap,
      recognise_lease,
  };
  return kind;
}

const Kind& price_per_kind() {
  static const Kind kind{
      "price-per",
      "a price or rent per unit of compute or memory",
      "price / gpus / figure",
      "price gpus? device figure price-range?",
      true,
      recompute_price_per,
      recognise_price_per,
  };
  return kind;
}

const Kind& price_each_kind() {
  static const Kind kind{
      "price-each",
      "the price of one against the price of several",
      "total / gpus",
      "total gpus",
      true,
      recompute_price_each,
      recognise_price_each,
  };
  return kind;
}

}  // namespace ridge::claims
