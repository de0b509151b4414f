#include "ridge/catalogue/quoted_gain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "catalogue/files/parse_files.hpp"
#include "catalogue/files/table_reader.hpp"

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
  std::vector<QuotedGain> quotes;
  const SourceIndex sources;  // a quote is its own source
  const Status read = each_table(directory, "quote", [&](const TomlNode& table, const std::string& file) -> Status {
    const EntryLayer layer{&table, file};
    EntryReader entry("quote", {&layer, 1}, sources);
    quotes.push_back(read_quote(entry.root()));
    return entry.finish();
  });
  if (!read) return read.error();
  return quotes;
}

}  // namespace ridge
