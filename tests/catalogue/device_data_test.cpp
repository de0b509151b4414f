// The bundled devices against known figures, and rules that hold for all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "bundled.hpp"

namespace ridge {
namespace {

using testing_support::bundled;

/// Rows of known_devices.csv (plain numbers and ids, nothing quoted) by column name.
std::vector<std::map<std::string, std::string>> known_devices() {
  std::ifstream file(std::string(RIDGE_TEST_DIR) + "/catalogue/known_devices.csv");
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (header.empty()) {
      header = cells;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells.at(i);
  }
  return rows;
}

/// An empty cell is an unknown figure, any other the value in the column's unit.
template <class T>
void expect_figure(const std::string& cell, const Figure<T>& figure, double unit, const std::string& what) {
  ASSERT_EQ(figure.has_value(), !cell.empty()) << what;
  if (!figure) return;
  double value = 0;
  if constexpr (std::is_same_v<T, int>) {
    value = figure->value;
  } else {
    value = figure->value.value();
  }
  EXPECT_NEAR(value, std::stod(cell) * unit, std::stod(cell) * unit * 1e-12) << what;
}

TEST(BundledDevices, HoldExactlyTheKnownFiguresAndNoOthers) {
  const auto rows = known_devices();
  ASSERT_EQ(rows.size(), 52U);
  for (const auto& row : rows) {
    const std::string& id = row.at("id");
    const Device* device = bundled().device(id);
    ASSERT_NE(device, nullptr) << id;
    EXPECT_EQ(device->year, std::stoi(row.at("year"))) << id;
    const std::pair<PeakFormat, const char*> peaks[] = {
        {PeakFormat::fp64, "fp64_tflops"}, {PeakFormat::fp64_tensor, "fp64_tensor_tflops"},
        {PeakFormat::fp32, "fp32_tflops"}, {PeakFormat::tf32, "tf32_dense"},
        {PeakFormat::bf16, "bf16_dense"},  {PeakFormat::fp16, "fp16_dense"},
        {PeakFormat::fp8, "fp8_dense"},    {PeakFormat::int8, "int8_dense_tops"},
        {PeakFormat::fp4, "fp4_dense"}};
    for (const auto& [format, column] : peaks) {
      expect_figure(row.at(column), device->peak(format), 1e12, id + " " + column);
    }
    const auto expect_column = [&](const auto& figure, const char* column, double unit) {
      expect_figure(row.at(column), figure, unit, id + " " + column);
    };
    expect_column(device->memory_capacity, "mem_gb", 1e9);
    expect_column(device->memory_bandwidth, "mem_bw_gbs", 1e9);
    expect_column(device->l2, "l2_mb", 1e6);
    expect_column(device->cores, "sm_cu", 1);
    expect_column(device->boost_clock, "boost_mhz", 1e6);
    expect_column(device->tdp, "tdp_w", 1);
    expect_column(device->scale_up_per_direction, "scaleup_unidir_gbs", 1e9);
    expect_column(device->scale_up_domain, "scaleup_domain", 1);
    expect_column(device->pcie_generation, "pcie_gen", 1);
    expect_column(device->nic_per_direction, "nic_gbps_per_gpu", 1e9 / 8);
    expect_column(device->node_size, "node_size", 1);
  }
}

/// Calls visit(name, source) for every figure that the device has.
template <class Visit>
void for_each_figure(const Device& d, Visit visit) {
  const auto one = [&](const char* what, const auto& figure) {
    if (figure) visit(d.id + " " + what, figure->source);
  };
  for (std::size_t i = 0; i < kPeakFormats; ++i) one("peak", d.peak_dense[i]);
  one("memory_capacity", d.memory_capacity);
  one("memory_bandwidth", d.memory_bandwidth);
  one("l2", d.l2);
  one("cores", d.cores);
  one("boost_clock", d.boost_clock);
  one("tdp", d.tdp);
  one("scale_up_per_direction", d.scale_up_per_direction);
  one("scale_up_peer_per_direction", d.scale_up_peer_per_direction);
  one("scale_up_domain", d.scale_up_domain);
  one("pcie_generation", d.pcie_generation);
  one("nic_per_direction", d.nic_per_direction);
  one("node_size", d.node_size);
  for (const Partition& partition : d.partitions) visit(d.id + " " + partition.name, partition.source);
}

TEST(BundledDevices, EveryFigureHasASourceWithTitlePlaceAndDate) {
  int figures = 0;
  for (const Device& device : bundled().devices()) {
    for_each_figure(device, [&](const std::string& what, SourceId id) {
      ++figures;
      ASSERT_GT(id.index, 0U) << what;  // 0 is what a user gives
      ASSERT_LT(id.index, bundled().sources().size()) << what;
      const Source& source = bundled().source(id);
      EXPECT_FALSE(source.title.empty() || source.where.empty() || source.date.empty()) << what << ' ' << source.id;
    });
  }
  EXPECT_GT(figures, 800);
}

TEST(BundledDevices, FiguresFromMemoryAreMarkedAsEstimates) {
  int models = 0;
  for (const Source& source : bundled().sources()) {
    for (const char* vague : {"to be confirmed", "general knowledge", "remembered", "recalled"}) {
      EXPECT_EQ((source.id + source.title + source.where).find(vague), std::string::npos) << source.id;
    }
    if (source.title.find("rom memory") == std::string::npos) continue;
    EXPECT_EQ(source.kind, SourceKind::estimate) << source.id;
    EXPECT_NE(source.title.find("2026-11-19"), std::string::npos)
        << source.id << " does not say when it was looked for";
  }
  for (const Model& model : bundled().models())
    models += bundled().sources()[model.source].id == "model-configs-quoted";
  EXPECT_LE(models, 1);  // shapes of which no public copy was found
  EXPECT_EQ(bundled().device("mlu590")->confidence, Backing::none);
}

// peak = cores x clock x rate per core and clock. Cards that accumulate in FP32 at half rate reach 0.5 of it.
TEST(BundledDevices, DensePeaksFollowFromCoresClockAndDesign) {
  int checked = 0;
  for (const Device& device : bundled().devices()) {
    const Architecture* architecture = bundled().architecture(device.architecture);
    ASSERT_NE(architecture, nullptr) << device.id;
    const auto& peak = device.peak(PeakFormat::bf16) ? device.peak(PeakFormat::bf16) : device.peak(PeakFormat::fp16);
    if (!peak || !device.cores || !device.boost_clock || !architecture->bf16_flops_per_core_clock) continue;
    const double limit =
        device.cores->value * device.boost_clock->value.value() * *architecture->bf16_flops_per_core_clock;
    const double share = peak->value.value() / limit;
    // Tensor cores slowed for export to 148 TFLOP/s, all else at its clock.
    const bool cut = device.id.starts_with("h20-") && share > 0.22 && share < 0.25;
    EXPECT_TRUE((share > 0.9 && share < 1.1) || (share > 0.49 && share < 0.52) || cut) << device.id << ' ' << share;
    ++checked;
  }
  EXPECT_GT(checked, 25);
}

TEST(BundledDevices, EveryArchitectureIsUsedAndInheritanceEnds) {
  for (const Architecture& architecture : bundled().architectures()) {
    int devices = 0;
    for (const Device& device : bundled().devices()) devices += device.architecture == architecture.id;
    EXPECT_GT(devices, 0) << architecture.id;
    int steps = 0;
    for (const Architecture* at = &architecture; !at->inherits.empty() && steps < 100; ++steps) {
      at = bundled().architecture(at->inherits);
      ASSERT_NE(at, nullptr) << architecture.id;
    }
    EXPECT_LT(steps, 100) << architecture.id << " inherits from itself";
  }
}

TEST(BundledDevices, OnePeerOfAMeshGetsOneLink) {
  // Seven peers share the links of one device in a full mesh of eight.
  for (const char* id : {"mi300x", "mi325x", "mi350x", "mi355x", "gaudi2", "gaudi3-oam"}) {
    const Device& d = *bundled().device(id);
    ASSERT_TRUE(d.scale_up_per_direction && d.scale_up_peer_per_direction) << id;
    EXPECT_NEAR(d.scale_up_per_direction->value / d.scale_up_peer_per_direction->value, 7, 1e-9) << id;
  }
  for (const char* id : {"h100-sxm", "b200-sxm-180", "gb200-nvl72", "a100-sxm-80"}) {
    const Device& d = *bundled().device(id);
    EXPECT_EQ(d.scale_up_per_direction->value, d.scale_up_peer_per_direction->value) << id;
  }
}

TEST(BundledDevices, PartitionsAreWholeSlices) {
  // Seven compute and eight memory slices; four of each on A30 and RTX PRO 6000.
  int partitions = 0;
  for (const Device& device : bundled().devices()) {
    const bool quarters = device.id == "a30" || device.id.starts_with("rtx-pro");
    for (const Partition& partition : device.partitions) {
      const double compute = partition.compute_share * (quarters ? 4 : 7);
      const double memory = partition.bandwidth_share * (quarters ? 4 : 8);
      EXPECT_NEAR(compute, std::round(compute), 0.001) << device.id << ' ' << partition.name;
      EXPECT_NEAR(memory, std::round(memory), 1e-9) << device.id << ' ' << partition.name;
      EXPECT_NEAR(partition.memory / device.memory_capacity->value, partition.bandwidth_share, 0.01)
          << device.id << ' ' << partition.name;
      ++partitions;
    }
    EXPECT_TRUE(device.partitions.empty() || bundled().find_device(device.id + "/" + device.partitions[0].name).ok());
  }
  EXPECT_GT(partitions, 60);
}

TEST(BundledDevices, FilesAreNamedAfterTheirDevice) {
  for (const Device& device : bundled().devices()) {
    EXPECT_EQ(std::filesystem::path(device.place.file).filename(), device.id + ".toml");
  }
}

TEST(BundledCatalogue, SpeaksOnlyOfItself) {
  const auto expect_clean = [](const std::string& id, const std::string& text) {
    for (const char* word : {"/work", "../", "shared/", "seed 0", " session", "TODO"}) {
      EXPECT_EQ(text.find(word), std::string::npos) << id << ": " << text;
    }
  };
  for (const Device& device : bundled().devices()) expect_clean(device.id, device.notes);
  for (const Source& source : bundled().sources()) {
    expect_clean(source.id, source.title);
    expect_clean(source.id, source.where);
  }
}

}  // namespace
}  // namespace ridge
