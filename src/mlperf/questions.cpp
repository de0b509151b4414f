// Ratios between groups of systems: racks against nodes, generations, virtual against bare metal, Server against
// Offline.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::mlperf {

namespace {

using Accepts = std::function<bool(const Row&)>;

struct Side {
  double per = 0;
  double total = 0;
  double accelerators = 0;
  int rows = 0;

  void add(const Row& row) {
    per += row.value / row.accelerators;
    total += row.value;
    accelerators += row.accelerators;
    ++rows;
  }
};

/// What questions are about: closed, a rate, accelerators counted, not tuned for power.
bool usual(const Row& row) {
  return row.published.division == "closed" && row.published.category != "network" && row.accelerators > 0 &&
         !row.power_tuned && row.suite == Suite::inference && row.unit != "ms" && row.unit != "s";
}

/// The two sides on every benchmark, scenario and round that both have.
std::vector<Ratio> ratios(const RowList& rows, const Names& names, const std::string& first, const Accepts& is_first,
                          const std::string& second, const Accepts& is_second) {
  std::map<std::array<std::string, 4>, std::pair<Side, Side>> sides;
  for (const Row* row : rows) {
    const std::array<std::string, 4> key = {row->benchmark, row->scenario, row->published.round, row->unit};
    if (is_first(*row)) sides[key].first.add(*row);
    if (is_second(*row)) sides[key].second.add(*row);
  }
  std::vector<Ratio> result;
  for (const auto& [key, pair] : sides) {
    const auto& [a, b] = pair;
    if (a.rows == 0 || b.rows == 0) continue;
    Ratio ratio{key[0], "", key[1], key[2], key[3], first, second};
    if (const Benchmark* benchmark = names.benchmark(Suite::inference, key[0])) ratio.kind = benchmark->kind;
    ratio.first_rows = a.rows;
    ratio.second_rows = b.rows;
    ratio.first_per = a.per / a.rows;
    ratio.second_per = b.per / b.rows;
    ratio.first_total = a.total / a.rows;
    ratio.second_total = b.total / b.rows;
    ratio.first_accelerators = a.accelerators / a.rows;
    ratio.second_accelerators = b.accelerators / b.rows;
    result.push_back(std::move(ratio));
  }
  return result;
}

RowList usual_rows(const Results& results) {
  RowList rows;
  for (const Row& row : results.rows) {
    if (usual(row) && !row.copied) rows.push_back(&row);
  }
  return rows;
}

Accepts is_accelerator(std::string id) {
  return [id = std::move(id)](const Row& row) { return row.accelerator == id; };
}

std::optional<double> ratio_of(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return std::nullopt;
  return *a / *b;
}

std::optional<double> bandwidth_of(const Device* device) {
  if (device == nullptr || !device->memory_bandwidth) return std::nullopt;
  return device->memory_bandwidth->value.value();
}

std::optional<double> peak_of(const Device* device, PeakFormat format) {
  if (device == nullptr || !device->peak(format)) return std::nullopt;
  return device->peak(format)->value.value();
}

std::optional<double> narrowest_of(const Device* device) {
  for (const PeakFormat format : {PeakFormat::fp4, PeakFormat::fp8, PeakFormat::int8, PeakFormat::bf16}) {
    if (const auto peak = peak_of(device, format)) return peak;
  }
  return std::nullopt;
}

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Result<std::vector<Ratio>> compare(const Results& results, const Names& names, std::string_view first,
                                   std::string_view second, const Selection& within) {
  Selection s = within;
  s.accelerators = {};
  for (const std::string_view word : {first, second}) {
    Result<std::string> id = accelerator_named(results, names, std::string(word));
    if (!id) return id.error();
    s.accelerators.push_back(*std::move(id));
  }
  s.suite = Suite::inference;
  Result<RowList> rows = select(results, s, names);
  if (!rows) return rows.error();
  std::erase_if(*rows, [](const Row* row) { return row->accelerators == 0 || row->unit == "ms" || row->unit == "s"; });
  const auto named = [](std::string_view word) {
    return [word](const Row& row) { return row.accelerator == word || row.published.accelerator == word; };
  };
  return ratios(*rows, names, s.accelerators[0], named(s.accelerators[0]), s.accelerators[1], named(s.accelerators[1]));
}

std::vector<Ratio> coupling(const Results& results, const Names& names) {
  constexpr int kRack = 72;
  constexpr int kNode = 8;
  const RowList rows = usual_rows(results);
  std::vector<Ratio> result;
  for (const Comparison& pair : names.comparisons) {
    if (pair.use != CompareUse::coupling) continue;
    const std::string& rack = pair.first;
    const std::string& node = pair.second;
    const Accepts in_racks = [&](const Row& row) { return row.accelerator == rack && row.accelerators == kRack; };
    const Accepts in_nodes = [&](const Row& row) { return row.accelerator == node && row.accelerators == kNode; };
    for (Ratio& ratio : ratios(rows, names, rack, in_racks, node, in_nodes)) {
      if (ratio.kind == "moe" || ratio.kind == "dense") result.push_back(std::move(ratio));
    }
  }
  return result;
}

std::vector<Generation> generations(const Results& results, const Names& names, const Catalogue& catalogue) {
  const RowList rows = usual_rows(results);
  const auto device_of = [&](std::string_view accelerator) -> const Device* {
    const AcceleratorName* is = names.accelerator(accelerator);
    return is == nullptr ? nullptr : catalogue.device(is->device);
  };
  std::vector<Generation> result;
  for (const Comparison& step : names.comparisons) {
    if (step.use != CompareUse::generation) continue;
    const std::string& newer = step.first;
    const std::string& older = step.second;
    const Device* const a = device_of(newer);
    const Device* const b = device_of(older);
    std::map<std::pair<std::string, std::string>, Ratio> newest;  // rounds come in order
    for (Ratio& r : ratios(rows, names, std::string(newer), is_accelerator(std::string(newer)), std::string(older),
                           is_accelerator(std::string(older)))) {
      Ratio& place = newest[{r.benchmark, r.scenario}];
      place = std::move(r);
    }
    for (auto& [key, ratio] : newest) {
      result.push_back({std::move(ratio), ratio_of(bandwidth_of(a), bandwidth_of(b)),
                        ratio_of(peak_of(a, PeakFormat::bf16), peak_of(b, PeakFormat::bf16)),
                        ratio_of(narrowest_of(a), narrowest_of(b))});
    }
  }
  return result;
}

std::vector<ScenarioShare> scenario_shares(const Results& results, const Names& names) {
  using System = std::array<std::string, 6>;
  const auto system_of = [](const Row& row) {
    const Published& p = row.published;
    return System{p.round, p.division + p.category, p.submitter, p.platform, p.model, row.benchmark};
  };
  std::map<System, const Row*> offline;
  for (const Row& row : results.rows) {
    if (usual(row) && !row.copied && row.scenario == "Offline") offline.emplace(system_of(row), &row);
  }
  std::map<std::array<std::string, 3>, std::vector<double>> shares;
  for (const Row& row : results.rows) {
    if (!usual(row) || row.copied || (row.scenario != "Server" && row.scenario != "Interactive")) continue;
    const auto partner = offline.find(system_of(row));
    if (partner == offline.end()) continue;
    // Samples and queries are the same thing under two names; tokens are not.
    if ((row.unit == "tokens/s") != (partner->second->unit == "tokens/s")) continue;
    const Benchmark* benchmark = names.benchmark(Suite::inference, row.benchmark);
    if (benchmark == nullptr) continue;
    for (const std::string& accelerator : {std::string(), row.accelerator}) {
      shares[{row.benchmark, row.scenario, accelerator}].push_back(row.value / partner->second->value);
    }
  }
  std::vector<ScenarioShare> result;
  for (auto& [key, values] : shares) {
    std::sort(values.begin(), values.end());
    result.push_back({key[0], key[1], key[2], static_cast<int>(values.size()), percentile(values, 0.1),
                      percentile(values, 0.5), percentile(values, 0.9)});
  }
  return result;
}

std::vector<Ratio> virtualised(const Results& results, const Names& names) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Row& row : results.rows) {
    if (row.virtualised()) pairs.emplace(row.accelerator, row.bare_metal);
  }
  const RowList rows = usual_rows(results);
  std::vector<Ratio> result;
  for (const auto& [above, below] : pairs) {
    for (Ratio& r : ratios(rows, names, above, is_accelerator(above), below, is_accelerator(below))) {
      result.push_back(std::move(r));
    }
  }
  return result;
}

}  // namespace ridge::mlperf
