// Figures that a short clause states without naming what they are: "H100 has 80 GB", "the H100 draws 700 W". The unit
// says which figure is meant; the grammar says whether it is one of the part at all: the part has to be the subject,
// the verb one of having, and nothing but the name of that figure may follow the number.
#include <algorithm>
#include <array>

#include "claims/kinds/finders.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/misreadings.hpp"

namespace ridge::claims {

namespace {

template <std::size_t N>
bool one_of(const Token& t, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return t.is(word); });
}

constexpr std::array<std::string_view, 38> kHaving = {
    "has",   "have",     "offers",   "offer",   "gives",  "give",     "packs",    "pack",    "carries", "carry",
    "holds", "hold",     "features", "feature", "brings", "provides", "sports",   "boasts",  "gets",    "get",
    "comes", "come",     "ships",    "ship",    "is",     "are",      ":",        "reaches", "hits",    "peaks",
    "tops",  "delivers", "deliver",  "provide", "keeps",  "keep",     "includes", "reach"};
constexpr std::array<std::string_view, 6> kMoving = {"does", "do", "moves", "move", "runs", "pushes"};
constexpr std::array<std::string_view, 14> kDrawing = {"draws", "draw", "burns",    "burn", "sips",
                                                       "pulls", "pull", "needs",    "need", "consumes",
                                                       "uses",  "eats", "requires", "takes"};
// Between verb and number: what adds nothing to the meaning.
constexpr std::array<std::string_view, 26> kFillers = {
    "you",     "us",     "a",   "an",     "the",  "only", "just",          "nearly", "about",
    "roughly", "around", "up",  "to",     "with", "at",   "out",           "by",     "in",
    "full",    "still",  "now", "almost", "over", "some", "approximately", "of"};
constexpr std::array<std::string_view, 12> kMemory = {"memory", "hbm",  "hbm2",  "hbm2e", "hbm3",   "hbm3e",
                                                      "hbm4",   "vram", "gddr6", "gddr7", "gddr6x", "capacity"};
constexpr std::array<std::string_view, 9> kPartWords = {"part", "card", "gpu",     "chip", "accelerator",
                                                        "tdp",  "max",  "maximum", "peak"};
constexpr std::array<std::string_view, 10> kArticles = {"the", "a",      "an",  "each",   "every",
                                                        "one", "nvidia", "amd", "google", "intel"};

/// Words that make a figure one of a run, a share or a neighbour, not of the part.
bool about_something_else(const Tokens& tokens) {
  return speaks_of_measurement(tokens) ||
         any_word(tokens, {"used",  "free",     "left",    "remaining", "mig",    "slice",   "slices",  "storage",
                           "disk",  "nvme",     "ssd",     "host",      "pcie",   "network", "nic",     "infiniband",
                           "cpu",   "ethernet", "swap",    "capped",    "cap",    "limit",   "limited", "l2",
                           "cache", "offload",  "cluster", "shared",    "usable", "reserved"});
}

/// True if the clause ends with the number at `at`, or goes on with the name of the figure and ends then.
template <std::size_t N>
bool ends_well(const Tokens& tokens, std::size_t at, const std::array<std::string_view, N>& nouns) {
  std::size_t i = at + 1;
  bool named = false;
  while (i < tokens.size()) {
    const Token& t = tokens[i];
    if (one_of(t, nouns)) {
      named = true;
    } else if (!t.is("of") && !t.is("fast") && !t.is("per") && !t.is("each") && !t.is("-") && !one_of(t, kPartWords) &&
               !t.is("onboard")) {
      break;
    }
    ++i;
  }
  if (i >= tokens.size()) return true;
  const Token& next = tokens[i];
  return next.type == Token::Type::mark || named || next.is("and") || next.is("or") || next.is("version") ||
         next.is("versions") || next.is("so") || next.is("but");
}

}  // namespace

std::string plain_figure(const Tokens& tokens, std::size_t at) {
  const Measure& m = tokens[at].measure;
  if (about_something_else(tokens)) return "";
  std::size_t i = at;
  while (i > 0 && one_of(tokens[i - 1], kFillers)) --i;
  if (i == 0) return "";
  --i;
  // "H200: 141 GB HBM3e, 4.8 TB/s": a list goes on after a figure and its name.
  if (tokens[i].is(",") || tokens[i].is("and")) {
    while (i > 0 && (tokens[i].is(",") || tokens[i].is("and") || tokens[i].is("of") || one_of(tokens[i], kMemory))) --i;
    if (tokens[i].is_number() && tokens[i].measure.has_unit())
      return plain_figure(tokens, i).empty() ? "" : figure_by_unit(m);
    return "";
  }
  const bool drawing = is_a<Watts>(m) && one_of(tokens[i], kDrawing);
  const bool moving = is_a<BytesPerSecond>(m) && one_of(tokens[i], kMoving);
  if (!drawing && !moving && !one_of(tokens[i], kHaving)) return "";
  // "comes with 80 GB" is a figure, "comes to 1.8 kW" is worked out.
  const bool coming = tokens[i].is("comes") || tokens[i].is("come") || tokens[i].is("ships") || tokens[i].is("ship");
  if (coming && !tokens[i + 1].is("with") && !tokens[i + 1].is("in")) return "";
  while (i > 0 && one_of(tokens[i - 1], kFillers)) --i;  // "H100 only has"
  if (i == 0) return "";
  const Token& subject = tokens[i - 1];
  if (!subject.is_name(NameKind::device) && !subject.is_name(NameKind::system)) return "";
  // The part is the subject: nothing but an article, a number or the end of another clause stands before it.
  if (i >= 2) {
    const Token& before = tokens[i - 2];
    const bool open = before.type == Token::Type::mark || before.is_number() || one_of(before, kArticles) ||
                      before.is("and") || before.is("so") || before.is("s");
    if (!open) return "";
  }
  const std::string figure = figure_by_unit(m);
  constexpr std::array<std::string_view, 5> kRates = {"memory", "bandwidth", "hbm3e", "hbm3", "hbm"};
  const bool ends = figure == "memory"      ? ends_well(tokens, at, kMemory)
                    : figure == "bandwidth" ? ends_well(tokens, at, kRates)
                                            : ends_well(tokens, at, kPartWords);
  return ends ? figure : "";
}

std::string figure_by_unit(const Measure& m) {
  if (is_a<Bytes>(m)) return "memory";
  if (is_a<BytesPerSecond>(m)) return "bandwidth";
  if (is_a<Watts>(m)) return "power";
  return "";
}

}  // namespace ridge::claims
