#include "app/bench/load_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "app/bench/prompts.hpp"
#include "app/bench/server_metrics.hpp"
#include "app/bench/stream_reader.hpp"
#include "catalogue/files/json_document.hpp"
#include "report/table/unicode.hpp"

namespace ridge::bench {

namespace {

using serve::Request;
using serve::Ticks;

constexpr double kRetrySeconds = 1;  ///< a client whose request failed waits as long, as in simulate()
constexpr std::size_t kMetricsSlot = 0;
constexpr std::size_t kPageSlot = 1;
constexpr std::size_t kFirstSlot = 2;
constexpr std::size_t kMostBody = 4'000'000;  ///< of an answer that is no stream
constexpr std::size_t kLongestTold = 300;
constexpr std::size_t kLongestModel = 256;
constexpr double kSlackTokens = 64;  ///< above what was asked for, before a stream is said never to end
constexpr auto kBetweenViews = std::chrono::milliseconds(250);
constexpr auto kBetweenQuestions = std::chrono::milliseconds(20);  ///< whether to go on: a view costs 7 us, a send 30

/// What a server says, for a terminal: it may hold whatever moves a cursor.
std::string told(std::string_view text) {
  return printable(text.substr(0, kLongestTold));
}

/// A page that is read whole.
class PageListener final : public Listener {
 public:
  bool bytes(std::string_view text, int /*status*/, Clock::time_point /*when*/) override {
    body.append(text);
    return body.size() <= kMostBody;
  }
  void ended(Trouble t, int code, const std::string& what, const std::string& to, Clock::time_point) override {
    over = true;
    trouble = t;
    status = code;
    detail = told(to.empty() ? what : "redirects to " + to);
  }
  std::string body, detail;
  int status = 0;
  Trouble trouble = Trouble::none;
  bool over = false;
};

class Run;

/// One request under way.
class Flight final : public Listener {
 public:
  Flight(Run& run, std::size_t at) : run_(run), slot(at) {}
  void begin(bool keeps_text) { reader = StreamReader(keeps_text); }
  bool bytes(std::string_view text, int status, Clock::time_point when) override;
  void ended(Trouble trouble, int status, const std::string& detail, const std::string& location,
             Clock::time_point when) override;

 private:
  Run& run_;

 public:
  std::size_t slot;
  Request request;
  bool counted = true;
  StreamReader reader;
  std::string page;  ///< of an answer with another status than 200
  Clock::time_point sent, first, last;
  std::uint32_t chunks = 0;
};

class Run {
 public:
  explicit Run(const BenchSetup& setup)
      : setup_(setup),
        client_(setup.client),
        source_(setup.query),
        prompts_({setup.chat, setup.words, setup.plain, setup.model, setup.salt}) {}

  Result<BenchResult> run() {
    if (const Status s = find_model(); !s) return s.error();
    if (const Status s = warm_up(); !s) return s.error();
    measure();
    finish();
    return std::move(result_);
  }

  void flight_ended(Flight& f, const std::string& kind, const std::string& detail, Clock::time_point last_byte);
  void gap(Clock::duration d) { pending_gaps_.push_back(d); }

 private:
  struct Later {
    Clock::time_point time;
    std::uint64_t order;
    std::uint32_t client;
    std::uint32_t session;
    bool operator<(const Later& o) const { return time != o.time ? time > o.time : order > o.order; }
  };

  [[nodiscard]] Ticks ticks(Clock::time_point t) const {
    return static_cast<Ticks>(seconds(t - start_) * kTicksPerSecond);
  }
  [[nodiscard]] Clock::time_point time_of(Ticks t) const {
    return start_ + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(static_cast<double>(t) / kTicksPerSecond));
  }
  PageListener fetch(std::string_view path) {
    PageListener page;
    client_.get(kPageSlot, path, page);
    while (!page.over && !stopped()) client_.pump(Clock::now() + kBetweenViews);
    if (!page.over) client_.abort(kPageSlot);
    return page;
  }
  [[nodiscard]] bool stopped() {
    const Clock::time_point now = Clock::now();
    if (!setup_.go_on || stopped_ || now < next_view_) return stopped_;
    next_view_ = now + kBetweenQuestions;
    return stopped_ = !setup_.go_on(view());
  }

