// Engines that are started, stopped, break and are repaired; and what is added up when all is over.
#include <algorithm>
#include <cmath>

#include "serve/cluster.hpp"

namespace ridge::serve {

namespace {

constexpr std::uint64_t kFailureStream = 0xfa11ULL << 40;

}  // namespace

void Cluster::begin_engines() {
  const auto& scaling = query_.policies.autoscaling;
  const std::size_t first = static_cast<std::size_t>(setup_.pools.front().engines);
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const bool starts = i >= first || !scaling || static_cast<int>(i) < scaling->least;
    if (starts) engine_up(i, 0);
  }
  if (scaling) push(to_ticks(scaling->interval), Kind::decide);
  const Failures& failures = query_.policies.failures;
  if (failures.killed > 0)
    push(to_ticks(failures.killed_at), Kind::fail, static_cast<std::uint32_t>(failures.killed - 1));
}

int Cluster::count(State state) const {
  return static_cast<int>(std::count(states_.begin(), states_.end(), state));
}

void Cluster::update_next(std::size_t engine) {
  nexts_.set(engine, engines_[engine]->next());
  if (engines_[engine]->outstanding() > 0) {
    idle_since_[engine] = kNever;
  } else if (idle_since_[engine] == kNever) {
    idle_since_[engine] = now_;
    if (states_[engine] == State::draining) set_state(engine, State::off, now_);
  }
}

void Cluster::set_state(std::size_t engine, State state, Ticks now) {
  const State before = states_[engine];
  if (before != State::off && before != State::broken) {
    up_ticks_[engine] += now - since_[engine];
    series_.level(Track::engines, 1, since_[engine], now);
  }
  states_[engine] = state;
  since_[engine] = now;
  if ((before == State::up) != (state == State::up)) lists_are_old_ = true;
}

/// Once for all that changed since somebody looked: a million engines that start at once are gone through once.
void Cluster::renew_lists() {
  if (!lists_are_old_) return;
  lists_are_old_ = false;
  takes_.clear();
  decodes_.clear();
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (states_[i] != State::up) continue;
    (engines_[i]->role() == Engine::Role::decode ? decodes_ : takes_).push_back(engines_[i].get());
  }
}

void Cluster::engine_up(std::size_t engine, Ticks now) {
  set_state(engine, State::up, now);
  idle_since_[engine] = now;
  const Failures& failures = query_.policies.failures;
  if (failures.mean_time_between > 0 && engines_[engine]->role() == Engine::Role::whole) {
    Random random(query_.seed, kFailureStream + (static_cast<std::uint64_t>(engine) << 20) + orders_);
    const double after = std::min(failures.mean_time_between * random.exponential(), kLongestDraw);
    push(now + to_ticks(after), Kind::fail, static_cast<std::uint32_t>(engine));
  }
  route_homeless(now);
}

void Cluster::start_engine(std::size_t engine, Ticks now, double delay) {
  set_state(engine, State::starting, now);
  ++result_.cold_starts;
  push(now + to_ticks(delay), Kind::up, static_cast<std::uint32_t>(engine));
}

void Cluster::stop_engine(std::size_t engine, Ticks now) {
  set_state(engine, engines_[engine]->outstanding() > 0 ? State::draining : State::off, now);
}

void Cluster::decide(Ticks now) {
  const Autoscaling& s = *query_.policies.autoscaling;
  const auto outstanding = static_cast<double>(in_system_);
  const int wanted = std::clamp(static_cast<int>(std::ceil(outstanding / s.target)), s.least, s.most);
  int there = count(State::up) + count(State::starting);
  const auto first = static_cast<std::size_t>(setup_.pools.front().engines);
  for (std::size_t i = 0; i < first && there < wanted; ++i) {
    if (states_[i] == State::draining) {
      set_state(i, State::up, now);
      ++there;
    } else if (states_[i] == State::off) {
      start_engine(i, now, s.cold_start);
      ++there;
    }
  }
  // Down one by one, the last first, and only those that have had nothing to do for a while.
  for (std::size_t i = first; i-- > 0 && there > wanted;) {
    if (states_[i] != State::up || idle_since_[i] == kNever || now - idle_since_[i] < to_ticks(s.idle)) continue;
    stop_engine(i, now);
    --there;
  }
  if (!done() && now % to_ticks(s.interval) == 0) push(now + to_ticks(s.interval), Kind::decide);
}

