// Reading rows of kernels.csv.
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "evidence/kernels/cases.hpp"
#include "evidence/rows/case_row.hpp"
#include "evidence/rows/skewed_routing.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::evidence {
namespace {

constexpr std::array<std::string_view, kKernelOps> kOpNames = {
    "gemm",      "attn_prefill", "attn_decode",   "mla_prefill", "mla_decode", "moe_ffn",
    "allreduce", "allgather",    "reducescatter", "alltoall",    "sendrecv",   "copy",
    "read",      "h2d",          "launch",        "dispatch",    "combine"};

/// "all-reduce" and "attn_prefill" as one word.
std::string joined(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_' && c != '-') out += c;
  }
  return out;
}

class Row {
 public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  [[nodiscard]] std::string_view text(std::string_view column) const { return cell_text(table_, row_, column); }
  double number(std::string_view column, double otherwise, bool required) {
    const std::string_view cell = text(column);
    if (cell.empty()) {
      if (required) refuse(column, std::string(column) + " is missing");
      return otherwise;
    }
    const auto value = cell_number(table_, cell);
    if (value && *value > 0) return *value;
    refuse(column, "'" + std::string(cell) + "' is not a positive number");
    return otherwise;
  }
  void refuse(std::string_view column, const std::string& why) {
    if (refusal_.empty()) refusal_ = table_.error(row_, table_.column(column).value_or(0), why).text();
  }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  const CsvTable& table_;
  std::size_t row_;
  std::string refusal_;
};

void read_formats(KernelCase& c, Row& row) {
  const auto read = cell_format(row.text("dtype"));
  if (!read || !*read) {
    row.refuse("dtype", read ? "this cell is empty, and no prediction can be made without it" : read.error().message);
    return;
  }
  const Format format = **read;
  c.weights = c.activations = format;
  const std::string_view notes = row.text("notes");
  // Integer weights and MXFP4 experts are widened; the activations stay in 16 bits.
  const bool weight_only = format == Format::int8 || format == Format::int4 || contains(notes, "w4a16");
  if (weight_only) c.activations = Format::bf16;
  c.kv = contains(notes, "kv cache fp8") ? Format::fp8 : Format::bf16;
}

void read_gemm(KernelCase& c, Row& row, std::string_view notes) {
  read_formats(c, row);
  for (const auto& [column, field] : {std::pair{"m", &c.m}, {"n", &c.n}, {"k", &c.k}})
    *field = row.number(column, 0, true);
  const bool engine = contains(notes, "as published");
  c.quantisation = !engine                        ? perf::Quantisation::fused
                   : contains(notes, "fp8_block") ? perf::Quantisation::block
                                                  : perf::Quantisation::separate;
}

void read_attention(KernelCase& c, Row& row, std::string_view notes) {
  read_formats(c, row);
  for (const auto& [column, field] : {std::pair{"batch", &c.batch},
                                      {"q_heads", &c.q_heads},
                                      {"kv_heads", &c.kv_heads},
                                      {"head_dim", &c.head_dim},
                                      {"q_len", &c.q_len},
                                      {"kv_len", &c.kv_len}}) {
    *field = row.number(column, 0, true);
  }
  if (contains(notes, "slower generation")) {
    c.path = perf::AttentionPath::older;
  } else if (contains(notes, "SDPA")) {
    c.path = perf::AttentionPath::library;
  } else if (contains(c.source, "vllm") && c.op == KernelOp::attn_decode && c.q_heads == c.kv_heads) {
    c.path = perf::AttentionPath::unsplit;
  }
}

/// "...-vllm-0.14.0": releases up to 0.16 have one pair of tiles for all shapes that nobody tuned (get_default_config).
bool falls_back_to_default_tiles(std::string_view source) {
  constexpr std::string_view kRelease = "vllm-0.";
  const std::size_t at = source.find(kRelease);
  if (at == std::string_view::npos) return false;
  int minor = 0;
  const char* begin = source.data() + at + kRelease.size();
  return std::from_chars(begin, source.data() + source.size(), minor).ec == std::errc() && minor <= 16;
}

void read_experts(KernelCase& c, Row& row, std::string_view notes) {
  read_formats(c, row);
  for (const auto& [column, field] :
       {std::pair{"m", &c.m}, {"n", &c.n}, {"k", &c.k}, {"experts", &c.experts}, {"topk", &c.top_k}}) {
    *field = row.number(column, 0, true);
  }
  c.group = row.number("group", 1, false);
  if (contains(notes, "routing balanced")) c.routing = Routing::balanced;
  if (contains(notes, "power_law")) {
    const BusiestRank busiest = busiest_rank({c.m, c.experts, c.top_k, c.group});
    c.touched = busiest.experts;
    c.rows = busiest.rows;
    if (c.rows > 0) c.routing = Routing::skewed;
  }
  const bool wide = c.weights == Format::bf16 || c.weights == Format::fp16;
  if (contains(notes, "vllm_fused_moe") && wide && falls_back_to_default_tiles(c.source)) {
    c.kernel = perf::MoeKernel::untuned;
  }
  if (contains(notes, "flashinfer_cutlass")) c.kernel = perf::MoeKernel::cutlass;
  if (contains(notes, "grouped GEMM")) c.kernel = perf::MoeKernel::library;
  if (contains(notes, "marlin")) c.kernel = perf::MoeKernel::marlin;
  if (contains(notes, "modeloptfp8moe")) c.kernel = perf::MoeKernel::per_tensor_scale;
}

