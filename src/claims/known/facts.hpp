// Published training runs and a few yardsticks that claims are measured against (data/claims/facts.toml).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "claims/text/written_number.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::claims {

struct PublishedRun {
  std::string model;     ///< catalogue id
  double tokens = 0;     ///< of pre-training
  double gpu_hours = 0;  ///< 0 = not published
  int sequence = 0;
  std::string source;  ///< title and date, for people
};

/// A figure that is published beside the catalogue's, and just as right.
struct AlsoPublished {
  std::string of;
  std::string figure;
  Measure value;
  std::string why;
};

struct Facts {
  std::vector<PublishedRun> runs;
  std::vector<AlsoPublished> also;

  /// nullptr if none is known.
  [[nodiscard]] const PublishedRun* run(std::string_view model) const;
  static Result<Facts> load(const Catalogue& catalogue, std::string_view toml, std::string_view file);
};

}  // namespace ridge::claims
