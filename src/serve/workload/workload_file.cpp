// Workloads as TOML: docs/data-format.md says what may stand in them.
#include <algorithm>
#include <filesystem>

#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"
#include "ridge/base/text.hpp"
#include "ridge/serve/workload.hpp"
#include "serve/workload/request_source.hpp"

namespace ridge {

namespace {

using serve::kLongTime;
using serve::kShortestBurst;
using serve::kShortestPeriod;

constexpr std::size_t kMostBytes = 4U << 20;

double seconds_of(TableReader& t, std::string_view key, double otherwise) {
  return t.has(key) ? t.quantity<Seconds>(key, Seconds(0), Seconds(kLongTime)).value() : otherwise;
}

LengthDistribution read_length(TableReader t, double most) {
  LengthDistribution d;
  d.kind = t.optional_choice<LengthKind>("kind", LengthKind::fixed,
                                         {{"fixed", LengthKind::fixed},
                                          {"uniform", LengthKind::uniform},
                                          {"exponential", LengthKind::exponential},
                                          {"lognormal", LengthKind::lognormal},
                                          {"empirical", LengthKind::empirical}});
  d.low = t.optional_number("low", 1, most).value_or(1);
  d.high = t.optional_number("high", 1, most).value_or(most);
  if (d.high < d.low) t.refuse("high", "is below 'low'");
  if (d.kind == LengthKind::uniform) {
    t.require("low");
    t.require("high");
  } else if (d.kind == LengthKind::empirical) {
    for (const int value : t.integers("quantiles", 1, static_cast<int>(most))) d.quantiles.push_back(value);
    if (d.quantiles.size() < 2 || !std::is_sorted(d.quantiles.begin(), d.quantiles.end())) {
      t.refuse("quantiles", "write at least two values that grow, from the least to the greatest");
      d.quantiles = {1, 1};
    }
  } else {
    d.mean = t.number("mean", 1, most);
    if (d.kind == LengthKind::lognormal) d.cv = t.number("cv", 0.001, 100);
  }
  return d;
}

RequestClass read_class(TableReader t) {
  RequestClass c;
  c.name = t.text("name");
  c.share = t.optional_number("share", 1e-6, 1e6).value_or(1);
  t.require("input");
  t.require("output");
  c.input = read_length(t.table("input"), kMostRequestTokens);
  c.output = read_length(t.table("output"), kMostRequestTokens);
  c.priority = t.optional_integer("priority", 0, 0, kPriorities - 1);
  c.ttft_limit = seconds_of(t, "ttft", 0);
  c.tpot_limit = seconds_of(t, "tpot", 0);
  c.shared_prefix = static_cast<std::uint32_t>(t.optional_integer("shared_prefix", 0, 0, 1'000'000));
  c.prefix_groups = static_cast<std::uint32_t>(t.optional_integer("prefix_groups", 1, 1, 100'000'000));
  if (t.has("turns")) c.turns = read_length(t.table("turns"), 10'000);
  c.think_time = seconds_of(t, "think_time", 0);
  return c;
}

ArrivalProcess read_arrivals(TableReader t) {
  ArrivalProcess a;
  a.kind = t.optional_choice<ArrivalKind>("kind", ArrivalKind::poisson,
                                          {{"constant", ArrivalKind::constant},
                                           {"poisson", ArrivalKind::poisson},
                                           {"gamma", ArrivalKind::gamma},
                                           {"on-off", ArrivalKind::on_off},
                                           {"diurnal", ArrivalKind::diurnal}});
  if (a.kind == ArrivalKind::gamma) a.cv = t.number("cv", 0.01, 100);
  if (a.kind == ArrivalKind::on_off) {
    a.on_seconds = t.quantity<Seconds>("on", Seconds(kShortestBurst), Seconds(kLongTime)).value();
    a.off_seconds = t.quantity<Seconds>("off", Seconds(0), Seconds(kLongTime)).value();
  }
  if (a.kind == ArrivalKind::diurnal) {
    a.period = t.quantity<Seconds>("period", Seconds(kShortestPeriod), Seconds(kLongTime)).value();
    a.swing = t.number("swing", 0, 1);
  }
  return a;
}

Scenario read_scenario(TableReader t) {
  Scenario s;
  s.name = t.text("name");
  s.ttft = seconds_of(t, "ttft", 0);
  s.tpot = seconds_of(t, "tpot", 0);
  s.share = t.optional_number("share", 0.5, 1).value_or(0.99);
  return s;
}

std::string joined(const std::string& directory, const std::string& file) {
  return (std::filesystem::path(directory) / file).string();
}

}  // namespace

Result<Workload> parse_workload(std::string_view text, const std::string& file) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  const EntryLayer layers[] = {{&*root, file}};
  SourceIndex sources;  // a workload says in words where its lengths come from
  if (const TomlMember* source = root->find("source")) sources.add(source->value.text, {});
  EntryReader reader("workload", layers, sources);
  TableReader t = reader.root();
  Workload w;
  w.id = std::filesystem::path(file).stem().string();
  w.name = t.text("name");
  w.source = t.text("source");
  w.arrivals = read_arrivals(t.table("arrivals"));
  t.require("class");
  for (TableReader& c : t.tables("class")) w.classes.push_back(read_class(c));
  for (TableReader& s : t.tables("scenario")) w.scenarios.push_back(read_scenario(s));
  if (const Status s = reader.finish(); !s) return s.error();
  return w;
}

std::vector<std::string> workload_ids(const std::string& directory) {
  std::vector<std::string> ids;
  if (const Result<std::vector<std::string>> files = files_in(directory, ".toml")) {
    for (const std::string& file : *files) ids.push_back(std::filesystem::path(file).stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<Workload> find_workload(const std::string& directory, const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml");
  const std::string path = is_path ? name : joined(directory, name + ".toml");
  if (!is_path) {
    const std::vector<std::string> ids = workload_ids(directory);
    if (std::find(ids.begin(), ids.end(), name) == ids.end()) {
      const std::vector<std::string_view> known(ids.begin(), ids.end());
      const std::string near = nearest(name, known.data(), known.size());
      std::string all;
      for (const std::string& id : ids) all += (all.empty() ? "" : ", ") + id;
      return Error{ErrorCode::not_found, "",
                   "no workload is called " + ridge::quoted(name) +
                       (near.empty() ? "; there are " + all : ": did you mean " + near + "?")};
    }
  }
  Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return text.error();
  return parse_workload(*text, path);
}

}  // namespace ridge
