#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/operators/power.hpp"
#include "perf/training/groups.hpp"
#include "perf/training/resolved.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge {
namespace {

/// Width at which an expert's products take about as long as moving its tokens and starting its kernels.
constexpr double kWideExpert = 4096;

Format compute_precision(const TrainingQuery& query) {
  return query.precision.value_or(Format::bf16);
}

void set_model(ResolvedTraining& job, const Model& model, const TrainingQuery& query) {
  const Parameters counted = count_parameters(model);
  job.hidden = model.hidden;
  job.vocab = model.embeds ? 0 : model.vocab;  // a vector is learnt from other vectors, not from the vocabulary
  job.tied = model.tied_embeddings || model.embeds;
  job.moe = model.is_moe();
  job.parameters = counted.total;
  job.active_parameters = counted.active - (model.embeds ? counted.embedding : 0);
  job.embedding_parameters = counted.embedding;
  job.head_parameters = static_cast<double>(model.hidden) * model.vocab;
  for (const LayerGroup& layer : model.groups) {
    if (layer.count <= 0) continue;
    TrainingGroup group = training_group(model, layer, job.traits.attention, job.traits.eager_modules);
    job.layers += group.count;
    job.experts_all = std::max(job.experts_all, group.experts);
    if (group.moe) job.expert_fineness = 1 / (1 + group.expert_width / kWideExpert);
    const auto& products = group.products;
    for (int i = 0; i < group.product_count; ++i) {
      job.lora_parameters += group.count * query.lora_rank *
                             (products[static_cast<std::size_t>(i)].n + products[static_cast<std::size_t>(i)].k);
    }
    const double reach_width = 6 * group.heads * (group.key_dim + group.value_dim);
    if (layer.mixer.window == 0 && layer.mixer.index_topk == 0) {
      job.attention_flops_per_position += group.count * reach_width;
    } else {
      job.windows[static_cast<std::size_t>(job.window_count)] = {
          group.count * reach_width, static_cast<double>(layer.mixer.window + layer.mixer.index_topk)};
      ++job.window_count;
    }
    job.fixed_flops_per_token += 3 * group.count * group.state_flops;
    job.groups[static_cast<std::size_t>(job.group_count++)] = group;
  }
  if (query.mtp && model.mtp_layers > 0 && job.group_count > 0) {
    job.mtp_layers = model.mtp_layers;
    job.mtp_parameters = mtp_layer_parameters(model);
  }
}

Status set_device(ResolvedTraining& job, const Device& device, const System* system, const TrainingQuery& query,
                  const Knowledge& knowledge, std::vector<std::string>& assumptions) {
  auto rates = perf::device_rates(device, knowledge.catalogue, knowledge.calibration);
  if (!rates) return rates.error();
  job.rates = *rates;
  job.architecture = std::string(rates->architecture);
  job.rates.architecture = job.architecture;
  job.own_architecture = device.architecture;
  if (device.architecture.starts_with(job.architecture + "-")) {
    job.architecture_step = device.architecture.substr(job.architecture.size() + 1);
  }
  job.device = device.id;
  job.vendor = device.vendor;
  const auto& portable_on = job.traits.portable_attention_on;
  if (std::find(portable_on.begin(), portable_on.end(), job.own_architecture) != portable_on.end()) {
    job.traits.attention = AttentionKernel::portable;
  }
  if (query.power_cap > 0) {
    const auto said = perf::cap_power(job.rates, query.power_cap, device.id, knowledge.calibration);
    if (!said) return said.error();
    assumptions.insert(assumptions.end(), said->begin(), said->end());
  }
  job.tdp = job.rates.tdp;
  job.memory_capacity = job.rates.memory_capacity;
  job.memory_bandwidth = job.rates.memory_bandwidth;
  job.host_link = job.rates.host_link;
  job.precision = compute_precision(query);
  if (query.block_scales) {
    job.block_scales = !job.rates.design.block_scales;
    if (!job.block_scales) {
      job.precision = Format::mxfp8;
      assumptions.push_back("fp8 with scales by block runs as mxfp8 on this chip");
    }
  }
  job.format_supported = trains_in(job.precision) && job.rates.native[static_cast<std::size_t>(job.precision)];
  job.peak = job.rates.peak[static_cast<std::size_t>(job.precision)];
  const Format wide = job.precision == Format::fp16 ? Format::fp16 : Format::bf16;
  job.peak_wide = job.rates.peak[static_cast<std::size_t>(wide)];

  const int device_domain = device.scale_up_domain ? device.scale_up_domain->value : 1;
  const int device_node = device.node_size ? device.node_size->value : std::max(1, std::min(8, device_domain));
  job.node_size = query.gpus_per_node > 0 ? query.gpus_per_node
                  : system != nullptr     ? system->devices_per_node
                                          : device_node;
  job.domain = query.scale_up_domain > 0 ? query.scale_up_domain
               : system != nullptr       ? system->scale_up_domain
                                         : device_domain;
  const double pcie = job.rates.host_link;
  job.up_peak = device.scale_up_per_direction ? device.scale_up_per_direction->value.value() : pcie;
  if (query.network_per_gpu > 0) {
    job.out_peak = query.network_per_gpu;
  } else {
    if (system != nullptr && !system->scale_out.empty() && system->nics_per_node) {
      const Fabric* fabric = knowledge.catalogue.fabric(system->scale_out);
      if (fabric != nullptr && fabric->port_per_direction) {
        job.out_peak = fabric->port_per_direction->value.value() * system->nics_per_node->value /
                       std::max(1, system->devices_per_node);
      }
    }
    if (job.out_peak <= 0) job.out_peak = job.traits.network;
    if (job.out_peak <= 0 && device.nic_per_direction) job.out_peak = device.nic_per_direction->value.value();
    if (job.out_peak <= 0) {
      job.out_peak = std::min(usual::kNetwork, job.up_peak);
      if (query.plan.gpus > job.domain) {
        assumptions.push_back(fmt::format("network of {}: {} per device and direction, since none is published",
                                          device.id, format(BytesPerSecond(job.out_peak))));
      }
    }
  }
  return {};
}

/// Devices that one level of switches joins without oversubscription: half of a switch's ports go down, and each rail
/// has switches of its own; without rails the ports of a node share one.
double leaf_devices(const System* system, const Fabric* fabric, int node) {
  constexpr int kUsualRadix = 64;  // of a 400 Gb/s switch
  const int radix = fabric != nullptr && fabric->switch_radix ? fabric->switch_radix->value : kUsualRadix;
  const int ports = system != nullptr && system->nics_per_node ? system->nics_per_node->value : node;
  const double nodes = ports >= node ? radix / 2.0 : radix / (2.0 * ports);
  return std::max(1.0, std::floor(nodes)) * node;
}

Status set_cluster(ResolvedTraining& job, const Device& device, const System* system, const TrainingQuery& query,
                   const Catalogue& catalogue, std::vector<std::string>& assumptions) {
  const TrainingCluster& asked = query.cluster;
  const auto refuse = [](const char* flag, std::string message) {
    return Error{ErrorCode::bad_input, flag, std::move(message)};
  };
  if (asked.oversubscription != 0 && !(asked.oversubscription >= 1)) {
    return refuse("⟦oversubscription⟧", "write ports over uplinks: 1 is none, 2 half of the links");
  }
  const Fabric* fabric = system != nullptr ? catalogue.fabric(system->scale_out) : nullptr;
  job.order = asked.order;
  job.oversubscription = asked.oversubscription > 0                      ? asked.oversubscription
                         : system != nullptr && system->oversubscription ? system->oversubscription->value
                                                                         : 1;
  job.pod = asked.pod > 0                      ? asked.pod
            : system != nullptr && system->pod ? system->pod->value
                                               : leaf_devices(system, fabric, job.node_size);
  const bool up = asked.reduction == SwitchReduction::scale_up || asked.reduction == SwitchReduction::both;
  const bool out = asked.reduction == SwitchReduction::scale_out || asked.reduction == SwitchReduction::both;
  if (up && !perf::reduces_in_switch(device)) {
    return refuse("⟦reduction⟧",
                  fmt::format("the scale-up links of {} do not reduce; NVLink switches do since Hopper", device.id));
  }
  if (out && fabric != nullptr && !fabric->in_network_reduction) {
    return refuse("⟦reduction⟧",
                  fmt::format("{} of {} does not reduce; InfiniBand with SHARP does", fabric->name, system->name));
  }
  job.reduces_up = up;
  job.reduces_out = out;
  if (asked.data_rate > 0) job.data_seconds = asked.data_bytes / asked.data_rate;
  if (query.plan.gpus > job.domain) {
    if (job.oversubscription > 1) {
      assumptions.push_back(fmt::format("network: pods of {} devices, oversubscribed {} to 1 between them",
                                        format_number(job.pod, 7), format_number(job.oversubscription)));
    } else {
      assumptions.push_back("a network without oversubscription");
    }
  }
  return {};
}

/// The month of a release that is named by it: "24.12" and "v25.09.1" are of 2024-12 and 2025-09. Empty for all others.
std::string month_of_release(std::string_view release) {
  if (!release.empty() && (release.front() == 'v' || release.front() == 'V')) release.remove_prefix(1);
  const std::size_t point = release.find('.');
  const std::string_view year = release.substr(0, point);
  const std::string_view rest = point == std::string_view::npos ? std::string_view() : release.substr(point + 1);
  const std::string_view month = rest.substr(0, rest.find('.'));
  const auto number = [](std::string_view text) {
    const bool digits = text.size() == 2 && text.find_first_not_of("0123456789") == std::string_view::npos;
    return digits ? 10 * (text[0] - '0') + (text[1] - '0') : 0;
  };
  const int first = number(year);
  const int second = number(month.size() == 1 ? "0" + std::string(month) : std::string(month));
  if (first < 18 || first > 60 || second < 1 || second > 12) return "";
  return fmt::format("20{:02}-{:02}", first, second);
}

/// Training software is known by date: the date of the release that was asked for.
Result<std::string> date_of_release(const TrainingQuery& query, const Engines& engines) {
  if (std::string month = month_of_release(query.engine_version); !month.empty()) return month;
  const EngineMatch match = engines.find(query.engine, EngineWork::training, {}, {});
  return Error{ErrorCode::bad_input, "⟦engine_version⟧",
               fmt::format("when {} {} came out is not known: say ⟦software_as_of=2024-06⟧, or a release that is named "
                           "by its month (24.12)",
                           match.engine != nullptr ? match.engine->name : query.engine, query.engine_version)};
}

void set_engine(ResolvedTraining& job, const TrainingQuery& query, const Engines& engines,
                std::vector<std::string>& assumptions) {
  const EngineMatch match = engines.find(query.engine, EngineWork::training, query.engine_version, query.date);
  job.year = year_of(query.date);
  if (match.engine == nullptr) return;
  job.engine = match.engine->id;
  job.ideal = match.engine->ideal;
  job.family = match.engine->family;
  job.traits = match.engine->training;
  if (match.era != nullptr) {
    job.era = match.era->id;
    job.traits = match.era->training;
  }
  job.exact_engine = match.exact;
  job.named_engine = match.named;
  const bool known_by_name = match.engine->id == query.engine;
  if (!known_by_name)
    assumptions.push_back(fmt::format("engine '{}' is taken as {}", query.engine, match.engine->name));
}

}  // namespace

