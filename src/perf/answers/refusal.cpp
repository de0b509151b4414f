// Why a plan cannot run, and the nearest that can: found by evaluating, never by a rule of thumb.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "perf/answers/nearest.hpp"
#include "perf/operators/usable_memory.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/answer.hpp"

namespace ridge {
namespace {

constexpr int kWidestTensor = 64;
constexpr int kDeepestPipeline = 32;

class Refuser {
 public:
  Refuser(const InferenceQuery& query, const InferenceOutcome& outcome, const Knowledge& knowledge)
      : q_(query), o_(outcome), k_(knowledge) {
    if (auto model = k_.catalogue.find_model(q_.model)) model_ = std::move(*model);
    if (auto deployment = resolve(q_, k_)) facts_ = deployment->facts;
    refusal_.reason = o_.reason;
  }

  Refusal run() {
    switch (o_.reason) {
      case Reason::out_of_memory:
        memory();
        break;
      case Reason::heads_not_divisible:
        heads();
        break;
      case Reason::experts_not_divisible:
        experts();
        break;
      case Reason::layers_too_few:
        refusal_.why = fmt::format("{} stages are more than the {} layers of {}", facts_.pp, model_.layers(), model());
        near_layout({{facts_.tp, std::min(facts_.pp / 2, model_.layers())}});
        break;
      case Reason::gpus_do_not_multiply:
        devices();
        break;
      case Reason::format_not_supported:
        formats();
        break;
      default:
        refusal_.why = fmt::format("a figure of the load is out of range ({})", name(o_.reason));
        break;
    }
    return std::move(refusal_);
  }

 private:
  [[nodiscard]] std::string model() const { return model_.id.empty() ? "the model" : model_.id; }
  [[nodiscard]] int others() const { return std::max(q_.pp, 1) * std::max(q_.dp, 1); }

  /// Adds the plan if it can run.
  bool offer(const InferenceQuery& changed, Changes changes) {
    const auto deployment = resolve(changed, k_);
    if (!deployment) return false;
    const InferenceOutcome o = evaluate(*deployment->resolved, changed.load);
    if (o.reason != Reason::none) return false;
    refusal_.nearest.push_back({std::move(changes), effect(changed, o)});
    return true;
  }
  static std::string effect(const InferenceQuery& changed, const InferenceOutcome& o) {
    const double most = o.estimate.max_batch;
    return fmt::format("fits, with room for {} sequence{} of {} tokens", format_number(most, 6), most == 1 ? "" : "s",
                       format_number(changed.load.isl + changed.load.osl, 7));
  }

  struct Layout {
    int tp = 1;
    int pp = 1;
  };
  /// The first of the layouts that can run, with as many replicas as there were.
  bool near_layout(std::initializer_list<Layout> layouts) {
    return std::any_of(layouts.begin(), layouts.end(), [&](const Layout& l) { return offer_layout(l); });
  }
  bool offer_layout(const Layout& l) {
    if (l.tp < 1 || l.pp < 1) return false;
    const int replicas = std::max(1, facts_.gpus / (facts_.tp * facts_.pp));
    InferenceQuery changed = q_;
    changed.tp = l.tp;
    changed.pp = l.pp;
    changed.gpus = l.tp * l.pp * replicas;
    Changes changes = {{"tp", std::to_string(l.tp)}};
    if (l.pp != facts_.pp) changes.push_back({"pp", std::to_string(l.pp)});
    changes.push_back({"gpus", std::to_string(changed.gpus)});
    return offer(changed, std::move(changes));
  }

  void memory() {
    const auto& parts = o_.estimate.memory_bytes;
    const auto part = [&](MemoryPart p) { return parts[static_cast<std::size_t>(p)]; };
    const double fixed = part(MemoryPart::activations) + part(MemoryPart::graphs_and_buffers);
    refusal_.short_by = o_.short_by;
    const double reserve = part(MemoryPart::reserve);
    const double usable = facts_.memory_bytes - reserve;
    const std::string whole = usable_memory(k_.catalogue.device(facts_.device), facts_.memory_bytes);
    const std::string limit =
        reserve > 0 ? fmt::format("{} may use {} of each {} ({:.0f} % of {})", facts_.engine, format(Bytes(usable)),
                                  facts_.device, 100 * usable / facts_.memory_bytes, whole)
                    : fmt::format("each {} has {}", facts_.device, whole);
    const std::string parts_text = fmt::format("Weights ({}), activations and buffers ({})",
                                               format(Bytes(part(MemoryPart::weights))), format(Bytes(fixed)));
    const double left = part(MemoryPart::kv_cache);
    refusal_.why =
        left > 0
            ? fmt::format("out of memory: {}. {} leave {} for the KV cache; one sequence of {} tokens needs {} more",
                          limit, parts_text, format(Bytes(left)), format_number(q_.load.isl + q_.load.osl, 7),
                          format(Bytes(o_.short_by)))
            : fmt::format("out of memory: {}. {} need {} more, before any KV cache", limit, parts_text,
                          format(Bytes(o_.short_by)));
    more_devices();
    narrower_weights();
    narrower_cache();
    shorter_prompt();
    larger_device();
    offload();
  }

