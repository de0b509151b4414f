// From what files and tools said to named facts.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>

#include "ridge/base/letters.hpp"
#include "ridge/facility/doctor.hpp"

namespace ridge {

namespace {

/// Without blanks and quotation marks at either end.
std::string_view bare(std::string_view text) {
  return trimmed(text, " \t\r\n\"");
}

std::vector<std::string_view> pieces(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = std::min(text.find(by), text.size());
    parts.push_back(bare(text.substr(0, at)));
    if (at == text.size()) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<double> number(std::string_view text) {
  const std::string copy(bare(text));
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str()) return {};
  return value;
}

std::string shown(double value) {
  return fmt::format("{:g}", value);
}

/// The word after `key` in a text of lines or words: "CUDA Version: 12.4".
std::string after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + key.size());
  while (!rest.empty() && (rest[0] == ' ' || rest[0] == ':' || rest[0] == '=')) rest.remove_prefix(1);
  return std::string(trimmed(rest.substr(0, rest.find_first_of(" \n|,\t"))));
}

bool matches(std::string_view path, std::string_view start, std::string_view end) {
  return path.starts_with(start) && path.ends_with(end) && path.size() > start.size() + end.size();
}

class Finder {
 public:
  Finder(const HostRecording& recording, const FacilityData& data) : r_(recording), data_(data) {}

  HostFacts run() {
    system();
    gpus();
    nvlink();
    cuda();
    network();
    kernel();
    processor();
    host();
    return std::move(facts_);
  }

 private:
  void set(const char* fact, std::string value) { facts_[fact] = std::move(value); }
  [[nodiscard]] std::string get(std::string_view fact) const {
    const auto at = facts_.find(fact);
    return at == facts_.end() ? std::string() : at->second;
  }
  [[nodiscard]] const std::string* file(const std::string& path) const {
    const auto at = r_.files.find(path);
    return at == r_.files.end() ? nullptr : &at->second;
  }
  /// What a tool printed, if it ran and said it was fine.
  [[nodiscard]] const std::string* tool(std::string_view start, bool any_status = false) const {
    for (const auto& [command, output] : r_.tools) {
      if (std::string_view(command).substr(0, start.size()) != start) continue;
      if (start == "nvidia-smi" && command != "nvidia-smi") continue;
      if (output.status == 0 || (any_status && output.status > 0)) return &output.text;
    }
    return nullptr;
  }

  void system() {
    if (const std::string* release = file("/etc/os-release")) {
      std::string version;
      for (const std::string_view line : pieces(*release, '\n')) {
        if (line.starts_with("ID=")) set("os.id", std::string(bare(line.substr(3))));
        if (line.starts_with("VERSION_ID=")) version = std::string(bare(line.substr(11)));
      }
      set("os.version", version);
      const OsRelease* known = nullptr;
      for (const OsRelease& os : data_.systems) {
        if (os.os == get("os.id") &&
            (os.version == version || os.version == "any" || version.rfind(os.version + ".", 0) == 0))
          known = &os;
      }
      set("os.known", known == nullptr ? "no" : "yes");
      if (known != nullptr) {
        set("os.name", known->name);
        os_driver_ = known->driver_minimum;
        if (!known->end_of_support.empty() && !r_.collected.empty()) {
          set("os.supported",
              known->end_of_support >= r_.collected.substr(0, known->end_of_support.size()) ? "yes" : "no");
        }
      }
    }
    if (const std::string* release = file("/proc/sys/kernel/osrelease"))
      set("kernel.release", std::string(bare(*release)));
  }

