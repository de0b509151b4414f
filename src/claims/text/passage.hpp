// A document cut into what claims are looked for in: sentences and table rows, as tokens.
//
//   const Text text = clean(bytes);
//   for (const Passage& passage : read_passages(text, names)) ...
//
// Pure; a Passage refers to the Names it was made with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "claims/text/names.hpp"
#include "claims/text/written_number.hpp"

namespace ridge::claims {

/// Text made uniform: dashes, multiplication signs and quotes in ASCII, UTF-8 that was read as another code page
/// repaired, emphasis and malformed bytes left out.
struct Text {
  std::string text;
  std::vector<std::uint32_t> origin;  ///< of each byte: where it stood
  std::vector<std::uint32_t> lines;   ///< starts of the original's lines

  struct Place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;  ///< in bytes from 1
  };
  [[nodiscard]] Place place(std::size_t offset) const;
};
[[nodiscard]] Text clean(std::string_view bytes);

struct Token {
  enum class Type : std::uint8_t { number, name, word, mark };
  Type type = Type::word;
  std::size_t offset = 0;
  std::size_t end = 0;
  Measure measure;             ///< of a number
  const Name* name = nullptr;  ///< of a name
  std::string text;            ///< of a word, in lower case; of a mark, the sign; of others, as written

  [[nodiscard]] bool is(std::string_view word) const {
    return (type == Type::word || type == Type::mark) && text == word;
  }
  [[nodiscard]] bool is_number() const { return type == Type::number; }
  [[nodiscard]] bool is_name(NameKind kind) const { return type == Type::name && name->kind == kind; }
};
using Tokens = std::vector<Token>;

[[nodiscard]] Tokens tokenize(std::string_view text, std::size_t from, std::size_t to, const Names& names,
                              bool grouped = true);

struct Header {
  std::string text;  ///< as written
  Tokens tokens;
  std::optional<Measure> unit;  ///< one of the unit it names
};
[[nodiscard]] std::shared_ptr<const Header> make_header(std::string text, Tokens tokens);

struct TableCell {
  std::shared_ptr<const Header> header;  ///< of its column, one for all rows of the table; never null
  Tokens tokens;
  std::string text = {};  ///< of the first cell of a Markdown row, as written
};

class Passage {
 public:
  Tokens tokens;                          ///< of a sentence, or of all cells of a row
  std::vector<TableCell> cells;           ///< of a row; empty for a sentence
  std::shared_ptr<const Tokens> heading;  ///< of the section it stands in, one for all of it; never null
  const Passage* previous = nullptr;      ///< the sentence before, in the same section
  std::size_t offset = 0;
  std::size_t end = 0;
  std::size_t table = 0;  ///< number of the table, from 1; 0 for a sentence

  [[nodiscard]] bool is_row() const { return !cells.empty(); }
};

[[nodiscard]] std::vector<Passage> read_passages(const Text& text, const Names& names);

// Looking around in tokens. Positions are indices; `kNowhere` if there is none.
inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
[[nodiscard]] bool any_word(const Tokens& tokens, std::initializer_list<std::string_view> words);
[[nodiscard]] bool any_word(const Tokens& tokens, std::size_t from, std::size_t to,
                            std::initializer_list<std::string_view> words);
/// A word that starts with one of the stems: "increas" fits "increase" and "increasing".
[[nodiscard]] bool any_stem(const Tokens& tokens, std::size_t from, std::size_t to,
                            std::initializer_list<std::string_view> stems);
[[nodiscard]] std::size_t name_before(const Tokens& tokens, std::size_t at, NameKind kind);
[[nodiscard]] std::size_t name_after(const Tokens& tokens, std::size_t at, NameKind kind);
[[nodiscard]] const Token* first_number(const Tokens& tokens);
[[nodiscard]] const Token* first_name(const Tokens& tokens, NameKind kind);
/// Device or system, whichever comes first.
[[nodiscard]] const Token* first_hardware(const Tokens& tokens);

/// "... compared to the H100": what is compared with owns no figure that follows, unless it stands right before one.
[[nodiscard]] bool is_partner(const Tokens& tokens, std::size_t at);

/// "its memory grows to 141 GB": the part that the pronoun stands for, neither what is compared with nor what something
/// is of; nullptr if no "its" is near, or nothing was named before it.
[[nodiscard]] const Token* meant_by_its(const Tokens& tokens, std::size_t at);

/// The number of a cell, with the unit that its header gives where the cell has none.
[[nodiscard]] std::optional<Measure> cell_measure(const TableCell& cell);
[[nodiscard]] bool header_has(const TableCell& cell, std::initializer_list<std::string_view> words);

}  // namespace ridge::claims
