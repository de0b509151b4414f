// ridge facility: from a plan, or a number of devices, to the site that holds it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/estimate.hpp"
#include "app/cli/plan_file.hpp"
#include "app/cli/value.hpp"
#include "app/cli/verbs.hpp"
#include "app/cli/wrong.hpp"
#include "report/facility_report.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr int kMostNodes = 1'000'000;

struct FacilityArguments {
  EstimateFlags flags;
  std::string kind, nodes, topology, levels, oversubscription, fabric;
  std::string dataset, interval, kept, storage_write;
  std::string rack, rack_power, rack_units, rack_weight, racks, site_power, floor_load, cooling, pue, spike, svg;
};

template <class Q>
Status quantity(std::string_view flag, const std::string& text, std::optional<Q>& into) {
  if (text.empty()) return {};
  const Result<Q> value = parse_quantity<Q>(text);
  if (!value) return wrong(flag, value.error().message);
  if (!(*value > Q(0))) return wrong(flag, "write more than 0");
  into = *value;
  return {};
}

Status whole(std::string_view flag, const std::string& text, std::optional<int>& into) {
  if (text.empty()) return {};
  const Result<double> value = parse_count(text);
  if (!value) return wrong(flag, value.error().message);
  if (*value < 1 || *value > kMostNodes || *value != static_cast<int>(*value)) {
    return wrong(flag, fmt::format("{} is no whole number from 1 to {}", quoted(text), format_number(kMostNodes, 7)));
  }
  into = static_cast<int>(*value);
  return {};
}

/// "2", "2.5" or "2:1".
Status ratio(std::string_view flag, std::string text, std::optional<double>& into) {
  if (text.empty()) return {};
  if (text.ends_with(":1")) text.resize(text.size() - 2);
  const Result<double> value = parse_count(text);
  if (!value) return wrong(flag, value.error().message);
  into = *value;
  return {};
}

class FacilityQuestioner {
 public:
  FacilityQuestioner(const FacilityArguments& arguments, const std::string& as_of) : a_(arguments), as_of_(as_of) {}

  Result<FacilityQuestion> run() {
    for (const auto step : {&FacilityQuestioner::names, &FacilityQuestioner::plan, &FacilityQuestioner::network,
                            &FacilityQuestioner::storage, &FacilityQuestioner::site}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return std::move(q_);
  }

 private:
  Status names() {
    q_.system = a_.flags.value("--system");
    q_.device = a_.flags.value("--device");
    if (q_.system.empty() && q_.device.empty()) {
      return wrong("--system", "name a system, for example --system dgx-h100; `ridge show systems` lists them");
    }
    std::optional<int> gpus;
    std::optional<int> nodes;
    if (const Status s = whole("--gpus", a_.flags.value("--gpus"), gpus); !s) return s;
    if (const Status s = whole("--nodes", a_.nodes, nodes); !s) return s;
    q_.gpus = gpus.value_or(0);
    q_.nodes = nodes.value_or(0);
    return {};
  }

  Status plan() {
    if (!a_.flags.given("--model")) return {};
    if (a_.kind == "serve") {
      q_.serving = a_.flags.value("--model");
      return {};
    }
    if (!a_.kind.empty() && a_.kind != "train") return wrong("--kind", quoted(a_.kind) + " is neither serve nor train");
    EstimateFlags flags = a_.flags;
    if (!flags.given("--gpus") && q_.nodes > 0) {
      // The system says how many; any number will do until it is known.
      flags.set("--gpus", "1");
    }
    const Result<TrainingQuestion> question = training_question(flags, as_of_);
    if (!question) return question.error();
    q_.training = question->query;
    q_.freedom = question->freedom;
    return {};
  }

  Status network() {
    if (!a_.topology.empty()) {
      const Result<Topology> topology = parse_topology(a_.topology);
      if (!topology) return wrong("--topology", topology.error().message);
      q_.topology = *topology;
      q_.topology_given = true;
    }
    std::optional<int> levels;
    if (const Status s = whole("--levels", a_.levels, levels); !s) return s;
    q_.levels = levels.value_or(0);
    if (q_.levels > 3) return wrong("--levels", "a fat tree has 1, 2 or 3 levels");
    std::optional<double> over;
    if (const Status s = ratio("--oversubscription", a_.oversubscription, over); !s) return s;
    q_.oversubscription = over.value_or(1);
    if (q_.oversubscription < 1) return wrong("--oversubscription", "write 1 or more: ports down over ports up");
    if (q_.oversubscription > limits::kOversubscription.most) {
      return wrong("--oversubscription", limits::beyond(limits::kOversubscription));
    }
    q_.fabric = a_.fabric;
    return {};
  }

  Status storage() {
    std::optional<Bytes> dataset;
    std::optional<Seconds> interval;
    std::optional<int> kept;
    if (const Status s = quantity("--dataset", a_.dataset, dataset); !s) return s;
    if (const Status s = quantity("--checkpoint-interval", a_.interval, interval); !s) return s;
    if (const Status s = whole("--checkpoints-kept", a_.kept, kept); !s) return s;
    if (dataset) q_.dataset = *dataset;
    if (interval) q_.interval = *interval;
    if (kept) q_.kept = *kept;
    return quantity("--storage-write", a_.storage_write, q_.limits.storage_write);
  }

  Status site() {
    SiteLimits& l = q_.limits;
    q_.rack = a_.rack;
    l.cooling = a_.cooling;
    std::optional<double> pue;
    std::optional<double> spike;
    for (const Status& s :
         {quantity("--rack-power", a_.rack_power, l.rack_power), quantity("--site-power", a_.site_power, l.site_power),
          whole("--rack-units", a_.rack_units, l.rack_units), quantity("--rack-weight", a_.rack_weight, l.rack_weight),
          quantity("--floor-load", a_.floor_load, l.floor_load), whole("--racks", a_.racks, l.racks),
          ratio("--pue", a_.pue, pue), ratio("--spike", a_.spike, spike)}) {
      if (!s) return s;
    }
    if (pue && *pue < 1) return wrong("--pue", "write 1 or more");
    if (pue && *pue > limits::kPue.most) return wrong("--pue", limits::beyond(limits::kPue));
    if (spike && *spike < 1) return wrong("--spike", "write 1 or more: the highest power over the peak");
    if (spike && *spike > limits::kSpike.most) return wrong("--spike", limits::beyond(limits::kSpike));
    for (const auto& [flag, power] : {std::pair("--rack-power", l.rack_power), {"--site-power", l.site_power}}) {
      if (power && power->value() > limits::kPower.most) return wrong(flag, limits::beyond(limits::kPower));
    }
    l.pue = pue;
    l.spike = spike;
    return {};
  }

  const FacilityArguments& a_;
  const std::string& as_of_;
  FacilityQuestion q_;
};

std::vector<std::string> cooling_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto data = session.facility()) {
    for (const CoolingClass& c : (*data)->cooling) ids.push_back(c.id);
  }
  return ids;
}