  void gpus() {
    const std::string* csv = tool("nvidia-smi --query-gpu");
    set("gpu.present", csv != nullptr && !bare(*csv).empty() ? "yes" : "no");
    if (get("gpu.present") == "no") return;
    std::set<std::string_view> names;
    std::set<std::string_view> drivers;
    int count = 0;
    bool persistence = true;
    bool ecc = true;
    bool mig = false;
    bool slow = false;
    bool pending = false;
    double uncorrected = 0;
    double hottest = 0;
    double cap = 1e9;
    double width_lost = 0;
    double generation_lost = 0;
    bool ecc_known = false;
    for (const std::string_view line : pieces(*csv, '\n')) {
      const auto f = pieces(line, ',');
      if (f.size() < 18) continue;
      ++count;
      names.insert(f[1]);
      drivers.insert(f[2]);
      const auto lost = [](std::string_view now, std::string_view most) {
        const auto a = number(now);
        const auto b = number(most);
        return a && b ? std::max(0.0, *b - *a) : 0.0;
      };
      generation_lost = std::max(generation_lost, lost(f[3], f[4]));
      width_lost = std::max(width_lost, lost(f[5], f[6]));
      persistence = persistence && f[7] == "Enabled";
      mig = mig || f[8] == "Enabled";
      if (f[9] == "Enabled" || f[9] == "Disabled") {
        ecc_known = true;
        ecc = ecc && f[9] == "Enabled";
      }
      uncorrected += number(f[10]).value_or(0);
      slow = slow || f[11] == "Active";
      if (const auto limit = number(f[12]), usual = number(f[13]); limit && usual && *usual > 0)
        cap = std::min(cap, 100 * *limit / *usual);
      hottest = std::max(hottest, number(f[14]).value_or(0));
      pending = pending || f[17] == "Yes" || number(f[17]).value_or(0) > 0;
    }
    set("gpu.count", std::to_string(count));
    set("gpu.kinds", std::to_string(names.size()));
    if (!names.empty()) set("gpu.name", std::string(*names.begin()));
    if (!drivers.empty()) set("gpu.driver", std::string(*drivers.begin()));
    set("gpu.persistence", persistence ? "on" : "off");
    set("gpu.mig", mig ? "on" : "off");
    if (ecc_known) set("gpu.ecc", ecc ? "on" : "off");
    set("gpu.ecc.uncorrected", shown(uncorrected));
    set("gpu.pages.pending", pending ? "yes" : "no");
    set("gpu.slowdown", slow ? "yes" : "no");
    set("gpu.pcie.width.lost", shown(width_lost));
    set("gpu.pcie.generation.lost", shown(generation_lost));
    if (cap < 1e9) set("gpu.power.limit_percent", shown(cap));
    if (hottest > 0) set("gpu.temperature", shown(hottest));
    driver();
  }

  void driver() {
    const std::string driver = get("gpu.driver");
    if (driver.empty()) return;
    const int branch = std::atoi(driver.c_str());
    set("gpu.driver.branch", std::to_string(branch));
    if (os_driver_ > 0) set("os.driver", branch >= os_driver_ ? "supported" : "too old");
    for (const DriverBranch& known : data_.drivers) {
      if (known.branch != branch || known.end_of_life.empty() || r_.collected.empty()) continue;
      set("gpu.driver.supported", known.end_of_life >= r_.collected.substr(0, known.end_of_life.size()) ? "yes" : "no");
    }
  }

  void nvlink() {
    const std::string* text = tool("nvidia-smi nvlink");
    if (text == nullptr) return;
    int active = 0;
    int inactive = 0;
    double slowest = 1e9;
    double fastest = 0;
    for (const std::string_view line : pieces(*text, '\n')) {
      if (!line.starts_with("Link ")) continue;
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view value = bare(line.substr(colon + 1));
      if (value.find("inactive") != std::string_view::npos) {
        ++inactive;
      } else if (const auto rate = number(value)) {
        ++active;
        slowest = std::min(slowest, *rate);
        fastest = std::max(fastest, *rate);
      }
    }
    if (active + inactive == 0) return;
    set("nvlink.present", "yes");
    set("nvlink.active", std::to_string(active));
    set("nvlink.inactive", std::to_string(inactive));
    if (active > 0) set("nvlink.uneven", slowest < 0.99 * fastest ? "yes" : "no");
    // Eight or more devices with NVLink are joined by switches, which need their manager.
    if (number(get("gpu.count")).value_or(0) >= 8) {
      set("nvswitch.present", "yes");
      const std::string* manager = tool("systemctl is-active nvidia-fabricmanager", true);
      if (manager != nullptr) set("nvswitch.manager", std::string(bare(*manager)));
      const std::string* imex = tool("systemctl is-active nvidia-imex", true);
      if (imex != nullptr) set("nvswitch.imex", std::string(bare(*imex)));
    }
  }

  void cuda() {
    if (const std::string* smi = tool("nvidia-smi")) {
      if (const std::string version = after(*smi, "CUDA Version:"); !version.empty()) set("cuda.driver", version);
    }
    const std::string* nvcc = tool("nvcc");
    if (nvcc == nullptr) return;
    const std::string toolkit = after(*nvcc, "release");
    if (toolkit.empty()) return;
    set("cuda.toolkit", toolkit);
    const std::string driver = get("gpu.driver");
    if (driver.empty()) return;
    for (const CudaRelease& release : data_.cuda) {
      if (release.version != toolkit) continue;
      set("cuda.compatible", compare_versions(driver, release.native) >= 0  ? "native"
                             : std::atoi(driver.c_str()) >= release.minimum ? "minor version"
                                                                            : "no");
    }
  }

