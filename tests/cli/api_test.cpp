// The API without its sockets: what a request becomes, that one answer leaves nothing behind for the next, and that no
// bytes bring it down.
#include "app/cli/call/api.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "app/cli/session/report_file.hpp"
#include "catalogue/files/json_document.hpp"
#include "support/session.hpp"

namespace ridge::cli {
namespace {

using http::Request;
using http::Response;
using Words = std::vector<std::string>;

using testing_support::here;
using testing_support::shared;

Request posted(std::string path, std::string body) {
  Request request;
  request.method = "POST";
  request.path = std::move(path);
  request.body = std::move(body);
  return request;
}

Request got(std::string path, std::vector<std::pair<std::string, std::string>> query) {
  Request request;
  request.method = "GET";
  request.path = std::move(path);
  request.query = std::move(query);
  return request;
}

Result<Words> words(const Request& request) {
  const auto asked = request_call(request, *shared().catalogue, {});
  if (!asked) return asked.error();
  return asked->line();
}

constexpr std::string_view kInfer =
    R"({"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm", "isl": 1000, "osl": 250, "concurrency": 8)";

TEST(RequestCall, ABodyBecomesTheLineThatAPersonWouldWrite) {
  EXPECT_EQ(*words(posted("/v1/estimate", R"({"kind": "infer", "model": "llama3.1-8b", "explain": true})")),
            (Words{"estimate", "infer", "--model=llama3.1-8b", "--explain", "--json"}));
}

TEST(RequestCall, AQueryBecomesOneToo) {
  EXPECT_EQ(*words(got("/v1/catalogue", {{"kind", "devices"}, {"where", "memory>=80GB"}, {"keys", ""}})),
            (Words{"show", "devices", "--where=memory>=80GB", "--keys", "--json"}));
}

TEST(RequestCall, AsyncSaysHowToAnswerAndIsNoFlag) {
  const auto line = words(posted("/v1/simulate", R"({"async": true, "workload": "chat"})"));
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, (Words{"simulate", "--workload=chat", "--json"}));
}

TEST(RequestCall, OtherPathsAreNotFound) {
  for (const char* path : {"/v1/none", "/v1/estimate/", "/v1/", "/v1/serve", "/v1/calibrate"}) {
    const auto line = words(posted(path, "{}"));
    ASSERT_FALSE(line) << path;
    EXPECT_EQ(line.error().code, ErrorCode::not_found) << path;
  }
}

TEST(RequestCall, NothingNamesAFile) {
  for (const char* body :
       {R"({"kind": "infer", "model": "/etc/passwd"})", R"({"kind": "infer", "html": "x.html"})", R"({"data": "/tmp"})",
        R"({"kind": "train", "trace": "x.json"})", R"({"plan": "x.toml"})", R"({"calibration": "x.toml"})"}) {
    EXPECT_FALSE(words(posted("/v1/estimate", body))) << body;
  }
  EXPECT_FALSE(words(posted("/v1/plan", R"({"kind": "serve", "html": "x.html"})")));
  Api api(shared(), here(), {});
  EXPECT_EQ(api.answer(posted("/v1/plan", R"({"kind": "../x.toml"})"), true).status, 400);
}

TEST(RequestCall, MoreRequestsThanTheServerSimulatesAreRefused) {
  ServiceLimits limits;
  limits.most_requests = 1000;
  const auto asked = [&](const char* count) {
    return request_call(posted("/v1/simulate", std::string(R"({"requests": )") + count + "}"), *shared().catalogue,
                        limits);
  };
  EXPECT_TRUE(asked("1000"));
  EXPECT_FALSE(asked("1001"));
}

TEST(Api, OneAnswerLeavesNothingBehindForTheNext) {
  Api api(shared(), here(), {});
  const auto ask = [&](const std::string& more) {
    return api.answer(posted("/v1/estimate", std::string(kInfer) + more + "}"), false);
  };
  const Response plain = ask("");
  ASSERT_EQ(plain.status, 200);
  EXPECT_NE(ask(R"(, "explain": true)").body.find("\"operators\""), std::string::npos);
  EXPECT_EQ(ask(R"(, "gpus": "many")").status, 400);
  const Request what_if = posted("/v1/estimate", std::string(kInfer) + R"(, "set": ["device.hbm_bandwidth=9TB/s"]})");
  EXPECT_EQ(api.answer(what_if, true).status, 200);
  // Not the kept answer: a blank makes it another question.
  EXPECT_EQ(ask(" ").body, plain.body);
}

TEST(Api, AWhatIfReadsTheCatalogueAnewAndSoNeverOnAThreadThatOthersWaitFor) {
  Api api(shared(), here(), {});
  const Request asked = posted("/v1/estimate", std::string(kInfer) + R"(, "set": ["device.tdp=500W"]})");
  EXPECT_TRUE(api.answer(asked, false).defer);
  EXPECT_EQ(api.answer(asked, true).status, 200);
  EXPECT_FALSE(api.answer(asked, false).defer);  // kept
}

TEST(Api, ALongDurationIsCutAfterTheMostRequestsAndSaysSo) {
  ServiceLimits limits;
  limits.most_requests = 500;
  Api api(shared(), here(), limits);
  const auto simulated = [&](const std::string& more) {
    const Response response = api.answer(
        posted("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", )" + more + "}"),
        true);
    EXPECT_EQ(response.status, 200) << response.body;
    return *parse_json(response.body, "answer");
  };
  const JsonNode cut = simulated(R"("request_rate": 50, "duration": "100s")");
  EXPECT_EQ(cut.find("arrived")->integer, 500);
  EXPECT_TRUE(cut.find("stopped_early")->flag);
  const JsonNode whole = simulated(R"("request_rate": 50, "duration": "2s")");
  EXPECT_LT(whole.find("arrived")->integer, 500);
  EXPECT_FALSE(whole.find("stopped_early")->flag);
  EXPECT_EQ(whole.find("query")->find("requests"), nullptr);  // null, as without a limit
}

