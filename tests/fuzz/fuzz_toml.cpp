// Any bytes are a catalogue file or an error with its place: the parser, the entries and every reader of a table.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "catalogue/files/entry_set.hpp"
#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "catalogue/tables/tables.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void require_place(const ridge::Error& error) {
  require(error.where.starts_with("t.toml") && !error.message.empty());
}

template <class Read>
void read_kind(const ridge::EntrySet& set, std::string_view kind, const ridge::SourceIndex& sources, Read read) {
  for (const ridge::Entry* entry : set.entries(kind)) {
    const auto layers = set.layers(kind, *entry);
    if (!layers) {
      require_place(layers.error());
      continue;
    }
    ridge::EntryReader reader(kind, *layers, sources);
    read(reader.root());
    if (const ridge::Status status = reader.finish(); !status) require_place(status.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto root = ridge::parse_toml(text, "t.toml");
  if (!root) {
    require_place(root.error());
    return 0;
  }
  ridge::EntrySet set;
  if (const ridge::Status status = set.add(*root, "t.toml"); !status) {
    require_place(status.error());
    return 0;
  }
  ridge::SourceIndex sources;
  sources.add("s", {1});
  std::vector<ridge::Architecture> architectures;
  read_kind(set, "source", sources, ridge::read_source);
  read_kind(set, "architecture", sources,
            [&](ridge::TableReader t) { architectures.push_back(ridge::read_architecture(t)); });
  read_kind(set, "device", sources, [&](ridge::TableReader t) { return ridge::read_device(t, architectures); });
  read_kind(set, "fabric", sources, ridge::read_fabric);
  read_kind(set, "system", sources, ridge::read_system);
  read_kind(set, "model", sources, ridge::read_model);
  read_kind(set, "price", sources, ridge::read_price);
  read_kind(set, "alias", sources, ridge::read_alias);
  return 0;
}