  /// Whole GiB, as engines count them.
  void offload() {
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    InferenceQuery changed = q_;
    const double more = std::ceil(o_.short_by / kGiB);
    changed.cpu_offload = q_.cpu_offload + more * kGiB;
    if (offer(changed, {{"cpu_offload_gb", fmt::format("{:.0f}", changed.cpu_offload / kGiB)}})) {
      refusal_.nearest.back().effect += "; the weights away cross from host memory in every step";
    }
  }

  void more_devices() {
    if (first_doubled(facts_.tp * 2, kWidestTensor, [&](int tp) { return offer_layout({tp, facts_.pp}); })) return;
    first_doubled(facts_.pp * 2, kDeepestPipeline, [&](int pp) { return offer_layout({facts_.tp, pp}); });
  }

  void narrower_weights() {
    struct Choice {
      Format format;
      const char* field;
      bool computes;  ///< only where the chip computes in it
    };
    static constexpr std::array<Choice, 3> kChoices = {{{Format::fp8, "precision", true},
                                                        {Format::int4, "weight_precision", false},
                                                        {Format::nvfp4, "precision", true}}};
    for (const Choice& choice : kChoices) {
      if (bytes_per_weight(choice.format) >= bytes_per_weight(facts_.weights)) continue;
      InferenceQuery changed = q_;
      changed.weights = choice.format;
      changed.activations.reset();
      if (choice.computes) changed.activations = choice.format;
      if (offer(changed, {{choice.field, std::string(name(choice.format))}})) return;
    }
  }

  void narrower_cache() {
    if (bytes_per_element(facts_.kv) <= 1) return;
    for (const Format f : {Format::fp8, Format::int8}) {
      InferenceQuery changed = q_;
      changed.kv = f;
      if (offer(changed, {{"kv_precision", std::string(name(f))}})) return;
    }
  }