std::string job_of(const Response& response) {
  const Result<JsonNode> json = parse_json(response.body, "job");
  return json && json->find("job") != nullptr ? json->find("job")->text : "";
}

TEST(Api, TheOldestAnswerOfAJobMakesRoom) {
  ServiceLimits limits;
  limits.jobs.kept = 10;
  Api api(shared(), here(), limits);
  const Request job = posted("/v1/estimate", std::string(kInfer) + R"(, "async": true})");
  const auto state = [&](const std::string& id) { return api.answer(got("/v1/jobs/" + id, {}), false).status; };
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) {
    const Response started = api.answer(job, false);
    ASSERT_EQ(started.status, 202);
    ids.push_back(job_of(started));
    while (state(ids.back()) == 202) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  (void)api.answer(job, false);  // what is too much goes when the next one comes
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == 2) continue;  // goes when the thirteenth has ended, which may be now
    EXPECT_EQ(state(ids[i]), i < 2 ? 404 : 200) << i;
  }
  EXPECT_EQ(api.answer(got("/v1/jobs/012", {}), false).status, 404);
}

TEST(Api, AJobTellsHowFarItIsAndEnds) {
  Api api(shared(), here(), {});
  const Response started = api.answer(
      posted("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 20,
                                 "requests": 2000000, "async": true})"),
      false);
  ASSERT_EQ(started.status, 202);
  const std::string path = "/v1/jobs/" + job_of(started);
  double share = 0;
  for (int i = 0; i < 3000 && share <= 0; ++i) {
    const Response state = api.answer(got(path, {}), false);
    ASSERT_EQ(state.status, 202);
    const Result<JsonNode> json = parse_json(state.body, "state");
    ASSERT_TRUE(json && json->find("progress") != nullptr);
    share = json->find("progress")->number;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(share, 0);
  EXPECT_LT(share, 1);
  EXPECT_NE(api.answer(got("/v1/jobs", {}), false).body.find("\"running\""), std::string::npos);
  Request end = got(path, {});
  end.method = "DELETE";
  EXPECT_EQ(api.answer(end, false).status, 200);
  EXPECT_EQ(api.answer(got(path, {}), false).status, 404);
}

TEST(Api, AJobIsItsOwnersAlone) {
  Api api(shared(), here(), {});
  Request mine = posted("/v1/estimate", std::string(kInfer) + R"(, "async": true})");
  mine.address = "192.0.2.1";
  const std::string id = job_of(api.answer(mine, false));
  ASSERT_EQ(id.size(), 32u) << "128 bits, so that nobody guesses it";
  Request look = got("/v1/jobs/" + id, {});
  look.address = "192.0.2.2";
  EXPECT_EQ(api.answer(look, false).status, 404);
  Request list = got("/v1/jobs", {});
  list.address = "192.0.2.2";
  EXPECT_EQ(api.answer(list, false).body.find(id), std::string::npos);
  look.method = "DELETE";
  EXPECT_EQ(api.answer(look, false).status, 404);
  look.method = "GET";
  look.address = "192.0.2.1";
  EXPECT_NE(api.answer(look, false).status, 404);
}

