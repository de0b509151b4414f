#include "serve/workload/request_source.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::serve {

namespace {

constexpr double kTwoPi = 6.283185307179586;

/// A well mixed key of two numbers (the finaliser of splitmix64).
std::uint64_t mixed_key(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Keys of the turns of a conversation are numbers in a row from here: tables keep them next to each other.
std::uint64_t first_turn_key(std::uint64_t session) {
  constexpr std::uint64_t kInARow = 64;
  return mixed_key(session + 0x100000000ULL, 0) / kInARow * kInARow;
}

/// Bursts that are drawn between two requests, on average: more take long and differ from a Poisson process by nothing.
constexpr double kMostBurstsPerRequest = 1e4;

}  // namespace

Status check(const ArrivalProcess& a, double rate) {
  const auto refuse = [](const char* why) { return Error{ErrorCode::bad_input, "arrivals", why}; };
  switch (a.kind) {
    case ArrivalKind::constant:
    case ArrivalKind::poisson:
      return {};
    case ArrivalKind::gamma:
      if (!(a.cv >= 0.01 && a.cv <= 100)) return refuse("gaps vary by 0.01 to 100 of their mean");
      return {};
    case ArrivalKind::on_off:
      if (!(a.on_seconds >= kShortestBurst && a.on_seconds <= kLongTime)) {
        return refuse("bursts last 1 ms to 10,000,000 s");
      }
      if (!(a.off_seconds >= 0 && a.off_seconds <= kLongTime)) {
        return refuse("there is silence for 0 to 10,000,000 s after a burst");
      }
      if (rate * (a.on_seconds + a.off_seconds) * kMostBurstsPerRequest < 1) {
        return refuse("bursts are too short for so few requests: write longer ones, or poisson");
      }
      return {};
    case ArrivalKind::diurnal:
      if (!(a.period >= kShortestPeriod && a.period <= kLongTime)) return refuse("a wave lasts 1 s to 10,000,000 s");
      if (!(a.swing >= 0 && a.swing <= 1)) return refuse("a wave swings by 0 to 1 of the mean rate");
      if (std::any_of(a.parts.begin(), a.parts.end(), [](double part) { return !(part >= 0 && part <= 1e6); }) ||
          (!a.parts.empty() && *std::max_element(a.parts.begin(), a.parts.end()) <= 0)) {
        return refuse("parts of a day are rates of at least 0, and not all of them 0");
      }
      return {};
  }
  return {};
}

ArrivalStream::ArrivalStream(const ArrivalProcess& process, double rate, std::uint64_t seed)
    : process_(process), rate_(rate), random_(seed, 0xa111ULL << 40) {}

double ArrivalStream::next() {
  switch (process_.kind) {
    case ArrivalKind::constant:
      now_ += 1 / rate_;
      break;
    case ArrivalKind::poisson:
      now_ += random_.exponential() / rate_;
      break;
    case ArrivalKind::gamma: {
      const double shape = 1 / (process_.cv * process_.cv);
      now_ += random_.gamma(shape) / shape / rate_;
      break;
    }
    case ArrivalKind::on_off: {
      // Poisson while on, at a rate that gives the mean over on and off.
      const double on = rate_ * (process_.on_seconds + process_.off_seconds) / process_.on_seconds;
      double gap = random_.exponential() / on;
      while (now_ + gap > burst_end_) {
        const double left = std::max(0.0, burst_end_ - now_);
        gap -= left;
        now_ = burst_end_ + (burst_end_ > 0 ? process_.off_seconds * random_.exponential() : 0);
        burst_end_ = now_ + process_.on_seconds * random_.exponential();
      }
      now_ += gap;
      break;
    }
    case ArrivalKind::diurnal: {
      const std::vector<double>& parts = process_.parts;
      const double highest = parts.empty() ? 1 + process_.swing : *std::max_element(parts.begin(), parts.end());
      const double most = rate_ * highest;  // thinning (Lewis and Shedler)
      double here = 0;
      do {
        now_ += random_.exponential() / most;
        const double turn = now_ / process_.period;
        here = rate_ *
               (parts.empty()
                    ? 1 + process_.swing * std::sin(kTwoPi * turn)
                    : parts[static_cast<std::size_t>((turn - std::floor(turn)) * static_cast<double>(parts.size())) %
                            parts.size()]);
      } while (random_.uniform() * most > here);
      break;
    }
  }
  return now_;
}

RequestSource::RequestSource(const SimulationQuery& q)
    : workload_(q.workload),
      load_(q.load),
      seed_(q.seed),
      wanted_(static_cast<std::uint64_t>(std::max(0.0, q.requests))),
      arrivals_(q.workload.arrivals, std::max(q.load.rate, 1e-12) / std::max(1.0, q.workload.mean_turns()), q.seed) {
  if (q.duration > 0) last_ = to_ticks(q.duration);
  for (const RequestClass& c : workload_.classes) shares_ += c.share;
  if (workload_.trace) {
    const auto& all = workload_.trace->requests;
    const auto count = static_cast<std::uint64_t>(all.size());
    if (load_.kind == OfferedKind::trace) {
      wanted_ = wanted_ == 0 ? count : std::min(wanted_, count);
      trace_scale_ = 1 / load_.speed;
    } else if (wanted_ == 0 && last_ == kNever) {
      wanted_ = count;
    }
  }
  move_on();
}

bool RequestSource::wants_more(Ticks when) const {
  return (wanted_ == 0 || created_ < wanted_) && when <= last_;
}

void RequestSource::move_on() {
  Ticks when = kNever;
  switch (load_.kind) {
    case OfferedKind::rate:
      when = to_ticks(std::min(arrivals_.next(), kMostSeconds));
      break;
    case OfferedKind::offline:
      when = 0;
      break;
    case OfferedKind::trace:
      // Later turns come after the answers before them.
      while (streamed_ < workload_.trace->requests.size() && workload_.trace->requests[streamed_].turn > 0) ++streamed_;
      if (streamed_ < workload_.trace->requests.size()) {
        when = to_ticks(std::min(workload_.trace->requests[streamed_].arrival * trace_scale_, kMostSeconds));
      }
      break;
    case OfferedKind::concurrency:
      break;
  }
  next_ = when != kNever && wants_more(when) ? when : kNever;
}

void RequestSource::start(Request& r) {
  fill(r, next_);
  ++streamed_;
  move_on();
}

bool RequestSource::start_at(Request& r, Ticks when) {
  if (!wants_more(when)) return false;
  fill(r, when);
  return true;
}

void RequestSource::fill(Request& r, Ticks when) {
  r.id = created_++;
  r.arrival = when;
  if (workload_.trace) {
    const auto& all = workload_.trace->requests;
    const auto at = static_cast<std::uint32_t>((replays() ? streamed_ : r.id) % all.size());
    if (replays() && all[at].talks) {
      r.session = open_session(r.id, when);
      record(r, at, &sessions_[r.session]);
    } else {
      record(r, at, nullptr);
    }
    return;
  }
  Random random(seed_, r.id << 8);
  std::size_t c = 0;
  if (workload_.classes.size() > 1) {
    double at = random.uniform() * shares_;
    while (c + 1 < workload_.classes.size() && at >= workload_.classes[c].share) at -= workload_.classes[c++].share;
  }
  const RequestClass& kind = workload_.classes[c];
  r.request_class = static_cast<std::uint16_t>(c);
  r.priority = static_cast<std::uint8_t>(kind.priority);
  const bool talks = kind.turns.expected() > 1;
  if (!talks && kind.shared_prefix == 0) {
    r.input = kind.input.draw(random);
    r.output = kind.output.draw(random);
    return;
  }
  r.group = static_cast<std::uint32_t>(random.below(kind.prefix_groups));
  if (!talks) {
    r.input = std::max(kind.shared_prefix + 1, kind.input.draw(random));
    r.output = kind.output.draw(random);
    return;
  }
  r.session = open_session(r.id, when);
  Session& s = sessions_[r.session];
  s.request_class = r.request_class;
  s.group = r.group;
  s.turns_left = kind.turns.draw(random);
  set_lengths(r, s, random);
}

std::uint32_t RequestSource::open_session(std::uint64_t id, Ticks when) {
  std::uint32_t index = 0;
  if (free_sessions_.empty()) {
    index = static_cast<std::uint32_t>(sessions_.size());
    sessions_.emplace_back();
  } else {
    index = free_sessions_.back();
    free_sessions_.pop_back();
  }
  Session& s = sessions_[index];
  s.id = id;
  s.request_class = 0;
  s.group = 0;
  s.context = 0;
  s.start = when;
  s.busy = 0;
  s.row = 0;
  s.segments.clear();
  return index;
}

/// As it was recorded; a turn's input holds what was said before it.
void RequestSource::record(Request& r, std::uint32_t row, Session* s) {
  const Trace::Request& recorded = workload_.trace->requests[row];
  r.input = std::max(1U, recorded.input);
  r.output = std::max(1U, recorded.output);
  r.priority = static_cast<std::uint8_t>(recorded.priority);
  r.trace_index = row;
  if (s == nullptr) return;
  r.turn = recorded.turn;
  s->row = recorded.next;
  s->turns_left = recorded.next > 0 ? 1 : 0;
  if (r.input < s->context) {  // its history was cut: nothing of what was kept begins alike
    std::fill(s->segments.begin(), s->segments.end(), 0U);
    s->context = 0;
    s->id = r.id;
  }
  const std::uint32_t fresh = r.input - s->context;
  s->segments.push_back(fresh + r.output);
  s->context += fresh + r.output;
}

void RequestSource::set_lengths(Request& r, Session& s, Random& random) {
  const RequestClass& kind = workload_.classes[s.request_class];
  std::uint32_t fresh = kind.input.draw(random);
  if (s.segments.empty()) fresh = std::max(fresh, kind.shared_prefix + 1);
  r.input = s.context + fresh;
  r.output = kind.output.draw(random);
  r.turn = static_cast<std::uint32_t>(s.segments.size());
  s.segments.push_back(fresh + r.output);
  s.context += fresh + r.output;
  --s.turns_left;
}

bool RequestSource::next_turn(std::uint32_t session, Request& r, Ticks when) {
  if (!wants_more(when)) {
    end_session(session);
    return false;
  }
  Session& s = sessions_[session];
  r.id = created_++;
  r.arrival = when;
  r.session = session;
  if (workload_.trace) {
    record(r, s.row, &s);
    return true;
  }
  r.request_class = s.request_class;
  r.group = s.group;
  r.priority = static_cast<std::uint8_t>(workload_.classes[s.request_class].priority);
  Random random(seed_, (s.id << 8) | (static_cast<std::uint64_t>(s.segments.size()) + 16) << 48);
  set_lengths(r, s, random);
  return true;
}

double RequestSource::finish_turn(const Request& r, Ticks now) {
  if (r.session == kNoSlot) return -1;
  Session& s = sessions_[r.session];
  if (s.turns_left == 0) {
    end_session(r.session);
    return -1;
  }
  if (workload_.trace) {
    const double due = workload_.trace->requests[s.row].arrival * trace_scale_;
    return std::max(0.0, std::min(due, kMostSeconds) - to_seconds(now));
  }
  const double think = workload_.classes[s.request_class].think_time;
  if (think <= 0) return 0;
  Random random(seed_, (s.id << 8) | 0x77U | (static_cast<std::uint64_t>(s.segments.size()) + 16) << 48);
  return std::min(think * random.exponential(), kLongestDraw);
}

std::optional<RequestSource::Task> RequestSource::task_after(const Request& r, Ticks now) {
  Session& s = sessions_[r.session];
  s.busy += now - r.arrival;
  if (s.turns_left > 0) return std::nullopt;
  return Task{now - s.start, s.busy};
}

void RequestSource::end_session(std::uint32_t session) {
  if (session != kNoSlot) free_sessions_.push_back(session);
}

void RequestSource::chunks_of(const Request& r, std::vector<Chunk>& chunks) const {
  chunks.clear();
  if (workload_.trace && r.session == kNoSlot) {
    const Trace& trace = *workload_.trace;
    if (trace.tokens_per_key == 0) return;
    const Trace::Request& recorded = trace.requests[r.trace_index];
    std::uint32_t left = r.input;
    for (std::uint32_t i = 0; i < recorded.key_count && left > 0; ++i) {
      const std::uint32_t tokens = std::min(left, trace.tokens_per_key);
      chunks.push_back({trace.keys[recorded.first_key + i], tokens});
      left -= tokens;
    }
    return;
  }
  const RequestClass& kind = workload_.classes[r.request_class];
  if (kind.shared_prefix > 0) {
    chunks.push_back({mixed_key(0x5000ULL + r.request_class, r.group), kind.shared_prefix});
  }
  if (r.session == kNoSlot) return;
  const Session& s = sessions_[r.session];
  const std::uint64_t first = first_turn_key(s.id);
  for (std::uint32_t i = 0; i < r.turn; ++i) {
    const std::uint32_t shared = i == 0 ? kind.shared_prefix : 0;
    const std::uint32_t tokens = s.segments[i] - std::min(shared, s.segments[i]);
    if (tokens > 0 || !workload_.trace) chunks.push_back({first + i, tokens});
  }
}

bool RequestSource::key_of_all(const Request& r, std::uint64_t& key) const {
  if (r.session == kNoSlot || sessions_[r.session].turns_left == 0) return false;
  key = first_turn_key(sessions_[r.session].id) + r.turn;
  return true;
}

double RequestSource::progress(Ticks now) const {
  // Whichever ends first.
  const double made = wanted_ > 0 ? static_cast<double>(created_) / static_cast<double>(wanted_) : 0;
  const double passed = last_ == kNever ? 0 : static_cast<double>(now) / static_cast<double>(last_);
  return std::max(made, passed);
}

}  // namespace ridge::serve
