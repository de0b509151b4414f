#include "facility/launch/vendor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "catalogue/files/parse_files.hpp"
#include "catalogue/files/table_reader.hpp"

namespace ridge {

namespace {

LaunchTarget target_at(TableReader& t, std::string_view key, std::string_view word) {
  const Result<LaunchTarget> target = parse_launch_target(word);
  if (!target) t.refuse(key, target.error().message);
  return target ? *target : LaunchTarget::vllm;
}

LaunchVendor read_vendor(TableReader t) {
  LaunchVendor v;
  v.name = t.text("name");
  for (const auto& [key, into] : {std::pair{"resource", &v.resource},
                                  {"visible", &v.visible},
                                  {"files", &v.files},
                                  {"product_label", &v.product_label},
                                  {"count", &v.count},
                                  {"container", &v.container},
                                  {"plugin", &v.plugin},
                                  {"transfer", &v.transfer},
                                  {"sglang_device", &v.sglang_device},
                                  {"error_metric", &v.error_metric},
                                  {"elsewhere", &v.elsewhere}}) {
    *into = t.optional_text(key);
  }
  v.nccl = t.optional_choice<bool>("collectives", false, {{"nccl", true}});
  v.pools = t.flag("pools");
  v.op = t.flag("operator");
  v.slices = t.flag("slices");
  v.alone = t.flag("alone");
  v.least_driver = t.optional_integer("least_driver", 0, 1, 100000);
  TableReader maxtext = t.table("maxtext");
  v.maxtext_hardware = maxtext.optional_text("hardware");
  v.maxtext_fp8 = maxtext.optional_text("fp8");
  v.maxtext_int8 = maxtext.optional_text("int8");
  for (const std::string& word : t.texts("runs")) v.runs.push_back(target_at(t, "runs", word));
  TableReader images = t.table("images");
  for (const LaunchTarget runner : v.runs) {
    if (images.has(name(runner))) v.images.emplace_back(runner, images.text(name(runner)));
  }
  for (TableReader& one : t.tables("product")) v.products.emplace_back(one.text("device"), one.text("label"));
  for (TableReader& one : t.tables("without")) {
    const LaunchTarget runner = target_at(one, "runner", one.text("runner"));
    v.without.emplace_back(runner, one.text("architecture"));
  }
  return v;
}

}  // namespace

Result<std::vector<LaunchVendor>> load_launch_vendors(const std::string& directory) {
  std::vector<LaunchVendor> vendors;
  const SourceIndex sources;  // what hosts and engines are told is no figure
  const Status read = each_table(directory, "vendor", [&](const TomlNode& table, const std::string& file) -> Status {
    const EntryLayer layer{&table, file};
    EntryReader entry("vendor", {&layer, 1}, sources);
    vendors.push_back(read_vendor(entry.root()));
    return entry.finish();
  });
  if (!read) return read.error();
  if (vendors.empty()) return Error{ErrorCode::not_found, directory, "no [[vendor]] is there"};
  return vendors;
}

const LaunchVendor& vendor_named(std::span<const LaunchVendor> vendors, std::string_view name) {
  const auto at = std::find_if(vendors.begin(), vendors.end(), [&](const LaunchVendor& v) { return v.name == name; });
  return at == vendors.end() ? vendors.front() : *at;
}

namespace launch {

bool runs(const LaunchVendor& vendor, LaunchTarget target) {
  return std::find(vendor.runs.begin(), vendor.runs.end(), target) != vendor.runs.end();
}

Status runs_on(LaunchTarget runner, std::span<const LaunchVendor> vendors, std::string_view vendor,
               std::string_view architecture, std::string_view device) {
  const auto refuse = [&](std::string why) { return Error{ErrorCode::refused, "⟦for⟧", std::move(why)}; };
  const auto at = std::find_if(vendors.begin(), vendors.end(), [&](const LaunchVendor& v) { return v.name == vendor; });
  const bool known = at != vendors.end();
  if (known && runs(*at, runner)) {
    const bool old = std::any_of(at->without.begin(), at->without.end(),
                                 [&](const auto& one) { return one.first == runner && one.second == architecture; });
    if (old) {
      return refuse(
          fmt::format("{} has no kernels for {} ({}): emit for vllm or llamacpp", name(runner), device, architecture));
    }
    return {};
  }
  std::string others;
  for (const LaunchTarget other : known ? at->runs : std::vector<LaunchTarget>()) {
    if (is_runner(other) && trains(other) == trains(runner)) {
      others += (others.empty() ? "" : ", ") + std::string(name(other));
    }
  }
  if (!others.empty()) {
    return refuse(fmt::format("{} does not run on {} of {}: emit for {}", name(runner), device, vendor, others));
  }
  if (known && trains(runner) && !at->elsewhere.empty()) {
    return refuse(fmt::format("{} does not run on {} of {}; {}", name(runner), device, vendor, at->elsewhere));
  }
  return refuse(
      fmt::format("no engine that is emitted {} on {} of {}", trains(runner) ? "trains" : "serves", device, vendor));
}

std::string image_of(const LaunchPlan& p) {
  if (p.release.empty()) return {};
  for (const auto& [runner, image] : p.hardware.images) {
    if (runner != p.runner) continue;
    const std::size_t at = image.find("{}");
    return at == std::string::npos ? image : std::string(image).replace(at, 2, p.release);
  }
  return {};
}

std::string device_files(const LaunchVendor& vendor, int count) {
  if (count == 1) return vendor.files;
  std::size_t digits = vendor.files.size();
  while (digits > 0 && vendor.files[digits - 1] >= '0' && vendor.files[digits - 1] <= '9') --digits;
  const int first = std::stoi(vendor.files.substr(digits));
  return fmt::format("{}[{}-{}]", vendor.files.substr(0, digits), first, first + count - 1);
}

std::string_view product_label(const LaunchPlan& p) {
  for (const auto& [device, label] : p.hardware.products) {
    if (device == p.device) return label;
  }
  return {};
}

}  // namespace launch

}  // namespace ridge
