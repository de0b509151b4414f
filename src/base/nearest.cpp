// Suggestions for misspelt names, and names that are safe to print.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/utf8.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLongestWord = 64;
constexpr int kEdit = 3;   // a letter put in, left out, changed, or swapped with its neighbour
constexpr int kMinor = 1;  // upper for lower case, '_' for '-'

char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '_' || c == ' ' ? '-' : c;
}

bool same_but_for_case(char a, char b) {
  return folded(a) == folded(b);
}

/// Which letters there are, folded; different ones may share a bit.
std::uint64_t letters_of(std::string_view text) {
  std::uint64_t all = 0;
  for (const char c : text) all |= std::uint64_t{1} << (static_cast<unsigned char>(folded(c)) % 64);
  return all;
}

/// Edit distance with swaps of neighbours (optimal string alignment), in the costs above. Neither is longer than
/// kLongestWord.
int distance(std::string_view a, std::string_view b) {
  using Row = std::array<int, kLongestWord + 1>;
  Row rows[3];
  Row *before = &rows[0], *above = &rows[1], *row = &rows[2];
  for (std::size_t j = 0; j <= b.size(); ++j) (*above)[j] = kEdit * static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    (*row)[0] = kEdit * static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : same_but_for_case(a[i - 1], b[j - 1]) ? kMinor : kEdit;
      (*row)[j] = std::min({(*above)[j - 1] + change, (*above)[j] + kEdit, (*row)[j - 1] + kEdit});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) (*row)[j] = std::min((*row)[j], (*before)[j - 2] + kEdit);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return (*above)[b.size()];
}

/// Small is near; nothing if it is beyond `worst`. A name that goes on where the word stops ("h200" → "h200-sxm") is
/// near however long it is.
std::optional<int> score(std::string_view word, std::uint64_t letters, std::string_view candidate, int worst) {
  int best = worst + 1;
  const std::uint64_t its = letters_of(candidate);
  const auto gap = static_cast<int>(std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()));
  // An edit brings in or takes away one letter, so what differs is a floor of how many it takes: most names end here.
  const int edits = std::max({gap, std::popcount(letters & ~its), std::popcount(its & ~letters)});
  if (kEdit * edits <= worst) best = std::min(best, distance(word, candidate));
  if (word.size() > 1 && (letters & ~its) == 0) {
    const auto found = std::search(candidate.begin(), candidate.end(), word.begin(), word.end(), same_but_for_case);
    if (found == candidate.begin()) best = std::min(best, kEdit);
    if (found != candidate.end() && word.size() > 2) best = std::min(best, kEdit + 1);
  }
  return best <= worst ? std::optional<int>(best) : std::nullopt;
}

}  // namespace

std::string quoted(std::string_view text, std::size_t limit) {
  std::string result = "'";
  std::size_t characters = 0;
  while (!text.empty() && characters < limit) {
    const std::size_t length = utf8_length(text);
    const bool printable = length > 1 || (length == 1 && text[0] >= ' ' && text[0] != '\x7f');
    result += printable ? text.substr(0, length) : std::string_view("?");
    text.remove_prefix(std::max<std::size_t>(length, 1));
    ++characters;
  }
  if (!text.empty()) result += "...";
  return result + "'";
}

std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') {
      out.push_back(c);
    } else if (c >= 'A' && c <= 'Z') {
      out.push_back(static_cast<char>(c - 'A' + 'a'));
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

std::string nearest(std::string_view word, const std::string_view* candidates, std::size_t count, std::size_t limit) {
  if (word.empty() || word.size() > kLongestWord) return {};
  struct Scored {
    int score;
    std::size_t index;
  };
  std::vector<Scored> near;
  const std::uint64_t letters = letters_of(word);
  const int worst = std::max(2 * kEdit, static_cast<int>(word.size()) * kEdit / 2);
  for (std::size_t i = 0; i < count; ++i) {
    if (candidates[i].size() > kLongestWord) continue;
    // Two edits turn any two letters into any other two: a suggestion must keep at least one letter.
    const int most = kEdit * static_cast<int>(std::max(word.size(), candidates[i].size())) - 1;
    if (const auto s = score(word, letters, candidates[i], std::min(worst, most))) near.push_back({*s, i});
  }
  std::stable_sort(near.begin(), near.end(), [&](const Scored& a, const Scored& b) {
    if (a.score != b.score) return a.score < b.score;
    return candidates[a.index].size() < candidates[b.index].size();
  });
  if (near.size() > limit) near.resize(limit);

  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
    text += quoted(candidates[near[i].index]);
  }
  return text;
}

}  // namespace ridge
