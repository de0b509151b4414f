#include "ridge/facility/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLongestFile = 8'000'000;

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// Columns by name; the last call tells whether all are there.
class Columns {
 public:
  explicit Columns(const CsvTable& table) : table_(table) {}
  [[nodiscard]] Status need(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const Result<std::size_t> at = table_.required_column(name);
      if (!at) return at.error();
      at_.push_back(*at);
    }
    return {};
  }
  [[nodiscard]] std::string text(std::size_t row, std::size_t i) const { return std::string(table_.cell(row, at_[i])); }
  Result<double> number(std::size_t row, std::size_t i) const {
    const std::string cell = text(row, i);
    if (cell.empty()) return 0.0;
    char* end = nullptr;
    const double value = std::strtod(cell.c_str(), &end);
    if (*end != '\0' || !(value >= 0) || value > 1e12) return table_.error(row, at_[i], "this is no number");
    return value;
  }
  [[nodiscard]] Error wrong(std::size_t row, std::size_t i, std::string message) const {
    return table_.error(row, at_[i], std::move(message));
  }

 private:
  const CsvTable& table_;
  std::vector<std::size_t> at_;
};

}  // namespace

const Checkpoint* Checkpoints::find(std::string_view model, Format format, std::string_view vendor) const {
  const Checkpoint* last = nullptr;
  for (const Checkpoint& c : all_) {
    if (c.model != model || c.format != format) continue;
    if (c.scheme == "modelopt" && vendor != "NVIDIA") continue;
    if (c.scheme == "quark" && vendor == "NVIDIA") {
      if (last == nullptr) last = &c;
      continue;
    }
    return &c;
  }
  return last;
}

const Checkpoint* Checkpoints::repository(std::string_view name) const {
  const auto at =
      std::find_if(all_.begin(), all_.end(), [&](const Checkpoint& c) { return same_letters(c.repository, name); });
  return at == all_.end() ? nullptr : &*at;
}

Result<Checkpoints> load_checkpoints(const std::string& file) {
  Result<std::string> text = read_file(file, kLongestFile);
  if (!text) return text.error();
  const Result<CsvTable> table = CsvTable::parse(*std::move(text), file);
  if (!table) return table.error();
  Columns columns(*table);
  if (const Status s = columns.need({"model", "format", "repository", "scheme", "gated", "source"}); !s)
    return s.error();
  std::vector<Checkpoint> all;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    Checkpoint c;
    c.model = columns.text(row, 0);
    const Result<Format> format = parse_format(columns.text(row, 1));
    if (!format) return columns.wrong(row, 1, format.error().message);
    c.format = *format;
    c.repository = columns.text(row, 2);
    if (c.repository.find('/') == std::string::npos) return columns.wrong(row, 2, "a repository is OWNER/NAME");
    c.scheme = columns.text(row, 3);
    c.gated = columns.text(row, 4) == "yes";
    c.source = columns.text(row, 5);
    if (c.source.empty()) return columns.wrong(row, 5, "where it was seen is missing");
    all.push_back(std::move(c));
  }
  return Checkpoints(std::move(all));
}

std::string conversion_command(Format format, std::string_view vendor, std::string_view repository,
                               std::string_view folder) {
  const auto compress = [&](std::string_view scheme) {
    return fmt::format(
        "python3 -c 'from llmcompressor import oneshot; from llmcompressor.modifiers.quantization import "
        "QuantizationModifier; oneshot(model=\"{}\", recipe=QuantizationModifier(targets=\"Linear\", scheme=\"{}\", "
        "ignore=[\"lm_head\"]), output_dir=\"{}\")'",
        repository, scheme, folder);
  };
  switch (format) {
    case Format::fp8:
      return compress("FP8_DYNAMIC");
    case Format::int8:
      return compress("W8A8");
    case Format::int4:
      return compress("W4A16");
    case Format::nvfp4:
      return fmt::format(
          "python3 Model-Optimizer/examples/llm_ptq/hf_ptq.py --pyt_ckpt_path {} --qformat nvfp4 --export_path {}",
          repository, folder);
    case Format::mxfp4:
      if (vendor == "AMD") {
        return fmt::format(
            "python3 quark/examples/torch/language_modeling/llm_ptq/quantize_quark.py --model_dir {} --quant_scheme "
            "w_mxfp4_a_mxfp4 --model_export hf_format --output_dir {}",
            repository, folder);
      }
      return compress("MXFP4");
    case Format::mxfp8:
      return compress("MXFP8");
    case Format::q4_k_m:
    case Format::q4_0:
    case Format::q6_k:
    case Format::q8_0:
    case Format::fp32:
    case Format::bf16:
    case Format::fp16:
      break;
  }
  return {};
}

Result<std::vector<ModelSettings>> load_model_settings(const std::string& file) {
  Result<std::string> text = read_file(file, kLongestFile);
  if (!text) return text.error();
  const Result<CsvTable> table = CsvTable::parse(*std::move(text), file);
  if (!table) return table.error();
  Columns columns(*table);
  if (const Status s = columns.need(
          {"model", "rotary_base", "norm_epsilon", "rope_scaling", "yarn", "router", "router_scaling", "source"});
      !s) {
    return s.error();
  }
  std::vector<ModelSettings> all;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    ModelSettings m;
    m.model = columns.text(row, 0);
    double* const numbers[] = {&m.rotary_base, &m.norm_epsilon, &m.rope_scaling, &m.yarn};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      const Result<double> value = columns.number(row, i + 1);
      if (!value) return value.error();
      *numbers[i] = *value;
    }
    const std::string router = columns.text(row, 5);
    if (!router.empty() && router != "sigmoid" && router != "softmax") {
      return columns.wrong(row, 5, "a router is sigmoid or softmax");
    }
    m.sigmoid_router = router == "sigmoid";
    const Result<double> scaling = columns.number(row, 6);
    if (!scaling) return scaling.error();
    m.router_scaling = *scaling;
    m.source = columns.text(row, 7);
    if (m.source.empty()) return columns.wrong(row, 7, "where it was read is missing");
    all.push_back(std::move(m));
  }
  return all;
}

Result<std::vector<EngineModel>> load_engine_models(const std::string& file) {
  Result<std::string> text = read_file(file, kLongestFile);
  if (!text) return text.error();
  const Result<CsvTable> table = CsvTable::parse(*std::move(text), file);
  if (!table) return table.error();
  Columns columns(*table);
  if (const Status s = columns.need({"engine", "model", "name", "source"}); !s) return s.error();
  std::vector<EngineModel> all;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    EngineModel m{columns.text(row, 0), columns.text(row, 1), columns.text(row, 2), columns.text(row, 3)};
    for (std::size_t i = 0; i < 4; ++i) {
      if (columns.text(row, i).empty()) return columns.wrong(row, i, "is missing");
    }
    all.push_back(std::move(m));
  }
  return all;
}

}  // namespace ridge
