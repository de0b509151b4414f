#include "serve/cluster.hpp"

#include <algorithm>

namespace ridge::serve {

namespace {

constexpr double kRetrySeconds = 1;  ///< a client whose request is rejected waits as long before the next

}  // namespace

Cluster::Cluster(const SimulationQuery& query, const ClusterSetup& setup, SimulationResult& result,
                 SimulationObserver* observer, LiveTraffic* live)
    : query_(query),
      setup_(setup),
      result_(result),
      observer_(observer),
      live_(live),
      live_book_(static_cast<std::uint32_t>(query.policies.block_tokens)),
      source_(query),
      shared_{pool_, *this, series_, result.itl, observer, live},
      router_(make_router(query.policies.router)),
      decode_router_(least_outstanding_router()),
      gate_(query.policies.limits),
      server_(to_ticks(setup.server_seconds)) {
  const ServingPolicies& p = query.policies;
  shared_.seed = query.seed;
  shared_.step_by_step = query.step_by_step;
  shared_.prefix_cache = p.prefix_cache;
  shared_.ttft_timeout = to_ticks(p.limits.ttft_timeout);
  shared_.idle_timeout = to_ticks(p.limits.idle_timeout);
  for (const EnginePool& pool : setup_.pools) {
    clocks_.push_back(std::make_unique<StepClock>(*pool.model, pool.shape));
    for (int i = 0; i < pool.engines; ++i) {
      engines_.push_back(std::make_unique<Engine>(static_cast<std::uint32_t>(engines_.size()), pool.role, pool.shape,
                                                  *clocks_.back(), batching_of(pool.batching),
                                                  preemption_of(p.preemption), shared_));
    }
  }
  make_tiers();
  nexts_ = Earliest(engines_.size());
  states_.assign(engines_.size(), State::off);
  since_.assign(engines_.size(), 0);
  up_ticks_.assign(engines_.size(), 0);
  idle_since_.assign(engines_.size(), 0);
  link_free_.assign(engines_.size(), 0);
  result_.classes.resize(query.workload.classes.size());
  for (std::size_t i = 0; i < result_.classes.size(); ++i) result_.classes[i].name = query.workload.classes[i].name;
}

/// Each engine of the first pool has tiers of its own, but for those that all share.
void Cluster::make_tiers() {
  const std::vector<KvTier>& wanted = query_.policies.tiers;
  if (wanted.empty()) return;
  std::vector<TierStore*> shared(wanted.size(), nullptr);
  for (const std::unique_ptr<Engine>& engine : engines_) {
    if (engine->role() == Engine::Role::decode) continue;
    const EngineShape& shape = engine->shape();
    std::vector<TierStore*> own;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i].shared || shared[i] == nullptr) {
        tiers_.push_back(std::make_unique<TierStore>(wanted[i], shape.bytes_per_token * shape.block_tokens));
        shared[i] = tiers_.back().get();
      }
      own.push_back(shared[i]);
    }
    engine->use_tiers(std::move(own));
  }
}

void Cluster::push(Ticks time, Kind kind, std::uint32_t a, std::uint32_t b) {
  events_.push_back({time, orders_++, kind, a, b});
  std::push_heap(events_.begin(), events_.end());
}

bool Cluster::done() const {
  return live_ == nullptr && source_.next() == kNever && in_system_ == 0 && waiting_clients_ == 0;
}

