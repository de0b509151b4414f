// Cutting a document: Markdown tables (also with all rows on one line), tables of plain columns, sentences.
#include <algorithm>
#include <array>

#include "claims/text/passage.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::claims {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\x02';
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

struct Span {
  std::size_t from = 0;
  std::size_t to = 0;
};

// A sentence or cell beyond this is cut: nothing is claimed over such distances, and recognisers stay fast.
constexpr std::size_t kLongestSentence = 1500;
constexpr std::size_t kLongestHeader = 200;
constexpr std::size_t kMostColumns = 40;

Span trimmed(std::string_view text, Span s) {
  while (s.from < s.to && is_space(text[s.from])) ++s.from;
  while (s.to > s.from && is_space(text[s.to - 1])) --s.to;
  return s;
}

class Cutter {
 public:
  Cutter(const Text& text, const Names& names) : text_(text.text), names_(names) {}

  std::vector<Passage> run() {
    cut_markdown_tables();
    std::vector<Span> rest;
    std::size_t from = 0;
    for (const Span& table : tables_) {
      rest.push_back({from, table.from});
      from = table.to;
    }
    rest.push_back({from, text_.size()});
    for (const Span& span : rest) cut_lines(span);
    std::stable_sort(passages_.begin(), passages_.end(),
                     [](const Passage& a, const Passage& b) { return a.offset < b.offset; });
    set_headings();
    for (std::size_t i = 1; i < passages_.size(); ++i) {
      if (!passages_[i].is_row() && !passages_[i - 1].is_row()) passages_[i].previous = &passages_[i - 1];
    }
    return std::move(passages_);
  }

