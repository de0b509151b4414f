// The oracle: continuous batching written down as plainly as possible. Every step looks at every sequence; nothing is
// skipped, nothing is cached. Chunked prefill, first come first served, blocks as sequences grow, recompute; new
// requests are looked for after prompts, when nothing runs, and else once in poll_steps.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "serve/engine/step_clock.hpp"
#include "support.hpp"

namespace ridge::testing_support {

struct PlainTimes {
  serve::Ticks first = -1;
  serve::Ticks last = -1;
};

inline std::vector<PlainTimes> plain_loop(const std::vector<Trace::Request>& requests, const serve::StepModel& model,
                                          const serve::EngineShape& shape, bool chunked) {
  using serve::Ticks;
  struct Sequence {
    std::size_t id;
    std::int64_t input, output, generated, cache, target;
    [[nodiscard]] bool decodes() const { return cache >= target; }
  };
  serve::StepClock clock(model, shape);
  const std::int64_t block = shape.block_tokens;
  const auto blocks = [&](const Sequence& s) { return (std::max(s.cache, s.target) + block - 1) / block; };
  std::vector<PlainTimes> times(requests.size());
  std::deque<Sequence> queue;
  std::vector<Sequence> running;
  std::size_t next = 0;
  std::size_t done = 0;
  Ticks now = 0;
  std::uint64_t unpolled = shape.poll_steps;
  while (done < requests.size()) {
    const bool looks = unpolled >= shape.poll_steps || running.empty();
    if (looks) unpolled = 0;
    while (looks && next < requests.size() && serve::to_ticks(requests[next].arrival) <= now) {
      queue.push_back({next, requests[next].input, requests[next].output, 0, 0, requests[next].input});
      ++next;
    }
    if (queue.empty() && running.empty()) {
      now = serve::to_ticks(requests[next].arrival);
      continue;
    }
    const auto used = [&] {
      std::int64_t sum = 0;
      for (const Sequence& s : running) sum += blocks(s);
      return sum;
    };
    const auto needed = [&] {
      std::int64_t sum = 0;
      for (const Sequence& s : running) sum += s.decodes() && s.cache % block == 0 ? 1 : 0;
      return sum;
    };
    bool preempted = false;
    const auto make_room = [&] {
      while (needed() > shape.blocks - used()) {
        Sequence s = running.back();
        running.pop_back();
        s.cache = 0;
        s.target = s.input + s.generated;
        queue.push_front(s);
        preempted = true;
      }
    };
    if (chunked) make_room();
    const auto decoders = [&] {
      return std::count_if(running.begin(), running.end(), [](auto& s) { return s.decodes(); });
    };
    std::int64_t budget = shape.max_tokens - (chunked ? decoders() : 0);
    std::vector<std::pair<std::size_t, std::int64_t>> parts;
    for (std::size_t i = 0; i < running.size() && budget > 0; ++i) {
      if (running[i].decodes()) continue;
      const std::int64_t tokens = std::min(budget, running[i].target - running[i].cache);
      parts.push_back({i, tokens});
      budget -= tokens;
    }
    while (!preempted && budget > 0 && !queue.empty() &&
           static_cast<std::int64_t>(running.size()) < shape.max_sequences &&
           blocks(queue.front()) <= shape.blocks - used() - needed()) {
      running.push_back(queue.front());
      queue.pop_front();
      const std::int64_t tokens = std::min(budget, running.back().target - running.back().cache);
      parts.push_back({running.size() - 1, tokens});
      budget -= tokens;
    }
    const bool decode = chunked || parts.empty();
    if (!chunked && parts.empty()) make_room();
    std::int64_t context = 0;
    std::int64_t count = 0;
    for (const Sequence& s : running) {
      if (!s.decodes() || !decode) continue;
      context += s.cache + 1;
      ++count;
    }
    if (count > 0) context /= count;
    if (parts.empty()) {
      now += clock.decode(static_cast<std::uint32_t>(count), context);
    } else {
      serve::PrefillShape prefill;
      for (const auto& [i, tokens] : parts) {
        const auto q = static_cast<double>(tokens);
        prefill.tokens += q;
        prefill.prompts += 1;
        prefill.pairs += q * (static_cast<double>(running[i].cache) + 0.5 * q);
        prefill.longest = std::max(prefill.longest, q);
      }
      serve::Work ignored;
      now += clock.mixed(static_cast<std::uint32_t>(count), context, prefill, ignored);
    }
    unpolled = parts.empty() ? unpolled + 1 : shape.poll_steps;
    for (Sequence& s : running) {
      if (!s.decodes() || !decode) continue;
      ++s.cache;
      ++s.generated;
    }
    for (const auto& [i, tokens] : parts) {
      Sequence& s = running[i];
      s.cache += tokens;
      if (s.cache < s.target) continue;
      ++s.generated;
      if (times[s.id].first < 0) times[s.id].first = now;
    }
    for (std::size_t i = 0; i < running.size();) {
      if (running[i].generated < running[i].output) {
        ++i;
        continue;
      }
      times[running[i].id].last = now;
      ++done;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return times;
}

}  // namespace ridge::testing_support
