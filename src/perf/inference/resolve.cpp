// From names to numbers: the deployment that evaluate() works on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/inference/experts.hpp"
#include "perf/inference/layers.hpp"
#include "perf/inference/resolved.hpp"
#include "perf/operators/encoder.hpp"
#include "perf/operators/usable_memory.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge {

InferenceDeployment::InferenceDeployment() = default;
InferenceDeployment::InferenceDeployment(InferenceDeployment&&) noexcept = default;
InferenceDeployment& InferenceDeployment::operator=(InferenceDeployment&&) noexcept = default;
InferenceDeployment::~InferenceDeployment() = default;

namespace {

using perf::GemmRates;

constexpr double kWaitPerStep = 0.1;      ///< of what a collective waits in all, again at each step of a ring
constexpr double kUsualNic = 12.5e9;      ///< 100 Gb/s per device where nothing is said
constexpr double kNetworkLatency = 5e-6;  ///< end to end, small message

/// In the order of LoadMode.
constexpr std::string_view kModes[] = {"fixed-batch", "closed-loop", "offline", "prefill", "decode", "open-loop"};

/// The formats a query asks for, completed by the habits of checkpoints, chips and engines.
struct Formats {
  Format weights = Format::bf16;
  Format activations = Format::bf16;
  Format kv = Format::bf16;
};

bool is_sixteen_bit(Format f) {
  return f == Format::bf16 || f == Format::fp16;
}

Format usual_activations(Format weights, const perf::DeviceRates& device) {
  const bool native = device.native[static_cast<std::size_t>(weights)];
  switch (weights) {
    case Format::fp8:
    case Format::mxfp8:
    case Format::int8:
    case Format::nvfp4:
      return native ? weights : Format::bf16;
    case Format::fp16:
      return Format::fp16;
    default:
      return Format::bf16;
  }
}

class Resolver {
 public:
  Resolver(const InferenceQuery& query, const Knowledge& knowledge) : q_(query), k_(knowledge) {}

  Result<InferenceDeployment> run() {
    if (const Status s = fill(); !s) return s.error();
    InferenceDeployment out;
    spreads();
    widen_for_encoders();
    out.facts = facts();
    out.resolved = std::move(r_);
    out.assumptions = std::move(assumptions_);
    return out;
  }

  /// Without the words and the intervals.
  Result<std::unique_ptr<ResolvedInference>> numbers() {
    in_words_ = false;
    if (const Status s = fill(); !s) return s.error();
    return std::move(r_);
  }

 private:
  Status fill() {
    const Model* known = k_.catalogue.model(q_.model);
    if (known == nullptr) {
      auto model = k_.catalogue.find_model(q_.model);
      if (!model) return model.error();
      written_out_ = std::move(*model);
      known = &written_out_;
      if (k_.catalogue.model(known->id) != nullptr) {
        assume("model '{}' is read as {}", q_.model, known->id);
        named_format_ = format_in_name(q_.model);
      }
    }
    model_ = known;
    if (model_->type != ModelType::language) {
      return Error{ErrorCode::refused, q_.model, "is a diffusion model: ask 'ridge estimate diffusion'"};
    }
    if (Status s = find_device(); !s) return s.error();
    auto rates = perf::device_rates(*device_, k_.catalogue, k_.calibration);
    if (!rates) return rates.error();
    r_->device = *rates;
    if (q_.power_cap > 0) {
      const auto said = perf::cap_power(r_->device, q_.power_cap, device_->id, k_.calibration);
      if (!said) return said.error();
      for (const std::string& text : *said) assume("{}", text);
    }
    r_->device.memory_capacity *= perf::kReportedMemory;

    engine_ = k_.engines.find(q_.engine, EngineWork::inference, q_.engine_version, q_.date);
    if (engine_.engine == nullptr) return Error{ErrorCode::not_found, q_.engine, "no inference engine is loaded"};
    if (!engine_.exact && engine_.engine->family != engine_.engine->id) {
      assume("engine {} is calibrated as its family, {}", engine_.engine->id, engine_.engine->family);
    } else if (!engine_.exact) {
      assume("engine '{}' is not known: {} stands in for it", q_.engine, engine_.engine->id);
    }
    if (engine_.era != nullptr) assume("engine behaves as {}", engine_.era->id);
    r_->ideal = engine_.engine->ideal;
    r_->pads_heads = engine_.engine->serving.pads_heads;  // its own, whatever releases of its family do
    r_->static_shapes = engine_.engine->serving.static_shapes;

    if (Status s = layout(); !s) return s.error();
    formats();
    fill_rates();
    if (const auto s = perf::fill_layers(*r_, *model_, {formats_.weights, formats_.kv, q_.lora_rank}); !s) {
      return s.error();
    }
    engine_costs();
    encoder();
    memory();
    if (r_->ideal) perf::make_ideal(*r_, formats_.weights, formats_.activations, formats_.kv);
    return {};
  }

  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    if (in_words_) assumptions_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  void infeasible(Reason reason, double by = 0) {
    if (r_->reason == Reason::none) {
      r_->reason = reason;
      r_->short_by = by;
    }
  }