TrainingJob::TrainingJob() = default;
TrainingJob::TrainingJob(TrainingJob&&) noexcept = default;
TrainingJob& TrainingJob::operator=(TrainingJob&&) noexcept = default;
TrainingJob::~TrainingJob() = default;

Result<TrainingJob> resolve(const TrainingQuery& query, const Knowledge& knowledge) {
  if (query.date.empty() && !query.engine_version.empty()) {
    Result<std::string> date = date_of_release(query, knowledge.engines);
    if (!date) return date.error();
    TrainingQuery dated = query;
    dated.date = *std::move(date);
    Result<TrainingJob> job = resolve(dated, knowledge);
    if (job) job->assumptions.push_back(fmt::format("release {}: software of {}", query.engine_version, dated.date));
    return job;
  }
  auto model = knowledge.catalogue.find_model(query.model);
  if (!model) return model.error();
  if (model->type != ModelType::language) {
    return Error{ErrorCode::refused, query.model, "training is modelled for language models only"};
  }
  if (model->cross_tokens() > 0) {
    return Error{ErrorCode::refused, query.model,
                 model->id + " writes down what it hears: training of models of speech is not modelled"};
  }
  if (query.mtp && model->mtp_layers == 0) {
    return Error{ErrorCode::bad_input, "⟦mtp⟧",
                 model->id + " has no multi-token-prediction layers: leave it out, or say ⟦set=model.mtp_layers=1⟧"};
  }
  if (model->groups.size() > kGroups) {
    return Error{ErrorCode::refused, query.model,
                 fmt::format("more than {} kinds of layers are not modelled in training", kGroups)};
  }
  const System* system = nullptr;
  if (!query.system.empty()) {
    system = knowledge.catalogue.system(query.system);
    if (system == nullptr) return Error{ErrorCode::not_found, "⟦system⟧", "there is no system '" + query.system + "'"};
  }
  const std::string device_id = !query.device.empty() ? query.device : system != nullptr ? system->device : "";
  auto device = knowledge.catalogue.find_device(device_id);
  if (!device) return device.error();

  TrainingJob job;
  if (model->id != query.model && knowledge.catalogue.model(model->id) != nullptr) {
    job.assumptions.push_back(fmt::format("model '{}' is read as {}", query.model, model->id));
  }
  if (device->id != device_id) {
    job.assumptions.push_back(fmt::format("device '{}' is read as {}", device_id, device->id));
  }
  job.resolved = std::make_unique<ResolvedTraining>();
  job.plan = query.plan;
  ResolvedTraining& resolved = *job.resolved;
  resolved.task = query.task;
  set_engine(resolved, query, knowledge.engines, job.assumptions);
  if (const Status status = set_device(resolved, *device, system, query, knowledge, job.assumptions); !status) {
    return status.error();
  }
  if (const Status status = set_cluster(resolved, *device, system, query, knowledge.catalogue, job.assumptions);
      !status) {
    return status.error();
  }
  set_model(resolved, *model, query);
  if (query.task == TrainingTask::lora) {
    // Frozen weights stay in the format of the products, or in the one they were stored in, with its scales.
    resolved.weight_bytes = query.frozen ? bytes_per_weight(*query.frozen) : bytes_per_element(resolved.precision);
  }
  if (query.wide_layers > 0 && bytes_per_element(resolved.precision) < 2) {
    resolved.wide_share = std::min(1.0, query.wide_layers / resolved.layers);
  }
  const TrainingPlan& plan = job.plan;
  resolved.asked = {
      resolved.family + (resolved.moe ? "-moe" : "-dense"),
      device->id,
      model->id,
      std::string(name(resolved.precision)),
      "training",
      OwnPoint::training(plan.gpus, plan.micro_batch, static_cast<double>(plan.sequence), plan.tp, plan.pp)};
  calibrate(resolved, knowledge.calibration);
  job.sure = training_sureness(resolved, knowledge.calibration);

  const TrainingOutcome outcome = evaluate(resolved, job.plan);
  const TrainingEstimate& e = outcome.estimate;
  if (!query.precision) job.assumptions.push_back("matrix products in bf16");
  if (query.date.empty()) job.assumptions.push_back("software of the newest date known");
  if (job.plan.sharding == Sharding::unknown) {
    job.assumptions.push_back(fmt::format("sharding: {}, the engine's usual choice", name(resolved.traits.sharding)));
  }
  if (outcome.reason == Reason::none) {
    if (job.plan.vp == 0 && job.plan.pp > 1) {
      job.assumptions.push_back(e.vp > 1 ? fmt::format("{} chunks per pipeline stage, the engine's usual choice", e.vp)
                                         : "pipeline stages in one piece, the engine's usual choice");
    }
    if (job.plan.recompute == Recompute::unknown) {
      job.assumptions.push_back(fmt::format("recompute: the least that fits: {} ({:.0f} % of the forward pass again)",
                                            name(e.recompute), 100 * e.recompute_share));
    }
  }
  if (model->embeds) job.assumptions.emplace_back("trained on its vectors: nothing is predicted of the vocabulary");
  if (model->encoder.layers > 0) job.assumptions.emplace_back("text alone: pictures and sound are not counted");
  if (resolved.moe && job.plan.imbalance <= 1) job.assumptions.push_back("tokens spread evenly over the experts");
  return job;
}

}  // namespace ridge
