// Any text is a model or an error with a column inside it; a model that is accepted can be counted.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ridge/catalogue/model.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = ridge::parse_model_spec(text);
  if (!model) {
    const std::string& where = model.error().where;
    require(where.starts_with("column ") && !model.error().message.empty());
    const unsigned long column = std::stoul(where.substr(7));
    require(column >= 1 && column <= size + 1);
    return 0;
  }
  require(model->id == text && model->order.size() == static_cast<std::size_t>(model->layers()));
  const ridge::Parameters p = ridge::count_parameters(*model);
  require(std::isfinite(p.total) && p.total > 0 && p.active > 0 && p.active <= p.total);
  require(ridge::kv_bytes_per_token(*model, 2).value() > 0);
  return 0;
}
