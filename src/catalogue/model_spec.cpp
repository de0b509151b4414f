#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "catalogue/tables/layers.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/model.hpp"

namespace ridge {

namespace {

enum class Use : std::uint8_t { required, optional, required_in_moe, optional_in_moe };

struct Key {
  std::string_view name;
  Use use;
  int low;
  int high;
};

// In the order in which a missing one is named.
constexpr std::array kKeys = {
    Key{"layers", Use::required, 1, kLayerLimit},
    Key{"hidden", Use::required, 1, kWidthLimit},
    Key{"heads", Use::required, 1, kHeadLimit},
    Key{"kv_heads", Use::required, 1, kHeadLimit},
    Key{"ffn", Use::required, 0, kWidthLimit},
    Key{"gated", Use::required, 0, 1},
    Key{"vocab", Use::required, 1, kWidthLimit},
    Key{"tied", Use::required, 0, 1},
    Key{"head_dim", Use::optional, 1, kHeadLimit},
    Key{"context", Use::optional, 1, kContextLimit},
    Key{"experts", Use::required_in_moe, 1, kHeadLimit},
    Key{"topk", Use::required_in_moe, 1, kHeadLimit},
    Key{"shared", Use::optional_in_moe, 0, kHeadLimit},
    Key{"moe_ffn", Use::required_in_moe, 1, kWidthLimit},
    Key{"dense_layers", Use::optional_in_moe, 0, kLayerLimit},
};

constexpr std::string_view kDenseExample =
    "dense:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,gated=1,vocab=128256,tied=0";
constexpr std::string_view kMoeExample =
    "moe:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=0,gated=1,vocab=32000,tied=0,experts=8,topk=2,shared=0,"
    "moe_ffn=14336";

/// A value and the column where it stands, both from the text.
struct Setting {
  int value = 0;
  std::size_t column = 0;
};

class SpecReader {
 public:
  explicit SpecReader(std::string_view spec) : spec_(spec) {}

  Result<Model> read() {
    const std::size_t colon = spec_.find(':');
    const std::string_view kind = spec_.substr(0, colon);
    if (colon == std::string_view::npos || (kind != "dense" && kind != "moe")) {
      return refuse(1, fmt::format("a model spec starts with 'dense:' or 'moe:', for example {}", kDenseExample));
    }
    moe_ = kind == "moe";
    for (std::size_t at = colon + 1; at <= spec_.size();) {
      const std::size_t end = std::min(spec_.find(',', at), spec_.size());
      if (auto error = read_setting(at, end)) return *error;
      at = end + 1;
    }
    if (auto error = check()) return *error;
    return build();
  }

 private:
  Error refuse(std::size_t column, std::string message) const {
    return Error{ErrorCode::bad_input, fmt::format("column {}", column), std::move(message)};
  }

  [[nodiscard]] bool allowed(const Key& key) const {
    return moe_ || key.use == Use::required || key.use == Use::optional;
  }

  std::optional<Error> read_setting(std::size_t begin, std::size_t end) {
    const std::string_view setting = spec_.substr(begin, end - begin);
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos) {
      return refuse(begin + 1, fmt::format("expected key=value, for example {}", moe_ ? kMoeExample : kDenseExample));
    }
    const std::string_view name = setting.substr(0, equals);
    std::size_t index = 0;
    while (index < kKeys.size() && kKeys[index].name != name) ++index;
    if (index == kKeys.size() || !allowed(kKeys[index])) return unknown_key(begin + 1, name);
    const std::size_t column = begin + equals + 2;
    if (settings_[index]) return refuse(begin + 1, fmt::format("'{}' is given twice", name));
    return read_value(index, setting.substr(equals + 1), column);
  }

  Error unknown_key(std::size_t column, std::string_view text) const {
    const std::string_view name = text.substr(0, 40);
    std::array<std::string_view, kKeys.size()> names;
    std::size_t count = 0;
    for (const Key& key : kKeys) {
      if (key.name == name) return refuse(column, fmt::format("'{}' belongs to a 'moe:' spec", name));
      if (allowed(key)) names[count++] = key.name;
    }
    return refuse(column, fmt::format("unknown key '{}'; nearest: {}", name, nearest(name, names.data(), count)));
  }

