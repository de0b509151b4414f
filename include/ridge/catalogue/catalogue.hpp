// The catalogue: every device, system, fabric, model, engine and price, each figure with its source.
//
//   auto loaded = Catalogue::load({.data_directory = "data", .overlays = {"mine.toml"}});
//   if (!loaded) return loaded.error();                          // "data/devices/h200-sxm.toml:14:13: ..."
//   const Device* h200 = loaded->device("h200-sxm");             // nullptr if there is none
//   loaded->source(h200->memory_bandwidth->source).title;        // where 4.8 TB/s comes from
//
// A Catalogue is immutable once loaded and may be read by any number of threads. Pointers into it live as long as it
// does. A figure that nobody published is an empty optional, never a zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/quantity.hpp"
#include "ridge/base/result.hpp"
#include "ridge/catalogue/model.hpp"

namespace ridge {

/// Position in Catalogue::sources(). Position 0 is what came from the user, not from a file of the catalogue.
struct SourceId {
  std::uint32_t index = 0;
};

/// A value and where it was read.
template <class T>
struct Sourced {
  T value{};
  SourceId source;
};

/// A figure that may be unknown.
template <class T>
using Figure = std::optional<Sourced<T>>;

enum class SourceKind { vendor, paper, measurement, price_list, compilation, estimate };

struct Source {
  std::string id;
  std::string title;
  std::string where;  ///< document, repository@commit:path, or page
  std::string date;   ///< when it was read or published, ISO 8601, possibly only year and month
  SourceKind kind = SourceKind::estimate;
};

/// Where an entry stands in the files, for messages and for `ridge show`.
struct Place {
  std::string file;
  std::uint32_t line = 0;
};

/// Number formats whose dense peak rate a device may have.
enum class PeakFormat : std::uint8_t { fp64, fp64_tensor, fp32, tf32, bf16, fp16, fp8, int8, fp4 };
inline constexpr std::size_t kPeakFormats = 9;
[[nodiscard]] std::string_view name(PeakFormat format);

enum class ScaleUpTopology : std::uint8_t { none, pcie, bridge, switched, mesh, torus };

/// What a design can do beyond its rates, and what its kernels are like. A device has its architecture's.
struct Design {
  bool nvfp4 = false;             ///< computes in NVFP4; what others compute in four bits is the MXFP4 of the OCP
  bool block_scales = false;      ///< tensor cores scale blocks of 32 themselves; larger blocks run as those
  bool widening = false;          ///< tensor cores widen narrow keys and values
  bool switch_reduction = false;  ///< switches between its devices add up on the way
  bool expert_dispatch = false;   ///< there are kernels that send tokens to experts on other devices
  double decode_rows = 16;        ///< of the tiles of attention in decode steps
  double array_side = 1;          ///< of systolic arrays: heads of attention fill multiples of it
  double core_width = 1;          ///< matrix products of a core and clock, over Hopper's
  /// Sparse over dense rate of a format, indexed by PeakFormat; 1 where the design has no structured sparsity.
  std::array<double, kPeakFormats> sparse_over_dense{1, 1, 1, 1, 1, 1, 1, 1, 1};
};

/// What devices of one design generation share: the limit that tells a dense peak from a sparse one, and what
/// calibration and inheritance by rule are keyed on.
struct Architecture {
  std::string id;  ///< "hopper"
  std::string name;
  std::string vendor;
  std::string inherits;  ///< the architecture whose calibration stands in, or empty
  std::string flagship;  ///< the device whose power limit and rate the power of a product is told by, or empty
  /// Of the flagship as the catalogue has it, whatever an overlay says: dense 16-bit FLOP/s for each watt of its limit.
  std::optional<double> flagship_flops_per_watt;
  /// Dense 16-bit rate (bf16, or fp16 before there was bf16) per SM/CU/core and clock: no device of the design is
  /// faster.
  std::optional<double> bf16_flops_per_core_clock;
  /// The highest dense rate of a format relative to that, indexed by PeakFormat.
  std::array<std::optional<double>, kPeakFormats> rate_over_bf16;
  Figure<Hertz> highest_clock;  ///< of any device of the design
  Design design;
  SourceId source;
  Place place;
};

/// Whether a thing can be bought.
enum class Sale : std::uint8_t { shipping, announced, discontinued };
enum class FormFactor : std::uint8_t { sxm, pcie, oam, superchip, tpu, card };
/// What the figures of a device rest on.
enum class Backing : std::uint8_t { primary, secondary, estimate, none };
[[nodiscard]] std::string_view name(Sale status);
[[nodiscard]] std::string_view name(FormFactor form);
[[nodiscard]] std::string_view name(Backing confidence);

/// A hardware partition of a device, e.g. a MIG slice "3g.40gb".
struct Partition {
  std::string name;
  double compute_share = 1;
  double bandwidth_share = 1;
  Bytes memory;
  SourceId source;
};

struct Device {
  std::string id;
  std::string name;
  std::string vendor;
  std::string architecture;  ///< id of an Architecture
  Design design;             ///< its architecture's
  std::string chip;
  std::string process;
  FormFactor form = FormFactor::card;
  Sale status = Sale::shipping;
  Backing confidence = Backing::none;
  std::string notes;
  int year = 0;
  SourceId source;  ///< default of the figures below
  Place place;