  Status find_device() {
    std::string id = q_.device;
    if (!q_.system.empty()) {
      system_ = k_.catalogue.system(q_.system);
      if (system_ == nullptr) return Error{ErrorCode::not_found, "⟦system⟧", "no system is called '" + q_.system + "'"};
      if (id.empty()) id = system_->device;
    }
    if (id.empty()) return Error{ErrorCode::bad_input, "⟦device⟧", "name a device or a system, e.g. ⟦device=h200-sxm⟧"};
    device_ = k_.catalogue.device(id);
    if (device_ == nullptr) {  // a share of a device, or none
      auto device = k_.catalogue.find_device(id);
      if (!device) return device.error();
      own_device_ = std::move(*device);
      device_ = &own_device_;
      if (own_device_.id != id) assume("device '{}' is read as {}", id, own_device_.id);
    }
    if (device_->id.find('/') != std::string::npos && std::max(q_.tp, 1) * std::max(q_.pp, 1) > 1) {
      return Error{ErrorCode::refused, q_.device,
                   "instances of a device have no links between them: one replica runs on one (⟦tp=1⟧ ⟦pp=1⟧)"};
    }
    scale_resources();
    return {};
  }

  void scale_resources() {
    const ResourceScale& by = q_.scale;
    const double factors[] = {by.compute, by.clock, by.memory_bandwidth, by.memory_capacity, by.scale_up, by.scale_out};
    if (std::all_of(std::begin(factors), std::end(factors), [](double f) { return f == 1; })) return;
    if (device_ != &own_device_) own_device_ = *device_;
    device_ = &own_device_;
    const auto scale = [](auto& figure, double factor) {
      if (figure) figure->value *= factor;
    };
    for (auto& peak : own_device_.peak_dense) scale(peak, by.compute * by.clock);
    scale(own_device_.memory_bandwidth, by.memory_bandwidth);
    scale(own_device_.memory_capacity, by.memory_capacity);
    scale(own_device_.scale_up_per_direction, by.scale_up);
    scale(own_device_.scale_up_peer_per_direction, by.scale_up);
    scale(own_device_.nic_per_direction, by.scale_out);
    scale(own_device_.boost_clock, by.clock);
  }

  Status layout() {
    ResolvedInference& r = *r_;
    const int pp = std::max(q_.pp, 1);
    const int dp = std::max(q_.dp, 1);
    int tp = q_.tp;
    if (tp <= 0) {
      tp = q_.gpus > 0 ? std::max(1, q_.gpus / (pp * dp)) : 1;
      if (q_.gpus > 0 && tp > 1) assume("tensor parallel over {} devices", tp);
    }
    const int gpus = q_.gpus > 0 ? q_.gpus : tp * pp * dp;
    if (gpus < tp * pp * dp || gpus % (tp * pp) != 0) infeasible(Reason::gpus_do_not_multiply, tp * pp * dp);
    r.gpus = gpus;
    r.tp = tp;
    r.pp = pp;
    r.ep = std::max(q_.ep, 1);
    r.dp = dp;
    r.rank_spread = std::sqrt(2 * std::log(r.ep));
    if (r.pp > model_->layers()) infeasible(Reason::layers_too_few, model_->layers());
    if (r.ep > 1 && !model_->is_moe()) infeasible(Reason::experts_not_divisible, r.ep);
    r.attention_dp = model_->is_moe() && dp > 1;
    r.expert_ranks = model_->is_moe() ? tp * (r.attention_dp ? dp : 1) : 1;
    if (r.ep > r.expert_ranks) infeasible(Reason::experts_not_divisible, r.expert_ranks);
    return {};
  }

  /// The format of the model's own checkpoint.
  [[nodiscard]] Format stored_format() const {
    const auto f = model_->quantization.empty() ? Result<Format>(Format::bf16) : parse_format(model_->quantization);
    return f ? *f : Format::bf16;
  }

