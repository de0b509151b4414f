// What sites are built of: switches, cables, storage, cooling, racks, operating systems, drivers and what a healthy
// host looks like. Read from data/facility/*.toml; every figure names a source of the catalogue.
//
//   Result<FacilityData> data = load_facility("data/facility", catalogue);
//   if (!data) return data.error();                                    // "data/facility/cooling.toml:9:1: ..."
//   const CoolingClass* cooling = data->cooling_for(watts(61'200));    // rear door is over its limit: direct-to-chip
//
// A FacilityData is a value, immutable once loaded; any thread may read it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/quantity.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

/// A price that nobody publishes as one figure.
struct PriceRange {
  Dollars low, high;
  [[nodiscard]] Dollars mid() const { return (low + high) / 2; }
};

/// A switch as it can be bought, at one port rate.
struct SwitchModel {
  std::string id;
  std::string name;
  std::string fabric;  ///< id of the fabric whose ports it has
  int radix = 0;       ///< ports at that rate
  int rack_units = 1;
  Figure<Watts> power_max;  ///< without its transceivers unless `power_with_optics`
  bool power_with_optics = false;
  Figure<Kilograms> weight;
  Figure<Seconds> latency;  ///< through it, port to port
  std::optional<PriceRange> price;
  SourceId source;
  Place place;
};

enum class LinkMedium : std::uint8_t { copper, active_optical, multimode, single_mode };
[[nodiscard]] std::string_view name(LinkMedium medium);

/// A way to join two ports. Power and price are of both ends together, for one link.
struct LinkModel {
  std::string id;
  std::string name;
  LinkMedium medium = LinkMedium::copper;
  BytesPerSecond rate;  ///< one direction
  Metres reach;
  double transceivers = 0;  ///< plugs of the link; twin-port plugs count half
  std::string fec;          ///< id of the ErrorCorrection it runs; empty: not known
  Figure<Watts> power;
  std::optional<PriceRange> price;
  SourceId source;
  Place place;
};

/// The switched scale-up network of one domain.
struct ScaleUpDesign {
  std::string id;
  std::string fabric;  ///< id of a scale-up fabric
  int domain = 0;      ///< devices
  int links_per_device = 0;
  int switch_chips = 0;
  int switch_trays = 0;  ///< 0 if the chips are on the baseboard
  SourceId source;
  Place place;
};

enum class StorageKind : std::uint8_t { local, parallel, object, nas };

struct StorageClass {
  std::string id;
  std::string name;
  StorageKind kind = StorageKind::parallel;
  bool posix = true;
  bool shared = true;              ///< all nodes see the same files
  Figure<BytesPerSecond> unit;     ///< what one node, gateway or controller gives
  Figure<BytesPerSecond> cluster;  ///< what a cluster of it usually gives at least
  Figure<Bytes> capacity;          ///< up to about
  double write_share = 1;          ///< of the reading rate that writing reaches
  std::string use;                 ///< what it is for
  std::string notes;
  SourceId source;
  Place place;
};

/// How the heat of a rack is taken away, by the heat it can take.
struct CoolingClass {
  std::string id;
  std::string name;
  Watts low, high;     ///< per rack
  double pue_low = 1;  ///< typical of sites cooled so
  double pue_high = 1;
  bool liquid_to_chip = false;
  SourceId source;
  Place place;
  [[nodiscard]] double pue() const { return (pue_low + pue_high) / 2; }
};

struct RackModel {
  std::string id;
  std::string name;
  int units = 48;
  Kilograms load;  ///< static, what it may carry
  Kilograms own;
  Metres width, depth;
  SourceId source;
  Place place;
};

/// A feed of a rack.
struct PowerFeed {
  std::string id;
  std::string name;
  double volts = 0;  ///< line to line
  double amps = 0;
  int phases = 3;
  double continuous = 0.8;  ///< of the breaker's rating that may be drawn for hours
  SourceId source;
  Place place;
  /// What one feed carries for hours.
  [[nodiscard]] Watts usable() const;
};

/// An operating system as host of accelerators.
struct OsRelease {
  std::string id;  ///< "ubuntu-22.04"
  std::string name;
  std::string os;          ///< ID of /etc/os-release
  std::string version;     ///< VERSION_ID, or what it starts with
  std::string kernel;      ///< of its general release: "5.15"
  int driver_minimum = 0;  ///< oldest NVIDIA driver branch that supports it
  std::string cuda;
  std::string container;
  std::string rdma;
  std::string lustre;
  std::string support;
  std::string use;
  std::string notes;
  std::string end_of_support;  ///< ISO date, possibly only year and month
  SourceId source;
  Place place;
};

