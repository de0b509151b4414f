// Reports that another verb makes: `ridge report plan ... -o FILE` is `ridge plan serve ... --html FILE`, the same
// code.
//
//   Result<std::optional<ForwardedReport>> report = forwarded_report(words);   // {"report", "serve", "--model", ...}
//   if (report && *report) words = (*report)->words;                           // {"simulate", "--model", ...,
//   "--html=..."}
//   ... run the words ...
//   finish_report(session, **report);                                          // prints on paper, says what was
//   written
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/session/session.hpp"

namespace ridge::cli {

struct ForwardedReport {
  std::vector<std::string> words;  ///< the line that makes it
  std::string html;
  std::string pdf;         ///< empty = not asked for
  bool keeps_html = true;  ///< else it is only on the way to the PDF
};

/// Nothing if the line is no report, is made by `ridge report` itself, or asks for help. Refuses a report without -o
/// and
/// --pdf, and one whose name does not end in .html or .pdf.
Result<std::optional<ForwardedReport>> forwarded_report(const std::vector<std::string>& words);

/// Prints what was asked for and removes what was only on the way.
Status finish_report(const Session& session, const ForwardedReport& report);

/// Prints a page on paper with Chromium or Chrome. Refuses (refused) where there is neither, saying so.
Status print_pdf(const std::string& html, const std::string& pdf);

/// A name for a page that is only on the way to a PDF.
[[nodiscard]] std::string passing_page();

/// The command that gives the session's answer, for people to copy: without the files that it writes beside it.
[[nodiscard]] std::string command_text(const Session& session);

}  // namespace ridge::cli
