#include "app/cli/show/filter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

enum class Comparison { equal, unequal, less, less_or_equal, greater, greater_or_equal, contains };

struct Spelling {
  std::string_view text;
  Comparison comparison;
};
// Two characters before one, so that ">=" is not read as ">" with a value of "=...".
constexpr Spelling kSpellings[] = {{">=", Comparison::greater_or_equal},
                                   {"<=", Comparison::less_or_equal},
                                   {"!=", Comparison::unequal},
                                   {"==", Comparison::equal},
                                   {"=", Comparison::equal},
                                   {">", Comparison::greater},
                                   {"<", Comparison::less},
                                   {"~", Comparison::contains}};

Result<std::size_t> required_field(const Sheet& sheet, std::string_view key) {
  if (const auto field = sheet.find_field(key)) return *field;
  std::vector<std::string_view> keys;
  for (const Field& field : sheet.fields) {
    keys.push_back(field.key);
    const std::string_view end = field.key.substr(field.key.find('.') + 1);
    if (std::find(keys.begin(), keys.end(), end) == keys.end()) keys.push_back(end);
  }
  const std::string near = nearest(key, keys.data(), keys.size());
  const std::string plural(sheet.plural);
  return Error{ErrorCode::bad_input, "",
               plural + " have no " + quoted(key) + (near.empty() ? "" : "; did you mean " + near + "?") +
                   (near.empty() ? "; " : " ") + "`ridge show " + plural + " --keys` lists what they have"};
}

bool holds(Comparison comparison, int order) {
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::unequal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_or_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_or_equal:
      return order >= 0;
    case Comparison::contains:
      return false;
  }
  return false;
}

int order_of(double a, double b) {
  if (std::abs(a - b) <= 1e-9 * std::abs(b)) return 0;  // "989.4 TFLOP/s" however it was multiplied out
  return a < b ? -1 : 1;
}

/// What the text says in the field's unit; `sample` is any known cell of the field.
Result<double> number_in(const Field& field, const Cell& sample, std::string_view text) {
  int exponents[9];
  bool plain = true;
  for (std::size_t i = 0; i < 9; ++i) {
    exponents[i] = sample.exponents()[i];
    plain = plain && exponents[i] == 0;
  }
  const Result<double> number = plain ? parse_count(text) : detail::parse_measure(text, exponents);
  if (number) return number;
  return Error{ErrorCode::bad_input, "", std::string(field.key) + ": " + number.error().message};
}

}  // namespace

Status keep_where(Sheet& sheet, std::string_view condition) {
  const std::size_t at = condition.find_first_of("<>=!~");
  const Spelling* spelling = nullptr;
  if (at != std::string_view::npos) {
    spelling = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                            [&](const Spelling& s) { return condition.substr(at).starts_with(s.text); });
  }
  if (spelling == nullptr || spelling == std::end(kSpellings)) {
    return Error{ErrorCode::bad_input, "",
                 quoted(condition) + " has no comparison; write for example 'memory>=80GB' or 'vendor=AMD'"};
  }
  const std::string_view key = trimmed(condition.substr(0, at));
  const std::string_view text = trimmed(condition.substr(at + spelling->text.size()));
  const Comparison comparison = spelling->comparison;
  const Result<std::size_t> field = required_field(sheet, key);
  if (!field) return field.error();
  const auto keep_if = [&](auto&& predicate) {
    std::erase_if(sheet.rows, [&](const Row& row) { return !predicate(row.values[*field].cell); });
    return Status();
  };

  const bool equality = comparison == Comparison::equal || comparison == Comparison::unequal;
  if (equality && lower(text) == "unknown") {
    return keep_if([&](const Cell& cell) { return cell.empty() == (comparison == Comparison::equal); });
  }
  if (comparison == Comparison::contains || sheet.fields[*field].kind == ColumnKind::text) {
    std::string wanted = lower(text);
    return keep_if([&, wanted](const Cell& cell) {
      if (cell.empty()) return false;
      if (cell.kind() == Cell::Kind::boolean) {
        const bool yes = wanted == "yes" || wanted == "true";
        return equality && (yes == (cell.mid() != 0)) == (comparison == Comparison::equal);
      }
      const std::string have = lower(cell.plain());
      if (comparison == Comparison::contains) return have.find(wanted) != std::string::npos;
      return holds(comparison, have.compare(wanted));
    });
  }
  const auto known = std::find_if(sheet.rows.begin(), sheet.rows.end(),
                                  [&](const Row& row) { return !row.values[*field].cell.empty(); });
  if (known == sheet.rows.end()) {
    sheet.rows.clear();
    return {};
  }
  const Result<double> number = number_in(sheet.fields[*field], known->values[*field].cell, text);
  if (!number) return number.error();
  return keep_if([&](const Cell& cell) { return !cell.empty() && holds(comparison, order_of(cell.mid(), *number)); });
}

Status sort_rows(Sheet& sheet, std::string_view key) {
  const bool descending = key.starts_with('-');
  if (descending) key.remove_prefix(1);
  const Result<std::size_t> field = required_field(sheet, key);
  if (!field) return field.error();
  const bool text = sheet.fields[*field].kind == ColumnKind::text;
  std::stable_sort(sheet.rows.begin(), sheet.rows.end(), [&](const Row& left, const Row& right) {
    const Cell& a = left.values[*field].cell;
    const Cell& b = right.values[*field].cell;
    if (a.empty() || b.empty()) return !a.empty() && b.empty();
    const Cell& first = descending ? b : a;
    const Cell& second = descending ? a : b;
    return text ? lower(first.plain()) < lower(second.plain()) : first.mid() < second.mid();
  });
  return {};
}

Result<std::vector<std::size_t>> choose_fields(const Sheet& sheet, std::string_view keys) {
  std::vector<std::size_t> chosen;
  while (!keys.empty()) {
    const std::size_t comma = std::min(keys.find(','), keys.size());
    const Result<std::size_t> field = required_field(sheet, trimmed(keys.substr(0, comma)));
    if (!field) return field.error();
    chosen.push_back(*field);
    keys.remove_prefix(std::min(comma + 1, keys.size()));
  }
  return chosen;
}

std::vector<std::size_t> listed_fields(const Sheet& sheet) {
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < sheet.fields.size(); ++i) {
    if (sheet.fields[i].listed) listed.push_back(i);
  }
  return listed;
}

}  // namespace ridge::cli
