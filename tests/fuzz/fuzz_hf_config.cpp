// Any text is a model or an error with its place; a model that is accepted can be counted.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ridge/catalogue/model.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = ridge::parse_hf_config(text, "c.json");
  if (!model) {
    require(model.error().where.starts_with("c.json") && !model.error().message.empty());
    return 0;
  }
  require(model->layers() > 0 && model->order.size() == static_cast<std::size_t>(model->layers()));
  for (const std::uint16_t group : model->order) require(group < model->groups.size());
  const ridge::Parameters p = ridge::count_parameters(*model);
  require(std::isfinite(p.total) && p.total > 0 && p.active > 0 && p.active <= p.total);
  const double one = ridge::kv_bytes_per_sequence(*model, 2, 1).value();
  const double many = ridge::kv_bytes_per_sequence(*model, 2, 100'000).value();
  require(std::isfinite(many) && one >= 0 && many >= one);
  require(ridge::kv_bytes_per_token(*model, 2, 100'000) <= ridge::kv_bytes_per_token(*model, 2, 0));
  return 0;
}
