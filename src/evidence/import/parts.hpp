// What the importers share: names that files use, as ids of the catalogue; rows under construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evidence/import/import.hpp"
#include "ridge/base/csv.hpp"

namespace ridge::evidence {

/// "meta-llama/Llama-3.1-8B-Instruct" → "llama3.1-8b": the longest id whose letters and digits stand in the name.
Result<std::string> model_like(std::string_view name, const Catalogue& catalogue, const std::string& where);
/// "h200", "NVIDIA H100 80GB HBM3" → an id.
Result<std::string> device_named(std::string_view name, const Catalogue& catalogue, const std::string& where);
/// Six significant digits, as evidence tables write numbers; empty for 0.
[[nodiscard]] std::string cell_number(double value);
/// The end of a path, in lower case, without what ids do not have.
[[nodiscard]] std::string id_of_file(const std::string& file);

/// A table whose columns are named once; cells that are not set stay empty.
class Rows {
 public:
  explicit Rows(std::vector<std::string_view> columns);
  void begin();
  void set(std::string_view column, std::string value);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  std::vector<std::string_view> columns_;
  std::vector<std::vector<std::string>> rows_;
};

Result<std::string> import_nccl_tests(std::string_view text, const std::string& file, const ImportOptions& options,
                                      const Catalogue& catalogue);
Result<std::string> import_vllm(std::string_view text, const std::string& file, const ImportOptions& options,
                                const Catalogue& catalogue);
Result<std::string> import_inferencex(std::string_view text, const std::string& file, const ImportOptions& options,
                                      const Catalogue& catalogue);
Result<std::string> import_nvidia_smi(std::string_view text, const std::string& file, const ImportOptions& options,
                                      const Catalogue& catalogue);

}  // namespace ridge::evidence
