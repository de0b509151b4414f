// A JSON text as a plain tree, and strict access to it.
//
//   Result<JsonNode> root = parse_json(text, "config.json");       // refused: "config.json:3:9: ..."
//   JsonReader config(*root, "config.json");
//   int layers = config.integer({"num_hidden_layers", "n_layer"}, 1, 4096);
//   if (config.error()) return *config.error();                     // where = "config.json#/num_hidden_layers"
//
// parse_json is pure and may be called from any thread; a tree is a value. Refused: what is not JSON, text that is not
// UTF-8, more than kJsonSizeLimit bytes or kJsonValueLimit values, nesting deeper than kJsonDepthLimit, and a key that
// an object says twice, with both places. Python's NaN
// and Infinity, which occur in published files, are read as texts of that name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

inline constexpr std::size_t kJsonSizeLimit = 16'000'000;
inline constexpr std::size_t kJsonValueLimit = 500'000;
inline constexpr int kJsonDepthLimit = 64;

struct JsonMember;

struct JsonNode {
  enum class Kind : std::uint8_t { null, flag, integer, number, text, array, object };

  Kind kind = Kind::null;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;  ///< also of an integer
  std::string text;
  std::vector<JsonNode> items;
  std::vector<JsonMember> members;  ///< in the order of the file; no two have one key

  /// The member of an object, or nullptr; also nullptr if it is null or this is no object.
  [[nodiscard]] const JsonNode* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  JsonNode value;
};

Result<JsonNode> parse_json(std::string_view text, std::string_view where);

/// One object while it is read. Reading functions return defaults once something was refused; the first error is shared
/// by all readers made from one root. Lives no longer than the tree; one thread at a time.
class JsonReader {
 public:
  /// Keys that mean the same in different files: the first one present counts. A null is absent.
  using Names = std::initializer_list<std::string_view>;

  JsonReader(const JsonNode& root, std::string_view where);

  [[nodiscard]] bool has(std::string_view key) const { return node_->find(key) != nullptr; }
  [[nodiscard]] bool has_any(Names names) const;
  /// Also if it is null.
  [[nodiscard]] bool mentions(std::string_view key) const;

  int integer(Names names, int low, int high);  ///< required
  int optional_integer(Names names, int otherwise, int low, int high);
  /// The same, where a list of equal numbers (one per layer) stands for the number.
  int uniform_integer(Names names, int otherwise, int low, int high);
  double number(Names names, double low, double high);  ///< required
  bool flag(Names names, bool otherwise);
  std::string optional_text(std::string_view key);
  std::vector<std::string> texts(std::string_view key, std::size_t limit);  ///< empty if absent
  std::vector<int> integers(std::string_view key, int low, int high, std::size_t limit);
  std::vector<JsonReader> objects(std::string_view key, std::size_t limit);
  /// All objects inside the object at `key`, in the order of the file.
  std::vector<JsonReader> children(std::string_view key, std::size_t limit);
  /// The object at `key`; if it is absent, a reader of an empty one.
  JsonReader object(std::string_view key);

  [[nodiscard]] bool is_list(std::string_view key) const;
  [[nodiscard]] bool is_text(std::string_view key) const;

  /// Keeps an error at `key` of this object (or at the object itself, if empty), unless there is one already.
  void refuse(std::string_view key, std::string message);
  [[nodiscard]] const std::optional<Error>& error() const { return state_->error; }

 private:
  struct State {
    std::string where;
    std::optional<Error> error;
  };
  JsonReader(const JsonNode& node, std::string pointer, std::shared_ptr<State> state)
      : node_(&node), pointer_(std::move(pointer)), state_(std::move(state)) {}

  /// The first key of `names` that is present, and its value.
  [[nodiscard]] std::pair<std::string_view, const JsonNode*> first(Names names) const;
  std::optional<int> checked(std::string_view key, const JsonNode& node, int low, int high);
  const JsonNode* list(std::string_view key, std::size_t limit);

  const JsonNode* node_;
  std::string pointer_;
  std::shared_ptr<State> state_;
};

}  // namespace ridge
