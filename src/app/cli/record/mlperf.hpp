// What `ridge mlperf` and `ridge report mlperf` share: the results asked for, and how answers are printed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"
#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::cli {

struct MlperfRecord {
  mlperf::Names names;
  mlperf::Results results;
};

/// The bundled results, or those of `database` if that is not empty.
Result<MlperfRecord> mlperf_record(const Session& session, const std::string& database);

/// ridge mlperf import: files (or, without any, the bundled rounds) into a database.
struct MlperfImport {
  std::vector<std::string> paths;
  std::string database = {};
  std::string round = {};
  std::string system = {};  ///< "datacenter" or "edge"
  bool replace = false;
  bool rules = false;
};
Result<int> mlperf_import(Session& session, const MlperfImport& arguments);

/// A table in the form that was asked for, with sentences below it.
int print_mlperf(Session& session, std::string_view command, const Table& table,
                 const std::vector<std::string>& remarks);

/// ridge mlperf explain: one submission in full, or many side by side.
Result<int> mlperf_explain(Session& session, const MlperfRecord& record, const mlperf::Row& row);
Result<int> mlperf_explain(Session& session, const MlperfRecord& record, const mlperf::RowList& rows);

}  // namespace ridge::cli