  Status find_model() {
    result_.url = setup_.client.root;
    result_.model = setup_.model;
    const PageListener page = fetch("/v1/models");
    if (page.trouble != Trouble::none && page.trouble != Trouble::other) {
      return Error{ErrorCode::refused, setup_.client.root, fmt::format("{}: {}", name(page.trouble), page.detail)};
    }
    if (!result_.model.empty()) return {};
    const Result<JsonNode> root = parse_json(page.body, "/v1/models");
    const JsonNode* data = root && page.status == 200 ? root->find("data") : nullptr;
    const JsonNode* id = data != nullptr && !data->items.empty() ? data->items.front().find("id") : nullptr;
    if (id == nullptr || id->kind != JsonNode::Kind::text) {
      return Error{ErrorCode::refused, setup_.client.root + "/v1/models",
                   fmt::format("answers {}{}{} and names no model: say it by ⟦served_model_name⟧", page.status,
                               page.detail.empty() ? "" : ", ", page.detail)};
    }
    if (id->text.size() > kLongestModel || printable(id->text) != id->text) {
      return Error{
          ErrorCode::refused, setup_.client.root + "/v1/models",
          fmt::format("names a model '{}' that no request could name: say it by ⟦served_model_name⟧", told(id->text))};
    }
    result_.model = id->text;
    prompts_ = PromptWriter({setup_.chat, setup_.words, setup_.plain, result_.model, setup_.salt});
    return {};
  }

  Flight& flight() {
    if (!free_.empty()) {
      const std::size_t at = free_.back();
      free_.pop_back();
      return *flights_[at];
    }
    flights_.push_back(std::make_unique<Flight>(*this, flights_.size() + kFirstSlot));
    return *flights_.back();
  }

  void send(Flight& f, std::string body) {
    f.chunks = 0;
    f.page.clear();
    f.begin(f.request.session != serve::kNoSlot);
    f.sent = Clock::now();
    ++in_flight_;
    client_.post(f.slot, setup_.chat ? "/v1/chat/completions" : "/v1/completions", std::move(body), f);
  }

  /// Some requests that are not counted: connections open, kernels are compiled, and words are counted.
  Status warm_up() {
    const Workload& w = setup_.query.workload;
    const bool talks = w.mean_turns() > 1;
    const bool words = setup_.chat || setup_.words || talks;
    const auto output = static_cast<std::uint32_t>(std::clamp(w.mean_output(), 1.0, 32.0));
    const auto input = static_cast<std::uint32_t>(std::clamp(w.mean_input(), 16.0, 4096.0));
    std::vector<std::pair<double, double>> counted;  // words and tokens
    const int probes = std::max(setup_.warmup, words ? 2 : 1);
    for (int i = 0; i < probes && !stopped(); ++i) {
      Flight& f = flight();
      f.request = Request{};
      f.counted = false;
      const std::uint32_t length = i % 2 == 0 ? 16 : input + 16;
      send(f, prompts_.probe(static_cast<std::uint64_t>(i), length, output, words));
      while (in_flight_ > 0 && !stopped()) client_.pump(Clock::now() + kBetweenViews);
      if (!warm_error_.empty()) {
        return Error{ErrorCode::refused, setup_.client.root, "the first requests fail: " + warm_error_};
      }
      ++result_.warmups;
      if (warm_usage_) counted.emplace_back(length, static_cast<double>(warm_usage_->prompt));
    }
    if (words && counted.size() >= 2) {
      const double per = (counted[1].second - counted[0].second) / (counted[1].first - counted[0].first);
      if (per > 0.2 && per < 20) prompts_.correct(per, counted[0].second - per * counted[0].first);
    }
    return {};
  }

