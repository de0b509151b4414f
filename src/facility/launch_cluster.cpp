// The same commands as jobs of Slurm and Kubernetes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facility/launch_words.hpp"
#include "facility/launch_write.hpp"

namespace ridge::launch {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kForJobs = 0.95;  // of a node's memory; the rest is the system's

int devices_here(const LaunchPlan& p) {
  return std::min(p.gpus, p.gpus_per_node);
}

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

std::string gres_conf(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string files = p.gpus_per_node == 1 ? (o.amd ? "/dev/dri/renderD128" : "/dev/nvidia0")
                            : o.amd              ? fmt::format("/dev/dri/renderD[128-{}]", 127 + p.gpus_per_node)
                                                 : fmt::format("/dev/nvidia[0-{}]", p.gpus_per_node - 1);
  return fmt::format("# Lines for gres.conf, the same on every node.\nNodeName={} Name=gpu Type={} File={}\n",
                     host_list(p), gres_type(p), files);
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out += std::string(indent) + std::string(text.substr(0, end));
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string quoted_yaml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Image, command and devices of one container, at the given depth.
std::string container(const LaunchPlan& p, const LaunchOptions& o, const std::string& script, std::string_view indent) {
  const std::string_view resource = o.amd ? "amd.com/gpu" : "nvidia.com/gpu";
  std::string out = fmt::format(
      "{0}- name: engine\n"
      "{0}  image: {1}\n"
      "{0}  command: [\"bash\", \"-c\"]\n"
      "{0}  args:\n"
      "{0}    - |\n"
      "{2}",
      indent, quoted_yaml(o.image), indented(script, std::string(indent) + "      "));
  if (p.nodes() > 1)
    out += fmt::format("{0}  envFrom:\n{0}    - configMapRef:\n{0}        name: {1}-nccl\n", indent, job_name(p));
  out += fmt::format("{0}  resources:\n{0}    limits:\n{0}      {1}: {2}\n", indent, resource, devices_here(p));
  if (p.nodes() > 1 && p.network == "infiniband") out += fmt::format("{0}      rdma/rdma_shared_device_a: 1\n", indent);
  out += fmt::format("{0}  volumeMounts:\n{0}    - name: shared-memory\n{0}      mountPath: /dev/shm\n", indent);
  if (!trains(p.runner)) {
    out += fmt::format("{0}  ports:\n{0}    - containerPort: {1}\n", indent,
                       p.runner == LaunchTarget::sglang ? 30000 : 8000);
  }
  return out;
}

std::string shared_memory(std::string_view indent) {
  return fmt::format("{0}volumes:\n{0}  - name: shared-memory\n{0}    emptyDir:\n{0}      medium: Memory\n", indent);
}

Result<std::string> pod_script(const LaunchPlan& p, const LaunchOptions& o, const std::string& master) {
  const Result<std::string> body = payload(p, o, "");
  if (!body) return body.error();
  std::string script = ridge_line(p) + "set -euo pipefail\n";
  if (p.nodes() > 1) script += "export MASTER_ADDR=" + master + "\n";
  return script + *body;
}

std::string selector(const LaunchPlan& p, const LaunchOptions& o, std::string_view indent) {
  // Labels of the feature discovery that comes with the operators.
  return fmt::format("{0}nodeSelector:\n{0}  {1}: \"true\"\n{0}  ridgeline/device: {2}\n", indent,
                     o.amd ? "feature.node.kubernetes.io/amd-gpu" : "nvidia.com/gpu.present",
                     quoted_yaml(gres_type(p)));
}

/// One pod per node, indexed, admitted by Kueue as a whole.
Result<std::string> indexed_job(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string job = job_name(p);
  const Result<std::string> script = pod_script(p, o, fmt::format("{0}-0.{0}", job));
  if (!script) return script.error();
  return fmt::format(
             "apiVersion: v1\nkind: Service\nmetadata:\n  name: {0}\nspec:\n  clusterIP: None\n  "
             "publishNotReadyAddresses: true\n"
             "  selector:\n    job-name: {0}\n---\n"
             "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {0}\n  labels:\n    kueue.x-k8s.io/queue-name: "
             "gpu-jobs\nspec:\n"
             "  suspend: true\n  completionMode: Indexed\n  completions: {1}\n  parallelism: {1}\n  backoffLimit: 0\n  "
             "template:\n"
             "    spec:\n      subdomain: {0}\n      restartPolicy: Never\n",
             job, p.nodes()) +
         selector(p, o, "      ") + "      containers:\n" + container(p, o, *script, "        ") +
         shared_memory("      ");
}

Result<std::string> volcano_job(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string job = job_name(p);
  // The svc plugin names pods JOB-TASK-INDEX under a service of the job's name.
  const Result<std::string> script = pod_script(p, o, fmt::format("{0}-worker-0.{0}", job));
  if (!script) return script.error();
  std::string text = *script;
  if (p.nodes() > 1) {
    const std::string_view strict = "set -euo pipefail\n";
    text.insert(text.find(strict) + strict.size(), "export NODE_RANK=${VC_TASK_INDEX:-0}\n");
  }
  return fmt::format(
             "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: {0}\nspec:\n  minAvailable: {1}\n"
             "  schedulerName: volcano\n  queue: default\n  plugins:\n    env: []\n    svc: []\n  policies:\n    - "
             "event: PodEvicted\n"
             "      action: RestartJob\n  tasks:\n    - name: worker\n      replicas: {1}\n      template:\n        "
             "spec:\n"
             "          restartPolicy: Never\n",
             job, p.nodes()) +
         selector(p, o, "          ") + "          containers:\n" + container(p, o, text, "            ") +
         shared_memory("          ");
}

/// A pod for every replica, behind one service.
Result<std::string> deployment(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string job = job_name(p);
  LaunchPlan one = p;
  one.replicas = 1;
  one.gpus = p.tp * p.pp * p.dp;
  const Result<std::string> body = payload(one, o, "");
  if (!body) return body.error();
  const std::string script = ridge_line(p) + "set -euo pipefail\n" + *body;
  const int port = p.runner == LaunchTarget::sglang ? 30000 : 8000;
  return fmt::format(
             "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {0}\n  labels:\n    app: {0}\n"
             "    kueue.x-k8s.io/queue-name: gpu-jobs\nspec:\n  replicas: {1}\n  selector:\n    matchLabels:\n      "
             "app: {0}\n"
             "  template:\n    metadata:\n      labels:\n        app: {0}\n    spec:\n",
             job, p.replicas) +
         selector(p, o, "      ") + "      containers:\n" + container(one, o, script, "        ") +
         shared_memory("      ") +
         fmt::format(
             "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {0}\nspec:\n  selector:\n    app: {0}\n  ports:\n"
             "    - port: 80\n      targetPort: {1}\n",
             job, port);
}

std::string queues(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string_view resource = o.amd ? "amd.com/gpu" : "nvidia.com/gpu";
  return fmt::format(
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata:\n  name: {0}\nspec:\n  nodeLabels:\n"
      "    ridgeline/device: {1}\n---\n"
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata:\n  name: gpu-cluster\nspec:\n  "
      "namespaceSelector: {{}}\n"
      "  resourceGroups:\n    - coveredResources: [\"{2}\"]\n      flavors:\n        - name: {0}\n          "
      "resources:\n"
      "            - name: {2}\n              nominalQuota: {3}\n---\n"
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata:\n  name: gpu-jobs\n  namespace: default\nspec:\n"
      "  clusterQueue: gpu-cluster\n",
      gres_type(p), quoted_yaml(gres_type(p)), resource, p.gpus);
}

std::string nccl_environment(const LaunchPlan& p) {
  std::string out = fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}-nccl\ndata:\n  NCCL_DEBUG: \"WARN\"\n", job_name(p));
  if (p.network == "infiniband") out += "  NCCL_IB_HCA: \"mlx5\"\n";
  if (p.network == "ethernet") out += "  NCCL_IB_GID_INDEX: \"3\"\n  NCCL_IB_TC: \"106\"\n";
  return out;
}

