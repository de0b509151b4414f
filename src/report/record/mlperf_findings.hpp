// Sentences about MLPerf results, each computed from the rows it names and carrying its numbers.
//
//   MlperfFindings findings({results, names, knowledge}, Language::en);
//   findings.ratio("b200-sxm-180gb", "h200-sxm-141gb", "llama2-70b-99.9", "Offline");
//   // "llama2-70b-99.9 Offline, v5.1: b200-sxm-180gb is 2.85× h200-sxm-141gb per accelerator (12,420 against ..."
//
// A sentence whose rows do not exist is empty. The evidence must outlive the object. One thread per object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/page/article.hpp"
#include "ridge/mlperf/mlperf_analysis.hpp"

namespace ridge::report {

struct MlperfEvidence {
  const mlperf::Results& results;
  const mlperf::Names& names;
  const Knowledge& knowledge;
};

class MlperfFindings {
 public:
  MlperfFindings(const MlperfEvidence& evidence, Language language) : evidence_(evidence), language_(language) {}

  /// `first` over `second` per accelerator in the newest round that has both, beside the ratios of their datasheets.
  [[nodiscard]] std::string ratio(std::string_view first, std::string_view second, std::string_view benchmark,
                                  std::string_view scenario) const;
  /// The fastest accelerator in the newest round of a benchmark and scenario.
  [[nodiscard]] std::string fastest(std::string_view benchmark, std::string_view scenario) const;
  /// Server or Interactive over Offline of the same systems.
  [[nodiscard]] std::string share(std::string_view benchmark, std::string_view scenario) const;
  /// How GPT-J's units were brought together.
  [[nodiscard]] std::string units() const;

  [[nodiscard]] std::vector<std::string> coupling() const;
  [[nodiscard]] std::vector<std::string> generations() const;
  [[nodiscard]] std::vector<std::string> elasticity() const;
  [[nodiscard]] std::vector<std::string> virtualised() const;
  [[nodiscard]] std::vector<std::string> power() const;

 private:
  /// What is predicted for both sides of the Interactive comparisons, which differ in software.
  [[nodiscard]] std::string same_software(const std::vector<mlperf::Ratio>& ratios) const;
  [[nodiscard]] std::optional<mlperf::Ratio> newest(std::string_view first, std::string_view second,
                                                    std::string_view benchmark, std::string_view scenario) const;
  [[nodiscard]] const Device* device(std::string_view accelerator) const;
  [[nodiscard]] const char* say(const char* en, const char* zh) const { return language_ == Language::en ? en : zh; }

  MlperfEvidence evidence_;
  Language language_;
};

}  // namespace ridge::report
