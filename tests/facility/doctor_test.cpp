// Hosts: recorded facts of healthy and sick ones, and what is left when tools are missing.
#include "ridge/facility/doctor.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "bundled.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/random.hpp"

namespace ridge {
namespace {

using testing_support::bundle;
using testing_support::facility_data;

HostRecording recording(const std::string& path) {
  const auto text = read_file(path, 1 << 20);
  EXPECT_TRUE(text) << path;
  const auto parsed = parse_recording(text ? *text : "", path);
  EXPECT_TRUE(parsed) << parsed.error().text();
  return parsed ? *parsed : HostRecording{};
}
HostRecording example(const char* name) {
  return recording(std::string(RIDGE_DATA_DIR) + "/facility/examples/" + name + ".facts.toml");
}
HostRecording recorded(const char* name) {
  return recording(std::string(RIDGE_TEST_DIR) + "/facility/recordings/" + name + ".facts.toml");
}

HostDiagnosis judged(const HostRecording& r) {
  return diagnose(r, facility_data());
}

std::set<std::string> broken(const HostDiagnosis& d) {
  std::set<std::string> ids;
  for (const HostFinding& f : d.findings) {
    if (f.outcome == HostOutcome::broken) ids.insert(f.rule->id);
  }
  return ids;
}

TEST(Doctor, AHealthyHostHasNothingWrong) {
  const HostDiagnosis d = judged(example("healthy-dgx-h100"));
  EXPECT_TRUE(broken(d).empty()) << *broken(d).begin();
  EXPECT_GT(d.count(HostOutcome::fine), 35);
  EXPECT_EQ(d.facts.at("gpu.count"), "8");
  EXPECT_EQ(d.facts.at("nvlink.active"), "144");
  EXPECT_EQ(d.facts.at("cuda.compatible"), "native");
  EXPECT_EQ(d.facts.at("rdma.rate"), "400");
  EXPECT_EQ(d.facts.at("files.shared"), "lustre");
}

TEST(Doctor, ASickHostIsFoundOutRuleByRule) {
  const HostDiagnosis d = judged(example("sick-dgx-h100"));
  const std::set<std::string> expected = {
      "driver-for-os", "cuda-compatible", "nouveau",       "persistence",       "ecc",
      "ecc-errors",    "pages-pending",   "pcie-width",    "pcie-generation",   "slowdown",
      "power-limit",   "temperature",     "xid",           "nvlink-active",     "fabric-manager",
      "rdma-up",       "rdma-even",       "rdma-firmware", "peermem",           "gpu-near-adapter",
      "iommu",         "numa-balancing",  "map-count",     "huge-pages",        "governor",
      "locked-memory", "shared-memory",   "shared-files",  "container-toolkit", "time"};
  EXPECT_EQ(broken(d), expected);
  EXPECT_GE(d.count(Severity::failure), 10);
  EXPECT_EQ(d.facts.at("gpu.ecc.uncorrected"), "3");
  EXPECT_EQ(d.facts.at("nvlink.inactive"), "2");
}

TEST(Doctor, RoceWithoutFlowControlFails) {
  const HostDiagnosis d = judged(recorded("roce-without-pfc"));
  EXPECT_EQ(broken(d), (std::set<std::string>{"roce-pfc", "roce-ecn"}));
  EXPECT_EQ(d.facts.at("rdma.layer"), "Ethernet");
}

// 12.x runs on any driver from branch 525 on, 13.x needs 580; "12.5 needs 550" was the guide's own.
TEST(Doctor, CudaRunsOnDriversOfItsMajorRelease) {
  EXPECT_TRUE(broken(judged(recorded("cuda-13-on-535"))).count("cuda-compatible"));
  HostRecording r = recorded("cuda-13-on-535");
  r.tools["nvcc --version"].text = "Cuda compilation tools, release 12.5, V12.5.40\n";
  const HostDiagnosis d = judged(r);
  EXPECT_EQ(d.facts.at("cuda.compatible"), "minor version");
  EXPECT_FALSE(broken(d).count("cuda-compatible"));
  EXPECT_TRUE(broken(d).count("cuda-native"));
}

TEST(Doctor, ARealHostWithOneDeviceIsRead) {
  const HostDiagnosis d = judged(recorded("vm-h200"));
  EXPECT_EQ(d.facts.at("gpu.name"), "NVIDIA H200");
  EXPECT_EQ(d.facts.at("gpu.driver"), "580.159.04");
  EXPECT_EQ(d.facts.at("cuda.driver"), "13.0");
  EXPECT_EQ(d.facts.at("cuda.toolkit"), "13.0");
  EXPECT_EQ(d.facts.at("cuda.compatible"), "native");
  EXPECT_EQ(d.facts.at("gpu.power.limit_percent"), "100");
  EXPECT_EQ(d.facts.at("os.id"), "ubuntu");
  EXPECT_EQ(d.facts.count("nvlink.present"), 0u);
  EXPECT_EQ(d.count(Severity::failure), 0);
}

TEST(Doctor, EveryRuleCanBeBrokenAndCanBeFine) {
  std::set<std::string> seen_broken;
  std::set<std::string> seen_fine;
  std::vector<HostRecording> all = {example("healthy-dgx-h100"), example("sick-dgx-h100"), recorded("roce-without-pfc"),
                                    recorded("cuda-13-on-535"), recorded("vm-h200")};
  // Hosts for the rules that none of these break, or satisfy.
  HostRecording odd = all[0];
  for (auto& [command, output] : odd.tools) {
    if (command.find("--query-gpu") == std::string::npos) continue;
    output.text.replace(output.text.find("H100 80GB HBM3"), 14, "A100-SXM4-80GB");
    output.text.replace(output.text.find("Disabled"), 8, "Enabled");  // MIG of the first device
  }
  odd.tools["nvcc --version"].text = "release 13.0, V13";
  std::string& links = odd.tools["nvidia-smi nvlink --status"].text;
  links.replace(links.find("26.562"), 6, "12.500");
  odd.files["/etc/os-release"] = "ID=templeos\nVERSION_ID=\"5.03\"\n";
  odd.files["/proc/swaps"] = "Filename\n/dev/sda2 partition 8 0 -2\n";
  for (const char* path : {"/proc/sys/net/core/rmem_max", "/proc/sys/net/core/wmem_max"}) odd.files[path] = "212992\n";
  odd.files["/proc/sys/vm/swappiness"] = "60\n";
  odd.files["/proc/sys/vm/zone_reclaim_mode"] = "1\n";
  odd.files["/sys/module/intel_idle/parameters/max_cstate"] = "9\n";
  odd.files["/proc/self/limits"] = "Max open files            1024                 4096                 files\n";
  all.push_back(odd);
  HostRecording old = all[0];
  old.collected = "2030-01-01";  // the operating system's support has ended
  all.push_back(old);
  HostRecording lossless = recorded("roce-without-pfc");
  lossless.tools["mlnx_qos -i rdma0"].text = "PFC configuration:\n\tenabled     0   0   0   1   0   0   0   0\n";
  lossless.files["/sys/class/net/rdma2/ecn/roce_np/enable/3"] = "1\n";
  all.push_back(lossless);
  HostRecording minor = recorded("cuda-13-on-535");
  minor.tools["nvcc --version"].text = "release 12.5, V12.5.40\n";
  all.push_back(minor);
  HostRecording bare;
  bare.host = "bare";
  all.push_back(bare);
  for (const HostRecording& r : all) {
    for (const HostFinding& f : judged(r).findings) {
      if (f.outcome == HostOutcome::broken) seen_broken.insert(f.rule->id);
      if (f.outcome == HostOutcome::fine) seen_fine.insert(f.rule->id);
    }
  }
  for (const HostRule& rule : facility_data().rules) {
    EXPECT_TRUE(seen_broken.count(rule.id)) << rule.id << " is never broken";
    EXPECT_TRUE(seen_fine.count(rule.id)) << rule.id << " is never fine";
    EXPECT_FALSE(rule.why.empty() || rule.fix.empty()) << rule.id;
  }
}

TEST(Doctor, MissingToolsAndFilesAreNeverAFailure) {
  const HostRecording whole = example("healthy-dgx-h100");
  for (const auto& [path, content] : whole.files) {
    HostRecording less = whole;
    less.files.erase(path);
    EXPECT_EQ(judged(less).count(Severity::failure), 0) << path;
  }
  for (const auto& [command, output] : whole.tools) {
    HostRecording less = whole;
    less.tools.erase(command);
    EXPECT_EQ(judged(less).count(Severity::failure), 0) << command;
    less = whole;
    less.tools[command] = {"", -1};  // it ran too long
    EXPECT_EQ(judged(less).count(Severity::failure), 0) << command;
  }
  const HostDiagnosis nothing = judged(HostRecording{});
  EXPECT_EQ(nothing.count(Severity::failure), 0);
  EXPECT_GT(nothing.count(HostOutcome::unseen) + nothing.count(HostOutcome::irrelevant), 30);
}

TEST(Doctor, NonsenseFromToolsIsSurvived) {
  const HostRecording whole = example("sick-dgx-h100");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random draws(seed);
    HostRecording r = whole;
    const auto spoil = [&](std::string& text) {
      if (draws.below(3) == 0) text.resize(draws.below(text.size() + 1));
      for (int i = 0; i < 5 && !text.empty(); ++i) {
        text[draws.below(text.size())] = static_cast<char>(draws.below(256));
      }
    };
    for (auto& [path, content] : r.files) spoil(content);
    for (auto& [command, output] : r.tools) spoil(output.text);
    EXPECT_EQ(judged(r).findings.size(), facility_data().rules.size());
  }
}

TEST(Doctor, RecordingsReadBackAsTheyWere) {
  HostRecording r = example("sick-dgx-h100");
  r.files["/odd \"path\"\\"] = "tab\there, quote \" and \\ and control \x01\n";
  const auto back = parse_recording(recording_text(r), "x.toml");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->host, r.host);
  EXPECT_EQ(back->collected, r.collected);
  EXPECT_EQ(back->files, r.files);
  ASSERT_EQ(back->tools.size(), r.tools.size());
  for (const auto& [command, output] : r.tools) {
    EXPECT_EQ(back->tools.at(command).text, output.text);
    EXPECT_EQ(back->tools.at(command).status, output.status);
  }
}

