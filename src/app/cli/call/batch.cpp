#include "app/cli/call/batch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <system_error>
#include <thread>

#include "app/cli/call/call.hpp"
#include "app/cli/estimate/estimate.hpp"
#include "app/cli/line/profiles.hpp"
#include "app/cli/session/wrong.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double number_at(const BatchColumn& column, std::size_t i) {
  switch (column.type) {
    case ColumnType::int32:
      return static_cast<const std::int32_t*>(column.values)[i];
    case ColumnType::int64:
      return static_cast<double>(static_cast<const std::int64_t*>(column.values)[i]);
    case ColumnType::float64:
      return static_cast<const double*>(column.values)[i];
  }
  return kNothing;
}

/// A whole number from 1, or 0: no layout has it, so that the point is a bad value.
int whole_at(const BatchColumn& column, std::size_t i) {
  constexpr double kMost = 100'000'000;
  const double value = number_at(column, i);
  return value >= 1 && value <= kMost && value == std::floor(value) ? static_cast<int>(value) : 0;
}

/// A column that a caller may give. `stand_in` is a value that the flag takes, while the question is made.
template <class Target>
struct Input {
  std::string_view name;
  std::string_view stand_in;
  Target target;
};

template <class Estimate>
struct Output {
  std::string_view name;
  double (*read)(const Estimate&);
};

using LoadField = double InferenceLoad::*;
using LayoutField = int InferenceQuery::*;
using PlanField = int TrainingPlan::*;

constexpr std::array<Input<LayoutField>, 5> kLayout = {{{"gpus", "1", &InferenceQuery::gpus},
                                                        {"tp", "1", &InferenceQuery::tp},
                                                        {"pp", "1", &InferenceQuery::pp},
                                                        {"ep", "1", &InferenceQuery::ep},
                                                        {"dp", "1", &InferenceQuery::dp}}};
constexpr std::array<Input<LoadField>, 7> kLoad = {{{"isl", "1", &InferenceLoad::isl},
                                                    {"osl", "1", &InferenceLoad::osl},
                                                    {"batch", "1", &InferenceLoad::batch},
                                                    {"concurrency", "1", &InferenceLoad::concurrency},
                                                    {"prefix_hit", "0", &InferenceLoad::prefix_hit},
                                                    {"draft_tokens", "1", &InferenceLoad::draft_tokens},
                                                    {"acceptance", "0.5", &InferenceLoad::acceptance}}};
constexpr std::array<Input<PlanField>, 11> kPlan = {{{"gpus", "1", &TrainingPlan::gpus},
                                                     {"tp", "1", &TrainingPlan::tp},
                                                     {"pp", "1", &TrainingPlan::pp},
                                                     {"vp", "1", &TrainingPlan::vp},
                                                     {"cp", "1", &TrainingPlan::cp},
                                                     {"ep", "1", &TrainingPlan::ep},
                                                     {"etp", "1", &TrainingPlan::etp},
                                                     {"dp", "1", &TrainingPlan::dp},
                                                     {"seq_length", "1", &TrainingPlan::sequence},
                                                     {"global_batch", "1", &TrainingPlan::global_batch},
                                                     {"micro_batch", "1", &TrainingPlan::micro_batch}}};

