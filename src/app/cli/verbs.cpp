#include "app/cli/verbs.hpp"

#include <array>

namespace ridge::cli {

std::span<const Verb> verbs() {
  static const std::array all = {
      plan_verb(),       //
      estimate_verb(),   //
      simulate_verb(),   //
      cost_verb(),       //
      goodput_verb(),    //
      facility_verb(),   //
      emit_verb(),       //
      doctor_verb(),     //
      mlperf_verb(),     //
      check_verb(),      //
      report_verb(),     //
      show_verb(),       //
      catalogue_verb(),  //
      validate_verb(),   //
      calibrate_verb(),  //
      measure_verb(),    //
      bench_verb(),      //
      emulate_verb(),    //
      serve_verb(),      //
      completion_verb(),
  };
  return all;
}

}  // namespace ridge::cli
