#include "app/bench/http_client.hpp"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

namespace ridge::bench {

namespace {

constexpr int kBetweenTimes = 16;        ///< sockets served between two looks at the clock: others may be due
constexpr std::size_t kOneChunk = 1500;  ///< bytes; more are several chunks, which came one after the other
constexpr auto kCloseLook = std::chrono::microseconds(200);
constexpr auto kBetweenStallChecks = std::chrono::milliseconds(250);
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kOldest = std::chrono::minutes(10);
constexpr long kReceiveBuffer = 64 * 1024;
constexpr std::size_t kInOne = 16;  ///< slots of one curl multi handle, which asks all its connections which is free

Trouble trouble_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Trouble::none;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return Trouble::connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
      return Trouble::tls;
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
      return Trouble::reset;
    case CURLE_OPERATION_TIMEDOUT:
      return Trouble::timeout;
    default:
      return Trouble::other;
  }
}

/// When the kernel got the last of the bytes that wait at a socket (or, with `size` 1, the first), by its own stamp.
/// Nothing is taken away. No value where the kernel does not stamp, or nothing waits.
std::optional<Clock::time_point> arrival(int fd, std::size_t size, std::size_t& there) {
  static std::array<char, kReceiveBuffer> nowhere;  // never read: MSG_TRUNC copies nothing
  alignas(cmsghdr) std::array<char, 128> control;
  iovec into{nowhere.data(), size};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(fd, &message, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  there = got > 0 ? static_cast<std::size_t>(got) : 0;
  if (got <= 0) return {};
  for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(c))) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
    timespec wall{};
    clock_gettime(CLOCK_REALTIME, &wall);
    const Clock::time_point now = Clock::now();
    const auto age =
        std::chrono::seconds(wall.tv_sec - stamp.tv_sec) + std::chrono::nanoseconds(wall.tv_nsec - stamp.tv_nsec);
    return age.count() >= 0 && age < kOldest ? std::optional(now - age) : std::nullopt;  // the wall clock may be set
  }
  return {};
}

}  // namespace

std::string_view name(Trouble trouble) {
  static constexpr std::string_view kNames[] = {"none",    "no connection", "TLS",     "connection cut",
                                                "stalled", "took too long", "transfer"};
  return kNames[static_cast<std::size_t>(trouble)];
}

Result<Endpoint> read_url(const std::string& url) {
  const auto refuse = [&](const char* why) { return Error{ErrorCode::bad_input, "URL", why}; };
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parts(curl_url(), curl_url_cleanup);
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    return refuse("write http://HOST:PORT or https://HOST, with or without /v1");
  }
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    std::string out;
    if (curl_url_get(parts.get(), which, &text, 0) == CURLUE_OK && text != nullptr) out = text;
    curl_free(text);
    return out;
  };
  const std::string scheme = part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return refuse("only http and https are spoken");
  if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty()) {
    return refuse("no secret in the URL: others see it; put a key into $RIDGE_API_KEY");
  }
  if (!part(CURLUPART_QUERY).empty() || !part(CURLUPART_FRAGMENT).empty())
    return refuse("leave out what follows ? or #");
  std::string path = part(CURLUPART_PATH);
  while (path.ends_with('/')) path.pop_back();
  if (path.ends_with("/v1")) path.resize(path.size() - 3);
  const std::string port = part(CURLUPART_PORT);
  Endpoint out;
  out.host = part(CURLUPART_HOST);
  out.root = scheme + "://" + out.host + (port.empty() ? "" : ":" + port) + path;
  return out;
}

struct HttpClient::Core {
  struct Group;
  struct Transfer {
    CURL* easy = nullptr;
    Listener* listener = nullptr;  ///< nullptr = free
    std::string body;
    std::string path;
    char problem[CURL_ERROR_SIZE] = {};
    Clock::time_point begun, last;
    bool refused = false;    ///< by the listener
    bool connected = false;  ///< and about to ask
    Core* core = nullptr;
    Group* group = nullptr;
  };
  /// Transfers that share a curl multi handle, and so each other's connections.
  struct Group {
    Core* core = nullptr;
    CURLM* multi = curl_multi_init();
    Clock::time_point timer = Clock::time_point::max();
  };
  Options options;
  CURLSH* share = curl_share_init();  ///< addresses and TLS sessions are asked for once
  std::vector<std::unique_ptr<Group>> groups;
  curl_slist* headers = nullptr;
  int epoll = epoll_create1(EPOLL_CLOEXEC);  ///< what libcurl waits for
  std::vector<std::unique_ptr<Transfer>> transfers;
  std::vector<Group*> known;              ///< by socket
  Clock::time_point now = Clock::now();   ///< stamp of the next bytes that are handed over
  Clock::time_point rest = Clock::now();  ///< of those behind them in the same read
  Clock::time_point looked = Clock::now();
  Clock::time_point next_stall_check = Clock::now();
  bool something_ended = false;
  bool behind = false;  ///< the last look left sockets unserved
  bool slept = false;   ///< before this look
  LatencyDistribution delay;
  std::uint64_t unstamped = 0;

