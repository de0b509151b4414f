#include "app/cli/fields/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

#include "app/cli/fields/values.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/session/wrong.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

/// Names of the flags of a table, made once.
const std::vector<std::string>& names_of(std::span<const ask::Field> table) {
  static const std::map<const ask::Field*, std::vector<std::string>> kNames = [] {
    std::map<const ask::Field*, std::vector<std::string>> all;
    for (const auto& fields : {ask::deployment_fields(), ask::rl_fields(), ask::simulation_fields(), ask::cost_fields(),
                               ask::goodput_fields(), ask::facility_fields(), ask::plan_fields()}) {
      for (const ask::Field& field : fields) all[fields.data()].push_back(ask::flag_of(field));
    }
    return all;
  }();
  return kNames.at(table.data());
}

}  // namespace

const std::string& Flags::Flag::said() const {
  static const std::string kOn = "true";
  return on ? kOn : value;
}

Flags::Flags(std::initializer_list<std::span<const ask::Field>> tables) {
  for (const std::span<const ask::Field> table : tables) {
    const std::vector<std::string>& names = names_of(table);
    for (std::size_t i = 0; i < table.size(); ++i) flags_.push_back({&table[i], names[i]});
  }
}

void Flags::declare(Options& options, unsigned verbs) {
  declare_beside(options, verbs, {});
}

void Flags::declare_alone(Options& options, unsigned verbs) {
  for (Flag& flag : flags_) {
    if (flag.field->verbs == verbs) declare_one(options, flag);
  }
}

void Flags::declare_only(Options& options, std::initializer_list<std::string_view> names) {
  for (Flag& flag : flags_) {
    if (std::find(names.begin(), names.end(), flag.name) != names.end()) declare_one(options, flag);
  }
}

void Flags::declare_beside(Options& options, unsigned verbs, const std::vector<std::string_view>& taken) {
  for (Flag& flag : flags_) {
    const bool has = std::find(taken.begin(), taken.end(), flag.name) != taken.end();
    if (!has && (flag.field->verbs & verbs) != 0) declare_one(options, flag);
  }
}

void Flags::declare_one(Options& options, Flag& flag) {
  const ask::Field& field = *flag.field;
  if (field.takes == ask::Takes::on) {
    options.flag(flag.name, flag.on, field.help);
  } else {
    options.text(flag.name, field.value_name, flag.value, field.help, options.has_texts() ? Takes() : value::of(field));
  }
  options.about(field.verbs);
}

const Flags::Flag& Flags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& Flags::value(std::string_view flag) const {
  return find(flag).said();
}

void Flags::set(std::string_view flag, std::string value) {
  Flag& found = const_cast<Flag&>(find(flag));
  if (found.field->takes == ask::Takes::on) {
    found.on = !value.empty();
  } else {
    found.value = std::move(value);
  }
}

bool Flags::fill(std::string_view flag, const std::string& value) {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  if (at == flags_.end()) return false;
  if (at->said().empty()) set(flag, value);
  return true;
}

std::vector<std::string_view> Flags::names() const {
  std::vector<std::string_view> out;
  for (const Flag& flag : flags_) out.push_back(flag.name);
  return out;
}

std::vector<std::string_view> Flags::given_names() const {
  std::vector<std::string_view> out;
  for (const Flag& flag : flags_) {
    if (!flag.said().empty()) out.push_back(flag.name);
  }
  return out;
}

std::vector<std::string> Flags::given_keys() const {
  std::vector<std::string> out;
  for (const Flag& flag : flags_) {
    if (!flag.said().empty()) out.emplace_back(flag.field->key);
  }
  return out;
}

const ask::Field* Flags::given_beside(unsigned verbs) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) {
    return !flag.said().empty() && (flag.field->verbs & verbs) == 0;
  });
  return at == flags_.end() ? nullptr : at->field;
}

Status Flags::none_given(std::string_view whose) const {
  for (const Flag& flag : flags_) {
    if (!flag.said().empty()) return wrong(flag.name, fmt::format("is of {}: leave it out", whose));
  }
  return {};
}

Status Flags::valid_all(Session& session) const {
  for (const Flag& flag : flags_) {
    if (flag.value.empty()) continue;
    if (const Status s = check_value(session, flag.name, value::of(*flag.field), flag.value); !s) return s;
  }
  return {};
}

Result<double> Flags::count(std::string_view flag, double otherwise, double low, double high) const {
  return read_count(flag, value(flag), otherwise, low, high);
}

Result<int> Flags::whole(std::string_view flag, int otherwise, int low, int high) const {
  return read_whole(flag, value(flag), otherwise, low, high);
}

Result<double> Flags::share(std::string_view flag, double otherwise) const {
  return number(flag, otherwise);
}

Result<double> Flags::number(std::string_view flag, double otherwise) const {
  const Flag& found = find(flag);
  if (found.said().empty()) return otherwise;
  const Result<double> number = ask::read_value(*found.field, found.said());
  if (!number) return wrong(flag, number.error().message);
  return number;
}

Result<double> read_count(std::string_view flag, const std::string& text, double otherwise, double low, double high) {
  if (text.empty()) return otherwise;
  const Result<double> number = parse_count(text);
  if (!number) return wrong(flag, number.error().message);
  if (*number < low || *number > high) {
    return wrong(flag, fmt::format("{} is outside of {} to {}", text, format_number(low, 7), format_number(high, 7)));
  }
  return number;
}

Result<int> read_whole(std::string_view flag, const std::string& text, int otherwise, int low, int high) {
  const Result<double> number = read_count(flag, text, otherwise, low, high);
  if (!number) return number.error();
  if (*number != std::floor(*number)) return wrong(flag, fmt::format("{} is no whole number", text));
  return static_cast<int>(*number);
}

Result<std::vector<std::string>> split_list(std::string_view flag, std::string_view text) {
  if (text.find(':') != std::string_view::npos) return std::vector<std::string>{std::string(text)};
  std::vector<std::string> parts = split(text, ',');
  for (std::string& part : parts) {
    part = std::string(trimmed(part));
    if (part.empty()) return wrong(flag, "a part of the list is empty: write a,b,c");
  }
  return parts;
}

}  // namespace ridge::cli
