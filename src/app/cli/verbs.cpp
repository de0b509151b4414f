#include "app/cli/verbs.hpp"

namespace ridge::cli {

std::span<const Verb> verbs() {
#define RIDGE_MAKE_VERB(name) name##_verb(),
  static const Verb kAll[] = {RIDGE_VERBS(RIDGE_MAKE_VERB)};
#undef RIDGE_MAKE_VERB
  return kAll;
}

}  // namespace ridge::cli