#define RIDGE_INTERVAL(Outcome, field)                                          \
  {#field, [](const Outcome& o) { return o.estimate.field.mid; }},              \
      {#field "_low", [](const Outcome& o) { return o.estimate.field.low; }}, { \
#field "_high", [](const Outcome& o) { return o.estimate.field.high; }      \
  }
#define RIDGE_NUMBER(Outcome, field)                                               \
  {                                                                                \
#field, [](const Outcome& o) { return static_cast<double>(o.estimate.field); } \
  }

template <class Array>
double sum_of(const Array& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

constexpr Output<InferenceOutcome> kInferenceOutputs[] = {
    RIDGE_INTERVAL(InferenceOutcome, output_tokens_per_s),
    RIDGE_INTERVAL(InferenceOutcome, total_tokens_per_s),
    RIDGE_INTERVAL(InferenceOutcome, prefill_s),
    RIDGE_INTERVAL(InferenceOutcome, ttft_s),
    RIDGE_INTERVAL(InferenceOutcome, decode_step_s),
    RIDGE_INTERVAL(InferenceOutcome, tpot_s),
    RIDGE_INTERVAL(InferenceOutcome, itl_s),
    RIDGE_INTERVAL(InferenceOutcome, e2e_s),
    RIDGE_INTERVAL(InferenceOutcome, power_w),
    RIDGE_INTERVAL(InferenceOutcome, joules_per_output_token),
    RIDGE_NUMBER(InferenceOutcome, running_batch),
    RIDGE_NUMBER(InferenceOutcome, max_batch),
    RIDGE_NUMBER(InferenceOutcome, kv_capacity_tokens),
    RIDGE_NUMBER(InferenceOutcome, prefill_share),
    {"memory_bytes", [](const InferenceOutcome& o) { return sum_of(o.estimate.memory_bytes); }},
};
constexpr Output<TrainingOutcome> kTrainingOutputs[] = {
    RIDGE_INTERVAL(TrainingOutcome, step_time_s),
    RIDGE_INTERVAL(TrainingOutcome, tokens_per_s),
    RIDGE_INTERVAL(TrainingOutcome, mfu),
    RIDGE_INTERVAL(TrainingOutcome, power_w),
    RIDGE_NUMBER(TrainingOutcome, model_flops_per_token),
    RIDGE_NUMBER(TrainingOutcome, recompute_share),
    RIDGE_NUMBER(TrainingOutcome, micro_batches),
    RIDGE_NUMBER(TrainingOutcome, vp),
    {"memory_bytes", [](const TrainingOutcome& o) { return sum_of(o.estimate.memory_bytes); }},
};
#undef RIDGE_INTERVAL
#undef RIDGE_NUMBER

/// Known for every point, whether it runs or not.
constexpr std::string_view kReason = "reason";
constexpr std::string_view kShortBy = "short_by";

template <class Table>
auto* find_in(Table& table, std::string_view name) {
  const auto at = std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.name == name; });
  return at == std::end(table) ? nullptr : &*at;
}

template <class... Tables>
std::vector<std::string> names_in(const Tables&... tables) {
  std::vector<std::string> names;
  const auto add = [&](const auto& table) {
    for (const auto& row : table) names.emplace_back(row.name);
  };
  (add(tables), ...);
  return names;
}

Error no_column(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string near = nearest(name, views.data(), views.size());
  std::string all;
  for (const std::string& k : known) all += (all.empty() ? "" : ", ") + k;
  return wrong(name, "is no column; " + (near.empty() ? "there are " + all : "did you mean " + near + "?"));
}

/// Runs [0, points) in `threads` slices, of which there are at most limits::kThreads.
template <class Work>
void share_out(std::size_t points, unsigned threads, const Work& work) {
  threads = std::min(threads, static_cast<unsigned>(limits::kThreads.most));
  if (threads <= 1 || points < threads) return work(0, points);
  std::vector<std::jthread> pool;
  std::size_t begun = 0;
  try {
    for (unsigned t = 0; t < threads; ++t) {
      const std::size_t to = points * (t + 1) / threads;
      pool.emplace_back([&work, begun, to] { work(begun, to); });
      begun = to;
    }
  } catch (const std::system_error&) {
    work(begun, points);  // no more threads to be had: this one does the rest
  }
}

/// Where one outcome goes: the functions and columns that were asked for.
template <class Outcome>
class Sink {
 public:
  template <class Table>
  static Result<Sink> make(const std::vector<std::string>& names, const Table& table,
                           const std::vector<std::string>& known) {
    Sink sink;
    for (const std::string& name : names) {
      const auto* row = find_in(table, name);
      if (row == nullptr && name != kReason && name != kShortBy) return no_column(name, known);
      sink.reads_.push_back(row != nullptr    ? row->read
                            : name == kReason ? [](const Outcome& o) { return static_cast<double>(o.reason); }
                                              : [](const Outcome& o) { return o.short_by; });
      sink.always_.push_back(row == nullptr);
    }
    return sink;
  }
  [[nodiscard]] std::size_t size() const { return reads_.size(); }
  void put(const Outcome& outcome, std::span<double* const> outputs, std::size_t i) const {
    const bool runs = outcome.reason == Reason::none;
    for (std::size_t c = 0; c < reads_.size(); ++c) {
      outputs[c][i] = runs || always_[c] != 0 ? reads_[c](outcome) : kNothing;
    }
  }

