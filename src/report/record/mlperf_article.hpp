// The report of MLPerf results: methodology, specifications, tables and charts per model, findings, conclusion.
//
//   Article article = mlperf_article({results, names, knowledge}, Language::zh);
//   write_file("mlperf.html", article_html(article));
//
// Every sentence with a figure is computed from the rows. Pure; any thread.
#pragma once

#include "report/record/mlperf_findings.hpp"

namespace ridge::report {

[[nodiscard]] Article mlperf_article(const MlperfEvidence& evidence, Language language);

}  // namespace ridge::report