/// The number before " GPUs per node" in "2 node(s), 4 GPUs per node; ...".
std::optional<double> gpus_per_node(std::string_view notes) {
  const std::size_t end = notes.find(" GPUs per node");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && notes[begin - 1] >= '0' && notes[begin - 1] <= '9') --begin;
  int value = 0;
  if (std::from_chars(notes.data() + begin, notes.data() + end, value).ec != std::errc()) return std::nullopt;
  return value;
}

void read_collective(KernelCase& c, Row& row, std::string_view notes) {
  c.group = row.number("group", 2, c.op != KernelOp::sendrecv);
  c.bytes = row.number("bytes", 0, true);
  if (contains(notes, "custom all-reduce")) c.library = perf::CollectiveLibrary::one_shot;
  c.with_launch = contains(notes, "includes launch");
  if (contains(notes, "crosses nodes")) c.gpus_per_node = gpus_per_node(notes).value_or(1);
}

/// Tokens to experts on other devices, and back: m tokens of each rank, k wide; narrow ones carry a scale per 128.
void read_exchange(KernelCase& c, Row& row) {
  read_formats(c, row);
  const double width = c.activations == Format::fp8 ? 1 + 4.0 / 128 : bytes_per_element(c.activations);
  perf::ExchangeShape& s = c.exchange;
  s.tokens = row.number("m", 0, true);
  s.bytes = row.number("k", 0, true) * width;
  s.top_k = row.number("topk", 1, true);
  s.ranks = row.number("group", 1, true);
  s.inside = row.number("gpus_per_node", 8, false);
  s.reachable = row.number("groups", 0, false);
  c.low_latency = row.text("kernel") == "low-latency";
}

}  // namespace

std::string_view name(KernelOp op) {
  return kOpNames[static_cast<std::size_t>(op)];
}

std::string_view family(KernelOp op) {
  switch (op) {
    case KernelOp::gemm:
      return "gemm";
    case KernelOp::attn_prefill:
    case KernelOp::attn_decode:
    case KernelOp::mla_prefill:
    case KernelOp::mla_decode:
      return "attention";
    case KernelOp::moe_ffn:
      return "moe";
    case KernelOp::allreduce:
    case KernelOp::allgather:
    case KernelOp::reducescatter:
    case KernelOp::alltoall:
    case KernelOp::sendrecv:
      return "collective";
    case KernelOp::copy:
    case KernelOp::read:
    case KernelOp::h2d:
    case KernelOp::launch:
      return "memory";
    case KernelOp::dispatch:
    case KernelOp::combine:
      return "dispatch";
  }
  return "";
}

KernelCase read_kernel_case(const CsvTable& table, std::size_t at) {
  Row row(table, at);
  KernelCase c;
  c.id = row.text("id");
  c.source = row.text("source");
  c.device = row.text("device");
  c.measured = row.number("seconds", std::numeric_limits<double>::quiet_NaN(), false);
  const std::string_view notes = row.text("notes");
  const std::string op = joined(folded_word(row.text("op")));
  bool known = false;
  for (std::size_t i = 0; i < kKernelOps && !known; ++i) {
    known = joined(kOpNames[i]) == op;
    if (known) c.op = static_cast<KernelOp>(i);
  }
  if (!known) row.refuse("op", "'" + std::string(row.text("op")) + "' is no operator that is modelled");
  const std::string_view group = family(c.op);
  if (!known) {
    c.refusal = row.refusal();
    return c;
  }
  if (c.op == KernelOp::gemm) read_gemm(c, row, notes);
  if (group == "attention") read_attention(c, row, notes);
  if (group == "moe") read_experts(c, row, notes);
  if (group == "collective") read_collective(c, row, notes);
  if (group == "dispatch") read_exchange(c, row);
  if (group == "memory") c.bytes = row.number("bytes", 0, c.op != KernelOp::launch);
  c.refusal = row.refusal();
  return c;
}

Result<std::vector<KernelCase>> load_kernel_cases(std::string csv, const std::string& name) {
  const auto table = CsvTable::parse(std::move(csv), name);
  if (!table) return table.error();
  for (const std::string_view column : {"id", "device", "op", "seconds"}) {
    if (const auto found = table->required_column(column); !found) return found.error();
  }
  std::vector<KernelCase> cases;
  cases.reserve(table->rows());
  for (std::size_t row = 0; row < table->rows(); ++row) cases.push_back(read_kernel_case(*table, row));
  return cases;
}

}  // namespace ridge::evidence
