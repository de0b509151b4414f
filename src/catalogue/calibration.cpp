#include "ridge/catalogue/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <system_error>

#include "catalogue/calibration_files.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

constexpr std::size_t kCalibrationFileLimit = 4'000'000;

/// "; did you mean 'a', 'b'?", or nothing if no candidate is near.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string near = nearest(word, candidates.data(), candidates.size());
  return near.empty() ? near : fmt::format("; did you mean {}?", near);
}

/// Reads the members of one table strictly; the first error is kept.
class Members {
 public:
  Members(const TomlNode& table, const std::string& file, std::initializer_list<std::string_view> known)
      : table_(table), file_(file) {
    const std::vector<std::string_view> names(known);
    for (const TomlMember& member : table.members) {
      if (std::find(names.begin(), names.end(), member.key) != names.end()) continue;
      refuse(member.line, member.column,
             fmt::format("{} is no key of this table{}", ridge::quoted(member.key), suggestion(member.key, names)));
    }
  }

  std::string text(std::string_view key, bool required) {
    const TomlMember* member = get(key, required);
    if (member == nullptr) return {};
    if (member->value.kind != TomlNode::Kind::text) refuse(*member, "has to be a text in quotes");
    return member->value.text;
  }
  double number(std::string_view key, double otherwise, bool required) {
    const TomlMember* member = get(key, required);
    return member == nullptr ? otherwise : number_of(*member, member->value);
  }
  bool flag(std::string_view key, bool otherwise) {
    const TomlMember* member = get(key, false);
    if (member == nullptr) return otherwise;
    if (member->value.kind != TomlNode::Kind::flag) refuse(*member, "has to be true or false");
    return member->value.flag;
  }
  std::pair<double, double> range(std::string_view key) {
    const TomlMember* member = get(key, true);
    if (member == nullptr) return {0, 0};
    const TomlNode& value = member->value;
    if (value.kind != TomlNode::Kind::array || value.items.size() != 2) {
      refuse(*member, "has to be a pair of numbers: [low, high]");
      return {0, 0};
    }
    return {number_of(*member, value.items[0]), number_of(*member, value.items[1])};
  }
  void numbers(std::string_view key, std::span<double> into) {
    const TomlMember* member = get(key, true);
    if (member == nullptr) return;
    const TomlNode& value = member->value;
    if (value.kind != TomlNode::Kind::array || value.items.size() != into.size()) {
      refuse(*member, fmt::format("has to be a list of {} numbers", into.size()));
      return;
    }
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = number_of(*member, value.items[i]);
  }
  [[nodiscard]] bool has(std::string_view key) const { return table_.find(key) != nullptr; }
  void refuse_here(std::string_view key, const std::string& message) {
    const TomlMember* member = table_.find(key);
    if (member != nullptr) {
      refuse(member->line, member->column, message);
    } else {
      refuse(table_.line, table_.column, message);
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const TomlMember* get(std::string_view key, bool required) {
    const TomlMember* member = table_.find(key);
    if (member == nullptr && required) refuse(table_.line, table_.column, fmt::format("'{}' is missing", key));
    return member;
  }
  double number_of(const TomlMember& member, const TomlNode& node) {
    if (node.kind == TomlNode::Kind::integer) return static_cast<double>(node.integer);
    if (node.kind == TomlNode::Kind::number && std::isfinite(node.number)) return node.number;
    refuse(member, "has to be a finite number");
    return 0;
  }
  void refuse(const TomlMember& member, std::string_view what) {
    refuse(member.line, member.column, fmt::format("'{}' {}", member.key, what));
  }
  void refuse(std::uint32_t line, std::uint32_t column, std::string message) {
    if (!error_) error_ = Error{ErrorCode::bad_input, place_text(file_, line, column), std::move(message)};
  }

  const TomlNode& table_;
  const std::string& file_;
  std::optional<Error> error_;
};

Result<Parameter> read_parameter(const TomlNode& table, const std::string& file) {
  Members m(
      table, file,
      {"name", "meaning", "value", "prior", "spread", "range", "logarithmic", "fitted", "rows", "group", "source"});
  Parameter p;
  p.name = m.text("name", true);
  p.meaning = m.text("meaning", true);
  p.value = m.number("value", 1, true);
  p.prior = m.number("prior", 1, true);
  p.spread = m.number("spread", 0.2, true);
  std::tie(p.low, p.high) = m.range("range");
  p.logarithmic = m.flag("logarithmic", true);
  p.fitted = m.flag("fitted", true);
  p.rows = static_cast<int>(m.number("rows", 0, false));
  p.group = m.text("group", true);
  p.source = m.text("source", false);
  if (!m.error()) {
    const auto outside = [&](double v) { return v < p.low || v > p.high; };
    if (outside(p.value)) m.refuse_here("value", fmt::format("{} is outside of the range of '{}'", p.value, p.name));
    if (outside(p.prior)) m.refuse_here("prior", fmt::format("{} is outside of the range of '{}'", p.prior, p.name));
    if (p.spread <= 0) m.refuse_here("spread", "the spread of a prior has to be positive");
    if (p.logarithmic && p.low <= 0) m.refuse_here("range", "a logarithmic parameter has to stay positive");
  }
  if (m.error()) return *m.error();
  return p;
}

Result<IntervalClass> read_interval(const TomlNode& table, const std::string& file) {
  Members m(table, file, {"metric", "resembles", "low", "high", "rows", "median_error", "p90_error"});
  IntervalClass c;
  c.metric = m.text("metric", true);
  c.resembles = m.text("resembles", true);
  c.low = m.number("low", 1, true);
  c.high = m.number("high", 1, true);
  c.rows = static_cast<int>(m.number("rows", 0, true));
  c.median_error = m.number("median_error", 0, false);
  c.p90_error = m.number("p90_error", 0, false);
  if (!m.error() && !(c.low > 0 && c.low <= c.high)) {
    m.refuse_here("low", "the multipliers have to be positive, low not above high");
  }
  if (m.error()) return *m.error();
  return c;
}

Result<Effect> read_effect(const TomlNode& table, const std::string& file) {
  Members m(table, file, {"group", "level", "key", "mean", "spread", "rows"});
  Effect e;
  e.group = m.text("group", true);
  e.level = m.text("level", true);
  e.key = m.text("key", true);
  e.mean = m.number("mean", 0, true);
  e.spread = m.number("spread", 0, true);
  e.rows = static_cast<int>(m.number("rows", 0, true));
  if (!m.error() && !(e.spread >= 0 && e.spread < 5)) m.refuse_here("spread", "a spread is from 0 to 5");
  if (!m.error() && !(std::fabs(e.mean) < 5)) m.refuse_here("mean", "the mean of a logarithm is from -5 to 5");
  if (m.error()) return *m.error();
  return e;
}

Result<EffectRest> read_rest(const TomlNode& table, const std::string& file) {
  Members m(table, file,
            {"group", "measured", "metric", "between", "within", "low", "high", "rows", "median_error", "p90_error"});
  EffectRest r;
  r.group = m.text("group", true);
  r.measured = m.flag("measured", true);
  r.metric = m.text("metric", true);
  r.between = m.number("between", 0, true);
  r.within = m.number("within", 0, true);
  r.low = m.number("low", 0, true);
  r.high = m.number("high", 0, true);
  r.rows = static_cast<int>(m.number("rows", 0, true));
  r.median_error = m.number("median_error", 0, false);
  r.p90_error = m.number("p90_error", 0, false);
  if (!m.error() && !(r.low <= 0 && r.high >= 0 && r.low > -20 && r.high < 20)) {
    m.refuse_here("low", "the quantiles have to hold the answer itself: low from -20 to 0, high from 0 to 20");
  }
  if (!m.error() && !(r.between >= 0 && r.between < 5 && r.within >= 0 && r.within < 5)) {
    m.refuse_here("within", "a spread is from 0 to 5");
  }
  if (m.error()) return *m.error();
  return r;
}

Result<OwnRun> read_run(const TomlNode& table, const std::string& file) {
  constexpr double kFurthest = 30;  // a logarithm: more than anything that runs
  Members m(table, file, {"stack", "device", "model", "format", "mode", "at", "slower"});
  OwnRun r;
  r.point.stack = m.text("stack", true);
  r.point.device = m.text("device", true);
  r.point.model = m.text("model", true);
  r.point.format = m.text("format", true);
  r.point.mode = m.text("mode", true);
  m.numbers("at", r.point.at);
  r.slower = m.number("slower", 0, true);
  for (const double x : r.point.at) {
    if (!m.error() && !(std::fabs(x) < kFurthest)) m.refuse_here("at", "has to be five logarithms, each below 30");
  }
  if (!m.error() && !(std::fabs(r.slower) < 5)) m.refuse_here("slower", "the logarithm of a factor is from -5 to 5");
  if (m.error()) return *m.error();
  return r;
}

Error bad_table(const TomlMember& member, const std::string& file) {
  return {ErrorCode::bad_input, place_text(file, member.line, member.column),
          fmt::format("{} is no table of a calibration; write [[parameter]], [[interval]], [[effect]] or [[rest]]; in "
                      "an overlay [[parameter]] or [[run]]",
                      ridge::quoted(member.key))};
}

/// Calls `each(table)` for each table of an array of tables.
template <class Each>
Status for_each_table(const TomlMember& member, const std::string& file, const Each& each) {
  if (member.value.kind != TomlNode::Kind::array) return bad_table(member, file);
  for (const TomlNode& table : member.value.items) {
    if (table.kind != TomlNode::Kind::table) return bad_table(member, file);
    if (const Status status = each(table); !status) return status.error();
  }
  return {};
}

Result<TomlNode> read_toml(const std::string& path) {
  const auto text = read_file(path, kCalibrationFileLimit);
  if (!text) return text.error();
  return parse_toml(*text, path);
}

/// What the bundled files hold.
struct Contents {
  std::vector<Parameter> parameters;
  std::vector<IntervalClass> intervals;
  std::vector<Effect> effects;
  std::vector<EffectRest> rests;
};

Status read_bundled(const std::string& path, Contents& into) {
  std::vector<Parameter>& parameters = into.parameters;
  const auto root = read_toml(path);
  if (!root) return root.error();
  for (const TomlMember& member : root->members) {
    const Status status = for_each_table(member, path, [&](const TomlNode& table) -> Status {
      if (member.key == "parameter") {
        auto p = read_parameter(table, path);
        if (!p) return p.error();
        for (const Parameter& other : parameters) {
          if (other.name != p->name) continue;
          return Error{ErrorCode::bad_input, place_text(path, table.line, table.column),
                       fmt::format("'{}' is there twice", p->name)};
        }
        parameters.push_back(std::move(*p));
        return {};
      }
      if (member.key == "interval") {
        auto c = read_interval(table, path);
        if (!c) return c.error();
        into.intervals.push_back(std::move(*c));
        return {};
      }
      if (member.key == "effect") {
        auto e = read_effect(table, path);
        if (!e) return e.error();
        into.effects.push_back(std::move(*e));
        return {};
      }
      if (member.key == "rest") {
        auto r = read_rest(table, path);
        if (!r) return r.error();
        into.rests.push_back(std::move(*r));
        return {};
      }
      return bad_table(member, path);
    });
    if (!status) return status.error();
  }
  return {};
}

Status read_overlay(const std::string& path, std::vector<Parameter>& parameters, std::vector<OwnRun>& runs) {
  const auto root = read_toml(path);
  if (!root) return root.error();
  for (const TomlMember& member : root->members) {
    if (member.key == "run") {
      const Status status = for_each_table(member, path, [&](const TomlNode& table) -> Status {
        auto run = read_run(table, path);
        if (!run) return run.error();
        runs.push_back(std::move(*run));
        return {};
      });
      if (!status) return status.error();
      continue;
    }
    if (member.key != "parameter") return bad_table(member, path);
    const Status status = for_each_table(member, path, [&](const TomlNode& table) -> Status {
      Members m(table, path, {"name", "value", "rows", "source"});
      const std::string name = m.text("name", true);
      const double value = m.number("value", 1, true);
      const double rows = m.number("rows", 0, false);
      const std::string source = m.text("source", false);
      if (m.error()) return *m.error();
      for (Parameter& p : parameters) {
        if (p.name != name) continue;
        if (value < p.low || value > p.high) {
          m.refuse_here("value",
                        fmt::format("{} is outside of [{}, {}], the range of '{}'", value, p.low, p.high, name));
          return *m.error();
        }
        p.value = value;
        if (m.has("rows")) p.rows = static_cast<int>(rows);
        if (m.has("source")) p.source = source;
        return {};
      }
      // A factor for a scope of its own, on a base that exists: what `ridge calibrate --profile` finds.
      const std::size_t at = name.find('@');
      const bool based = at != std::string::npos && at + 1 < name.size() &&
                         std::any_of(parameters.begin(), parameters.end(),
                                     [&](const Parameter& p) { return p.name == name.substr(0, at); });
      if (based) {
        constexpr double kLeast = 1e-3, kMost = 1e3;
        if (!(value >= kLeast && value <= kMost)) {
          m.refuse_here("value", fmt::format("{} is outside of [{}, {}], the range of a factor", value, kLeast, kMost));
          return *m.error();
        }
        parameters.push_back({.name = name,
                              .meaning = "factor on " + name.substr(0, at) + " from an overlay",
                              .value = value,
                              .prior = value,
                              .low = kLeast,
                              .high = kMost,
                              .fitted = false,
                              .rows = static_cast<int>(rows),
                              .group = "overlay",
                              .source = source});
        return {};
      }
      std::vector<std::string_view> names;
      for (const Parameter& p : parameters) names.push_back(p.name);
      m.refuse_here("name", fmt::format("there is no parameter {}{}", ridge::quoted(name), suggestion(name, names)));
      return *m.error();
    });
    if (!status) return status.error();
  }
  return {};
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Six digits: enough that a prediction does not move, few enough to read.
std::string digits(double value) {
  return fmt::format("{:.6g}", value);
}

// Eight bytes at a time: names are short, but a lookup happens hundreds of times for every deployment that is resolved.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0) {
  constexpr std::size_t kWord = sizeof hash;
  hash ^= text.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  };
  std::uint64_t word = 0;
  if (text.size() < kWord) {
    for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
    mix(word);
    return hash;
  }
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord) {
    std::memcpy(&word, text.data() + at, kWord);
    mix(word);
  }
  std::memcpy(&word, text.data() + text.size() - kWord, kWord);  // the last eight, some of them again
  mix(word);
  return hash;
}

