#include "evidence/validate/memory_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "evidence/rows/case_row.hpp"
#include "evidence/rows/errors.hpp"
#include "perf/training/resolved.hpp"

namespace ridge::evidence {
namespace {

// nanotron's tables call 2^30 bytes a GB (helpers.py, create_table_log), and count what PyTorch's allocator holds: the
// context of the driver is beside it.
constexpr double kPublishedGb = 1073741824;
constexpr int kOwnRank = 16;  ///< of the adapters in own_memory.csv

struct Judged {
  const MemoryCase* c;
  double predicted;  ///< bytes, beyond the device's where it does not fit
  bool fits;
};

MemoryFinding summarise(std::string what, const std::vector<Judged>& all,
                        const std::function<bool(const MemoryCase&)>& keep) {
  MemoryFinding f;
  f.what = std::move(what);
  std::vector<double> errors, signed_errors;
  int refused = 0, found = 0;
  for (const Judged& j : all) {
    if (!keep(*j.c)) continue;
    if (!j.c->ran) {
      ++f.failed;
      found += j.fits ? 0 : 1;
      continue;
    }
    ++f.ran;
    refused += j.fits ? 0 : 1;
    const double error = (j.predicted - kOutsideAllocator) / j.c->taken - 1;
    errors.push_back(std::fabs(error));
    signed_errors.push_back(error);
  }
  if (!errors.empty()) {
    f.median_error = quantile(errors, 0.5);
    f.p90_error = quantile(std::move(errors), 0.9);
    f.bias = quantile(std::move(signed_errors), 0.5);
    f.ran_refused = 1.0 * refused / f.ran;
  }
  if (f.failed > 0) f.found = 1.0 * found / f.failed;
  return f;
}

}  // namespace

Result<std::vector<MemoryCase>> read_memory_cases(std::string csv, const std::string& name) {
  constexpr int kMost = 10'000'000;
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  std::vector<MemoryCase> out;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    CaseRow row(*table, i);
    MemoryCase c;
    for (const std::string_view column : {"model", "device", "gpus", "seq_len", "global_batch", "micro_batch", "ran"}) {
      row.require(column);
    }
    c.query.model = row.text("model");
    c.query.device = row.text("device");
    const std::string engine(row.text("engine"));
    c.query.engine = engine.empty() ? "nanotron" : engine;
    c.query.precision = Format::bf16;
    if (row.text("task") == "lora") {
      c.query.task = TrainingTask::lora;
      c.query.lora_rank = kOwnRank;
    }
    TrainingPlan& p = c.query.plan;
    p.gpus = row.integer("gpus", 1, kMost).value_or(1);
    p.sequence = row.integer("seq_len", 1, kMost).value_or(1);
    p.global_batch = row.integer("global_batch", 1, kMost).value_or(1);
    p.micro_batch = row.integer("micro_batch", 1, kMost).value_or(1);
    p.tp = row.integer("tp", 1, kMost).value_or(1);
    p.pp = row.integer("pp", 1, kMost).value_or(1);
    p.dp = row.integer("dp", 1, kMost).value_or(0);
    p.vp = 1;
    p.sharding = row.integer("zero", 0, 3).value_or(0) == 0 ? Sharding::none : Sharding::zero1;
    p.recompute = row.text("recompute") == "full" ? Recompute::full : Recompute::none;
    c.ran = row.text("ran") == "yes";
    const bool exact = table->column("memory_bytes").has_value();
    c.taken = exact ? row.number("memory_bytes", 0, 1e15).value_or(0)
                    : row.number("memory_gb", 0, 1e6).value_or(0) * kPublishedGb;
    if (c.ran && !(c.taken > 0)) {
      row.refuse(exact ? "memory_bytes" : "memory_gb", "a layout that ran took some memory");
    }
    if (!row.refusal().empty()) return Error{ErrorCode::bad_input, {}, row.refusal()};
    out.push_back(std::move(c));
  }
  return out;
}

std::vector<MemoryFinding> judge_memory(const std::vector<MemoryCase>& cases, const Knowledge& knowledge) {
  std::vector<Judged> all;
  for (const MemoryCase& c : cases) {
    const auto job = resolve(c.query, knowledge);
    if (!job) continue;
    const TrainingOutcome o = evaluate(*job->resolved, job->plan);
    if (o.reason == Reason::none) {
      const auto& m = o.estimate.memory_bytes;
      all.push_back({&c, std::accumulate(m.begin(), m.end(), 0.0), true});
    } else if (o.reason == Reason::out_of_memory) {
      const auto device = knowledge.catalogue.find_device(c.query.device);
      const double capacity = device && device->memory_capacity ? device->memory_capacity->value.value() : 0;
      all.push_back({&c, capacity + o.short_by, false});
    }
  }
  std::vector<MemoryFinding> out;
  out.push_back(summarise("all", all, [](const MemoryCase&) { return true; }));
  std::map<std::string, int> engines;
  for (const MemoryCase& c : cases) ++engines[c.query.engine];
  for (const auto& [engine, n] : engines) {
    if (engines.size() > 1) {
      out.push_back(summarise(engine, all, [&e = engine](const MemoryCase& c) { return c.query.engine == e; }));
    }
  }
  std::map<int, int> tensor, pipeline;
  for (const MemoryCase& c : cases) {
    ++tensor[c.query.plan.tp];
    ++pipeline[c.query.plan.pp];
  }
  for (const auto& [degree, n] : tensor) {
    out.push_back(summarise(fmt::format("tp {}", degree), all,
                            [d = degree](const MemoryCase& c) { return c.query.plan.tp == d; }));
  }
  for (const auto& [degree, n] : pipeline) {
    out.push_back(summarise(fmt::format("pp {}", degree), all,
                            [d = degree](const MemoryCase& c) { return c.query.plan.pp == d; }));
  }
  return out;
}

}  // namespace ridge::evidence