  void formats() {
    const Format stored = stored_format();
    formats_.weights = q_.weights.value_or(stored);
    if (!q_.weights && !named_format_.empty()) {
      if (auto f = parse_format(named_format_)) formats_.weights = *f;
    }
    const auto computes = [&](Format f) { return r_->device.native[static_cast<std::size_t>(f)]; };
    if (formats_.weights == Format::bf16 && !computes(Format::bf16) && computes(Format::fp16)) {
      formats_.weights = Format::fp16;
      assume("weights in fp16: {} does not compute in bf16", device_->id);
    } else if (!q_.weights) {
      assume("weights in {}", name(formats_.weights));
    }
    formats_.activations = q_.activations.value_or(usual_activations(formats_.weights, r_->device));
    const Format a = formats_.activations;
    if (!is_sixteen_bit(a) && a != Format::fp32 && !r_->device.native[static_cast<std::size_t>(a)]) {
      infeasible(Reason::format_not_supported);
    }
    if (is_sixteen_bit(a) && !is_sixteen_bit(formats_.weights) && formats_.weights != Format::fp32) {
      assume("{} weights are widened to 16 bits before the product", name(formats_.weights));
    }
    const bool narrow =
        formats_.weights == Format::fp8 || formats_.weights == Format::nvfp4 || formats_.weights == Format::mxfp8;
    const Format wide = formats_.weights == Format::fp16 ? Format::fp16 : Format::bf16;
    const Format eight = eight_bit_cache(*device_, k_.catalogue);
    formats_.kv = q_.kv.value_or(cache_is_narrow(narrow, stored) ? eight : wide);
    if (!q_.kv) assume("KV cache in {}", name(formats_.kv));
    const bool kept_in_fp8 = formats_.weights == Format::fp8 || formats_.kv == Format::fp8;
    if (kept_in_fp8 && eight != Format::fp8) infeasible(Reason::format_not_supported);
  }

  /// Whether the cache is in fp8 where nobody says so.
  [[nodiscard]] bool cache_is_narrow(bool narrow_weights, Format stored) const {
    const bool sparse = std::any_of(model_->groups.begin(), model_->groups.end(),
                                    [](const LayerGroup& g) { return g.mixer.index_heads > 0; });
    const ServingTraits& own = engine_.engine->serving;  // whatever releases of its family do
    const auto& narrow_on = own.narrow_sparse_kv_on;
    if (sparse && !narrow_on.empty()) {
      return std::find(narrow_on.begin(), narrow_on.end(), r_->device.architecture) != narrow_on.end();
    }
    if (!narrow_weights || !engine_.serving().quantised_kv_by_default) return false;
    // Who does not choose follows the checkpoint: tools that narrow a model afterwards note scales for the cache,
    // models trained in eight bits come without.
    return own.chooses_kv || formats_.weights != stored;
  }

