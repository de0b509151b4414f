#include "search/problems/training_space.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ridge::search {

namespace {

constexpr int kMostStages = 128;
constexpr int kWidestTensor = 64;
constexpr int kUsualMicroBatch = 16;
constexpr int kMostMicroBatch = 64;
constexpr int kLeastTokensPerRank = 1024;  ///< of a sequence cut by context parallelism, usually
constexpr int kLeastTokensAtAll = 128;

std::vector<int> divisors(int n, int most) {
  std::vector<int> out;
  for (int d = 1; d <= std::min(n, most); ++d) {
    if (n % d == 0) out.push_back(d);
  }
  return out;
}

/// Those of `free`, or the one value that was asked for if it is among what is possible.
std::vector<int> choose(std::vector<int> free, int asked) {
  if (asked == 0) return free;
  if (std::find(free.begin(), free.end(), asked) == free.end()) return {};
  return {asked};
}

class Builder {
 public:
  Builder(const TrainingShape& shape, int gpus) : s_(shape), full_(shape.breadth == Breadth::full) {
    out_.gpus = gpus;
    out_.sequence = shape.sequence;
    out_.global_batch = shape.global_batch;
  }

  TrainingSpace run() {
    make_policies();
    const int widest = full_ ? kWidestTensor : s_.inside;
    for (const int tp : choose(divisors(out_.gpus, s_.tp > 0 ? s_.tp : widest), s_.tp)) {
      if (std::any_of(s_.heads.begin(), s_.heads.end(), [&](int h) { return h % tp != 0; })) continue;
      for (const int pp : choose(divisors(out_.gpus / tp, std::min(s_.layers, kMostStages)), s_.pp)) {
        for (const int cp : choose(context_degrees(out_.gpus / tp / pp), s_.cp)) experts(tp, pp, cp);
      }
    }
    out_.starts.push_back(0);
    for (const Layout& layout : out_.layouts) {
      out_.starts.push_back(out_.starts.back() + out_.policies[layout.policies].size());
    }
    return std::move(out_);
  }

 private:
  enum : std::uint8_t { kAlone, kRing, kAny };

  void make_policies() {
    std::vector<Recompute> recompute = {Recompute::unknown};
    if (full_) recompute = {Recompute::none, Recompute::selective, Recompute::full};
    if (s_.fixed_recompute) recompute = {s_.recompute};
    const std::vector<float> offloads = full_ ? std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1} : std::vector<float>{0};
    const std::vector<bool> host = full_ ? std::vector<bool>{false, true} : std::vector<bool>{false};
    using CP = ContextParallel;
    std::vector<std::vector<CP>> contexts = {{CP::ring}, {CP::ring}, {CP::ring, CP::ulysses}};
    if (full_) contexts = {{CP::ring}, {CP::ring, CP::all_gather}, {CP::ring, CP::all_gather, CP::ulysses}};
    for (const auto& schemes : contexts) {
      std::vector<MemoryPolicy>& list = out_.policies.emplace_back();
      for (const CP context : schemes) {
        for (const bool optimizer : host) {
          for (const float offload : offloads) {
            for (const Recompute r : recompute) list.push_back({r, context, offload, optimizer});
          }
        }
      }
    }
  }

  [[nodiscard]] std::vector<int> context_degrees(int left) const {
    std::vector<int> out;
    const int least = full_ || s_.cp > 0 ? kLeastTokensAtAll : kLeastTokensPerRank;
    for (int cp = 1; cp <= left; cp *= 2) {
      // Causal balancing gives every rank two pieces of the sequence.
      if (left % cp == 0 && (cp == 1 || (s_.sequence % (2 * cp) == 0 && s_.sequence / cp >= least))) out.push_back(cp);
    }
    return out;
  }

  void experts(int tp, int pp, int cp) {
    const int dp = out_.gpus / (tp * pp * cp);
    std::vector<int> degrees = {1};
    if (s_.experts > 0) degrees = divisors(s_.experts, s_.experts);
    for (const int ep : choose(degrees, s_.experts > 0 ? s_.ep : 0)) {
      std::vector<int> inside = {1};
      if (full_ && s_.experts > 0 && tp > 1) inside.push_back(tp);
      for (const int etp : inside) {
        if (static_cast<long>(tp) * cp * dp % (static_cast<long>(ep) * etp) != 0) continue;
        micro_batches(tp, pp, cp, ep, etp, dp);
      }
    }
  }

