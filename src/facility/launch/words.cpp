#include "facility/launch/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ridge::launch {

namespace {

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

class Reader {
 public:
  Reader(std::string_view text, std::uint32_t line, Script& out) : text_(text), line_(line), out_(out) {}

  void run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        end_word();
        end_command();
        ++line_;
        ++at_;
      } else if (c == '\\' && next() == '\n') {
        end_word();
        ++line_;
        at_ += 2;
      } else if (c == '#' && !in_word_) {
        comment();
      } else if (c == ' ' || c == '\t') {
        end_word();
        ++at_;
      } else if ((c == ';' || c == '|' || c == '&') && depth_ == 0) {
        end_word();
        end_command();
        ++at_;
      } else {
        piece();
      }
    }
    end_word();
    end_command();
  }

 private:
  [[nodiscard]] char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void start() {
    if (!in_word_) word_.line = line_;
    in_word_ = true;
  }

  void piece() {
    start();
    const char c = text_[at_];
    if (c == '\'') {
      const std::size_t end = std::min(text_.find('\'', at_ + 1), text_.size());
      append(text_.substr(at_ + 1, end - at_ - 1));
      at_ = std::min(end + 1, text_.size());
    } else if (c == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\' && (next() == '"' || next() == '\\' || next() == '$')) {
          word_.text += next();
          at_ += 2;
        } else if (text_[at_] == '$') {
          expand();
        } else {
          if (text_[at_] == '\n') ++line_;
          word_.text += text_[at_++];
        }
      }
      if (at_ < text_.size()) ++at_;
    } else if (c == '\\') {
      if (at_ + 1 < text_.size()) word_.text += next();
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '$') {
      expand();
    } else {
      // Operators inside $(( )) and (( )) are no ends of commands.
      if (c == '(') ++depth_;
      if (c == ')' && depth_ > 0) --depth_;
      word_.text += c;
      ++at_;
    }
  }

  void append(std::string_view part) {
    line_ += static_cast<std::uint32_t>(std::count(part.begin(), part.end(), '\n'));
    word_.text += part;
  }

  void expand() {
    std::size_t end = at_ + 1;
    if (next() == '{') {
      end = text_.find('}', at_);
      if (end == std::string_view::npos) end = text_.size() - 1;
      const std::string_view inside = text_.substr(at_ + 2, end - at_ - 2);
      const std::size_t otherwise = inside.find(":-");
      const std::string_view name = inside.substr(0, otherwise);
      if (is_name(name)) {
        const auto known = out_.variables.find(name);
        if (known != out_.variables.end()) {
          word_.text += known->second;
        } else if (otherwise != std::string_view::npos) {
          word_.text += inside.substr(otherwise + 2);
        } else {
          word_.text += text_.substr(at_, end + 1 - at_);
        }
        at_ = end + 1;
        return;
      }
      word_.text += text_.substr(at_, end + 1 - at_);
      at_ = end + 1;
      return;
    }
    if (next() == '(') {
      int open = 0;
      do {
        if (text_[end] == '(') ++open;
        if (text_[end] == ')') --open;
        if (text_[end] == '\n') ++line_;
        ++end;
      } while (open > 0 && end < text_.size());
      word_.text += text_.substr(at_, end - at_);
      at_ = end;
      return;
    }
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    const auto known = out_.variables.find(name);
    if (is_name(name) && known != out_.variables.end()) {
      word_.text += known->second;
    } else {
      word_.text += text_.substr(at_, std::max<std::size_t>(end - at_, 1));
    }
    at_ = std::max(end, at_ + 1);
  }

  void comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    constexpr std::string_view kRidge = "# ridge:";
    constexpr std::string_view kBatch = "#SBATCH ";
    if (line.starts_with(kBatch)) {
      std::string_view rest = line.substr(kBatch.size());
      while (rest.starts_with('-')) rest.remove_prefix(1);
      out_.directives.emplace_back(rest, line_);
    } else if (line.starts_with(kRidge)) {
      std::string_view rest = line.substr(kRidge.size());
      while (!rest.empty()) {
        const std::size_t space = std::min(rest.find(' '), rest.size());
        const std::string_view pair = rest.substr(0, space);
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos) {
          out_.ridge[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
        }
        rest.remove_prefix(std::min(space + 1, rest.size()));
      }
    }
    at_ = end;
  }

  void end_word() {
    if (!in_word_) return;
    words_.push_back(word_);
    word_ = {};
    in_word_ = false;
    depth_ = 0;
  }

  void end_command() {
    std::size_t first = 0;
    if (first < words_.size() && words_[first].text == "export") ++first;
    bool only_assignments = true;
    while (first < words_.size()) {
      const std::string& text = words_[first].text;
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || !is_name(std::string_view(text).substr(0, equals))) {
        only_assignments = false;
        break;
      }
      const std::string name = text.substr(0, equals);
      const std::string value = text.substr(equals + 1);
      // $(...) is only known when it runs.
      if (value.find("$(") == std::string::npos) out_.variables[name] = value;
      ++first;
    }
    if (!only_assignments && !words_.empty()) {
      out_.commands.emplace_back(words_.begin() + static_cast<std::ptrdiff_t>(first), words_.end());
    }
    words_.clear();
  }

  std::string_view text_;
  std::uint32_t line_;
  Script& out_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  int depth_ = 0;
  Word word_;
  std::vector<Word> words_;
};

}  // namespace

Command& Command::flag(std::string_view name, double value) {
  return flag(name, fmt::format("{}", value));
}

std::string Command::text(std::string_view indent) const {
  std::string out(indent);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i > 0) out += " \\\n" + std::string(indent) + "  ";
    out += parts_[i].text;
  }
  return out + "\n";
}

std::string Script::directive(std::string_view key) const {
  for (const auto& [text, line] : directives) {
    if (text.size() > key.size() && text.compare(0, key.size(), key) == 0 && text[key.size()] == '=') {
      return text.substr(key.size() + 1);
    }
  }
  return {};
}

Script read_script(std::string_view text, std::uint32_t first_line) {
  Script script;
  Reader(text, first_line, script).run();
  return script;
}

}  // namespace ridge::launch
