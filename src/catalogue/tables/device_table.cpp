// [[device]]: the keys, what is plausible for them, and the check that a peak is not a sparse one.
#include <fmt/format.h>

#include <algorithm>

#include "catalogue/files/words.hpp"
#include "catalogue/tables/tables.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr FlopsPerSecond teraflops_per_second(double value) {
  return FlopsPerSecond(value * 1e12);
}

// A published dense peak may lie up to a tenth above cores times the clock that shipped (Gaudi 3: 9 %); a sparse one
// lies at twice of it.
constexpr double kPeakTolerance = 1.15;

/// Matrix formats have no device below 5 TFLOP/s, vector ones do.
FlopsPerSecond lowest_peak(PeakFormat format) {
  const bool vector = format == PeakFormat::fp64 || format == PeakFormat::fp64_tensor || format == PeakFormat::fp32;
  return teraflops_per_second(vector ? 0.05 : 5);
}

/// The highest dense rate the design allows and how it follows, or nothing if too little is known.
struct PeakLimit {
  FlopsPerSecond rate;
  std::string because;
};

std::optional<PeakLimit> peak_limit(const Device& device, const Architecture& architecture, PeakFormat format) {
  const bool sixteen_bit = format == PeakFormat::bf16 || format == PeakFormat::fp16;
  const std::optional<double> own_ratio = architecture.rate_over_bf16[static_cast<std::size_t>(format)];
  if (!own_ratio && !sixteen_bit) return std::nullopt;
  const double ratio = own_ratio.value_or(1);
  const Figure<Hertz>& clock = device.boost_clock ? device.boost_clock : architecture.highest_clock;
  if (architecture.bf16_flops_per_core_clock && device.cores && clock) {
    const double per_clock = *architecture.bf16_flops_per_core_clock * ratio;
    return PeakLimit{
        FlopsPerSecond(per_clock * device.cores->value * clock->value.value()),
        fmt::format("{} does {} {} per core and clock, times {} cores at {}", architecture.name,
                    format_number(per_clock, 6), name(format), device.cores->value, written(clock->value))};
  }
  const Figure<FlopsPerSecond>& bf16 = device.peak(PeakFormat::bf16);
  if (format != PeakFormat::bf16 && bf16) {
    return PeakLimit{bf16->value * ratio,
                     fmt::format("{} does {} at {} times the bf16 rate", architecture.name, name(format), ratio)};
  }
  return std::nullopt;
}

void refuse_sparse_peaks(TableReader& peaks, const Device& device, std::span<const Architecture> architectures) {
  const auto architecture = std::find_if(architectures.begin(), architectures.end(),
                                         [&](const Architecture& a) { return a.id == device.architecture; });
  if (architecture == architectures.end()) return;  // refused as a dangling reference after loading
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    const auto format = static_cast<PeakFormat>(i);
    const Figure<FlopsPerSecond>& peak = device.peak(format);
    if (!peak) continue;
    const std::optional<PeakLimit> limit = peak_limit(device, *architecture, format);
    if (!limit || peak->value <= limit->rate * kPeakTolerance) continue;
    peaks.refuse(name(format),
                 fmt::format("{} looks like the sparse figure; dense would be about {} ({})", written(peak->value),
                             written(std::min(peak->value * 0.5, limit->rate)), limit->because));
  }
}