  explicit Core(const Options& given) : options(given) {
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    if (!options.key.empty()) headers = curl_slist_append(headers, ("Authorization: Bearer " + options.key).c_str());
  }
  ~Core() {
    for (auto& t : transfers) {
      if (!t || t->easy == nullptr) continue;
      if (t->listener != nullptr) curl_multi_remove_handle(t->group->multi, t->easy);
      curl_easy_cleanup(t->easy);
    }
    for (auto& g : groups) {
      if (g) curl_multi_cleanup(g->multi);
    }
    curl_share_cleanup(share);
    curl_slist_free_all(headers);
    close(epoll);
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  static int watch(CURL* /*easy*/, curl_socket_t fd, int what, void* closure, void* /*of_socket*/) {
    Group& g = *static_cast<Group*>(closure);
    Core& c = *g.core;
    const auto at = static_cast<std::size_t>(fd);
    if (c.known.size() <= at) c.known.resize(at + 1);
    const bool is_known = c.known[at] != nullptr;
    if (what == CURL_POLL_REMOVE) {
      if (is_known) epoll_ctl(c.epoll, EPOLL_CTL_DEL, fd, nullptr);
      c.known[at] = nullptr;
      return 0;
    }
    epoll_event wanted{};
    wanted.data.fd = fd;
    if ((what & CURL_POLL_IN) != 0) wanted.events |= EPOLLIN;
    if ((what & CURL_POLL_OUT) != 0) wanted.events |= EPOLLOUT;
    epoll_ctl(c.epoll, is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &wanted);
    if (!is_known) {
      const int on = 1;
      setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);  // where it fails, looks at the clock stand in
    }
    c.known[at] = &g;
    return 0;
  }
  static int set_timer(CURLM* /*multi*/, long ms, void* closure) {
    static_cast<Group*>(closure)->timer =
        ms < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(ms);
    return 0;
  }
  static int is_connected(void* closure, char* /*peer*/, char* /*here*/, int /*peer_port*/, int /*port*/) {
    static_cast<Transfer*>(closure)->connected = true;
    return CURL_PREREQFUNC_OK;
  }
  static std::size_t take_bytes(char* data, std::size_t /*one*/, std::size_t size, void* closure) {
    Transfer& t = *static_cast<Transfer*>(closure);
    t.last = t.core->now;
    t.core->now = t.core->rest;
    long status = 0;
    curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
    if (t.listener != nullptr && t.listener->bytes({data, size}, static_cast<int>(status), t.last)) return size;
    t.refused = true;
    return 0;
  }