  void start(Request r, Clock::time_point due) {
    Flight& f = flight();
    f.request = r;
    f.counted = true;
    std::string body = prompts_.body(f.request, source_);
    ++result_.sent;
    result_.asked_input += r.input;
    result_.asked_output += r.output;
    send(f, std::move(body));
    if (due <= start_) {  // nobody sends a thousand at once: how long they took is said apart
      ++result_.begun_with;
      result_.begun_in = seconds(f.sent - due);
      return;
    }
    result_.send_delay.add(std::max<Ticks>(0, static_cast<Ticks>(seconds(f.sent - due) * kTicksPerSecond)));
  }

  void client_sends(const Later& later) {
    Request r;
    r.client = later.client;
    const Ticks when = ticks(later.time);
    const bool sends =
        later.session == serve::kNoSlot ? source_.start_at(r, when) : source_.next_turn(later.session, r, when);
    if (sends) start(r, later.time);
  }

  void measure() {
    start_ = Clock::now();
    const bool closed = setup_.query.load.kind == OfferedKind::concurrency;
    if (closed) {
      const auto clients = static_cast<std::uint32_t>(setup_.query.load.concurrency);
      for (std::uint32_t c = 0; c < clients; ++c) later_.push({start_, orders_++, c, serve::kNoSlot});
    }
    next_metrics_ = setup_.read_metrics ? start_ : Clock::time_point::max();
    Clock::time_point area_since = start_;
    double area = 0;
    while (!stopped()) {
      Clock::time_point now = Clock::now();
      while (source_.next() != serve::kNever && time_of(source_.next()) <= now) {
        const Clock::time_point due = time_of(source_.next());
        Request r;
        source_.start(r);
        start(r, due);
      }
      while (!later_.empty() && later_.top().time <= now) {
        const Later next = later_.top();
        later_.pop();
        client_sends(next);
      }
      const bool waits = source_.next() != serve::kNever || !later_.empty();
      if (!waits && in_flight_ == 0) break;
      read_metrics(now);
      Clock::time_point until = now + kBetweenViews;
      if (source_.next() != serve::kNever) until = std::min(until, time_of(source_.next()));
      if (!later_.empty()) until = std::min(until, later_.top().time);
      const auto before = static_cast<double>(in_flight_);
      client_.pump(std::max(until, now));
      now = Clock::now();
      area += before * seconds(now - area_since);
      area_since = now;
    }
    end_ = std::max(last_token_, start_);
    result_.mean_in_flight = area / std::max(1e-9, seconds(area_since - start_));
    result_.stopped_early = stopped_;
    result_.unfinished = in_flight_;
  }

  void read_metrics(Clock::time_point now) {
    if (metrics_page_.over) {
      metrics_page_.over = false;
      if (metrics_page_.status != 200 || !sampler_.add(metrics_page_.body)) {
        next_metrics_ = Clock::time_point::max();
      } else {
        next_metrics_ = now + std::chrono::seconds(1);
      }
      asking_ = false;
    }
    if (asking_ || now < next_metrics_) return;
    asking_ = true;
    metrics_page_ = PageListener();
    client_.get(kMetricsSlot, "/metrics", metrics_page_);
  }

  void finish() {
    BenchResult& r = result_;
    r.makespan = std::max(1e-9, seconds(end_ - start_));
    r.requests_per_s = static_cast<double>(r.finished) / r.makespan;
    r.output_tokens_per_s = static_cast<double>(r.output_tokens) / r.makespan;
    r.total_tokens_per_s = static_cast<double>(r.output_tokens + r.input_tokens) / r.makespan;
    r.goodput = static_cast<double>(r.good) / r.makespan;
    r.receive_delay = client_.delay();
    r.unstamped = client_.unstamped();
    r.server = sampler_.result();
    const double tokens = static_cast<double>(r.output_tokens);
    r.itl_per_token_share = tokens > 0 ? static_cast<double>(chunks_) / tokens : 1;
  }

