// The same for programs: docs/schema/facility.json.
#include "report/site/facility_report.hpp"

namespace ridge::report {

namespace {

Json fabric_json(const FacilityAnswer& a) {
  if (!a.fabric) return {};
  const FabricDesign& d = *a.fabric;
  Json json = Json::object();
  json.set("topology", name(d.topology)).set("levels", d.levels);
  json.set("fabric", a.scale_out == nullptr ? Json() : Json(a.scale_out->id));
  json.set("switch_model", d.switch_model.empty() ? Json() : Json(d.switch_model));
  Json tiers = Json::array();
  for (const SwitchTier& tier : d.tiers) {
    tiers.push(Json::object()
                   .set("name", tier.name)
                   .set("switches", tier.switches)
                   .set("ports_down", tier.down)
                   .set("ports_up", tier.up));
  }
  Json runs = Json::array();
  for (const CableRun& run : d.runs) {
    runs.push(Json::object()
                  .set("name", run.name)
                  .set("cables", static_cast<double>(run.cables))
                  .set("length_m", run.length.value())
                  .set("link", run.link.empty() ? Json() : Json(run.link)));
  }
  json.set("tiers", std::move(tiers)).set("runs", std::move(runs));
  json.set("switches", d.switches()).set("cables", static_cast<double>(d.cables())).set("transceivers", d.transceivers);
  json.set("oversubscription", d.oversubscription);
  json.set("bisection_bytes_per_s_per_direction", d.bisection.value());
  json.set("switches_on_the_way_most", d.hops_most);
  json.set("power_w", d.power ? Json(d.power->value.value()) : Json());
  json.set("price_usd", d.price ? Json::object()
                                      .set("low", d.price->low.value())
                                      .set("mid", d.price->mid().value())
                                      .set("high", d.price->high.value())
                                : Json());
  Json up;
  if (a.scale_up) {
    up = Json::object();
    up.set("domains", a.scale_up->domains)
        .set("switch_chips", a.scale_up->switch_chips)
        .set("switch_trays", a.scale_up->switch_trays);
    up.set("links", static_cast<double>(a.scale_up->links))
        .set("bisection_bytes_per_s_per_direction", a.scale_up->bisection.value());
  }
  json.set("scale_up", std::move(up));
  Json notes = Json::array();
  for (const std::string& note : d.notes) notes.push(note);
  return json.set("notes", std::move(notes));
}

Json traffic_json(const FacilityAnswer& a) {
  if (!a.plan_traffic) return {};
  const PlanTraffic& t = *a.plan_traffic;
  Json up = Json::object();
  Json out = Json::object();
  for (std::size_t i = 0; i < kTrafficKinds; ++i) {
    std::string key(name(static_cast<TrafficKind>(i)));
    for (char& c : key) c = c == ' ' ? '_' : c;
    up.set(key, t.traffic.up[i]);
    out.set(key, t.traffic.out[i]);
  }
  Json json = Json::object();
  json.set("scale_up_bytes_per_device_and_step", std::move(up))
      .set("network_bytes_per_device_and_step", std::move(out));
  json.set("compute_s", t.compute_seconds).set("step_s", t.step_seconds);
  json.set("needed_per_port_bytes_per_s", t.needed.value()).set("port_bytes_per_s", t.traffic.port);
  return json.set("needed_share_of_memory_bandwidth", t.hbm_share);
}

Json storage_json(const FacilityAnswer& a) {
  if (!a.storage) return {};
  const StorageNeed& s = *a.storage;
  Json json = Json::object();
  json.set("checkpoint_bytes", s.checkpoint.value()).set("capacity_bytes", s.capacity.value());
  json.set("read_data_bytes_per_s", s.read_data.value()).set("read_restart_bytes_per_s", s.read_restart.value());
  json.set("write_background_bytes_per_s", s.write_background.value())
      .set("write_sharded_bytes_per_s", s.write_sharded.value());
  Json strategies = Json::array();
  for (const StrategyCost& c : s.strategies) {
    strategies.push(Json::object()
                        .set("strategy", name(c.strategy))
                        .set("stall_s", c.stall.value())
                        .set("stall_share", c.stall_share)
                        .set("loss_most_s", c.loss_most.value())
                        .set("written_s", c.written.value())
                        .set("needed_bytes_per_s", c.needed.value())
                        .set("host_memory_bytes", c.host_memory.value())
                        .set("feasible", c.feasible)
                        .set("why", c.why));
  }
  json.set("strategies", std::move(strategies));
  json.set("best_strategy", s.strategies.empty() ? Json() : Json(name(s.best)));
  Json classes = Json::array();
  for (const StorageVerdict& v : a.storage_verdicts) {
    classes.push(Json::object()
                     .set("storage", v.storage->id)
                     .set("serves", v.serves)
                     .set("units", v.units > 0 ? Json(v.units) : Json())
                     .set("why", v.why));
  }
  return json.set("classes", std::move(classes));
}

Json rack_json(const RackPlan& r) {
  Json json = Json::object();
  json.set("systems", r.systems).set("devices", r.devices).set("per_rack", r.per_rack).set("racks", r.racks);
  json.set("network_racks", r.network_racks).set("limited_by", name(r.bound));
  json.set("power_per_rack_w", r.per_rack_power.value());
  json.set("weight_per_rack_kg", r.per_rack_weight > Kilograms(0) ? Json(r.per_rack_weight.value()) : Json());
  json.set("floor_load_kg_per_m2", r.floor_load ? Json(r.floor_load->value()) : Json());
  json.set("units_per_rack", r.per_rack_units > 0 ? Json(r.per_rack_units) : Json());
  json.set("cooling", r.cooling == nullptr ? Json() : Json(r.cooling->id));
  json.set("devices_power_w", r.devices_power.value()).set("network_power_w", r.network_power.value());
  json.set("peak_w", r.peak.value()).set("spike_w", r.spike.value()).set("swing_w", r.swing.value());
  json.set("pue", r.pue).set("facility_w", r.facility.value());
  json.set("feed", r.feed == nullptr ? Json() : Json(r.feed->id));
  return json.set("feeds_per_rack", r.feeds);
}

}  // namespace

Json facility_json(const FacilityAnswer& a) {
  Json json = Json::object();
  json.set("schema", kFacilitySchema).set("system", a.system->id);
  json.set("device", a.device == nullptr ? Json() : Json(a.device->id));
  json.set("network", fabric_json(a)).set("traffic", traffic_json(a)).set("storage", storage_json(a));
  json.set("racks", rack_json(a.racks));
  Json lines = Json::array();
  for (const ChecklistLine& line : a.checklist) {
    lines.push(Json::object()
                   .set("area", line.area)
                   .set("requirement", line.requirement)
                   .set("verdict", name(line.verdict))
                   .set("figure", line.number)
                   .set("next", line.fix.empty() ? Json() : Json(line.fix)));
  }
  json.set("checklist", std::move(lines));
  Json assumptions = Json::array();
  for (const std::string& text : a.assumptions) assumptions.push(text);
  return json.set("assumptions", std::move(assumptions));
}

}  // namespace ridge::report