std::vector<std::string> rack_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto data = session.facility()) {
    for (const RackModel& rack : (*data)->racks) ids.push_back(rack.id);
  }
  return ids;
}

std::vector<std::string> fabric_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto names = session.names()) {
    for (const Fabric& fabric : (*names)->fabrics()) ids.push_back(fabric.id);
  }
  return ids;
}

/// From 1 to the limit.
Takes ratio_to(const limits::Limit& limit) {
  return value::parsed([&limit](std::string_view text) -> Status {
    std::optional<double> value;
    if (const Status s = ratio("", std::string(text), value); !s) return s;
    if (*value < 1) return wrong("", "write 1 or more");
    return *value <= limit.most ? Status() : Status(wrong("", limits::beyond(limit)));
  });
}

Result<int> run_facility(Session& session, const FacilityArguments& arguments) {
  if (const Status s = arguments.flags.valid(session); !s) return s.error();
  Result<WhatIfSubjects> subjects = what_if_subjects(arguments.flags);
  if (!subjects) return subjects.error();
  session.about(*std::move(subjects));
  const Result<FacilityQuestion> question = FacilityQuestioner(arguments, session.software_date()).run();
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<const FacilityData*> data = session.facility();
  if (!data) return data.error();
  Result<FacilityAnswer> answer = ridge::answer(*question, *knowledge, **data);
  if (!answer) return answer.error();
  for (const std::string& setting : session.options().settings) answer->assumptions.push_back("what if " + setting);
  if (!arguments.svg.empty()) {
    const Status s = session.files().write(arguments.svg, report::elevation_svg(*answer, **data));
    if (!s) return s.error();
  }
  if (session.form() == Form::json) {
    session.print(report::facility_json(*answer).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::facility_table(*answer)));
  } else {
    session.print(report::facility_page(*answer, **data));
  }
  const bool failed = std::any_of(answer->checklist.begin(), answer->checklist.end(),
                                  [](const ChecklistLine& line) { return line.verdict == SiteVerdict::fail; });
  return failed ? kCheckFailed : kFine;
}

