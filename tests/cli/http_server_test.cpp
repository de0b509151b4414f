// The server on real sockets: what it writes for its operator, and how it ends.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "app/http/server.hpp"

namespace ridge::http {
namespace {

/// Sends the text as it is and reads until the server closes.
std::string send_raw(int port, const std::string& text) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    if (send(s, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size())) {
      char buffer[4096];
      for (ssize_t n = 0; (n = recv(s, buffer, sizeof buffer, 0)) > 0;) {
        answer.append(buffer, static_cast<std::size_t>(n));
      }
    }
  }
  close(s);
  return answer;
}

std::string get(int port, const std::string& path) {
  return send_raw(port, "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
}

TEST(HttpServer, WhatThrowsIsAnswered500AndTheProgramGoesOn) {
  Response response;
  std::thread job([&] { response = guarded([]() -> Response { throw std::length_error("too long"); }); });
  job.join();
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("too long"), std::string::npos);
  const auto server = Server::start({.port = 0}, [](const Request& r, bool) -> Response {
    if (r.path == "/other") throw 5;
    throw std::bad_alloc();
  });
  ASSERT_TRUE(server);
  for (const char* path : {"/", "/", "/other", "/other"}) {
    EXPECT_NE(get(server->port(), path).find(" 500 "), std::string::npos) << path;
  }
}

// Of a length that is said twice, a proxy before the server may take the other: what follows would be a request that
// the proxy never saw. So the connection ends with the refusal.
TEST(HttpServer, ABodyHasOneLengthOrTheConnectionEnds) {
  std::atomic<int> asked = 0;
  const auto server = Server::start({.port = 0}, [&](const Request&, bool) {
    ++asked;
    return Response::json(200, "{}");
  });
  ASSERT_TRUE(server);
  const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  for (const std::string head :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n\r\n", "Content-Length: 0, 5\r\n\r\n",
        "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n", "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: xchunked\r\n\r\n"}) {
    const std::string answer = send_raw(server->port(), "POST / HTTP/1.1\r\nHost: localhost\r\n" + head + smuggled);
    EXPECT_NE(answer.find(" 400 "), std::string::npos) << head << answer;
    EXPECT_EQ(answer.find(" 200 "), std::string::npos) << head << answer;
  }
  EXPECT_EQ(asked, 0);
}

TEST(HttpServer, AnAddressIsAPathWithoutZeroBytes) {
  const auto server = Server::start({.port = 0}, [](const Request& r, bool) { return Response::json(200, r.path); });
  ASSERT_TRUE(server);
  EXPECT_NE(get(server->port(), "/a?b=c").find(" 200 "), std::string::npos);
  for (const char* path : {"?a=b", "*", "?", "http://localhost/", "/%00", "/a?b=c%00d", "/a?%00"}) {
    EXPECT_NE(get(server->port(), path).find(" 400 "), std::string::npos) << path;
  }
}

