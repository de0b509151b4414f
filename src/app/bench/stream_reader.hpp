// Answers as inference servers stream them: server-sent events, each a JSON object with a piece of text, a closing
// piece with the usage, and [DONE].
//
//   StreamReader reader;
//   reader.feed(bytes);                       // as they come, cut anywhere
//   reader.chunks();                          // pieces with text so far
//   reader.done(); reader.usage();
//
// Never throws and never reads past what it was given. What is no event stream, no JSON, longer than a megabyte a line,
// a usage of more tokens than anybody computes, or an error that the server reports makes failed() true, with the
// reason; later bytes are ignored. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::bench {

struct Usage {
  std::uint64_t prompt = 0;
  std::uint64_t completion = 0;
  std::uint64_t cached = 0;
};

/// One JSON object of a stream, or a whole answer.
struct Piece {
  std::string text;       ///< of the first choice: text, delta.content, delta.reasoning_content or message.content
  bool finished = false;  ///< a finish_reason is given
  std::optional<Usage> usage;
  std::string error;  ///< what the server says went wrong, or empty
};
/// False if the text is no JSON object.
[[nodiscard]] bool read_piece(std::string_view json, Piece& piece);

class StreamReader {
 public:
  static constexpr std::size_t kLongestLine = 1'000'000;

  /// Whether the text of the answer is kept.
  explicit StreamReader(bool keeps_text = false) : keeps_text_(keeps_text) {}
  void feed(std::string_view bytes);
  /// No byte follows: an event without its blank line is read too.
  void finish();

  [[nodiscard]] std::uint32_t chunks() const { return chunks_; }
  [[nodiscard]] bool done() const { return done_; }
  /// The end of the answer was announced, by [DONE] or a finish_reason.
  [[nodiscard]] bool complete() const { return done_ || finished_; }
  [[nodiscard]] bool failed() const { return !problem_.empty(); }
  /// "broken stream" or "server error".
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }
  [[nodiscard]] const std::optional<Usage>& usage() const { return usage_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void line(std::string_view text);
  void event();
  void fail(std::string problem, std::string_view detail);
  [[nodiscard]] std::string_view like_last() const;
  void learn_form(const Piece& piece);

  bool keeps_text_;
  std::string pending_;  // a line that is not complete
  std::string data_;     // of the event that is being read
  std::string before_;   // what stood around the text of a piece: pieces of one answer differ in nothing else
  std::string after_;
  bool has_data_ = false;
  bool after_return_ = false;
  bool begun_ = false;
  bool done_ = false;
  bool finished_ = false;
  std::uint32_t chunks_ = 0;
  std::optional<Usage> usage_;
  std::string text_;
  std::string problem_;
  std::string detail_;
};

}  // namespace ridge::bench