  void network() {
    int ports = 0;
    int down = 0;
    double slowest = 1e9;
    double fastest = 0;
    std::set<std::string_view> layers;
    std::set<std::string_view> firmware;
    int ecn = 0;
    int ecn_on = 0;
    for (const auto& [path, content] : r_.files) {
      if (matches(path, "/sys/class/infiniband/", "/state")) {
        ++ports;
        if (content.find("ACTIVE") == std::string::npos) ++down;
      } else if (matches(path, "/sys/class/infiniband/", "/rate")) {
        if (const auto rate = number(content)) {
          slowest = std::min(slowest, *rate);
          fastest = std::max(fastest, *rate);
        }
      } else if (matches(path, "/sys/class/infiniband/", "/link_layer")) {
        layers.insert(bare(content));
      } else if (matches(path, "/sys/class/infiniband/", "/fw_ver")) {
        firmware.insert(bare(content));
      } else if (matches(path, "/sys/class/net/", "/ecn/roce_np/enable/3")) {
        ++ecn;
        ecn_on += bare(content) == "1" ? 1 : 0;
      }
    }
    set("rdma.present", ports > 0 ? "yes" : "no");
    if (ports == 0) return;
    set("rdma.ports", std::to_string(ports));
    set("rdma.ports.down", std::to_string(down));
    if (fastest > 0) {
      set("rdma.rate", shown(fastest));
      set("rdma.uneven", slowest < 0.99 * fastest ? "yes" : "no");
    }
    if (!firmware.empty()) set("rdma.firmware.versions", std::to_string(firmware.size()));
    const bool ethernet = layers.count("Ethernet") > 0;
    if (!layers.empty()) set("rdma.layer", ethernet ? (layers.size() > 1 ? "both" : "Ethernet") : "InfiniBand");
    if (ethernet) {
      set("roce.present", "yes");
      if (ecn > 0) set("roce.ecn", ecn_on == ecn ? "on" : "off");
      if (const std::string* qos = tool("mlnx_qos")) {
        // "PFC configuration: ... enabled 0 0 0 1 0 0 0 0"
        const std::size_t at = qos->find("enabled");
        if (at != std::string::npos) {
          const std::string_view row = std::string_view(*qos).substr(at + 7, qos->find('\n', at) - at - 7);
          set("roce.pfc", row.find('1') != std::string_view::npos ? "on" : "off");
        }
      }
    }
    if (const std::string* ofed = tool("ofed_info")) set("rdma.ofed", std::string(bare(*ofed)));
    if (get("gpu.present") == "yes") set("rdma.gpu", "yes");
    far_devices();
  }

  /// Devices none of whose adapters is closer than the link between processors.
  void far_devices() {
    const std::string* topo = tool("nvidia-smi topo");
    if (topo == nullptr) return;
    int far = 0;
    int seen = 0;
    std::vector<std::string_view> head;
    for (const std::string_view line : pieces(*topo, '\n')) {
      std::vector<std::string_view> words;
      for (const std::string_view word : pieces(line, '\t')) {
        if (!word.empty()) words.push_back(word);
      }
      if (words.empty()) continue;
      if (head.empty()) {
        head = words;
        continue;
      }
      if (!words[0].starts_with("GPU")) continue;
      bool near = false;
      bool any = false;
      for (std::size_t i = 1; i < words.size() && i <= head.size(); ++i) {
        const std::string_view of = head[i - 1];
        if (!of.starts_with("NIC") && !of.starts_with("mlx")) continue;
        any = true;
        near = near || words[i] == "PIX" || words[i] == "PXB" || words[i] == "PHB" || words[i] == "NODE";
      }
      if (!any) continue;
      ++seen;
      far += near ? 0 : 1;
    }
    if (seen > 0) set("topology.far_gpus", std::to_string(far));
  }