 private:
  std::vector<double (*)(const Outcome&)> reads_;
  std::vector<char> always_;
};

/// What stays the same for all points, made as the command line would make it.
struct Base {
  StopSign stop;
  std::string printed;
  std::unique_ptr<Session> session;
  EstimateFlags flags;
};

Result<std::unique_ptr<Base>> make_base(EstimateWord word, std::string_view json_flags,
                                        const std::vector<Said>& columns, const SharedData& shared,
                                        const Surroundings& surroundings) {
  Result<std::vector<Said>> said = read_said(json_flags, "flags");
  if (!said) return said.error();
  for (const Said& one : *said) {
    if (std::any_of(columns.begin(), columns.end(), [&](const Said& c) { return c.key == one.key; })) {
      return wrong(one.key, "is a column and a flag: leave one out");
    }
    if (one.key == "kind" || one.key == "plan") return wrong(one.key, "is not for batches: write the flags out");
  }
  said->insert(said->end(), columns.begin(), columns.end());
  const Result<Call> asked = make_call("estimate", *std::move(said), *shared.catalogue, {.files = Files::allowed});
  if (!asked) return asked.error();
  auto base = std::make_unique<Base>();
  Options own;
  base->flags.declare(own);
  GlobalOptions options;
  Options globals;
  declare_globals(globals, options);
  if (const Status s = take_call(*asked, own, globals); !s) return s.error();
  base->session =
      std::make_unique<Session>(std::move(options), surroundings, shared, base->printed, base->stop, Files::allowed);
  if (const Status s = use_profiles(own, *base->session); !s) return s.error();
  if (const Status s = base->flags.check(word); !s) return s.error();
  Result<WhatIfSubjects> subjects = what_if_subjects(base->flags);
  if (!subjects) return subjects.error();
  base->session->about(*std::move(subjects));
  return base;
}

class InferenceBatch final : public Batch {
 public:
  static Result<std::unique_ptr<Batch>> open(std::string_view json_flags, const std::vector<std::string>& inputs,
                                             const std::vector<std::string>& outputs, const SharedData& shared,
                                             const Surroundings& surroundings) {
    auto batch = std::make_unique<InferenceBatch>();
    std::vector<Said> columns;
    for (std::size_t c = 0; c < inputs.size(); ++c) {
      if (const auto* layout = find_in(kLayout, inputs[c])) {
        batch->layout_.emplace_back(c, layout - kLayout.data());
        columns.push_back({inputs[c], {std::string(layout->stand_in)}});
      } else if (const auto* load = find_in(kLoad, inputs[c])) {
        batch->load_.emplace_back(c, load->target);
        columns.push_back({inputs[c], {std::string(load->stand_in)}});
      } else {
        return no_column(inputs[c], input_names("infer"));
      }
    }
    batch->inputs_ = inputs.size();
    auto sink = Sink<InferenceOutcome>::make(outputs, kInferenceOutputs, output_names("infer"));
    if (!sink) return sink.error();
    batch->sink_ = *std::move(sink);
    auto base = make_base(kInfer, json_flags, columns, shared, surroundings);
    if (!base) return base.error();
    batch->base_ = *std::move(base);
    const EstimateFlags& flags = batch->base_->flags;
    if (!flags.given("--tp") && !flags.given("--gpus")) {
      return wrong("tp", "a batch chooses no layout: say tp or gpus, for all points or as a column");
    }
    Result<InferenceQuestion> question = inference_question(flags, batch->base_->session->software_date());
    if (!question) return question.error();
    batch->query_ = std::move(question->query);
    const Result<Knowledge> knowledge = knowledge_of(*batch->base_->session);
    if (!knowledge) return knowledge.error();
    batch->knowledge_.emplace(*knowledge);
    // Names are refused here, once, so that at a point only its numbers can be wrong.
    if (const auto checked = answer(batch->query_, *knowledge, {.explain = false}); !checked) return checked.error();
    return std::unique_ptr<Batch>(std::move(batch));
  }

