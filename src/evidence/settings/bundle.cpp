#include "evidence/settings/bundle.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "evidence/cases/case_files.hpp"
#include "evidence/settings/published_settings.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"

namespace ridge::evidence {
namespace {

constexpr std::size_t kFileLimit = 256u << 20;
constexpr const char* kTables[] = {"training.csv", "inference.csv", "consumer.csv", "kernels.csv",
                                   "dispatch.csv", "power.csv",     "diffusion.csv"};
/// Of other vendors, software and publishers: the physics was never fitted to them, so their errors are honest ones.
constexpr const char* kMore[] = {"more/training.csv", "more/qlora.csv", "more/inference.csv", "more/mlperf.csv",
                                 "more/kernels.csv"};

/// None where there is no such folder.
std::vector<std::string> csv_files(const std::string& folder) {
  Result<std::vector<std::string>> paths = files_in(folder, ".csv");
  return paths ? *std::move(paths) : std::vector<std::string>{};
}

Status append(std::vector<Case>& cases, const std::string& path, const AssumedWorkloads& workloads, bool fitted,
              Reading reading) {
  auto text = read_file(path, kFileLimit);
  if (!text) return text.error();
  auto read = read_cases(std::move(*text), path, workloads, reading);
  if (!read) return read.error();
  for (Case& c : *read) c.fitted = fitted;
  std::move(read->begin(), read->end(), std::back_inserter(cases));
  return {};
}

}  // namespace

Result<AssumedWorkloads> load_assumed_workloads(const std::string& data_directory) {
  const std::string path = data_directory + "/evidence/assumed_workloads.csv";
  auto text = read_file(path, kFileLimit);
  if (!text) return text.error();
  return read_assumed_workloads(std::move(*text), path);
}

Result<Bundle> load_bundle(const std::string& data_directory) {
  auto workloads = load_assumed_workloads(data_directory);
  if (!workloads) return workloads.error();
  Bundle bundle{std::move(*workloads), {}};
  for (const char* table : kTables) {
    const Status status =
        append(bundle.cases, data_directory + "/evidence/" + table, bundle.workloads, true, Reading::strict);
    if (!status) return status.error();
  }
  for (const char* table : kMore) {
    const std::size_t before = bundle.cases.size();
    const Status status =
        append(bundle.cases, data_directory + "/evidence/" + table, bundle.workloads, true, Reading::strict);
    if (!status) return status.error();
    for (std::size_t i = before; i < bundle.cases.size(); ++i) bundle.cases[i].physics = false;
  }
  for (const std::string& path : csv_files(data_directory + "/evidence/added")) {
    const Status status = append(bundle.cases, path, bundle.workloads, false, Reading::strict);
    if (!status) return status.error();
  }
  const auto settings = load_published_settings(data_directory);
  if (!settings) return settings.error();
  for (Case& c : bundle.cases) {
    auto* query = std::get_if<InferenceQuery>(&c.input);
    if (query == nullptr) continue;
    if (const ServerSettings* s = find_settings(*settings, c.source, *query)) apply(*s, *query);
  }
  return bundle;
}

Result<std::vector<Case>> load_cases(std::span<const std::string> paths, const AssumedWorkloads& workloads) {
  std::vector<Case> cases;
  for (const std::string& path : paths) {
    const Status status = append(cases, path, workloads, true, Reading::forgiving);
    if (!status) return status.error();
  }
  return cases;
}

}  // namespace ridge::evidence
