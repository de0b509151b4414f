// Lines of YAML, nested by depth. Internal to src/facility.
//
//   Yaml y; y.line(0, "spec:"); y.line(1, "replicas: {}", 4); y.block(1, script);
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace ridge::launch {

class Yaml {
 public:
  template <class... Values>
  Yaml& line(int depth, fmt::format_string<Values...> text, Values&&... values) {
    out_.append(static_cast<std::size_t>(depth) * 2, ' ');
    out_ += fmt::format(text, std::forward<Values>(values)...) + "\n";
    return *this;
  }
  /// Lines of a block, each at that depth.
  Yaml& block(int depth, std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) out_.append(static_cast<std::size_t>(depth) * 2, ' ').append(text.substr(0, end));
      out_ += '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return *this;
  }
  Yaml& next() {
    out_ += "---\n";
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
};

/// In double quotes.
[[nodiscard]] inline std::string quoted_yaml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace ridge::launch