  Status evaluate(std::size_t points, std::span<const BatchColumn> inputs, std::span<double* const> outputs,
                  unsigned threads) const override {
    if (inputs.size() != inputs_ || outputs.size() != sink_.size()) return wrong("columns", "are not those of open()");
    Layouts layouts;
    std::vector<std::uint32_t> which;
    if (layout_.empty()) {
      layouts.all.push_back(resolve_layout(layout_of({}, 0)));
    } else {
      which.resize(points);
      for (std::size_t i = 0; i < points; ++i) which[i] = find(layouts, layout_of(inputs, i));
    }
    share_out(points, threads, [&](std::size_t from, std::size_t to) {
      InferenceLoad load = query_.load;
      for (std::size_t i = from; i < to; ++i) {
        for (const auto& [column, field] : load_) load.*field = number_at(inputs[column], i);
        const auto& resolved = layouts.all[which.empty() ? 0 : which[i]].resolved;
        InferenceOutcome outcome;
        outcome.reason = Reason::bad_value;
        if (resolved != nullptr && is_load(load)) outcome = ridge::evaluate(*resolved, load);
        sink_.put(outcome, outputs, i);
      }
    });
    return {};
  }

 private:
  using Layout = std::array<int, kLayout.size()>;
  struct Layouts {
    std::map<Layout, std::uint32_t> known;
    std::vector<InferenceDeployment> all;
    Layout last{-1};
    std::uint32_t at = 0;
  };

  /// What the flags would take.
  static bool is_load(const InferenceLoad& load) {
    return load.isl >= 0 && load.isl <= 1e8 && load.osl >= 1 && load.osl <= 1e8 && load.batch >= 1 &&
           load.batch <= 1e7 && load.concurrency >= 0 && load.concurrency <= 1e7 && load.prefix_hit >= 0 &&
           load.prefix_hit < 1 && load.draft_tokens >= 0 && load.draft_tokens <= 64 && load.acceptance >= 0 &&
           load.acceptance <= 1 && (load.mode != LoadMode::closed_loop || load.concurrency >= 1);
  }

  [[nodiscard]] Layout layout_of(std::span<const BatchColumn> inputs, std::size_t i) const {
    Layout layout{};
    for (std::size_t k = 0; k < kLayout.size(); ++k) layout[k] = query_.*kLayout[k].target;
    for (const auto& [column, k] : layout_) {
      const int value = whole_at(inputs[column], i);
      layout[static_cast<std::size_t>(k)] = value == 0 ? -1 : value;
    }
    return layout;
  }

  [[nodiscard]] InferenceDeployment resolve_layout(const Layout& layout) const {
    InferenceQuery query = query_;
    for (std::size_t k = 0; k < kLayout.size(); ++k) {
      if (layout[k] < 0) return {};
      query.*kLayout[k].target = layout[k];
    }
    const double product = 1.0 * std::max(query.tp, 1) * query.pp * query.dp;
    if (product > kMostDevices || std::max(query.gpus, query.ep) > kMostDevices) return {};
    Result<InferenceAnswer> whole = answer(query, *knowledge_, {.explain = false});
    if (!whole) return {};
    Result<InferenceDeployment> deployment = resolve(whole->query, *knowledge_);
    return deployment ? *std::move(deployment) : InferenceDeployment();
  }

  std::uint32_t find(Layouts& layouts, const Layout& layout) const {
    if (layout == layouts.last) return layouts.at;
    const auto [at, is_new] = layouts.known.try_emplace(layout, static_cast<std::uint32_t>(layouts.all.size()));
    if (is_new) layouts.all.push_back(resolve_layout(layout));
    layouts.last = layout;
    layouts.at = at->second;
    return layouts.at;
  }

  std::unique_ptr<Base> base_;
  std::optional<Knowledge> knowledge_;
  InferenceQuery query_;
  std::size_t inputs_ = 0;
  std::vector<std::pair<std::size_t, std::ptrdiff_t>> layout_;  ///< column, row of kLayout
  std::vector<std::pair<std::size_t, LoadField>> load_;
  Sink<InferenceOutcome> sink_;
};