  /// The longest prompt that fits, to two digits.
  void shorter_prompt() {
    const auto fits = [&](double isl) {
      InferenceQuery changed = q_;
      changed.load.isl = isl;
      const auto deployment = resolve(changed, k_);
      return deployment && evaluate(*deployment->resolved, changed.load).reason == Reason::none;
    };
    if (!fits(1)) return;
    double low = 1;
    double high = q_.load.isl;
    while (high - low > 1) {
      const double middle = std::floor(0.5 * (low + high));
      (fits(middle) ? low : high) = middle;
    }
    const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(low)) - 1));
    InferenceQuery changed = q_;
    changed.load.isl = std::max(1.0, std::floor(low / unit) * unit);
    offer(changed, {{"isl", fmt::format("{:.0f}", changed.load.isl)}});
  }

  /// The smallest device of the same maker on which the plan as it stands fits.
  void larger_device() {
    const Device* own = k_.catalogue.device(std::string_view(facts_.device).substr(0, facts_.device.find('/')));
    if (own == nullptr) return;
    std::vector<const Device*> larger;
    for (const Device& d : k_.catalogue.devices()) {
      const bool more =
          d.memory_capacity && own->memory_capacity && d.memory_capacity->value > own->memory_capacity->value;
      if (more && d.vendor == own->vendor && d.status == Sale::shipping) larger.push_back(&d);
    }
    std::stable_sort(larger.begin(), larger.end(), [](const Device* a, const Device* b) {
      return a->memory_capacity->value < b->memory_capacity->value;
    });
    for (const Device* d : larger) {
      InferenceQuery changed = q_;
      changed.device = d->id;
      changed.system.clear();
      if (offer(changed, {{"device", d->id}})) return;
    }
  }

  void heads() {
    std::string what;
    for (const LayerGroup& group : model_.groups) {
      const Mixer& m = group.mixer;
      if (m.kind == MixerKind::none) continue;
      const int query_heads = m.heads > 0 ? m.heads : m.state_v_heads;
      std::string text = m.kind == MixerKind::attention && m.kv_heads != m.heads
                             ? fmt::format("{} heads and {} KV heads", query_heads, m.kv_heads)
                             : fmt::format("{} heads", query_heads);
      if (what.find(text) == std::string::npos) what += (what.empty() ? "" : ", ") + text;
    }
    refusal_.why = fmt::format("tensor parallel {} does not divide the {} of {}", facts_.tp, what, model());
    either_side(facts_.tp, 2 * kWidestTensor, [&](int tp) { return offer_layout({tp, facts_.pp}); });
  }

  void experts() {
    InferenceQuery changed = q_;
    if (!model_.is_moe()) {
      refusal_.why = fmt::format("{} is a dense model: it has no experts to spread over {} devices", model(), q_.ep);
      changed.ep = 1;
      offer(changed, {{"ep", "1"}});
      return;
    }
    int experts = 0;
    for (const LayerGroup& group : model_.groups) experts = std::max(experts, group.ffn.experts);
    const int ranks = facts_.tp * facts_.dp;
    refusal_.why =
        q_.ep > ranks
            ? fmt::format("expert parallel {} is more than the {} ranks (tp x dp) that share a layer", q_.ep, ranks)
        : ranks % q_.ep != 0
            ? fmt::format("expert parallel {} does not divide the {} ranks (tp x dp) that share a layer", q_.ep, ranks)
            : fmt::format("expert parallel {} is more than twice the {} experts of {}", q_.ep, experts, model());
    first_below(std::min(q_.ep, ranks), [&](int ep) {
      changed.ep = ep;
      return ranks % ep == 0 && offer(changed, {{"ep", std::to_string(ep)}});
    });
  }

  void devices() {
    const int product = facts_.tp * others();
    refusal_.why = facts_.gpus < product
                       ? fmt::format("tp {} x pp {} x dp {} needs {} devices, there are {}", facts_.tp, facts_.pp,
                                     facts_.dp, product, facts_.gpus)
                       : fmt::format("{} devices are no multiple of tp {} x pp {}", facts_.gpus, facts_.tp, facts_.pp);
    multiples_around(facts_.gpus, product, [&](int gpus) {
      InferenceQuery changed = q_;
      changed.tp = facts_.tp;
      changed.gpus = gpus;
      return offer(changed, {{"gpus", std::to_string(gpus)}});
    });
  }

  void formats() {
    const Format wanted = q_.activations.value_or(facts_.activations);
    if (bytes_per_element(wanted) >= 2) return kept_formats();
    refusal_.why = fmt::format("{} does not compute in {}", facts_.device, name(wanted));
    InferenceQuery changed = q_;
    changed.weights = q_.weights.value_or(wanted);
    changed.activations.reset();
    offer(changed, {{"weight_precision", std::string(name(*changed.weights))}});
    if (!refusal_.nearest.empty()) refusal_.nearest.back().effect += "; weights are widened to 16 bits for the product";
    for (const Format f : {Format::mxfp4, Format::fp8, Format::int8, Format::bf16}) {
      // Of the same width first; none that is narrower than what was asked for.
      if (f == wanted || bytes_per_weight(f) < 0.9 * bytes_per_weight(wanted)) continue;
      changed = q_;
      changed.weights = changed.activations = f;
      if (offer(changed, {{"precision", std::string(name(f))}})) return;
    }
  }

  /// Weights or a cache in a format that no kernel of the chip reads.
  void kept_formats() {
    const bool cache = facts_.kv == Format::fp8;
    refusal_.why = fmt::format("no kernel for {} reads fp8", facts_.device);
    InferenceQuery changed = q_;
    Changes changes;
    if (facts_.weights == Format::fp8) {
      changed.weights = Format::int8;
      changes.push_back({"weight_precision", "int8"});
    }
    if (cache) {
      changed.kv = Format::int8;
      changes.push_back({"kv_precision", "int8"});
    }
    offer(changed, std::move(changes));
  }

  const InferenceQuery& q_;
  const InferenceOutcome& o_;
  const Knowledge& k_;
  Model model_;
  DeploymentFacts facts_;
  Refusal refusal_;
};

}  // namespace

Refusal explain_refusal(const InferenceQuery& query, const InferenceOutcome& outcome, const Knowledge& knowledge) {
  return Refuser(query, outcome, knowledge).run();
}

}  // namespace ridge