void read_scale_up(TableReader t, Device& device) {
  device.scale_up_name = t.optional_text("name");
  device.scale_up_topology = t.optional_choice<ScaleUpTopology>("topology", ScaleUpTopology::none,
                                                                {{"none", ScaleUpTopology::none},
                                                                 {"pcie", ScaleUpTopology::pcie},
                                                                 {"bridge", ScaleUpTopology::bridge},
                                                                 {"switched", ScaleUpTopology::switched},
                                                                 {"mesh", ScaleUpTopology::mesh},
                                                                 {"torus", ScaleUpTopology::torus}});
  device.bridged = t.flag("bridged");
  device.staged = t.flag("staged");
  if (device.bridged && device.scale_up_topology != ScaleUpTopology::bridge) {
    t.refuse("bridged", "only devices whose topology is \"bridge\" are");
  }
  const BytesPerSecond low = gigabytes_per_second(1);
  const BytesPerSecond high = gigabytes_per_second(20'000);
  device.scale_up_per_direction = t.figure<BytesPerSecond>("per_direction", low, high);
  device.scale_up_peer_per_direction = t.figure<BytesPerSecond>("peer_per_direction", low, high);
  device.scale_up_domain = t.figure_integer("domain", 1, 100'000);
  device.scale_up_ranks = t.figure_integer("ranks", 1, 64);
  if (device.scale_up_per_direction && device.scale_up_peer_per_direction &&
      device.scale_up_peer_per_direction->value > device.scale_up_per_direction->value) {
    t.refuse("peer_per_direction", "two devices cannot reach more than all links of one: check which figure is which");
  }
}

void read_partitions(TableReader& t, Device& device) {
  for (TableReader part : t.tables("partition")) {
    Partition partition;
    partition.name = part.text("name");
    partition.compute_share = part.number("compute_share", 0.001, 1);
    partition.bandwidth_share = part.number("bandwidth_share", 0.001, 1);
    partition.memory = part.quantity<Bytes>("memory", gigabytes(0.5), gigabytes(4'000));
    partition.source = part.source();
    if (!is_valid_id(partition.name)) part.refuse("name", "lower case letters, digits, '.' and '-' only");
    if (device.memory_capacity && partition.memory > device.memory_capacity->value) {
      part.refuse("memory", fmt::format("more than the device has ({})", written(device.memory_capacity->value)));
    }
    const bool taken = std::any_of(device.partitions.begin(), device.partitions.end(),
                                   [&](const Partition& other) { return other.name == partition.name; });
    if (taken) part.refuse("name", fmt::format("there are two partitions {}", ridge::quoted(partition.name)));
    device.partitions.push_back(std::move(partition));
  }
}

constexpr std::string_view kForms[] = {"sxm", "pcie", "oam", "superchip", "tpu", "card"};
constexpr std::string_view kConfidences[] = {"primary", "secondary", "estimate", "none"};

}  // namespace

std::string_view name(Sale status) {
  return kSales[static_cast<std::size_t>(status)];
}
std::string_view name(FormFactor form) {
  return kForms[static_cast<std::size_t>(form)];
}
std::string_view name(Backing confidence) {
  return kConfidences[static_cast<std::size_t>(confidence)];
}

Device read_device(TableReader t, std::span<const Architecture> architectures) {
  Device device;
  device.id = t.id();
  device.name = t.text("name");
  device.vendor = t.text("vendor");
  t.require("architecture");
  device.architecture = t.reference("architecture", "architecture");
  for (const Architecture& a : architectures) {
    if (a.id == device.architecture) device.design = a.design;
  }
  device.chip = t.optional_text("chip");
  device.process = t.optional_text("process");
  device.form = enumerator<FormFactor>(t, "form", kForms);
  device.status = sale(t);
  device.confidence = enumerator<Backing>(t, "confidence", kConfidences);
  device.notes = t.optional_text("notes");
  device.year = t.integer("year", 2010, 2040);
  device.source = t.source();
  device.place = t.place();

  if (t.has("peak_sparse")) {
    t.refuse(
        "peak_sparse",
        "sparse peaks are not kept, no dense matrix reaches them: halve them (1:2 sparsity) into [device.peak_dense]");
  }
  TableReader peaks = t.table("peak_dense");
  for (std::size_t i = 0; i < kPeakFormats; ++i) {
    const auto format = static_cast<PeakFormat>(i);
    device.peak_dense[i] =
        peaks.figure<FlopsPerSecond>(name(format), lowest_peak(format), teraflops_per_second(100'000));
  }

  TableReader memory = t.table("memory");
  device.memory_kind = memory.optional_text("kind");
  device.memory_capacity = memory.figure<Bytes>("capacity", gigabytes(1), gigabytes(4'000));
  if (memory.has("usable")) {
    memory.refuse("usable",
                  "what programs find of the capacity is taken to be the same share of every board: leave it out");
  }
  device.memory_bandwidth =
      memory.figure<BytesPerSecond>("bandwidth", gigabytes_per_second(50), gigabytes_per_second(50'000));
  device.l2 = memory.figure<Bytes>("l2", gigabytes(0.0005), gigabytes(4));

  TableReader cores = t.table("cores");
  device.cores = cores.figure_integer("count", 1, 1'000'000);
  device.boost_clock = cores.figure<Hertz>("boost_clock", Hertz(3e8), Hertz(5e9));
  TableReader power = t.table("power");
  device.tdp = power.figure<Watts>("tdp", watts(2), watts(30'000));
  device.shared_tdp = power.flag("shared");
  read_scale_up(t.table("scale_up"), device);

  TableReader host = t.table("host");
  device.pcie_generation = host.figure_integer("pcie_generation", 1, 9);
  device.nic_per_direction =
      host.figure<BytesPerSecond>("nic_per_direction", gigabytes_per_second(0.1), gigabytes_per_second(2'000));
  device.node_size = host.figure_integer("node_size", 1, 1024);
  device.core_speed = host.figure_integer("core_speed", 5, 400);

  read_partitions(t, device);
  if (!t.failed()) refuse_sparse_peaks(peaks, device, architectures);
  return device;
}

}  // namespace ridge