TEST(Api, OneClientsJobsDoNotTakeThePlaceOfOthers) {
  ServiceLimits limits;
  limits.jobs.of_one = 3;
  Api api(shared(), here(), limits);
  const std::string heavy = R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 20,
                                "requests": 2000000, "async": true})";
  Request greedy = posted("/v1/simulate", heavy);
  greedy.address = "192.0.2.1";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(api.answer(greedy, false).status, 202);
  const Response refused = api.answer(greedy, false);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("at most"), std::string::npos) << refused.body;
  Request other = posted("/v1/estimate", std::string(kInfer) + R"(, "async": true})");
  other.address = "192.0.2.2";
  const std::string id = job_of(api.answer(other, false));
  Request look = got("/v1/jobs/" + id, {});
  look.address = "192.0.2.2";
  int status = 202;
  for (int i = 0; i < 1000 && status == 202; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = api.answer(look, false).status;
  }
  EXPECT_EQ(status, 200) << "the other client's turn came while three of the first one wait or run";
}

TEST(Api, AJobThatNobodyAsksAboutEndsUnlessItIsToBeKept) {
  ServiceLimits limits;
  limits.jobs.silence = std::chrono::milliseconds(100);
  limits.jobs.threads = 4;
  Api api(shared(), here(), limits);
  const std::string heavy = R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 20,
                                "requests": 2000000, "async": true)";
  const std::string left = job_of(api.answer(posted("/v1/simulate", heavy + "}"), false));
  const std::string kept = job_of(api.answer(posted("/v1/simulate", heavy + R"(, "keep": true})"), false));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(api.answer(got("/v1/jobs/" + left, {}), false).status, 404);
  EXPECT_NE(api.answer(got("/v1/jobs/" + kept, {}), false).status, 404);
}

TEST(Api, PagesOfOtherSitesGetNoAnswer) {
  Api api(shared(), here(), {});
  Request request = got("/v1/catalogue", {{"kind", "fabrics"}});
  EXPECT_EQ(api.answer(request, false).status, 200);
  request.headers["sec-fetch-site"] = "cross-site";
  EXPECT_EQ(api.answer(request, false).status, 403);
  request.headers["sec-fetch-site"] = "same-site";  // another port of this machine
  EXPECT_EQ(api.answer(request, false).status, 403);
  request.headers["sec-fetch-site"] = "same-origin";
  EXPECT_EQ(api.answer(request, false).status, 200);
  request.headers = {{"host", "localhost:8080"}, {"origin", "http://evil.example"}};
  EXPECT_EQ(api.answer(request, false).status, 403);
  request.headers["origin"] = "null";
  EXPECT_EQ(api.answer(request, false).status, 403);
  request.headers["origin"] = "http://LOCALHOST:8080";
  EXPECT_EQ(api.answer(request, false).status, 200);
}

TEST(Api, SeveralTokensAreSeveralClients) {
  ServiceLimits limits;
  limits.tokens = {"first", "second"};
  Api api(shared(), here(), limits);
  Request request = posted("/v1/estimate", std::string(kInfer) + R"(, "async": true})");
  EXPECT_EQ(api.answer(request, false).status, 401);
  request.headers["authorization"] = "Bearer third";
  EXPECT_EQ(api.answer(request, false).status, 401);
  request.headers["authorization"] = "Bearer first";
  const std::string id = job_of(api.answer(request, false));
  Request look = got("/v1/jobs/" + id, {});
  look.headers["authorization"] = "Bearer second";
  EXPECT_EQ(api.answer(look, false).status, 404);
  look.headers["authorization"] = "Bearer first";
  EXPECT_NE(api.answer(look, false).status, 404);
}

TEST(Api, BehindAProxyClientsAreWhomItSaysLast) {
  ServiceLimits limits;
  limits.trust_forwarded = true;
  Api api(shared(), here(), limits);
  Request request = posted("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat"})");
  request.address = "10.0.0.1";
  request.headers["x-forwarded-for"] = "198.51.100.9, 192.0.2.7";
  EXPECT_EQ(api.answer(request, false).client, "192.0.2.7") << "what stands before it anybody can write";
}