void Cluster::run() {
  begin_engines();
  if (query_.load.kind == OfferedKind::concurrency && live_ == nullptr) {
    const auto clients = static_cast<std::uint32_t>(query_.load.concurrency);
    for (std::uint32_t c = 0; c < clients; ++c) {
      push(server_, Kind::client, c, kNoSlot);
      ++waiting_clients_;
    }
  }
  constexpr unsigned kBetweenReports = 1U << 14;
  constexpr unsigned kEnginesPerTurn = 64;
  unsigned until_report = kBetweenReports;
  const Ticks last = to_ticks(kLastSecond);
  while (!done()) {
    const Ticks stream = source_.next() == kNever ? kNever : source_.next() + server_;
    const Ticks event = events_.empty() ? kNever : events_.front().time;
    const std::size_t engine = nexts_.first();
    const Ticks step = nexts_.time();
    if (live_ != nullptr) {
      const LiveTraffic::Wake wake = wait_for(std::min(event, step));
      if (wake == LiveTraffic::Wake::stop) {
        result_.stopped_early = true;
        break;
      }
      if (wake == LiveTraffic::Wake::changed) {
        take_live();
        continue;
      }
    }
    if (stream <= event && stream <= step) {
      if (stream == kNever) break;
      now_ = stream;
      const Slot slot = pool_.take();
      source_.start(pool_[slot]);
      arrive(slot, stream);
    } else if (event <= step) {
      const Event next = events_.front();
      std::pop_heap(events_.begin(), events_.end());
      events_.pop_back();
      now_ = next.time;
      handle(next);
    } else {
      now_ = step;
      engines_[engine]->advance();
      update_next(engine);
    }
    if (now_ > last || hopeless()) {  // the clock would run over
      result_.stopped_early = true;
      break;
    }
    // Routers look at all engines.
    until_report -= std::min<unsigned>(until_report, 1 + static_cast<unsigned>(nexts_.size()) / kEnginesPerTurn);
    if (until_report == 0) {
      until_report = kBetweenReports;
      if (observer_ != nullptr && !observer_->go_on(source_.progress(now_))) {
        result_.stopped_early = true;
        break;
      }
    }
  }
  finish_accounts();
}

void Cluster::handle(const Event& e) {
  switch (e.kind) {
    case Kind::client:
      --waiting_clients_;
      client_sends(e.a, e.b, e.time);
      break;
    case Kind::come:
      arrive(e.a, e.time);
      break;
    case Kind::release:
      if (e.a != kNoSlot) route(e.a, e.time);
      route_homeless(e.time);
      break;
    case Kind::transfer:
      to_decode(e.a, e.time);
      break;
    case Kind::decide:
      decide(e.time);
      break;
    case Kind::up:
      if (states_[e.a] == State::starting) engine_up(e.a, e.time);
      break;
    case Kind::fail:
      engine_fails(e.a, e.time);
      break;
    case Kind::repair:
      engine_up(e.a, e.time);
      break;
    case Kind::fetched: {
      Engine& engine = *engines_[e.b];
      engine.count_fetching(-1);
      if (states_[e.b] == State::up || states_[e.b] == State::draining) {
        engine.enqueue(e.a, e.time);
        update_next(e.b);
      } else {  // it failed meanwhile
        route(e.a, e.time);
      }
      break;
    }
  }
}

void Cluster::client_sends(std::uint32_t client, std::uint32_t session, Ticks ready) {
  const Slot slot = pool_.take();
  Request& r = pool_[slot];
  r.client = client;
  const Ticks when = ready - server_;
  const bool sends = session == kNoSlot ? source_.start_at(r, when) : source_.next_turn(session, r, when);
  if (sends) {
    arrive(slot, ready);
  } else {
    pool_.give_back(slot);
  }
}