  void fill_rates() {
    ResolvedInference& r = *r_;
    const Format wide = formats_.weights == Format::fp16 ? Format::fp16 : Format::bf16;
    const auto quantisation =
        engine_.engine->fused_quantisation ? perf::Quantisation::fused : perf::Quantisation::separate;
    r.gemm[ResolvedInference::kNarrow] =
        perf::gemm_rates(r.device, k_.calibration, formats_.weights, formats_.activations, quantisation);
    // Serving engines fuse most of the quantisation of activations into the norm before.
    r.gemm[ResolvedInference::kNarrow].quantise *= k_.calibration.value("serving.quantise");
    r.gemm[ResolvedInference::kWide] = perf::gemm_rates(r.device, k_.calibration, wide, wide);
    // Tables of products alone do not split k in NVFP4 or where weights are widened; what served models need says that
    // engines have kernels that do.
    r.gemm[ResolvedInference::kNarrow].split = r.gemm[ResolvedInference::kWide].split;
    // Weights that are widened on the way meet tensor instructions of 16 rows (Marlin), others the library's tiles.
    constexpr double kInstructionRows = 16;
    const bool marlin = bytes_per_element(formats_.weights) < bytes_per_element(formats_.activations);
    for (GemmRates& g : r.gemm) g.least_rows = engine_.serving().product_rows;
    if (marlin) r.gemm[ResolvedInference::kNarrow].least_rows = kInstructionRows;
    if (device_->vendor == "AMD") {  // tiles of MFMA instructions of 16 rows (CDNA3 instruction set, rocBLAS MT16x16)
      for (GemmRates& g : r.gemm) g.least_rows = std::min(g.least_rows, kInstructionRows);
    }
    r.gemm[ResolvedInference::kHead] = r.gemm[ResolvedInference::kWide];
    if (is_gguf(formats_.weights)) r.gemm[ResolvedInference::kHead].bytes_weight = perf::gguf_head(formats_.weights);
    if (engine_.serving().portable_kernels) {
      const std::string_view era = engine_.era != nullptr ? std::string_view(engine_.era->scope) : std::string_view();
      for (GemmRates& g : r.gemm) perf::use_portable_kernels(g, r.device, k_.calibration, era);
    }
    // Of vLLM itself: engines that resemble it have kernels of their own.
    const bool itself = engine_.engine->family == engine_.engine->id;
    const bool untuned = engine_.serving().untuned_experts && itself && formats_.weights == wide;
    r.moe = perf::moe_rates(r.device, k_.calibration, formats_.weights, formats_.activations,
                            untuned ? perf::MoeKernel::untuned : perf::MoeKernel::fused);
    if (engine_.serving().portable_kernels) {
      r.moe.gemm.fixed *= k_.calibration.value(
          "portable.experts", {engine_.era != nullptr ? std::string_view(engine_.era->scope) : std::string_view()});
    }
    const auto path = engine_.engine->own_attention ? perf::AttentionPath::native : perf::AttentionPath::engine;
    r.attention = perf::attention_rates(r.device, k_.calibration, wide, formats_.kv, path);
    // What gathers all tokens narrows them first where the checkpoint has one scale for all of them, or four bits.
    // Models stored in eight have scales for blocks of each token: these are worked out behind the gathering
    // (fused_moe_cutlass.py of TensorRT-LLM 1.1, layer.py of vLLM 0.11).
    const bool in_blocks = bytes_per_element(formats_.weights) == 1 && formats_.weights == stored_format();
    r.bytes_gathered = bytes_per_element(in_blocks && !r.ideal ? wide : formats_.activations);
    const bool widened = is_sixteen_bit(formats_.activations) && r.gemm[ResolvedInference::kNarrow].bytes_weight < 2;
    r.widening = widened ? k_.calibration.value("power.widening") : 0;
    r.fastest_peak = std::max(r.device.peak[static_cast<std::size_t>(formats_.activations)],
                              r.device.peak[static_cast<std::size_t>(wide)]);
    r.narrow_peak = r.device.peak[static_cast<std::size_t>(formats_.activations)];

    const double domain = system_ != nullptr         ? system_->scale_up_domain
                          : device_->scale_up_domain ? device_->scale_up_domain->value
                                                     : 1;
    const ScaleUpTopology topology = device_->scale_up_topology;
    const bool own_fabric = topology == ScaleUpTopology::switched || topology == ScaleUpTopology::mesh ||
                            topology == ScaleUpTopology::torus;
    const bool fabric = own_fabric || device_->bridged;
    const double node = own_fabric ? node_size() : std::max<double>(node_size(), perf::kCardsPerServer);
    std::optional<perf::LinkRates> scale_up;  // the same for every group within the domain
    const auto link = [&](double ranks) {
      if (r.ideal) return datasheet_link(ranks <= domain && fabric, ranks <= node);
      if (ranks <= domain && fabric) {
        if (!scale_up) scale_up = perf::scale_up_link(*device_, k_.calibration, library());
        return *scale_up;
      }
      if (ranks <= node) {  // cards in one server: bridges join pairs only, the rest goes over PCIe
        Device card = *device_;
        card.scale_up_per_direction.reset();
        card.scale_up_peer_per_direction.reset();
        if (ranks > 1) assume("groups of {:.0f} devices talk over PCIe", ranks);
        // Engines read the memory of other cards over PCIe in pairs alone; larger groups go through the library's
        // rings.
        const auto kernel = ranks > 2 ? perf::CollectiveLibrary::general : library();
        perf::LinkRates pcie = perf::scale_up_link(card, k_.calibration, kernel);
        const std::string_view staged = device_->staged ? "staged" : "";
        const double share = k_.calibration.value("serving.pcie", {device_->architecture, staged});
        pcie.bandwidth *= share;
        pcie.peer_bandwidth *= share;
        pcie.one_shot_bandwidth *= share;
        return pcie;
      }
      assume("a group of {:.0f} devices crosses the network: the scale-up domain has {:.0f}", ranks, domain);
      const double nic = device_->nic_per_direction ? device_->nic_per_direction->value.value() : kUsualNic;
      return perf::scale_out_link(nic, kNetworkLatency, k_.calibration);
    };
    const double joined = own_fabric ? std::max(domain, node) : node;
    const auto term = [&](double ranks) { return ranks > joined ? Term::scale_out : Term::scale_up; };
    r.tp_link = link(r.tp);
    r.tp_term = term(r.tp);
    r.expert_link = link(r.expert_ranks);
    r.expert_term = term(r.expert_ranks);
    r.stage_link = link(r.tp * r.pp);
    const double nic = device_->nic_per_direction ? device_->nic_per_direction->value.value() : kUsualNic;
    const perf::ExpertSetting setting{q_.experts,           engine_.serving(), *device_, nic, own_fabric ? joined : 1,
                                      formats_.activations, formats_.weights};
    for (const std::string& text : perf::place_experts(r, *model_, setting, k_.calibration)) assume("{}", text);
  }

  /// The rate that is printed, all of it and at once: of the scale-up fabric, of PCIe within a server, or of the
  /// network.
  [[nodiscard]] perf::LinkRates datasheet_link(bool fabric, bool server) const {
    const auto rate = [](const auto& published, double otherwise) {
      return published ? published->value.value() : otherwise;
    };
    perf::LinkRates link;
    link.bandwidth = link.peer_bandwidth = rate(device_->nic_per_direction, kUsualNic);
    if (server) link.bandwidth = link.peer_bandwidth = r_->device.host_link;
    if (fabric) {
      link.bandwidth = rate(device_->scale_up_per_direction, r_->device.host_link);
      link.peer_bandwidth = std::min(link.bandwidth, rate(device_->scale_up_peer_per_direction, link.bandwidth));
      link.in_network_reduction = perf::reduces_in_switch(*device_);
    }
    link.reduction_bandwidth = link.bandwidth;
    return link;
  }

