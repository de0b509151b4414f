#include "app/emulate/openai.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/emulate/prompt.hpp"
#include "catalogue/files/json_document.hpp"
#include "ridge/report/report.hpp"

namespace ridge::emulate {

namespace {

constexpr std::int64_t kMostOutput = 1'000'000;

Error wrong(std::string message) {
  return {ErrorCode::bad_input, "", std::move(message)};
}

/// A prompt of the completions API: a text, or the ids of its tokens, or a list with one of either.
Status add_prompt(const JsonNode& prompt, TokenChain& chain) {
  if (prompt.kind == JsonNode::Kind::text) {
    chain.add_text(prompt.text);
    return {};
  }
  if (prompt.kind != JsonNode::Kind::array || prompt.items.empty()) {
    return wrong("`prompt` is a text or a list of token ids");
  }
  if (prompt.items.size() == 1 && prompt.items[0].kind != JsonNode::Kind::integer) {
    return add_prompt(prompt.items[0], chain);
  }
  for (const JsonNode& id : prompt.items) {
    if (id.kind != JsonNode::Kind::integer)
      return wrong("`prompt` is one text or one list of token ids: batches are not taken");
    chain.add_id(id.integer);
  }
  return {};
}

Status add_messages(const JsonNode& messages, TokenChain& chain) {
  if (messages.kind != JsonNode::Kind::array || messages.items.empty())
    return wrong("`messages` is a list of messages");
  for (const JsonNode& message : messages.items) {
    const JsonNode* role = message.find("role");
    const JsonNode* content = message.find("content");
    if (role == nullptr || role->kind != JsonNode::Kind::text) return wrong("a message has a `role`");
    chain.add_mark(role->text);
    if (content != nullptr && content->kind == JsonNode::Kind::text) {
      chain.add_text(content->text);
    } else if (content != nullptr && content->kind == JsonNode::Kind::array) {
      for (const JsonNode& part : content->items) {
        const JsonNode* text = part.find("text");
        if (text == nullptr || text->kind != JsonNode::Kind::text)
          return wrong("`content` holds texts: no model is here that sees or hears");
        chain.add_text(text->text);
      }
    } else if (content != nullptr) {
      return wrong("`content` is a text");
    }
    chain.add_mark("end");
  }
  chain.add_mark("assistant");
  return {};
}

}  // namespace

std::string quoted_json(std::string_view text) {
  std::string out = Json(text).text();
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

Result<Asked> read_request(std::string_view body, Endpoint endpoint, const ReadSetup& setup) {
  const Result<JsonNode> root = parse_json(body, "body");
  if (!root) return root.error();
  if (root->kind != JsonNode::Kind::object) return wrong("the body is a JSON object");
  Asked asked;
  TokenChain chain(setup.block_tokens);
  const bool chat = endpoint == Endpoint::chat;
  const JsonNode* prompt = root->find(chat ? "messages" : "prompt");
  if (prompt == nullptr) return wrong(chat ? "`messages` is missing" : "`prompt` is missing");
  if (const Status s = chat ? add_messages(*prompt, chain) : add_prompt(*prompt, chain); !s) return s.error();
  if (const JsonNode* model = root->find("model"); model != nullptr) asked.model = model->text;
  if (const JsonNode* n = root->find("n"); n != nullptr && n->number != 1) return wrong("`n` is 1 here");
  asked.output = setup.usual_output;
  for (const std::string_view key : {"max_tokens", "max_completion_tokens"}) {
    const JsonNode* most = root->find(key);
    if (most == nullptr) continue;
    if (most->kind != JsonNode::Kind::integer || most->integer < 1 || most->integer > kMostOutput) {
      return wrong(fmt::format("`{}` is a whole number from 1 to {}", key, kMostOutput));
    }
    asked.output = static_cast<std::uint32_t>(most->integer);
  }
  if (const JsonNode* stream = root->find("stream"); stream != nullptr) asked.stream = stream->flag;
  if (const JsonNode* options = root->find("stream_options"); options != nullptr) {
    const JsonNode* usage = options->find("include_usage");
    asked.wants_usage = usage != nullptr && usage->flag;
  }
  if (const JsonNode* priority = root->find("priority"); priority != nullptr) {
    asked.priority = static_cast<int>(std::clamp<std::int64_t>(priority->integer, 0, 3));
  }
  asked.input = std::max(1U, chain.tokens());
  asked.seed = chain.state();
  for (std::uint32_t i = 0; i < asked.output; ++i) chain.add_text(answer_word(asked.seed, i));
  asked.block_keys = chain.block_keys();
  return asked;
}

std::string answer_word(std::uint64_t seed, std::uint32_t i) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ULL * (i + 1);
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ULL;
  std::string out(1, ' ');
  out += word(x >> 33);
  return out;
}

void append_role(std::string& out, const AnswerForm& form) {
  fmt::format_to(std::back_inserter(out),
                 R"(data: {{"id":"{}","object":"chat.completion.chunk","created":{},"model":{},"choices":[{{"index":0,)"
                 R"("delta":{{"role":"assistant","content":""}},"logprobs":null,"finish_reason":null}}]}})"
                 "\n\n",
                 form.id, form.created, form.quoted_model);
}

AnswerForm token_form(Endpoint endpoint, std::string id, std::string quoted_model, std::int64_t created) {
  const bool chat = endpoint == Endpoint::chat;
  std::string before =
      fmt::format(R"(data: {{"id":"{}","object":"{}","created":{},"model":{},"choices":[{{"index":0,{})", id,
                  chat ? "chat.completion.chunk" : "text_completion", created, quoted_model,
                  chat ? R"("delta":{"content":")" : R"("text":")");
  return {endpoint, std::move(id), std::move(quoted_model), created, std::move(before)};
}

void append_token(std::string& out, const AnswerForm& form, std::string_view text, bool last) {
  out += form.before_text;
  out += text;
  out += form.endpoint == Endpoint::chat ? R"("},"logprobs":null,"finish_reason":)"
                                         : R"(","logprobs":null,"finish_reason":)";
  out += last ? "\"length\"}]}\n\n" : "null}]}\n\n";
}