TEST(Doctor, MalformedFactsAreRefusedWithTheirPlace) {
  EXPECT_EQ(parse_recording("host = \"x\"\n", "f.toml").error().where, "f.toml:1:1");
  EXPECT_NE(parse_recording("schema = \"ridge.facts/1\"\n[filez]\n", "f.toml").error().where.find("f.toml:2"),
            std::string::npos);
  EXPECT_FALSE(parse_recording("schema = \"ridge.facts/1\"\n[tools]\n\"ls\" = \"x\"\n", "f.toml"));
  EXPECT_FALSE(parse_recording("not toml", "f.toml"));
}

TEST(Doctor, HostsThatShouldBeAlikeAreCompared) {
  const std::vector<HostDiagnosis> hosts = {judged(example("healthy-dgx-h100")), judged(example("sick-dgx-h100")),
                                            judged(recorded("cuda-13-on-535"))};
  std::set<std::string> facts;
  for (const FleetDifference& d : compare_hosts(hosts)) {
    facts.insert(d.fact);
    std::size_t count = 0;
    for (const auto& [value, names] : d.hosts) count += names.size();
    EXPECT_EQ(count, 3u) << d.fact;
  }
  EXPECT_TRUE(facts.count("gpu.driver"));
  EXPECT_TRUE(facts.count("cuda.toolkit"));
  EXPECT_FALSE(facts.count("gpu.count"));
  EXPECT_TRUE(compare_hosts(std::span(hosts).first(1)).empty());
}