TEST(HttpServer, ABodyThatIsTooLargeIsRefusedBeforeItIsSentAndCutIfItHasNoLength) {
  const auto server =
      Server::start({.port = 0, .body_limit = 1000}, [](const Request&, bool) { return Response::json(200, "{}"); });
  ASSERT_TRUE(server);
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_NE(send_raw(server->port(), head + "Content-Length: 1000000000\r\n\r\n").find(" 413 "), std::string::npos);
  EXPECT_NE(
      send_raw(server->port(), head + "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n").find("HTTP/1.1 413"),
      std::string::npos);
  std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  std::string endless = head + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string fair = endless + chunk + "0\r\n\r\n";
  EXPECT_NE(send_raw(server->port(), fair + head + "Connection: close\r\n\r\n").find(" 413 "), std::string::npos);
  for (int i = 0; i < 80; ++i) endless += chunk;  // five megabytes
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(send_raw(server->port(), endless), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "not cut, but timed out";
}

TEST(HttpServer, AnswersThatNobodyTakesAreNotMadeWithoutEnd) {
  // Sixty connections that ask for three megabytes each and read nothing: some are refused.
  std::atomic<int> refused = 0;
  const auto server = Server::start(
      {.port = 0}, [](const Request&, bool) { return Response::json(200, std::string(3 << 20, ' ')); },
      [&](std::string_view line) { refused += line.find(" 503 ") != std::string_view::npos ? 1 : 0; });
  ASSERT_TRUE(server);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(server->port()));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<int> held;
  for (int i = 0; i < 60; ++i) {
    const int s = held.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    const int small = 4096;
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    ASSERT_EQ(connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    const std::string text = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    ASSERT_EQ(send(s, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  for (int i = 0; i < 500 && refused < 30; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(refused, 30);
  EXPECT_LT(refused, 60);
  for (const int s : held) close(s);
}

TEST(HttpServer, WritesNoControlCharactersOfAPathToTheLog) {
  std::mutex mutex;
  std::string lines;
  {
    const auto server = Server::start(
        {.port = 0}, [](const Request&, bool) { return Response::json(200, "{}"); },
        [&](std::string_view line) {
          const std::lock_guard lock(mutex);
          lines += line;
        });
    ASSERT_TRUE(server);
    EXPECT_NE(get(server->port(), "/%1b[2Jgone%0afaked").find("200 OK"), std::string::npos);
  }
  EXPECT_NE(lines.find("[2Jgone faked"), std::string::npos) << lines;
  EXPECT_EQ(lines.find('\x1b'), std::string::npos);
  EXPECT_EQ(lines.find('\n'), std::string::npos);
}

TEST(HttpServer, ARequestThatIsDeferredWhileTheServerEndsDoesNotKeepItFromEnding) {
  std::promise<void> asked;
  std::promise<void> closing;
  std::optional<Server> server;
  {
    auto started = Server::start({.port = 0}, [&](const Request&, bool may_take_long) {
      if (may_take_long) return Response::json(200, "{}");
      asked.set_value();
      closing.get_future().wait();
      return Response::later(Weight::heavy, "");
    });
    ASSERT_TRUE(started);
    server.emplace(*std::move(started));
  }
  const int port = server->port();
  std::thread client([&] { (void)get(port, "/"); });
  asked.get_future().wait();
  std::atomic<bool> ended = false;
  std::thread ending([&] {
    server.reset();
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until its workers are gone
  closing.set_value();
  for (int i = 0; i < 500 && !ended; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(ended);
  ending.join();
  client.join();
}

// Every worker has something to do for longer than the second may wait: it is told when its time is over.
TEST(HttpServer, WhoWaitedTooLongIsToldSoThoughNoWorkerIsFree) {
  std::promise<void> begun;
  std::promise<void> enough;
  auto server =
      // Long enough that a worker which stands back takes the first in time on a machine with other work.
      Server::start({.port = 0, .heavy_threads = 1, .waiting_s = 2}, [&](const Request& request, bool may_take_long) {
        if (!may_take_long) return Response::later(Weight::heavy, request.path);
        if (request.path == "/first") {
          begun.set_value();
          enough.get_future().wait();
        }
        return Response::json(200, "{}");
      });
  ASSERT_TRUE(server);
  std::thread first([port = server->port()] { (void)get(port, "/first"); });
  begun.get_future().wait();
  const std::string answer = get(server->port(), "/second");
  EXPECT_NE(answer.find(" 503 "), std::string::npos) << answer;
  EXPECT_NE(answer.find("waited too long"), std::string::npos) << answer;
  enough.set_value();
  first.join();
}

// Work that does not look at its time: its client is told when it is over, the worker that nobody waits for it, and
// what it answers later goes nowhere.
TEST(HttpServer, WhatDoesNotEndByItselfIsAnsweredInTimeAllTheSame) {
  std::promise<bool> was_told;
  std::atomic<bool> over = false;
  {
    const auto server = Server::start({.port = 0, .answering_s = 0.2}, [&](const Request& request, bool may_take_long) {
      if (!may_take_long) return Response::later(Weight::heavy, "");
      for (int i = 0; i < 500 && !(over && *request.left); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      was_told.set_value(*request.left);
      return Response::json(200, "{}");
    });
    ASSERT_TRUE(server);
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = get(server->port(), "/");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    EXPECT_NE(answer.find(" 503 "), std::string::npos) << answer;
    EXPECT_NE(answer.find("its time is over"), std::string::npos) << answer;
    over = true;
    EXPECT_TRUE(was_told.get_future().get());
  }
}

TEST(HttpServer, WhatIsDeferredAsShortMayBeDeferredOnceMoreAsHeavy) {
  std::atomic<int> turns = 0;
  const auto server = Server::start({.port = 0}, [&](const Request& request, bool may_take_long) {
    ++turns;
    if (!may_take_long) return Response::later(Weight::light, "somebody");
    if (request.taken_for == Weight::light) return Response::later(Weight::heavy, "somebody");
    return Response::json(200, "{}");
  });
  ASSERT_TRUE(server);
  EXPECT_NE(get(server->port(), "/").find(" 200 "), std::string::npos);
  EXPECT_EQ(turns, 3);
}

}  // namespace
}  // namespace ridge::http