 private:
  // --- Markdown tables -------------------------------------------------------------------------------------------
  [[nodiscard]] bool is_rule(const Span& cell) const {
    const Span s = trimmed(text_, cell);
    if (s.from == s.to) return false;
    return std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(s.from),
                       text_.begin() + static_cast<std::ptrdiff_t>(s.to), [](char c) { return c == '-' || c == ':'; });
  }
  [[nodiscard]] bool is_blank(const Span& cell) const {
    const Span s = trimmed(text_, cell);
    return s.from == s.to;
  }

  void cut_markdown_tables() {
    std::vector<Span> cells;
    std::size_t from = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] != '|') continue;
      cells.push_back({from, i});
      from = i + 1;
    }
    cells.push_back({from, text_.size()});
    std::size_t used = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!is_rule(cells[i])) continue;
      std::size_t columns = 1;
      while (i + columns < cells.size() && is_rule(cells[i + columns])) ++columns;
      // Before the rule: a blank piece, and before that the header's cells.
      const bool fits = columns <= kMostColumns && columns >= 2 && i >= used + columns + 1 && is_blank(cells[i - 1]);
      if (fits) {
        const std::size_t header = i - 1 - columns;
        std::size_t row = i + columns;  // the piece between rows
        std::vector<std::size_t> rows;
        while (row + columns < cells.size() && is_blank(cells[row])) {
          rows.push_back(row + 1);
          row += columns + 1;
        }
        add_table(cells, header, columns, rows);
        const std::size_t last = rows.empty() ? i + columns - 1 : rows.back() + columns - 1;
        tables_.push_back({cells[header].from, cells[last].to});
        used = last + 1;
        i = last;
      } else {
        i += columns - 1;
      }
    }
  }

  [[nodiscard]] std::shared_ptr<const Header> header_of(const Span& s) const {
    return make_header(std::string(text_.substr(s.from, s.to - s.from)), tokenize(text_, s.from, s.to, names_));
  }

  void add_table(const std::vector<Span>& cells, std::size_t header, std::size_t columns,
                 const std::vector<std::size_t>& rows) {
    ++table_;
    std::vector<std::shared_ptr<const Header>> headers;
    for (std::size_t c = 0; c < columns; ++c) {
      const Span s = trimmed(text_, cells[header + c]);
      headers.push_back(header_of({s.from, std::min(s.to, s.from + kLongestHeader)}));
    }
    for (const std::size_t row : rows) {
      Passage passage;
      passage.table = table_;
      passage.offset = cells[row].from;
      passage.end = cells[row + columns - 1].to;
      for (std::size_t c = 0; c < columns; ++c) {
        const Span s = trimmed(text_, cells[row + c]);
        TableCell cell{headers[c], tokenize(text_, s.from, std::min(s.to, s.from + kLongestSentence), names_)};
        if (c == 0) cell.text = text_.substr(s.from, std::min(s.to - s.from, kLongestHeader));
        passage.tokens.insert(passage.tokens.end(), cell.tokens.begin(), cell.tokens.end());
        passage.cells.push_back(std::move(cell));
      }
      passages_.push_back(std::move(passage));
    }
  }

  // --- lines: plain tables, headings, paragraphs -----------------------------------------------------------------
  void cut_lines(const Span& span) {
    std::vector<Span> lines;
    std::size_t from = span.from;
    for (std::size_t i = span.from; i < span.to; ++i) {
      if (text_[i] != '\n') continue;
      lines.push_back({from, i});
      from = i + 1;
    }
    lines.push_back({from, span.to});
    std::size_t paragraph = span.from;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t rows = plain_table(lines, i);
      const Span line = trimmed(text_, lines[i]);
      const bool blank = line.from == line.to;
      const bool starts = blank || rows > 0 || is_heading(line) || is_bullet(lines[i]);
      if (starts) {
        cut_sentences({paragraph, lines[i].from});
        paragraph = lines[i].from;
      }
      if (rows > 0) {
        add_plain_table(lines, i, rows);
        i += rows;
        paragraph = std::min(lines[i].to + 1, span.to);
      } else if (!blank && is_heading(line)) {
        add_heading(line);
        paragraph = std::min(lines[i].to + 1, span.to);
      }
    }
    cut_sentences({paragraph, span.to});
  }

  [[nodiscard]] bool is_bullet(const Span& line) const {
    const std::size_t first = line.from < line.to ? text_.find_first_not_of(' ', line.from) : line.to;
    if (first >= line.to) return false;
    const char c = text_[first];
    return c == '\x02' || ((c == '-' || c == '*') && first + 1 < line.to && text_[first + 1] == ' ');
  }

  [[nodiscard]] bool is_heading(const Span& line) const {
    if (line.to - line.from > 120 || line.from == line.to) return false;
    if (text_[line.from] == '#') return true;
    std::size_t at = line.from;  // "4.2. Results"
    while (at < line.to && (is_digit(text_[at]) || text_[at] == '.')) ++at;
    const bool numbered = at > line.from && text_[at - 1] == '.' && at < line.to && text_[at] == ' ';
    return numbered && text_[line.to - 1] != '.' && text_[line.to - 1] != ',';
  }

  void add_heading(const Span& line) {
    headings_.push_back({line.from, std::make_shared<Tokens>(tokenize(text_, line.from, line.to, names_))});
  }

  // Columns that only spaces part: a header without figures, then rows with equally many figures each. Returns how
  // many rows there are.
  std::size_t plain_table(const std::vector<Span>& lines, std::size_t header) const {
    const Span head = trimmed(text_, lines[header]);
    if (head.to - head.from > 300 || head.to - head.from < 10) return 0;
    if (columns_of(head).size() < 2) return 0;
    std::size_t rows = 0;
    while (header + rows + 1 < lines.size()) {
      const Span line = trimmed(text_, lines[header + rows + 1]);
      if (line.from == line.to || line.to - line.from > 300) break;
      const Tokens tokens = tokenize(text_, line.from, line.to, names_, false);
      const auto numbers = std::count_if(tokens.begin(), tokens.end(), [](const Token& t) { return t.is_number(); });
      if (numbers < 2 || first_hardware(tokens) == nullptr) break;
      ++rows;
    }
    return rows >= 2 ? rows : 0;
  }

  /// The columns of figures that a header without separators names.
  [[nodiscard]] std::vector<Span> columns_of(const Span& head) const {
    // Ends of what such columns are called; each begins where the one before ended.
    constexpr std::array<std::string_view, 10> kEnds = {
        "Total Accelerators", "Avg Accelerators", "per Accelerator", "Total Result",
        "Avg Total",          "Compute",          "Bandwidth",       "TDP",
        "Memory (GB)",        "Throughput"};
    std::vector<Span> columns;
    std::size_t at = head.from;
    while (at < head.to) {
      std::size_t best = std::string::npos;
      std::size_t end = 0;
      for (const std::string_view words : kEnds) {
        const std::size_t found = text_.substr(0, head.to).find(words, at);
        if (found == std::string::npos) continue;
        const std::size_t finish = found + words.size();
        if (best == std::string::npos || finish < end || (finish == end && found < best)) {
          best = found;
          end = finish;
        }
      }
      if (best == std::string::npos) break;
      // "Total" alone is a column unless it is that of "Total Result".
      if (text_.substr(end, 7) == " Result" && text_.substr(best, end - best) == "Avg Total") end += 7;
      if (text_.substr(end, 13) == " Accelerators" && text_.substr(best, end - best) == "Avg Total") end += 13;
      if (end + 1 < head.to && text_[end] == ' ' && text_[end + 1] == '(') {
        const std::size_t close = text_.substr(0, head.to).find(')', end);
        if (close != std::string::npos) end = close + 1;
      }
      columns.push_back({at, end});
      at = end;
    }
    return columns;
  }

  void add_plain_table(const std::vector<Span>& lines, std::size_t header, std::size_t rows) {
    ++table_;
    const std::vector<Span> columns = columns_of(trimmed(text_, lines[header]));
    std::vector<std::shared_ptr<const Header>> headers = {make_header("subject", {})};
    for (const Span& column : columns) headers.push_back(header_of(trimmed(text_, column)));
    for (std::size_t row = 1; row <= rows; ++row) {
      const Span line = trimmed(text_, lines[header + row]);
      Passage passage;
      passage.table = table_;
      passage.offset = line.from;
      passage.end = line.to;
      passage.tokens = tokenize(text_, line.from, line.to, names_, false);
      passage.cells.push_back({headers[0], {}});
      for (const Token& token : passage.tokens) {
        if (!token.is_number()) {
          passage.cells[0].tokens.push_back(token);
        } else if (passage.cells.size() <= columns.size()) {
          const std::size_t c = passage.cells.size();
          passage.cells.push_back({headers[c], {token}});
        }
      }
      passages_.push_back(std::move(passage));
    }
  }

  // --- sentences -------------------------------------------------------------------------------------------------
  [[nodiscard]] bool ends_sentence(std::size_t i, std::size_t to) const {
    const char c = text_[i];
    if (c != '.' && c != '!' && c != '?') return false;
    if (i + 1 >= to) return true;
    if (is_digit(text_[i + 1]) || !is_space(text_[i + 1])) {
      // "level[17].The" and "nanosecond.Key": a stop glued to the next sentence.
      return c == '.' && is_upper(text_[i + 1]) && i > 0 && (is_lower(text_[i - 1]) || text_[i - 1] == ']');
    }
    std::size_t word = i;
    while (word > 0 && (is_lower(text_[word - 1]) || is_upper(text_[word - 1]) || text_[word - 1] == '.')) --word;
    const std::string_view before = text_.substr(word, i - word);
    constexpr std::array<std::string_view, 9> kShort = {"vs",  "e.g", "i.e", "approx", "est",
                                                        "Est", "min", "max", "incl"};
    return std::find(kShort.begin(), kShort.end(), before) == kShort.end();
  }

  void cut_sentences(const Span& span) {
    std::size_t from = span.from;
    for (std::size_t i = span.from; i < span.to; ++i) {
      const bool heading = text_[i] == '#' && i > from && is_space(text_[i - 1]);
      if (heading) {
        add_sentence({from, i});
        from = inline_heading(i, span.to);
        i = from == i ? i : from - 1;
        continue;
      }
      // A code fence or a rule also ends what came before.
      if (ends_sentence(i, span.to) || i - from >= kLongestSentence) {
        add_sentence({from, i + 1});
        from = i + 1;
      }
    }
    add_sentence({from, span.to});
  }

  /// "### Context length | Context | ..." on one line: the heading ends at most 80 characters on.
  std::size_t inline_heading(std::size_t at, std::size_t to) {
    const std::size_t end = std::min(to, at + 80);
    headings_.push_back({at, std::make_shared<Tokens>(tokenize(text_, at, end, names_))});
    std::size_t after = at;
    while (after < to && text_[after] == '#') ++after;
    return after;
  }

  void add_sentence(const Span& raw) {
    const Span s = trimmed(text_, raw);
    if (s.to - s.from < 3) return;
    Passage passage;
    passage.offset = s.from;
    passage.end = s.to;
    passage.tokens = tokenize(text_, s.from, s.to, names_);
    if (!passage.tokens.empty()) passages_.push_back(std::move(passage));
  }

  void set_headings() {
    std::stable_sort(headings_.begin(), headings_.end(),
                     [](const Heading& a, const Heading& b) { return a.offset < b.offset; });
    std::size_t next = 0;
    std::shared_ptr<const Tokens> current = std::make_shared<Tokens>();
    for (Passage& passage : passages_) {
      while (next < headings_.size() && headings_[next].offset <= passage.offset) current = headings_[next++].tokens;
      passage.heading = current;
    }
  }

  struct Heading {
    std::size_t offset = 0;
    std::shared_ptr<const Tokens> tokens;
  };

  std::string_view text_;
  const Names& names_;
  std::vector<Passage> passages_;
  std::vector<Span> tables_;
  std::vector<Heading> headings_;
  std::size_t table_ = 0;
};

}  // namespace

std::vector<Passage> read_passages(const Text& text, const Names& names) {
  return Cutter(text, names).run();
}

}  // namespace ridge::claims
