// Reads one entry of the catalogue ([[device]], [[model]], ...) strictly, with few words.
//
//   Device read_device(TableReader t) {
//     Device device;
//     device.id = t.id();
//     device.name = t.text("name");                              // required
//     device.notes = t.optional_text("notes");
//     device.source = t.source();                                // default of the figures
//     TableReader memory = t.table("memory");                    // absent: nothing in it is known
//     device.memory_bandwidth = memory.figure<BytesPerSecond>("bandwidth", gigabytes(10) / seconds(1), ...);
//     return device;
//   }
//
// A reading function neither checks nor returns errors: the first one is kept in the EntryReader, later calls return
// defaults, and EntryReader::finish() hands it out, after looking for keys that nobody asked for. All messages carry
// file:line:column and the fix. A TableReader is a handle that lives no longer than its EntryReader; one thread per
// EntryReader.
//
// An entry may have several layers (`based_on`): a key is taken from the first layer that has it, tables are merged key
// by key, and a figure's default source is the one of the layer in which the figure stands.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/quantity.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

/// Ids of all sources, to resolve `source = "..."`.
class SourceIndex {
 public:
  void add(std::string_view id, SourceId position) { positions_.emplace(id, position); }
  [[nodiscard]] std::optional<SourceId> find(std::string_view id) const;
  /// "did you mean ...?" or empty.
  [[nodiscard]] std::string suggestion(std::string_view id) const;

 private:
  std::unordered_map<std::string, SourceId> positions_;
};

/// `id` was named in a place where an entry of `kind` has to exist; checked once everything is read.
struct Reference {
  std::string_view kind;  ///< "device", "fabric", ...
  std::string id;
  std::string where;
};

struct EntryLayer {
  const TomlNode* table = nullptr;
  std::string_view file;
};

class EntryReader;

class TableReader {
 public:
  /// The id of an entry: lower case letters, digits, '.' and '-'.
  std::string id();
  std::string text(std::string_view key);
  std::string optional_text(std::string_view key);
  /// "2026", "2026-08" or "2026-08-31".
  std::string date(std::string_view key);
  /// The id of another entry, or empty if the key is absent; that it exists is checked after loading.
  std::string reference(std::string_view key, std::string_view kind);
  bool flag(std::string_view key, bool otherwise = false);

  int integer(std::string_view key, int low, int high);
  int optional_integer(std::string_view key, int otherwise, int low, int high);
  double number(std::string_view key, double low, double high);
  std::optional<double> optional_number(std::string_view key, double low, double high);
  /// A large count, as a whole number or as text: "8.03B".
  std::optional<double> optional_count(std::string_view key, double low, double high);
  std::vector<int> integers(std::string_view key, int low, int high);
  std::vector<std::string> texts(std::string_view key);

  /// One of the given words.
  template <class E>
  E choice(std::string_view key, std::initializer_list<std::pair<std::string_view, E>> words) {
    require(key);
    return optional_choice(key, E{}, words);
  }
  template <class E>
  E optional_choice(std::string_view key, E otherwise, std::initializer_list<std::pair<std::string_view, E>> words) {
    std::vector<std::string_view> names;
    for (const auto& word : words) names.push_back(word.first);
    const std::optional<std::size_t> chosen = choice_index(key, names);
    return chosen ? (words.begin() + *chosen)->second : otherwise;
  }

  /// A quantity in text ("4.8 TB/s") or `{ value = "...", source = "..." }`, with its source; empty if the key is
  /// absent. Outside of low to high it is refused as implausible, naming the unit that was probably meant.
  template <class Q>
  Figure<Q> figure(std::string_view key, Q low, Q high) {
    const auto read = measure(key, Q::dimension::exponents, low.value(), high.value(), true);
    if (!read) return std::nullopt;
    return Sourced<Q>{Q(read->value), read->source};
  }
  /// A whole number with its source: `count = 132`.
  Figure<int> figure_integer(std::string_view key, int low, int high);
  /// A required quantity that needs no source of its own.
  template <class Q>
  Q quantity(std::string_view key, Q low, Q high) {
    require(key);
    const auto read = measure(key, Q::dimension::exponents, low.value(), high.value(), false);
    return read ? Q(read->value) : Q();
  }