/// Of a whole name: base and scope one after the other, as find() puts them together.
std::uint64_t hash_of_name(std::string_view name) {
  const std::size_t at = std::min(name.find('@'), name.size());
  const std::uint64_t base = hash_of(name.substr(0, at));
  return at == name.size() ? base : hash_of(name.substr(at + 1), base);
}

}  // namespace

Calibration::Calibration(std::vector<Parameter> parameters, std::vector<IntervalClass> intervals, Effects effects)
    : parameters_(std::move(parameters)), intervals_(std::move(intervals)), effects_(std::move(effects)) {
  std::sort(parameters_.begin(), parameters_.end(),
            [](const Parameter& a, const Parameter& b) { return a.name < b.name; });
  slots_.resize(std::bit_ceil(4 * parameters_.size() + 1));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    std::size_t at = hash_of_name(p.name) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(i + 1);
    const std::size_t scope = p.name.find('@');
    const bool of_kernels = p.group == "kernels" || p.group.starts_with("measured");
    if (scope == std::string::npos || !of_kernels || p.rows == 0) continue;
    const std::string words = p.name.substr(scope + 1);
    known_.insert(words.substr(0, words.find('/')));
  }
}

const Parameter* Calibration::find(std::string_view name, std::string_view scope) const {
  if (slots_.empty()) return nullptr;
  std::uint64_t hash = hash_of_name(name);
  if (!scope.empty()) hash = hash_of(scope, hash);
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    const Parameter& p = parameters_[slots_[at] - 1];
    const std::string_view whole = p.name;
    if (scope.empty() ? whole == name
                      : whole.size() == name.size() + 1 + scope.size() && whole.starts_with(name) &&
                            whole[name.size()] == '@' && whole.ends_with(scope)) {
      return &p;
    }
  }
  return nullptr;
}