Action declare_facility(Options& options) {
  auto a = std::make_shared<FacilityArguments>();
  a->flags.declare_only(options, {"--model",
                                  "--device",
                                  "--system",
                                  "--gpus",
                                  "--tp",
                                  "--pp",
                                  "--ep",
                                  "--dp",
                                  "--precision",
                                  "--engine",
                                  "--engine-version",
                                  "--power-cap",
                                  "--vp",
                                  "--cp",
                                  "--etp",
                                  "--sharding",
                                  "--seq-length",
                                  "--global-batch",
                                  "--micro-batch",
                                  "--recompute",
                                  "--schedule",
                                  "--cp-kind",
                                  "--task",
                                  "--lora-rank",
                                  "--mtp",
                                  "--offload",
                                  "--tokens"});
  options.text(std::string(kKindFlag), std::string(kKindValue), a->kind, "what the model is for (default: train)",
               value::one_of({"serve", "train"}));
  options.text("--nodes", "N", a->nodes, "systems, instead of --gpus", value::whole(1, kMostNodes));
  options.text("--topology", "T", a->topology, "rail-fat-tree, fat-tree, spine-leaf, dragonfly-plus or torus",
               value::parsed(parse_topology));
  options.text("--levels", "N", a->levels, "levels of switches (default: the fewest that reach every device)",
               value::whole(1, 3));
  options.text("--oversubscription", "R", a->oversubscription, "ports down over ports up of a leaf: 1, 2:1",
               ratio_to(limits::kOversubscription));
  options.text("--fabric", "F", a->fabric, "of the network between nodes, instead of the system's own",
               value::one_of(fabric_ids, "fabric"));
  options.text("--dataset", "SIZE", a->dataset, "that training reads: 60TB", value::quantity<Bytes>("60TB"));
  options.text("--checkpoint-interval", "TIME", a->interval, "between two checkpoints: 30min",
               value::quantity<Seconds>("30min"));
  options.text("--checkpoints-kept", "N", a->kept, "on storage at once", value::whole(1, kMostNodes));
  options.text("--storage-write", "RATE", a->storage_write, "that the site's storage takes: 100GB/s",
               value::quantity<BytesPerSecond>("100GB/s"));
  options.text("--rack", "R", a->rack, "rack-42, rack-48 or rack-52", value::one_of(rack_ids, "rack"));
  options.text("--rack-power", "POWER", a->rack_power, "that a rack gets: 40kW",
               value::quantity<Watts>("40kW", limits::kPower));
  options.text("--rack-units", "N", a->rack_units, "height of a rack for equipment", value::whole(1, kMostNodes));
  options.text("--rack-weight", "MASS", a->rack_weight, "that a rack carries: 1200kg",
               value::quantity<Kilograms>("1200kg"));
  options.text("--racks", "N", a->racks, "racks for devices; without --gpus, as many devices as they take",
               value::whole(1, kMostNodes));
  options.text("--site-power", "POWER", a->site_power, "of the building, cooling included: 5MW",
               value::quantity<Watts>("5MW", limits::kPower));
  options.text("--floor-load", "LOAD", a->floor_load, "that the floor carries: '1500 kg/m2'",
               value::quantity<KilogramsPerSquareMetre>("'1500 kg/m2'"));
  options.text("--cooling", "C", a->cooling, "that the site has: air, in-row, rear-door, direct-liquid, ...",
               value::one_of(cooling_ids, "cooling"));
  options.text("--pue", "X", a->pue, "of the site", ratio_to(limits::kPue));
  options.text("--spike", "X", a->spike, "highest power over the peak that feeds ride through: 1.2",
               ratio_to(limits::kSpike));
  options.text("--svg", "FILE", a->svg, "draw the racks", value::written());
  return [a](Session& session) { return run_facility(session, *a); };
}

}  // namespace

Verb facility_verb() {
  return {
      "facility", "from a plan to a site: network, storage, racks, power, cooling",
      "Counts switches and cables of the network between nodes, says what a training plan needs of it, what storage "
      "has to hold and carry, how many systems go into a rack under its limits of power, height and weight, what "
      "cooling takes the heat, and fills in a checklist.\n\n"
      "What the site offers is optional: without it the checklist says what is needed. Without --gpus, --racks or "
      "--site-power turn into the number of devices that fit. A line of the checklist that fails ends with exit code "
      "3.",
      "ridge facility --system dgx-h100 --nodes 127 --rack-power 42kW\n"
      "ridge facility --system dgx-h100 --gpus 1024 --model llama3.1-70b --tp 8 --global-batch 1024 --dataset 60TB "
      "--rack-power 42kW --storage-write 100GB/s\n"
      "ridge facility --system rack-gb200-nvl72 --racks 8 --cooling direct-liquid --json",
      declare_facility};
}

}  // namespace ridge::cli