namespace {

std::string usage_text(std::uint32_t input, std::uint32_t output, std::uint32_t cached) {
  return fmt::format(
      R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{}}}}})",
      input, output, static_cast<std::uint64_t>(input) + output, cached);
}

}  // namespace

void append_usage(std::string& out, const AnswerForm& form, std::uint32_t input, std::uint32_t output,
                  std::uint32_t cached) {
  fmt::format_to(std::back_inserter(out),
                 R"(data: {{"id":"{}","object":"{}","created":{},"model":{},"choices":[],"usage":{}}})"
                 "\n\n",
                 form.id, form.endpoint == Endpoint::chat ? "chat.completion.chunk" : "text_completion", form.created,
                 form.quoted_model, usage_text(input, output, cached));
}

std::string whole_answer(const AnswerForm& form, std::string_view text, std::uint32_t input, std::uint32_t output,
                         std::uint32_t cached) {
  const bool chat = form.endpoint == Endpoint::chat;
  const std::string said = quoted_json(text);
  return fmt::format(
      R"({{"id":"{}","object":"{}","created":{},"model":{},"choices":[{{"index":0,{},"logprobs":null,"finish_reason":"length"}}],"usage":{}}})"
      "\n",
      form.id, chat ? "chat.completion" : "text_completion", form.created, form.quoted_model,
      chat ? fmt::format(R"("message":{{"role":"assistant","content":{}}})", said) : fmt::format(R"("text":{})", said),
      usage_text(input, output, cached));
}

std::string error_body(int status, std::string_view type, std::string_view message) {
  return fmt::format(R"({{"error":{{"message":{},"type":"{}","param":null,"code":{}}}}})"
                     "\n",
                     quoted_json(message), type, status);
}

}  // namespace ridge::emulate
