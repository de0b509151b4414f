#include "app/cli/plan/flags.hpp"

#include <fmt/format.h>

#include "app/cli/session/wrong.hpp"

namespace ridge::cli {

std::string_view name(PlanKind kind) {
  return kind == PlanKind::serve ? "serve" : kind == PlanKind::train ? "train" : "rl";
}

Status PlanFlags::check(PlanKind kind) const {
  const ask::Field* field = given_beside(static_cast<unsigned>(kind));
  if (field == nullptr) return {};
  std::string meant;
  for (const PlanKind other : {PlanKind::serve, PlanKind::train, PlanKind::rl}) {
    if ((field->verbs & static_cast<unsigned>(other)) == 0) continue;
    meant += (meant.empty() ? "" : " and ") + std::string(name(other));
  }
  return wrong(ask::flag_of(*field), fmt::format("is for {}, not for {}: leave it out", meant, name(kind)));
}

std::string PlanFlags::question(PlanKind kind) const {
  std::string out(name(kind));
  for (const Flag& flag : flags_) {
    if ((flag.field->verbs & ask::kDescribes) == 0 || flag.said().empty()) continue;
    out += fmt::format("\n{}={}", flag.name, flag.said());
  }
  return out;
}

void PlanFlags::restore(std::string_view question) {
  std::size_t at = question.find('\n');
  while (at != std::string_view::npos) {
    const std::size_t end = question.find('\n', at + 1);
    const std::string_view line = question.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) fill(line.substr(0, equals), std::string(line.substr(equals + 1)));
    at = end;
  }
}

}  // namespace ridge::cli
