// Parts of the server without sockets: whose turn it is, whom a request is for, which connection makes room.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "app/http/connections.hpp"
#include "app/http/fair_queue.hpp"
#include "app/http/origin.hpp"
#include "app/http/server.hpp"

namespace ridge::http {
namespace {

TEST(FairQueue, WhoBringsOneWaitsForOneThoughAnotherBroughtAHundred) {
  FairQueue<int> queue({.of_one = 200, .of_all = 500});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(queue.push("many", i));
  EXPECT_TRUE(queue.push("one", 1000));
  EXPECT_EQ(queue.pop()->client, "many");
  EXPECT_EQ(queue.pop()->value, 1000);
  EXPECT_EQ(queue.pop()->value, 1);
}

TEST(FairQueue, NobodyHasMoreRunningOrWaitingThanTheirShare) {
  FairQueue<int> queue({.of_one = 2, .of_all = 3, .running_of_one = 1});
  EXPECT_TRUE(queue.push("a", 1));
  EXPECT_TRUE(queue.push("a", 2));
  EXPECT_FALSE(queue.push("a", 3)) << "two of one wait";
  EXPECT_TRUE(queue.push("b", 4));
  EXPECT_FALSE(queue.push("c", 5)) << "three wait";
  EXPECT_EQ(queue.pop()->value, 1);
  EXPECT_EQ(queue.pop()->value, 4);
  EXPECT_FALSE(queue.pop()) << "both have one running";
  queue.done("a");
  EXPECT_EQ(queue.pop()->value, 2);
}

TEST(FairQueue, WhatIsTakenOutIsNotServed) {
  FairQueue<int> queue({});
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(queue.push(i % 2 == 0 ? "even" : "odd", i));
  EXPECT_EQ(queue.take_if([](int i) { return i < 3; }), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(queue.waiting(), 3u);
  EXPECT_EQ(queue.clear().size(), 3u);
  EXPECT_FALSE(queue.pop());
}

TEST(Host, IsANameOrAddressAndPerhapsAPortAndNothingElse) {
  EXPECT_EQ(parse_host("LOCALHOST")->name, "localhost");
  EXPECT_EQ(parse_host("localhost:8080")->port, 8080);
  EXPECT_EQ(parse_host("[::1]:8080")->name, "::1");
  EXPECT_EQ(parse_host("127.0.0.1")->name, "127.0.0.1");
  for (const char* wrong :
       {"", ":80", "[::1]evil.com", "[::1]:", "[::1", "[evil.com]", "localhost:@evil.com", "localhost:80@evil.com",
        "user@localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:+80", "localhost:80:80",
        "localhost,evil.com", "local host", "localhost/", "localhost:8080, evil.com", "loc\xc3\xa4lhost"}) {
    EXPECT_FALSE(parse_host(wrong)) << wrong;
  }
}

// A server that was started at a low priority itself: its heavy work must not come to stand above its short questions.
TEST(StandBack, GoesBelowWhereTheThreadStood) {
  int before = 0, after = 0;
  std::thread thread([&] {
    const auto me = static_cast<id_t>(syscall(SYS_gettid));
    setpriority(PRIO_PROCESS, me, 12);
    before = getpriority(PRIO_PROCESS, me);
    stand_back();
    after = getpriority(PRIO_PROCESS, me);
  });
  thread.join();
  EXPECT_GE(before, 12);
  EXPECT_EQ(after, 19);
}

/// Both ends of a connection.
struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~Pair() {
    for (const int end : ends) close(end);
  }
  /// Whether the server has shut it down.
  [[nodiscard]] bool ended() const {
    char byte = 0;
    return recv(ends[1], &byte, 1, MSG_DONTWAIT) == 0;
  }
  int ends[2] = {-1, -1};
};

TEST(Connections, ANewOneClosesTheLongestIdleOneOfItsAddress) {
  Connections connections({.all = 100, .of_one = 2, .reading = std::chrono::seconds(10)});
  Pair a, b, c, other;
  connections.opened(&other, other.ends[0], "192.0.2.2");
  connections.opened(&a, a.ends[0], "192.0.2.1");
  connections.opened(&b, b.ends[0], "192.0.2.1");
  connections.reads(&a);  // it waits for an answer
  connections.opened(&c, c.ends[0], "192.0.2.1");
  EXPECT_TRUE(b.ended());
  EXPECT_FALSE(a.ended());
  EXPECT_FALSE(c.ended());
  EXPECT_FALSE(other.ended());
}

TEST(Connections, WhenAllAreTakenTheAddressThatHasMostGivesOneUp) {
  Connections connections({.all = 3, .of_one = 10, .reading = std::chrono::seconds(10)});
  Pair lone, a, b, late;
  connections.opened(&lone, lone.ends[0], "192.0.2.9");
  connections.opened(&a, a.ends[0], "192.0.2.1");
  connections.opened(&b, b.ends[0], "192.0.2.1");
  connections.opened(&late, late.ends[0], "192.0.2.8");
  EXPECT_FALSE(lone.ended()) << "it is the oldest, but its address has one only";
  EXPECT_TRUE(a.ended());
  EXPECT_FALSE(late.ended());
}

TEST(Connections, ARequestThatIsNotCompleteInTimeIsCutOff) {
  Connections connections({.all = 10, .of_one = 10, .reading = std::chrono::milliseconds(50)});
  Pair slow, served;
  connections.opened(&slow, slow.ends[0], "192.0.2.1");
  connections.opened(&served, served.ends[0], "192.0.2.1");
  connections.reads(&served);
  for (int i = 0; i < 300 && !slow.ended(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(slow.ended());
  EXPECT_FALSE(served.ended());
}

TEST(Connections, AnAnswerThatIsNotTakenInTimeIsCutOff) {
  Connections connections(
      {.all = 10, .of_one = 10, .reading = std::chrono::seconds(10), .sending = std::chrono::milliseconds(50)});
  Pair slow, works;
  for (Pair* one : {&slow, &works}) {
    connections.opened(one, one->ends[0], "192.0.2.1");
    connections.reads(one);
  }
  EXPECT_TRUE(connections.sends(&slow, 1 << 20));
  for (int i = 0; i < 300 && !slow.ended(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(slow.ended());
  EXPECT_FALSE(works.ended());
}

TEST(Connections, WhoDoesNotTakeAnAnswerMakesRoom) {
  Connections connections({.all = 100, .of_one = 2, .reading = std::chrono::seconds(10)});
  Pair slow, works, late;
  for (Pair* one : {&slow, &works}) {
    connections.opened(one, one->ends[0], "192.0.2.1");
    connections.reads(one);
  }
  EXPECT_TRUE(connections.sends(&slow, 1 << 20));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // a second is fair
  connections.opened(&late, late.ends[0], "192.0.2.1");
  EXPECT_TRUE(slow.ended());
  EXPECT_FALSE(works.ended());
  EXPECT_FALSE(late.ended());
}

TEST(Connections, AnswersThatNobodyTakesHaveALimit) {
  constexpr std::size_t kMegabyte = 1 << 20;
  Connections connections({.all = 100,
                           .of_one = 10,
                           .reading = std::chrono::seconds(10),
                           .unsent_of_one = 2 * kMegabyte,
                           .unsent = 3 * kMegabyte});
  Pair a, b, c, other, third;
  for (Pair* one : {&a, &b, &c}) connections.opened(one, one->ends[0], "192.0.2.1");
  connections.opened(&other, other.ends[0], "192.0.2.2");
  connections.opened(&third, third.ends[0], "192.0.2.3");
  EXPECT_TRUE(connections.sends(&a, kMegabyte));
  EXPECT_TRUE(connections.sends(&b, kMegabyte));
  EXPECT_FALSE(connections.sends(&c, kMegabyte)) << "more than one address may leave untaken";
  EXPECT_TRUE(connections.sends(&c, 1000)) << "it hears of its refusal";
  EXPECT_TRUE(connections.sends(&other, kMegabyte - 1000));
  EXPECT_FALSE(connections.sends(&third, kMegabyte)) << "more than all may";
  connections.owes(&a);  // it has taken its answer
  EXPECT_TRUE(connections.sends(&third, kMegabyte));
  connections.closed(&other);
  EXPECT_TRUE(connections.sends(&a, kMegabyte - 1000));
}

TEST(Connections, SaysWhenTheOtherSideHasLeft) {
  Connections connections({.all = 10, .of_one = 10, .reading = std::chrono::seconds(10)});
  Pair stays, leaves;
  std::atomic<bool> stays_left = false;
  std::atomic<bool> leaves_left = false;
  connections.opened(&stays, stays.ends[0], "192.0.2.1");
  connections.opened(&leaves, leaves.ends[0], "192.0.2.1");
  connections.works(&stays, &stays_left);
  connections.works(&leaves, &leaves_left);
  shutdown(leaves.ends[1], SHUT_RDWR);
  for (int i = 0; i < 300 && !leaves_left; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(leaves_left);
  EXPECT_FALSE(stays_left);
  connections.rests(&leaves);
  connections.rests(&stays);
}

}  // namespace
}  // namespace ridge::http
