#include "facility/launch/cluster/pod.hpp"

#include "facility/launch/vendor.hpp"

namespace ridge::launch {

namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr int kCoresPerDevice = 8;
constexpr int kGibibytesPerDevice = 96;
constexpr std::string_view kRdma = "rdma/rdma_shared_device_a";  // as the shared device plugin's documentation names it

bool uses_rdma(const LaunchPlan& p) {
  return p.nodes() > 1 && p.network == "infiniband" && (trains(p.runner) || spans_nodes(p));
}

void probes(Yaml& y, const LaunchPlan& p, int depth) {
  // Weights of hundreds of gigabytes take their time: an hour to start, then half a minute to notice.
  struct Probe {
    const char* name;
    int period, failures;
  };
  for (const Probe& probe :
       {Probe{"startupProbe", 10, 360}, Probe{"readinessProbe", 5, 3}, Probe{"livenessProbe", 10, 3}}) {
    y.line(depth, "{}:", probe.name).line(depth + 1, "httpGet:").line(depth + 2, "path: /health");
    y.line(depth + 2, "port: {}", port_of(p));
    y.line(depth + 1, "periodSeconds: {}", probe.period).line(depth + 1, "failureThreshold: {}", probe.failures);
    y.line(depth + 1, "timeoutSeconds: 5");
  }
}

void environment(Yaml& y, const LaunchPlan& p, int depth) {
  y.line(depth, "env:");
  y.line(depth + 1, "- name: HF_TOKEN").line(depth + 2, "valueFrom:").line(depth + 3, "secretKeyRef:");
  y.line(depth + 4, "name: hf-token")
      .line(depth + 4, "key: token")
      .line(depth + 4, "optional: {}", p.gated ? "false" : "true");
  y.line(depth + 1, "- name: HF_HOME").line(depth + 2, "value: /models");
  if (!trains(p.runner)) return;
  if (p.runner == LaunchTarget::deepspeed) y.line(depth + 1, "- name: TRAIN").line(depth + 2, "value: /data/train.py");
  if (p.runner != LaunchTarget::torchrun && p.runner != LaunchTarget::deepspeed) {
    y.line(depth + 1, "- name: DATA_PATH").line(depth + 2, "value: /data/tokens");
  }
  if (p.runner == LaunchTarget::torchrun) y.line(depth + 1, "- name: ASSETS").line(depth + 2, "value: /data/tokenizer");
  y.line(depth + 1, "- name: CHECKPOINTS").line(depth + 2, "value: /checkpoints");
}

}  // namespace

int pod_devices(const LaunchPlan& p) {
  if (trains(p.runner)) return std::min(p.gpus, p.gpus_per_node);
  return std::min(per_replica(p), p.gpus_per_node);
}

std::vector<std::pair<std::string, std::string>> pod_resources(const LaunchPlan& p, const LaunchOptions& o) {
  const int devices = pod_devices(p);
  const int cores =
      std::max(1, std::min(kCoresPerDevice * devices, o.cpus_per_node * devices / std::max(1, p.gpus_per_node)));
  const double share = 0.9 * o.host_memory * devices / std::max(1, p.gpus_per_node) / kGibibyte;
  const int memory = o.host_memory > 0 ? static_cast<int>(share) : kGibibytesPerDevice * devices;
  std::vector<std::pair<std::string, std::string>> out = {{p.hardware.resource, std::to_string(devices)},
                                                          {"cpu", std::to_string(cores)},
                                                          {"memory", fmt::format("{}Gi", memory)}};
  if (uses_rdma(p)) out.emplace_back(kRdma, "1");
  return out;
}

Status need_image(const LaunchPlan& p, const LaunchOptions& o) {
  if (!o.image.empty() || !image_of(p).empty()) return {};
  return Error{ErrorCode::refused, "⟦image⟧",
               fmt::format("no published image of {} for {} is known: say which to take", name(p.runner),
                           p.vendor.empty() ? "this device" : p.vendor)};
}

Result<std::string> pod_spec(const LaunchPlan& p, const LaunchOptions& o, PodRole role, const std::string& master,
                             int depth) {
  const Result<std::string> body = payload(p, o, Place::pod, "");
  if (!body) return body.error();
  std::string script = remarks(p) + ridge_line(p) + "set -euo pipefail\n";
  if (!master.empty()) script += "export MASTER_ADDR=" + master + "\n";
  script += *body;
  const LaunchVendor& vendor = p.hardware;
  Yaml y;
  if (trains(p.runner)) y.line(depth, "restartPolicy: Never");
  if (const std::string_view label = product_label(p); !label.empty() && !vendor.product_label.empty()) {
    y.line(depth, "nodeSelector:").line(depth + 1, "{}: {}", vendor.product_label, label);
  }
  y.line(depth, "tolerations:").line(depth + 1, "- key: {}", vendor.resource).line(depth + 2, "operator: Exists");
  y.line(depth + 2, "effect: NoSchedule");
  y.line(depth, "containers:").line(depth + 1, "- name: engine");
  const int inner = depth + 2;
  y.line(inner, "image: {}", quoted_yaml(!o.image.empty() ? o.image : image_of(p)));
  y.line(inner, "command: [\"bash\", \"-c\"]").line(inner, "args:").line(inner + 1, "- |").block(inner + 3, script);
  environment(y, p, inner);
  y.line(inner, "resources:");
  for (const char* kind : {"requests", "limits"}) {
    y.line(inner + 1, "{}:", kind);
    for (const auto& [name, quantity] : pod_resources(p, o)) y.line(inner + 2, "{}: {}", name, quantity);
  }
  if (uses_rdma(p)) {
    y.line(inner, "securityContext:").line(inner + 1, "capabilities:").line(inner + 2, "add: [\"IPC_LOCK\"]");
  }
  if (role == PodRole::server) {
    y.line(inner, "ports:").line(inner + 1, "- containerPort: {}", port_of(p));
    probes(y, p, inner);
  }
  struct Volume {
    const char *name, *at, *claim;
  };
  std::vector<Volume> volumes = {{"shared-memory", "/dev/shm", ""}, {"models", "/models", "models"}};
  if (trains(p.runner)) {
    volumes.push_back({"data", "/data", "data"});
    volumes.push_back({"checkpoints", "/checkpoints", "checkpoints"});
  }
  y.line(inner, "volumeMounts:");
  for (const Volume& v : volumes) y.line(inner + 1, "- name: {}", v.name).line(inner + 2, "mountPath: {}", v.at);
  y.line(depth, "volumes:");
  for (const Volume& v : volumes) {
    y.line(depth + 1, "- name: {}", v.name);
    if (*v.claim == '\0') {
      y.line(depth + 2, "emptyDir:").line(depth + 3, "medium: Memory").line(depth + 3, "sizeLimit: 32Gi");
    } else {
      y.line(depth + 2, "persistentVolumeClaim:").line(depth + 3, "claimName: {}", v.claim);
    }
  }
  return y.text();
}

void claim(Yaml& y, std::string_view name, std::string_view size) {
  y.line(0, "apiVersion: v1").line(0, "kind: PersistentVolumeClaim").line(0, "metadata:").line(1, "name: {}", name);
  y.line(0, "spec:").line(1, "accessModes: [\"ReadWriteMany\"]").line(1, "resources:").line(2, "requests:");
  y.line(3, "storage: {}", size);
}

}  // namespace ridge::launch
