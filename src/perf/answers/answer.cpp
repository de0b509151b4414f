// Completes a question, asks evaluate() and explain(), and says what was taken for granted.
#include "ridge/perf/answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "perf/inference/resolved.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/encoder.hpp"

namespace ridge {
namespace {

constexpr int kLargestDomain = 1024;

class Answerer {
 public:
  Answerer(const InferenceQuery& query, const Knowledge& knowledge, const AnswerOptions& options)
      : q_(query), k_(knowledge), options_(options) {}

  Result<InferenceAnswer> run() {
    if (const Status s = look_up(); !s) return s.error();
    const double written = q_.load.mode == LoadMode::prefill ? 0 : q_.load.osl;
    if (const Status s = within_reach(model_, q_.load.isl, written); !s) return s.error();
    choose_layout();
    auto deployment = resolve(q_, k_);
    if (!deployment) return deployment.error();
    if (deployment->resolved->device.power_cap > 0) {
      *deployment->resolved = perf::within_cap(*deployment->resolved, q_.load);
    }
    InferenceAnswer a;
    a.outcome = evaluate(*deployment->resolved, q_.load);
    a.facts = deployment->facts;
    note_context();
    assumptions_.insert(assumptions_.end(), deployment->assumptions.begin(), deployment->assumptions.end());
    a.assumptions = distinct();
    if (a.outcome.reason != Reason::none) {
      a.refusal = explain_refusal(q_, a.outcome, k_);
    } else if (options_.explain) {
      a.explanation = perf::explain_resolved(q_, k_, *deployment->resolved, a.outcome);
    }
    a.query = std::move(q_);
    return a;
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    assumptions_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status look_up() {
    auto model = k_.catalogue.find_model(q_.model);
    if (!model) return model.error();
    model_ = std::move(*model);
    if (!q_.device.empty()) {
      if (const Status s = look_up_device(); !s) return s;
    }
    if (!q_.system.empty()) {
      system_ = k_.catalogue.system(q_.system);
      if (system_ == nullptr) return unknown_system();
      if (q_.device.empty()) q_.device = system_->device;
      const std::string_view board = std::string_view(q_.device).substr(0, q_.device.find('/'));
      if (board != system_->device) {
        return Error{ErrorCode::bad_input, "⟦system⟧",
                     fmt::format("{} is made of {}, not of {}: leave out one of the two", system_->id, system_->device,
                                 q_.device)};
      }
    }
    if (q_.device.empty()) {
      return Error{ErrorCode::bad_input, "⟦device⟧",
                   "name a device, for example ⟦device=h200-sxm⟧; `ridge show devices` "
                   "lists them"};
    }
    return look_up_device();
  }

  /// From here on the device goes under its id.
  Status look_up_device() {
    auto device = k_.catalogue.find_device(q_.device);
    if (!device) return device.error();
    device_ = std::move(*device);
    if (device_.id != q_.device) assume("device '{}' is read as {}", q_.device, device_.id);
    q_.device = device_.id;
    return {};
  }

  [[nodiscard]] Error unknown_system() const {
    std::vector<std::string_view> ids;
    for (const System& system : k_.catalogue.systems()) ids.push_back(system.id);
    const std::string near = nearest(q_.system, ids.data(), ids.size());
    return {ErrorCode::not_found, "⟦system⟧",
            fmt::format("there is no system {}{}", quoted(q_.system),
                        near.empty() ? "; `ridge show systems` lists them" : fmt::format("; did you mean {}?", near))};
  }

  /// Devices that the scale-up fabric, or at least one host, joins. Instances of one device join nothing.
  [[nodiscard]] int domain() const {
    if (device_.id.find('/') != std::string::npos) return 1;
    const int joined = fabric();
    const int node = device_.node_size ? device_.node_size->value : 1;
    return std::clamp(std::max({joined, node, joined > 1 ? 1 : perf::kCardsPerServer}), 1, kLargestDomain);
  }
  [[nodiscard]] int fabric() const {
    return system_ != nullptr ? system_->scale_up_domain : device_.scale_up_domain ? device_.scale_up_domain->value : 1;
  }

  [[nodiscard]] InferenceOutcome outcome_of(int tp, int gpus) const {
    InferenceQuery candidate = q_;
    candidate.tp = tp;
    candidate.gpus = gpus;
    const auto r = perf::resolve_numbers(candidate, k_);
    if (r) return evaluate(**r, candidate.load);
    InferenceOutcome none;
    none.reason = Reason::bad_value;
    return none;
  }

  /// Whatever the load, which costs most of an evaluation.
  [[nodiscard]] bool heads_divide(int tp) const {
    InferenceQuery candidate = q_;
    candidate.tp = tp;
    const auto r = perf::resolve_numbers(candidate, k_);
    return !r || (*r)->reason != Reason::heads_not_divisible;
  }

  void choose_layout() {
    const int others = std::max(q_.pp, 1) * std::max(q_.dp, 1);
    if (q_.tp > 0) {
      if (q_.gpus <= 0) q_.gpus = q_.tp * others;
      return;
    }
    if (q_.gpus <= 0) {
      best_each(others);
    } else if (fabric() > 1) {
      widest(others);
    } else {
      best_of_all(others);
    }
  }

  /// As many devices as give most per device: the fewest that hold the model, or more where those would starve for
  /// room for the cache.
  void best_each(int others) {
    int last = 1;
    double best = 0;
    for (int tp = 1; tp <= domain(); tp *= 2) {
      const InferenceOutcome o = outcome_of(tp, tp * others);
      if (o.reason == Reason::heads_not_divisible || o.reason == Reason::experts_not_divisible) continue;
      if (o.reason == Reason::none) {
        const double each = o.estimate.total_tokens_per_s.mid / tp;
        if (each <= best) break;  // it has passed its peak
        best = each;
      } else if (best > 0) {
        break;
      }
      last = tp;
      if (o.reason != Reason::none && o.reason != Reason::out_of_memory) break;  // no number of devices helps
    }
    q_.tp = last;
    q_.gpus = last * others;
    if (q_.gpus > 1) {
      assume("{} devices, tensor parallel {}: the number that gives most per device", q_.gpus, q_.tp);
    } else {
      assume("one device");
    }
  }

  /// Cards without a fabric: wide tensor parallelism may cost more than it brings.
  void best_of_all(int others) {
    if (q_.gpus % others == 0) {
      const int ranks = q_.gpus / others;
      double best = 0;
      for (int tp = std::min(ranks, domain()); tp >= 1; --tp) {
        if (ranks % tp != 0 || !heads_divide(tp)) continue;
        const InferenceOutcome o = outcome_of(tp, q_.gpus);
        if (o.reason != Reason::none || o.estimate.total_tokens_per_s.mid <= best) continue;
        best = o.estimate.total_tokens_per_s.mid;
        q_.tp = tp;
      }
      if (best > 0) {
        note_layout(ranks / q_.tp);
        return;
      }
    }
    widest(others);  // none runs: refused in words
  }

  void note_layout(int replicas) {
    if (replicas > 1) {
      assume("tensor parallel {}, {} replicas", q_.tp, replicas * std::max(q_.dp, 1));
    } else if (q_.tp > 1) {
      assume("tensor parallel {}", q_.tp);
    }
  }

  void widest(int others) {
    if (q_.gpus % others != 0) {  // refused later, in words
      q_.tp = 1;
      return;
    }
    const int ranks = q_.gpus / others;
    q_.tp = 1;
    for (int tp = std::min(ranks, domain()); tp > 1; --tp) {
      if (ranks % tp != 0 || !heads_divide(tp)) continue;
      q_.tp = tp;
      break;
    }
    if (q_.pp == 1) add_stages(ranks);
    note_layout(ranks / (q_.tp * q_.pp));
  }

  /// Where the widest group does not hold the model, stages let it fit before there are replicas.
  void add_stages(int ranks) {
    const int groups = ranks / q_.tp;
    for (int stages = 1; stages <= groups; ++stages) {
      if (groups % stages != 0) continue;
      q_.pp = stages;
      const Reason reason = outcome_of(q_.tp, q_.gpus).reason;
      if (reason == Reason::out_of_memory) continue;
      if (reason != Reason::none) break;  // more stages than layers, or nothing that stages mend
      if (stages > 1) assume("{} pipeline stages: {} devices do not hold the model", stages, q_.tp);
      return;
    }
    q_.pp = 1;  // none does: refused in words
  }

  void note_context() {
    const double longest = q_.load.isl + (q_.load.mode == LoadMode::prefill ? 0 : q_.load.osl);
    if (model_.context > 0 && longest > model_.context) {
      assume("{} tokens are more than the {} that {} was trained for", format_number(longest, 7),
             format_number(model_.context, 7), model_.id.empty() ? "the model" : model_.id);
    }
  }

  [[nodiscard]] std::vector<std::string> distinct() const {
    std::vector<std::string> out;
    for (const std::string& text : assumptions_) {
      if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
    }
    return out;
  }

  InferenceQuery q_;
  const Knowledge& k_;
  const AnswerOptions& options_;
  Model model_;
  Device device_;
  const System* system_ = nullptr;
  std::vector<std::string> assumptions_;
};

}  // namespace

Result<InferenceAnswer> answer(const InferenceQuery& query, const Knowledge& knowledge, const AnswerOptions& options) {
  return Answerer(query, knowledge, options).run();
}

}  // namespace ridge