  /// A sub-table; if it is absent, a reader of an empty one.
  TableReader table(std::string_view key);
  /// An array of tables ([[device.partition]]).
  std::vector<TableReader> tables(std::string_view key);

  /// The default source of this table; refused if neither it nor a table around it names one.
  SourceId source();
  [[nodiscard]] Place place() const;
  [[nodiscard]] bool has(std::string_view key) const;
  /// Refuses if the key is absent.
  void require(std::string_view key);
  /// Refuses what stands at `key` (or the table, if there is none) for a reason of the caller's.
  void refuse(std::string_view key, std::string message);
  /// Whether anything in the entry was refused so far.
  [[nodiscard]] bool failed() const;

 private:
  friend class EntryReader;
  struct Layer {
    const TomlNode* table;
    std::string_view file;
    std::optional<SourceId> source;
  };
  struct Table {
    std::string name;           ///< "device.memory"
    std::vector<Layer> layers;  ///< first wins; empty if the table is absent
    std::vector<std::string_view> known;
    const Table* around = nullptr;
  };
  struct Found {
    const TomlMember* member = nullptr;
    const Layer* layer = nullptr;
    explicit operator bool() const { return member != nullptr; }
  };

  TableReader(EntryReader& entry, Table& table) : entry_(&entry), table_(&table) {}

  /// The member of that key, which is known from now on.
  Found find(std::string_view key);
  /// The same, refused unless it is of the kind.
  Found find(std::string_view key, TomlNode::Kind kind);
  /// Where this table begins; if it is absent, the nearest one around it.
  [[nodiscard]] const Layer& beginning() const;
  void refuse_at(const Layer& layer, const TomlNode& node, std::string message);
  void refuse_kind(const Found& found, std::string_view wanted);
  [[nodiscard]] std::string spoken(std::string_view key) const;
  std::optional<SourceId> resolve(const Layer& layer, const TomlNode& node);
  std::optional<Sourced<double>> measure(std::string_view key, const int (&dimension)[9], double low, double high,
                                         bool sourced);
  std::optional<std::size_t> choice_index(std::string_view key, std::span<const std::string_view> names);
  std::optional<int> checked_integer(const Layer& layer, std::string_view key, const TomlNode& node, int low, int high);
  /// The value of `{ value = ..., source = ... }` or of the plain form, and its source.
  std::optional<std::pair<const TomlNode*, SourceId>> sourced_value(const Found& found, std::string_view key,
                                                                    bool sourced);

  EntryReader* entry_;
  Table* table_;
};

/// One entry while it is read.
class EntryReader {
 public:
  /// `kind` is the table's name ("device"); `layers` are the entry itself and what it is based on, nearest first.
  EntryReader(std::string_view kind, std::span<const EntryLayer> layers, const SourceIndex& sources);
  EntryReader(const EntryReader&) = delete;
  EntryReader& operator=(const EntryReader&) = delete;

  TableReader root() { return {*this, tables_.front()}; }
  /// The first error, also of keys that nobody asked for. Call it after reading.
  Status finish();
  [[nodiscard]] std::vector<Reference>& references() { return references_; }

 private:
  friend class TableReader;
  void refuse(std::string where, std::string message);

  const SourceIndex& sources_;
  std::deque<TableReader::Table> tables_;
  std::vector<Reference> references_;
  std::optional<Error> error_;
};

/// A quantity as a person would write it, without zeros that say nothing: "4.8 TB/s", not "4.80 TB/s".
[[nodiscard]] std::string written(double base_units, const int (&dimension)[9]);
template <class Dim>
[[nodiscard]] std::string written(Quantity<Dim> quantity) {
  return written(quantity.value(), Dim::exponents);
}

/// Whether `text` may be the id of an entry.
[[nodiscard]] bool is_valid_id(std::string_view text);
/// Whether `text` is "2026", "2026-08" or "2026-08-31".
[[nodiscard]] bool is_valid_date(std::string_view text);

}  // namespace ridge
