// [[source]] and [[architecture]].
#include <algorithm>
#include <iterator>
#include <utility>

#include "catalogue/tables/tables.hpp"

namespace ridge {

Source read_source(TableReader t) {
  Source source;
  source.id = t.id();
  source.title = t.text("title");
  source.where = t.text("where");
  source.date = t.date("date");
  source.kind = t.choice<SourceKind>("kind", {{"vendor", SourceKind::vendor},
                                              {"paper", SourceKind::paper},
                                              {"measurement", SourceKind::measurement},
                                              {"price list", SourceKind::price_list},
                                              {"compilation", SourceKind::compilation},
                                              {"estimate", SourceKind::estimate}});
  return source;
}

namespace {

Design read_design(TableReader& t) {
  Design design;
  const std::pair<std::string_view, bool Design::*> abilities[] = {{"nvfp4", &Design::nvfp4},
                                                                   {"block scales", &Design::block_scales},
                                                                   {"widening", &Design::widening},
                                                                   {"switch reduction", &Design::switch_reduction},
                                                                   {"expert dispatch", &Design::expert_dispatch}};
  for (const std::string& word : t.texts("abilities")) {
    const auto known = std::find_if(std::begin(abilities), std::end(abilities),
                                    [&](const auto& ability) { return ability.first == word; });
    if (known == std::end(abilities)) {
      t.refuse("abilities", "write nvfp4, block scales, widening, switch reduction or expert dispatch");
      continue;
    }
    design.*known->second = true;
  }
  design.decode_rows = t.optional_number("decode_rows", 1, 1024).value_or(design.decode_rows);
  design.array_side = t.optional_number("array_side", 1, 4096).value_or(design.array_side);
  design.core_width = t.optional_number("core_width", 0.01, 100).value_or(design.core_width);
  TableReader sparse = t.table("sparse_over_dense");
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    design.sparse_over_dense[i] = sparse.optional_number(name(static_cast<PeakFormat>(i)), 1, 4).value_or(1);
  }
  return design;
}

}  // namespace

Architecture read_architecture(TableReader t) {
  Architecture architecture;
  architecture.id = t.id();
  architecture.name = t.text("name");
  architecture.vendor = t.text("vendor");
  architecture.inherits = t.reference("inherits", "architecture");
  architecture.flagship = t.reference("flagship", "device");
  architecture.source = t.source();
  architecture.place = t.place();
  architecture.bf16_flops_per_core_clock = t.optional_number("bf16_flops_per_core_clock", 16, 1e9);
  TableReader rates = t.table("rate_over_bf16");
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    architecture.rate_over_bf16[i] = rates.optional_number(name(static_cast<PeakFormat>(i)), 0.001, 64);
  }
  architecture.design = read_design(t);
  architecture.highest_clock = t.figure<Hertz>("highest_clock", Hertz(3e8), Hertz(5e9));
  return architecture;
}

}  // namespace ridge
