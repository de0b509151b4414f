// ridge estimate fit: which model fits where, and what fills the memory.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "report/estimate/capacity_report.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge::cli {

namespace {

/// Those of --device, or every device on sale of which enough is known.
Result<std::vector<Device>> devices_of(const EstimateFlags& flags, const Catalogue& catalogue) {
  std::vector<Device> devices;
  if (flags.given("--device")) {
    const auto ids = split_list("--device", flags.value("--device"));
    if (!ids) return ids.error();
    for (const std::string& id : *ids) {
      Result<Device> device = catalogue.find_device(id);
      if (!device) return device.error();
      if (!device->memory_capacity) {
        return Error{ErrorCode::refused, id, "no memory capacity is public; give one with --set or an overlay"};
      }
      device->id = id;
      devices.push_back(*std::move(device));
    }
    return devices;
  }
  for (const Device& device : catalogue.devices()) {
    if (device.status == Sale::shipping && device.memory_capacity && device.memory_bandwidth) devices.push_back(device);
  }
  std::stable_sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
    return a.memory_capacity->value > b.memory_capacity->value;
  });
  return devices;
}

/// Those of --precision, or nothing.
Result<std::vector<Format>> formats_of(const EstimateFlags& flags) {
  std::vector<Format> formats;
  if (!flags.given("--precision")) return formats;
  const auto names = split_list("--precision", flags.value("--precision"));
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const Result<Format> format = parse_format(name);
    if (!format) return Error{ErrorCode::bad_input, "--precision", format.error().message};
    formats.push_back(*format);
  }
  return formats;
}

Result<CapacityQuestion> question_of(const EstimateFlags& flags, const std::string& as_of) {
  CapacityQuestion q;
  q.date = as_of;
  if (flags.given("--engine")) q.engine = flags.value("--engine");
  const Result<double> isl = flags.count("--isl", q.isl, 1, 1e8);
  if (!isl) return isl.error();
  const Result<double> osl = flags.count("--osl", q.osl, 1, 1e8);
  if (!osl) return osl.error();
  q.isl = *isl;
  q.osl = *osl;
  if (flags.given("--kv-precision")) {
    const Result<Format> kv = parse_format(flags.value("--kv-precision"));
    if (!kv) return Error{ErrorCode::bad_input, "--kv-precision", kv.error().message};
    q.kv = *kv;
  }
  return q;
}

Result<int> fit_devices(Session& session, const CapacityQuestion& question, const std::vector<Device>& devices,
                        const std::vector<Format>& formats, bool chosen, const Knowledge& knowledge) {
  std::vector<report::DeviceFit> rows;
  for (const Device& device : devices) {
    // Of many devices the 16-bit row alone, unless formats are named.
    const std::vector<Format> own = !formats.empty() ? formats
                                    : chosen         ? fitting_formats(device)
                                                     : std::vector{Format::bf16};
    for (const Format format : own) {
      report::DeviceFit& fit = rows.emplace_back();
      fit.device = device.id;
      fit.weights = format;
      fit.computes = computes_in(device, format);
      fit.memory_bytes = device.memory_capacity->value.value();
      for (std::size_t i = 0; i < report::kFitGpus.size(); ++i) {
        fit.largest[i] = largest_model(question, device.id, format, report::kFitGpus[i], knowledge);
      }
    }
  }
  if (session.form() == Form::json) {
    session.print(report::device_fit_json(rows, question).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::device_fit_table(rows)));
  } else {
    session.print(report::device_fit_page(rows, question));
  }
  return kFine;
}

Result<int> fit_model(Session& session, const CapacityQuestion& question, const std::string& id,
                      const std::vector<Device>& devices, const std::vector<Format>& formats,
                      const Knowledge& knowledge) {
  Result<Model> model = knowledge.catalogue.find_model(id);
  if (!model) return model.error();
  report::ModelFit fit;
  fit.model = *std::move(model);
  if (fit.model.id.empty()) fit.model.id = id;
  std::vector<Format> shown = formats;
  if (shown.empty()) shown = {Format::bf16, Format::fp8, Format::int4, Format::nvfp4};
  if (formats.empty() && fit.model.is_moe()) shown.push_back(Format::mxfp4);  // of which experts alone are narrow
  for (const Format format : shown) {
    const Result<WeightMemory> memory = weight_memory(fit.model, format);
    if (!memory) return memory.error();
    fit.weights.push_back({format, *memory});
  }
  fit.kv = kv_by_context(fit.model);
  for (const Device& device : devices) {
    for (const Format format : formats.empty() ? fitting_formats(device) : formats) {
      fit.devices.push_back({device.id, format, device.memory_capacity->value.value(),
                             fewest_devices(question, id, device.id, format, knowledge)});
    }
  }
  if (session.form() == Form::json) {
    session.print(report::model_fit_json(fit, question).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::model_fit_table(fit)));
  } else {
    session.print(report::model_fit_page(fit, question));
  }
  return kFine;
}

}  // namespace

Result<int> estimate_fit(Session& session, const EstimateFlags& flags) {
  const Result<CapacityQuestion> question = question_of(flags, session.software_date());
  if (!question) return question.error();
  const Result<std::vector<Format>> formats = formats_of(flags);
  if (!formats) return formats.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<std::vector<Device>> devices = devices_of(flags, knowledge->catalogue);
  if (!devices) return devices.error();
  if (flags.given("--model")) {
    return fit_model(session, *question, flags.value("--model"), *devices, *formats, *knowledge);
  }
  return fit_devices(session, *question, *devices, *formats, flags.given("--device"), *knowledge);
}

}  // namespace ridge::cli