  void kernel() {
    constexpr std::string_view kRoot = "/proc/sys/";
    for (const auto& [path, content] : r_.files) {
      if (!path.starts_with(kRoot) || path == "/proc/sys/kernel/osrelease") continue;
      std::string fact = "sysctl." + path.substr(kRoot.size());
      std::replace(fact.begin(), fact.end(), '/', '.');
      // Of three values (least, usual, most) the last one limits.
      std::string value(bare(content));
      if (const std::size_t last = value.find_last_of(" \t"); last != std::string::npos) value = value.substr(last + 1);
      facts_[fact] = value;
    }
    if (const std::string* modules = file("/proc/modules")) {
      const std::string lines = "\n" + *modules;
      set("module.nouveau", lines.find("\nnouveau ") != std::string::npos ? "loaded" : "no");
      set("module.nvidia_peermem", lines.find("\nnvidia_peermem ") != std::string::npos ? "loaded" : "no");
    }
    if (const std::string* cmdline = file("/proc/cmdline")) {
      set("iommu", cmdline->find("iommu=pt") != std::string::npos    ? "pass-through"
                   : cmdline->find("iommu=off") != std::string::npos ? "off"
                   : cmdline->find("iommu=on") != std::string::npos  ? "on"
                                                                     : "usual");
    }
    if (const std::string* thp = file("/sys/kernel/mm/transparent_hugepage/enabled")) {
      const std::size_t open = thp->find('[');
      const std::size_t close = thp->find(']');
      if (open != std::string::npos && close != std::string::npos && close > open)
        set("thp", thp->substr(open + 1, close - open - 1));
    }
    if (const std::string* errors = tool("dmesg")) {
      int xid = 0;
      for (std::size_t at = errors->find("NVRM: Xid"); at != std::string::npos; at = errors->find("NVRM: Xid", at + 1))
        ++xid;
      set("kernel.xid", std::to_string(xid));
    }
  }

  void processor() {
    if (const std::string* governor = file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
      set("cpu.governor", std::string(bare(*governor)));
    if (const std::string* state = file("/sys/module/intel_idle/parameters/max_cstate"))
      set("cpu.max_cstate", std::string(bare(*state)));
    if (const std::string* nodes = file("/sys/devices/system/node/online")) {
      const std::size_t dash = nodes->find('-');
      set("numa.nodes", std::to_string(dash == std::string::npos ? 1 : std::atoi(nodes->c_str() + dash + 1) + 1));
    }
  }

  void host() {
    if (const std::string* toolkit = tool("nvidia-ctk")) {
      set("container.toolkit", after(*toolkit, "version"));
    } else if (get("gpu.present") == "yes") {
      set("container.toolkit", "missing");
    }
    if (const std::string* mounts = file("/proc/mounts")) {
      std::string shared = "none";
      for (const std::string_view line : pieces(*mounts, '\n')) {
        const auto words = pieces(line, ' ');
        if (words.size() < 3) continue;
        for (const std::string_view kind : {"lustre", "gpfs", "wekafs", "beegfs", "ceph", "nfs4", "nfs"}) {
          if (words[2] == kind && (shared == "none" || shared == "nfs" || shared == "nfs4")) shared = std::string(kind);
        }
      }
      set("files.shared", shared);
    }
    if (const std::string* df = tool("df ")) {
      for (const std::string_view line : pieces(*df, '\n')) {
        std::vector<std::string_view> words;
        for (const std::string_view word : pieces(line, ' ')) {
          if (!word.empty()) words.push_back(word);
        }
        if (words.size() < 6 || !number(words[3])) continue;
        if (!line.ends_with("/dev/shm")) {
          set("files.free_gigabytes", shown(number(words[3]).value_or(0) * 1024 / 1e9));
          continue;
        }
        set("files.shm_gigabytes", shown(number(words[1]).value_or(0) * 1024 / 1e9));
      }
    }
    if (const std::string* limits = file("/proc/self/limits")) {
      for (const std::string_view line : pieces(*limits, '\n')) {
        const auto soft = [&](std::string_view title, const char* fact) {
          if (!line.starts_with(title)) return;
          const std::string_view rest = trimmed(line.substr(title.size()));
          set(fact, std::string(rest.substr(0, rest.find(' '))));
        };
        soft("Max locked memory", "limit.locked_memory");
        soft("Max open files", "limit.open_files");
      }
    }
    if (const std::string* swaps = file("/proc/swaps")) {
      set("swap", pieces(bare(*swaps), '\n').size() > 1 ? "on" : "off");
    }
    if (const std::string* time = tool("timedatectl")) {
      if (const std::string synchronised = after(*time, "NTPSynchronized"); !synchronised.empty())
        set("time.synchronised", synchronised);
    } else if (const std::string* chrony = tool("chronyc")) {
      set("time.synchronised", chrony->find("Not synchronised") == std::string::npos ? "yes" : "no");
    }
  }

  const HostRecording& r_;
  const FacilityData& data_;
  HostFacts facts_;
  int os_driver_ = 0;
};

}  // namespace

HostFacts host_facts(const HostRecording& recording, const FacilityData& data) {
  return Finder(recording, data).run();
}

}  // namespace ridge
