// ridge doctor: is this host, or are these, as they should be.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/line/value.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/site/host_collect.hpp"
#include "app/cli/verbs.hpp"
#include "report/site/doctor_report.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kLargestRecording = 8'000'000;

struct DoctorArguments {
  std::vector<std::string> facts, words;
  std::string collect, device, system, model, precision;
  int gpus = 0;
  bool all = false;
};

/// What of a plan concerns its hosts.
Result<LaunchPlan> hosts_of_plan(Session& session, const DoctorArguments& a) {
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  LaunchPlan p;
  p.system = a.system;
  const System* system = (*catalogue)->system(a.system);
  if (!a.system.empty() && system == nullptr) return Error{ErrorCode::not_found, "--system", "no system " + a.system};
  const auto device = (*catalogue)->find_device(system != nullptr ? system->device : a.device);
  if (!device) return device.error();
  p.device = device->id;
  p.vendor = device->vendor;
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  const Result<std::vector<LaunchVendor>> vendors = load_launch_vendors(*data + "/launch");
  if (!vendors) return vendors.error();
  p.hardware = vendor_named(*vendors, p.vendor);
  p.gpus_per_node = system != nullptr ? system->devices_per_node : device->node_size ? device->node_size->value : 8;
  p.gpus = a.gpus > 0 ? a.gpus : p.gpus_per_node;
  const Fabric* fabric = system != nullptr ? (*catalogue)->fabric(system->scale_out) : nullptr;
  if (fabric != nullptr && p.nodes() > 1)
    p.network = fabric->kind == FabricKind::infiniband ? "infiniband" : "ethernet";
  return p;
}

/// Of the plan's model in the plan's format; 0 where it names none.
Result<double> weights_of_plan(Session& session, const DoctorArguments& a) {
  if (a.model.empty()) return 0.0;
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const auto model = (*catalogue)->find_model(a.model);
  if (!model) return model.error();
  const Result<Format> format = parse_format(!a.precision.empty()          ? a.precision
                                             : model->quantization.empty() ? std::string("bf16")
                                                                           : model->quantization);
  if (!format) return format.error();
  return count_parameters(*model).total * bytes_per_weight(*format);
}

Result<int> run_doctor(Session& session, const DoctorArguments& a) {
  std::vector<std::string> files = a.facts;
  files.insert(files.end(), a.words.begin(), a.words.end());
  if (!a.collect.empty()) {
    const HostRecording recording = collect_host();
    const std::string text = recording_text(recording);
    if (a.collect == "-") {
      session.print(text);
      return kFine;
    }
    if (const Status s = session.files().write(a.collect, text); !s) return s.error();
    session.warn(fmt::format("{}: {} files and {} tools of {}", a.collect, recording.files.size(),
                             recording.tools.size(), recording.host));
    return kFine;
  }
  const Result<const FacilityData*> data = session.facility();
  if (!data) return data.error();
  std::vector<HostDiagnosis> hosts;
  if (files.empty()) hosts.push_back(diagnose(collect_host(), **data));
  for (const std::string& file : files) {
    const Result<std::string> text = session.files().read(file, kLargestRecording);
    if (!text) return text.error();
    const Result<HostRecording> recording = parse_recording(*text, file);
    if (!recording) return recording.error();
    hosts.push_back(diagnose(*recording, **data));
  }
  bool unfit = false;
  if (!a.device.empty() || !a.system.empty()) {
    const Result<LaunchPlan> plan = hosts_of_plan(session, a);
    if (!plan) return plan.error();
    const Result<double> weights = weights_of_plan(session, a);
    if (!weights) return weights.error();
    for (const HostDiagnosis& host : hosts) {
      for (const std::string& problem : host_problems(*plan, host.facts, *weights)) {
        session.warn(fmt::format("{} does not fit the plan: {}", host.host, problem));
        unfit = true;
      }
    }
  }
  const std::vector<FleetDifference> differences = compare_hosts(hosts);
  if (session.form() == Form::json) {
    session.print(report::doctor_json(hosts, differences).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::doctor_table(hosts)));
  } else {
    session.print(report::doctor_page(hosts, differences, a.all));
  }
  const bool failed = std::any_of(hosts.begin(), hosts.end(),
                                  [](const HostDiagnosis& host) { return host.count(Severity::failure) > 0; });
  return failed || unfit ? kCheckFailed : kFine;
}

Action declare_doctor(Options& options) {
  auto a = std::make_shared<DoctorArguments>();
  options.words("FILE", a->words, "more facts files", complete_files);
  options.list("--facts", "FILE", a->facts, "judge recorded facts instead of this host; may be given several times",
               value::file());
  options.text("--collect", "FILE", a->collect, "record the facts of this host and judge nothing; - prints them",
               value::written(true));
  options.text("--device", "D", a->device, "device of the plan that the hosts shall run (or --plan FILE)",
               value::device());
  options.text("--system", "S", a->system, "system of the plan, instead of --device", value::system());
  options.count("--gpus", "N", a->gpus, "number of devices of the plan");
  options.text("--model", "M", a->model, "model of the plan: is there room on disk for its weights", value::model());
  options.text("--precision", "F", a->precision, "precision of the plan's weights (default: the model's)",
               value::format());
  options.flag("--all", a->all, "also what is fine, was not seen, or has nothing to do with the host");
  return [a](Session& session) { return run_doctor(session, *a); };
}

}  // namespace

Verb doctor_verb() {
  return {"doctor", "is this host fit for accelerators: driver, links, network, kernel",
          "Looks at files and tools of this host, or at facts recorded on others, and says what is wrong, why it "
          "matters, how to "
          "fix it and, where known, what it costs. Of several hosts it also says where they differ.\n\n"
          "With --device or --plan FILE it also says what a host lacks for that plan: devices, driver, fabric manager, "
          "IMEX, network, room for the weights.\n\n"
          "It needs no root, changes nothing, and works without any of the tools: what it could not see it says. A "
          "failure ends "
          "with exit code 3.",
          "ridge doctor --collect -\n"
          "ridge doctor --facts data/facility/examples/healthy-dgx-h100.facts.toml --all\n"
          "ridge doctor --facts data/facility/examples/healthy-dgx-h100.facts.toml --json",
          declare_doctor};
}

}  // namespace ridge::cli
