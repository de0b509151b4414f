#include "evidence/measured/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/text.hpp"

namespace ridge::evidence {
namespace {

constexpr std::array<std::string_view, 20> kOperators = {
    "gemm",        "attn_prefill",  "attn_decode", "moe_ffn",  "copy",         "read",      "write",
    "read_cached", "h2d",           "d2h",         "launch",   "launch_eager", "norm",      "allreduce",
    "allgather",   "reducescatter", "alltoall",    "sendrecv", "graph_replay", "activation"};

/// The members of one table; the first error is kept, and keys that nobody asked for are one.
class Fields {
 public:
  Fields(const TomlNode& table, const std::string& file, std::optional<Error>& error)
      : table_(table), file_(file), error_(error) {}
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields() {
    for (const TomlMember& member : table_.members) {
      if (std::find(asked_.begin(), asked_.end(), member.key) != asked_.end()) continue;
      const std::string near = nearest(member.key, asked_.data(), asked_.size());
      refuse(member.line, member.column,
             fmt::format("{} is no key of this table{}", quoted(member.key),
                         near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
  }

  std::string text(std::string_view key, bool required = false) {
    const TomlMember* member = get(key, required);
    if (member == nullptr) return {};
    const bool fine = member->value.kind == TomlNode::Kind::text || member->value.kind == TomlNode::Kind::date;
    if (!fine) refuse(member->value, fmt::format("'{}' has to be a text in quotes", key));
    return member->value.text;
  }
  /// A finite number >= 0; above 0 if it is required.
  double number(std::string_view key, bool required = false) {
    const TomlMember* member = get(key, required);
    if (member == nullptr) return 0;
    const TomlNode& v = member->value;
    const bool is_number = v.kind == TomlNode::Kind::number || v.kind == TomlNode::Kind::integer;
    const double value = v.kind == TomlNode::Kind::integer ? static_cast<double>(v.integer) : v.number;
    if (is_number && std::isfinite(value) && (required ? value > 0 : value >= 0)) return value;
    refuse(v, fmt::format("'{}' has to be a number {} 0", key, required ? "above" : "of at least"));
    return 0;
  }
  int whole(std::string_view key) {
    constexpr double kMost = 1e9;
    const double value = number(key);
    if (value > kMost || value != std::floor(value)) {
      refuse(table_.find(key)->value, fmt::format("'{}' has to be a whole number", key));
      return 0;
    }
    return static_cast<int>(value);
  }
  bool flag(std::string_view key) {
    const TomlMember* member = get(key, false);
    if (member == nullptr) return false;
    if (member->value.kind != TomlNode::Kind::flag) refuse(member->value, fmt::format("'{}' is true or false", key));
    return member->value.flag;
  }
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> out;
    for (const TomlNode* item : items(key, TomlNode::Kind::text, "texts in quotes")) out.push_back(item->text);
    return out;
  }
  std::vector<const TomlNode*> tables(std::string_view key) { return items(key, TomlNode::Kind::table, "tables"); }
  const TomlNode* table(std::string_view key) {
    const TomlMember* member = get(key, false);
    if (member == nullptr) return nullptr;
    if (member->value.kind == TomlNode::Kind::table) return &member->value;
    refuse(member->value, fmt::format("'{}' has to be a table", key));
    return nullptr;
  }
  void refuse_value(std::string_view key, const std::string& message) {
    const TomlMember* member = table_.find(key);
    refuse(member != nullptr ? member->value : table_, message);
  }

 private:
  std::vector<const TomlNode*> items(std::string_view key, TomlNode::Kind kind, std::string_view what) {
    const TomlMember* member = get(key, false);
    std::vector<const TomlNode*> out;
    if (member == nullptr) return out;
    const bool is_list = member->value.kind == TomlNode::Kind::array;
    if (!is_list) refuse(member->value, fmt::format("'{}' has to be a list of {}", key, what));
    for (const TomlNode& item : member->value.items) {
      if (item.kind == kind) {
        out.push_back(&item);
      } else {
        refuse(item, fmt::format("'{}' has to be a list of {}", key, what));
      }
    }
    return out;
  }
  const TomlMember* get(std::string_view key, bool required) {
    asked_.push_back(key);
    const TomlMember* member = table_.find(key);
    if (member == nullptr && required) refuse(table_, fmt::format("'{}' is missing", key));
    return member;
  }
  void refuse(const TomlNode& node, std::string message) { refuse(node.line, node.column, std::move(message)); }
  void refuse(std::uint32_t line, std::uint32_t column, std::string message) {
    if (!error_) error_ = Error{ErrorCode::bad_input, place_text(file_, line, column), std::move(message)};
  }

  const TomlNode& table_;
  const std::string& file_;
  std::optional<Error>& error_;
  std::vector<std::string_view> asked_;
};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<measure::Profile> read(const TomlNode& root) {
    {
      Fields f(root, file_, error_);
      if (f.text("kind", true) != "measurement") f.refuse_value("kind", R"(a profile has kind = "measurement")");
      if (f.number("format", true) != 1) {
        f.refuse_value("format", "this program reads profiles of format 1: use the ridge that came with ridge-measure");
      }
      if (error_) return *error_;
      profile_.mode = f.text("mode", true);
      profile_.date = f.text("date", true);
      profile_.took_seconds = f.number("took_seconds");
      profile_.model = f.text("model");
      profile_.like = f.text("like");
      profile_.source = f.text("source");
      const TomlNode* device = f.table("device");
      if (device == nullptr) f.refuse_value("kind", "the table [device] is missing");
      if (device != nullptr) read_facts(*device);
      if (const TomlNode* health = f.table("health")) read_health(*health);
      for (const TomlNode* point : f.tables("point")) read_point(*point);
      for (const TomlNode* sustained : f.tables("sustained")) read_sustained(*sustained);
      for (const TomlNode* step : f.tables("step")) read_step(*step);
      for (const TomlNode* skipped : f.tables("skipped")) {
        Fields s(*skipped, file_, error_);
        profile_.skipped.push_back({s.text("what", true), s.text("why", true)});
      }
      if (profile_.points.empty() && profile_.steps.empty()) {
        f.refuse_value("kind", "nothing was measured: there is neither a point nor a step");
      }
    }
    if (error_) return *error_;
    return std::move(profile_);
  }

 private:
  void read_facts(const TomlNode& table) {
    Fields f(table, file_, error_);
    measure::Facts& d = profile_.facts;
    d.name = f.text("name", true);
    d.vendor = f.text("vendor");
    d.driver = f.text("driver");
    d.runtime = f.text("runtime");
    d.libraries = f.text("libraries");
    d.compute_capability = f.text("compute_capability");
    d.multiprocessors = f.whole("multiprocessors");
    d.devices = f.whole("devices");
    d.memory_bytes = f.number("memory_bytes");
    d.free_bytes = f.number("free_bytes");
    d.l2_bytes = f.number("l2_bytes");
    d.boost_clock_hz = f.number("boost_clock_hz");
    d.memory_clock_hz = f.number("memory_clock_hz");
    d.power_limit_w = f.number("power_limit_w");
    d.pcie_generation = f.whole("pcie_generation");
    d.pcie_width = f.whole("pcie_width");
  }

  void read_health(const TomlNode& table) {
    Fields f(table, file_, error_);
    measure::Health& h = profile_.health;
    h.watched = f.flag("watched");
    h.other_processes = f.whole("other_processes");
    h.busy_share = f.number("busy_share");
    h.newcomers = f.whole("newcomers");
    h.uncorrected_errors = f.number("uncorrected_errors");
    h.idle_watts = f.number("idle_watts");
    h.idle_clock_hz = f.number("idle_clock_hz");
    h.hottest_celsius = f.number("hottest_celsius");
    h.throttled = f.texts("throttled");
  }

  void read_point(const TomlNode& table) {
    Fields f(table, file_, error_);
    measure::Point p;
    p.op = f.text("op", true);
    if (std::find(kOperators.begin(), kOperators.end(), p.op) == kOperators.end()) {
      const std::string near = nearest(p.op, kOperators.data(), kOperators.size());
      f.refuse_value("op", fmt::format("{} is no operator{}", quoted(p.op),
                                       near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    p.format = f.text("dtype");
    for (const auto& [key, into] : {std::pair{"m", &p.m},
                                    {"n", &p.n},
                                    {"k", &p.k},
                                    {"batch", &p.batch},
                                    {"q_heads", &p.q_heads},
                                    {"kv_heads", &p.kv_heads},
                                    {"head_dim", &p.head_dim},
                                    {"q_len", &p.q_len},
                                    {"kv_len", &p.kv_len},
                                    {"experts", &p.experts},
                                    {"topk", &p.top_k},
                                    {"group", &p.group},
                                    {"bytes", &p.bytes},
                                    {"low", &p.low},
                                    {"high", &p.high},
                                    {"clock_hz", &p.clock_hz}}) {
      *into = f.number(key);
    }
    p.seconds = f.number("seconds", true);
    p.samples = f.whole("samples");
    p.notes = f.text("notes");
    profile_.points.push_back(std::move(p));
  }

  void read_sustained(const TomlNode& table) {
    Fields f(table, file_, error_);
    measure::Sustained s;
    s.work = f.text("work", true);
    s.seconds = f.number("seconds", true);
    s.rate = f.number("rate", true);
    s.unit = f.text("unit", true);
    s.watts = f.number("watts");
    s.clock_hz = f.number("clock_hz");
    s.celsius = f.number("celsius");
    s.throttled = f.text("throttled");
    profile_.sustained.push_back(std::move(s));
  }

  void read_step(const TomlNode& table) {
    Fields f(table, file_, error_);
    measure::ModelStep s;
    s.model = f.text("model");
    s.phase = f.text("phase", true);
    if (s.phase != "prefill" && s.phase != "decode") f.refuse_value("phase", "a phase is \"prefill\" or \"decode\"");
    s.precision = f.text("precision", true);
    s.batch = f.number("batch", true);
    s.context = f.number("context", true);
    s.passes = std::max(f.whole("passes"), 1);
    s.seconds = f.number("seconds", true);
    s.low = f.number("low");
    s.high = f.number("high");
    s.samples = f.whole("samples");
    s.watts = f.number("watts");
    s.clock_hz = f.number("clock_hz");
    for (const TomlNode* item : f.tables("operators")) {
      Fields o(*item, file_, error_);
      s.operators.push_back({o.text("what", true), o.number("seconds", true)});
    }
    profile_.steps.push_back(std::move(s));
  }

  const std::string& file_;
  std::optional<Error> error_;
  measure::Profile profile_;
};

}  // namespace

Result<measure::Profile> read_measurement(std::string_view text, const std::string& file) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  return Reader(file).read(*root);
}

}  // namespace ridge::evidence