  Group& group(std::size_t slot) {
    const std::size_t at = slot / kInOne;
    if (groups.size() <= at) groups.resize(at + 1);
    if (groups[at]) return *groups[at];
    groups[at] = std::make_unique<Group>();
    Group& g = *groups[at];
    g.core = this;
    curl_multi_setopt(g.multi, CURLMOPT_SOCKETFUNCTION, &Core::watch);
    curl_multi_setopt(g.multi, CURLMOPT_SOCKETDATA, &g);
    curl_multi_setopt(g.multi, CURLMOPT_TIMERFUNCTION, &Core::set_timer);
    curl_multi_setopt(g.multi, CURLMOPT_TIMERDATA, &g);
    curl_multi_setopt(g.multi, CURLMOPT_MAXCONNECTS, static_cast<long>(kInOne));
    curl_multi_setopt(g.multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    return g;
  }

  Transfer& transfer(std::size_t slot) {
    if (transfers.size() <= slot) transfers.resize(slot + 1);
    if (!transfers[slot]) transfers[slot] = std::make_unique<Transfer>();
    Transfer& t = *transfers[slot];
    if (t.easy != nullptr) return t;
    t.core = this;
    t.group = &group(slot);
    t.easy = curl_easy_init();
    curl_easy_setopt(t.easy, CURLOPT_SHARE, share);
    curl_easy_setopt(t.easy, CURLOPT_WRITEFUNCTION, &Core::take_bytes);
    curl_easy_setopt(t.easy, CURLOPT_WRITEDATA, &t);
    curl_easy_setopt(t.easy, CURLOPT_PRIVATE, &t);
    curl_easy_setopt(t.easy, CURLOPT_ERRORBUFFER, t.problem);
    curl_easy_setopt(t.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t.easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(t.easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t.easy, CURLOPT_PROXY, "");
    curl_easy_setopt(t.easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(t.easy, CURLOPT_HTTPHEADER, headers);
    if (!options.ca_file.empty()) curl_easy_setopt(t.easy, CURLOPT_CAINFO, options.ca_file.c_str());
    curl_easy_setopt(t.easy, CURLOPT_USERAGENT, "ridge-bench");
    curl_easy_setopt(t.easy, CURLOPT_BUFFERSIZE, kReceiveBuffer);
    // libcurl would keep a timer of each transfer for as long as it lasts, and sort it anew with every chunk that
    // comes: a seventh of all work at a thousand streams. check_stalls() looks after them instead.
    curl_easy_setopt(t.easy, CURLOPT_CONNECTTIMEOUT_MS, 0L);
    curl_easy_setopt(t.easy, CURLOPT_PREREQFUNCTION, &Core::is_connected);
    curl_easy_setopt(t.easy, CURLOPT_PREREQDATA, &t);
    return t;
  }

  void begin(Transfer& t, std::string_view path, Listener& listener) {
    t.listener = &listener;
    t.path = options.root + std::string(path);
    t.problem[0] = 0;
    t.refused = t.connected = false;
    t.begun = t.last = Clock::now();
    curl_easy_setopt(t.easy, CURLOPT_URL, t.path.c_str());
    curl_multi_add_handle(t.group->multi, t.easy);
    act(*t.group, CURL_SOCKET_TIMEOUT);  // it leaves now, not when all that are due have been added
  }

  /// `ready` says what epoll saw at the socket; without it libcurl would ask the kernel once more.
  static void act(Group& g, curl_socket_t fd, int ready = 0) {
    if (fd == CURL_SOCKET_TIMEOUT) g.timer = Clock::time_point::max();
    int running = 0;
    curl_multi_socket_action(g.multi, fd, ready, &running);
  }

  void end(Transfer& t, Trouble trouble, const std::string& detail) {
    long status = 0;
    char* to = nullptr;
    curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t.easy, CURLINFO_REDIRECT_URL, &to);
    const std::string location = to != nullptr ? to : "";
    curl_multi_remove_handle(t.group->multi, t.easy);
    Listener* listener = t.listener;
    t.listener = nullptr;
    something_ended = true;
    listener->ended(trouble, static_cast<int>(status), detail, location, t.last);
  }

  void collect(Group& g) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(g.multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      Transfer* t = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t);
      if (t == nullptr || t->listener == nullptr) continue;
      const std::string detail = t->problem[0] != 0 ? t->problem : curl_easy_strerror(code);
      end(*t, t->refused ? Trouble::none : trouble_of(code), code == CURLE_OK ? "" : detail);
    }
  }

