#include <algorithm>

#include "app/cli/show/fields.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

using A = const Architecture&;
using C = const SheetContext&;

std::string_view word(SourceKind kind) {
  constexpr std::string_view kWords[] = {"vendor", "paper", "measurement", "price list", "compilation", "estimate"};
  return kWords[static_cast<std::size_t>(kind)];
}

template <PeakFormat format>
Value rate(const Architecture& architecture, const SheetContext&) {
  const auto& ratio = architecture.rate_over_bf16[static_cast<std::size_t>(format)];
  return ratio ? Value{Cell(*ratio), architecture.source} : Value{};
}

constexpr Field rate_field(std::string_view key, std::string_view label) {
  return quiet_field(key, "", label, label, "Highest dense rate relative to bf16");
}

const FieldReader<Architecture> kArchitectureFields[] = {
    {text_field("id", "id", "", kListed), [](A a, C) { return known(a.id); }},
    {text_field("name", "name", "", kListed), [](A a, C) { return known(a.name); }},
    {text_field("vendor", "vendor", "Design", kListed), [](A a, C) { return known(a.vendor); }},
    {text_field("inherits", "calibration from", "Design", kListed), [](A a, C) { return known(a.inherits); }},
    {number_field("bf16", "flops_per_core_and_clock", "bf16/core/clock", "dense bf16 FLOP per core and clock", "Design",
                  kListed),
     [](A a, C) {
       return a.bf16_flops_per_core_clock ? Value{Cell(*a.bf16_flops_per_core_clock), a.source} : Value{};
     }},
    {number_field("highest_clock", "hz", "clock", "highest clock", "Design", kListed),
     [](A a, C) { return known(a.highest_clock); }},
    {rate_field("rate_over_bf16.fp64", "fp64"), rate<PeakFormat::fp64>},
    {rate_field("rate_over_bf16.fp64_tensor", "fp64 tensor"), rate<PeakFormat::fp64_tensor>},
    {rate_field("rate_over_bf16.fp32", "fp32"), rate<PeakFormat::fp32>},
    {rate_field("rate_over_bf16.tf32", "tf32"), rate<PeakFormat::tf32>},
    {rate_field("rate_over_bf16.bf16", "bf16"), rate<PeakFormat::bf16>},
    {rate_field("rate_over_bf16.fp16", "fp16"), rate<PeakFormat::fp16>},
    {rate_field("rate_over_bf16.fp8", "fp8"), rate<PeakFormat::fp8>},
    {rate_field("rate_over_bf16.int8", "int8"), rate<PeakFormat::int8>},
    {rate_field("rate_over_bf16.fp4", "fp4"), rate<PeakFormat::fp4>},
};

/// Ids of the entries that have at least one figure from the source, or rest on it as a whole.
std::vector<std::string> entries_with(const Sheet& sheet, const Source& source, std::uint32_t index) {
  std::vector<std::string> ids;
  const auto whole = sheet.find_field("source");
  for (const Row& row : sheet.rows) {
    const bool any = std::any_of(row.values.begin(), row.values.end(),
                                 [&](const Value& value) { return value.source && value.source->index == index; });
    if (any || (whole && row.values[*whole].cell.plain() == source.id)) ids.push_back(row.id);
  }
  return ids;
}

}  // namespace

Sheet architecture_sheet(const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "architectures";
  sheet.singular = "architecture";
  const auto architectures = context.catalogue.architectures();
  fill<Architecture>(sheet, architectures, kArchitectureFields, context);
  sheet.add_blocks = [architectures, &context](std::size_t entry, Document& page, References&) {
    std::vector<std::string> devices;
    for (const Device& device : context.catalogue.devices()) {
      if (device.architecture == architectures[entry].id) devices.push_back(device.id);
    }
    add_list(page, "Devices", devices);
  };
  return sheet;
}

Sheet source_sheet(const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "sources";
  sheet.singular = "source";
  sheet.fields = {text_field("id", "id", "", kListed), text_field("title", "title", "", kListed),
                  text_field("where", "where", "Source"), text_field("date", "date", "Source", kListed),
                  text_field("kind", "kind", "Source", kListed)};
  const auto sources = context.catalogue.sources();
  for (std::size_t i = 1; i < sources.size(); ++i) {  // the first stands for what the user says, not for a document
    const Source& source = sources[i];
    sheet.rows.push_back(
        {source.id,
         {known(source.id), known(source.title), known(source.where), known(source.date), known(word(source.kind))},
         sheet.rows.size()});
  }
  sheet.add_blocks = [&context](std::size_t entry, Document& page, References&) {
    const Catalogue& catalogue = context.catalogue;
    const Source& source = catalogue.sources()[entry];
    for (const Sheet& other : {device_sheet(catalogue.devices(), context), system_sheet(catalogue.systems(), context),
                               fabric_sheet(catalogue.fabrics(), context), model_sheet(catalogue.models(), context),
                               price_sheet(catalogue.prices(), context), architecture_sheet(context)}) {
      const std::string heading = "In " + std::string(other.plural);
      add_list(page, heading, entries_with(other, source, static_cast<std::uint32_t>(entry)));
    }
  };
  return sheet;
}

}  // namespace ridge::cli
