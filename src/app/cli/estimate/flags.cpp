#include "app/cli/estimate/flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/line/value.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/session/wrong.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

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

Status EstimateFlags::check(EstimateWord word) const {
  const ask::Field* field = given_beside(word);
  if (field == nullptr) return {};
  std::string meant;
  for (const EstimateWord other : kEstimateWords) {
    if ((field->verbs & other) != 0) meant += (meant.empty() ? "" : ", ") + std::string(name(other));
  }
  return wrong(ask::flag_of(*field), fmt::format("is for {}, not for {}: leave it out", meant, name(word)));
}

Status EstimateFlags::valid(Session& session, bool lists) const {
  for (const Flag& flag : flags_) {
    if (flag.value.empty()) continue;
    Result<std::vector<std::string>> values = std::vector<std::string>{flag.value};
    if (lists) values = split_list(flag.name, flag.value);
    if (!values) return values.error();
    const bool several = !lists && flag.field->takes == ask::Takes::device && flag.value.find(',') != std::string::npos;
    if (several) return wrong(flag.name, "takes one device: `ridge estimate compare` puts several side by side");
    for (const std::string& value : *values) {
      if (const Result<double> read = ask::read_value(*flag.field, value); !read)
        return wrong(flag.name, read.error().message);
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
    if (!(flag.field->*member) || flag.said().empty()) continue;
    const Status s = ask::read(*flag.field, flag.said(), into);
    if (!s) return wrong(flag.name, s.error().message);
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

}  // namespace ridge::cli
