#include "measure/profile.hpp"

#include <array>
#include <cstdio>
#include <string_view>

namespace ridge::measure {
namespace {

std::string quoted_toml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.5g", value);
  std::string out = text.data();
  // TOML wants a digit on both sides of a point; "%.5g" may give an exponent without one, which TOML takes as a float.
  if (out.find_first_of(".e") == std::string::npos && value != static_cast<double>(static_cast<long long>(value))) {
    out += ".0";
  }
  return out;
}

std::string whole(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.0f", value);
  return text.data();
}

/// Keys of a table, one per line or side by side; what is zero or empty is left out.
class Keys {
 public:
  Keys(std::string& out, bool inline_table) : out_(out), inline_(inline_table) {}

  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) put(key, quoted_toml(value));
  }
  void figure(std::string_view key, double value) {
    if (value != 0) put(key, number(value));
  }
  void count(std::string_view key, double value) {
    if (value != 0) put(key, whole(value));
  }
  void put(std::string_view key, const std::string& value) {
    if (inline_) {
      out_ += first_ ? "{ " : ", ";
    }
    out_ += std::string(key) + " = " + value;
    if (!inline_) out_ += '\n';
    first_ = false;
  }

 private:
  std::string& out_;
  bool inline_;
  bool first_ = true;
};

void write_point(std::string& out, const Point& p) {
  out += "  ";
  Keys keys(out, true);
  keys.text("op", p.op);
  keys.text("dtype", p.format);
  keys.count("m", p.m);
  keys.count("n", p.n);
  keys.count("k", p.k);
  keys.count("batch", p.batch);
  keys.count("q_heads", p.q_heads);
  keys.count("kv_heads", p.kv_heads);
  keys.count("head_dim", p.head_dim);
  keys.count("q_len", p.q_len);
  keys.count("kv_len", p.kv_len);
  keys.count("experts", p.experts);
  keys.count("topk", p.top_k);
  keys.count("group", p.group);
  keys.count("bytes", p.bytes);
  keys.put("seconds", number(p.seconds));
  keys.figure("low", p.low);
  keys.figure("high", p.high);
  keys.count("samples", p.samples);
  keys.figure("clock_hz", p.clock_hz);
  keys.text("notes", p.notes);
  out += " },\n";
}

void write_facts(std::string& out, const Facts& f) {
  out += "\n[device]\n";
  Keys keys(out, false);
  keys.text("name", f.name);
  keys.text("vendor", f.vendor);
  keys.text("driver", f.driver);
  keys.text("runtime", f.runtime);
  keys.text("libraries", f.libraries);
  keys.text("compute_capability", f.compute_capability);
  keys.count("multiprocessors", f.multiprocessors);
  keys.count("devices", f.devices);
  keys.count("memory_bytes", f.memory_bytes);
  keys.count("free_bytes", f.free_bytes);
  keys.count("l2_bytes", f.l2_bytes);
  keys.count("boost_clock_hz", f.boost_clock_hz);
  keys.count("memory_clock_hz", f.memory_clock_hz);
  keys.figure("power_limit_w", f.power_limit_w);
  keys.count("pcie_generation", f.pcie_generation);
  keys.count("pcie_width", f.pcie_width);
}

void write_health(std::string& out, const Health& h) {
  out += "\n[health]\n";
  Keys keys(out, false);
  keys.put("watched", h.watched ? "true" : "false");
  keys.put("other_processes", whole(h.other_processes));
  keys.put("busy_share", number(h.busy_share));
  keys.count("newcomers", h.newcomers);
  keys.put("uncorrected_errors", whole(h.uncorrected_errors));
  keys.figure("idle_watts", h.idle_watts);
  keys.count("idle_clock_hz", h.idle_clock_hz);
  keys.figure("hottest_celsius", h.hottest_celsius);
  std::string reasons = "[";
  for (const std::string& reason : h.throttled) reasons += (reasons.size() > 1 ? ", " : "") + quoted_toml(reason);
  keys.put("throttled", reasons + "]");
}

void write_step(std::string& out, const ModelStep& s) {
  out += "\n[[step]]\n";
  Keys keys(out, false);
  keys.text("model", s.model);
  keys.text("phase", s.phase);
  keys.text("precision", s.precision);
  keys.count("batch", s.batch);
  keys.count("context", s.context);
  if (s.passes > 1) keys.count("passes", s.passes);
  keys.figure("seconds", s.seconds);
  keys.figure("low", s.low);
  keys.figure("high", s.high);
  keys.count("samples", s.samples);
  keys.figure("watts", s.watts);
  keys.count("clock_hz", s.clock_hz);
  if (s.operators.empty()) return;
  out += "operators = [\n";
  for (const ModelStep::Operator& op : s.operators) {
    out += "  { what = " + quoted_toml(op.what) + ", seconds = " + number(op.seconds) + " },\n";
  }
  out += "]\n";
}

}  // namespace

std::string to_toml(const Profile& profile) {
  std::string out = "# Measured by ridge-measure. Base units: bytes, seconds, hertz, watts.\n";
  Keys head(out, false);
  head.put("kind", "\"measurement\"");
  head.put("format", "1");
  head.text("mode", profile.mode);
  head.text("date", profile.date);
  head.figure("took_seconds", profile.took_seconds);
  head.text("model", profile.model);
  head.text("like", profile.like);
  head.text("source", profile.source);
  if (!profile.points.empty()) {
    out += "\npoint = [\n";
    for (const Point& p : profile.points) write_point(out, p);
    out += "]\n";
  }
  write_facts(out, profile.facts);
  write_health(out, profile.health);
  for (const Sustained& s : profile.sustained) {
    out += "\n[[sustained]]\n";
    Keys keys(out, false);
    keys.text("work", s.work);
    keys.figure("seconds", s.seconds);
    keys.figure("rate", s.rate);
    keys.text("unit", s.unit);
    keys.figure("watts", s.watts);
    keys.count("clock_hz", s.clock_hz);
    keys.figure("celsius", s.celsius);
    keys.text("throttled", s.throttled);
  }
  for (const ModelStep& s : profile.steps) write_step(out, s);
  for (const Skipped& s : profile.skipped) {
    out += "\n[[skipped]]\n";
    Keys keys(out, false);
    keys.text("what", s.what);
    keys.text("why", s.why);
  }
  return out;
}

}  // namespace ridge::measure
