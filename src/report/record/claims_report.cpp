#include "report/record/claims_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/units.hpp"
#include "report/page/page.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

constexpr std::string_view kSchema = "ridge.check/1";

Emphasis emphasis_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::right:
      return Emphasis::good;
    case Verdict::rounded:
      return Emphasis::none;
    case Verdict::cannot_check:
      return Emphasis::faint;
    default:
      return Emphasis::bad;
  }
}

std::string place_of(const Claim& claim) {
  if (!claim.id.empty()) return claim.id;
  return claim.line == 0 ? "" : fmt::format("{}:{}", claim.line, claim.column);
}

std::string right_of(const Finding& finding) {
  return finding.right ? finding.right->text : "";
}

Json measure_json(const Measure& m) {
  Json json = Json::object();
  json.set("text", m.text).set("value", m.value);
  if (m.is_range()) json.set("high", m.high);
  int exponents[9];
  std::copy(m.exponents.begin(), m.exponents.end(), exponents);
  const std::string unit = detail::spell(exponents);
  json.set("unit", m.form == Measure::Form::factor || m.form == Measure::Form::percent || unit.empty() ? "1" : unit);
  return json;
}

Json finding_json(const Finding& f) {
  Json json = Json::object();
  if (!f.claim.id.empty()) json.set("id", f.claim.id);
  json.set("kind", f.claim.kind).set("says", f.claim.says);
  json.set("line", static_cast<int>(f.claim.line)).set("column", static_cast<int>(f.claim.column));
  json.set("verdict", name(f.verdict));
  if (!f.claim.claimed.text.empty()) json.set("claimed", measure_json(f.claim.claimed));
  json.set("right", f.right ? measure_json(*f.right) : Json());
  json.set("formula", f.formula).set("because", f.because);
  Json inputs = Json::array();
  for (const Finding::Input& input : f.inputs) {
    inputs.push(Json::object().set("name", input.name).set("value", input.value).set("source", input.source));
  }
  json.set("inputs", std::move(inputs));
  return json;
}

bool shown(const Finding& f, const ClaimsView& view) {
  return view.all || is_error(f.verdict);
}

std::string counts_text(const Audit& audit) {
  const auto counts = audit.count();
  std::string text = fmt::format("{} claim{} checked", audit.findings.size(), audit.findings.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (counts[i] > 0)
      text += fmt::format("{} {} {}", i == 0 || text.ends_with("checked") ? ":" : ",", counts[i],
                          name(static_cast<Verdict>(i)));
  }
  return text + ".";
}

}  // namespace

Document claim_page(const Finding& finding) {
  Document page;
  const Claim& claim = finding.claim;
  std::string head = fmt::format("{}: {}", name(finding.verdict), claim.says.empty() ? claim.claimed.text : claim.says);
  page.blocks.emplace_back(Paragraph{head, emphasis_of(finding.verdict)});
  Table table = two_columns("", Overflow::wrap);
  const auto row = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) table.rows.push_back({Cell(what), Cell(value)});
  };
  row("claimed", claim.claimed.text);
  row("right", right_of(finding));
  row("formula", finding.formula);
  row("because", finding.because);
  for (const Finding::Input& input : finding.inputs) {
    row(input.name, fmt::format("{} · {}", input.value, input.source));
  }
  page.blocks.emplace_back(std::move(table));
  return page;
}

Table audit_table(const Audit& audit, const ClaimsView& view) {
  Table table;
  table.columns = {{.key = "where", .heading = "where"},
                   {.key = "verdict", .heading = "verdict"},
                   {.key = "says", .heading = "claim", .overflow = Overflow::wrap},
                   {.key = "claimed", .heading = "claimed"},
                   {.key = "right", .heading = "right"},
                   {.key = "formula", .heading = "formula", .overflow = Overflow::wrap},
                   {.key = "because", .heading = "because", .overflow = Overflow::wrap}};
  for (const Finding& f : audit.findings) {
    if (!shown(f, view)) continue;
    table.rows.push_back({Cell(place_of(f.claim)), Cell(name(f.verdict)).with(emphasis_of(f.verdict)),
                          Cell(f.claim.says), Cell(f.claim.claimed.text), Cell(right_of(f)), Cell(f.formula),
                          Cell(f.because)});
  }
  return table;
}

