#include "ridge/facility/facility_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr std::string_view kUsualDevice = "h100-sxm";
constexpr int kRacksPerUnit = 8;
constexpr int kManagementPorts = 4;     // of two subnet managers with two ports each (DGX SuperPOD)
constexpr double kHostCopyShare = 0.8;  // of a PCIe link's rate that copies reach
constexpr double kStoragePorts = 2;     // of a node, beside the compute network, at the rate of one

/// The system that people mean by a device: one of known power before one without, nodes before racks, what can be
/// bought before what a cloud rents.
const System* usual_system(const Catalogue& catalogue, std::string_view device) {
  const System* best = nullptr;
  int best_rank = 99;
  for (const System& s : catalogue.systems()) {
    if (s.device != device) continue;
    const bool rented = s.id.rfind("aws-", 0) == 0 || s.id.rfind("azure-", 0) == 0 || s.id.rfind("gcp-", 0) == 0;
    const int rank = (s.power_max ? 0 : 2) + (s.kind == SystemKind::node ? 0 : 1) + (rented ? 4 : 0);
    if (rank < best_rank) {
      best = &s;
      best_rank = rank;
    }
  }
  return best;
}

class Answerer {
 public:
  Answerer(const FacilityQuestion& question, const Knowledge& knowledge, const FacilityData& data)
      : q_(question), k_(knowledge), data_(data) {}