TEST(Api, HeavyAndShortQuestionsWaitApart) {
  Api api(shared(), here(), {});
  const auto weight = [&](const char* path, const char* body) {
    const Response response = api.answer(posted(path, body), false);
    EXPECT_TRUE(response.defer) << path;
    return response.weight;
  };
  EXPECT_EQ(weight("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat"})"),
            http::Weight::heavy);
  EXPECT_EQ(weight("/v1/plan", R"({"kind": "serve", "model": "llama3.1-8b", "request_rate": 5})"), http::Weight::heavy);
  EXPECT_EQ(weight("/v1/cost", R"({"kind": "rent", "device": "h100-sxm", "gpus": 8})"), http::Weight::light);
  EXPECT_EQ(weight("/v1/check", R"({"text": "H200 has 4.8 TB/s"})"), http::Weight::light);
}

// The threads that answer at once are everybody's: what takes a tenth of a second there, asked 250 times, is half a
// minute in which nobody else is answered.
TEST(Api, OnlyWhatTakesAMomentIsAnsweredAtOnce) {
  Api api(shared(), here(), {});
  const auto defers = [&](const Request& request) { return api.answer(request, false).defer; };
  const auto estimate = [](std::string_view kind, std::string_view more = "") {
    return posted("/v1/estimate", R"({"kind": ")" + std::string(kind) + R"(", "model": "llama3.1-8b", "device": )" +
                                      R"("h100-sxm")" + std::string(more) + "}");
  };
  for (const char* kind : {"infer", "train", "techniques"}) EXPECT_FALSE(defers(estimate(kind))) << kind;
  for (const char* kind : {"fit", "compare"}) EXPECT_TRUE(defers(estimate(kind))) << kind;
  EXPECT_TRUE(defers(estimate("rl", R"(, "gpus": 32)")));
  EXPECT_TRUE(defers(estimate("infer", R"(, "lengths": ["1k", "2k"])")));
  EXPECT_TRUE(defers(got("/v1/catalogue", {{"kind", "prices"}})));
  // Reading alone takes long, if there is a megabyte to read: in the line of whoever asks, and where the work would be.
  const std::string blanks(100'000, ' ');
  EXPECT_TRUE(defers(estimate("infer", blanks)));
  EXPECT_EQ(api.answer(estimate("infer", blanks), true).status, 200);
  const Response simulation = api.answer(posted("/v1/simulate", "{" + blanks + "}"), false);
  EXPECT_TRUE(simulation.defer);
  EXPECT_EQ(simulation.weight, http::Weight::heavy);
}

// A million trials take seconds, whoever asks: where short questions wait for their turn they are cut off and sent to
// the heavy ones, which answer them.
TEST(Api, WhatWasTakenForShortAndIsNotGoesToTheHeavyOnes) {
  Api api(shared(), here(), {});
  const auto asked = [](std::string_view trials) {
    return posted("/v1/goodput", R"({"gpus": 16384, "model": "llama3.1-70b", "device": "h100-sxm",
                                     "duration": "900days", "trials": )" +
                                     std::string(trials) + "}");
  };
  Request request = asked("1000000");
  request.taken_for = http::Weight::light;
  const auto start = std::chrono::steady_clock::now();
  const Response first = api.answer(request, true);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_TRUE(first.defer);
  EXPECT_EQ(first.weight, http::Weight::heavy);
  request = asked("20");
  request.taken_for = http::Weight::light;
  EXPECT_EQ(api.answer(request, true).status, 200);
}

TEST(Api, LongWorkEndsForAClientThatHasLeft) {
  Api api(shared(), here(), {});
  const std::atomic<bool> left = true;
  Request request = posted("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat",
                                               "request_rate": 20, "requests": 2000000})");
  request.left = &left;
  const auto start = std::chrono::steady_clock::now();
  (void)api.answer(request, true);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(RequestCall, ThreadsFilesAndRefitsAreNobodysOverHttp) {
  EXPECT_FALSE(words(got("/v1/validate", {{"threads", "1000000"}})));
  EXPECT_FALSE(words(got("/v1/validate", {{"threads", "1"}})));
  EXPECT_FALSE(words(got("/v1/validate", {{"cv", "all"}})));
  const auto plan = words(posted("/v1/plan", R"({"kind": "train", "model": "llama3.1-8b", "threads": 1000000})"));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().where, "threads");
  Api api(shared(), here(), {});
  EXPECT_EQ(
      api.answer(posted("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "secret.csv"})"),
                 true)
          .status,
      400)
      << "a file of the server's folder";
  EXPECT_FALSE(words(posted("/v1/cost", R"({"kind": "risk", "device": "h100-sxm", "draws": 100000000})")));
}