  [[nodiscard]] double node_size() const { return device_->node_size ? device_->node_size->value : 1; }
  [[nodiscard]] perf::CollectiveLibrary library() const { return perf::CollectiveLibrary::one_shot; }

  /// Encoders of texts read a prompt whole; a decoder that reads an encoder has it before each prompt.
  void encoder() {
    ResolvedInference& r = *r_;
    if (model_->reads_both_ways()) r.max_tokens = std::max(r.max_tokens, q_.load.isl);
    if (model_->cross_tokens() == 0) return;
    const double clip = model_->encoder.clip_s;
    const EncoderEstimate e = perf::encoder_time(*model_, r.device, r.tp, {.audio_s = clip}, r.ideal, k_.calibration);
    r.encoder_seconds = e.device_s;
    r.encoder_host = e.host_s;
    r.encoder_flops = e.flops;
    r.encoder_weights = e.parameters * bytes_per_element(Format::bf16);
  }

  /// Of the layers with a feed-forward part, the share that has experts.
  [[nodiscard]] double layers_with_experts() const {
    double experts = 0;
    double all = 0;
    for (const LayerGroup& group : model_->groups) {
      if (group.ffn.kind != FfnKind::none) all += group.count;
      if (group.ffn.kind == FfnKind::moe) experts += group.count;
    }
    return all > 0 ? experts / all : 0;
  }