TEST(FacilityData, MatrixHasTheAuditedSystems) {
  const FacilityData& data = facility_data();
  std::set<std::string> ids;
  for (const OsRelease& os : data.systems) ids.insert(os.id);
  for (const char* id : {"ubuntu-22.04", "ubuntu-24.04", "rhel-9", "rocky-9", "dgx-os-6", "sles-15.5", "debian-12",
                         "flatcar", "bottlerocket"}) {
    EXPECT_TRUE(ids.count(id)) << id;
  }
}

TEST(FacilityData, BadFilesAreRefusedWithTheirPlace) {
  const std::string folder = ::testing::TempDir() + "facility-data";
  const auto refusal = [&](const char* toml) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/x.toml") << toml;
    const auto data = load_facility(folder, bundle().catalogue);
    return data ? std::string() : data.error().text();
  };
  const std::string cooling =
      "[[cooling]]\nid = \"a\"\nname = \"a\"\nlow = \"1 kW\"\nhigh = \"2 kW\"\npue_low = 1.1\npue_high = 1.2\nsource = "
      "\"pue-ranges\"\n";
  EXPECT_EQ(refusal(cooling.c_str()), "");
  EXPECT_NE(refusal((cooling + cooling).c_str()).find("another cooling 'a'"), std::string::npos);
  EXPECT_NE(refusal("[[coolness]]\nid = \"a\"\n").find("x.toml:1"), std::string::npos);
  EXPECT_NE(refusal((cooling + "colour = \"red\"\n").c_str()).find("colour"), std::string::npos);
  EXPECT_NE(refusal("[[rule]]\nid = \"r\"\narea = \"a\"\nfact = \"f\"\nseverity = \"note\"\ntitle = \"t\"\nwhy = "
                    "\"w\"\nfix = \"f\"\nsource = \"pue-ranges\"\n")
                .find("exactly one"),
            std::string::npos);
  EXPECT_FALSE(load_facility(folder + "/nowhere", bundle().catalogue));
}

TEST(FacilityData, VersionsAreComparedNumberByNumber) {
  EXPECT_LT(compare_versions("550.54.9", "550.54.14"), 0);
  EXPECT_EQ(compare_versions("12.4", "12.4"), 0);
  EXPECT_GT(compare_versions("13.0", "12.9"), 0);
  EXPECT_GT(compare_versions("570.26.1", "570.26"), 0);
}

}  // namespace
}  // namespace ridge
