#include "economics/goodput/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

/// BF16 weights, FP32 master copy and two moments of Adam.
constexpr double kBytesPerParameter = 14;
constexpr int kCurvePoints = 13;

class GoodputBuilder {
 public:
  GoodputBuilder(const GoodputQuery& query, const Catalogue& catalogue, const EconomicsData& data)
      : q_(query), catalogue_(catalogue), data_(data) {}

  Result<GoodputInputs> inputs() {
    for (const auto step : {&GoodputBuilder::hardware, &GoodputBuilder::failures, &GoodputBuilder::checkpoints,
                            &GoodputBuilder::length}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    if (Status s = check(in()); !s) return s.error();
    return in();
  }

  Result<GoodputAnswer> run(const std::function<void(double)>& progress) {
    if (const auto complete = inputs(); !complete) return complete.error();
    const auto show = [&](double share) {
      if (progress) progress(share);
    };
    out_.closed = expected_goodput(in());
    out_.sample = simulate_goodput(in(), q_.trials, q_.seed, q_.patience);
    show(0.3);
    compare_strategies();
    out_.curve = sweep_interval(in(), kCurvePoints, std::max(20, q_.trials / 8), q_.seed, q_.patience);
    show(1);
    price();
    out_.title = fmt::format("{} GPUs{}. Failure rates: {}", format_number(q_.gpus, 9),
                             q_.device.empty() ? "" : " (" + q_.device + ")", out_.record_name);
    return std::move(out_);
  }

 private:
  GoodputInputs& in() { return out_.inputs; }
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    out_.assumptions.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status hardware() {
    GoodputInputs& g = in();
    g.gpus = q_.gpus;
    const System* system = nullptr;
    if (!q_.system.empty()) {
      system = catalogue_.system(q_.system);
      if (system == nullptr)
        return Error{ErrorCode::not_found, "⟦system⟧", fmt::format("there is no system {}", ridge::quoted(q_.system))};
    }
    std::optional<Device> device;
    if (!q_.device.empty()) {
      Result<Device> found = catalogue_.find_device(q_.device);
      if (!found) return found.error();
      device = *std::move(found);
      for (const ServerPrice& server : data_.servers) {
        if (system == nullptr && server.device == device->id) system = catalogue_.system(server.system);
      }
    }
    double unit = 8, domain = 8;
    if (system != nullptr) {
      unit = system->devices_per_node;
      domain = std::max(system->scale_up_domain, 1);
    } else if (device) {
      if (device->node_size) unit = device->node_size->value;
      domain = device->scale_up_domain ? device->scale_up_domain->value : unit;
    }
    g.unit_gpus = q_.unit_gpus.value_or(unit);
    g.domain_gpus = q_.domain_gpus.value_or(domain);
    if (!q_.unit_gpus) assume("{:g} GPUs are replaced together (⟦unit⟧)", g.unit_gpus);
    if (!q_.domain_gpus) assume("{:g} GPUs are down if their links fail (⟦domain⟧)", g.domain_gpus);
    const double largest = std::max(g.unit_gpus, g.domain_gpus);
    const double usual = std::ceil(std::max(2.0, 0.01 * g.gpus / largest)) * largest;
    g.spare_gpus = q_.spare_gpus.value_or(usual);
    if (!q_.spare_gpus) assume("{} spare GPUs stand ready (⟦spares⟧)", format_number(g.spare_gpus, 7));
    g.straggler_share = q_.straggler_share.value_or(0);
    if (!q_.straggler_share) assume("no stragglers (⟦stragglers⟧)");
    return {};
  }

  Status failures() {
    GoodputInputs& g = in();
    const std::string id = !q_.record.empty() ? q_.record : g.domain_gpus > 16 ? "nvl72-assumed" : "llama3-405b";
    const Result<const FailureRecord*> record = data_.record(id);
    if (!record) return Error{ErrorCode::not_found, "⟦record⟧", record.error().message};
    g.per_gpu_hour = (*record)->per_gpu_hour();
    out_.record_name = (*record)->name;
    out_.record_source = (*record)->source;
    if (q_.record.empty()) assume("failure rates of {} (⟦record⟧)", id);
    for (const auto& [cause, rate] : q_.rates) g.per_gpu_hour[static_cast<std::size_t>(cause)] = rate;
    const std::string crew = q_.practice.empty() ? "automated" : q_.practice;
    const Result<const RestartPractice*> practice = data_.practice(crew);
    if (!practice) return Error{ErrorCode::not_found, "⟦practice⟧", practice.error().message};
    const RestartPractice& p = **practice;
    if (q_.practice.empty()) assume("practice {} (⟦practice⟧)", crew);
    g.detection_s = q_.detection_s.value_or(p.detection_s);
    g.restart_s = q_.restart_s.value_or(p.restart_s);
    g.repair_s = q_.repair_s.value_or(p.repair_s);
    g.engineer_hours = q_.engineer_hours.value_or(p.engineer_hours);
    if (!q_.detection_s) assume("a failure is noticed after {} (⟦detection⟧)", format(Seconds(g.detection_s)));
    if (!q_.restart_s) assume("a restart takes {} (⟦restart⟧)", format(Seconds(g.restart_s)));
    if (!q_.repair_s) assume("a repair takes {} (⟦repair⟧)", format(Seconds(g.repair_s)));
    if (!q_.engineer_hours) assume("{:g} engineer hours for each interruption (⟦engineer_hours⟧)", g.engineer_hours);
    return {};
  }

  Status checkpoints() {
    CheckpointSetup& s = out_.setup;
    s.gpus = in().gpus;
    s.strategy = q_.strategy.value_or(CheckpointStrategy::sharded);
    if (!q_.strategy) assume("checkpoints: {} (⟦strategy⟧)", name(s.strategy));
    if (q_.checkpoint_bytes) {
      s.bytes = *q_.checkpoint_bytes;
    } else if (q_.parameters > 0) {
      s.bytes = kBytesPerParameter * q_.parameters;
      assume("a checkpoint holds {:g} bytes for each parameter, {} (⟦checkpoint_size⟧)", kBytesPerParameter,
             format(Bytes(s.bytes)));
    } else {
      return Error{ErrorCode::refused, "⟦checkpoint_size⟧",
                   "the size of a checkpoint is unknown: say it, or name a model with ⟦model⟧"};
    }
    const std::string id = q_.tier.empty() ? "parallel-fs" : q_.tier;
    const Result<const StorageTier*> tier = data_.tier(id);
    if (!tier) return Error{ErrorCode::not_found, "⟦tier⟧", tier.error().message};
    const double nodes = std::max(1.0, in().gpus / in().unit_gpus);
    s.storage_bytes_per_s = q_.storage_bytes_per_s.value_or((*tier)->bytes_per_s * ((*tier)->per_node ? nodes : 1));
    if (!q_.storage_bytes_per_s) {
      assume("storage {} at {} (⟦tier⟧, ⟦storage_bandwidth⟧)", (*tier)->id,
             format(BytesPerSecond(s.storage_bytes_per_s)));
    }
    if (!(s.bytes > 0) || !(s.storage_bytes_per_s > 0)) {
      return Error{ErrorCode::bad_input, "⟦checkpoint_size⟧", "size and bandwidth have to be above 0"};
    }
    in().checkpoint = checkpoint_cost(s);
    in().interval_s = q_.interval_s.value_or(0);
    if (!q_.interval_s) assume("checkpoints at Daly's interval (⟦interval⟧)");
    return {};
  }

  Status length() {
    GoodputInputs& g = in();
    g.useful_s = q_.useful_s;
    if (q_.useful_s > 0) return {};
    if (!(q_.calendar_s > 0)) {
      return Error{ErrorCode::refused, "⟦duration⟧",
                   "the length of the run is unknown: say ⟦duration=60 days⟧ without failures, or ⟦calendar=60 days⟧ "
                   "with them"};
    }
    // Goodput hardly depends on the length; twice is enough.
    g.useful_s = q_.calendar_s;
    if (Status s = check(g); !s) return s;
    for (int i = 0; i < 3; ++i) g.useful_s = q_.calendar_s * expected_goodput(g).goodput;
    return {};
  }

  void compare_strategies() {
    for (std::size_t i = 0; i < kCheckpointStrategies; ++i) {
      StrategyLine line;
      line.strategy = static_cast<CheckpointStrategy>(i);
      CheckpointSetup setup = out_.setup;
      setup.strategy = line.strategy;
      line.cost = checkpoint_cost(setup);
      GoodputInputs other = in();
      other.checkpoint = line.cost;
      if (line.strategy != out_.setup.strategy) other.interval_s = 0;
      line.out = expected_goodput(other);
      out_.strategies.push_back(line);
    }
  }

  void price() {
    out_.tokens = q_.tokens;
    if (std::isnan(q_.usd_per_gpu_hour)) return;
    const GoodputOutputs& o = out_.sample.mean;
    const double engineers = o.engineer_hours * q_.usd_per_engineer_hour;
    const double lost = std::accumulate(o.lost_gpu_hours.begin(), o.lost_gpu_hours.end(), 0.0);
    const double useful = in().useful_s / 3600 * in().gpus;
    out_.lost_usd = lost * q_.usd_per_gpu_hour + engineers;
    out_.run_usd = useful * q_.usd_per_gpu_hour + out_.lost_usd;
    if (o.engineer_hours > 0) assume("an engineer's hour costs ${:g}", q_.usd_per_engineer_hour);
    if (q_.tokens > 0) {
      out_.usd_per_million_useful_tokens = out_.run_usd / q_.tokens * 1e6;
      out_.usd_per_million_tokens = useful * q_.usd_per_gpu_hour / q_.tokens * 1e6;
    }
  }

  const GoodputQuery& q_;
  const Catalogue& catalogue_;
  const EconomicsData& data_;
  GoodputAnswer out_;
};

}  // namespace

Result<GoodputInputs> goodput_inputs(const GoodputQuery& query, const Catalogue& catalogue, const EconomicsData& data) {
  return GoodputBuilder(query, catalogue, data).inputs();
}

Result<GoodputAnswer> answer_goodput(const GoodputQuery& query, const Catalogue& catalogue, const EconomicsData& data,
                                     const std::function<void(double)>& progress) {
  return GoodputBuilder(query, catalogue, data).run(progress);
}

}  // namespace ridge
