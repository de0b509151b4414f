// A plan as a job of Slurm, and the lines of its configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facility/launch/vendor.hpp"
#include "facility/launch/write.hpp"

namespace ridge::launch {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kForJobs = 0.95;  // of a node's memory; the rest is the system's

std::string host_list(const LaunchPlan& p) {
  const int nodes = p.nodes();
  return nodes == 1 ? "gpu001" : fmt::format("gpu[001-{:03}]", nodes);
}

/// Slurm's type of a generic resource: what stands before a share of a device.
std::string gres_type(const LaunchPlan& p) {
  return p.device.substr(0, p.device.find('/'));
}

std::string slurm_conf(const LaunchPlan& p, const LaunchOptions& o) {
  std::string memory;
  if (o.host_memory > 0) memory = fmt::format(" RealMemory={:.0f}", std::floor(o.host_memory * kForJobs / kMebibyte));
  return fmt::format(
      "# Lines for slurm.conf: {} node{} of {} devices.\n"
      "# CPUs and memory: as `slurmd -C` prints them on a node.\n"
      "GresTypes=gpu\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_Core_Memory\n"
      "TaskPlugin=task/affinity\n"
      "NodeName={} CPUs={}{} Gres=gpu:{}:{} State=UNKNOWN\n"
      "PartitionName={} Nodes={} Default=YES MaxTime=INFINITE OverSubscribe=EXCLUSIVE State=UP\n",
      p.nodes(), p.nodes() == 1 ? "" : "s", p.gpus_per_node, host_list(p), o.cpus_per_node, memory, gres_type(p),
      p.gpus_per_node, o.partition, host_list(p));
}

std::string gres_conf(const LaunchPlan& p) {
  return fmt::format("# Lines for gres.conf, the same on every node.\nNodeName={} Name=gpu Type={} File={}\n",
                     host_list(p), gres_type(p), device_files(p.hardware, p.gpus_per_node));
}

/// A node whose devices are not all there fails the job before anything is loaded.
std::string health(const LaunchPlan& p) {
  const std::string_view tool = p.hardware.count;
  if (tool.empty()) return {};
  return fmt::format(
      "if command -v {0} > /dev/null; then\n"
      "  count=$({1} || true)\n"
      "  ((count >= {2})) || {{ echo \"$(hostname): $count of {2} devices\" >&2; exit 1; }}\n"
      "fi\n",
      tool.substr(0, tool.find(' ')), tool, std::min(p.gpus, p.gpus_per_node));
}

}  // namespace

Result<std::vector<LaunchFile>> slurm_files(const LaunchPlan& p, const LaunchOptions& o) {
  if (p.hardware.files.empty()) {
    return cannot(fmt::format("Slurm has no files for devices of {}: emit for {}", p.vendor, name(p.runner)));
  }
  const Result<std::string> body = payload(p, o, Place::slurm, "");
  if (!body) return body.error();
  const bool spans = spans_nodes(p);
  const bool by_rank = spans && p.runner == LaunchTarget::trtllm;  // MPI: a task for each device
  const int nodes = spans ? per_replica(p) / p.gpus_per_node : p.nodes();
  const int devices = std::min(p.gpus, p.gpus_per_node);
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --partition={}\n"
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --gres=gpu:{}:{}\n"
      "#SBATCH --exclusive\n"
      "#SBATCH --mem=0\n"
      "#SBATCH --time={}\n"
      "#SBATCH --output=%x-%j.log\n",
      job_name(p), o.partition, nodes, by_rank ? p.gpus_per_node : 1, gres_type(p), devices, o.time);
  if (spans && p.replicas > 1) text += fmt::format("#SBATCH --array=0-{}\n", p.replicas - 1);
  if (trains(p.runner)) text += "#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text += "# " + summary(p) + "\n" + remarks(p) + ridge_line(p) + "set -euo pipefail\n\n";
  const std::string image = !o.image.empty() ? o.image : image_of(p);
  text += fmt::format("IMAGE=${{IMAGE:-{}}}  # container of pyxis or apptainer; none: what the nodes have installed\n",
                      image.empty() ? "none" : image);
  if (nodes > 1) {
    text += "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_ADDR\n";
  }
  if (spans && p.replicas > 1) text += "export ENDPOINTS=${ENDPOINTS:-endpoints-$SLURM_ARRAY_TASK_ID.txt}\n";
  // What every node runs: a file of the folder that all of them share, so that containers see it too.
  text += "\nscript=$PWD/.payload-$SLURM_JOB_ID.sh\ntrap 'rm -f \"$script\"' EXIT\ncat > \"$script\" <<'PAYLOAD'\n" +
          health(p) + *body + "PAYLOAD\n\n";
  const std::string gpu_flag = p.hardware.container.empty() ? "" : " " + p.hardware.container;
  text += fmt::format(
      "inside=()\n"
      "start=(bash -euo pipefail \"$script\")\n"
      "if [[ $IMAGE != none ]]; then\n"
      "  cache=${{HF_HOME:-$HOME/.cache/huggingface}}\n"
      "  if srun --help 2>&1 | grep -q -- --container-image; then\n"
      "    [[ ${{IMAGE%%/*}} == *.* ]] && IMAGE=${{IMAGE/\\//#}}  # enroot: REGISTRY#IMAGE\n"
      "    inside=(--container-image=\"$IMAGE\" --container-mounts=\"$PWD:$PWD,$cache:/root/.cache/huggingface\" "
      "--container-workdir=\"$PWD\")\n"
      "  elif command -v apptainer > /dev/null; then\n"
      "    start=(apptainer exec{} --bind \"$PWD,$cache\" \"docker://$IMAGE\" \"${{start[@]}}\")\n"
      "  fi\n"
      "fi\n",
      gpu_flag);
  const std::string run = fmt::format("srun --kill-on-bad-exit=1{} \"${{inside[@]}}\" \"${{start[@]}}\" \"$@\"",
                                      by_rank ? " --mpi=pmix" : "");
  if (trains(p.runner)) {
    text += "code=0\n" + run +
            " || code=$?\n"
            "# It goes on from its last checkpoint, three times at most.\n"
            "if ((code != 0 && ${SLURM_RESTART_COUNT:-0} < 3)); then scontrol requeue \"$SLURM_JOB_ID\"; fi\n"
            "exit \"$code\"\n";
  } else {
    // Slurm takes a task that ends well for done: a server never is.
    text += run + "\necho \"the servers ended\" >&2\nexit 1\n";
  }
  std::vector<LaunchFile> files{
      {"job.sbatch", std::move(text)}, {"slurm.conf", slurm_conf(p, o)}, {"gres.conf", gres_conf(p)}};
  if (!trains(p.runner) && p.replicas > 1 && p.role == PoolRole::both) files.push_back(router_script(p));
  return files;
}

}  // namespace ridge::launch