double Calibration::value(std::string_view name, std::initializer_list<std::string_view> scopes) const {
  const Parameter* base = find(name, "");
  assert(base != nullptr && "no such calibration parameter");
  if (base == nullptr) return std::nan("");
  double value = base->value;
  // Names that begin like the base stand right behind it, its factors among them; most bases have none.
  const Parameter* const begin = base + 1;
  const Parameter* const end = parameters_.data() + parameters_.size();
  const Parameter* last = begin;
  // Two bytes tell most others apart, at less than a comparison costs.
  const auto begins_alike = [&](const std::string& other) {
    return other.size() > name.size() && other[name.size() - 1] == name.back() && other.starts_with(name);
  };
  while (last != end && begins_alike(last->name)) ++last;
  for (const std::string_view scope : scopes) {
    if (scope.empty()) continue;
    for (const Parameter* p = begin; p != last; ++p) {
      const std::string_view whole = p->name;
      if (whole.size() != name.size() + 1 + scope.size() || whole[name.size()] != '@') continue;
      if (whole.ends_with(scope)) value *= p->value;
    }
  }
  return value;
}

int Calibration::rows(std::string_view name, std::string_view scope) const {
  const Parameter* factor = find(name, scope);
  return factor != nullptr ? factor->rows : 0;
}