void Cluster::arrive(Slot slot, Ticks ready) {
  Request& r = pool_[slot];
  r.ready = ready;
  ++result_.arrived;
  if (first_arrival_ < 0) first_arrival_ = r.arrival;
  last_arrival_ = r.arrival;
  // The system as it stands halfway through the arrivals: what the end is compared with to see an overload.
  if (2 * result_.arrived <= source_.wanted() || source_.progress(r.arrival) <= 0.5) {
    half_arrived_ = result_.arrived;
    half_in_queue_ = in_queue_;
    half_time_ = r.arrival;
  }
  series_.count(Track::arrivals, 1, r.arrival);
  const Engine& front = *engines_.front();
  const bool fits = front.can_ever_hold(r) && engines_.back()->can_ever_hold(r);
  account_system(1, r.arrival);
  end_in_queue_ = in_queue_;
  if (!fits) {
    ++result_.too_long;
    result_.longest_too_long = std::max(result_.longest_too_long, r.input + r.output);
    record(slot, ready, RequestRecord::End::too_long);
    leave(slot, ready, true);
    return;
  }
  if (!gate_.admits(static_cast<double>(r.input) + r.output, static_cast<double>(in_system_ - 1), ready)) {
    ++result_.rejected;
    record(slot, ready, RequestRecord::End::rejected);
    leave(slot, ready, true);
    return;
  }
  const Ticks release = gate_.release(ready);
  if (release > ready) {
    push(release, Kind::release, slot);
  } else {
    route(slot, ready);
  }
}

void Cluster::route(Slot slot, Ticks now) {
  renew_lists();
  if (takes_.empty() || (query_.policies.autoscaling && least_outstanding(takes_).is_full())) {
    homeless_.push_back(slot);
    queue_changed(1, now);
    if (query_.policies.autoscaling) decide(now);
    return;
  }
  Engine* engine = takes_.front();
  if (takes_.size() > 1) {
    if (router_->wants_chunks()) source_.chunks_of(pool_[slot], chunks_);
    engine = &router_->choose(pool_[slot], chunks_, takes_);
  }
  give_to(*engine, slot, now);
}

void Cluster::give_to(Engine& engine, Slot slot, Ticks now) {
  const Ticks there = tiers_.empty() ? now : engine.fetch_prefix(slot, now);
  if (there > now) {
    engine.count_fetching(1);
    push(there, Kind::fetched, slot, engine.index());
  } else {
    engine.enqueue(slot, now);
  }
  update_next(engine.index());
}

void Cluster::route_homeless(Ticks now) {
  if (homeless_.empty()) return;
  const bool limited = query_.policies.autoscaling.has_value();
  renew_lists();
  while (!homeless_.empty() && !takes_.empty() && !(limited && least_outstanding(takes_).is_full())) {
    const Slot slot = homeless_.front();
    homeless_.pop_front();
    queue_changed(-1, now);
    route(slot, now);
  }
}

void Cluster::finished(Slot slot, Ticks now) {
  Request& r = pool_[slot];
  if (engines_[r.engine]->role() == Engine::Role::prefill && r.generated < r.output) {
    // Its cache goes to a decode engine; transfers out of one engine follow each other.
    const EngineShape& shape = engines_[r.engine]->shape();
    Ticks& link = link_free_[r.engine];
    const double bytes = static_cast<double>(r.input) * shape.bytes_per_token;
    const double wait = std::min(bytes / setup_.link_bytes_per_s, kLongestDraw);
    link = std::min(std::max(link, now) + to_ticks(wait), to_ticks(kMostSeconds));
    const Ticks arrives = link + to_ticks(setup_.link_latency);
    transfer_sum_ += to_seconds(arrives - now);
    ++transfers_;
    push(arrives, Kind::transfer, slot);
    return;
  }
  record(slot, now, RequestRecord::End::finished);
  leave(slot, now, false);
  // An engine in the middle of its own bookkeeping takes nobody in: who waits in front of it comes right after.
  if (!homeless_.empty()) push(now, Kind::release, kNoSlot);
}

void Cluster::to_decode(Slot slot, Ticks now) {
  Request& r = pool_[slot];
  if (r.tokens == 0) return;  // its engine failed meanwhile; it has started over
  Engine& from = *engines_[r.engine];
  from.release(slot, now);
  update_next(from.index());
  r.prefilled = true;
  r.tokens = r.target = r.input;
  r.steps_left = 0;
  renew_lists();
  Engine& to = decode_router_->choose(r, {}, decodes_);
  to.enqueue(slot, now);
  update_next(to.index());
}

