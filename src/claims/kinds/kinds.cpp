#include <algorithm>

#include "claims/kinds/all_kinds.hpp"
#include "claims/known/kind.hpp"

namespace ridge {

namespace claims {

std::span<const Kind* const> kinds() {
#define RIDGE_LIST_KIND(name) &name##_kind(),
  static const Kind* const kAll[] = {RIDGE_CLAIM_KINDS(RIDGE_LIST_KIND)};
#undef RIDGE_LIST_KIND
  return kAll;
}

const Kind* find_kind(std::string_view name) {
  const auto all = kinds();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Kind* k) { return k->name == name; });
  return at == all.end() ? nullptr : *at;
}

}  // namespace claims

std::vector<ClaimKindText> claim_kinds() {
  std::vector<ClaimKindText> texts;
  for (const claims::Kind* kind : claims::kinds()) {
    ClaimKindText text{kind->name, kind->summary, kind->formula, {}};
    std::string_view rest = kind->inputs;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      text.inputs.push_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace ridge