bool Calibration::knows_kernels_of(std::string_view architecture) const {
  return known_.find(architecture) != known_.end();
}

const IntervalClass* Calibration::interval(std::string_view metric, std::string_view resembles) const {
  const IntervalClass* widest = nullptr;
  for (const IntervalClass& c : intervals_) {
    if (c.metric != metric) continue;
    if (c.resembles == resembles) return &c;
    if (widest == nullptr || c.high / c.low > widest->high / widest->low) widest = &c;
  }
  return widest;
}

Calibration Calibration::with_values(std::span<const double> values) const {
  assert(values.size() == parameters_.size());
  Calibration other = *this;
  for (std::size_t i = 0; i < values.size(); ++i) other.parameters_[i].value = values[i];
  return other;
}

Calibration Calibration::with_intervals(std::vector<IntervalClass> intervals) const {
  Calibration other = *this;
  other.intervals_ = std::move(intervals);
  return other;
}

Calibration Calibration::with_effects(Effects effects) const {
  Calibration other = *this;
  other.effects_ = std::move(effects);
  return other;
}

Calibration Calibration::with_own_runs(OwnRuns runs) const {
  Calibration other = *this;
  other.own_runs_ = std::move(runs);
  return other;
}

std::span<const RequiredParameter> program_parameters() {
  static constexpr RequiredParameter kParameters[] = {
#include "catalogue/calibration_names.inc"
  };
  return kParameters;
}