Document audit_page(const Audit& audit, const ClaimsView& view) {
  Document page;
  page.title = audit.document;
  page.blocks.emplace_back(Paragraph{counts_text(audit), audit.any_error() ? Emphasis::bad : Emphasis::none});
  Table table = audit_table(audit, view);
  if (!table.rows.empty()) page.blocks.emplace_back(std::move(table));
  if (!audit.not_understood.empty()) {
    std::map<std::uint32_t, std::vector<std::string>> lines;
    for (const NotUnderstood& n : audit.not_understood) lines[n.line].push_back(n.text);
    std::string text = fmt::format("Not understood: {} figure{}.", audit.not_understood.size(),
                                   audit.not_understood.size() == 1 ? "" : "s");
    constexpr std::size_t kLines = 20;
    constexpr std::size_t kPerLine = 8;
    std::size_t said = 0;
    for (const auto& [line, figures] : lines) {
      if (!view.all && said == kLines) {
        text += " …";
        break;
      }
      ++said;
      text += fmt::format(" Line {}: ", line);
      for (std::size_t i = 0; i < figures.size() && (view.all || i < kPerLine); ++i)
        text += (i == 0 ? "" : ", ") + figures[i];
      text += figures.size() > kPerLine && !view.all ? ", …;" : ";";
    }
    text.back() = text.back() == ';' ? '.' : text.back();
    page.blocks.emplace_back(Paragraph{text, Emphasis::faint});
  }
  return page;
}

std::string annotated(const Audit& audit, std::string_view text, const ClaimsView& view, const TerminalStyle& style) {
  std::vector<std::string_view> lines;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  constexpr std::size_t kAround = 60;
  const std::size_t width = style.width > 40 ? static_cast<std::size_t>(style.width) : 100;
  std::string out;
  std::uint32_t last = 0;
  for (const Finding& f : audit.findings) {
    if (!shown(f, view) || f.claim.line == 0 || f.claim.line > lines.size()) continue;
    const std::string_view line = lines[f.claim.line - 1];
    const bool cut = line.size() > width;
    if (cut || f.claim.line != last) {
      const std::size_t at = std::min<std::size_t>(f.claim.column - 1, line.size());
      const std::size_t from = cut && at > kAround ? at - kAround : 0;
      const std::string_view piece = line.substr(from, cut ? 2 * kAround : line.size());
      // Control characters and halves of characters become '?'.
      const std::string safe = quoted(piece, piece.size() + 1);
      out += fmt::format("{:>6} | {}{}{}\n", f.claim.line, from > 0 ? "…" : "", safe.substr(1, safe.size() - 2),
                         cut ? "…" : "");
      last = f.claim.line;
    }
    std::string note = fmt::format("{}: {}", name(f.verdict), f.claim.says);
    if (is_error(f.verdict) && f.right) note += fmt::format("; right is {} = {}", right_of(f), f.formula);
    if (!f.because.empty() && f.verdict != Verdict::right) note += "; " + f.because;
    for (const std::string& part : wrap_text(note, static_cast<int>(width) - 11))
      out += fmt::format("       > {}\n", part);
  }
  if (out.empty()) {
    out = audit.findings.empty() ? "Nothing was found that can be checked.\n" : "Nothing that was checked is wrong.\n";
  }
  return out;
}

Json audits_json(std::span<const Audit> audits) {
  Json out = Json::object();
  out.set("schema", kSchema);
  Json documents = Json::array();
  for (const Audit& audit : audits) {
    Json document = Json::object();
    document.set("document", audit.document);
    const auto counts = audit.count();
    Json by_verdict = Json::object();
    for (std::size_t i = 0; i < kVerdicts; ++i) by_verdict.set(name(static_cast<Verdict>(i)), counts[i]);
    document.set("counts", std::move(by_verdict));
    Json findings = Json::array();
    for (const Finding& f : audit.findings) findings.push(finding_json(f));
    document.set("findings", std::move(findings));
    Json rest = Json::array();
    for (const NotUnderstood& n : audit.not_understood) {
      rest.push(Json::object()
                    .set("text", n.text)
                    .set("line", static_cast<int>(n.line))
                    .set("column", static_cast<int>(n.column)));
    }
    document.set("not_understood", std::move(rest));
    documents.push(std::move(document));
  }
  out.set("documents", std::move(documents));
  Json assumptions = Json::array();
  for (const char* text :
       {"peaks are dense", "a month is 730 hours", "training keeps 16 bytes a parameter (mixed-precision Adam)",
        "training FLOPs per token are 6 P + 12 L h s", "lengths of context written with K and M are binary"}) {
    assumptions.push(text);
  }
  out.set("assumptions", std::move(assumptions));
  return out;
}

}  // namespace ridge::report