  void micro_batches(int tp, int pp, int cp, int ep, int etp, int dp) {
    if (s_.global_batch % dp != 0) return;
    const int share = s_.global_batch / dp;
    const int most = s_.micro_batch > 0 ? s_.micro_batch : full_ ? kMostMicroBatch : kUsualMicroBatch;
    for (const int micro : choose(divisors(share, most), s_.micro_batch)) {
      Layout layout;
      layout.tp = tp;
      layout.pp = pp;
      layout.cp = cp;
      layout.ep = ep;
      layout.etp = etp;
      layout.micro_batch = micro;
      layout.key = key_of({tp, cp, ep, etp, micro});
      layout.policies = cp == 1 ? kAlone : whole_heads(tp, cp) ? kAny : kRing;
      for (const int vp : choose(chunks(pp, share / micro), s_.vp)) {
        layout.vp = vp;
        schedules(layout, dp);
      }
    }
  }

  [[nodiscard]] bool whole_heads(int tp, int cp) const {
    return std::all_of(s_.heads.begin(), s_.heads.end(), [&](int h) { return h / tp % cp == 0; });
  }

  /// Interleaving needs equal chunks (embedding and head may count as a layer each), and micro-batches in rounds of
  /// the stages (Megatron-LM refuses others).
  [[nodiscard]] std::vector<int> chunks(int pp, int micro_batches) const {
    if (pp == 1 || micro_batches % pp != 0) return {1};
    std::set<int> out = {1};
    for (const int counted : {s_.layers, s_.layers + 2}) {
      if (counted % pp != 0) continue;
      for (const int d : divisors(counted / pp, counted)) out.insert(d);
      if (counted == s_.layers) break;
    }
    return {out.begin(), out.end()};
  }

  void schedules(Layout layout, int dp) {
    std::vector<Schedule> known = {layout.vp > 1 ? Schedule::interleaved : Schedule::one_f_one_b};
    if (full_ && layout.pp > 1) {
      known.push_back(Schedule::zero_bubble);
      if (layout.vp == 1 && layout.pp % 2 == 0) known.push_back(Schedule::dual_pipe);
    }
    for (const Schedule schedule : known) {
      layout.schedule = schedule;
      shardings(layout, dp);
    }
  }

  void shardings(Layout layout, int dp) {
    const long replicas = static_cast<long>(dp) * layout.cp;
    const auto add = [&](Sharding sharding, int group) {
      layout.sharding = sharding;
      layout.shard_group = group;
      out_.layouts.push_back(layout);
    };
    const auto add_groups = [&](int growth) {
      for (int group = 8; group < replicas; group *= growth) {
        if (replicas % group == 0) add(Sharding::hsdp, group);
      }
    };
    const bool fixed = s_.sharding != Sharding::unknown;
    if (replicas == 1) {
      add(fixed ? s_.sharding : Sharding::none, 0);
    } else if (fixed) {
      s_.sharding == Sharding::hsdp ? add_groups(2) : add(s_.sharding, 0);
    } else if (full_) {
      for (const Sharding s : {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) add(s, 0);
      add_groups(2);
    } else if (s_.usual_sharding == Sharding::zero3 || s_.usual_sharding == Sharding::hsdp) {
      if (layout.pp > 1) return;  // gathers per micro-batch and stage: nobody pipelines them
      add(Sharding::zero3, 0);
      add_groups(8);
    } else {
      add(s_.usual_sharding == Sharding::unknown ? Sharding::zero1 : s_.usual_sharding, 0);
    }
  }

  std::uint16_t key_of(const LayerKey& key) {
    const auto [at, fresh] = known_keys_.emplace(key, static_cast<std::uint16_t>(out_.keys.size()));
    if (fresh) out_.keys.push_back(key);
    return at->second;
  }

  const TrainingShape& s_;
  const bool full_;
  TrainingSpace out_;
  std::map<LayerKey, std::uint16_t> known_keys_;
};

}  // namespace

TrainingPlan TrainingSpace::plan(const Layout& layout, const MemoryPolicy& policy) const {
  TrainingPlan plan;
  plan.gpus = gpus;
  plan.tp = layout.tp;
  plan.pp = layout.pp;
  plan.vp = layout.vp;
  plan.cp = layout.cp;
  plan.ep = layout.ep;
  plan.etp = layout.etp;
  plan.sequence = sequence;
  plan.global_batch = global_batch;
  plan.micro_batch = layout.micro_batch;
  plan.sharding = layout.sharding;
  plan.shard_group = layout.shard_group;
  plan.schedule = layout.schedule;
  plan.recompute = policy.recompute;
  plan.context = policy.context;
  plan.offload = policy.offload;
  plan.offload_optimizer = policy.offload_optimizer;
  return plan;
}

TrainingPlan TrainingSpace::at(std::uint64_t i) const {
  const auto next = std::upper_bound(starts.begin(), starts.end(), i);
  const std::size_t layout = static_cast<std::size_t>(next - starts.begin()) - 1;
  return plan(layouts[layout], policies[layouts[layout].policies][i - starts[layout]]);
}

TrainingSpace training_space(const TrainingShape& shape, int gpus) {
  return Builder(shape, gpus).run();
}

}  // namespace ridge::search
