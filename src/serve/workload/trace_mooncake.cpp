// Traces of Mooncake: one JSON object per line, times in milliseconds, the prompt as ids of 512-token blocks that are
// equal where prompts begin alike.
#include <fmt/format.h>

#include "catalogue/files/json_document.hpp"
#include "serve/workload/trace_reader.hpp"

namespace ridge::serve {

namespace {

constexpr std::uint32_t kTokensPerBlock = 512;

/// Where the key stands in the line, from 1.
std::size_t column_of(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(fmt::format("\"{}\"", key));
  return at == std::string_view::npos ? 1 : at + 1;
}

class LineReader {
 public:
  LineReader(std::string_view line, const std::string& file, std::size_t number)
      : line_(line), file_(file), number_(number) {}

  [[nodiscard]] Error wrong(std::string_view key, std::string message) const {
    return {ErrorCode::bad_input, fmt::format("{}:{}:{}", file_, number_, column_of(line_, key)), std::move(message)};
  }

  Status read(TraceBuilder& builder) const {
    constexpr std::string_view kHere = "line:1:";  // as a place in this line is said, also one within the message
    const Result<JsonNode> root = parse_json(line_, kHere.substr(0, 4));
    if (!root) {
      const std::string& where = root.error().where;
      const std::size_t colon = where.rfind(':');
      const std::string column = colon == std::string::npos ? "1" : where.substr(colon + 1);
      std::string message = root.error().message;
      const std::size_t at = message.rfind(kHere);
      if (at != std::string::npos) message.replace(at, kHere.size(), fmt::format("{}:{}:", file_, number_));
      return Error{ErrorCode::bad_input, fmt::format("{}:{}:{}", file_, number_, column), std::move(message)};
    }
    static constexpr std::string_view kKeys[3] = {"timestamp", "input_length", "output_length"};
    double values[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
      const JsonNode* node = root->find(kKeys[i]);
      if (node == nullptr) return wrong("", fmt::format("'{}' is missing", kKeys[i]));
      if (node->kind != JsonNode::Kind::integer && node->kind != JsonNode::Kind::number) {
        return wrong(kKeys[i], fmt::format("'{}' is no number", kKeys[i]));
      }
      values[i] = node->number;
    }
    int priority = 0;
    if (const JsonNode* node = root->find("priority")) {
      if (node->kind != JsonNode::Kind::integer || node->integer < 0 || node->integer >= kPriorities) {
        return wrong("priority", "a priority is 0 (first) to 3");
      }
      priority = static_cast<int>(node->integer);
    }
    if (const auto problem = builder.add(values[0] / 1000, values[1], values[2], priority)) {
      return wrong(kKeys[static_cast<std::size_t>(problem->field)], problem->message);
    }
    if (const JsonNode* session = root->find("session")) {
      if (session->kind != JsonNode::Kind::text) return wrong("session", "'session' is no text");
      builder.set_session(session->text);
    }
    const JsonNode* ids = root->find("hash_ids");
    if (ids == nullptr) return {};
    if (ids->kind != JsonNode::Kind::array) return wrong("hash_ids", "'hash_ids' is no list");
    for (const JsonNode& id : ids->items) {
      if (id.kind != JsonNode::Kind::integer || id.integer < 0) return wrong("hash_ids", "an id is no whole number");
      builder.add_key(static_cast<std::uint64_t>(id.integer));
    }
    return {};
  }

 private:
  std::string_view line_;
  const std::string& file_;
  std::size_t number_;
};

}  // namespace

Result<Workload> parse_mooncake_trace(std::string_view text, const std::string& file) {
  TraceBuilder builder;
  builder.set_tokens_per_key(kTokensPerBlock);
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (const Status s = LineReader(line, file, number).read(builder); !s) return s.error();
  }
  return builder.finish(file, "Mooncake trace");
}

}  // namespace ridge::serve
