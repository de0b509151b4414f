// A total shared out: results per accelerator, power per GPU, price per GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/reading/collector.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

namespace {

Result<Recomputed> recompute_division(Inputs& inputs) {
  const auto total = inputs.measure("total");
  if (!total) return total.error();
  const auto count = inputs.measure("count");
  if (!count) return count.error();
  if (count->measure.value == 0) return cannot("nothing can be divided by zero");
  Measure right = total->measure;
  for (std::size_t i = 0; i < 9; ++i) {
    right.exponents[i] =
        i == 6 ? 0 : static_cast<std::int8_t>(total->measure.exponents[i] - count->measure.exponents[i]);
  }
  right.value = right.high = total->measure.value / count->measure.value;
  right.form = inputs.claim().claimed.form;
  right.text = shown(right);
  Recomputed result;
  result.right = right;
  result.formula = fmt::format("{} / {}", total->shown, count->shown);
  const Measure& claimed = inputs.claim().claimed;
  if (claimed.value == 0) return result;
  // Which divisor the claimed figure comes from: usually the accelerators of one node.
  const double divisor = total->measure.value / claimed.value;
  const double whole = std::round(divisor);
  const bool exact =
      whole >= 1 && whole <= 1024 && std::abs(divisor - whole) <= 5e-4 * whole && whole != count->measure.value;
  if (exact) {
    result.readings.push_back(
        {claimed, Verdict::wrong,
         fmt::format("that is {} / {}: {} instead of {}", total->shown, whole, whole, count->shown)});
    // Divided by another number on purpose is not a matter of rounding.
    if (std::abs(divisor / count->measure.value - 1) > 0.012) {
      result.compare = Compare::holds;
      result.holds = false;
      result.because = result.readings[0].because;
    }
  } else if (inputs.text("averages") == "yes") {
    // The mean of quotients is not the quotient of means; systems of different size part them by some percent.
    result.readings.push_back(
        {right, Verdict::rounded, "the mean of quotients need not be the quotient of means", 0.15});
  }
  return result;
}

enum class Role { none, total, each, count };

Role role_of(const TableCell& cell) {
  const Tokens& h = cell.header->tokens;
  const bool accelerator = any_word(h, {"accelerator", "accelerators", "gpu", "gpus", "chip", "chips"});
  if (any_word(h, {"per"}) && accelerator) return Role::each;
  if (any_word(h, {"accelerators", "gpus", "chips"})) return Role::count;
  if (any_word(h, {"total"})) return Role::total;
  return Role::none;
}

void recognise_division_row(const Passage& row, Collector& out) {
  const TableCell *total = nullptr, *each = nullptr, *count = nullptr;
  for (const TableCell& cell : row.cells) {
    if (first_number(cell.tokens) == nullptr) continue;
    switch (role_of(cell)) {
      case Role::total:
        total = &cell;
        break;
      case Role::each:
        each = &cell;
        break;
      case Role::count:
        count = &cell;
        break;
      case Role::none:
        break;
    }
  }
  if (total == nullptr || each == nullptr || count == nullptr) return;
  const Token* subject = first_hardware(row.tokens);
  if (subject == nullptr) return;
  const Token &all = *first_number(total->tokens), &one = *first_number(each->tokens),
              &n = *first_number(count->tokens);
  const bool means =
      any_word(total->header->tokens, {"avg", "average", "mean"}) || n.text.find('.') != std::string::npos;
  std::vector<Found> inputs = {found("total", all.measure), found("count", n.measure)};
  if (means) inputs.push_back({"averages", "yes"});
  const bool server = any_word(row.tokens, {"server"});
  const bool offline = any_word(row.tokens, {"offline"});
  const Token* model = first_name(*row.heading, NameKind::model);
  ResultKey about{subject->name->id, "",
                  server    ? "server"
                  : offline ? "offline"
                            : "",
                  any_word(row.tokens, {"virtualized", "virtualised"})};
  const ResultRow result{all.measure.value, one.measure.value, n.measure.value};
  out.memory.results[about] = result;
  if (model != nullptr) {
    about.model = model->name->id;
    out.memory.results[about] = result;
  }
  out.use(all);
  out.use(n);
  out.add(division_kind(), one,
          fmt::format("{}{}: {} per accelerator of {} on {}", subject->text,
                      server    ? ", server"
                      : offline ? ", offline"
                                : "",
                      one.text, all.text, n.text),
          std::move(inputs));
}

/// "Dividing this 10,791 kWh by 8,760 hours gives 1,232 W".
void recognise_division_sentence(const Passage& sentence, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("dividing") && !tokens[i].is("divided") && !tokens[i].is("divide")) continue;
    std::vector<const Token*> numbers;
    for (std::size_t j = i; j < std::min(i + 20, tokens.size()); ++j) {
      if (tokens[j].is_number()) numbers.push_back(&tokens[j]);
    }
    if (numbers.size() < 3 || !any_word(tokens, i, tokens.size(), {"by"}) || !numbers[0]->measure.has_unit()) continue;
    const auto divisor = static_cast<std::size_t>(numbers[1] - tokens.data());
    const auto quotient = static_cast<std::size_t>(numbers[2] - tokens.data());
    if (!any_word(tokens, divisor + 1, quotient,
                  {"gives", "give", "is", "=", "yields", "equals", "get", "gets", "results", "makes", "means"})) {
      continue;
    }
    Measure hours = numbers[1]->measure;
    if (is_a<Hertz>(hours) || hours.bound != Measure::Bound::exact) continue;
    // "8,760 hours per year" is an amount of time here.
    if (!hours.has_unit() && numbers[1]->text.find("year") != std::string::npos) {
      hours.exponents[1] = 1;
      hours.value = hours.high = hours.value * 31536000;
    }
    Measure right = numbers[0]->measure;
    for (std::size_t k = 0; k < 9; ++k) {
      right.exponents[k] = static_cast<std::int8_t>(right.exponents[k] - hours.exponents[k]);
    }
    if (!same_dimension(right, numbers[2]->measure)) continue;
    out.use(*numbers[0]);
    out.use(*numbers[1]);
    out.add(division_kind(), *numbers[2],
            fmt::format("{} / {} = {}", numbers[0]->text, numbers[1]->text, numbers[2]->text),
            {found("total", numbers[0]->measure), found("count", hours)});
  }
}

void recognise_division(const Passage& passage, Collector& out) {
  if (passage.is_row()) {
    recognise_division_row(passage, out);
  } else {
    recognise_division_sentence(passage, out);
  }
}

}  // namespace

const Kind& division_kind() {
  static const Kind kind{
      "per-accelerator",
      "a total shared out over accelerators, hours or anything else",
      "total / count",
      "total count averages?",
      true,
      recompute_division,
      recognise_division,
  };
  return kind;
}

}  // namespace ridge::claims