  void engine_costs() {
    ResolvedInference& r = *r_;
    const Engine& e = *engine_.engine;
    r.batching = e.batching;
    r.admission = e.admission;
    r.graphs = e.graphs;
    r.graph_tokens = engine_.serving().graph_tokens;
    r.overlapped_host = engine_.serving().overlapped_host;
    r.attention.decode_block = engine_.serving().decode_block;
    if (!engine_.serving().grouped_decode) perf::decode_head_by_head(r.attention, r.device, k_.calibration);
    if (engine_.era != nullptr) {
      const auto here = [&](const std::vector<std::string>& vendors) {
        return std::find(vendors.begin(), vendors.end(), device_->vendor) != vendors.end();
      };
      if (here(engine_.era->eager_on)) r.graphs = false;
      r.attention.heads_read_alone = here(engine_.era->heads_read_alone_on);
    }
    r.ranks_prefill_together = e.ranks_prefill_together;
    r.ranks_pad_prefill = engine_.serving().ranks_pad_prefill;
    r.max_tokens = q_.max_batched_tokens > 0 ? q_.max_batched_tokens : e.max_batched_tokens;
    r.max_sequences = q_.max_sequences > 0 ? q_.max_sequences : e.max_sequences;
    r.sequences_said = q_.max_sequences > 0;
    r.poll_steps = std::max(1.0, q_.poll_steps);
    const std::string_view family = e.family.empty() ? std::string_view(e.id) : std::string_view(e.family);
    const std::string_view era = engine_.era != nullptr ? std::string_view(engine_.era->scope) : family;
    const std::string_view kind = model_->is_moe() ? "moe" : "dense";
    const std::string_view arch = r.device.architecture;
    const bool experts_alone = formats_.weights == Format::mxfp4;  // measured where nothing else is in this format
    const std::string_view format = experts_alone && !model_->is_moe() ? "" : name(formats_.weights);
    const Calibration& c = k_.calibration;
    const std::string measured = fmt::format("{}/{}", family, arch);  // of a device that was measured with it
    perf::EngineCosts& k = r.costs;
    k.step = c.value("host.step", {family, era});
    k.sequence = c.value("host.sequence", {family, era});
    // Runtimes for every chip choose tokens on the host, one sequence after the other over the whole vocabulary; their
    // tools that time a batch alone choose none.
    const LoadMode mode = q_.load.mode;
    const bool serves = mode == LoadMode::closed_loop || mode == LoadMode::open_loop || mode == LoadMode::offline;
    if (engine_.serving().portable_kernels && serves) k.sequence += c.value("host.vocabulary") * model_->vocab;
    k.layer_eager = c.value("host.eager_layer", {family, kind});
    k.layer_small = c.value("layer.small_kernels", {family, era, kind, measured});
    k.collective = c.value("serving.collective", {family, era});
    // What stands in for an architecture without kernels of its own may run faster or slower in a server.
    const std::string real = device_->architecture == arch ? "" : fmt::format("{}/{}", family, device_->architecture);
    // Kernels that an era had not tuned for a chip yet; whoever submits a record has tuned them.
    const std::string both = q_.as_tuned ? std::string() : fmt::format("{}/{}", era, arch);
    const std::string own_kernels = engine_.serving().portable_kernels ? portable_kernels() : std::string();
    k.prefill = c.value("serving.prefill", {family, era, arch, kind, format, both, measured, real, own_kernels});
    k.prefill_attention = k.prefill;
    if (model_->is_moe()) {  // what experts cost a prompt, layers without them do not
      k.prefill_attention = c.value("serving.prefill", {family, era, arch, format, both, measured, real, own_kernels});
      k.prefill = k.prefill_attention + (k.prefill - k.prefill_attention) * layers_with_experts();
    }
    k.decode = c.value("serving.decode", {family, era, arch, kind, format, measured, real});
    const double untuned =
        formats_.weights == Format::fp8 ? c.value("serving.experts", {fmt::format("{}/fp8", both)}) : 1;
    r.moe.gemm.bandwidth /= untuned;
    r.moe.gemm.flops /= untuned;
    r.moe.gemm.fixed *= untuned;
    // Products that libraries had not tuned yet for the chip, of prompts and of steps alike.
    const double slow_products = c.value("serving.products", {both});
    for (perf::GemmRates& g : r.gemm) g.flops /= slow_products;
    k.server = c.value("ttft.server", {family, era == family ? std::string_view() : era});
    k.server_token = c.value("ttft.token");
    k.fill = c.value("memory.fill");
    // What a user's own stack does differently from those that were published (data/calibration/user.toml).
    const std::string stack = fmt::format("{}-{}", family, kind);
    const bool learnt = c.informed("user.time", stack);
    const bool defined = r.ideal || e.own_attention;  // the datasheet, and what ridge-measure itself runs
    if (!defined && !c.effects().empty()) {
      const std::string_view engine = engine_.named ? std::string_view(e.id) : std::string_view();
      sure_ = c.effects().of("serving", {device_->id, device_->architecture, c.knows_kernels_of(arch)}, engine,
                             q_.as_tuned);
      if (learnt) sure_.own_rows = c.rows("user.time", stack);
    }
    if (!defined && (in_words_ || !c.own_runs().runs().empty())) {
      sure_.asked = asked(stack);
      sure_.own = c.own_runs().of(sure_.asked);
    }
    const double own = c.value("user.time", {stack}) * sure_.time();
    if (device_->core_speed) {
      for (double* cost : {&k.step, &k.sequence, &k.layer_eager, &k.server, &k.server_token})
        *cost *= 100.0 / device_->core_speed->value;
    }
    for (double* cost : {&k.step, &k.sequence, &k.layer_eager, &k.layer_small, &k.collective, &k.prefill,
                         &k.prefill_attention, &k.decode, &k.server, &k.server_token}) {
      *cost *= own;
    }
    if (learnt) {  // a server that was measured shows its host and its prompts apart
      for (double* cost : {&k.step, &k.sequence}) *cost *= c.value("user.host");
      for (double* cost : {&k.prefill, &k.prefill_attention}) *cost *= c.value("user.prefill");
    }
    const double transfer = c.value("serving.transfer", {family, arch});
    for (perf::LinkRates* link : {&r.tp_link, &r.expert_link}) {
      if (r.ideal) break;  // what is printed stays
      link->latency += k.collective;
      link->latency_per_rank += kWaitPerStep * k.collective;
      link->one_shot_latency += k.collective;
      for (double* rate :
           {&link->bandwidth, &link->peer_bandwidth, &link->reduction_bandwidth, &link->one_shot_bandwidth}) {
        *rate /= transfer;
      }
    }
    r.exchange_rates.latency += k.collective;
    for (double* rate : {&r.exchange_rates.scale_up, &r.exchange_rates.scale_out}) *rate /= transfer;
    const double recurrent = c.value("host.eager_layer@recurrent");
    for (int i = 0; i < r.kind_count; ++i) {
      const perf::LayerKind& layer = r.kinds[static_cast<std::size_t>(i)];
      r.launched_layers += layer.count * (layer.state_bytes > 0 ? recurrent : 1);
      r.small_layers += layer.count * layer.small_kernels;
    }
    for (int i = 0; i < r.kind_count; ++i) {
      perf::LayerKind& layer = r.kinds[static_cast<std::size_t>(i)];
      if (layer.index_flops_per_pair > 0) layer.index_fixed = c.value("layer.indexer");
    }
    r.power = perf::power_coefficients(c, arch);
    // Every rank chooses from all logits. Real use sorts them (top-p, top-k); benchmarks of random tokens, and those
    // that compare answers, take the best.
    const bool sorted = q_.load.natural_text > 0 && !q_.load.greedy;
    const double moved = c.value(sorted ? "sampling.sorted" : "sampling.best");
    r.sample_seconds = model_->embeds ? 0 : model_->vocab * moved / (r.device.memory_bandwidth * r.device.memory_share);
    const double correlation = q_.load.natural_text > 0 ? c.value("experts.correlation") : 1.0;
    for (auto& kind_of_layer : r.kinds) kind_of_layer.moe.correlation = correlation;
    r.draft_share = q_.draft_model_share > 0 ? q_.draft_model_share : 1.5 / std::max(1, model_->layers());
  }

