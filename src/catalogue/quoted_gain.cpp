#include "ridge/catalogue/quoted_gain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"

namespace ridge {

namespace {

constexpr double kLargestFactor = 1000;

QuotedGain read_quote(TableReader t) {
  QuotedGain quote;
  quote.technique = t.text("technique");
  quote.low = t.number("low", 0.01, kLargestFactor);
  quote.high = t.number("high", 0.01, kLargestFactor);
  quote.of = t.text("of");
  quote.title = t.text("title");
  quote.where = t.text("where");
  quote.date = t.date("date");
  if (quote.high < quote.low) t.refuse("high", "has to be at least as much as low");
  return quote;
}

}  // namespace

Result<std::vector<QuotedGain>> load_quoted_gains(const std::string& directory) {
  const Result<std::vector<std::string>> files = files_in(directory, ".toml");
  if (!files) return files.error();
  std::vector<QuotedGain> quotes;
  const SourceIndex sources;  // a quote is its own source
  for (const std::string& file : *files) {
    const auto text = read_file(file, kTomlSizeLimit);
    if (!text) return text.error();
    const auto root = parse_toml(*text, file);
    if (!root) return root.error();
    for (const TomlMember& member : root->members) {
      if (member.key != "quote" || member.value.kind != TomlNode::Kind::array) {
        return Error{ErrorCode::bad_input, place_text(file, member.line, member.column),
                     fmt::format("unknown table '{}': write [[quote]]", member.key)};
      }
      for (const TomlNode& table : member.value.items) {
        const EntryLayer layer{&table, file};
        EntryReader entry("quote", {&layer, 1}, sources);
        quotes.push_back(read_quote(entry.root()));
        if (const Status status = entry.finish(); !status) return status.error();
      }
    }
  }
  return quotes;
}

}  // namespace ridge
