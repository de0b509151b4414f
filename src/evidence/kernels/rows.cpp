// Reading rows of kernels.csv.
#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

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
  /// A number format; `otherwise` where the cell is empty.
  Format format(std::string_view column, Format otherwise) {
    const auto read = cell_format(text(column));
    if (!read) refuse(column, read.error().message);
    return read && *read ? **read : otherwise;
  }
  /// What the word of a cell stands for; `otherwise` where it is empty.
  template <class T>
  T one_of(std::string_view column, T otherwise, std::initializer_list<std::pair<std::string_view, T>> words) {
    const std::string_view cell = text(column);
    if (cell.empty()) return otherwise;
    std::string known;
    for (const auto& [word, value] : words) {
      if (word == cell) return value;
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    refuse(column, "'" + std::string(cell) + "' is none of: " + known);
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
  c.weights = format;
  // Integer weights are widened: without another word the activations stay in 16 bits.
  const bool weight_only = format == Format::int8 || format == Format::int4;
  c.activations = row.format("activations", weight_only ? Format::bf16 : format);
  c.kv = row.format("kv", Format::bf16);
}

void read_gemm(KernelCase& c, Row& row) {
  read_formats(c, row);
  for (const auto& [column, field] : {std::pair{"m", &c.m}, {"n", &c.n}, {"k", &c.k}})
    *field = row.number(column, 0, true);
  c.quantisation = row.one_of<perf::Quantisation>(
      "kernel", perf::Quantisation::fused,
      {{"quantise-apart", perf::Quantisation::separate}, {"quantise-block", perf::Quantisation::block}});
}

void read_attention(KernelCase& c, Row& row) {
  read_formats(c, row);
  for (const auto& [column, field] : {std::pair{"batch", &c.batch},
                                      {"q_heads", &c.q_heads},
                                      {"kv_heads", &c.kv_heads},
                                      {"head_dim", &c.head_dim},
                                      {"q_len", &c.q_len},
                                      {"kv_len", &c.kv_len}}) {
    *field = row.number(column, 0, true);
  }
  c.path = row.one_of<perf::AttentionPath>("kernel", c.path,
                                           {{"older", perf::AttentionPath::older},
                                            {"library", perf::AttentionPath::library},
                                            {"unsplit", perf::AttentionPath::unsplit}});
}

void read_experts(KernelCase& c, Row& row) {
  read_formats(c, row);
  for (const auto& [column, field] :
       {std::pair{"m", &c.m}, {"n", &c.n}, {"k", &c.k}, {"experts", &c.experts}, {"topk", &c.top_k}}) {
    *field = row.number(column, 0, true);
  }
  c.group = row.number("group", 1, false);
  c.routing =
      row.one_of<Routing>("routing", c.routing, {{"balanced", Routing::balanced}, {"power-law", Routing::skewed}});
  if (c.routing == Routing::skewed) {
    const BusiestRank busiest = busiest_rank({c.m, c.experts, c.top_k, c.group});
    c.touched = busiest.experts;
    c.rows = busiest.rows;
    if (c.rows <= 0) c.routing = KernelCase().routing;
  }
  // untuned: vLLM up to 0.16 has one pair of tiles for all shapes in 16 bits that nobody tuned (get_default_config).
  c.kernel = row.one_of<perf::MoeKernel>("kernel", c.kernel,
                                         {{"untuned", perf::MoeKernel::untuned},
                                          {"cutlass", perf::MoeKernel::cutlass},
                                          {"library", perf::MoeKernel::library},
                                          {"marlin", perf::MoeKernel::marlin},
                                          {"per-tensor-scale", perf::MoeKernel::per_tensor_scale}});
}

void read_collective(KernelCase& c, Row& row) {
  c.group = row.number("group", 2, c.op != KernelOp::sendrecv);
  c.bytes = row.number("bytes", 0, true);
  c.library =
      row.one_of<perf::CollectiveLibrary>("kernel", c.library, {{"one-shot", perf::CollectiveLibrary::one_shot}});
  c.with_launch = row.one_of<bool>("with_launch", false, {{"yes", true}});
  // Said where ranks are of several nodes.
  c.gpus_per_node = row.number("gpus_per_node", c.gpus_per_node, false);
  c.shared_card = row.number("shared_card", c.shared_card, false);
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
  if (c.op == KernelOp::gemm) read_gemm(c, row);
  if (group == "attention") read_attention(c, row);
  if (group == "moe") read_experts(c, row);
  if (group == "collective") read_collective(c, row);
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
