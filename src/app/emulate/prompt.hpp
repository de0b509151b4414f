// Tokens of a stand-in: no tokenizer is at hand, so a word is a token for every six bytes of it, an id is one, and a
// token is known by a number. Equal beginnings have equal chains of numbers, which is all that a prefix cache needs.
//
//   TokenChain chain(16);
//   chain.add_text("the quick brown fox");       // 4 tokens
//   chain.add_id(1234);
//   chain.tokens(); chain.block_keys();          // one key for each whole block of 16
//
// Values; one thread each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ridge::emulate {

inline constexpr std::size_t kBytesPerToken = 6;

/// Words that answers and made-up prompts are written in: each is one token of common tokenizers, with a blank before
/// it.
[[nodiscard]] std::string_view word(std::uint64_t number);

class TokenChain {
 public:
  explicit TokenChain(std::uint32_t block_tokens) : block_tokens_(block_tokens) {}
  void add_text(std::string_view text);
  void add_id(std::int64_t id) { add(0x1d00000000ULL ^ static_cast<std::uint64_t>(id)); }
  /// One that no text contains: where a message begins and ends.
  void add_mark(std::string_view name);

  [[nodiscard]] std::uint32_t tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<std::uint64_t>& block_keys() const { return keys_; }
  /// What it is known by up to here.
  [[nodiscard]] std::uint64_t state() const { return state_; }

 private:
  void add(std::uint64_t token);
  std::uint32_t block_tokens_;
  std::uint32_t tokens_ = 0;
  std::uint64_t state_ = 0x243f6a8885a308d3ULL;
  std::vector<std::uint64_t> keys_;
};

}  // namespace ridge::emulate