/// A CUDA toolkit and the drivers it runs with, Linux.
struct CudaRelease {
  std::string id;       ///< "cuda-12.4"
  std::string version;  ///< "12.4"
  std::string native;   ///< the driver it came with: "550.54.14"
  int minimum = 0;      ///< branch from which minor-version compatibility holds
  SourceId source;
  Place place;
};

struct DriverBranch {
  std::string id;  ///< "r535"
  int branch = 0;
  std::string kind;  ///< "long-term", "production", "new feature"
  std::string end_of_life;
  std::string cuda;  ///< newest toolkit it was made for
  SourceId source;
  Place place;
};

enum class Severity : std::uint8_t { note, warning, failure };
[[nodiscard]] std::string_view name(Severity severity);

/// What is expected of a host. Exactly one of the expectations is set.
struct HostRule {
  std::string id;
  std::string area;  ///< "GPU", "network", "kernel", ...
  std::string fact;  ///< which fact of the host, see docs/doctor.md
  std::string when;  ///< a fact that has to be there (and not "no") for the rule to mean anything, or empty
  std::vector<std::string> one_of;
  std::vector<std::string> none_of;
  std::optional<double> at_least, at_most;
  Severity severity = Severity::warning;
  std::string title;
  std::string why;
  std::string fix;
  std::string cost;  ///< likely loss of throughput where known, or empty
  SourceId source;
  Place place;
};

/// Forward error correction of links.
struct ErrorCorrection {
  std::string id;
  std::string name;        ///< the code: "RS(544,514)"
  double errors_left = 0;  ///< wrong bits a bit sent, after it, as it is specified
  SourceId source;
  Place place;
};

/// A system that is larger than a rack: what stands in one.
struct RackShare {
  std::string id;   ///< of the System
  int devices = 0;  ///< in one rack with devices
  int others = 0;   ///< racks of a whole system without devices, for its own network
  SourceId source;
  Place place;
};

struct FacilityData {
  std::vector<RackShare> rack_shares;
  std::vector<ErrorCorrection> corrections;
  std::vector<SwitchModel> switches;
  std::vector<LinkModel> links;
  std::vector<ScaleUpDesign> scale_up;
  std::vector<StorageClass> storage;
  std::vector<CoolingClass> cooling;
  std::vector<RackModel> racks;
  std::vector<PowerFeed> feeds;
  std::vector<OsRelease> systems;
  std::vector<CudaRelease> cuda;
  std::vector<DriverBranch> drivers;
  std::vector<HostRule> rules;

  /// The one with most ports for a fabric; nullptr if there is none.
  [[nodiscard]] const SwitchModel* switch_for(std::string_view fabric) const;
  /// The cheapest link of at least that rate and reach (copper before glass); nullptr if there is none.
  [[nodiscard]] const LinkModel* link_for(BytesPerSecond rate, Metres length) const;
  [[nodiscard]] const LinkModel* link(std::string_view id) const;
  [[nodiscard]] const ErrorCorrection* correction(std::string_view id) const;
  [[nodiscard]] const ScaleUpDesign* scale_up_for(std::string_view fabric, int domain) const;
  /// The class that is made for so much heat per rack: the first whose upper end is not exceeded; nullptr beyond all.
  [[nodiscard]] const CoolingClass* cooling_for(Watts per_rack) const;
  [[nodiscard]] const CoolingClass* cooling_class(std::string_view id) const;
  [[nodiscard]] const StorageClass* storage_class(std::string_view id) const;
  [[nodiscard]] const RackModel* rack(std::string_view id) const;
  /// nullptr for a system that fits into a rack.
  [[nodiscard]] const RackShare* rack_share(std::string_view system) const;
};

/// Reads every *.toml of the directory. Refuses (file:line:column): malformed TOML, an unknown key or table, a figure
/// without unit or source, a duplicate id, what is out of range.
Result<FacilityData> load_facility(const std::string& directory, const Catalogue& catalogue);

/// "550.54.15" against "550.54.9": below 0, 0 or above 0, number by number. Text that is no number counts as 0.
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b);

}  // namespace ridge
