#include <algorithm>
#include <numeric>

#include "report/table/unicode.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/report/report.hpp"

namespace ridge {

namespace {

constexpr int kMargin = 1;
constexpr int kGap = 2;
constexpr int kNarrowest = 12;  // columns below which cut text says too little
constexpr int kReadingWidth = 100;

std::string painted(std::string text, Emphasis emphasis, const TerminalStyle& style) {
  if (!style.colour || emphasis == Emphasis::none || text.empty()) return text;
  const char* code = "";
  switch (emphasis) {
    case Emphasis::none:
      break;
    case Emphasis::strong:
      code = "1";
      break;
    case Emphasis::faint:
      code = "2";
      break;
    case Emphasis::good:
      code = "32";
      break;
    case Emphasis::warning:
      code = "33";
      break;
    case Emphasis::bad:
      code = "31";
      break;
  }
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

/// A cell as lines that fit its column.
struct Block {
  std::vector<std::string> lines;
  Emphasis emphasis = Emphasis::none;
};

class Layout {
 public:
  Layout(const Table& table, const TerminalStyle& style) : table_(table), style_(style), shown_(table.columns.size()) {
    std::iota(shown_.begin(), shown_.end(), std::size_t{0});
    for (const auto& row : table.rows) {
      auto& texts = texts_.emplace_back();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        texts.push_back(printable(c < row.size() ? row[c].text() : Cell().text()));
      }
    }
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      int width = table.headings ? display_width(table.columns[c].heading) : 0;
      for (const auto& row : texts_) width = std::max(width, display_width(row[c]));
      natural_.push_back(width);
      int word = 0;
      for (const auto& row : texts_) {
        for (const std::string& one : split_words(row[c], ' ')) word = std::max(word, display_width(one));
      }
      words_.push_back(word);
    }
    fit();
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    if (table_.headings && !shown_.empty()) {
      std::vector<Block> heading;
      for (const std::size_t c : shown_) {
        heading.push_back({{truncated(table_.columns[c].heading, widths_[c])}, Emphasis::strong});
      }
      print(out, heading);
    }
    for (std::size_t r = 0; r < texts_.size(); ++r) {
      std::vector<Block> blocks;
      for (const std::size_t c : shown_) blocks.push_back(block(r, c));
      print(out, blocks);
    }
    if (shown_.size() < table_.columns.size()) out += hidden();
    return out;
  }

 private:
  [[nodiscard]] int total() const {
    int sum = kMargin + kGap * (static_cast<int>(shown_.size()) - 1);
    for (const std::size_t c : shown_) sum += widths_[c];
    return sum;
  }

  /// The values of a list of names and values are never left out: in a terminal they wrap.
  [[nodiscard]] Overflow overflow_of(std::size_t c) const {
    const Column& column = table_.columns[c];
    const bool value = !table_.headings && table_.columns.size() == 2 && c == 1 && column.kind == ColumnKind::text;
    return value && style_.width > 0 && column.overflow == Overflow::keep ? Overflow::wrap : column.overflow;
  }

