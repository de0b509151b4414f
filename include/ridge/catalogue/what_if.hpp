// What-if: any figure of the catalogue changed for one run, with every check of the loader still on.
//
//   WhatIfSubjects about{.devices = {"h200-sxm"}, .models = {"llama3.3-70b"}};
//   auto overlays = what_if(std::vector<std::string>{"device.hbm_bandwidth=8TB/s"}, about);
//   auto catalogue = Catalogue::load({.data_directory = "data", .texts = *overlays});
//   if (!catalogue) return what_if_error(catalogue.error());   // "⟦set=device.hbm_bandwidth=8GB/s⟧: ... implausible"
//
// A setting is `device.KEY=VALUE`, `model.KEY=VALUE` or `system.KEY=VALUE`: KEY is the path in the entry's TOML
// (memory.bandwidth, docs/data-format.md) or one of the short names of what_if_keys(), VALUE carries its unit. It goes
// to every subject of that kind. All functions are pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

/// The entries that a question is about, by id. Partitions ("h100-sxm/mig-3g.40gb") stand for their device.
struct WhatIfSubjects {
  std::vector<std::string> devices = {};
  std::vector<std::string> models = {};
  std::vector<std::string> systems = {};
};

/// One overlay for each setting and subject. Refuses (bad_input, `where` = "⟦set=...⟧"): no `=`, an unknown kind or
/// short name (naming the nearest), a kind of which there is no subject, a model that is not of the catalogue. Whether
/// the path exists and the value is plausible, the loader says.
Result<std::vector<OverlayText>> what_if(std::span<const std::string> settings, const WhatIfSubjects& subjects);

/// What Catalogue::load said about an overlay of what_if(), without the line and column that nobody wrote.
[[nodiscard]] Error what_if_error(Error error);

/// "device.hbm_bandwidth", ...: the short names, and the paths that are likely to be asked for.
[[nodiscard]] std::vector<std::string> what_if_keys();

}  // namespace ridge
