// The fields that only questions about a site have. A new one is a line here.
#include "ask/member.hpp"
#include "ridge/facility/facility_answer.hpp"

namespace ridge::ask {

namespace {

using Site = FacilityQuestion;
constexpr double kMostNodes = 1'000'000;

Status take_topology(std::string_view text, Site& q) {
  const Result<Topology> topology = parse_topology(text);
  if (!topology) return topology.error();
  q.topology = *topology;
  q.topology_given = true;
  return {};
}
std::string write_topology(const Site& q) {
  return q.topology_given ? std::string(name(q.topology)) : std::string();
}

template <auto Of>
constexpr AnyMember limit() {
  return in<&Site::limits, Of>();
}

constexpr Word kPurposes[] = {{"serve", 0}, {"train", 1}};

// clang-format off
constexpr Field kFacilityFields[] = {
    {.key = "kind", .value_name = "serve|train", .help = "what the model is for (default: train)", .verbs = kFacility, .takes = Takes::word, .words = kPurposes},
    {.key = "nodes", .value_name = "N", .help = "systems, instead of --gpus", .verbs = kFacility, .takes = Takes::whole, .low = 1, .high = kMostNodes, .own = in<&Site::nodes>()},
    {.key = "topology", .value_name = "T", .help = "topology: rail-fat-tree, fat-tree, spine-leaf, dragonfly-plus or torus", .verbs = kFacility,
     .takes = Takes::parsed, .check = can<parse_topology>, .own = text_by<Site, take_topology, write_topology>()},
    {.key = "levels", .value_name = "N", .help = "levels of switches (default: the fewest that reach every device)", .verbs = kFacility,
     .takes = Takes::whole, .low = 1, .high = 3, .own = in<&Site::levels>()},
    {.key = "oversubscription", .value_name = "R", .help = "ports down over ports up of a leaf: 1 (default), 2:1", .verbs = kFacility,
     .takes = Takes::ratio, .most = limits::kOversubscription, .own = in<&Site::oversubscription>()},
    {.key = "fabric", .value_name = "F", .help = "network between nodes (default: the system's own)", .verbs = kFacility,
     .takes = Takes::named, .named = Named::fabric, .own = name_in<&Site::fabric>()},
    {.key = "dataset", .value_name = "SIZE", .help = "data set that training reads: 60TB", .verbs = kFacility, .takes = Takes::bytes, .example = "60TB", .own = in<&Site::dataset>()},
    {.key = "checkpoint_interval", .value_name = "TIME", .help = "time between two checkpoints: 30min", .verbs = kFacility,
     .takes = Takes::seconds, .example = "30min", .own = in<&Site::interval>()},
    {.key = "checkpoints_kept", .value_name = "N", .help = "checkpoints on storage at once", .verbs = kFacility, .takes = Takes::whole, .low = 1, .high = kMostNodes, .own = in<&Site::kept>()},
    {.key = "storage_write", .value_name = "RATE", .help = "rate at which the site's storage writes: 100GB/s", .verbs = kFacility,
     .takes = Takes::rate, .example = "100GB/s", .own = limit<&SiteLimits::storage_write>()},
    {.key = "rack", .value_name = "R", .help = "rack: rack-42, rack-48 or rack-52", .verbs = kFacility, .takes = Takes::named, .named = Named::rack, .own = name_in<&Site::rack>()},
    {.key = "rack_power", .value_name = "POWER", .help = "power of a rack, at most: 40kW", .verbs = kFacility,
     .takes = Takes::watts, .example = "40kW", .most = limits::kPower, .own = limit<&SiteLimits::rack_power>()},
    {.key = "rack_units", .value_name = "N", .help = "height of a rack for equipment", .verbs = kFacility,
     .takes = Takes::whole, .low = 1, .high = kMostNodes, .own = limit<&SiteLimits::rack_units>()},
    {.key = "rack_weight", .value_name = "MASS", .help = "weight that a rack carries: 1200kg", .verbs = kFacility,
     .takes = Takes::mass, .example = "1200kg", .own = limit<&SiteLimits::rack_weight>()},
    {.key = "racks", .value_name = "N", .help = "number of racks; without --gpus, as many devices as fit into them", .verbs = kFacility,
     .takes = Takes::whole, .low = 1, .high = kMostNodes, .own = limit<&SiteLimits::racks>()},
    {.key = "site_power", .value_name = "POWER", .help = "power of the building, cooling included: 5MW", .verbs = kFacility,
     .takes = Takes::watts, .example = "5MW", .most = limits::kPower, .own = limit<&SiteLimits::site_power>()},
    {.key = "floor_load", .value_name = "LOAD", .help = "load that the floor carries: '1500 kg/m2'", .verbs = kFacility,
     .takes = Takes::load, .example = "'1500 kg/m2'", .own = limit<&SiteLimits::floor_load>()},
    {.key = "cooling", .value_name = "C", .help = "cooling of the site: air, in-row, rear-door, direct-liquid, ...", .verbs = kFacility,
     .takes = Takes::named, .named = Named::cooling, .own = name_in<&Site::limits, &SiteLimits::cooling>()},
    {.key = "pue", .value_name = "X", .help = "PUE of the site: power at the meter over power at the racks", .verbs = kFacility, .takes = Takes::ratio, .most = limits::kPue, .own = limit<&SiteLimits::pue>()},
    {.key = "spike", .value_name = "X", .help = "highest power over the peak that feeds ride through: 1.2", .verbs = kFacility,
     .takes = Takes::ratio, .most = limits::kSpike, .own = limit<&SiteLimits::spike>()},
    {.key = "svg", .value_name = "FILE", .help = "draw the racks", .verbs = kFacility, .takes = Takes::file},
};
// clang-format on

}  // namespace

std::span<const Field> facility_fields() {
  return kFacilityFields;
}

}  // namespace ridge::ask
