// Recordings of hosts as TOML, and what to record.
#include <fmt/format.h>

#include "catalogue/files/toml_document.hpp"
#include "ridge/facility/doctor.hpp"

namespace ridge {

namespace {

constexpr std::string_view kSchema = "ridge.facts/1";

constexpr std::string_view kFiles[] = {
    "/etc/os-release",
    "/proc/version",
    "/proc/cmdline",
    "/proc/modules",
    "/proc/mounts",
    "/proc/swaps",
    "/proc/self/limits",
    "/proc/driver/nvidia/version",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/zone_reclaim_mode",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/core/rmem_max",
    "/proc/sys/net/core/wmem_max",
    "/proc/sys/net/core/netdev_budget",
    "/proc/sys/net/ipv4/tcp_rmem",
    "/proc/sys/net/ipv4/tcp_wmem",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/module/intel_idle/parameters/max_cstate",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/devices/system/node/online",
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/infiniband/*/ports/*/rate",
    "/sys/class/infiniband/*/ports/*/link_layer",
    "/sys/class/infiniband/*/fw_ver",
    "/sys/class/net/*/ecn/roce_np/enable/3",
    "/sys/class/net/*/ecn/roce_rp/enable/3",
};

constexpr std::string_view kCommands[] = {
    "nvidia-smi "
    "--query-gpu=index,name,driver_version,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,"
    "pcie.link.width.max,persistence_mode,mig.mode.current,ecc.mode.current,ecc.errors.uncorrected.volatile.total,"
    "clocks_throttle_reasons.hw_slowdown,power.limit,power.default_limit,temperature.gpu,clocks.current.sm,"
    "clocks.max.sm,retired_pages.pending --format=csv,noheader,nounits",
    "nvidia-smi",
    "nvidia-smi nvlink --status",
    "nvidia-smi topo -m",
    "systemctl is-active nvidia-fabricmanager",
    "systemctl is-active nvidia-imex",
    "systemctl is-active nvidia-persistenced",
    "nvcc --version",
    "nvidia-ctk --version",
    "ofed_info -s",
    "mlnx_qos -i {rdma}",
    "timedatectl show",
    "chronyc -n tracking",
    "df -Pk /dev/shm /tmp",
    "dmesg --level=err,crit,alert,emerg",
};

std::string basic_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        // Tools may print anything; TOML takes no control characters and only UTF-8.
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

Error wrong(const std::string& file, std::uint32_t line, std::uint32_t column, std::string message) {
  return {ErrorCode::bad_input, place_text(file, line, column), std::move(message)};
}

}  // namespace

std::span<const std::string_view> recorded_files() {
  return kFiles;
}

std::span<const std::string_view> recorded_commands() {
  return kCommands;
}

std::string recording_text(const HostRecording& r) {
  std::string out = fmt::format(
      "# What ridge doctor --collect saw. Files and tools word for word; a tool that is missing is not here.\n"
      "schema = \"{}\"\nhost = {}\ncollected = {}\n\n[files]\n",
      kSchema, basic_string(r.host), basic_string(r.collected));
  for (const auto& [path, content] : r.files) out += basic_string(path) + " = " + basic_string(content) + "\n";
  out += "\n[tools]\n";
  for (const auto& [command, output] : r.tools) {
    out += fmt::format("{} = {{ status = {}, text = {} }}\n", basic_string(command), output.status,
                       basic_string(output.text));
  }
  return out;
}

Result<HostRecording> parse_recording(std::string_view text, const std::string& file) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  HostRecording r;
  const TomlMember* schema = root->find("schema");
  if (schema == nullptr || schema->value.text != kSchema) {
    return wrong(file, schema == nullptr ? 1 : schema->line, 1,
                 fmt::format("not a facts file: it starts with schema = \"{}\"", kSchema));
  }
  for (const TomlMember& member : root->members) {
    if (member.key == "schema") continue;
    if (member.key == "host" || member.key == "collected") {
      (member.key == "host" ? r.host : r.collected) = member.value.text;
      continue;
    }
    if ((member.key != "files" && member.key != "tools") || member.value.kind != TomlNode::Kind::table) {
      return wrong(
          file, member.line, member.column,
          fmt::format("'{}' is no part of a facts file: there are host, collected, [files] and [tools]", member.key));
    }
    for (const TomlMember& entry : member.value.members) {
      if (member.key == "files") {
        if (entry.value.kind != TomlNode::Kind::text)
          return wrong(file, entry.line, entry.column, "the content of a file is a text");
        r.files[entry.key] = entry.value.text;
        continue;
      }
      const TomlMember* status = entry.value.find("status");
      const TomlMember* output = entry.value.find("text");
      if (status == nullptr || output == nullptr || status->value.kind != TomlNode::Kind::integer ||
          output->value.kind != TomlNode::Kind::text) {
        return wrong(file, entry.line, entry.column, "write { status = 0, text = \"...\" }");
      }
      r.tools[entry.key] = {output->value.text, static_cast<int>(status->value.integer)};
    }
  }
  if (r.host.empty()) r.host = file;
  return r;
}

}  // namespace ridge
