// What `ridge bench` reads from servers: streams cut anywhere, broken ones, metrics, addresses; and drift.
#include <gtest/gtest.h>

#include <string>

#include "app/bench/http_client.hpp"
#include "app/bench/server_metrics.hpp"
#include "app/bench/stream_reader.hpp"
#include "app/bench/watch.hpp"
#include "app/emulate/openai.hpp"
#include "app/emulate/prompt.hpp"

namespace ridge::bench {
namespace {

constexpr std::string_view kStream =
    "data: {\"choices\":[{\"index\":0,\"text\":\" one\",\"finish_reason\":null}]}\n\n"
    ": still here\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" two\"},\"finish_reason\":null}]}\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
    "\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n"
    "data: [DONE]\n\n";

// Pieces that differ from the one before in their text alone are not parsed: what is read has to be the same, whatever
// the text looks like, and a piece that says more is parsed again.
TEST(StreamReader, ReadsPiecesLikeTheOneBeforeAsIfTheyWereAlone) {
  const std::string before = R"(data: {"id":"x","model":"id","choices":[{"index":0,"text":)";
  const std::string after = R"(,"finish_reason":null}]})";
  std::string all;
  std::string expected;
  std::uint32_t chunks = 0;
  for (const char* text : {R"(" a")", R"(" b")", R"("id")", R"("x")", R"(" c")", R"("\"q\\")", R"("\u00e9")", R"("é")",
                           R"("")", R"(" d")", R"("text")", R"(" e")", R"("a\",\"text\":\"b")", R"(" f")"}) {
    const std::string piece = before + text + after + "\n\n";
    bench::StreamReader alone(true);
    alone.feed(piece);
    ASSERT_FALSE(alone.failed()) << piece;
    expected += alone.text();
    chunks += alone.chunks();
    all += piece;
  }
  bench::StreamReader reader(true);
  for (std::size_t at = 0; at < all.size(); at += 7) reader.feed(std::string_view(all).substr(at, 7));
  EXPECT_EQ(reader.text(), expected);
  EXPECT_EQ(reader.chunks(), chunks);
  EXPECT_EQ(chunks, 13u);
  EXPECT_FALSE(reader.complete());
  reader.feed(before + R"(" g","finish_reason":"length"}]})" + "\n\n");
  EXPECT_TRUE(reader.complete());
  reader.feed(before + "\" \x01\"" + after + "\n\n");
  EXPECT_TRUE(reader.failed()) << "no JSON has control characters in its texts";
}

TEST(StreamReader, IsTheSameWhereverTheStreamIsCut) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    StreamReader reader(true);
    reader.feed(kStream.substr(0, cut));
    reader.feed(kStream.substr(cut));
    reader.finish();
    ASSERT_FALSE(reader.failed()) << cut << reader.detail();
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(reader.chunks(), 2U) << cut;
    EXPECT_EQ(reader.text(), " one two");
    ASSERT_TRUE(reader.usage());
    EXPECT_EQ(reader.usage()->prompt, 7U);
    EXPECT_EQ(reader.usage()->completion, 2U);
    EXPECT_EQ(reader.usage()->cached, 3U);
  }
}

TEST(StreamReader, RefusesWhatIsNoStreamAndSaysWhatTheServerSays) {
  for (const std::string_view text :
       {"<html>no</html>\n\n", "data: {\"choices\":[\n\n", "data: 3\n\n", "data: [1]\n\n"}) {
    StreamReader reader;
    reader.feed(text);
    reader.finish();
    EXPECT_TRUE(reader.failed()) << text;
    EXPECT_EQ(reader.problem(), "broken stream");
  }
  StreamReader reader;
  reader.feed("data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n");
  EXPECT_EQ(reader.problem(), "server error");
  EXPECT_EQ(reader.detail(), "out of memory");
  StreamReader longest;
  longest.feed(std::string(StreamReader::kLongestLine + 1, 'x'));
  EXPECT_TRUE(longest.failed());
}

TEST(StreamReader, DoesNotBelieveAUsageThatNobodyComputes) {
  for (const char* key : {"prompt_tokens", "completion_tokens"}) {
    for (const auto& [count, believed] :
         {std::pair("10000000", true), {"10000001", false}, {"18446744073709551615", false}}) {
      StreamReader reader;
      reader.feed(R"(data: {"choices":[{"text":"a","finish_reason":"length"}],"usage":{")" + std::string(key) +
                  "\":" + count + "}}\n\ndata: [DONE]\n\n");
      EXPECT_EQ(reader.failed(), !believed) << key << count;
    }
  }
}

TEST(StreamReader, DoesNotCallACutAnswerComplete) {
  StreamReader reader;
  reader.feed("data: {\"choices\":[{\"text\":\" one\",\"finish_reason\":null}]}\n\n");
  reader.finish();
  EXPECT_FALSE(reader.failed());
  EXPECT_FALSE(reader.complete());
}

