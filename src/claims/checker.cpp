#include <algorithm>

#include "claims/kinds/finders.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/judge.hpp"
#include "claims/state.hpp"
#include "claims/text/passage.hpp"
#include "ridge/base/file.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLargestData = 4u << 20;
constexpr std::size_t kBinaryProbe = 4096;

/// What each passage leaves behind for later ones, before any kind looks at it.
void remember(const claims::Passage& passage, claims::Collector& out) {
  const auto note = [&](const claims::Tokens& tokens) {
    for (const claims::Token& t : tokens) {
      if (t.is_name(claims::NameKind::model)) out.memory.model = t.name->id;
      if (t.is_name(claims::NameKind::device)) out.memory.device = t.name->id;
    }
  };
  for (const claims::TableCell& cell : passage.cells) note(cell.header->tokens);
  note(passage.tokens);
}

/// Numbers in words ("a million tokens") are seldom figures that somebody wants checked, but for factors of a single
/// sentence ("five times better"). In a document bare counts are left out too; of a single sentence every number is
/// said.
bool counts_as_figure(const Measure& m, bool single) {
  const bool digits = m.text.find_first_of("0123456789") != std::string::npos;
  if (!digits) return single && m.form == Measure::Form::factor;
  return (single && m.suffix == 0) || m.has_unit() || m.form != Measure::Form::plain;
}

}  // namespace

Checker::Checker(std::unique_ptr<State> state) : state_(std::move(state)) {}
Checker::Checker(Checker&&) noexcept = default;
Checker& Checker::operator=(Checker&&) noexcept = default;
Checker::~Checker() = default;

Result<Checker> Checker::load(const Catalogue& catalogue, const std::string& data_directory) {
  const std::string names_path = data_directory + "/claims/names.toml";
  const auto names_text = read_file(names_path, kLargestData);
  if (!names_text) return names_text.error();
  auto names = claims::Names::load(catalogue, *names_text, names_path);
  if (!names) return names.error();
  const std::string facts_path = data_directory + "/claims/facts.toml";
  const auto facts_text = read_file(facts_path, kLargestData);
  if (!facts_text) return facts_text.error();
  auto facts = claims::Facts::load(catalogue, *facts_text, facts_path);
  if (!facts) return facts.error();
  auto state = std::make_unique<State>();
  state->catalogue = &catalogue;
  state->names = std::move(*names);
  state->facts = std::move(*facts);
  state->record = std::make_unique<claims::Record>(data_directory);
  return Checker(std::move(state));
}

Audit Checker::check(std::vector<Claim> claims, std::string_view name) const {
  Audit audit;
  audit.document = std::string(name);
  const claims::Context context = state_->context();
  audit.findings.reserve(claims.size());
  for (const Claim& claim : claims) audit.findings.push_back(claims::judge(claim, context));
  claims::find_contradictions(audit.findings);
  return audit;
}

Result<Audit> Checker::check_text(std::string_view text, std::string_view name) const {
  const auto refuse = [&](std::string message) {
    return Error{ErrorCode::bad_input, std::string(name), std::move(message)};
  };
  if (text.size() > kLargestDocument) return refuse("is larger than 16 MiB: cut it into parts");
  if (text.substr(0, kBinaryProbe).find('\0') != std::string_view::npos) {
    return refuse("is not text: it holds NUL bytes");
  }
  const claims::Text clean = claims::clean(text);
  const claims::Context context = state_->context();
  const std::vector<claims::Passage> passages = claims::read_passages(clean, state_->names);
  claims::Collector collector(clean, context, std::string(name));
  // Rows first: a summary at the top speaks of tables further down.
  for (const bool rows : {true, false}) {
    collector.memory.model.clear();
    for (const claims::Passage& passage : passages) {
      remember(passage, collector);
      if (passage.is_row() != rows) continue;
      for (const claims::Kind* kind : claims::kinds()) {
        if (kind->recognise != nullptr) kind->recognise(passage, collector);
      }
      claims::find_known_figures(passage, collector);
    }
  }
  std::vector<NotUnderstood> rest;
  for (const claims::Passage& passage : passages) {
    for (const claims::Token& token : passage.tokens) {
      if (!token.is_number() || collector.used(token) || !counts_as_figure(token.measure, passages.size() == 1))
        continue;
      const auto place = clean.place(token.offset);
      rest.push_back({token.text, place.line, place.column});
    }
  }
  std::vector<Claim> claims = std::move(collector).claims();
  std::stable_sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  Audit audit = check(std::move(claims), name);
  audit.not_understood = std::move(rest);
  return audit;
}

}  // namespace ridge
