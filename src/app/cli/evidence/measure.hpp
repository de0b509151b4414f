// What `ridge measure` does, word by word: start ridge-measure, compare its steps with predictions, import others'
// files.
//
//   return measure_run(session, arguments);        // no word, or `model` without --compare
//   return measure_compare(session, arguments);
//   return measure_import(session, arguments);
#pragma once

#include <string>
#include <vector>

#include "app/cli/session/session.hpp"

namespace ridge::cli {

struct MeasureArguments {
  std::vector<std::string> words;
  bool full = false;
  bool quick = false;
  bool force = false;
  std::string gpu, out, only;
  std::string model, precision, phase, batch, context;
  std::string device, compare, kind;
  std::string engine, engine_version, tp, isl, osl, work, source;
};

/// Starts ridge-measure, which stands beside the program or in $PATH; its exit code. Refuses (bad_input) if there is
/// none, saying how to build it.
Result<int> measure_run(Session& session, const MeasureArguments& arguments, bool whole_model);
/// Predictions beside the steps of a file that `ridge measure model` wrote.
Result<int> measure_compare(Session& session, const MeasureArguments& arguments);
/// Others' measurements as evidence.
Result<int> measure_import(Session& session, const MeasureArguments& arguments);

}  // namespace ridge::cli
