#include "evidence/import/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "evidence/import/parts.hpp"
#include "evidence/measured/device.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"

namespace ridge::evidence {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"nccl-tests", "vllm", "nvidia-smi", "inferencex"};

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

}  // namespace

std::string_view name(ImportKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

Result<ImportKind> parse_import_kind(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<ImportKind>(i);
  }
  return Error{ErrorCode::bad_input, "⟦kind⟧",
               fmt::format("{} is no kind of file: nccl-tests, vllm, nvidia-smi or inferencex", quoted(text))};
}

Result<ImportKind> kind_of_file(std::string_view text, const std::string& file) {
  const std::string_view head = text.substr(0, 65536);
  if (contains(head, "busbw") && contains(head, "algbw")) return ImportKind::nccl_tests;
  if (contains(head, "\"tput_per_gpu\"") || contains(head, "\"output_tput_per_gpu\"")) return ImportKind::inferencex;
  if (contains(head, "\"output_throughput\"") || contains(head, "\"total_output_tokens\"")) return ImportKind::vllm;
  const std::string_view first = head.substr(0, head.find('\n'));
  if (contains(first, "power.draw")) return ImportKind::nvidia_smi;
  return Error{ErrorCode::bad_input, file,
               "looks like no measurement that is known: the output of nccl-tests, the JSON of `vllm bench serve "
               "--save-result` or of InferenceX, or the CSV of nvidia-smi with power.draw; say which by ⟦kind⟧"};
}

Result<std::string> model_like(std::string_view name, const Catalogue& catalogue, const std::string& where) {
  const std::string wanted = squeezed(name.substr(name.rfind('/') + 1));
  const Model* best = nullptr;
  std::size_t longest = 0;
  for (const Model& model : catalogue.models()) {
    const std::string id = squeezed(model.id);
    if (id.size() > longest && contains(wanted, id)) {
      best = &model;
      longest = id.size();
    }
  }
  if (best != nullptr) return best->id;
  return Error{ErrorCode::bad_input, where,
               fmt::format("the catalogue has no model like {}; name one by ⟦model⟧", quoted(name))};
}

Result<std::string> device_named(std::string_view name, const Catalogue& catalogue, const std::string& where) {
  if (catalogue.device(name) != nullptr) return std::string(name);
  measure::Profile profile;
  profile.facts.name = name;
  const Result<std::string> id = device_like(profile, catalogue);
  if (id) return *id;
  return Error{ErrorCode::bad_input, where,
               fmt::format("the catalogue has no device like {}; name one by ⟦device⟧", quoted(name))};
}

std::string cell_number(double value) {
  return value == 0 ? std::string() : fmt::format("{:.6g}", value);
}

std::string id_of_file(const std::string& file) {
  std::string out;
  for (const char c : file.substr(file.rfind('/') + 1)) {
    const bool good = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (good) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  return out;
}

Rows::Rows(std::vector<std::string_view> columns) : columns_(std::move(columns)) {}

void Rows::begin() {
  rows_.emplace_back(columns_.size());
}

void Rows::set(std::string_view column, std::string value) {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  if (at != columns_.end()) rows_.back()[static_cast<std::size_t>(at - columns_.begin())] = std::move(value);
}

std::string Rows::text() const {
  std::string out;
  CsvWriter csv(out);
  for (const std::string_view column : columns_) csv.cell(column);
  csv.end_row();
  for (const auto& row : rows_) {
    for (const std::string& cell : row) csv.cell(cell);
    csv.end_row();
  }
  return out;
}

Result<std::string> import_measurements(ImportKind kind, std::string_view text, const std::string& file,
                                        const ImportOptions& options, const Catalogue& catalogue) {
  switch (kind) {
    case ImportKind::nccl_tests:
      return import_nccl_tests(text, file, options, catalogue);
    case ImportKind::vllm:
      return import_vllm(text, file, options, catalogue);
    case ImportKind::nvidia_smi:
      return import_nvidia_smi(text, file, options, catalogue);
    case ImportKind::inferencex:
      return import_inferencex(text, file, options, catalogue);
  }
  return Error{ErrorCode::bad_input, file, "is of no kind"};
}

}  // namespace ridge::evidence