class TrainingBatch final : public Batch {
 public:
  static Result<std::unique_ptr<Batch>> open(std::string_view json_flags, const std::vector<std::string>& inputs,
                                             const std::vector<std::string>& outputs, const SharedData& shared,
                                             const Surroundings& surroundings) {
    auto batch = std::make_unique<TrainingBatch>();
    std::vector<Said> columns;
    for (const std::string& input : inputs) {
      const auto* row = find_in(kPlan, input);
      if (row == nullptr) return no_column(input, input_names("train"));
      batch->fields_.push_back(row->target);
      columns.push_back({input, {std::string(row->stand_in)}});
    }
    auto sink = Sink<TrainingOutcome>::make(outputs, kTrainingOutputs, output_names("train"));
    if (!sink) return sink.error();
    batch->sink_ = *std::move(sink);
    auto base = make_base(kTrain, json_flags, columns, shared, surroundings);
    if (!base) return base.error();
    const EstimateFlags& flags = (*base)->flags;
    for (const std::string_view flag : {"--tp", "--pp", "--micro-batch", "--global-batch"}) {
      if (flags.given(flag)) continue;
      std::string key(flag.substr(2));
      std::replace(key.begin(), key.end(), '-', '_');
      return wrong(key, "a batch chooses no layout: say it, for all points or as a column");
    }
    const Result<TrainingQuestion> question = training_question(flags, (*base)->session->software_date());
    if (!question) return question.error();
    const Result<Knowledge> knowledge = knowledge_of(*(*base)->session);
    if (!knowledge) return knowledge.error();
    Result<TrainingAnswer> whole = answer(question->query, {.sequence = question->freedom.sequence}, *knowledge);
    if (!whole) return whole.error();
    batch->job_ = whole->job;
    batch->plan_ = whole->query.plan;
    return std::unique_ptr<Batch>(std::move(batch));
  }

  Status evaluate(std::size_t points, std::span<const BatchColumn> inputs, std::span<double* const> outputs,
                  unsigned threads) const override {
    if (inputs.size() != fields_.size() || outputs.size() != sink_.size()) {
      return wrong("columns", "are not those of open()");
    }
    share_out(points, threads, [&](std::size_t from, std::size_t to) {
      TrainingPlan plan = plan_;
      for (std::size_t i = from; i < to; ++i) {
        bool whole = true;
        for (std::size_t c = 0; c < fields_.size(); ++c) {
          plan.*fields_[c] = whole_at(inputs[c], i);
          whole = whole && plan.*fields_[c] > 0;
        }
        TrainingOutcome outcome;
        outcome.reason = Reason::bad_value;
        whole = whole && plan.gpus <= kMostDevices && 1.0 * plan.ep * std::max(plan.etp, 1) <= kMostDevices &&
                1.0 * plan.tp * plan.pp * plan.cp * std::max(plan.dp, 1) <= kMostDevices;
        if (whole) outcome = ridge::evaluate(*job_->resolved, plan);
        sink_.put(outcome, outputs, i);
      }
    });
    return {};
  }

 private:
  std::shared_ptr<const TrainingJob> job_;
  TrainingPlan plan_;
  std::vector<PlanField> fields_;
  Sink<TrainingOutcome> sink_;
};

}  // namespace

std::vector<std::string> Batch::input_names(std::string_view kind) {
  return kind == "infer" ? names_in(kLayout, kLoad) : names_in(kPlan);
}

std::vector<std::string> Batch::output_names(std::string_view kind) {
  std::vector<std::string> names = kind == "infer" ? names_in(kInferenceOutputs) : names_in(kTrainingOutputs);
  names.emplace_back(kReason);
  names.emplace_back(kShortBy);
  return names;
}

Result<std::unique_ptr<Batch>> Batch::open(std::string_view kind, std::string_view json_flags,
                                           const std::vector<std::string>& inputs,
                                           const std::vector<std::string>& outputs, const SharedData& shared,
                                           const Surroundings& surroundings) {
  if (kind == "infer") return InferenceBatch::open(json_flags, inputs, outputs, shared, surroundings);
  if (kind == "train") return TrainingBatch::open(json_flags, inputs, outputs, shared, surroundings);
  return wrong("kind", quoted(kind) + " has no batches: write infer or train");
}

}  // namespace ridge::cli