  Result<FacilityAnswer> run() {
    for (const auto step : {&Answerer::names, &Answerer::training, &Answerer::count, &Answerer::network,
                            &Answerer::racks, &Answerer::storage}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    SiteFacts facts;
    facts.racks = &a_.racks;
    facts.fabric = a_.fabric ? &*a_.fabric : nullptr;
    facts.storage = a_.storage ? &*a_.storage : nullptr;
    if (a_.plan_traffic) {
      facts.traffic = a_.plan_traffic->traffic;
      facts.compute_seconds = a_.plan_traffic->compute_seconds;
    }
    facts.limits = q_.limits;
    a_.checklist = checklist(facts, data_);
    a_.assumptions.insert(a_.assumptions.end(), a_.racks.assumptions.begin(), a_.racks.assumptions.end());
    return std::move(a_);
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    a_.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status names() {
    const Catalogue& c = k_.catalogue;
    if (!q_.system.empty()) {
      a_.system = c.system(q_.system);
      if (a_.system == nullptr) {
        std::vector<std::string_view> ids;
        for (const System& s : c.systems()) ids.emplace_back(s.id);
        const std::string near = nearest(q_.system, ids.data(), ids.size());
        return Error{ErrorCode::not_found, "⟦system⟧",
                     fmt::format("there is no system {}{}", quoted(q_.system),
                                 near.empty() ? "; `ridge show systems` lists them" : "; did you mean " + near + "?")};
      }
    } else {
      const auto device = c.find_device(q_.device);
      if (!device) return Error{device.error().code, "⟦device⟧", device.error().message};
      a_.system = usual_system(c, device->id);
      if (a_.system == nullptr) {
        return Error{ErrorCode::not_found, "⟦device⟧",
                     fmt::format("no system of the catalogue has {}; `ridge show systems` lists them", device->id)};
      }
      assume("system {}", a_.system->id);
    }
    a_.device = c.device(a_.system->device);
    device_power();
    const std::string& fabric = q_.fabric.empty() ? a_.system->scale_out : q_.fabric;
    a_.scale_out = c.fabric(fabric);
    if (a_.scale_out == nullptr && !q_.fabric.empty()) {
      return Error{ErrorCode::not_found, "⟦fabric⟧", fmt::format("there is no fabric {}", quoted(q_.fabric))};
    }
    return {};
  }

  /// What a device draws at most. Where its maker does not say: as much for a 16-bit FLOP as the usual device does.
  void device_power() {
    if (a_.device == nullptr) return;
    if (a_.device->tdp) {
      device_power_ = a_.device->tdp->value;
      const Source& source = k_.catalogue.source(a_.device->tdp->source);
      if (source.kind == SourceKind::estimate) {
        assume("{} draws {}, an estimate: {}", a_.device->id, format(device_power_), source.title);
      }
      return;
    }
    if (a_.system->power_max) return;
    const Device* usual = k_.catalogue.device(kUsualDevice);
    const Figure<FlopsPerSecond>& rate = a_.device->peak(PeakFormat::bf16);
    if (usual == nullptr || !usual->tdp || !usual->peak(PeakFormat::bf16) || !rate) return;
    device_power_ = usual->tdp->value * (rate->value / usual->peak(PeakFormat::bf16)->value);
    assume("{} draws {}, an estimate: its power is not published; the watts of {} for a 16-bit FLOP", a_.device->id,
           format(device_power_), usual->id);
  }

  Status training() {
    if (!q_.training) return {};
    TrainingQuery query = *q_.training;
    query.system = a_.system->id;
    query.device.clear();
    if (query.plan.gpus <= 1 && q_.gpus > 0) query.plan.gpus = q_.gpus;
    if (query.plan.gpus <= 1 && q_.nodes > 0) query.plan.gpus = q_.nodes * a_.system->devices();
    Result<TrainingAnswer> answer = ridge::answer(query, q_.freedom, k_);
    if (!answer) return answer.error();
    if (answer->refusal) {
      return Error{ErrorCode::infeasible, "", fmt::format("the plan cannot run: {}", answer->refusal->why)};
    }
    const TrainingEstimate& e = answer->outcome.estimate;
    PlanTraffic t;
    t.traffic = training_traffic(*answer->job->resolved, answer->query.plan);
    t.step_seconds = e.step_time_s.mid;
    for (const TrainingPhase phase :
         {TrainingPhase::forward, TrainingPhase::backward, TrainingPhase::recompute, TrainingPhase::head}) {
      t.compute_seconds += e.phases_s[static_cast<std::size_t>(phase)];
    }
    t.needed = needed_per_port(t.traffic, t.compute_seconds);
    if (a_.device != nullptr && a_.device->memory_bandwidth) {
      t.memory_bandwidth = a_.device->memory_bandwidth->value;
      t.hbm_share = t.needed / t.memory_bandwidth;
    }
    a_.plan_traffic = t;
    a_.assumptions.insert(a_.assumptions.end(), answer->assumptions.begin(), answer->assumptions.end());
    a_.training = *std::move(answer);
    return {};
  }

  Status count() {
    const int each = a_.system->devices();
    int gpus = a_.training ? a_.training->query.plan.gpus : q_.gpus;
    if (q_.nodes > 0) {
      if (gpus > 0 && gpus != q_.nodes * each) {
        return Error{ErrorCode::bad_input, "⟦nodes⟧",
                     fmt::format("{} of {} have {} devices, not {}: say one of the two", q_.nodes, a_.system->id,
                                 q_.nodes * each, gpus)};
      }
      systems_ = q_.nodes;
      return {};
    }
    if (gpus <= 0) return {};  // as many as the limits allow
    devices_ = gpus;
    systems_ = (gpus + each - 1) / each;
    if (gpus % each != 0) assume("{} of {}, the last one not full", systems_, a_.system->id);
    return {};
  }

  [[nodiscard]] Result<RackPlan> plan(int systems, const FabricDesign* fabric) const {
    SiteRequest r;
    r.system = a_.system;
    r.systems = systems;
    r.limits = limits_;
    r.rack = q_.rack;
    r.device_power = device_power_;
    r.share = data_.rack_share(a_.system->id);
    r.devices = devices_;
    if (fabric != nullptr) {
      r.switch_count = fabric->switches();
      if (fabric->power) r.network = fabric->power->value;
      const SwitchModel* model = a_.scale_out == nullptr ? nullptr : data_.switch_for(a_.scale_out->id);
      if (model != nullptr) r.switch_units = model->rack_units;
    }
    return plan_racks(r, data_);
  }

  /// Racks are not filled beyond what can be cooled: by the cooling the site has, or by air where systems need air.
  void heat() {
    limits_ = q_.limits;
    const CoolingClass* has = data_.cooling_class(q_.limits.cooling);
    const bool air = a_.system->cooling == Cooling::air ||
                     (a_.system->cooling == Cooling::unknown && a_.system->kind == SystemKind::node);
    if (has != nullptr) {
      limits_.rack_heat = has->high;
    } else if (air && !q_.limits.rack_power) {
      const CoolingClass* door = data_.cooling_class("rear-door");
      if (door == nullptr) return;
      limits_.rack_heat = door->high;
      assume("at most {} per rack, what air and a rear door carry", format(door->high, 2));
    }
  }

  Status network() {
    heat();
    if (systems_ > 0) return design();
    const Result<RackPlan> most = plan(0, nullptr);
    if (!most) return most.error();
    systems_ = most->systems;
    // Switches take their part of the site's power: as many systems fewer as it takes.
    while (true) {
      const std::size_t before = a_.assumptions.size();
      if (const Status s = design(); !s) return s;
      const Result<RackPlan> whole = plan(systems_, a_.fabric ? &*a_.fabric : nullptr);
      if (!whole) return whole.error();
      if (!q_.limits.site_power || whole->facility <= *q_.limits.site_power || systems_ <= 1) return {};
      a_.assumptions.resize(before);
      systems_ = std::min(systems_ - 1, static_cast<int>(systems_ * (*q_.limits.site_power / whole->facility)));
      systems_ = std::max(1, systems_);
    }
  }

  Status design() {
    a_.fabric.reset();
    a_.scale_up = count_scale_up(data_, k_.catalogue, *a_.system, systems_ * a_.system->devices());
    FabricRequest r;
    r.topology = q_.topology;
    r.levels = q_.levels;
    r.oversubscription = q_.oversubscription;
    r.nodes = systems_ * a_.system->nodes;
    if (a_.system->torus[0] > 0 && (!q_.topology_given || q_.topology == Topology::torus)) {
      const Fabric* links = k_.catalogue.fabric(a_.system->scale_up);
      r.topology = Topology::torus;
      r.torus = slice();
      if (links != nullptr && links->port_per_direction) r.port_rate = links->port_per_direction->value;
      Result<FabricDesign> design = design_fabric(r);
      if (!design) return design.error();
      a_.fabric = *std::move(design);
      if (systems_ > 1) assume("{} tori that are not joined", systems_);
      return {};
    }
    if (a_.scale_out == nullptr || !a_.system->nics_per_node || !a_.scale_out->port_per_direction) {
      assume("no network between nodes: {} says nothing about its ports", a_.system->id);
      return {};
    }
    if (!a_.scale_out->switch_radix) {
      assume("no count of switches: the ports of a switch for {} are not known", a_.scale_out->id);
      return {};
    }
    r.ports_per_node = a_.system->nics_per_node->value;
    r.port_rate = a_.scale_out->port_per_direction->value;
    r.radix = a_.scale_out->switch_radix->value;
    if (a_.scale_out->kind == FabricKind::infiniband) r.management_ports = kManagementPorts;
    if (a_.system->kind == SystemKind::rack) {
      // As in the reference architecture of GB200: a leaf for each rail of a rack, eight racks to a scalable unit, and
      // a third level that joins the units.
      r.to_leaf = Metres(10);
      r.nodes_per_leaf = a_.system->nodes;
      // Pods of one unit reach as many pods as a core switch has ports; beyond that, pods as large as they can be.
      const bool units_reach = systems_ <= kRacksPerUnit * r.radix / r.ports_per_node;
      r.leaves_per_pod = units_reach ? kRacksPerUnit : 0;
      if (r.levels == 0 && systems_ > kRacksPerUnit && q_.topology == Topology::rail_fat_tree) r.levels = 3;
    }
    Result<FabricDesign> design = design_fabric(r);
    if (!design) return design.error();
    equip(*design, data_, a_.scale_out->id, r.port_rate, r.radix);
    a_.fabric = *std::move(design);
    assume("cables of {} to the leaves, {} between switches", format(r.to_leaf, 2), format(r.to_spine, 2));
    if (a_.fabric->price) assume("prices of switches and links are planning ranges, not offers");
    return {};
  }

  /// The torus of the racks that were asked for: as near to a cube as their number allows, where racks are cubes of a
  /// larger torus that optical switches join; else the whole.
  [[nodiscard]] std::array<int, 3> slice() const {
    const std::array<int, 3>& whole = a_.system->torus;
    const RackShare* share = data_.rack_share(a_.system->id);
    if (share == nullptr || devices_ == 0 || devices_ >= a_.system->devices()) return whole;
    const int edge = static_cast<int>(std::lround(std::cbrt(share->devices)));
    if (edge * edge * edge != share->devices) return whole;
    const int cubes = (devices_ + share->devices - 1) / share->devices;
    std::array<int, 3> best = {1, 1, cubes};
    for (int a = 1; a * a * a <= cubes; ++a) {
      for (int b = a; cubes % a == 0 && a * b * b <= cubes; ++b) {
        if (cubes / a % b == 0) best = {a, b, cubes / a / b};
      }
    }
    for (int& extent : best) extent *= edge;
    return best;
  }

  Status racks() {
    Result<RackPlan> p = plan(systems_, a_.fabric ? &*a_.fabric : nullptr);
    if (!p) return p.error();
    a_.racks = *std::move(p);
    return {};
  }

  Status storage() {
    StorageRequest r;
    r.nodes = systems_ * a_.system->nodes;
    r.devices_per_node = a_.system->devices_per_node;
    r.dataset = q_.dataset;
    r.interval = q_.interval;
    r.kept = q_.kept;
    r.write = q_.limits.storage_write.value_or(kUsualStorageWrite);
    if (!q_.limits.storage_write) assume("storage takes {} from all nodes together (⟦storage_write⟧)", format(r.write));
    if (a_.system->host_memory) r.host_memory = a_.system->host_memory->value;
    if (a_.device != nullptr && a_.device->pcie_generation) {
      // 2 GB/s a lane in generation 4, doubling with each.
      double link = 2e9 * 16;
      for (int g = 4; g < a_.device->pcie_generation->value; ++g) link *= 2;
      r.device_to_host = BytesPerSecond(link * kHostCopyShare);
    }
    if (a_.scale_out != nullptr && a_.scale_out->port_per_direction) {
      r.node_link = a_.scale_out->port_per_direction->value * kStoragePorts;
      assume("{} per node to storage", format(r.node_link));
    }
    if (const auto out = scale_out_per_node(k_.catalogue, *a_.system)) r.node_network = *out;
    if (a_.training) {
      const auto model = k_.catalogue.find_model(a_.training->query.model);
      if (!model) return model.error();
      r.parameters = count_parameters(*model).total;
      r.tokens_per_s = a_.training->outcome.estimate.tokens_per_s.mid;
      if (a_.training->query.task == TrainingTask::lora) {
        r.bytes_per_parameter = 2;
        r.changed_share = 0.01;
        assume("adapters are a hundredth of the weights");
      }
      assume("a checkpoint every {}, {} kept", format(q_.interval), q_.kept);
    } else if (!q_.serving.empty()) {
      const auto model = k_.catalogue.find_model(q_.serving);
      if (!model) return model.error();
      r.dataset += Bytes(2 * count_parameters(*model).total);
    } else if (q_.dataset <= Bytes(0)) {
      return {};
    }
    StorageNeed need = storage_need(r);
    if (!q_.serving.empty() && !a_.training) need.read_restart = r.dataset * static_cast<double>(r.nodes) / r.restart;
    const Bytes local = a_.system->local_storage ? a_.system->local_storage->value : Bytes(0);
    a_.storage_verdicts = judge_storage(need, r, data_, local);
    a_.storage = std::move(need);
    a_.storage_request = r;
    return {};
  }

  const FacilityQuestion& q_;
  const Knowledge& k_;
  const FacilityData& data_;
  FacilityAnswer a_;
  SiteLimits limits_;  // the site's, and what cooling adds to them
  Watts device_power_;
  int devices_ = 0;  // asked for; 0 = whole systems
  int systems_ = 0;
};

}  // namespace

Result<FacilityAnswer> answer(const FacilityQuestion& question, const Knowledge& knowledge, const FacilityData& data) {
  return Answerer(question, knowledge, data).run();
}

}  // namespace ridge