Result<Calibration> load_calibration(const std::string& directory, std::span<const std::string> overlays) {
  return read_calibration(directory, overlays, program_parameters());
}

Result<Calibration> read_calibration(const std::string& directory, std::span<const std::string> overlays,
                                     std::span<const RequiredParameter> required) {
  const Result<std::vector<std::string>> files = files_in(directory, ".toml");
  if (!files) return files.error();
  Contents contents;
  for (const std::string& file : *files) {
    if (const Status status = read_bundled(file, contents); !status) return status.error();
  }
  std::vector<Parameter>& parameters = contents.parameters;
  for (const Parameter& p : parameters) {
    const std::string_view base = std::string_view(p.name).substr(0, p.name.find('@'));
    const bool known =
        std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& o) { return o.name == base; });
    if (!known) {
      return Error{ErrorCode::bad_input, directory,
                   fmt::format("'{}' is a factor on '{}', which no file has; add that parameter", p.name, base)};
    }
  }
  for (const RequiredParameter& r : required) {
    if (std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == r.name; }))
      continue;
    return Error{ErrorCode::bad_input, (std::filesystem::path(directory) / r.file).string(),
                 fmt::format("the parameter '{}' is missing: this data is older than the program, which reads it; take "
                             "the data that came with the program, or add the parameter from its {}",
                             r.name, r.file)};
  }
  std::vector<OwnRun> runs;
  for (const std::string& overlay : overlays) {
    if (const Status status = read_overlay(overlay, parameters, runs); !status) return status.error();
  }
  const Calibration read(std::move(parameters), std::move(contents.intervals),
                         Effects(std::move(contents.effects), std::move(contents.rests)));
  return runs.empty() ? read : read.with_own_runs(OwnRuns(std::move(runs)));
}

