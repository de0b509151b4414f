// Measured times of single operators, and what the operator models say of them.
//
//   Result<std::vector<KernelCase>> cases = load_kernel_cases(text, "kernels.csv");
//   KernelPrediction p = predict((*cases)[0], catalogue, calibration);
//   p.seconds;    // NaN if p.refusal says why there is none
//
//   KernelModel model(*cases, catalogue);      // the same for many calibrations, as a fit needs it
//   model.log_errors(calibration, errors);
//
// A prediction reads the shape and the notes on which kernel ran, never the measured seconds. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/operators/expert_exchange.hpp"
#include "perf/operators/kernels.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/calibration.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::evidence {

enum class KernelOp : std::uint8_t {
  gemm,
  attn_prefill,
  attn_decode,
  mla_prefill,
  mla_decode,
  moe_ffn,
  allreduce,
  allgather,
  reducescatter,
  alltoall,
  sendrecv,
  copy,
  read,
  h2d,
  launch,
  dispatch,
  combine,
};
inline constexpr std::size_t kKernelOps = 17;
[[nodiscard]] std::string_view name(KernelOp op);
/// "gemm", "attention", "moe", "collective", "dispatch" or "memory": the classes whose errors are stated together.
[[nodiscard]] std::string_view family(KernelOp op);

/// How tokens met experts while it was measured.
enum class Routing : std::uint8_t {
  random,
  balanced,  ///< as evenly as numbers allow
  skewed,    ///< a power law; the device that was timed is the busiest
};

struct KernelCase {
  std::string id;
  std::string source;
  std::string device;
  KernelOp op = KernelOp::gemm;
  Format weights = Format::bf16;  ///< collectives and copies: unused
  Format activations = Format::bf16;
  Format kv = Format::bf16;
  double m = 0, n = 0, k = 0;
  double batch = 0, q_heads = 0, kv_heads = 0, head_dim = 0, q_len = 0, kv_len = 0;
  double experts = 0, top_k = 0, group = 1;
  double touched = 0, rows = 0;  ///< skewed routing: experts of the busiest device that tokens meet, and pairs there
  double bytes = 0;
  perf::ExchangeShape exchange;  ///< dispatch and combine
  bool low_latency = false;      ///< every copy of a token goes straight to its rank
  perf::Quantisation quantisation = perf::Quantisation::fused;
  perf::AttentionPath path = perf::AttentionPath::engine;
  perf::MoeKernel kernel = perf::MoeKernel::fused;
  Routing routing = Routing::random;
  perf::CollectiveLibrary library = perf::CollectiveLibrary::general;
  double gpus_per_node = 0;  ///< > 0: the group crosses nodes
  double shared_card = 0;    ///< bytes/s of the one network card of a node; 0: a card for each device
  bool with_launch = false;  ///< started from the host each time, not from a graph
  double measured = 0;       ///< seconds; NaN if the cell is no positive number
  std::string refusal;       ///< "file:line:column: ..." if the row cannot be read
};

/// One case per row; a row with a broken cell is a case with `refusal` set. Refuses a table without the columns id,
/// device, op and seconds, or one that is no CSV.
Result<std::vector<KernelCase>> load_kernel_cases(std::string csv, const std::string& name);
/// One row of such a table.
[[nodiscard]] KernelCase read_kernel_case(const CsvTable& table, std::size_t row);

struct KernelPrediction {
  double seconds = 0;   ///< NaN if refused
  std::string refusal;  ///< why, or empty
};
[[nodiscard]] KernelPrediction predict(const KernelCase& c, const Catalogue& catalogue, const Calibration& calibration);
/// The same from the datasheet alone: peak rates, no overheads.
[[nodiscard]] KernelPrediction predict_roofline(const KernelCase& c, const Catalogue& catalogue);

/// Cases whose rates are worked out once per calibration and kind instead of once per row.
class KernelModel {
 public:
  /// Both must outlive the object.
  KernelModel(std::span<const KernelCase> cases, const Catalogue& catalogue);

  [[nodiscard]] std::span<const KernelCase> cases() const { return cases_; }
  /// Seconds of each case; NaN where predict() refuses.
  void predict(const Calibration& calibration, std::span<double> seconds) const;
  /// log(predicted/measured) of each case; NaN where there is no prediction.
  void log_errors(const Calibration& calibration, std::span<double> errors) const;

 private:
  std::span<const KernelCase> cases_;
  const Catalogue& catalogue_;
  std::vector<std::size_t> kinds_;     ///< of each case: position in examples_
  std::vector<std::size_t> examples_;  ///< a case of each kind
};

}  // namespace ridge::evidence