  std::array<Figure<FlopsPerSecond>, kPeakFormats> peak_dense;  ///< indexed by PeakFormat; integer formats count OP/s

  std::string memory_kind;
  Figure<Bytes> memory_capacity;  ///< as the vendor names it: "141 GB" on a device that holds 150 GB
  Figure<BytesPerSecond> memory_bandwidth;
  Figure<Bytes> l2;
  Figure<int> cores;  ///< SMs, CUs or what the vendor calls them
  Figure<Hertz> boost_clock;
  Figure<Watts> tdp;
  bool shared_tdp = false;  ///< the limit covers the processor and its memory as well

  std::string scale_up_name;
  ScaleUpTopology scale_up_topology = ScaleUpTopology::none;
  bool staged = false;   ///< cards cannot read each other's memory: what they exchange passes through the host's
  bool bridged = false;  ///< bridges are part of the product: H100 NVL; others come with or without
  Figure<BytesPerSecond> scale_up_per_direction;       ///< all links of one device together, one direction
  Figure<BytesPerSecond> scale_up_peer_per_direction;  ///< what two devices reach between them, one direction
  Figure<int> scale_up_domain;                         ///< devices joined by it
  Figure<int> scale_up_ranks;                          ///< of a collective on one device: cores that each take part
  Figure<int> pcie_generation;
  Figure<BytesPerSecond> nic_per_direction;  ///< scale-out bandwidth per device, one direction
  Figure<int> node_size;                     ///< devices per host
  Figure<int> core_speed;                    ///< of one core of the host, per cent of an x86 server of 2023

  std::vector<Partition> partitions;

  [[nodiscard]] const Figure<FlopsPerSecond>& peak(PeakFormat format) const {
    return peak_dense[static_cast<std::size_t>(format)];
  }
};

enum class FabricKind : std::uint8_t { infiniband, ethernet, nvlink, xgmi, ici, neuronlink, hccs, unified_bus, pcie };
[[nodiscard]] std::string_view name(FabricKind kind);

/// A network or link technology.
struct Fabric {
  std::string id;
  std::string name;
  FabricKind kind = FabricKind::ethernet;
  Sale status = Sale::shipping;
  std::string notes;
  SourceId source;
  Place place;
  Figure<BytesPerSecond> port_per_direction;    ///< one port of an adapter, or one link, in one direction
  Figure<BytesPerSecond> device_per_direction;  ///< all links of one device together; only of scale-up fabrics
  Figure<Seconds> latency;                      ///< end to end, small message
  Figure<int> switch_radix;                     ///< ports of one switch at this rate
  bool in_network_reduction = false;
};

enum class SystemKind : std::uint8_t { node, rack, pod };
enum class Cooling : std::uint8_t { unknown, air, liquid };
[[nodiscard]] std::string_view name(SystemKind kind);
[[nodiscard]] std::string_view name(Cooling cooling);  ///< "" if unknown

/// A server, rack or pod that can be bought.
struct System {
  std::string id;
  std::string name;
  SystemKind kind = SystemKind::node;
  Sale status = Sale::shipping;
  std::string device;
  std::string scale_out;  ///< id of a Fabric, or empty
  std::string scale_up;   ///< id of a Fabric, or empty
  Cooling cooling = Cooling::unknown;
  std::string notes;
  SourceId source;
  Place place;
  int nodes = 1;
  int devices_per_node = 1;
  int scale_up_domain = 1;       ///< devices joined by the scale-up fabric
  std::array<int, 3> torus{};    ///< extents of the torus (1 for a missing dimension), zeros if there is none
  Figure<int> nics_per_node;     ///< ports of the scale-out fabric
  Figure<int> pod;               ///< devices that a network without oversubscription joins
  Figure<int> oversubscription;  ///< ports of a pod over its links to other pods
  Figure<Watts> power_max;       ///< of the whole system
  Figure<Bytes> host_memory;     ///< per node
  Figure<Bytes> local_storage;   ///< per node, without the disks of the operating system
  Figure<Kilograms> weight;      ///< of the whole system
  Figure<int> rack_units;

