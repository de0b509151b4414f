#include "app/cli/verbs.hpp"

#include <array>

namespace ridge::cli {

std::span<const Verb> verbs() {
  static const std::array all = {
      show_verb(),   estimate_verb(), facility_verb(),  emit_verb(),
      doctor_verb(), validate_verb(), calibrate_verb(), completion_verb(),
  };
  return all;
}

}  // namespace ridge::cli