void Cluster::engine_fails(std::size_t engine, Ticks now) {
  if (states_[engine] != State::up && states_[engine] != State::draining) return;
  ++result_.failures;
  std::vector<Slot> lost = engines_[engine]->fail(now);
  set_state(engine, State::broken, now);
  update_next(engine);
  push(now + to_ticks(query_.policies.failures.repair), Kind::repair, static_cast<std::uint32_t>(engine));
  if (!lost.empty()) ++failed_in_vain_;
  for (const Slot slot : lost) {
    if (live_ != nullptr && !live_->may_restart(pool_[slot].id)) {
      pool_[slot].failed = true;
      dropped(slot, now, RequestRecord::End::timed_out);
      continue;
    }
    ++result_.restarted;
    route(slot, now);
  }
}

void Cluster::finish_accounts() {
  SimulationResult& r = result_;
  const Ticks end = std::max(last_token_, now_);
  for (std::size_t i = 0; i < engines_.size(); ++i) set_state(i, states_[i], std::max(end, since_[i]));
  queue_changed(0, std::max(queue_since_, end));
  for (const KvTier& wanted : query_.policies.tiers) {
    TierResult sum;
    sum.name = wanted.name;
    for (const std::unique_ptr<TierStore>& store : tiers_) {
      const TierResult& one = store->result;
      if (one.name != wanted.name) continue;
      sum.fetched_tokens += one.fetched_tokens;
      sum.fetches += one.fetches;
      sum.declined_tokens += one.declined_tokens;
      sum.lost_tokens += one.lost_tokens;
      sum.fetch_seconds += one.fetch_seconds;
      sum.peak_bytes += one.peak_bytes;
    }
    r.tiers.push_back(std::move(sum));
  }
  const Ticks start = std::max<Ticks>(0, first_arrival_);
  const auto span = static_cast<double>(std::max<Ticks>(1, last_token_ - start));
  r.makespan = span / kTicksPerSecond;
  r.arrival_span = to_seconds(last_arrival_ - start);
  r.requests_per_s = static_cast<double>(r.finished) / r.makespan;
  r.output_tokens_per_s = static_cast<double>(r.output_tokens) / r.makespan;
  r.total_tokens_per_s = static_cast<double>(r.output_tokens + r.input_tokens) / r.makespan;
  r.goodput = static_cast<double>(r.good) / r.makespan;
  r.preemptions = shared_.preemptions;
  r.steps = shared_.steps;
  r.peak_kv_share = shared_.peak_kv;
  r.mean_queue = series_.total(Track::queue) / span;
  const double up = std::max(1.0, series_.total(Track::engines));
  r.mean_running = series_.total(Track::running) / up;
  r.mean_kv_share = series_.total(Track::kv) / up;
  r.mean_engines = up / span;
  r.mean_in_system = (system_area_ + static_cast<double>(in_system_) * static_cast<double>(end)) / span;
  r.transfer_seconds = transfers_ > 0 ? transfer_sum_ / static_cast<double>(transfers_) : 0;
  r.timeline_step = to_seconds(series_.width());
  const auto width = static_cast<double>(series_.width());
  for (std::size_t i = 0; i < Series::kSpans && static_cast<Ticks>(i) * series_.width() < end; ++i) {
    TimelinePoint p;
    const auto from = static_cast<double>(i) * width;
    const double covered = std::min(width, static_cast<double>(end) - from);
    p.start = from / kTicksPerSecond;
    p.queue = series_.value(Track::queue, i) / covered;
    p.running = series_.value(Track::running, i) / covered;
    p.engines = series_.value(Track::engines, i) / covered;
    const double here = series_.value(Track::engines, i);
    p.kv_share = here > 0 ? series_.value(Track::kv, i) / here : 0;
    p.arrivals_per_s = series_.value(Track::arrivals, i) / covered * kTicksPerSecond;
    p.output_tokens_per_s = series_.value(Track::tokens, i) / covered * kTicksPerSecond;
    r.timeline.push_back(p);
  }
  // Those that wait pile up over the second half of the arrivals by more than chance and a twentieth of them.
  const bool open = query_.load.kind == OfferedKind::rate || query_.load.kind == OfferedKind::trace;
  const auto later = static_cast<double>(r.arrived - half_arrived_);
  const auto grown = static_cast<double>(end_in_queue_ - half_in_queue_);
  const double seconds = to_seconds(last_arrival_ - half_time_);
  if (open && grown > std::max(0.05 * later, 5 * std::sqrt(later))) {
    r.overloaded = true;
    r.growth_per_s = grown / std::max(seconds, 1e-9);
  }
}

}  // namespace ridge::serve