TEST(ReadUrl, TakesTheRootWithOrWithoutV1AndNoSecrets) {
  EXPECT_EQ(read_url("http://127.0.0.1:8000")->root, "http://127.0.0.1:8000");
  EXPECT_EQ(read_url("http://127.0.0.1:8000/v1/")->root, "http://127.0.0.1:8000");
  EXPECT_EQ(read_url("https://api.example.com/team/v1")->root, "https://api.example.com/team");
  for (const char* wrong : {"ftp://a", "http://user:pass@host", "file:///etc/passwd", "nothing", "http://a/?key=1"}) {
    EXPECT_FALSE(read_url(wrong).ok()) << wrong;
  }
}

TEST(MetricsPage, ReadsTheNamesOfThreeServers) {
  const auto vllm = read_metrics_page(
      "# HELP x\nvllm:num_requests_running{engine=\"0\"} 3.0\nvllm:num_requests_running{engine=\"1\"} 4\n"
      "vllm:num_requests_waiting{engine=\"0\"} 2\nvllm:kv_cache_usage_perc{engine=\"0\"} 0.2\n"
      "vllm:kv_cache_usage_perc{engine=\"1\"} 0.4\n");
  ASSERT_TRUE(vllm);
  EXPECT_EQ(vllm->running, 7);
  EXPECT_EQ(vllm->waiting, 2);
  EXPECT_NEAR(*vllm->kv, 0.3, 1e-12);
  EXPECT_EQ(read_metrics_page("sglang:num_running_reqs{a=\"b\"} 5\n")->kind, "SGLang");
  EXPECT_EQ(read_metrics_page("llamacpp:requests_processing 2\n")->running, 2);
  EXPECT_FALSE(read_metrics_page("process_cpu_seconds_total 1\nvllm:num_requests_running{ nan\n"));
}

TEST(MetricsPage, LeavesOutNumbersOfNothing) {
  for (const char* number : {"nan", "inf", "-inf", "1e308", "-1e300", "1e999"}) {
    EXPECT_FALSE(read_metrics_page("vllm:num_requests_running " + std::string(number) + "\n")) << number;
  }
  EXPECT_TRUE(read_metrics_page("vllm:num_requests_running 1e3\n"));
}

TEST(Drift, NamesTheDayItBeganAndForgivesNoise) {
  Drift steady(0.020);
  for (int i = 0; i < 200; ++i) steady.add(i % 2 == 0 ? 0.0205 : 0.0195, "day " + std::to_string(i));
  EXPECT_FALSE(steady.drifted());
  Drift slow(0.020);
  for (int i = 0; i < 30; ++i) slow.add(i < 10 ? 0.020 : 0.024, "day " + std::to_string(i));
  EXPECT_TRUE(slow.drifted());
  EXPECT_EQ(slow.since(), "day 10");
  // Nobody says what to expect: the first ten do.
  Drift own(0);
  for (int i = 0; i < 40; ++i) own.add(i < 20 ? 0.010 : 0.007, "day " + std::to_string(i));
  EXPECT_EQ(own.since(), "day 20");
}

TEST(TokenChain, EqualBeginningsHaveEqualKeys) {
  emulate::TokenChain a(4);
  emulate::TokenChain b(4);
  a.add_text(" time year people way day man thing woman");
  b.add_text(" time year people way  day\nman other woman");
  EXPECT_EQ(a.tokens(), 8U);
  ASSERT_EQ(a.block_keys().size(), 2U);
  EXPECT_EQ(a.block_keys()[0], b.block_keys()[0]);
  EXPECT_NE(a.block_keys()[1], b.block_keys()[1]);
}

TEST(ReadRequest, FindsTheAnswerOfOneTurnInThePromptOfTheNext) {
  const emulate::ReadSetup setup{4, 16};
  const auto first = emulate::read_request(R"({"prompt":" time year people way","max_tokens":8})",
                                           emulate::Endpoint::completions, setup);
  ASSERT_TRUE(first.ok());
  std::string next = " time year people way";
  for (std::uint32_t i = 0; i < 8; ++i) next += emulate::answer_word(first->seed, i);
  const auto second = emulate::read_request(R"({"prompt":")" + next + R"( more words now ok","max_tokens":4})",
                                            emulate::Endpoint::completions, setup);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->input, 16U);
  ASSERT_EQ(first->block_keys.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(first->block_keys[i], second->block_keys[i]);
}

TEST(ReadRequest, RefusesWhatNobodyCanAnswer) {
  const emulate::ReadSetup setup{16, 16};
  for (const char* body : {"", "[]", "{}", "{\"prompt\":3}", "{\"prompt\":[\"a\",\"b\"]}", "{\"prompt\":\"a\",\"n\":2}",
                           "{\"prompt\":\"a\",\"max_tokens\":0}", "{\"prompt\":\"a\",\"max_tokens\":1e99}"}) {
    EXPECT_FALSE(emulate::read_request(body, emulate::Endpoint::completions, setup).ok()) << body;
  }
}

}  // namespace
}  // namespace ridge::bench