void Cluster::dropped(Slot slot, Ticks now, RequestRecord::End why) {
  if (!pool_[slot].cancelled && !pool_[slot].failed) ++result_.timed_out;
  record(slot, now, why);
  leave(slot, std::max(now, now_), false);
}

void Cluster::record(Slot slot, Ticks now, RequestRecord::End end) {
  const Request& r = pool_[slot];
  if (end == RequestRecord::End::finished) {
    last_token_ = std::max(last_token_, now);
    const Ticks ttft = r.first_token - r.arrival;
    const Ticks e2e = now - r.arrival;
    const Ticks tpot = r.output > 1 ? (now - r.first_token) / (r.output - 1) : 0;
    result_.ttft.add(ttft);
    result_.e2e.add(e2e);
    result_.wait.add(r.scheduled - r.ready);
    if (r.output > 1) result_.tpot.add(tpot);
    if (r.session != kNoSlot) {
      (r.turn == 0 ? result_.first_turn_ttft : result_.later_turn_ttft).add(ttft);
      if (const auto task = source_.task_after(r, now)) {
        result_.task.add(task->whole);
        result_.task_busy.add(task->busy);
      }
    }
    ++result_.finished;
    failed_in_vain_ = 0;
    result_.input_tokens += r.input;
    result_.output_tokens += r.output;
    result_.cached_tokens += r.cached;
    const RequestClass* kind = query_.workload.trace ? nullptr : &query_.workload.classes[r.request_class];
    const LatencyLimits& l = query_.limits;
    const double ttft_limit = kind != nullptr && kind->ttft_limit > 0 ? kind->ttft_limit : l.ttft;
    const double tpot_limit = kind != nullptr && kind->tpot_limit > 0 ? kind->tpot_limit : l.tpot;
    const bool good = (ttft_limit <= 0 || to_seconds(ttft) <= ttft_limit) &&
                      (tpot_limit <= 0 || to_seconds(tpot) <= tpot_limit) && (l.e2e <= 0 || to_seconds(e2e) <= l.e2e);
    if (good) ++result_.good;
    if (result_.classes.size() > 1) {
      ClassResult& c = result_.classes[r.request_class];
      ++c.finished;
      if (good) ++c.good;
      c.ttft.add(ttft);
      c.e2e.add(e2e);
      if (r.output > 1) c.tpot.add(tpot);
    }
  }
  const RequestRecord record{r.id,          r.input,     r.output,        r.cached,
                             r.preemptions, r.engine,    r.request_class, end,
                             r.arrival,     r.scheduled, r.first_token,   now};
  if (observer_ != nullptr) observer_->request(record);
  if (live_ != nullptr) forget_live(record, r);
}

void Cluster::leave(Slot slot, Ticks now, bool rejected) {
  account_system(-1, now);
  start_client_later(pool_[slot], now, rejected);
  pool_.give_back(slot);
}

void Cluster::start_client_later(const Request& r, Ticks now, bool rejected) {
  if (live_ != nullptr) return;
  const bool closed = query_.load.kind == OfferedKind::concurrency;
  const Ticks wait = rejected && closed ? to_ticks(kRetrySeconds) : 0;
  std::uint32_t session = kNoSlot;
  double think = -1;
  if (!rejected) {
    think = source_.finish_turn(r, now);
    if (think >= 0) session = r.session;
  } else {
    source_.end_session(r.session);
  }
  if (session == kNoSlot && !closed) return;
  push(now + server_ + wait + to_ticks(std::max(0.0, think)), Kind::client, r.client, session);
  ++waiting_clients_;
}

void Cluster::queue_changed(int by, Ticks now) {
  series_.level(Track::queue, static_cast<double>(in_queue_), queue_since_, now);
  queue_since_ = std::max(queue_since_, now);
  in_queue_ += by;
}

void Cluster::account_system(int by, Ticks now) {
  system_area_ += static_cast<double>(by < 0 ? now : -now);
  in_system_ += by;
}

}  // namespace ridge::serve
