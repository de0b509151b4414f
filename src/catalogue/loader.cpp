// Catalogue::load: files to trees, trees to entries, entries to typed values, then the references between them.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>
#include <type_traits>

#include "catalogue/files/entry_set.hpp"
#include "catalogue/files/parse_files.hpp"
#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "catalogue/tables/tables.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

namespace {

// The other folders of the data directory (calibration, engines, evidence) have readers of their own.
constexpr std::string_view kFolders[] = {"sources", "devices", "fabrics", "systems", "models", "prices"};

/// The paths of all catalogue files below the data directory, sorted, so that every machine reads them alike.
Result<std::vector<std::string>> list_files(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (!fs::is_directory(directory, failure)) {
    return Error{ErrorCode::not_found, directory, "there is no such data directory"};
  }
  std::vector<std::string> paths;
  const auto add_folder = [&](const fs::path& folder) {
    for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
      if (at->path().extension() == ".toml") paths.push_back(at->path().string());
    }
  };
  add_folder(directory);
  for (const std::string_view folder : kFolders) {
    const fs::path path = fs::path(directory) / folder;
    std::error_code absent;
    if (fs::is_directory(path, absent)) add_folder(path);
    if (failure) return Error{ErrorCode::bad_input, path.string(), "the folder cannot be read: " + failure.message()};
  }
  if (paths.empty()) {
    return Error{ErrorCode::not_found, directory,
                 "holds no catalogue: architectures.toml, devices/ and so on are missing"};
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

class CatalogueLoader {
 public:
  Result<Catalogue> load(const CatalogueFiles& files) {
    Result<std::vector<std::string>> paths = list_files(files.data_directory);
    if (!paths) return paths.error();
    paths->insert(paths->end(), files.overlays.begin(), files.overlays.end());
    if (Status status = add_files(*std::move(paths)); !status) return status.error();
    for (const OverlayText& text : files.texts) {
      if (Status status = add_text(text); !status) return status.error();
    }
    if (Status status = read_entries(); !status) return status.error();
    if (Status status = check_references(); !status) return status.error();
    for (const std::string& path : files.price_lists) {
      if (Status status = add_price_list(path); !status) return status.error();
    }
    return std::move(catalogue_);
  }

 private:
  Status add_files(std::vector<std::string> paths) {
    paths_ = std::move(paths);
    roots_ = parse_files(paths_);
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (!roots_[i]) return roots_[i].error();
      if (Status status = entries_.add(*roots_[i], paths_[i]); !status) return status;
    }
    return {};
  }

  Status add_text(const OverlayText& overlay) {
    Result<TomlNode> root = parse_toml(overlay.text, overlay.name);
    if (!root) return root.error();
    const auto& [name, tree] = texts_.emplace_back(overlay.name, *std::move(root));
    return entries_.add(tree, name);
  }

  /// What a product of each design draws: an overlay that changes the flagship changes that device, not the design.
  Status measure_flagships() {
    const std::vector<const Entry*> devices = entries_.entries("device");
    for (Architecture& architecture : catalogue_.architectures_) {
      const auto named = [&](const Entry* e) { return e->id == architecture.flagship; };
      const auto at = std::find_if(devices.begin(), devices.end(), named);
      if (at == devices.end()) continue;  // none, or a name that check_references() refuses
      const Entry* first = *at;
      while (first->replaced != nullptr) first = first->replaced;
      const Result<std::vector<EntryLayer>> layers = entries_.layers("device", *first);
      if (!layers) return layers.error();
      EntryReader reader("device", *layers, source_index_);
      const Device flagship = read_device(reader.root(), catalogue_.architectures_);
      const auto& peak =
          flagship.peak(PeakFormat::bf16) ? flagship.peak(PeakFormat::bf16) : flagship.peak(PeakFormat::fp16);
      if (peak && flagship.tdp)
        architecture.flagship_flops_per_watt = peak->value.value() / flagship.tdp->value.value();
    }
    return {};
  }

  /// Reads all entries of a kind with `read(TableReader)`, in the order of their ids.
  template <class T, class Read>
  Status read_kind(std::string_view kind, std::vector<T>& into, Read read) {
    const std::vector<const Entry*> entries = entries_.entries(kind);
    into.reserve(into.size() + entries.size());
    for (const Entry* entry : entries) {
      const Result<std::vector<EntryLayer>> layers = entries_.layers(kind, *entry);
      if (!layers) return layers.error();
      EntryReader reader(kind, *layers, source_index_);
      into.push_back(read(reader.root()));
      if (Status status = reader.finish(); !status) return status;
      std::move(reader.references().begin(), reader.references().end(), std::back_inserter(references_));
    }
    return {};
  }

  Status read_entries() {
    Catalogue& c = catalogue_;
    // Position 0 is what a value refers to that came from the command line or a file of another format.
    c.sources_.push_back({std::string(kOutsideSource), "Given by the user", "command line or the user's own file", "",
                          SourceKind::estimate});
    if (Status s = read_kind("source", c.sources_, read_source); !s) return s;
    for (std::uint32_t i = 1; i < c.sources_.size(); ++i) source_index_.add(c.sources_[i].id, {i});
    if (!texts_.empty()) source_index_.add(kOutsideSource, {0});

    if (Status s = read_kind("architecture", c.architectures_, read_architecture); !s) return s;
    const auto read_checked_device = [&](TableReader t) { return read_device(t, c.architectures_); };
    if (Status s = read_kind("device", c.devices_, read_checked_device); !s) return s;
    if (Status s = measure_flagships(); !s) return s;
    if (Status s = read_kind("fabric", c.fabrics_, read_fabric); !s) return s;
    if (Status s = read_kind("system", c.systems_, read_system); !s) return s;
    if (Status s = read_kind("model", c.models_, read_model); !s) return s;
    if (Status s = read_kind("price", c.prices_, read_price); !s) return s;
    return read_kind("alias", aliases_, read_alias);
  }

  Status check_references() const {
    for (const Reference& reference : references_) {
      if (entries_.contains(reference.kind, reference.id)) continue;
      const std::vector<std::string_view> ids = entries_.ids(reference.kind);
      const std::string near = nearest(reference.id, ids.data(), ids.size());
      return Error{ErrorCode::bad_input, reference.where,
                   fmt::format("there is no {} {}{}", reference.kind, ridge::quoted(reference.id),
                               near.empty() ? "" : fmt::format("; did you mean {}?", near))};
    }
    return {};
  }

  Status add_price_list(const std::string& path) {
    Result<std::string> text = read_file(path, kPriceListLimit);
    if (!text) return text.error();
    const SourceId source{static_cast<std::uint32_t>(catalogue_.sources_.size())};
    Result<PriceList> list = read_price_list(*std::move(text), path, source, catalogue_.devices_, aliases_);
    if (!list) return list.error();
    catalogue_.sources_.push_back({path, "Price list given by the user", path, "", SourceKind::price_list});
    std::move(list->prices.begin(), list->prices.end(), std::back_inserter(catalogue_.prices_));
    std::move(list->remarks.begin(), list->remarks.end(), std::back_inserter(catalogue_.remarks_));
    return {};
  }

  static constexpr std::size_t kPriceListLimit = 64'000'000;

  std::vector<std::string> paths_;
  std::vector<Result<TomlNode>> roots_;                 ///< of the paths; entries_ points into both
  std::deque<std::pair<std::string, TomlNode>> texts_;  // entries point into it
  EntrySet entries_;
  SourceIndex source_index_;
  std::vector<Reference> references_;
  std::vector<PriceAlias> aliases_;
  Catalogue catalogue_;
};

Result<Catalogue> Catalogue::load(const CatalogueFiles& files) {
  return CatalogueLoader().load(files);
}

}  // namespace ridge