  [[nodiscard]] OwnPoint asked(const std::string& stack) const {
    constexpr double kFull =
        256;  // clients of an engine that is kept full, and of one whose requests come by themselves
    const InferenceLoad& load = q_.load;
    const bool batched =
        load.mode == LoadMode::fixed_batch || load.mode == LoadMode::prefill || load.mode == LoadMode::decode;
    const double clients = batched ? load.batch : load.concurrency > 0 ? load.concurrency : kFull;
    return {stack,
            device_->id,
            model_->id,
            std::string(name(formats_.weights)),
            std::string(kModes[static_cast<std::size_t>(load.mode)]),
            OwnPoint::serving(clients, load.isl, load.osl, r_->tp)};
  }

  /// The scope of products that an era of a portable engine runs: matrices of 16 bits by the vendor's library, blocks
  /// of integers by its own kernels, and either for experts one by one.
  [[nodiscard]] std::string portable_kernels() const {
    const std::string_view era = engine_.era != nullptr ? std::string_view(engine_.era->scope) : std::string_view();
    return fmt::format("{}/{}-{}", era, is_sixteen_bit(formats_.weights) ? "16-bit" : "blocks",
                       model_->is_moe() ? "moe" : "dense");
  }

  void memory() {
    ResolvedInference& r = *r_;
    const Engine& e = *engine_.engine;
    const double total = r.device.memory_capacity;
    const std::string_view family = e.family.empty() ? std::string_view(e.id) : std::string_view(e.family);
    const double utilisation = q_.memory_utilization > 0 ? q_.memory_utilization : e.memory_utilization;
    r.weight_bytes = perf::weight_bytes(r, *model_, formats_.weights);
    if (q_.cpu_offload > 0) {
      const double away = std::min(q_.cpu_offload, r.weight_bytes);
      r.weight_bytes -= away;
      const double rate = r.device.host_link * (r.ideal ? 1 : k_.calibration.value("host_link.share"));
      r.offload_s = away / rate;
      assume("CPU offload: {} of weights per device wait in host memory and cross at {} in every step, which is slow",
             format(Bytes(away)), format(BytesPerSecond(rate)));
    }
    r.activation_bytes = std::min(r.max_tokens, 16384.0) * perf::widest_activation(r, *model_) * 2;
    const std::string_view era = engine_.era != nullptr ? std::string_view(engine_.era->scope) : std::string_view();
    const double buffers = k_.calibration.value("memory.buffers", {family, era});
    r.buffer_bytes = r.ideal ? 0 : buffers + (r.tp > 1 ? 0.5e9 : 0.0);
    if (r.ideal) r.activation_bytes = 0;
    const double left = total - r.weight_bytes - r.activation_bytes - r.buffer_bytes;
    if (e.admission == Admission::reserve_all) {  // a share of what is free once the weights are loaded
      r.kv_pool_bytes = left * utilisation;
    } else {  // a share of the whole board, less what the engine itself holds
      r.kv_pool_bytes = left - (1 - utilisation) * total;
    }
    r.reserve_bytes =
        e.admission == Admission::reserve_all ? std::max(0.0, left) * (1 - utilisation) : (1 - utilisation) * total;
    if (r.kv_pool_bytes > 0 && perf::kv_bytes(r, 1) <= 0) {  // nothing is cached: what is left stays free
      r.reserve_bytes += r.kv_pool_bytes;
      r.kv_pool_bytes = 0;
      return;
    }
    if (r.kv_pool_bytes <= 0) infeasible(Reason::out_of_memory, -r.kv_pool_bytes);
    if (in_words_) assume("usable memory of one {}: {}", device_->id, usable_memory(device_, total));
  }

  [[nodiscard]] DeploymentFacts facts() const {
    const ResolvedInference& r = *r_;
    DeploymentFacts f;
    f.gpus = static_cast<int>(r.gpus);
    f.tp = static_cast<int>(r.tp);
    f.pp = static_cast<int>(r.pp);
    f.ep = static_cast<int>(r.ep);
    f.dp = static_cast<int>(r.dp);
    f.weights = formats_.weights;
    f.activations = formats_.activations;
    f.kv = formats_.kv;
    f.device = device_->id;
    f.engine = engine_.engine->id;
    if (engine_.era != nullptr) f.era = engine_.era->id;
    f.memory_bytes = r.device.memory_capacity;
    f.memory_bandwidth = r.device.memory_bandwidth;
    f.peak = r.narrow_peak;
    f.peak_wide = r.device.peak[static_cast<std::size_t>(Format::bf16)];
    f.resembles = resembles_;
    f.redundant_experts = static_cast<int>(r.redundant);
    if (r.attention_dp && r.expert_ranks > 1) f.exchange = r.exchange;
    f.rebalanced = r.rebalanced;
    f.two_batches = r.two_batches;
    f.sure = sure_;
    return f;
  }

