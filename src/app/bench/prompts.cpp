#include "app/bench/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/emulate/openai.hpp"
#include "app/emulate/prompt.hpp"

namespace ridge::bench {

namespace {

// Ids that every vocabulary of today has and that stand for plain text.
constexpr std::uint64_t kFirstId = 1000;
constexpr std::uint64_t kIds = 20'000;
constexpr std::uint64_t kOwn = 0x0111ULL << 48;
constexpr std::uint64_t kProbe = 0x0222ULL << 48;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void append_ids(std::string& out, std::uint64_t key, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (out.back() != '[') out += ',';
    const fmt::format_int id(kFirstId + mixed(key, i) % kIds);
    out.append(id.data(), id.size());
  }
}

}  // namespace

std::string PromptWriter::opening() const {
  return fmt::format(R"({{"model":{},)", emulate::quoted_json(options_.model));
}

std::string PromptWriter::closing(std::uint32_t output) const {
  return fmt::format(R"(,"max_tokens":{},"temperature":0{},"stream":true,"stream_options":{{"include_usage":true}}}})",
                     output, options_.plain ? "" : R"(,"ignore_eos":true)");
}

std::string PromptWriter::words(std::uint64_t key, std::uint32_t count) const {
  std::string out;
  for (std::uint32_t i = 0; i < count; ++i) {
    out += ' ';
    out += emulate::word(mixed(key, i) >> 20);
  }
  return out;
}

std::string PromptWriter::probe(std::uint64_t number, std::uint32_t length, std::uint32_t output, bool in_words) const {
  const std::uint64_t key = mixed(options_.salt ^ kProbe, number);
  std::string out = opening();
  if (options_.chat) {
    out += fmt::format(R"("messages":[{{"role":"user","content":"{}"}}])", words(key, length));
  } else if (in_words) {
    out += fmt::format(R"("prompt":"{}")", words(key, length));
  } else {
    out += R"("prompt":[)";
    append_ids(out, key, length);
    out += ']';
  }
  return out + closing(output);
}

std::string PromptWriter::body(const serve::Request& r, const serve::RequestSource& source) {
  source.chunks_of(r, chunks_);
  const std::uint64_t own = mixed(options_.salt ^ kOwn, r.id);
  std::string out = opening();
  if (!writes_words(r)) {
    out += R"("prompt":[)";
    std::uint32_t left = r.input;
    for (const serve::Chunk& chunk : chunks_) {
      const std::uint32_t tokens = std::min(left, chunk.tokens);
      append_ids(out, mixed(options_.salt, chunk.key), tokens);
      left -= tokens;
    }
    append_ids(out, own, left);
    return out + ']' + closing(r.output);
  }

  // Words: what a class shares, then what was said before, then what is new.
  std::vector<Said> none;
  std::vector<Said>& talk = r.session == serve::kNoSlot ? none : talks_[r.session];
  if (r.turn == 0) talk.clear();
  std::uint32_t before = 0;
  std::string fresh;
  const std::size_t shared = r.session == serve::kNoSlot ? chunks_.size() : r.turn == 0 ? chunks_.size() : 0;
  for (std::size_t i = 0; i < shared; ++i) {
    const std::uint32_t tokens = std::min(r.input - before, chunks_[i].tokens);
    fresh +=
        words(mixed(options_.salt, chunks_[i].key), static_cast<std::uint32_t>(std::lround(tokens / tokens_per_word_)));
    before += tokens;
  }
  if (r.turn > 0) {
    for (const serve::Chunk& chunk : chunks_) before += chunk.tokens;
  }
  const double marks = r.turn == 0 ? extra_ : 0;
  const double rest = (static_cast<double>(r.input) - std::min(before, r.input) - marks) / tokens_per_word_;
  fresh += words(own, static_cast<std::uint32_t>(std::max(1.0, std::round(rest))));
  talk.push_back({fresh, {}});
  if (options_.chat) {
    out += R"("messages":[)";
    for (std::size_t i = 0; i < talk.size(); ++i) {
      if (i > 0) out += ',';
      out += fmt::format(R"({{"role":"user","content":"{}"}})", talk[i].user);
      if (i + 1 < talk.size()) {
        out += fmt::format(R"(,{{"role":"assistant","content":{}}})", emulate::quoted_json(talk[i].assistant));
      }
    }
    out += ']';
  } else {
    std::string text;
    for (const Said& said : talk) text += said.user + said.assistant;
    out += R"("prompt":)" + emulate::quoted_json(text);
  }
  return out + closing(r.output);
}

void PromptWriter::answered(const serve::Request& r, std::string_view text) {
  if (r.session == serve::kNoSlot) return;
  std::vector<Said>& talk = talks_[r.session];
  if (!talk.empty()) talk.back().assistant = text;
}

void PromptWriter::forget(const serve::Request& r) {
  if (r.session != serve::kNoSlot) talks_.erase(r.session);
}

}  // namespace ridge::bench