  void serve_socket(const epoll_event& event, Clock::time_point seen) {
    const int fd = event.data.fd;
    Group* g = known[static_cast<std::size_t>(fd)];
    if (g == nullptr) return;
    if (!behind && seen - looked < kCloseLook) {
      // All that was ready at the last look was served then: these bytes came since, and asking the kernel when would
      // cost as much as reading them.
      now = rest = seen;
      delay.add(static_cast<std::int64_t>(seconds(Clock::now() - looked) * kTicksPerSecond));
    } else {
      std::size_t there = 0;
      std::size_t any = 0;
      const std::optional<Clock::time_point> last = arrival(fd, static_cast<std::size_t>(kReceiveBuffer), there);
      const std::optional<Clock::time_point> first = last && there > kOneChunk ? arrival(fd, 1, any) : last;
      rest = last.value_or(seen);
      now = std::min(first.value_or(seen), rest);
      // Without a stamp of the kernel, bytes may have come at any time since the last look, or woke this thread.
      if (there > 0) {
        unstamped += last ? 0 : 1;
        delay.add(
            static_cast<std::int64_t>(seconds(Clock::now() - last.value_or(slept ? seen : looked)) * kTicksPerSecond));
      }
    }
    int ready = 0;
    if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) ready |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) ready |= CURL_CSELECT_OUT;
    if ((event.events & EPOLLERR) != 0) ready |= CURL_CSELECT_ERR;
    act(*g, fd, ready);
    collect(*g);
  }

  /// Serves the timers that are over; returns when the next one is.
  Clock::time_point check_timers(Clock::time_point t) {
    Clock::time_point next = Clock::time_point::max();
    for (std::size_t i = 0; i < groups.size(); ++i) {  // whoever hears of an end may begin another
      if (groups[i] == nullptr) continue;
      Group& g = *groups[i];
      if (g.timer <= t) {
        now = rest = t;
        act(g, CURL_SOCKET_TIMEOUT);
      }
      collect(g);
      next = std::min(next, g.timer);
    }
    return next;
  }

  void check_stalls(Clock::time_point t) {
    if (t < next_stall_check) return;
    next_stall_check = t + kBetweenStallChecks;
    for (std::size_t i = 0; i < transfers.size(); ++i) {  // whoever hears of an end may begin another
      Transfer* one = transfers[i].get();
      if (one == nullptr || one->listener == nullptr) continue;
      if (!one->connected && seconds(t - one->begun) > options.connect_seconds) {
        end(*one, Trouble::connect, "nobody took the connection in time");
      } else if (seconds(t - one->begun) > options.request_seconds) {
        end(*one, Trouble::timeout, "longer than a request may take");
      } else if (seconds(t - one->last) > options.stall_seconds) {
        end(*one, Trouble::stall, "no byte came for too long");
      }
    }
  }

  void pump(Clock::time_point until) {
    something_ended = false;
    std::array<epoll_event, 512> events;
    while (true) {
      Clock::time_point t = Clock::now();
      check_stalls(t);
      const Clock::time_point timer = check_timers(t);
      const Clock::time_point wake = something_ended ? t : std::min({until, timer, next_stall_check});
      const auto wait = std::clamp<std::chrono::nanoseconds>(wake - t, std::chrono::nanoseconds(0), kLongestSleep);
      const timespec longest{wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
      const int n = epoll_pwait2(epoll, events.data(), static_cast<int>(events.size()), &longest, nullptr);
      t = Clock::now();
      slept = wait.count() > 0;
      bool left = n == static_cast<int>(events.size());
      for (int i = 0; i < n; ++i) {
        if (i % kBetweenTimes == kBetweenTimes - 1 && Clock::now() >= until) {  // what is left is told again
          left = true;
          break;
        }
        serve_socket(events[static_cast<std::size_t>(i)], t);
      }
      looked = t;
      behind = left;
      if (something_ended || t >= until) return;
    }
  }
};

HttpClient::HttpClient(const Options& options) {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(once);
  core_ = std::make_unique<Core>(options);
}
HttpClient::~HttpClient() = default;

void HttpClient::post(std::size_t slot, std::string_view path, std::string body, Listener& listener) {
  Core::Transfer& t = core_->transfer(slot);
  t.body = std::move(body);
  curl_easy_setopt(t.easy, CURLOPT_POST, 1L);
  curl_easy_setopt(t.easy, CURLOPT_POSTFIELDS, t.body.c_str());
  curl_easy_setopt(t.easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(t.body.size()));
  core_->begin(t, path, listener);
}
void HttpClient::get(std::size_t slot, std::string_view path, Listener& listener) {
  Core::Transfer& t = core_->transfer(slot);
  curl_easy_setopt(t.easy, CURLOPT_HTTPGET, 1L);
  core_->begin(t, path, listener);
}
void HttpClient::abort(std::size_t slot) {
  if (slot >= core_->transfers.size() || !core_->transfers[slot]) return;
  Core::Transfer& t = *core_->transfers[slot];
  if (t.listener == nullptr) return;
  curl_multi_remove_handle(t.group->multi, t.easy);
  t.listener = nullptr;
}
void HttpClient::pump(Clock::time_point until) {
  core_->pump(until);
}
const LatencyDistribution& HttpClient::delay() const {
  return core_->delay;
}
std::uint64_t HttpClient::unstamped() const {
  return core_->unstamped;
}

}  // namespace ridge::bench
