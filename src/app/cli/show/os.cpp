// Operating systems as hosts of accelerators, with the drivers and toolkits that go with them.
#include "app/cli/show/fields.hpp"

namespace ridge::cli {

namespace {

using O = const OsRelease&;
using C = const SheetContext&;

const FieldReader<OsRelease> kOsFields[] = {
    {text_field("id", "id", "", kListed), [](O o, C) { return known(o.id); }},
    {text_field("name", "name"), [](O o, C) { return known(o.name); }},
    {text_field("kernel", "kernel", "System", kListed), [](O o, C) { return known(o.kernel); }},
    {text_field("end_of_support", "support ends", "System", kListed), [](O o, C) { return known(o.end_of_support); }},
    {text_field("support", "support", "System"), [](O o, C) { return known(o.support); }},
    {text_field("use", "use", "System", kListed), [](O o, C) { return known(o.use); }},
    {number_field("driver_minimum", "", "driver", "oldest NVIDIA driver branch", "Accelerators", kListed),
     [](O o, C) { return stated(o, o.driver_minimum); }},
    {text_field("cuda", "CUDA", "Accelerators", kListed), [](O o, C) { return known(o.cuda); }},
    {text_field("container", "container toolkit", "Accelerators"), [](O o, C) { return known(o.container); }},
    {text_field("rdma", "RDMA", "Network and files", kListed), [](O o, C) { return known(o.rdma); }},
    {text_field("lustre", "Lustre client", "Network and files", kListed), [](O o, C) { return known(o.lustre); }},
    {text_field("notes", "notes"), [](O o, C) { return known(o.notes); }},
};

Table cuda_table(const FacilityData& data) {
  Table table;
  table.title = "CUDA toolkits and the drivers they run with";
  table.columns = {{.key = "cuda", .heading = "CUDA"},
                   {.key = "native", .heading = "came with driver"},
                   {.key = "minimum", .heading = "runs from branch", .kind = ColumnKind::number}};
  for (const CudaRelease& c : data.cuda) table.rows.push_back({Cell(c.version), Cell(c.native), Cell(c.minimum)});
  return table;
}

Table driver_table(const FacilityData& data) {
  Table table;
  table.title = "Driver branches";
  table.columns = {{.key = "branch", .heading = "branch", .kind = ColumnKind::number},
                   {.key = "kind", .heading = "kind"},
                   {.key = "end_of_life", .heading = "ends"},
                   {.key = "cuda", .heading = "made for CUDA"}};
  for (const DriverBranch& d : data.drivers) {
    table.rows.push_back(
        {Cell(d.branch), Cell(d.kind), d.end_of_life.empty() ? Cell() : Cell(d.end_of_life), Cell(d.cuda)});
  }
  return table;
}

}  // namespace

Sheet os_sheet(const SheetContext& context) {
  Sheet sheet;
  sheet.plural = "os";
  sheet.singular = "os";
  const FacilityData* data = context.facility;
  fill<OsRelease>(sheet, data == nullptr ? std::span<const OsRelease>() : std::span<const OsRelease>(data->systems),
                  kOsFields, context);
  sheet.add_blocks = [data](std::size_t, Document& page, References&) {
    page.blocks.emplace_back(cuda_table(*data));
    page.blocks.emplace_back(driver_table(*data));
  };
  return sheet;
}

}  // namespace ridge::cli