  void spreads() {
    if (r_->ideal) {  // a definition, not a prediction
      for (auto& mode : r_->spread) mode.fill({1, 1});
      return;
    }
    static constexpr std::string_view kNames[] = {"output_tok_s", "ttft_ms", "tpot_ms",
                                                  "prefill_ms",   "power_w", "joules_per_output_token"};
    const std::string kind = model_->is_moe() ? "moe" : "dense";
    const bool known = k_.calibration.knows_kernels_of(device_->architecture);
    const auto shown = q_.load.mode == LoadMode::prefill ? perf::Metric::prefill : perf::Metric::output_tok_s;
    for (std::size_t mode = 0; mode < kLoadModes; ++mode) {
      for (std::size_t metric = 0; metric < perf::kMetrics; ++metric) {
        const std::string key = fmt::format("{}/{}", kNames[metric], kModes[mode]);
        const bool asked = mode == static_cast<std::size_t>(q_.load.mode) && metric == static_cast<std::size_t>(shown);
        if (const EffectRest* rest = sure_.rest(key)) {
          const Spread80 s = sure_.spread(key, metric != static_cast<std::size_t>(perf::Metric::output_tok_s));
          r_->spread[mode][metric] = {s.low, s.high};
          if (asked) {
            const std::string_view of_model = kind;
            const std::string_view what = sure_.device_rows == 0     ? std::string_view("new device")
                                          : sure_.software_rows == 0 ? std::string_view("new software")
                                                                     : of_model;
            resembles_ = {key,
                          std::string(what),
                          s.low,
                          s.high,
                          std::min(sure_.device_rows, sure_.software_rows),
                          rest->median_error,
                          rest->p90_error};
          }
          continue;
        }
        const IntervalClass* c = k_.calibration.interval(key, known && engine_.exact ? kind : "new-device");
        if (c == nullptr) c = k_.calibration.interval(kNames[metric], kind);
        if (c == nullptr) continue;
        r_->spread[mode][metric] = {c->low, c->high};
        if (asked) resembles_ = *c;
      }
    }
  }

  /// The rows that intervals come from decode; nothing was fitted to encoders. MLPerf's Whisper results of nine devices
  /// take 0.95 to 1.6 times what is predicted, servers of a BERT on an L4 1.4 to 2 times (docs/validate.md): the slow
  /// end is moved out, the middle stays.
  void widen_for_encoders() {
    if (r_->ideal || (r_->encoder_seconds <= 0 && !model_->reads_both_ways())) return;
    constexpr double kSlower = 1.5;
    for (std::size_t mode = 0; mode < kLoadModes; ++mode) {
      for (const perf::Metric m :
           {perf::Metric::ttft, perf::Metric::tpot, perf::Metric::prefill, perf::Metric::joules}) {
        r_->spread[mode][static_cast<std::size_t>(m)].high *= kSlower;
      }
      r_->spread[mode][static_cast<std::size_t>(perf::Metric::output_tok_s)].low /= kSlower;
    }
    resembles_ = {};  // those rows say nothing of how far such predictions are off
  }

  const InferenceQuery& q_;
  const Knowledge& k_;
  std::unique_ptr<ResolvedInference> r_ = std::make_unique<ResolvedInference>();
  std::vector<std::string> assumptions_;
  bool in_words_ = true;
  const Model* model_ = nullptr;
  Model written_out_;              ///< of a spec or a file, or a name understood
  std::string_view named_format_;  ///< what the name of the checkpoint ends in
  const Device* device_ = nullptr;
  Device own_device_;  ///< scaled, or a share of one
  const System* system_ = nullptr;
  EngineMatch engine_;
  Formats formats_;
  IntervalClass resembles_;
  Sureness sure_;
};

}  // namespace

std::string_view name(MemoryPart part) {
  static constexpr std::string_view kNames[kMemoryParts] = {"weights", "kv_cache", "activations", "graphs_and_buffers",
                                                            "reserve"};
  return kNames[static_cast<std::size_t>(part)];
}

Result<InferenceDeployment> resolve(const InferenceQuery& query, const Knowledge& knowledge) {
  return Resolver(query, knowledge).run();
}

Result<std::unique_ptr<ResolvedInference>> perf::resolve_numbers(const InferenceQuery& query,
                                                                 const Knowledge& knowledge) {
  return Resolver(query, knowledge).numbers();
}

}  // namespace ridge