  std::optional<Error> read_value(std::size_t index, std::string_view text, std::size_t column) {
    const Key& key = kKeys[index];
    int value = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = code == std::errc() && stop == text.data() + text.size();
    if (!whole || value < key.low || value > key.high) {
      return refuse(column, fmt::format("'{}' is a whole number from {} to {}, not '{}'", key.name, key.low, key.high,
                                        text.substr(0, 40)));
    }
    settings_[index] = Setting{value, column};
    return std::nullopt;
  }

  [[nodiscard]] const std::optional<Setting>& find(std::string_view name) const {
    std::size_t index = 0;
    while (kKeys[index].name != name) ++index;
    return settings_[index];
  }
  [[nodiscard]] int value(std::string_view name, int otherwise = 0) const {
    const auto& setting = find(name);
    return setting ? setting->value : otherwise;
  }

  [[nodiscard]] std::optional<Error> check() const {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      const bool required = kKeys[i].use == Use::required || (moe_ && kKeys[i].use == Use::required_in_moe);
      if (required && !settings_[i]) {
        return refuse(spec_.size() + 1, fmt::format("'{}' is missing: write for example {}", kKeys[i].name,
                                                    moe_ ? kMoeExample : kDenseExample));
      }
    }
    const int heads = value("heads");
    if (heads % value("kv_heads") != 0) {
      return refuse(find("kv_heads")->column,
                    fmt::format("{} kv_heads do not divide {} heads", value("kv_heads"), heads));
    }
    if (!find("head_dim") && value("hidden") % heads != 0) {
      return refuse(find("heads")->column,
                    fmt::format("{} heads do not divide hidden={}: say head_dim as well", heads, value("hidden")));
    }
    const bool has_dense_layer = !moe_ || value("dense_layers") > 0;
    if (has_dense_layer && value("ffn") == 0) {
      return refuse(find("ffn")->column, "a dense layer needs a feed-forward width: ffn is at least 1");
    }
    if (moe_ && value("topk") > value("experts")) {
      return refuse(find("topk")->column, fmt::format("topk={} of experts={}", value("topk"), value("experts")));
    }
    if (value("dense_layers") > value("layers")) {
      return refuse(find("dense_layers")->column,
                    fmt::format("{} dense layers of {}", value("dense_layers"), value("layers")));
    }
    return std::nullopt;
  }

  [[nodiscard]] Model build() const {
    Model model;
    model.id = std::string(spec_);
    model.name = model.id;
    model.hidden = value("hidden");
    model.vocab = value("vocab");
    model.tied_embeddings = value("tied") == 1;
    model.context = value("context");

    LayerGroup dense;
    dense.mixer.heads = value("heads");
    dense.mixer.kv_heads = value("kv_heads");
    dense.mixer.head_dim = value("head_dim", value("hidden") / value("heads"));
    dense.ffn.gated = value("gated") == 1;
    dense.ffn.width = value("ffn");
    LayerGroup sparse = dense;
    sparse.ffn.kind = FfnKind::moe;
    sparse.ffn.width = value("moe_ffn");
    sparse.ffn.experts = value("experts");
    sparse.ffn.top_k = value("topk");
    sparse.ffn.shared_experts = value("shared");
    sparse.ffn.shared_width = value("shared") > 0 ? value("moe_ffn") : 0;

    const int dense_layers = moe_ ? value("dense_layers") : value("layers");
    for (int i = 0; i < value("layers"); ++i) append_layer(model, i < dense_layers ? dense : sparse);
    return model;
  }

  std::string_view spec_;
  bool moe_ = false;
  std::array<std::optional<Setting>, kKeys.size()> settings_;
};

}  // namespace

Result<Model> parse_model_spec(std::string_view spec) {
  return SpecReader(spec).read();
}

}  // namespace ridge
