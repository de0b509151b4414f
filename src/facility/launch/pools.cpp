// Prompts on one pool of servers, tokens on another: a script, job or manifest for each, and a router between them.
#include <fmt/format.h>

#include <algorithm>

#include "facility/launch/write.hpp"
#include "ridge/facility/launch.hpp"

namespace ridge {

namespace {

using launch::cannot;

/// How many servers lists name, and one address for both pools.
LaunchFile pool_router(const LaunchPools& pools) {
  const LaunchPlan& p = pools.decode;
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# One address for {} servers of prompts and {} of tokens.\n"
      "# usage: router.sh 'prefill*.txt' 'decode*.txt'\n"
      "set -euo pipefail\n\n"
      "LISTEN=${{LISTEN:-8888}}\n"
      "# shellcheck disable=SC2086  # both are patterns\n"
      "prefill=$(cat ${{1:-prefill*.txt}})\n"
      "# shellcheck disable=SC2086\n"
      "decode=$(cat ${{2:-decode*.txt}})\n",
      pools.prefill.replicas, p.replicas);
  if (p.runner == LaunchTarget::vllm) {
    // The router of vLLM's production stack asks prefill for one token and hands what it says about the cache on.
    text += fmt::format(
        "backends='' models='' labels=''\n"
        "add() {{\n"
        "  backends=$backends${{backends:+,}}$1 models=$models${{models:+,}}{} labels=$labels${{labels:+,}}$2\n"
        "}}\n"
        "while read -r url; do add \"$url\" prefill; done <<< \"$prefill\"\n"
        "while read -r url; do add \"$url\" decode; done <<< \"$decode\"\n"
        "exec vllm-router --host 0.0.0.0 --port \"$LISTEN\" --service-discovery static --static-backends \"$backends\" "
        "\\\n"
        "  --static-models \"$models\" --static-model-labels \"$labels\" \\\n"
        "  --routing-logic disaggregated_prefill_orchestrated --prefill-model-labels prefill --decode-model-labels "
        "decode\n",
        shell_word(p.model));
  } else if (p.runner == LaunchTarget::sglang) {
    text +=
        "servers=()\n"
        "while read -r url bootstrap; do servers+=(--prefill \"$url\" \"$bootstrap\"); done <<< \"$prefill\"\n"
        "while read -r url; do servers+=(--decode \"$url\"); done <<< \"$decode\"\n"
        "exec python3 -m sglang_router.launch_router --pd-disaggregation --host 0.0.0.0 --port \"$LISTEN\" "
        "\"${servers[@]}\"\n";
  } else {
    text +=
        "config=$(mktemp --suffix=.yaml)\n"
        "pool() {\n"
        "  echo \"$1:\"\n"
        "  echo \"  num_instances: $(wc -l <<< \"$2\")\"\n"
        "  echo '  urls:'\n"
        "  while read -r url; do echo \"    - \\\"${url#http://}\\\"\"; done <<< \"$2\"\n"
        "}\n"
        "{\n"
        "  echo 'hostname: 0.0.0.0'\n"
        "  echo \"port: $LISTEN\"\n"
        "  echo 'backend: pytorch'\n"
        "  pool context_servers \"$prefill\"\n"
        "  pool generation_servers \"$decode\"\n"
        "} > \"$config\"\n"
        "exec trtllm-serve disaggregated -c \"$config\"\n";
  }
  return {"router.sh", std::move(text)};
}

/// "job.sbatch" → "prefill.sbatch", "slurm.conf" → "prefill-slurm.conf"; what both have is written once.
std::string pool_file(const LaunchPlan& p, const std::string& file) {
  const std::string role(name(p.role));
  if (file == "job.sbatch" || file == "serve.yaml") return role + file.substr(file.find('.'));
  if (file == "slurm.conf" || file == "gres.conf" || file == "alerts.yaml" || file == "autoscale.yaml")
    return role + "-" + file;
  return file;
}

}  // namespace

Result<std::vector<LaunchFile>> emit(const LaunchPools& pools, LaunchTarget target, const LaunchOptions& options) {
  const LaunchPlan& prefill = pools.prefill;
  const LaunchPlan& decode = pools.decode;
  if (prefill.role != PoolRole::prefill || decode.role != PoolRole::decode || prefill.runner != decode.runner) {
    return Error{ErrorCode::bad_input, "", "two pools are one of prompts and one of tokens, by the same engine"};
  }
  if (decode.runner == LaunchTarget::llamacpp)
    return cannot("llama.cpp hands no caches over: emit pools for vllm, sglang or trtllm");
  if (decode.runner == LaunchTarget::vllm && prefill.pp != decode.pp)
    return cannot("caches go from stage to stage: say the same --pp for both pools");
  if (target == LaunchTarget::dynamo) return launch::dynamo_files(pools, options);
  LaunchOptions after = options;
  // Two small pools share a node, the second behind the devices of the first.
  const bool share = is_runner(target) && prefill.device == decode.device &&
                     prefill.gpus + decode.gpus <= decode.gpus_per_node && prefill.nodes() == 1;
  if (share) after.first_device = prefill.gpus;
  std::vector<LaunchFile> files;
  for (const LaunchPlan* pool : {&prefill, &decode}) {
    Result<std::vector<LaunchFile>> made = emit(*pool, target, pool == &decode ? after : options);
    if (!made) return made.error();
    for (LaunchFile& file : *made) {
      file.name = pool_file(*pool, file.name);
      const bool there =
          std::any_of(files.begin(), files.end(), [&](const LaunchFile& f) { return f.name == file.name; });
      if (!there) files.push_back(std::move(file));
    }
  }
  if (target == LaunchTarget::k8s) {
    Result<std::string> router = launch::kubernetes_pool_router(pools, options);
    if (!router) return router.error();
    files.push_back({"router.yaml", *std::move(router)});
  } else {
    files.push_back(pool_router(pools));
  }
  return files;
}

}  // namespace ridge
