// The part of OpenAI's API that inference servers share, as text: what a request asks for, and what is answered.
//
//   Result<Asked> asked = read_request(body, Endpoint::chat, setup);
//   out += token_chunk(form, " word", false);            // "data: {...}\n\n"
//
// Pure; any thread. Refuses (bad_input) what is no JSON, a prompt that is missing or of a kind nobody sends, several
// choices, a length below 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge::emulate {

enum class Endpoint : std::uint8_t { completions, chat };

struct Asked {
  std::string model;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  int priority = 0;
  bool stream = false;
  bool wants_usage = false;
  std::uint64_t seed = 0;                 ///< of the words of the answer
  std::vector<std::uint64_t> block_keys;  ///< of prompt and answer
};

struct ReadSetup {
  std::uint32_t block_tokens = 16;
  std::uint32_t usual_output = 16;  ///< where the request does not say
};

Result<Asked> read_request(std::string_view body, Endpoint endpoint, const ReadSetup& setup);

/// The i-th word of an answer, with a blank before it.
[[nodiscard]] std::string answer_word(std::uint64_t seed, std::uint32_t i);

/// What all pieces of one answer have in common.
struct AnswerForm {
  Endpoint endpoint = Endpoint::completions;
  std::string id;
  std::string quoted_model;  ///< as JSON has it: in quotes
  std::int64_t created = 0;  ///< seconds since 1970
  std::string before_text;   ///< of every token's piece, made once: see token_form()
};
/// A form whose pieces of tokens are put together without formatting: a hundred thousand are sent each second.
[[nodiscard]] AnswerForm token_form(Endpoint endpoint, std::string id, std::string quoted_model, std::int64_t created);
/// A text in quotes, as JSON has it.
[[nodiscard]] std::string quoted_json(std::string_view text);
/// The first piece of a chat says who speaks.
void append_role(std::string& out, const AnswerForm& form);
void append_token(std::string& out, const AnswerForm& form, std::string_view text, bool last);
void append_usage(std::string& out, const AnswerForm& form, std::uint32_t input, std::uint32_t output,
                  std::uint32_t cached);
[[nodiscard]] std::string whole_answer(const AnswerForm& form, std::string_view text, std::uint32_t input,
                                       std::uint32_t output, std::uint32_t cached);
[[nodiscard]] std::string error_body(int status, std::string_view type, std::string_view message);

}  // namespace ridge::emulate
