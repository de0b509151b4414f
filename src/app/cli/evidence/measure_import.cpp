// ridge measure import: others' measurements as evidence.
#include <algorithm>

#include "app/cli/evidence/measure.hpp"
#include "evidence/import/import.hpp"
#include "evidence/rows/case_row.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kImportLimit = 64u << 20;

Result<double> positive(const char* flag, const std::string& text) {
  if (text.empty()) return 0.0;
  const auto value = evidence::parse_plain_number(text);
  if (!value || !(*value > 0)) return Error{ErrorCode::bad_input, flag, "'" + text + "' is no number above 0"};
  return *value;
}

}  // namespace

Result<int> measure_import(Session& session, const MeasureArguments& arguments) {
  if (arguments.words.size() < 2) {
    return Error{ErrorCode::bad_input, "", "name the file: ridge measure import FILE --out cases.csv"};
  }
  const std::string& file = arguments.words[1];
  const Result<std::string> text = session.files().read(file, kImportLimit);
  if (!text) return text.error();
  const Result<evidence::ImportKind> kind =
      arguments.kind.empty() ? evidence::kind_of_file(*text, file) : evidence::parse_import_kind(arguments.kind);
  if (!kind) return kind.error();
  evidence::ImportOptions options;
  options.model = arguments.model;
  options.device = arguments.device;
  options.engine = arguments.engine;
  options.engine_version = arguments.engine_version;
  options.precision = arguments.precision;
  options.source = arguments.source;
  options.work = arguments.work;
  for (const auto& [flag, from, into] : {std::tuple{"--tp", &arguments.tp, &options.tp},
                                         {"--isl", &arguments.isl, &options.isl},
                                         {"--osl", &arguments.osl, &options.osl}}) {
    const Result<double> value = positive(flag, *from);
    if (!value) return value.error();
    *into = *value;
  }
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Result<std::string> csv = evidence::import_measurements(*kind, *text, file, options, **catalogue);
  if (!csv) return csv.error();
  if (arguments.out.empty()) {
    session.print(*csv);
    return kFine;
  }
  if (const Status written = session.files().write(arguments.out, *csv); !written) return written.error();
  const auto lines = std::count(csv->begin(), csv->end(), '\n');
  session.print("wrote " + arguments.out + ": " + std::to_string(lines - 1) + " rows of " +
                std::string(evidence::name(*kind)) + "\n");
  return kFine;
}

}  // namespace ridge::cli