  [[nodiscard]] BenchView view() const {
    BenchView v;
    v.share = source_.progress(ticks(Clock::now()));
    v.seconds = seconds(Clock::now() - start_);
    v.finished = result_.finished;
    v.failed = result_.failed;
    v.in_flight = in_flight_;
    v.ttft_p50 = result_.ttft.p50();
    v.ttft_p99 = result_.ttft.p99();
    v.tpot_p50 = result_.tpot.p50();
    v.tpot_p99 = result_.tpot.p99();
    v.output_tokens_per_s = v.seconds > 0 ? static_cast<double>(result_.output_tokens) / v.seconds : 0;
    return v;
  }

  void count(const Flight& f);

  const BenchSetup& setup_;
  HttpClient client_;
  serve::RequestSource source_;
  PromptWriter prompts_;
  BenchResult result_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<std::size_t> free_;
  std::priority_queue<Later> later_;
  std::uint64_t orders_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t chunks_ = 0;
  std::vector<Clock::duration> pending_gaps_;
  std::string warm_error_;
  std::optional<Usage> warm_usage_;
  PageListener metrics_page_;
  MetricsSampler sampler_;
  bool asking_ = false;
  bool stopped_ = false;
  Clock::time_point start_ = Clock::now(), end_ = start_, last_token_ = start_, next_metrics_ = start_,
                    next_view_ = start_;
};

bool Flight::bytes(std::string_view text, int status, Clock::time_point when) {
  if (status != 200) {
    if (page.size() < 2000) page.append(text.substr(0, 2000));
    return true;
  }
  reader.feed(text);
  if (reader.failed()) return false;
  if (reader.chunks() > chunks) {
    if (chunks == 0) {
      first = when;
    } else if (counted) {
      run_.gap(when - last);
    }
    last = when;
    chunks = reader.chunks();
    if (chunks > request.output + kSlackTokens && request.output > 0 && counted) return false;
  }
  return true;
}

void Flight::ended(Trouble trouble, int status, const std::string& detail, const std::string& location,
                   Clock::time_point when) {
  std::string kind;
  std::string text = detail;
  if (status >= 300 && status < 400) {
    kind = "redirect";
    text = "to " + location + ": not followed";
  } else if (status != 0 && status != 200) {
    kind = fmt::format("HTTP {}", status);
    Piece piece;
    text = read_piece(page, piece) && !piece.error.empty() ? piece.error : page.substr(0, 200);
  } else if (trouble != Trouble::none) {
    kind = std::string(name(trouble));
  } else {
    // Who is stopped for saying too much is cut anywhere: what is left of its last line is nobody's fault.
    const bool endless = counted && reader.chunks() > request.output + kSlackTokens;
    if (!reader.failed() && !endless) reader.finish();
    if (endless) {
      kind = "never ends";
      text = "more came than was asked for";
    } else if (reader.failed()) {
      kind = reader.problem();
      text = reader.detail();
    } else if (chunks == 0) {
      kind = "empty answer";
      text = "no text came";
    } else if (!reader.complete()) {
      kind = "cut short";
      text = "the stream ended without saying so";
    }
  }
  run_.flight_ended(*this, kind, told(text), when);
}

void Run::count(const Flight& f) {
  BenchResult& r = result_;
  const std::optional<Usage>& usage = f.reader.usage();
  const bool by_server = usage && usage->completion > 0;
  const std::uint64_t output = by_server ? usage->completion : f.reader.chunks();
  ++(by_server ? r.counted_by_server : r.counted_by_chunk);
  if (output < f.request.output) ++r.short_answers;
  r.input_tokens += usage && usage->prompt > 0 ? usage->prompt : f.request.input;
  r.cached_tokens += usage ? usage->cached : 0;
  r.output_tokens += output;
  chunks_ += f.reader.chunks();
  ++r.finished;
  last_token_ = std::max(last_token_, f.last);
  const Ticks ttft = ticks(f.first) - ticks(f.sent);
  const Ticks e2e = ticks(f.last) - ticks(f.sent);
  const Ticks tpot = output > 1 ? (ticks(f.last) - ticks(f.first)) / static_cast<Ticks>(output - 1) : 0;
  r.ttft.add(std::max<Ticks>(0, ttft));
  r.e2e.add(std::max<Ticks>(0, e2e));
  if (output > 1) r.tpot.add(std::max<Ticks>(0, tpot));
  const SimulationQuery& q = setup_.query;
  const RequestClass* kind = q.workload.trace ? nullptr : &q.workload.classes[f.request.request_class];
  const double ttft_limit = kind != nullptr && kind->ttft_limit > 0 ? kind->ttft_limit : q.limits.ttft;
  const double tpot_limit = kind != nullptr && kind->tpot_limit > 0 ? kind->tpot_limit : q.limits.tpot;
  const auto holds = [](Ticks t, double limit) {
    return limit <= 0 || static_cast<double>(t) / kTicksPerSecond <= limit;
  };
  if (holds(ttft, ttft_limit) && holds(tpot, tpot_limit) && holds(e2e, q.limits.e2e)) ++r.good;
}

void Run::flight_ended(Flight& f, const std::string& kind, const std::string& detail, Clock::time_point last_byte) {
  --in_flight_;
  const Clock::time_point now = Clock::now();
  free_.push_back(f.slot - kFirstSlot);
  if (!f.counted) {
    warm_error_ = kind.empty() ? "" : fmt::format("{} ({})", kind, detail);
    warm_usage_ = f.reader.usage();
    pending_gaps_.clear();
    return;
  }
  const bool good = kind.empty();
  if (good) {
    count(f);
    prompts_.answered(f.request, f.reader.text());
  } else {
    ++result_.failed;
    ++result_.errors[kind];
    result_.error_text.try_emplace(kind, detail);
  }
  for (const Clock::duration d : pending_gaps_) {
    result_.itl.add(static_cast<Ticks>(seconds(d) * kTicksPerSecond));
  }
  pending_gaps_.clear();
  if (setup_.hear) {
    RequestRecord record;
    record.id = f.request.id;
    record.input = f.request.input;
    record.output = f.request.output;
    record.end = good ? RequestRecord::End::finished : RequestRecord::End::rejected;
    record.arrival = record.scheduled = ticks(f.sent);
    record.first_token = f.chunks > 0 ? ticks(f.first) : ticks(now);
    record.last_token = f.chunks > 0 ? ticks(f.last) : ticks(now);
    if (f.reader.usage()) record.cached = static_cast<std::uint32_t>(f.reader.usage()->cached);
    setup_.hear(record);
  }

  // As a client of simulate() goes on: the next turn, or the next request of a closed loop.
  const bool closed = setup_.query.load.kind == OfferedKind::concurrency;
  std::uint32_t session = serve::kNoSlot;
  double think = -1;
  if (good) {
    think = source_.finish_turn(f.request, ticks(now));
    if (think >= 0) session = f.request.session;
  } else {
    source_.end_session(f.request.session);
  }
  if (session == serve::kNoSlot) prompts_.forget(f.request);
  if (stopped_ || (session == serve::kNoSlot && !closed)) return;
  const double wait = std::max(0.0, think) + (!good && closed ? kRetrySeconds : 0);
  // The answer was there when the kernel had it, not when it was read: the difference is this client's own delay.
  const Clock::time_point heard = good ? std::max(last_byte, f.last) : now;
  const Later next{heard + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wait)), orders_++,
                   f.request.client, session};
  if (wait <= 0) {
    client_sends(next);
  } else {
    later_.push(next);
  }
}

}  // namespace

Result<BenchResult> run_bench(const BenchSetup& setup) {
  return Run(setup).run();
}

}  // namespace ridge::bench