  /// The column that people miss least: the most spare one, the last of equals; never the first of the table.
  void leave_one_out() {
    std::size_t at = shown_.size() - 1;
    for (std::size_t i = shown_.size() - 1; i > 0; --i) {
      if (table_.columns[shown_[i]].spare > table_.columns[shown_[at]].spare) at = i;
    }
    shown_.erase(shown_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// Whether it may be left out before the words of others are broken.
  [[nodiscard]] bool goes_first(std::size_t c) const {
    return table_.columns[c].spare > 0 && overflow_of(c) == Overflow::wrap;
  }

  /// Narrows text columns, the widest first, while they are wider than `least`.
  template <class Least>
  void narrow(int room, bool limited, const Least& least) {
    widths_ = natural_;
    while (total() > room) {
      const std::size_t none = widths_.size();
      std::size_t widest = none;
      for (const std::size_t c : shown_) {
        const Overflow overflow = overflow_of(c);
        const bool fixed = limited ? overflow == Overflow::keep : overflow != Overflow::wrap;
        if (fixed || widths_[c] <= least(c)) continue;
        if (widest == none || widths_[c] > widths_[widest]) widest = c;
      }
      if (widest == none) return;
      --widths_[widest];
    }
  }

  /// Narrows columns; leaves one out and starts again while that is not enough. Without a terminal nothing is cut or
  /// left out, but what wraps is wrapped to be read. Words are broken only where no other column can give and no spare
  /// one can go: a command that is broken cannot be copied.
  void fit() {
    const bool limited = style_.width > 0;
    const int room = limited ? style_.width : kReadingWidth;
    const auto whole_words = [&](std::size_t c) {
      return overflow_of(c) == Overflow::wrap ? std::max(kNarrowest, words_[c]) : kNarrowest;
    };
    for (;; leave_one_out()) {
      narrow(room, limited, whole_words);
      const bool spare = std::any_of(shown_.begin(), shown_.end(), [&](std::size_t c) { return goes_first(c); });
      if (limited && total() > room && spare) continue;
      if (total() > room) narrow(room, limited, [](std::size_t) { return kNarrowest; });
      if (!limited || total() <= room || shown_.size() <= 1) return;
    }
  }

  [[nodiscard]] Block block(std::size_t r, std::size_t c) const {
    const auto& row = table_.rows[r];
    const std::string& text = texts_[r][c];
    Block result;
    result.emphasis = c >= row.size() || row[c].empty() ? Emphasis::faint : row[c].emphasis();
    if (overflow_of(c) == Overflow::wrap) {
      result.lines = wrap_text(text, widths_[c]);
    } else {
      result.lines = {truncated(text, widths_[c])};
    }
    return result;
  }

  void print(std::string& out, const std::vector<Block>& blocks) const {
    std::size_t height = 1;
    for (const Block& b : blocks) height = std::max(height, b.lines.size());
    for (std::size_t i = 0; i < height; ++i) {
      std::string line(kMargin, ' ');
      std::size_t end = 0;  // of what is not padding
      for (std::size_t at = 0; at < blocks.size(); ++at) {
        const std::size_t c = shown_[at];
        const std::string text = i < blocks[at].lines.size() ? blocks[at].lines[i] : std::string();
        const std::string padding(static_cast<std::size_t>(std::max(0, widths_[c] - display_width(text))), ' ');
        if (table_.columns[c].kind != ColumnKind::text) line += padding;
        line += painted(text, blocks[at].emphasis, style_);
        if (!text.empty()) end = line.size();
        if (table_.columns[c].kind == ColumnKind::text) line += padding;
        line.append(kGap, ' ');
      }
      line.resize(end);
      out += line + "\n";
    }
  }

  [[nodiscard]] std::string hidden() const {
    std::string names;
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      // A column without a heading is a bar of what stands beside it.
      if (std::find(shown_.begin(), shown_.end(), c) != shown_.end() || table_.columns[c].heading.empty()) continue;
      names += (names.empty() ? "" : ", ") + table_.columns[c].heading;
    }
    std::string out;
    if (names.empty()) return out;
    for (const auto& line : wrap_text("not shown in " + std::to_string(style_.width) + " columns: " + names,
                                      std::max(kNarrowest, style_.width - kMargin))) {
      out += std::string(kMargin, ' ') + painted(line, Emphasis::faint, style_) + "\n";
    }
    return out;
  }

  const Table& table_;
  const TerminalStyle& style_;
  std::vector<std::vector<std::string>> texts_;
  std::vector<int> natural_;
  std::vector<int> words_;  // the longest word of each column
  std::vector<int> widths_;
  std::vector<std::size_t> shown_;  // columns, in order
};

std::string heading(const std::string& title, const TerminalStyle& style) {
  return title.empty() ? std::string()
                       : painted(printable(phrased(title, Voice::flags)), Emphasis::strong, style) + "\n";
}

}  // namespace

std::string to_terminal(const Table& table, const TerminalStyle& style) {
  return heading(table.title, style) + Layout(table, style).text();
}

std::string to_terminal(const Document& document, const TerminalStyle& style) {
  std::string out = heading(document.title, style);
  for (const auto& block : document.blocks) {
    if (!out.empty()) out += "\n";
    if (const auto* table = std::get_if<Table>(&block)) {
      out += to_terminal(*table, style);
    } else {
      const auto& paragraph = std::get<Paragraph>(block);
      const int width = style.width > 0 ? std::min(style.width, kReadingWidth) : kReadingWidth;
      for (const auto& line : wrap_text(printable(phrased(paragraph.text, Voice::flags)), width)) {
        out += painted(line, paragraph.emphasis, style) + "\n";
      }
    }
  }
  return out;
}

}  // namespace ridge