std::string operator_values(const LaunchPlan& p) {
  const bool rdma = p.nodes() > 1 && !p.network.empty();
  return fmt::format(
      "# Values for the chart of the NVIDIA GPU Operator.\n"
      "driver:\n  enabled: true\n  rdma:\n    enabled: {}\ntoolkit:\n  enabled: true\ndevicePlugin:\n  enabled: true\n"
      "dcgmExporter:\n  enabled: true\nmig:\n  strategy: {}\n",
      rdma ? "true" : "false", p.device.find('/') == std::string::npos ? "none" : "mixed");
}

}  // namespace

Result<std::vector<LaunchFile>> slurm_files(const LaunchPlan& p, const LaunchOptions& o) {
  const Result<std::string> body = payload(p, o, "  ");
  if (!body) return body.error();
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --partition={}\n"
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node=1\n"
      "#SBATCH --gres=gpu:{}:{}\n"
      "#SBATCH --exclusive\n"
      "#SBATCH --output=%x-%j.log\n"
      "# {}\n",
      job_name(p), o.partition, p.nodes(), gres_type(p), devices_here(p), summary(p));
  text += ridge_line(p);
  text += "set -euo pipefail\n\n";
  if (p.nodes() > 1) {
    text += "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_ADDR\n\n";
  }
  text += "payload() {\n" + *body +
          "}\nexport -f payload\nsrun --kill-on-bad-exit=1 bash -euo pipefail -c 'payload \"$@\"' payload \"$@\"\n";
  return std::vector<LaunchFile>{
      {"job.sbatch", std::move(text)}, {"slurm.conf", slurm_conf(p, o)}, {"gres.conf", gres_conf(p, o)}};
}

Result<std::vector<LaunchFile>> kubernetes_files(const LaunchPlan& p, const LaunchOptions& o) {
  std::vector<LaunchFile> files;
  if (trains(p.runner)) {
    Result<std::string> job = indexed_job(p, o);
    if (!job) return job.error();
    Result<std::string> volcano = volcano_job(p, o);
    if (!volcano) return volcano.error();
    files.push_back({"job.yaml", *std::move(job)});
    files.push_back({"volcano.yaml", *std::move(volcano)});
  } else {
    if (p.tp * p.pp * p.dp > p.gpus_per_node) {
      return Error{
          ErrorCode::refused, "",
          fmt::format(
              "a replica of {} devices spans nodes of {}: a Deployment cannot start it as one; emit it for slurm",
              p.tp * p.pp * p.dp, p.gpus_per_node)};
    }
    Result<std::string> serve = deployment(p, o);
    if (!serve) return serve.error();
    files.push_back({"serve.yaml", *std::move(serve)});
  }
  files.push_back({"queue.yaml", queues(p, o)});
  if (p.nodes() > 1) files.push_back({"nccl-environment.yaml", nccl_environment(p)});
  if (!o.amd) files.push_back({"gpu-operator-values.yaml", operator_values(p)});
  return files;
}

}  // namespace ridge::launch
