// [[source]] and [[architecture]].
#include "catalogue/tables.hpp"

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

Architecture read_architecture(TableReader t) {
  Architecture architecture;
  architecture.id = t.id();
  architecture.name = t.text("name");
  architecture.vendor = t.text("vendor");
  architecture.inherits = t.reference("inherits", "architecture");
  architecture.source = t.source();
  architecture.place = t.place();
  architecture.bf16_flops_per_core_clock = t.optional_number("bf16_flops_per_core_clock", 16, 1e9);
  TableReader rates = t.table("rate_over_bf16");
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    architecture.rate_over_bf16[i] = rates.optional_number(name(static_cast<PeakFormat>(i)), 0.001, 64);
  }
  architecture.highest_clock = t.figure<Hertz>("highest_clock", Hertz(3e8), Hertz(5e9));
  return architecture;
}

}  // namespace ridge
