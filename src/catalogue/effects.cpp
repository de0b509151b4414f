#include "ridge/catalogue/effects.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ridge/catalogue/response.hpp"

namespace ridge {

double Sureness::time() const {
  return std::exp(device_mean + software_mean + own.slower);
}

double Sureness::as_tuned() const {
  return tuned_rows > 0 ? std::exp(tuned_mean - software_mean) : 1;
}

const EffectRest* Sureness::rest(std::string_view metric) const {
  const auto named = [&](std::string_view wanted) -> const EffectRest* {
    const auto at = std::find_if(rests.begin(), rests.end(), [&](const EffectRest& r) { return r.metric == wanted; });
    return at == rests.end() ? nullptr : &*at;
  };
  if (const EffectRest* of_load = named(metric)) return of_load;
  return named(metric.substr(0, metric.find('/')));
}

Sureness::Variance Sureness::variance(const EffectRest& r) const {
  const double run = r.within * r.within;
  Variance v{device_spread * device_spread, software_spread * software_spread, r.between * r.between, run};
  // Who has measured a stack knows what device and software make of it: the mean is as sure as the runs make it.
  if (own_rows > 0) return {0, 0, run / own_rows, run};
  const bool of_time = !r.metric.starts_with("power_w");
  if (own.rows > 0 && of_time) {
    const double by_load = std::min(OwnRuns::by_load() * OwnRuns::by_load(), run);
    v = {own.left * v.device, own.left * v.software, own.left * (v.stack + by_load), run - by_load};
  }
  return v;
}

double Sureness::deviation(std::string_view metric) const {
  const EffectRest* r = rest(metric);
  if (r == nullptr) return std::hypot(device_spread, software_spread);
  const Variance v = variance(*r);
  return std::sqrt(v.device + v.software + v.stack + v.run);
}

Spread80 Sureness::spread(std::string_view metric, bool grows) const {
  return ridge::spread(*this, metric, grows, {});
}

double deviation(double shared_variance, double run_variance, double response) {
  const double squared = response * response;
  return std::sqrt(squared * shared_variance + std::max(1.0, squared) * run_variance);
}

Spread80 spread(const Sureness& sure, std::string_view metric, bool grows, const Response& response) {
  const EffectRest* r = sure.rest(metric);
  if (r == nullptr) return {};
  const Sureness::Variance v = sure.variance(*r);
  const double shared = v.device + v.software + v.stack;
  const double faster = r->low * deviation(shared, v.run, response.faster);
  const double slower = r->high * deviation(shared, v.run, response.slower);
  return grows ? Spread80{std::exp(faster), std::exp(slower)} : Spread80{std::exp(-slower), std::exp(-faster)};
}

Effects::Effects(std::vector<Effect> effects, std::vector<EffectRest> rests)
    : effects_(std::move(effects)), rests_(std::move(rests)) {}

const Effect* Effects::find(std::string_view group, std::string_view level, std::string_view key) const {
  for (const Effect& e : effects_) {
    if (e.key == key && e.level == level && e.group == group) return &e;
  }
  return nullptr;
}

Sureness Effects::of(std::string_view group, const DeviceKeys& device, std::string_view engine, bool as_tuned) const {
  Sureness s;
  if (effects_.empty()) return s;
  const std::string both = std::string(engine) + "@" + std::string(device.architecture);
  using Step = std::pair<std::string_view, std::string_view>;
  const Step devices[] = {{"device", device.device},
                          {"architecture", device.architecture},
                          {"new", device.measured ? "measured device" : "device"}};
  const Step people[] = {{"engine", both}, {"new", "engine"}};
  const Step records[] = {{"tuned", device.architecture}, {"new", "engine"}};
  const auto& engines = as_tuned ? records : people;
  if (const Effect* e = find(group, "tuned", device.architecture)) {
    s.tuned_mean = e->mean;
    s.tuned_rows = e->rows;
  }
  for (const auto& [level, key] : devices) {
    const Effect* e = find(group, level, key);
    if (e == nullptr) continue;
    s.device = e->key;
    s.device_mean = e->mean;
    s.device_spread = e->spread;
    s.device_rows = e->rows;
    break;
  }
  for (const auto& [level, key] : engines) {
    const Effect* e = find(group, level, key);
    if (e == nullptr) continue;
    s.software = e->key;
    s.software_mean = e->mean;
    s.software_spread = e->spread;
    s.software_rows = e->rows;
    break;
  }
  for (const EffectRest& r : rests_) {
    if (r.group == group && r.measured == device.measured) s.rests.push_back(r);
  }
  return s;
}

}  // namespace ridge