  [[nodiscard]] int devices() const { return nodes * devices_per_node; }
};

enum class PriceKind : std::uint8_t {
  capex,
  on_demand,
  spot,
  lease_month,
  reserved,
  api,
  electricity,
  colocation,
  other
};

[[nodiscard]] std::string_view name(PriceKind kind);

/// Hours that a price by the month or year is spread over.
inline constexpr double kHoursPerMonth = 730;
inline constexpr double kHoursPerYear = 8760;

/// One price as published. Money is kept in its own currency; `per_gpu_hour` is filled where unit, currency (US dollar)
/// and number of devices allow it. A range keeps its ends and counts as its middle.
struct Price {
  std::string id;
  std::string item;
  PriceKind kind = PriceKind::other;
  std::string provider;
  std::string region;
  std::string device;    ///< catalogue id of what is priced, or empty
  std::string unit;      ///< "GPU-hour", "server-month", "rack", "1M tokens", ...; see docs/data-format.md
  std::string currency;  ///< ISO 4217
  std::string date;      ///< ISO 8601, possibly only year and month; empty only in a user's list that gives none
  std::string notes;
  double amount = 0;  ///< in `currency` per `unit`; never zero
  double low = 0;     ///< of a range; otherwise the amount
  double high = 0;
  int devices = 0;  ///< accelerators in one unit, 0 if that makes no sense
  std::optional<GpuRent> per_gpu_hour;
  SourceId source;
  Place place;
};

/// The source of what the user says on the command line; TOML texts may name it, files bring sources of their own.
inline constexpr std::string_view kOutsideSource = "outside";

/// TOML with any of the catalogue's tables that stands in no file; `name` is what messages call it.
struct OverlayText {
  std::string name;
  std::string text;
};

/// Where to read, in the order in which later files may add to earlier ones.
struct CatalogueFiles {
  std::string data_directory;            ///< holds architectures.toml, sources/, devices/, systems/, fabrics/, ...
  std::vector<std::string> overlays;     ///< users' own TOML files with any of the same tables
  std::vector<std::string> price_lists;  ///< users' own price CSV files (SkyPilot columns or ours)
  std::vector<OverlayText> texts = {};   ///< read after the overlays: what-ifs of one run (ridge/catalogue/what_if.hpp)
};

class Catalogue {
 public:
  /// Reads and checks everything. Refuses, naming file:line:column and the fix: malformed TOML, an unknown key, a
  /// number without its unit, a missing or dangling source, a duplicate id, an implausible or sparse figure.
  static Result<Catalogue> load(const CatalogueFiles& files);

  [[nodiscard]] std::span<const Source> sources() const { return sources_; }
  [[nodiscard]] std::span<const Architecture> architectures() const { return architectures_; }
  [[nodiscard]] std::span<const Device> devices() const { return devices_; }
  [[nodiscard]] std::span<const Fabric> fabrics() const { return fabrics_; }
  [[nodiscard]] std::span<const System> systems() const { return systems_; }
  [[nodiscard]] std::span<const Model> models() const { return models_; }
  [[nodiscard]] std::span<const Price> prices() const { return prices_; }

  [[nodiscard]] const Source& source(SourceId id) const { return sources_[id.index]; }

  /// What was left out on reading and why, one sentence each ("my.csv: 3 rows without a price (lines 4, 9, 12)").
  [[nodiscard]] std::span<const std::string> remarks() const { return remarks_; }

  /// nullptr if there is none of that id.
  [[nodiscard]] const Architecture* architecture(std::string_view id) const;
  [[nodiscard]] const Device* device(std::string_view id) const;
  [[nodiscard]] const Fabric* fabric(std::string_view id) const;
  [[nodiscard]] const System* system(std::string_view id) const;
  [[nodiscard]] const Model* model(std::string_view id) const;

  /// A device by id, or by `id/partition` for a share of one ("h100-sxm/mig-3g.40gb"); not_found names the nearest ids.
  [[nodiscard]] Result<Device> find_device(std::string_view id) const;
  /// A model by catalogue id, path to a config.json, or inline spec ("dense:layers=...").
  [[nodiscard]] Result<Model> find_model(std::string_view id_path_or_spec) const;

 private:
  friend class CatalogueLoader;
  std::vector<Source> sources_;
  std::vector<Architecture> architectures_;
  std::vector<Device> devices_;
  std::vector<Fabric> fabrics_;
  std::vector<System> systems_;
  std::vector<Model> models_;
  std::vector<Price> prices_;
  std::vector<std::string> remarks_;
};

/// What all scale-out ports of one node carry in one direction, or nothing if ports or their rate are unknown.
[[nodiscard]] std::optional<BytesPerSecond> scale_out_per_node(const Catalogue& catalogue, const System& system);

}  // namespace ridge
