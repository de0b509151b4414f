// ridge measure import: others' measurements as evidence.
#include "app/cli/measure.hpp"

namespace ridge::cli {

Result<int> measure_import(Session& /*session*/, const MeasureArguments& arguments) {
  if (arguments.words.size() < 2) return Error{ErrorCode::bad_input, "import", "name the file to import"};
  return Error{ErrorCode::refused, arguments.words[1], "importing is not there yet"};
}

}  // namespace ridge::cli
