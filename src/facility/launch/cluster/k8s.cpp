// A plan as manifests of Kubernetes: Deployment or LeaderWorkerSet behind a Service and a router; JobSet under Kueue.
#include <fmt/format.h>

#include "facility/launch/cluster/pod.hpp"
#include "facility/launch/vendor.hpp"

namespace ridge::launch {

namespace {

/// An account that may watch pods, and the deployment of a router with that image and command.
void router_deployment(Yaml& y, const std::string& job, std::string_view image, const std::vector<std::string>& command,
                       const std::vector<std::string>& arguments) {
  y.line(0, "apiVersion: v1")
      .line(0, "kind: ServiceAccount")
      .line(0, "metadata:")
      .line(1, "name: {}-router", job)
      .next();
  y.line(0, "apiVersion: rbac.authorization.k8s.io/v1").line(0, "kind: Role").line(0, "metadata:");
  y.line(1, "name: {}-router", job).line(0, "rules:").line(1, "- apiGroups: [\"\"]");
  y.line(2, "resources: [\"pods\"]").line(2, "verbs: [\"get\", \"list\", \"watch\"]").next();
  y.line(0, "apiVersion: rbac.authorization.k8s.io/v1").line(0, "kind: RoleBinding").line(0, "metadata:");
  y.line(1, "name: {}-router", job).line(0, "roleRef:").line(1, "apiGroup: rbac.authorization.k8s.io");
  y.line(1, "kind: Role").line(1, "name: {}-router", job).line(0, "subjects:").line(1, "- kind: ServiceAccount");
  y.line(2, "name: {}-router", job).next();
  y.line(0, "apiVersion: apps/v1").line(0, "kind: Deployment").line(0, "metadata:").line(1, "name: {}-router", job);
  y.line(0, "spec:").line(1, "replicas: 1").line(1, "selector:").line(2, "matchLabels:").line(3, "app: {}-router", job);
  y.line(1, "template:").line(2, "metadata:").line(3, "labels:").line(4, "app: {}-router", job).line(2, "spec:");
  y.line(3, "serviceAccountName: {}-router", job).line(3, "containers:").line(4, "- name: router");
  y.line(5, "image: {}", quoted_yaml(image));
  const auto words = [&](std::string_view what, const std::vector<std::string>& all) {
    if (all.empty()) return;
    y.line(5, "{}:", what);
    for (const std::string& one : all) y.line(6, "- {}", quoted_yaml(one));
  };
  words("command", command);
  words("args", arguments);
  y.line(5, "ports:").line(6, "- containerPort: 8080");
  y.line(5, "readinessProbe:").line(6, "httpGet:").line(7, "path: /health").line(7, "port: 8080");
  y.line(5, "resources:").line(6, "requests:").line(7, "cpu: 4").line(7, "memory: 4Gi");
}

constexpr std::string_view kRouterImage = "lmcache/lmstack-router:latest";

/// The first address for all replicas of vLLM and SGLang: the router of vLLM's production stack, which finds pods by
/// label and sends a request to the one that has its prefix.
void router(Yaml& y, const LaunchPlan& p, const std::string& job) {
  y.next();
  router_deployment(
      y, job, kRouterImage, {},
      {"--host=0.0.0.0", "--port=8080", "--service-discovery=k8s", fmt::format("--k8s-port={}", port_of(p)),
       "--k8s-namespace=default", "--k8s-label-selector=serves=" + job, "--routing-logic=prefixaware"});
}

/// What routers tell the pods of two pools by, among the labels at that depth and the annotations after them.
void pool_marks(Yaml& y, const LaunchPlan& p, int depth) {
  if (p.role == PoolRole::both) return;
  y.line(depth, "model: {}", name(p.role));
  if (p.runner == LaunchTarget::sglang && p.role == PoolRole::prefill) {
    y.line(depth - 1, "annotations:").line(depth, "sglang.ai/bootstrap-port: \"8998\"");
  }
}

void service(Yaml& y, const std::string& job, std::string_view label, int port) {
  y.next().line(0, "apiVersion: v1").line(0, "kind: Service").line(0, "metadata:").line(1, "name: {}", job);
  y.line(0, "spec:").line(1, "selector:").block(2, label);
  y.line(1, "ports:").line(2, "- port: 80").line(3, "targetPort: {}", port);
}

void queues(Yaml& y, const LaunchPlan& p, const LaunchOptions& o) {
  const std::string flavor = p.device.substr(0, p.device.find('/'));
  const int pods = p.nodes();
  y.line(0, "apiVersion: kueue.x-k8s.io/v1beta2").line(0, "kind: ResourceFlavor").line(0, "metadata:");
  y.line(1, "name: {}", flavor);
  if (const std::string_view label = product_label(p); !label.empty()) {
    y.line(0, "spec:").line(1, "nodeLabels:").line(2, "{}: {}", p.hardware.product_label, label);
  }
  y.next();
  y.line(0, "apiVersion: kueue.x-k8s.io/v1beta2").line(0, "kind: ClusterQueue").line(0, "metadata:");
  y.line(1, "name: gpu-cluster").line(0, "spec:").line(1, "namespaceSelector: {{}}").line(1, "resourceGroups:");
  std::string names;
  const auto resources = pod_resources(p, o);
  for (const auto& [name, quantity] : resources) names += (names.empty() ? "" : ", ") + quoted_yaml(name);
  y.line(2, "- coveredResources: [{}]", names).line(3, "flavors:").line(4, "- name: {}", flavor).line(5, "resources:");
  for (const auto& [name, quantity] : resources) {
    const std::size_t digits = std::min(quantity.find_first_not_of("0123456789"), quantity.size());
    const long all = std::stol(quantity.substr(0, digits)) * pods;
    y.line(6, "- name: {}", name).line(7, "nominalQuota: {}{}", all, quantity.substr(digits));
  }
  y.next().line(0, "apiVersion: kueue.x-k8s.io/v1beta2").line(0, "kind: LocalQueue").line(0, "metadata:");
  y.line(1, "name: gpu-jobs").line(1, "namespace: default").line(0, "spec:").line(1, "clusterQueue: gpu-cluster");
}

std::string operator_values(const LaunchPlan& p) {
  const bool rdma = p.nodes() > 1 && !p.network.empty();
  return fmt::format(
      "# Values for the chart of the NVIDIA GPU Operator.\n"
      "driver:\n  enabled: true\n  rdma:\n    enabled: {}\ntoolkit:\n  enabled: true\ndevicePlugin:\n  enabled: true\n"
      "gfd:\n  enabled: true\ndcgmExporter:\n  enabled: true\nmig:\n  strategy: {}\n",
      rdma ? "true" : "false", p.device.find('/') == std::string::npos ? "none" : "mixed");
}

}  // namespace

Result<std::string> kubernetes_pool_router(const LaunchPools& pools, const LaunchOptions& o) {
  const LaunchPlan& p = pools.decode;
  LaunchPlan both = p;
  both.role = PoolRole::both;
  const std::string job = job_name(both);
  const std::string port = fmt::format("{}", port_of(p));
  Yaml y;
  if (p.runner == LaunchTarget::vllm) {
    router_deployment(
        y, job, kRouterImage, {},
        {"--host=0.0.0.0", "--port=8080", "--service-discovery=k8s", "--k8s-port=" + port, "--k8s-namespace=default",
         "--k8s-label-selector=model in (prefill,decode)", "--routing-logic=disaggregated_prefill_orchestrated",
         "--prefill-model-labels=prefill", "--decode-model-labels=decode"});
  } else if (p.runner == LaunchTarget::sglang) {
    router_deployment(
        y, job, !o.image.empty() ? o.image : image_of(p), {"python3", "-m", "sglang_router.launch_router"},
        {"--host", "0.0.0.0", "--port", "8080", "--pd-disaggregation", "--service-discovery",
         "--service-discovery-port", port, "--service-discovery-namespace", "default", "--prefill-selector",
         "serves=" + job_name(pools.prefill), "--decode-selector", "serves=" + job_name(p)});
  } else {
    return cannot("the router of TensorRT-LLM's pools has to know every server: emit for dynamo or slurm");
  }
  service(y, job, fmt::format("app: {}-router", job), 8080);
  return y.text();
}

Result<std::string> kubernetes_serving(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string job = job_name(p);
  const bool spans = spans_nodes(p);
  if (spans && p.runner == LaunchTarget::trtllm) {
    return cannot("TensorRT-LLM over several nodes is started by MPI: emit for slurm");
  }
  const bool routed = p.role == PoolRole::both && p.replicas > 1 &&
                      (p.runner == LaunchTarget::vllm || p.runner == LaunchTarget::sglang);
  Yaml y;
  if (spans) {
    const Result<std::string> leader = pod_spec(p, o, PodRole::server, "\"$LWS_LEADER_ADDRESS\"", 5);
    if (!leader) return leader.error();
    const Result<std::string> worker = pod_spec(p, o, PodRole::worker, "\"$LWS_LEADER_ADDRESS\"", 5);
    if (!worker) return worker.error();
    y.line(0, "apiVersion: leaderworkerset.x-k8s.io/v1").line(0, "kind: LeaderWorkerSet").line(0, "metadata:");
    y.line(1, "name: {}", job).line(0, "spec:").line(1, "replicas: {}", p.replicas);
    y.line(1, "startupPolicy: LeaderCreated").line(1, "leaderWorkerTemplate:");
    y.line(2, "size: {}", per_replica(p) / p.gpus_per_node).line(2, "restartPolicy: RecreateGroupOnPodRestart");
    y.line(2, "leaderTemplate:").line(3, "metadata:").line(4, "labels:").line(5, "serves: {}", job);
    pool_marks(y, p, 5);
    y.line(3, "spec:").block(0, *leader);
    y.line(2, "workerTemplate:").line(3, "spec:").block(0, *worker);
  } else {
    const Result<std::string> pod = pod_spec(p, o, PodRole::server, "", 3);
    if (!pod) return pod.error();
    y.line(0, "apiVersion: apps/v1").line(0, "kind: Deployment").line(0, "metadata:").line(1, "name: {}", job);
    y.line(0, "spec:").line(1, "replicas: {}", p.replicas).line(1, "selector:").line(2, "matchLabels:");
    y.line(3, "serves: {}", job)
        .line(1, "template:")
        .line(2, "metadata:")
        .line(3, "labels:")
        .line(4, "serves: {}", job);
    pool_marks(y, p, 4);
    y.line(2, "spec:").block(0, *pod);
  }
  if (routed) {
    service(y, job, fmt::format("app: {}-router", job), 8080);
    router(y, p, job);
  } else {
    service(y, job, fmt::format("serves: {}", job), port_of(p));
  }
  return y.text();
}

Result<std::string> kubernetes_training(const LaunchPlan& p, const LaunchOptions& o) {
  const std::string job = job_name(p);
  const std::string master = p.nodes() > 1 ? fmt::format("{0}-worker-0-0.{0}", job) : "";
  const Result<std::string> pod = pod_spec(p, o, PodRole::worker, master, 8);
  if (!pod) return pod.error();
  Yaml y;
  y.line(0, "apiVersion: jobset.x-k8s.io/v1alpha2")
      .line(0, "kind: JobSet")
      .line(0, "metadata:")
      .line(1, "name: {}", job);
  y.line(1, "labels:").line(2, "kueue.x-k8s.io/queue-name: gpu-jobs").line(0, "spec:").line(1, "suspend: true");
  y.line(1, "network:").line(2, "enableDNSHostnames: true").line(2, "subdomain: {}", job);
  y.line(2, "publishNotReadyAddresses: true").line(1, "failurePolicy:").line(2, "maxRestarts: 3");
  y.line(1, "replicatedJobs:").line(2, "- name: worker").line(3, "replicas: 1").line(3, "template:").line(4, "spec:");
  y.line(5, "completionMode: Indexed").line(5, "completions: {}", p.nodes()).line(5, "parallelism: {}", p.nodes());
  y.line(5, "backoffLimit: 0").line(5, "template:").line(6, "metadata:").line(7, "labels:").line(8, "trains: {}", job);
  y.line(6, "spec:").block(0, *pod);
  return y.text();
}

Result<std::vector<LaunchFile>> kubernetes_files(const LaunchPlan& p, const LaunchOptions& o) {
  if (p.hardware.resource.empty()) {
    return cannot(fmt::format("Kubernetes has no resource for devices of {}: emit for {}", p.vendor, name(p.runner)));
  }
  if (const Status s = need_image(p, o); !s) return s.error();
  Result<std::string> first = trains(p.runner) ? kubernetes_training(p, o) : kubernetes_serving(p, o);
  if (!first) return first.error();
  std::vector<LaunchFile> files;
  files.push_back({trains(p.runner) ? "job.yaml" : "serve.yaml", *std::move(first)});
  Yaml volumes;
  claim(volumes, "models", "2Ti");
  if (trains(p.runner)) {
    claim(volumes.next(), "data", "10Ti");
    claim(volumes.next(), "checkpoints", "20Ti");
  }
  files.push_back({"volumes.yaml", volumes.text()});
  if (trains(p.runner)) {
    Yaml y;
    queues(y, p, o);
    files.push_back({"queue.yaml", y.text()});
  }
  if (!trains(p.runner)) {
    if (std::string rules = alert_rules(p, o); !rules.empty()) files.push_back({"alerts.yaml", std::move(rules)});
    if (std::string scaling = autoscaling(p, o); !scaling.empty())
      files.push_back({"autoscale.yaml", std::move(scaling)});
  }
  if (p.hardware.op) files.push_back({"gpu-operator-values.yaml", operator_values(p)});
  return files;
}

}  // namespace ridge::launch
