// Prompts of given lengths for a server whose tokenizer is not known: ids of tokens where the API takes them, words
// otherwise, their number corrected by what the server counts.
//
//   PromptWriter writer({.chat = false, .model = "llama3.1-8b"});
//   std::string body = writer.body(request, source);         // JSON for POST
//   writer.answered(request, text);                          // what a later turn of the conversation repeats
//
// Beginnings that requests share (system prompts, earlier turns) are equal, all else differs, also from one run to the
// next (`salt`), so that nothing is found in a cache that would not be in service. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/workload/request_source.hpp"

namespace ridge::bench {

struct PromptOptions {
  bool chat = false;
  bool words = false;  ///< text also where ids would do; conversations always are
  bool plain = false;  ///< only what OpenAI's own API knows: no ignore_eos
  std::string model;
  std::uint64_t salt = 0;
};

class PromptWriter {
 public:
  explicit PromptWriter(PromptOptions options) : options_(std::move(options)) {}

  /// The server counts `tokens_per_word` times the words and `extra` more.
  void correct(double tokens_per_word, double extra) {
    tokens_per_word_ = tokens_per_word;
    extra_ = extra;
  }
  [[nodiscard]] bool writes_words(const serve::Request& request) const {
    return options_.chat || options_.words || request.session != serve::kNoSlot;
  }
  [[nodiscard]] std::string body(const serve::Request& request, const serve::RequestSource& source);
  /// So many words, or ids, that are nobody else's: to warm up and to learn how the server counts.
  [[nodiscard]] std::string probe(std::uint64_t number, std::uint32_t length, std::uint32_t output, bool words) const;
  void answered(const serve::Request& request, std::string_view text);
  void forget(const serve::Request& request);

 private:
  struct Said {
    std::string user;
    std::string assistant;
  };
  [[nodiscard]] std::string words(std::uint64_t key, std::uint32_t count) const;
  [[nodiscard]] std::string closing(std::uint32_t output) const;
  [[nodiscard]] std::string opening() const;

  PromptOptions options_;
  double tokens_per_word_ = 1;
  double extra_ = 0;
  std::unordered_map<std::uint32_t, std::vector<Said>> talks_;  // by session
  std::vector<serve::Chunk> chunks_;
};

}  // namespace ridge::bench
