#include "app/cli/estimate_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "app/cli/session.hpp"
#include "app/cli/value.hpp"
#include "app/cli/wrong.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

/// The error of a field, said of its flag.
Error of_flag(const std::string& flag, const Error& error) {
  return wrong(flag, error.message);
}

}  // namespace

std::string_view name(EstimateWord word) {
  switch (word) {
    case kInfer:
      return "infer";
    case kTrain:
      return "train";
    case kFit:
      return "fit";
    case kTechniques:
      return "techniques";
    case kCompare:
      return "compare";
    case kDiffusion:
      return "diffusion";
    case kRl:
      return "rl";
  }
  return "";
}

Error too_many_devices(std::string_view flag, double product) {
  return wrong(flag, fmt::format("the degrees multiply to {} devices, more than {} are not planned for",
                                 format_number(product, 7), format_number(kMostDevices, 7)));
}

EstimateFlags::EstimateFlags() {
  for (const std::span<const ask::Field> fields : {ask::deployment_fields(), ask::rl_fields()}) {
    for (const ask::Field& field : fields) flags_.push_back({&field, ask::flag_of(field)});
  }
}

void EstimateFlags::declare(Options& options, unsigned words) {
  for (Flag& flag : flags_) {
    if ((flag.field->verbs & words) != 0) declare_one(options, flag);
  }
}

void EstimateFlags::declare_only(Options& options, std::initializer_list<std::string_view> names) {
  for (Flag& flag : flags_) {
    if (std::find(names.begin(), names.end(), flag.name) != names.end()) declare_one(options, flag);
  }
}

void EstimateFlags::declare_rl(Options& options) {
  for (Flag& flag : flags_) {
    if (flag.field->verbs == kRl) declare_one(options, flag);
  }
}

void EstimateFlags::declare_beside(Options& options, unsigned words, const std::vector<std::string_view>& taken) {
  for (Flag& flag : flags_) {
    const bool has = std::find(taken.begin(), taken.end(), flag.name) != taken.end();
    if (!has && (flag.field->verbs & words) != 0) declare_one(options, flag);
  }
}

void EstimateFlags::declare_one(Options& options, Flag& flag) {
  const ask::Field& field = *flag.field;
  if (field.takes == ask::Takes::on) {
    options.flag(flag.name, flag.on, field.help);
  } else {
    options.text(flag.name, field.value_name, flag.value, field.help, options.has_texts() ? Takes() : value::of(field));
  }
}

const EstimateFlags::Flag& EstimateFlags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& EstimateFlags::value(std::string_view flag) const {
  return find(flag).value;
}

bool EstimateFlags::is_on(std::string_view flag) const {
  return find(flag).on;
}

void EstimateFlags::set(std::string_view flag, std::string value) {
  Flag& found = const_cast<Flag&>(find(flag));
  if (found.field->takes == ask::Takes::on) {
    found.on = !value.empty();
  } else {
    found.value = std::move(value);
  }
}

std::vector<std::string_view> EstimateFlags::given_names() const {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags_) {
    if (!flag.value.empty() || flag.on) names.push_back(flag.name);
  }
  return names;
}

Status EstimateFlags::check(EstimateWord word) const {
  for (const Flag& flag : flags_) {
    if ((flag.value.empty() && !flag.on) || (flag.field->verbs & word) != 0) continue;
    std::string meant;
    for (const EstimateWord other : kEstimateWords) {
      if ((flag.field->verbs & other) != 0) meant += (meant.empty() ? "" : ", ") + std::string(name(other));
    }
    return wrong(flag.name, fmt::format("is for {}, not for {}: leave it out", meant, name(word)));
  }
  return {};
}

Status EstimateFlags::none_given(std::string_view whose) const {
  for (const Flag& flag : flags_) {
    if (!flag.value.empty() || flag.on) return wrong(flag.name, fmt::format("is of {}: leave it out", whose));
  }
  return {};
}

Status EstimateFlags::valid(Session& session, bool lists) const {
  for (const Flag& flag : flags_) {
    if (flag.value.empty()) continue;
    Result<std::vector<std::string>> values = std::vector<std::string>{flag.value};
    if (lists) values = split_list(flag.name, flag.value);
    if (!values) return values.error();
    for (const std::string& value : *values) {
      if (const Result<double> read = ask::read_value(*flag.field, value); !read)
        return of_flag(flag.name, read.error());
      if (flag.field->takes != ask::Takes::engine) continue;
      if (const Status s = check_value(session, flag.name, value::engine(), value); !s) return s;
    }
  }
  return {};
}

namespace {

template <class Flags, class Q>
Status read_all(const Flags& flags, ask::Member<Q> ask::Field::*member, Q& into) {
  for (const auto& flag : flags) {
    if (!(flag.field->*member) || (flag.value.empty() && !flag.on)) continue;
    const Status s = ask::read(*flag.field, flag.on ? std::string("true") : flag.value, into);
    if (!s) return of_flag(flag.name, s.error());
  }
  return {};
}

}  // namespace

Status EstimateFlags::read(InferenceQuery& into) const {
  return read_all(flags_, &ask::Field::infer, into);
}

Status EstimateFlags::read(TrainingQuery& into) const {
  return read_all(flags_, &ask::Field::train, into);
}

Status EstimateFlags::read(RlQuery& into) const {
  if (const Status s = read_all(flags_, &ask::Field::train, into.training); !s) return s;
  return read_all(flags_, &ask::Field::rl, into);
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

Result<double> EstimateFlags::count(std::string_view flag, double otherwise, double low, double high) const {
  return read_count(flag, value(flag), otherwise, low, high);
}

Result<int> EstimateFlags::whole(std::string_view flag, int otherwise, int low, int high) const {
  return read_whole(flag, value(flag), otherwise, low, high);
}

Result<double> EstimateFlags::share(std::string_view flag, double otherwise) const {
  const std::string& text = value(flag);
  if (text.empty()) return otherwise;
  const Result<double> number = parse_share(text);
  if (!number) return wrong(flag, number.error().message);
  return number;
}

Result<std::vector<std::string>> split_list(std::string_view flag, std::string_view text) {
  std::vector<std::string> parts;
  if (text.find(':') != std::string_view::npos) return std::vector<std::string>{std::string(text)};
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string part(text.substr(0, comma));
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (part.empty()) return wrong(flag, "a part of the list is empty: write a,b,c");
    parts.push_back(std::move(part));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace ridge::cli
