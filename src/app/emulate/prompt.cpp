#include "app/emulate/prompt.hpp"

#include <algorithm>
#include <array>

namespace ridge::emulate {

namespace {

constexpr std::array<std::string_view, 64> kWords = {
    "time",  "year",  "people", "way",   "day",   "man",   "thing", "woman", "life",  "child", "world",
    "school", "state", "family", "group", "hand",  "part",  "place", "case",  "week",  "work",  "point",
    "home",  "water", "room",   "mother", "area", "money", "story", "fact",  "month", "lot",   "right",
    "study", "book",  "eye",    "job",   "word",  "side",  "kind",  "head",  "house", "friend", "father",
    "power", "hour",  "game",   "line",  "end",   "member", "law",  "car",   "city",  "name",  "team",
    "minute", "idea", "body",   "back",  "face",  "level", "office", "door", "art"};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

std::string_view word(std::uint64_t number) {
  return kWords[number % kWords.size()];
}

void TokenChain::add(std::uint64_t token) {
  state_ = mix(state_ + 0x9e3779b97f4a7c15ULL + token);
  if (++tokens_ % block_tokens_ == 0) keys_.push_back(state_);
}

void TokenChain::add_text(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_blank(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    while (at < end) {
      const std::size_t size = std::min(kBytesPerToken, end - at);
      add(number_of(text.substr(at, size)));
      at += size;
    }
  }
}

void TokenChain::add_mark(std::string_view name) {
  add(~number_of(name));
}

}  // namespace ridge::emulate
