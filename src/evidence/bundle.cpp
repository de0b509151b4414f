#include "evidence/bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "evidence/case_files.hpp"
#include "ridge/file.hpp"

namespace ridge::evidence {
namespace {

constexpr std::size_t kFileLimit = 256u << 20;
constexpr const char* kTables[] = {"training.csv", "inference.csv", "consumer.csv", "kernels.csv", "power.csv", "diffusion.csv"};

std::vector<std::string> csv_files(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".csv") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status append(std::vector<Case>& cases, const std::string& path, const AssumedLengths& lengths, bool fitted) {
  auto text = read_file(path, kFileLimit);
  if (!text) return text.error();
  auto read = read_cases(std::move(*text), path, lengths);
  if (!read) return read.error();
  for (Case& c : *read) c.fitted = fitted;
  std::move(read->begin(), read->end(), std::back_inserter(cases));
  return {};
}

}  // namespace

Result<AssumedLengths> load_assumed_lengths(const std::string& data_directory) {
  const std::string path = data_directory + "/evidence/assumed_lengths.csv";
  auto text = read_file(path, kFileLimit);
  if (!text) return text.error();
  return read_assumed_lengths(std::move(*text), path);
}

Result<Bundle> load_bundle(const std::string& data_directory) {
  auto lengths = load_assumed_lengths(data_directory);
  if (!lengths) return lengths.error();
  Bundle bundle{std::move(*lengths), {}};
  for (const char* table : kTables) {
    const Status status = append(bundle.cases, data_directory + "/evidence/" + table, bundle.lengths, true);
    if (!status) return status.error();
  }
  for (const std::string& path : csv_files(data_directory + "/evidence/added")) {
    const Status status = append(bundle.cases, path, bundle.lengths, false);
    if (!status) return status.error();
  }
  return bundle;
}

Result<std::vector<Case>> load_cases(std::span<const std::string> paths, const AssumedLengths& lengths) {
  std::vector<Case> cases;
  for (const std::string& path : paths) {
    const Status status = append(cases, path, lengths, true);
    if (!status) return status.error();
  }
  return cases;
}

}  // namespace ridge::evidence
