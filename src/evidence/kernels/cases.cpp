#include "evidence/kernels/cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "evidence/rows/nothing.hpp"

namespace ridge::evidence {
namespace {

using perf::AttentionShape;
using perf::Collective;
using perf::MlaShape;
using perf::MoeShape;

/// Everything that does not depend on the shape.
struct Rates {
  perf::DeviceRates device;
  perf::GemmRates gemm;
  perf::MoeRates moe;
  perf::AttentionRates attention;
  perf::LinkRates link;
  perf::LinkRates network;
  perf::ExchangeRates exchange;
  double burst = 0;  ///< by how much of its time a short product is faster than in a steady load
  double host_floor = 0;
  double host_share = 1;
  std::string refusal;
};

double network_rate(const KernelCase& c, const Device& device) {
  constexpr double kUsual = 50e9;
  if (c.shared_card > 0) return c.shared_card;
  return device.nic_per_direction ? device.nic_per_direction->value.value() : kUsual;
}

double network_latency(const KernelCase& c) {
  return c.shared_card > 0 ? 20e-6 : 5e-6;
}

Rates make_rates(const KernelCase& c, const Catalogue& catalogue, const Calibration& calibration) {
  Rates r;
  if (!c.refusal.empty()) {
    r.refusal = "unreadable: " + c.refusal;
    return r;
  }
  const auto device = catalogue.find_device(c.device);
  if (!device) {
    r.refusal = "unknown: " + device.error().text();
    return r;
  }
  const auto rates = perf::device_rates(*device, catalogue, calibration);
  if (!rates) {
    r.refusal = "refused: " + rates.error().text();
    return r;
  }
  r.device = *rates;
  const std::string_view group = family(c.op);
  if (group == "gemm") {
    r.gemm = perf::gemm_rates(*rates, calibration, c.weights, c.activations, c.quantisation);
    r.burst = 1 - std::pow(perf::sustained_clock_share(*rates, calibration), calibration.value("power.burst"));
  }
  if (group == "moe") r.moe = perf::moe_rates(*rates, calibration, c.weights, c.activations, c.kernel);
  if (group == "attention") r.attention = perf::attention_rates(*rates, calibration, c.activations, c.kv, c.path);
  if (group == "collective") {
    r.link = perf::scale_up_link(*device, calibration, c.library);
    r.network = perf::scale_out_link(network_rate(c, *device), network_latency(c), calibration);
    if (c.with_launch && c.op == KernelOp::allreduce) r.host_floor = calibration.value("collective.host");
  }
  if (group == "dispatch") {
    r.exchange = perf::exchange_rates(*device, network_rate(c, *device), c.exchange.ranks, calibration);
  }
  r.host_share = calibration.value("host_link.share");
  return r;
}

Rates make_ideal(const KernelCase& c, const Catalogue& catalogue, Rates r) {
  r.gemm = perf::ideal_gemm_rates(r.device, c.weights, c.activations);
  r.moe = perf::ideal_moe_rates(r.device, c.weights, c.activations);
  r.attention = perf::ideal_attention_rates(r.device, c.activations, c.kv);
  const auto device = catalogue.find_device(c.device);
  r.link = {};
  if (device && device->scale_up_per_direction) r.link.bandwidth = device->scale_up_per_direction->value.value();
  r.link.peer_bandwidth = r.link.bandwidth;
  r.network = {};
  if (device) r.network.bandwidth = r.network.peer_bandwidth = network_rate(c, *device);
  r.exchange = {.scale_up = r.link.bandwidth, .scale_out = r.network.bandwidth};
  r.host_floor = 0;
  r.host_share = 1;
  return r;
}

MoeShape moe_shape(const KernelCase& c) {
  MoeShape s;
  s.tokens = c.m;
  s.hidden = c.k;
  s.width = c.n;
  s.experts = c.experts;
  s.local_experts = c.experts / c.group;
  s.top_k = c.top_k;
  if (c.routing == Routing::balanced) s.active = std::min(s.local_experts, std::ceil(c.m * c.top_k / c.group));
  if (c.routing == Routing::skewed) {
    s.active = c.touched;
    s.imbalance = c.rows * c.group / (c.m * c.top_k);
  }
  return s;
}

AttentionShape attention_shape(const KernelCase& c) {
  AttentionShape s;
  s.batch = c.batch;
  s.q_len = c.q_len;
  s.kv_len = c.kv_len;
  s.q_heads = c.q_heads;
  s.kv_heads = c.kv_heads;
  s.head_dim = c.head_dim;
  return s;
}

MlaShape mla_shape(const KernelCase& c) {
  MlaShape s;  // the notes of all rows name the dimensions of DeepSeek-V3, which are the defaults
  s.batch = c.batch;
  s.q_len = c.q_len;
  s.kv_len = c.kv_len;
  s.heads = c.q_heads;
  return s;
}

Collective collective(KernelOp op) {
  switch (op) {
    case KernelOp::allgather:
      return Collective::all_gather;
    case KernelOp::reducescatter:
      return Collective::reduce_scatter;
    case KernelOp::alltoall:
      return Collective::all_to_all;
    case KernelOp::sendrecv:
      return Collective::send;
    default:
      return Collective::all_reduce;
  }
}

double collective_seconds(const KernelCase& c, const Rates& r) {
  const Collective op = collective(c.op);
  double seconds = 0;
  if (c.gpus_per_node <= 0) {
    seconds = perf::collective_time(r.link, op, c.group, c.bytes);
  } else if (op == Collective::send) {
    seconds = perf::collective_time(r.network, op, 2, c.bytes);
  } else {
    // Reduce inside the nodes, over the network, and gather inside again.
    const double nodes = c.group / c.gpus_per_node;
    const double part = c.shared_card > 0 ? c.bytes : c.bytes / c.gpus_per_node;
    seconds = perf::collective_time(r.link, Collective::reduce_scatter, c.gpus_per_node, c.bytes) +
              perf::collective_time(r.network, op, nodes, part) +
              perf::collective_time(r.link, Collective::all_gather, c.gpus_per_node, c.bytes);
  }
  return r.host_floor > 0 ? perf::smooth_max(seconds, r.host_floor) : seconds;
}

/// A product that is timed alone and is over soon still has some of the clock that the power limit takes from longer
/// ones.
double gemm_seconds(const KernelCase& c, const Rates& r) {
  constexpr double kSettled = 0.5e-3;  // half of the way down to the sustained clock
  perf::GemmRates rates = r.gemm;
  const double steady = 2 * c.m * c.n * c.k / rates.flops;
  rates.flops /= 1 - r.burst * kSettled / (steady + kSettled);
  return perf::gemm_time(rates, c.m, c.n, c.k).seconds;
}

double seconds_of(const KernelCase& c, const Rates& r) {
  switch (c.op) {
    case KernelOp::gemm:
      return gemm_seconds(c, r);
    case KernelOp::attn_prefill:
      return perf::attention_prefill_time(r.attention, attention_shape(c)).seconds;
    case KernelOp::attn_decode:
      return perf::attention_decode_time(r.attention, attention_shape(c)).seconds;
    case KernelOp::mla_prefill:
      return perf::mla_prefill_time(r.attention, mla_shape(c)).seconds;
    case KernelOp::mla_decode:
      return perf::mla_decode_time(r.attention, mla_shape(c)).seconds;
    case KernelOp::moe_ffn:
      return perf::moe_time(r.moe, moe_shape(c)).seconds;
    case KernelOp::allreduce:
    case KernelOp::allgather:
    case KernelOp::reducescatter:
    case KernelOp::alltoall:
    case KernelOp::sendrecv:
      return collective_seconds(c, r);
    case KernelOp::copy:
    case KernelOp::read:
      return perf::elementwise_time(r.device, c.bytes, 1).seconds;
    case KernelOp::h2d:
      return c.bytes / (r.device.host_link * r.host_share);
    case KernelOp::launch:
      return r.device.launch;
    case KernelOp::dispatch:
    case KernelOp::combine:
      return c.low_latency ? perf::low_latency_time(r.exchange, c.exchange)
                           : perf::throughput_time(r.exchange, c.exchange);
  }
  return kNothing;
}

/// Cases that share their rates.
auto kind_of(const KernelCase& c) {
  return std::tuple(c.refusal, c.device, family(c.op), c.weights, c.activations, c.kv, c.quantisation, c.path, c.kernel,
                    c.library, c.gpus_per_node > 0, c.shared_card, c.with_launch, c.op == KernelOp::allreduce,
                    c.exchange.ranks);
}

}  // namespace

KernelPrediction predict(const KernelCase& c, const Catalogue& catalogue, const Calibration& calibration) {
  const Rates r = make_rates(c, catalogue, calibration);
  if (!r.refusal.empty()) return {kNothing, r.refusal};
  return {seconds_of(c, r), {}};
}

KernelPrediction predict_roofline(const KernelCase& c, const Catalogue& catalogue) {
  Rates r;
  if (!c.refusal.empty()) return {kNothing, "unreadable: " + c.refusal};
  const auto device = catalogue.find_device(c.device);
  if (!device) return {kNothing, "unknown: " + device.error().text()};
  const auto rates = perf::datasheet_rates(*device);
  if (!rates) return {kNothing, "refused: " + rates.error().text()};
  r.device = *rates;
  return {seconds_of(c, make_ideal(c, catalogue, std::move(r))), {}};
}

KernelModel::KernelModel(std::span<const KernelCase> cases, const Catalogue& catalogue)
    : cases_(cases), catalogue_(catalogue) {
  std::map<decltype(kind_of(cases[0])), std::size_t> known;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [at, added] = known.emplace(kind_of(cases[i]), examples_.size());
    if (added) examples_.push_back(i);
    kinds_.push_back(at->second);
  }
}

void KernelModel::predict(const Calibration& calibration, std::span<double> seconds) const {
  std::vector<Rates> rates;
  rates.reserve(examples_.size());
  for (const std::size_t i : examples_) rates.push_back(make_rates(cases_[i], catalogue_, calibration));
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const Rates& r = rates[kinds_[i]];
    seconds[i] = r.refusal.empty() ? seconds_of(cases_[i], r) : kNothing;
  }
}

void KernelModel::log_errors(const Calibration& calibration, std::span<double> errors) const {
  predict(calibration, errors);
  for (std::size_t i = 0; i < cases_.size(); ++i) errors[i] = std::log(errors[i] / cases_[i].measured);
}

}  // namespace ridge::evidence
