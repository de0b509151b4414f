// What documents call the devices, systems, models, fabrics and number formats of the catalogue.
//
//   const auto hit = names.match("NVIDIA H100-SXM-80GB at", 7);   // hit->name->id == "h100-sxm"
//
// Every id and name of the catalogue is known, and the spellings of data/claims/names.toml. Letter case, spaces,
// hyphens and a plural s do not matter; the longest spelling wins. Immutable once loaded; any thread may read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::claims {

enum class NameKind : std::uint8_t { device, system, model, fabric, format };

struct Name {
  NameKind kind = NameKind::device;
  std::string id;
  std::vector<std::string> also;  ///< other entries that the same words may mean: 'B200' with 180 or 192 GB
  std::string previous;           ///< the generation that "an increase of 43 %" without a partner is measured against
};

class Names {
 public:
  static Result<Names> load(const Catalogue& catalogue, std::string_view toml, std::string_view file);

  struct Hit {
    const Name* name = nullptr;
    std::size_t end = 0;
  };
  /// The longest name that starts at `at`, which must be the start of a word.
  [[nodiscard]] std::optional<Hit> match(std::string_view text, std::size_t at) const;
  /// The name that is all of `text`, or nullptr.
  [[nodiscard]] const Name* find(std::string_view text) const;
  /// What else the words for this entry may mean; never nullptr for an id of the catalogue.
  [[nodiscard]] const Name* of_id(std::string_view id) const;

 private:
  void add(const std::string& spelling, std::size_t index);
  std::vector<Name> names_;
  std::unordered_map<std::string, std::size_t> spellings_;  // bare spelling to index
  std::unordered_map<std::string, std::size_t> ids_;
  std::size_t longest_ = 0;
};

}  // namespace ridge::claims
