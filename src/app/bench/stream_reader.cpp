#include "app/bench/stream_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "ridge/base/limits.hpp"

namespace ridge::bench {

namespace {

constexpr std::size_t kDeepest = 32;
constexpr auto kMostTokens =
    static_cast<std::uint64_t>(limits::kRequestTokens.most);  ///< that a server can have counted
constexpr std::size_t kLongestDetail = 300;
constexpr std::string_view kProbeText = "a text that no server sends";

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
    std::size_t end = bytes.find('\n');
    if (const std::size_t back = bytes.substr(0, end).find('\r'); back != std::string_view::npos) end = back;
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

/// The text of the piece in data_, if it is the piece before with another text: nothing has to be parsed then. Empty if
/// it is not, or if the text holds anything that JSON writes in more than one way.
std::string_view StreamReader::like_last() const {
  const std::string_view data = data_;
  if (before_.empty() || data.size() <= before_.size() + after_.size()) return {};
  if (!data.ends_with(after_) || !data.starts_with(before_)) return {};
  const std::string_view text = data.substr(before_.size(), data.size() - before_.size() - after_.size());
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return plain ? text : std::string_view();
}

/// Remembers what stands around the text of a piece, if another text put there is read as just that.
void StreamReader::learn_form(const Piece& piece) {
  before_.clear();
  if (piece.finished || piece.usage) return;
  const std::string quoted = '"' + piece.text + '"';
  const std::size_t at = data_.find(quoted);
  if (at == std::string::npos || data_.find(quoted, at + 1) != std::string::npos) return;
  std::string before = data_.substr(0, at + 1);
  std::string after = data_.substr(at + quoted.size() - 1);
  Piece again;
  const bool same = read_piece(before + std::string(kProbeText) + after, again) && again.text == kProbeText &&
                    !again.finished && !again.usage && again.error.empty();
  if (!same) return;
  before_ = std::move(before);
  after_ = std::move(after);
}

void StreamReader::event() {
  has_data_ = false;
  if (done_) return data_.clear();
  if (const std::string_view text = like_last(); !text.empty()) {
    ++chunks_;
    if (keeps_text_) text_ += text;
    return data_.clear();
  }
  if (std::string_view(data_) == "[DONE]") {  // string == literal: GCC 12 warns at -O1
    done_ = true;
    return data_.clear();
  }
  Piece piece;
  if (!read_piece(data_, piece)) return fail("broken stream", data_);
  if (!piece.error.empty()) return fail("server error", piece.error);
  if (piece.usage && std::max({piece.usage->prompt, piece.usage->completion, piece.usage->cached}) > kMostTokens) {
    return fail("broken stream", data_);
  }
  if (!piece.text.empty()) {
    ++chunks_;
    if (keeps_text_) text_ += piece.text;
    learn_form(piece);
  }
  finished_ = finished_ || piece.finished;
  if (piece.usage) usage_ = piece.usage;
  data_.clear();
}

}  // namespace ridge::bench
