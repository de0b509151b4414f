// Requests that come from outside, at times that somebody else's clock says.
#include <algorithm>

#include "serve/cluster.hpp"

namespace ridge::serve {

LiveState Cluster::live_state() const {
  LiveState state;
  double held = 0;
  double blocks = 0;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const Engine& engine = *engines_[i];
    state.running += static_cast<std::uint64_t>(engine.running());
    held += static_cast<double>(engine.held_blocks());
    blocks += static_cast<double>(engine.shape().blocks);
    if (states_[i] == State::up) ++state.engines_up;
  }
  state.waiting = static_cast<std::uint64_t>(std::max<std::int64_t>(0, in_queue_));
  state.preemptions = shared_.preemptions;
  state.steps = shared_.steps;
  state.kv_share = blocks > 0 ? held / blocks : 0;
  return state;
}

LiveTraffic::Wake Cluster::wait_for(Ticks next) {
  return live_->wait(next, live_state());
}

void Cluster::take_live() {
  LiveRequest live;
  while (live_->take(live)) {
    const Slot slot = pool_.take();
    Request& r = pool_[slot];
    r.id = live.id;
    // What the clock has let happen has happened: nobody arrives before it.
    r.arrival = std::max(live.arrival, now_ - server_);
    r.input = std::max(1U, live.input);
    r.output = std::max(1U, live.output);
    r.priority = static_cast<std::uint8_t>(std::clamp(live.priority, 0, kPriorities - 1));
    live_book_.enter(live, r, slot);
    push(r.arrival + server_, Kind::come, slot);
  }
  std::uint64_t id = 0;
  while (live_->take_cancelled(id)) {
    const Slot slot = live_book_.find(id);
    if (slot == kNoSlot) continue;
    Request& r = pool_[slot];
    const bool homeless = std::find(homeless_.begin(), homeless_.end(), slot) != homeless_.end();
    if (r.queued == 0 || homeless) {  // let through to an engine, which it leaves after a token
      r.cancelled = true;
      r.output = 1;
    } else if (engines_[r.engine]->role() == Engine::Role::whole) {  // two pools finish what one of them began
      engines_[r.engine]->cancel(slot, now_);
      update_next(r.engine);
    }
  }
}

void Cluster::forget_live(const RequestRecord& record, const Request& request) {
  const LiveEnd end = request.cancelled ? LiveEnd::cancelled
                      : request.failed  ? LiveEnd::failed
                                        : static_cast<LiveEnd>(record.end);
  live_->ended(record, end);
  live_book_.leave(request);
}

}  // namespace ridge::serve