std::string write_calibration(const Calibration& calibration, std::string_view group) {
  std::string out;
  auto to = std::back_inserter(out);
  if (group == "intervals") {
    for (const IntervalClass& c : calibration.intervals()) {
      fmt::format_to(to, "[[interval]]\nmetric = {}\nresembles = {}\nlow = {}\nhigh = {}\nrows = {}\n",
                     toml_text(c.metric), toml_text(c.resembles), digits(c.low), digits(c.high), c.rows);
      fmt::format_to(to, "median_error = {}\np90_error = {}\n\n", digits(c.median_error), digits(c.p90_error));
    }
    return out;
  }
  if (group == "effects") {
    for (const EffectRest& r : calibration.effects().rests()) {
      fmt::format_to(
          to, "[[rest]]\ngroup = {}\nmeasured = {}\nmetric = {}\nbetween = {}\nwithin = {}\nlow = {}\nhigh = {}\n",
          toml_text(r.group), r.measured, toml_text(r.metric), digits(r.between), digits(r.within), digits(r.low),
          digits(r.high));
      fmt::format_to(to, "rows = {}\nmedian_error = {}\np90_error = {}\n\n", r.rows, digits(r.median_error),
                     digits(r.p90_error));
    }
    for (const Effect& e : calibration.effects().effects()) {
      fmt::format_to(to, "[[effect]]\ngroup = {}\nlevel = {}\nkey = {}\nmean = {}\nspread = {}\nrows = {}\n\n",
                     toml_text(e.group), toml_text(e.level), toml_text(e.key), digits(e.mean), digits(e.spread),
                     e.rows);
    }
    return out;
  }
  for (const Parameter& p : calibration.parameters()) {
    if (p.group != group) continue;
    fmt::format_to(to,
                   "[[parameter]]\nname = {}\nmeaning = {}\nvalue = {}\nprior = {}\nspread = {}\nrange = [{}, {}]\n",
                   toml_text(p.name), toml_text(p.meaning), digits(p.value), digits(p.prior), digits(p.spread),
                   digits(p.low), digits(p.high));
    fmt::format_to(to, "logarithmic = {}\nfitted = {}\nrows = {}\ngroup = {}\nsource = {}\n\n", p.logarithmic, p.fitted,
                   p.rows, toml_text(p.group), toml_text(p.source));
  }
  return out;
}

}  // namespace ridge