/// Bytes of a body changed, dropped, doubled or swapped for what parsers trip over.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::array<std::string, 14> kPieces = {"\"",   "{",    "[[[[", "\\u0000", "-1", "1e999", "null",
                                                      "true", "\xff", "\n",   "--json",  "=",  "../..", "9999999999"};
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(6));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(20)));
        break;
      default:
        if (const std::size_t colon = text.find(':', at); colon != std::string::npos) {
          text.insert(colon + 1, kPieces[below(kPieces.size())]);
        }
    }
  }
  return text;
}

TEST(Api, NoBytesBringItDown) {
  Api api(shared(), here(), {});
  const std::array<Request, 10> seeds = {
      posted("/v1/estimate", std::string(kInfer) + R"(, "gpus": 2, "tp": 2, "precision": "fp8"})"),
      posted("/v1/estimate", R"({"kind": "infer", "model": "dense:layers=32,hidden=4096,heads=32", "device": "l40s"})"),
      posted("/v1/estimate", R"({"kind": "train", "model": "llama3.1-8b", "device": "h100-sxm", "gpus": 64})"),
      posted("/v1/estimate", R"({"kind": "fit", "device": ["h100-sxm", "l40s"], "isl": "1k"})"),
      posted("/v1/simulate", R"({"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "requests": 100})"),
      posted("/v1/plan", R"({"kind": "serve", "model": "llama3.1-8b", "request_rate": 5, "ttft": "1s"})"),
      posted("/v1/cost", R"({"kind": "rent", "device": "h100-sxm", "gpus": 8, "price": 2.5})"),
      posted("/v1/check", R"({"text": "H200 has 4.8 TB/s of memory bandwidth"})"),
      got("/v1/catalogue", {{"kind", "devices"}, {"where", "memory>=80GB"}}),
      got("/v1/jobs/1", {})};
  std::mt19937 random(11);
  for (int i = 0; i < 4000; ++i) {
    Request request = seeds[random() % seeds.size()];
    if (!request.body.empty()) request.body = mutated(std::move(request.body), random);
    for (auto& [key, value] : request.query) (random() % 2 == 0 ? key : value) = mutated(value, random);
    if (random() % 20 == 0) request.path = mutated(std::move(request.path), random);
    const Response response = api.answer(request, false);
    if (response.defer) continue;  // understood; it would run elsewhere
    const std::array known = {200, 202, 400, 404, 405, 422, 503};
    EXPECT_TRUE(std::find(known.begin(), known.end(), response.status) != known.end()) << response.status;
    EXPECT_TRUE(parse_json(response.body, "answer")) << request.path << " " << request.body;
  }
}

TEST(ForwardedReport, IsTheLineOfTheVerbThatMakesIt) {
  const auto report = forwarded_report({"report", "serve", "--model", "llama3.1-8b", "-o", "a.html", "--seed=1"});
  ASSERT_TRUE(report && *report);
  EXPECT_EQ((*report)->words, (Words{"simulate", "--model", "llama3.1-8b", "--seed=1", "--html=a.html"}));
  EXPECT_TRUE((*report)->pdf.empty());
  const auto plan = forwarded_report({"report", "plan", "--model", "llama3.1-8b", "--pdf=a.pdf"});
  ASSERT_TRUE(plan && *plan);
  EXPECT_EQ((*plan)->words[1], "serve");
  EXPECT_EQ((*plan)->pdf, "a.pdf");
  EXPECT_FALSE((*plan)->keeps_html);
  EXPECT_EQ((**forwarded_report({"report", "plan", "train", "-o", "a.html"})).words[1], "train");
}

TEST(ForwardedReport, LeavesOtherLinesAlone) {
  EXPECT_FALSE(forwarded_report({"report", "mlperf", "-o", "a.html"})->has_value());
  EXPECT_FALSE(forwarded_report({"plan", "serve"})->has_value());
  EXPECT_FALSE(forwarded_report({"report", "plan", "--help"})->has_value());
}

TEST(ForwardedReport, WantsToKnowWhereTo) {
  EXPECT_FALSE(forwarded_report({"report", "accuracy"}));
  EXPECT_FALSE(forwarded_report({"report", "accuracy", "-o", "a.md"}));
}

}  // namespace
}  // namespace ridge::cli
