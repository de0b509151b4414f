// From a plan to a site, whole: network, traffic, storage, racks, power, cooling and the checklist.
//
//   FacilityQuestion q;
//   q.system = "dgx-h100"; q.gpus = 1024;
//   Result<FacilityAnswer> a = answer(q, knowledge, data);
//   a->fabric->switches();            // 48
//   a->racks.facility;                // at most, cooling included
//
// With a model and a training plan the network is judged by the plan's own traffic and storage by its checkpoints.
// Pure; any thread. The answer points into catalogue and data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ridge/facility/fabric.hpp"
#include "ridge/facility/site.hpp"
#include "ridge/facility/storage.hpp"
#include "ridge/perf/traffic.hpp"
#include "ridge/perf/training_answer.hpp"

namespace ridge {

struct FacilityQuestion {
  std::string system;  ///< id, or empty: the usual one of `device`
  std::string device;
  int gpus = 0;   ///< 0 = by nodes, or as many as the limits allow
  int nodes = 0;  ///< systems
  std::optional<TrainingQuery> training;
  TrainingFreedom freedom;
  std::string serving;  ///< id of a model to be served, instead of training

  Topology topology = Topology::rail_fat_tree;
  bool topology_given = false;  ///< otherwise a torus system keeps its torus
  int levels = 0;
  double oversubscription = 1;
  std::string fabric;  ///< id, instead of the system's own

  Bytes dataset{0};
  Seconds interval{1800};
  int kept = 3;
  SiteLimits limits;
  std::string rack;
};

struct PlanTraffic {
  TrainingTraffic traffic;
  double compute_seconds = 0;  ///< of a step: what traffic can hide behind
  double step_seconds = 0;
  BytesPerSecond needed;  ///< per port
  double hbm_share = 0;   ///< of the memory bandwidth that `needed` is
  BytesPerSecond memory_bandwidth;
};

struct FacilityAnswer {
  const System* system = nullptr;
  const Device* device = nullptr;
  const Fabric* scale_out = nullptr;  ///< nullptr if the system has none
  std::optional<FabricDesign> fabric;
  std::optional<ScaleUpCount> scale_up;
  std::optional<TrainingAnswer> training;
  std::optional<PlanTraffic> plan_traffic;
  std::optional<StorageRequest> storage_request;
  std::optional<StorageNeed> storage;
  std::vector<StorageVerdict> storage_verdicts;
  RackPlan racks;
  std::vector<ChecklistLine> checklist;
  std::vector<std::string> assumptions;
};

/// Refuses (not_found, bad_input): unknown names, a device that no system of the catalogue has, devices that do not
/// fill systems; (infeasible): a training plan that cannot run, systems that do not fit into a rack; what
/// design_fabric() refuses.
Result<FacilityAnswer> answer(const FacilityQuestion& question, const Knowledge& knowledge, const FacilityData& data);

}  // namespace ridge
