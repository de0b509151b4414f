#include "app/bench/stream_reader.hpp"

#include <nlohmann/json.hpp>
#include <vector>

namespace ridge::bench {

namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kLongestDetail = 300;

/// Hears the JSON of a piece value by value and keeps what counts, so that no tree is built for each token.
class PieceHearer {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit PieceHearer(Piece& piece) : piece_(piece) {}
  [[nodiscard]] bool is_object() const { return is_object_; }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t value) {
    return number_unsigned(value < 0 ? 0 : static_cast<number_unsigned_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) {
    if (at({"usage", "prompt_tokens"})) usage().prompt = value;
    if (at({"usage", "completion_tokens"})) usage().completion = value;
    if (at({"usage", "prompt_tokens_details", "cached_tokens"})) usage().cached = value;
    return true;
  }
  bool number_float(number_float_t, const string_t&) { return true; }
  bool string(string_t& value) {
    if (at({"choices", "", "text"}) || at({"choices", "", "delta", "content"}) ||
        at({"choices", "", "delta", "reasoning_content"}) || at({"choices", "", "delta", "reasoning"}) ||
        at({"choices", "", "message", "content"})) {
      piece_.text += value;
    } else if (at({"choices", "", "finish_reason"})) {
      piece_.finished = true;
    } else if (at({"error"}) || at({"error", "message"})) {
      piece_.error = value.substr(0, kLongestDetail);
      if (piece_.error.empty()) piece_.error = "an error without a message";
    }
    return true;
  }
  bool binary(binary_t&) { return true; }
  bool start_object(std::size_t) {
    if (path_.empty()) is_object_ = true;
    path_.emplace_back();
    return path_.size() <= kDeepest;
  }
  bool key(string_t& name) {
    path_.back() = name;
    return true;
  }
  bool end_object() {
    path_.pop_back();
    return true;
  }
  bool start_array(std::size_t) {
    path_.emplace_back();
    return path_.size() <= kDeepest;
  }
  bool end_array() {
    path_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  /// Whether the value stands there; elements of lists are "".
  [[nodiscard]] bool at(std::initializer_list<std::string_view> where) const {
    return path_.size() == where.size() && std::equal(where.begin(), where.end(), path_.begin());
  }
  Usage& usage() {
    if (!piece_.usage) piece_.usage.emplace();
    return *piece_.usage;
  }
  Piece& piece_;
  std::vector<std::string> path_;
  bool is_object_ = false;
};

}  // namespace

bool read_piece(std::string_view json, Piece& piece) {
  PieceHearer hearer(piece);
  return nlohmann::json::sax_parse(json.begin(), json.end(), &hearer) && hearer.is_object();
}

void StreamReader::fail(std::string problem, std::string_view detail) {
  if (failed()) return;
  problem_ = std::move(problem);
  detail_ = detail.substr(0, kLongestDetail);
}

void StreamReader::feed(std::string_view bytes) {
  while (!bytes.empty() && !failed()) {
    if (after_return_) {
      after_return_ = false;
      if (bytes.front() == '\n') bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (pending_.size() + part.size() > kLongestLine) return fail("broken stream", "a line is longer than a megabyte");
    if (end == std::string_view::npos) {
      pending_.append(part);
      return;
    }
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (pending_.empty()) {
      line(part);
    } else {
      pending_.append(part);
      const std::string whole = std::move(pending_);
      pending_.clear();
      line(whole);
    }
  }
}

void StreamReader::finish() {
  if (failed()) return;
  if (!pending_.empty()) {
    const std::string whole = std::move(pending_);
    pending_.clear();
    line(whole);
  }
  if (has_data_) event();
}

void StreamReader::line(std::string_view text) {
  if (!begun_) {
    begun_ = true;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  }
  if (text.empty()) {
    if (has_data_) event();
    return;
  }
  if (text.front() == ':') return;  // a comment, sent to keep the connection open
  const std::size_t colon = text.find(':');
  const std::string_view field = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (data_.size() + value.size() > kLongestLine) return fail("broken stream", "an event is longer than a megabyte");
    if (has_data_) data_ += '\n';
    data_.append(value);
    has_data_ = true;
  } else if (field != "event" && field != "id" && field != "retry") {
    fail("broken stream", text);
  }
}

void StreamReader::event() {
  std::string data;
  data.swap(data_);
  has_data_ = false;
  if (done_) return;
  if (std::string_view(data) == "[DONE]") {  // string == literal: GCC 12 warns at -O1
    done_ = true;
    return;
  }
  Piece piece;
  if (!read_piece(data, piece)) return fail("broken stream", data);
  if (!piece.error.empty()) return fail("server error", piece.error);
  if (!piece.text.empty()) {
    ++chunks_;
    if (keeps_text_) text_ += piece.text;
  }
  finished_ = finished_ || piece.finished;
  if (piece.usage) usage_ = piece.usage;
}

}  // namespace ridge::bench
