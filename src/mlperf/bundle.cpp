// The bundled tables of data/mlperf.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "mlperf/columns.hpp"
#include "mlperf/rules.hpp"
#include "ridge/base/text.hpp"
#include "ridge/mlperf/mlperf.hpp"

namespace ridge::mlperf {

namespace {

constexpr double kMost = 1e12;

/// `read(columns, row)` for each row of a file, until one is refused.
template <class Read>
Status each_row(const std::string& path, const Read& read) {
  const Result<CsvTable> table = read_table(path);
  if (!table) return table.error();
  Columns columns(*table);
  for (std::size_t row = 0; row < table->rows(); ++row) {
    read(columns, row);
    if (columns.error()) return *columns.error();
  }
  return {};
}

Status read_accelerators(const std::string& path, Names& names) {
  std::map<std::string, bool, std::less<>> seen;
  return each_row(path, [&](Columns& columns, std::size_t row) {
    AcceleratorName is;
    is.accelerator = columns.text(row, "accelerator");
    is.device = columns.text(row, "device");
    is.bare_metal = columns.text(row, "bare_metal");
    is.not_modelled = columns.text(row, "not_modelled");
    is.note = columns.text(row, "note");
    is.usual = seen.emplace(is.accelerator, true).second;
    if (is.device.empty() == is.not_modelled.empty()) {
      columns.refuse(row, "device", "either a device or the reason why it is not modelled belongs here");
    }
    if (!names.accelerators.emplace(columns.text(row, "name"), std::move(is)).second) {
      columns.refuse(row, "name", "this name is there already");
    }
  });
}

Suite suite_of(Columns& columns, std::size_t row) {
  const std::string_view text = columns.view(row, "suite");
  if (text != "training" && text != "inference") columns.refuse(row, "suite", "write inference or training");
  return text == "training" ? Suite::training : Suite::inference;
}

bool far(double a, double b) {
  constexpr double kSame = 0.01;
  return std::abs(a - b) > kSame * b;
}

Status read_benchmarks(const std::string& path, const std::string& workloads, Names& names) {
  return each_row(path, [&](Columns& columns, std::size_t row) {
    const Suite suite = suite_of(columns, row);
    auto& aliases = suite == Suite::inference ? names.inference_benchmarks : names.training_benchmarks;
    const std::string name = columns.text(row, "name");
    Benchmark b;
    b.id = columns.text(row, "benchmark");
    if (!aliases.emplace(name, b.id).second) columns.refuse(row, "name", "this name is there already");
    if (name == b.id) {
      b.suite = suite;
      b.kind = columns.text(row, "kind");
      b.model = columns.text(row, "model");
      b.not_modelled = columns.text(row, "not_modelled");
      b.input_tokens = columns.optional_number(row, "input_tokens", 1, 1e7).value_or(0);
      b.output_tokens = columns.optional_number(row, "output_tokens", 1, 1e7).value_or(0);
      b.server_ttft_ms = columns.optional_number(row, "server_ttft_ms", 1, 1e6);
      b.server_tpot_ms = columns.optional_number(row, "server_tpot_ms", 1, 1e6);
      b.interactive_ttft_ms = columns.optional_number(row, "interactive_ttft_ms", 1, 1e6);
      b.interactive_tpot_ms = columns.optional_number(row, "interactive_tpot_ms", 1, 1e6);
      if (const std::string workload = columns.text(row, "workload"); !workload.empty()) {
        Result<Workload> found = find_workload(workloads, workload);
        if (!found) return columns.fail(found.error());
        b.workload = *std::move(found);
        // The lengths stand in both tables: one of them is a mistake where they differ.
        if (far(b.input_tokens, b.workload->mean_input()) || far(b.output_tokens, b.workload->mean_output())) {
          columns.refuse(row, "workload", "its mean lengths are not those of this row");
        }
      }
      const std::string speculates = columns.text(row, "speculation");
      b.speculates = speculates == "interactive";
      if (!b.speculates && !speculates.empty()) columns.refuse(row, "speculation", "write interactive, or nothing");
      b.source = columns.text(row, "source");
      b.note = columns.text(row, "note");
      if (b.model.empty() == b.not_modelled.empty()) {
        columns.refuse(row, "model", "either a model or the reason why it is not modelled belongs here");
      }
      names.benchmarks.push_back(std::move(b));
    } else if (names.benchmark(suite, b.id) == nullptr) {
      columns.refuse(row, "benchmark", "the benchmark itself has to stand above its other names");
    }
  });
}

Status read_rounds(const std::string& path, Names& names) {
  return each_row(path, [&](Columns& columns, std::size_t row) {
    const Suite suite = suite_of(columns, row);
    names.rounds.push_back({suite, columns.text(row, "round"), columns.text(row, "date"), columns.text(row, "source"),
                            columns.text(row, "coverage")});
  });
}

Status read_comparisons(const std::string& path, Names& names) {
  constexpr std::array<std::string_view, 5> kUses = {"specification", "generation", "coupling", "chapter",
                                                     "conclusion"};
  return each_row(path, [&](Columns& columns, std::size_t row) {
    const std::string use = columns.text(row, "use");
    const auto* const known = std::find(kUses.begin(), kUses.end(), use);
    if (known == kUses.end())
      columns.refuse(row, "use", "write specification, generation, coupling, chapter or conclusion");
    names.comparisons.push_back({static_cast<CompareUse>(known - kUses.begin()), columns.text(row, "first"),
                                 columns.text(row, "second"), columns.text(row, "benchmark"),
                                 columns.text(row, "scenario")});
  });
}

Status read_chapters(const std::string& path, Names& names) {
  return each_row(path, [&](Columns& columns, std::size_t row) {
    names.chapters.push_back({columns.text(row, "benchmark"), columns.text(row, "en"), columns.text(row, "zh")});
  });
}

Status read_stacks(const std::string& path, Names& names) {
  const Status read = each_row(path, [&](Columns& columns, std::size_t row) {
    names.stacks.push_back({columns.text(row, "vendor"), columns.text(row, "engine"), columns.text(row, "pictures"),
                            columns.text(row, "apart_since")});
    const bool last = row + 1 == columns.rows();
    if (names.stacks.back().vendor.empty() != last) {
      columns.refuse(row, "vendor", "the last line, and no other, is of everybody else: it names no vendor");
    }
  });
  if (read && names.stacks.empty()) return Error{ErrorCode::bad_input, path, "a line for everybody is missing"};
  return read;
}

Status read_layouts(const std::string& path, Names& names) {
  constexpr double kWidest = 64;
  return each_row(path, [&](Columns& columns, std::size_t row) {
    const auto degree = [&](std::string_view column) {
      return static_cast<int>(columns.number(row, column, 1, kWidest));
    };
    names.layouts.push_back({columns.text(row, "benchmark"), columns.text(row, "accelerator"),
                             columns.text(row, "scenario"), columns.text(row, "from"), columns.text(row, "until"),
                             degree("tp"), degree("pp")});
    if (names.accelerator(names.layouts.back().accelerator) == nullptr) {
      columns.refuse(row, "accelerator", "this is no accelerator of accelerators.csv");
    }
    if (names.benchmark(Suite::inference, names.layouts.back().benchmark) == nullptr) {
      columns.refuse(row, "benchmark", "this is no benchmark of benchmarks.csv");
    }
  });
}

/// What the rows of one system share.
Result<std::unordered_map<std::string, Published>> read_systems(const std::string& path) {
  std::unordered_map<std::string, Published> systems;
  const Status read = each_row(path, [&](Columns& columns, std::size_t row) {
    Published p;
    p.round = columns.text(row, "round");
    p.division = columns.text(row, "division");
    p.category = columns.text(row, "category");
    p.availability = columns.text(row, "availability");
    p.submitter = columns.text(row, "submitter");
    p.system = columns.text(row, "name");
    p.platform = columns.text(row, "platform");
    p.accelerator = columns.text(row, "accelerator");
    p.nodes = columns.whole(row, "nodes", 1, 100'000);
    p.accelerators_per_node = columns.whole(row, "accelerators_per_node", 0, 100'000);
    p.host = columns.text(row, "host");
    p.software = columns.text(row, "software");
    if (!systems.emplace(columns.text(row, "system"), std::move(p)).second) {
      columns.refuse(row, "system", "this system is there already");
    }
  });
  if (!read) return read.error();
  return systems;
}

Status read_inference(const std::string& folder, std::vector<Row>& rows) {
  const auto systems = read_systems(folder + "systems.csv");
  if (!systems) return systems.error();
  return each_row(folder + "inference.csv", [&](Columns& columns, std::size_t r) {
    if (r == 0) rows.reserve(columns.rows() * 3 / 2);  // for training too: a row is large, moving all of them shows
    Row row;
    row.id = columns.text(r, "row");
    const auto system = systems->find(columns.text(r, "system"));
    if (system == systems->end()) return columns.refuse(r, "system", "systems.csv has no such system");
    Published& p = row.published = system->second;
    p.benchmark = columns.text(r, "benchmark");
    p.model = columns.text(r, "model");
    p.scenario = columns.text(r, "scenario");
    p.result = columns.number(r, "result", 0, kMost);
    p.unit = columns.text(r, "unit");
    p.power_w = columns.optional_number(r, "power_w", 1, 1e9);
    p.log_samples_per_s = columns.optional_number(r, "log_samples_per_s", 0, kMost);
    p.log_tokens_per_s = columns.optional_number(r, "log_tokens_per_s", 0, kMost);
    p.ttft_p99_ms = columns.optional_number(r, "ttft_p99_ms", 0, kMost);
    p.tpot_p99_ms = columns.optional_number(r, "tpot_p99_ms", 0, kMost);
    p.weights = columns.text(r, "weights");
    if (unit_of(p.unit).empty()) columns.refuse(r, "unit", quoted(p.unit) + " is not a unit of MLPerf results");
    if (scenario_of(p.scenario).empty()) columns.refuse(r, "scenario", quoted(p.scenario) + " is not a scenario");
    rows.push_back(std::move(row));
  });
}

Status read_training(const std::string& folder, std::vector<Row>& rows) {
  return each_row(folder + "training.csv", [&](Columns& columns, std::size_t r) {
    Row row;
    row.id = columns.text(r, "row");
    row.suite = Suite::training;
    Published& p = row.published;
    p.round = columns.text(r, "round");
    p.division = columns.text(r, "division");
    p.availability = columns.text(r, "availability");
    p.submitter = columns.text(r, "submitter");
    p.platform = columns.text(r, "platform");
    p.system = columns.text(r, "name");
    if (p.system.empty()) p.system = p.platform;
    p.accelerator = columns.text(r, "accelerator");
    p.nodes = columns.whole(r, "nodes", 1, 100'000);
    p.accelerators_per_node = columns.whole(r, "accelerators_per_node", 0, 100'000);
    p.benchmark = columns.text(r, "benchmark");
    p.result = columns.number(r, "minutes", 0, kMost);
    p.unit = "minutes";
    p.runs = columns.whole(r, "runs", 1, 10'000);
    p.failed_runs = columns.whole(r, "failed_runs", 0, 10'000);
    p.fastest_minutes = columns.optional_number(r, "fastest_minutes", 0, kMost);
    p.scaling_factor = columns.optional_number(r, "scaling_factor", 0, 100);
    p.global_batch = columns.optional_number(r, "global_batch", 1, kMost).value_or(0);
    p.host = columns.text(r, "host");
    p.software = columns.text(r, "software");
    rows.push_back(std::move(row));
  });
}

}  // namespace

const Benchmark* Names::benchmark(Suite suite, std::string_view id) const {
  for (const Benchmark& b : benchmarks) {
    if (b.suite == suite && b.id == id) return &b;
  }
  return nullptr;
}

const AcceleratorName* Names::accelerator(std::string_view id) const {
  for (const auto& [name, is] : accelerators) {
    if (is.accelerator == id && is.usual) return &is;
  }
  return nullptr;
}

const Round* Names::round(Suite suite, std::string_view id) const {
  for (const Round& r : rounds) {
    if (r.suite == suite && r.id == id) return &r;
  }
  return nullptr;
}

const Stack& Names::stack(std::string_view vendor) const {
  const auto own = std::find_if(stacks.begin(), stacks.end(), [&](const Stack& s) { return s.vendor == vendor; });
  return own == stacks.end() ? stacks.back() : *own;
}

const PublishedLayout* Names::layout(std::string_view benchmark, std::string_view accelerator,
                                     std::string_view scenario, std::string_view date) const {
  const auto found = std::find_if(layouts.begin(), layouts.end(), [&](const PublishedLayout& l) {
    return l.benchmark == benchmark && l.accelerator == accelerator && l.scenario == scenario && l.from <= date &&
           (l.until.empty() || date <= l.until);
  });
  return found == layouts.end() ? nullptr : &*found;
}

Result<Names> load_names(const std::string& data_directory) {
  const std::string folder = data_directory + "/mlperf/";
  Names names;
  if (const Status s = read_accelerators(folder + "accelerators.csv", names); !s) return s.error();
  if (const Status s = read_benchmarks(folder + "benchmarks.csv", data_directory + "/workloads", names); !s)
    return s.error();
  if (const Status s = read_rounds(folder + "rounds.csv", names); !s) return s.error();
  if (const Status s = read_comparisons(folder + "comparisons.csv", names); !s) return s.error();
  if (const Status s = read_chapters(folder + "chapters.csv", names); !s) return s.error();
  if (const Status s = read_stacks(folder + "stacks.csv", names); !s) return s.error();
  if (const Status s = read_layouts(folder + "layouts.csv", names); !s) return s.error();
  return names;
}

Result<Results> load_bundled(const std::string& data_directory, const Names& names) {
  const std::string folder = data_directory + "/mlperf/";
  std::vector<Row> rows;
  if (const Status s = read_inference(folder, rows); !s) return s.error();
  if (const Status s = read_training(folder, rows); !s) return s.error();
  return repair(std::move(rows), names);
}

}  // namespace ridge::mlperf
