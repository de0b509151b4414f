#!/usr/bin/env python3
"""Checks what `ridge emit` writes with the tools it is written for.

Usage: check_launch_files.py RIDGE DATA

Every flag exists in the release the file is for, with a legal value (the facts of data/engines/flags, read here once more);
every script passes shellcheck; every manifest has the structure of the Kubernetes, LeaderWorkerSet, JobSet and Kueue APIs as
their documentation gives it (required fields, known fields, types; the part of them that a launch file uses); the
configuration and the job for Slurm are taken by a real slurmctld; every file reads back as the plan it came from. What no
engine can run is refused with what would do.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

import yaml

SERVE = "--model llama3.3-70b --device h200-sxm --precision fp8 --isl 1000 --osl 250"
TRAIN = "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 8 --pp 2 --global-batch 128 --seq-length 8192"
MOE = "--model deepseek-v3 --system dgx-h100"
PLANS = [
    # one node: dense, experts, formats, long context, adapters, drafts
    ("vllm", f"{SERVE} --gpus 8 --tp 2 --kv-precision fp8"),
    ("vllm", "--model llama3.1-8b --device h100-sxm --gpus 1 --precision bf16"),
    ("vllm", "--model meta-llama/Llama-3.1-8B-Instruct --device h100-sxm --gpus 1 --precision fp8"),
    ("vllm", "--model llama3.3-70b --device b200-sxm-180 --gpus 2 --tp 2 --precision nvfp4 --isl 1000 --osl 250"),
    ("vllm", "--model gpt-oss-120b --device h100-sxm --gpus 2 --tp 2 --isl 2000 --osl 500"),
    ("vllm", "--model llama3.1-70b --device h200-sxm --gpus 8 --tp 8 --isl 100000 --osl 1000 --concurrency 8"),
    ("vllm", "--model llama3.1-8b --device h100-sxm --gpus 1 --lora-rank 16"),
    ("vllm", "--model deepseek-r1 --system dgx-h200 --gpus 8 --tp 8 --draft-tokens 1"),
    ("vllm", "--model qwen2.5-72b --device h200-sxm --gpus 4 --tp 4 --precision int4"),
    ("vllm", "--model deepseek-r1 --system dgx-h200 --gpus 8 --tp 1 --dp 8 --ep 8 --isl 1000 --osl 500"),
    ("vllm", f"{SERVE} --gpus 8 --tp 2 --engine-version 0.26.0"),
    ("sglang", f"{SERVE} --gpus 8 --tp 4"),
    ("sglang", "--model deepseek-r1 --system dgx-h200 --gpus 8 --tp 1 --dp 8 --ep 8"),
    ("sglang", "--model qwen3-32b --device h100-sxm --gpus 2 --tp 2 --precision fp8 --kv-precision fp8"),
    ("sglang", "--model llama3.1-8b --device h100-sxm --gpus 1 --lora-rank 32"),
    ("sglang", "--model deepseek-v3 --system dgx-h200 --gpus 8 --tp 8 --draft-tokens 2"),
    ("sglang", "--model llama3.1-70b --device h200-sxm --gpus 2 --tp 2 --draft-tokens 4 --draft-model meta-llama/Llama-3.2-1B-Instruct"),
    ("trtllm", f"{SERVE} --gpus 4 --tp 4 --kv-precision fp8"),
    ("trtllm", f"{SERVE} --gpus 8 --tp 1"),
    ("trtllm", "--model deepseek-r1 --device b200-sxm-180 --gpus 8 --tp 1 --dp 8 --ep 8 --precision nvfp4"),
    ("trtllm", "--model llama3.1-8b --device l40s --gpus 1 --precision fp8"),
    ("llamacpp", "--model llama3.1-8b --device h200-sxm --gpus 1 --checkpoint /models/llama.gguf --isl 512 --osl 128 --concurrency 4"),
    ("llamacpp", "--model llama3.1-70b --device l40s --gpus 4 --pp 4 --tp 1 --precision q4-k-m --isl 512 --osl 128"),
    ("llamacpp", "--model qwen3-8b --device mi300x --gpus 8 --tp 1 --precision int8"),
    # several nodes
    ("vllm", "--model llama3.1-405b --system dgx-h100 --gpus 16 --tp 8 --pp 2 --precision fp8"),
    ("vllm", "--model deepseek-r1 --system dgx-h100 --gpus 16 --tp 1 --dp 16 --ep 16"),
    ("sglang", f"{SERVE} --gpus 16 --tp 4"),
    ("sglang", "--model deepseek-r1 --system dgx-h200 --gpus 16 --tp 16"),
    ("vllm", f"{SERVE} --gpus 14 --tp 2"),
    # other vendors
    ("vllm", "--model llama3.1-70b --device mi300x --gpus 8 --tp 8"),
    ("vllm", "--model llama3.3-70b --device mi355x --gpus 8 --tp 4 --precision mxfp4"),
    ("sglang", "--model deepseek-r1 --device mi300x --gpus 8 --tp 8"),
    ("vllm", "--model llama3.1-8b --device gaudi3-oam --gpus 1"),
    ("vllm", "--model llama3.1-8b --device tpu-v6e --gpus 1"),
    ("vllm", "--model llama3.1-8b --device trainium2 --gpus 1"),
    ("sglang", "--model llama3.1-8b --device ascend-910b --gpus 1"),
    # training: TP, PP, VP, CP, EP, ETP, ZeRO, formats, rotations, routers
    ("megatron", TRAIN),
    ("megatron", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 1 --global-batch 64 --seq-length 8192"),
    ("megatron", "--model llama3.1-8b --device h100-sxm --gpus 64 --tp 1 --cp 8 --seq-length 65536 --global-batch 64"),
    ("megatron", "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 4 --cp 2 --pp 2 --cp-kind all-gather --global-batch 128 --seq-length 32768"),
    ("megatron", "--model llama3.1-405b --system dgx-h100 --gpus 1024 --tp 8 --pp 16 --global-batch 512 --seq-length 8192 --precision fp8"),
    ("megatron", f"{MOE} --gpus 512 --tp 2 --pp 8 --ep 32 --precision fp8"),
    ("megatron", f"{MOE} --gpus 1024 --tp 8 --pp 4 --ep 32 --etp 1"),
    ("megatron", "--model mixtral-8x7b --system dgx-h100 --gpus 64 --tp 4 --pp 2 --ep 4 --etp 2 --global-batch 128"),
    ("megatron", "--model mixtral-8x22b --system dgx-h100 --gpus 128 --tp 2 --pp 4 --ep 8 --global-batch 256 --seq-length 4096"),
    ("megatron", "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 1 --pp 1 --sharding zero3 --recompute full --global-batch 64 --seq-length 4096"),
    ("megatron", "--model llama3.1-8b --system dgx-h100 --gpus 32 --tp 1 --sharding hsdp --shard-group 8 --global-batch 64"),
    ("megatron", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 2 --sharding zero2 --global-batch 64"),
    ("megatron", "--model qwen3-8b --device b200-sxm-180 --gpus 8 --tp 2 --precision mxfp8 --global-batch 64"),
    ("megatron", "--model llama3.1-8b --device b200-sxm-180 --gpus 8 --tp 1 --precision nvfp4 --global-batch 64"),
    ("megatron", "--model qwen3-235b-a22b --system dgx-h100 --gpus 256 --tp 4 --pp 8 --ep 8 --global-batch 512 --seq-length 4096"),
    ("megatron", "--model gpt3-175b --system dgx-h100 --gpus 128 --tp 8 --pp 8 --global-batch 256 --seq-length 2048"),
    ("megatron", "--model deepseek-v2-lite --system dgx-h100 --gpus 16 --tp 1 --ep 8 --global-batch 128"),
    ("megatron", "--model llama3.1-8b --device mi300x --gpus 8 --tp 1 --global-batch 64"),
    ("megatron", f"{MOE} --gpus 512 --tp 2 --pp 8 --ep 32 --mtp"),
    ("torchrun", f"{TRAIN}"),
    ("torchrun", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 1 --global-batch 64"),
    ("torchrun", "--model qwen3-30b-a3b --system dgx-h100 --gpus 16 --tp 1 --ep 8 --global-batch 64"),
    ("bridge", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 1 --cp 2 --global-batch 64 --seq-length 8192"),
    ("bridge", "--model deepseek-v3 --system dgx-h100 --gpus 512 --tp 2 --pp 8 --ep 32 --precision fp8"),
    ("bridge", "--model qwen3-30b-a3b --system dgx-h100 --gpus 16 --tp 1 --ep 8 --sharding zero3 --global-batch 64 --seq-length 4096"),
    ("primus", "--model llama3.1-70b --device mi300x --gpus 64 --tp 8 --global-batch 128 --seq-length 8192"),
    ("primus", "--model mixtral-8x7b --device mi300x --gpus 64 --tp 1 --pp 2 --ep 8 --global-batch 128 --seq-length 4096"),
    ("primus", "--model llama3.1-8b --device mi355x --gpus 8 --tp 1 --precision fp8 --global-batch 64 --seq-length 8192"),
    ("deepspeed", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 1 --pp 1 --sharding zero3 --global-batch 64 --seq-length 4096"),
    ("deepspeed", "--model llama3.1-8b --device gaudi3-oam --gpus 8 --tp 1 --pp 1 --sharding zero2 --global-batch 64 --seq-length 4096"),
    ("maxtext", "--model llama3.1-8b --device tpu-v5p --gpus 64 --tp 1 --pp 1 --sharding zero3 --global-batch 256 --seq-length 8192"),
    ("maxtext", "--model llama3.1-8b --device mi300x --gpus 16 --tp 1 --pp 1 --sharding zero3 --global-batch 64 --seq-length 8192"),
    # prefill and decode apart
    ("vllm", "--model llama3.1-8b --device h100-sxm --gpus 1 --isl 4000 --osl 200 --concurrency 32 --disaggregate --pools 1P2D"),
    ("sglang", "--model deepseek-r1 --system dgx-h200 --gpus 8 --tp 1 --dp 8 --ep 8 --isl 4000 --osl 1000 --concurrency 256 --disaggregate"),
    ("trtllm", "--model llama3.3-70b --device h200-sxm --gpus 4 --tp 4 --precision fp8 --isl 8000 --osl 500 --concurrency 32 --disaggregate --pools 1P1D"),
    ("slurm", "--kind serve --model llama3.1-8b --device h200-sxm --gpus 2 --tp 2 --isl 4000 --osl 200 --concurrency 64 --disaggregate --pools 2P2D"),
    ("k8s", "--kind serve --engine sglang --model llama3.1-8b --device h100-sxm --gpus 1 --isl 4000 --osl 200 --concurrency 32 --disaggregate --pools 1P2D"),
    ("k8s", "--kind serve --model llama3.1-8b --device h100-sxm --gpus 1 --isl 4000 --osl 200 --concurrency 32 --disaggregate --pools 1P2D"),
    ("dynamo", "--model llama3.3-70b --device h200-sxm --gpus 8 --tp 2 --precision fp8 --isl 1000 --osl 250"),
    ("dynamo", "--engine sglang --model llama3.1-8b --device h100-sxm --gpus 1 --isl 4000 --osl 200 --concurrency 32 --disaggregate --pools 1P2D"),
    # clusters
    ("k8s", f"--kind serve {SERVE} --gpus 8 --tp 2 --max-replicas 16 --ttft 1s --tpot 40ms --prefix-hit 0.5"),
    ("slurm", f"--kind train {TRAIN}"),
    ("slurm", f"--kind train --engine torchtitan --sharding zero3 {TRAIN}"),
    ("slurm", f"--kind serve {SERVE} --gpus 8 --tp 2"),
    ("slurm", "--kind serve --model llama3.1-70b --device mi300x --gpus 8 --tp 2"),
    ("slurm", "--kind serve --model llama3.1-8b --device gaudi3-oam --gpus 8 --tp 1"),
    ("slurm", "--kind serve --engine trtllm --model deepseek-r1 --system dgx-h200 --gpus 16 --tp 16"),
    ("slurm", "--kind serve --model llama3.1-405b --system dgx-h100 --gpus 32 --tp 8 --pp 2"),
    ("k8s", f"--kind train {TRAIN}"),
    ("k8s", f"--kind serve {SERVE} --gpus 8 --tp 2"),
    ("k8s", f"--kind serve --engine sglang {SERVE} --gpus 4 --tp 4"),
    ("k8s", "--kind serve --model llama3.1-70b --device mi300x --gpus 2 --tp 2"),
    ("k8s", "--kind serve --model llama3.1-405b --system dgx-h100 --gpus 16 --tp 8 --pp 2"),
    ("k8s", "--kind serve --model llama3.1-8b --device gaudi3-oam --gpus 2 --tp 1 --image registry.example/vllm-gaudi:1"),
    ("k8s", "--kind serve --engine llamacpp --model llama3.1-8b --device h100-sxm --gpus 1 --precision q4-k-m"),
]

# What is refused, and a word of what would do.
REFUSED = [
    ("trtllm", "--model llama3.1-8b --device mi300x --gpus 1", "vllm, sglang"),
    ("megatron", "--model llama3.1-8b --device tpu-v5p --gpus 8 --tp 1", "maxtext"),
    ("primus", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 1", "megatron"),
    ("deepspeed", "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 8 --pp 2", "--pp 1"),
    ("maxtext", "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 8 --pp 2", "--pp 1"),
    ("llamacpp", "--model llama3.1-8b --device h100-sxm --gpus 1 --isl 1000 --osl 100 --disaggregate", "vllm, sglang or trtllm"),
    ("k8s", "--kind serve --engine trtllm --model llama3.1-8b --device h100-sxm --gpus 1 --isl 1000 --osl 100 --disaggregate", "dynamo or slurm"),
    ("vllm", "--model llama3.1-8b --device gaudi3-oam --gpus 1 --isl 1000 --osl 100 --disaggregate", "NIXL"),
    ("sglang", "--model llama3.1-8b --device gaudi3-oam --gpus 1", "vllm"),
    ("trtllm", "--model llama3.1-8b --device v100-sxm2-32 --gpus 2 --tp 2", "vllm"),
    ("megatron", "--model llama3.1-8b --device h100-sxm --gpus 8 --task lora --lora-rank 16", "PEFT"),
    ("megatron", "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 8 --pp 4 --schedule zero-bubble", "1f1b"),
    ("megatron", "--model gpt-oss-20b --device h100-sxm --gpus 8 --tp 1", "cannot say it"),
    ("torchrun", "--model llama2-7b --device h100-sxm --gpus 8 --tp 1", "megatron"),
    ("vllm", "--model megatron-530b --system dgx-h100 --gpus 16 --tp 8 --pp 2", "--checkpoint"),
    ("k8s", "--kind serve --model llama3.1-8b --device gaudi3-oam --gpus 1", "--image"),
]

# ---------------------------------------------------------------------------------------------------------------------
# Structure. A rule is a type, a list with the rule of its items, or a dict of fields; a field that ends in ! is
# required, "*" stands for any key.
PROBE = {"httpGet!": {"path!": str, "port!": int}, "periodSeconds": int, "failureThreshold": int, "timeoutSeconds": int}
POD_SPEC = {
    "containers!": [{
        "name!": str, "image!": str, "command": [str], "args": [str],
        "env": [{"name!": str, "value": str, "valueFrom": {"secretKeyRef!": {"name!": str, "key!": str, "optional": bool}}}],
        "resources!": {"requests": {"*": (int, str)}, "limits": {"*": (int, str)}},
        "securityContext": {"capabilities": {"add": [str]}},
        "volumeMounts": [{"name!": str, "mountPath!": str}],
        "ports": [{"containerPort!": int}],
        "startupProbe": PROBE, "readinessProbe": PROBE, "livenessProbe": PROBE,
    }],
    "restartPolicy": str, "serviceAccountName": str, "nodeSelector": {"*": str},
    "tolerations": [{"key!": str, "operator!": str, "effect!": str}],
    "volumes": [{"name!": str, "emptyDir": {"medium": str, "sizeLimit": str}, "persistentVolumeClaim": {"claimName!": str}}],
}
POD = {"metadata": {"labels": {"*": str}, "annotations": {"*": str}}, "spec!": POD_SPEC}
META = {"name!": str, "namespace": str, "labels": {"*": str}}
JOB = {"completionMode": str, "completions": int, "parallelism": int, "backoffLimit": int, "template!": POD}
KINDS = {
    ("v1", "Service"): {"spec!": {"selector!": {"*": str}, "ports": [{"port!": int, "targetPort": (int, str)}]}},
    ("v1", "ServiceAccount"): {},
    ("v1", "PersistentVolumeClaim"): {"spec!": {"accessModes!": [str], "resources!": {"requests!": {"storage!": str}}}},
    ("rbac.authorization.k8s.io/v1", "Role"): {"rules!": [{"apiGroups!": [str], "resources!": [str], "verbs!": [str]}]},
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): {
        "roleRef!": {"apiGroup!": str, "kind!": str, "name!": str}, "subjects!": [{"kind!": str, "name!": str}]},
    ("apps/v1", "Deployment"): {"spec!": {"replicas!": int, "selector!": {"matchLabels!": {"*": str}}, "template!": POD}},
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): {"spec!": {
        "replicas!": int, "startupPolicy": str,
        "leaderWorkerTemplate!": {"size!": int, "restartPolicy": str, "leaderTemplate": POD, "workerTemplate!": POD}}},
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): {"spec!": {
        "suspend": bool, "failurePolicy": {"maxRestarts": int},
        "network": {"enableDNSHostnames": bool, "subdomain": str, "publishNotReadyAddresses": bool},
        "replicatedJobs!": [{"name!": str, "replicas": int, "template!": {"spec!": JOB}}]}},
    ("kueue.x-k8s.io/v1beta2", "ResourceFlavor"): {"spec": {"nodeLabels": {"*": str}}},
    ("kueue.x-k8s.io/v1beta2", "ClusterQueue"): {"spec!": {
        "namespaceSelector": {}, "resourceGroups!": [{
            "coveredResources!": [str],
            "flavors!": [{"name!": str, "resources!": [{"name!": str, "nominalQuota!": (int, str)}]}]}]}},
    ("kueue.x-k8s.io/v1beta2", "LocalQueue"): {"spec!": {"clusterQueue!": str}},
    ("monitoring.coreos.com/v1", "PrometheusRule"): {"spec!": {"groups!": [{"name!": str, "rules!": [{
        "alert!": str, "expr!": str, "for": str, "labels": {"*": str}, "annotations": {"*": str}}]}]}},
    ("keda.sh/v1alpha1", "ScaledObject"): {"spec!": {
        "scaleTargetRef!": {"name!": str}, "minReplicaCount": int, "maxReplicaCount": int, "cooldownPeriod": int,
        "triggers!": [{"type!": str, "metadata!": {"serverAddress!": str, "query!": str, "threshold!": str}}]}},
    ("nvidia.com/v1alpha1", "DynamoGraphDeployment"): {"spec!": {"services!": {"*": {
        "componentType!": str, "subComponentType": str, "envFromSecret": str, "replicas!": int, "multinode": {"nodeCount!": int},
        "resources": {"limits!": {"gpu!": str}},
        "extraPodSpec!": {"mainContainer!": {"image!": str, "command": [str], "args": [str]}}}}}},
}


# ---------------------------------------------------------------------------------------------------------------------
class Flags:
    """Flags of the engines' releases, read from data/ here once more: what is emitted has to be among them."""

    def __init__(self, data):
        self.releases = {}
        for file in sorted(pathlib.Path(data, "engines", "flags").glob("*.toml")):
            facts = tomllib.loads(file.read_text())
            release = facts["release"]["engine"], facts["release"]["version"]
            self.releases[release] = {flag["name"]: flag for part in facts["from"] for flag in part["flags"]}

    def problems(self, text, name):
        """Of the script's command: unknown flags, missing or illegal values."""
        engine = re.search(r"^# ridge: .*?engine=([a-z]+)-(\S+)", text.replace("\n      ", "\n").replace("        ", ""), re.M)
        if engine is None:
            return [f"{name}: does not say for which release it is"]
        known = self.releases[engine.group(1), engine.group(2)]
        if engine.group(1) in ("primus", "deepspeed", "maxtext", "bridge"):
            return self.problems_of_keys(text, name, engine.group(1), known)
        start = {"vllm": "vllm serve", "sglang": "sglang.launch_server", "trtllm": "trtllm-serve serve", "llamacpp": "llama-server",
                 "megatron": "pretrain_gpt.py", "torchtitan": "torchtitan.train"}[engine.group(1)]
        command = text[re.search(rf"^\s*[^#\n]*{re.escape(start)}", text, re.M).end():].replace("\\\n", " ").split("\n")[0]
        words = shlex.split(re.sub(r"\$\(\(.*?\)\)", "1", command))
        found, index = [], 0
        while index < len(words):
            word, index = words[index], index + 1
            if not word.startswith("--"):
                continue
            flag = known.get(word)
            if flag is None:
                found.append(f"{name}: {engine.group(0)[8:]} has no {word}")
                continue
            if flag.get("deprecated"):
                found.append(f"{name}: {word} is deprecated")
            if flag["type"] == "switch":
                continue
            value, index = words[index], index + 1
            if "$" in value:
                continue
            if flag.get("choices") and value not in flag["choices"]:
                found.append(f"{name}: {word} takes {flag['choices']}, not {value}")
            try:
                {"int": int, "float": float, "json": json.loads}.get(flag["type"], str)(value)
            except ValueError:
                found.append(f"{name}: {word} takes a value of type {flag['type']}, not {value}")
        return found


    @staticmethod
    def problems_of_keys(text, name, engine, known):
        """Of engines that are set by keys: the file that a script writes, or KEY=VALUE among its words."""
        pairs = []
        if engine == "primus":
            overrides = yaml.safe_load(text.split("<<'YAML'\n")[1].split("\nYAML\n")[0])["modules"]["pre_trainer"]["overrides"]
            pairs = list(overrides.items())
        elif engine == "deepspeed":
            def flat(value, path):
                for key, inner in value.items():
                    yield from flat(inner, f"{path}{key}.") if isinstance(inner, dict) else [(path + key, inner)]
            pairs = list(flat(json.loads(text.split("<<'JSON'\n")[1].split("\nJSON\n")[0]), ""))
        else:
            start = {"maxtext": "maxtext.trainers.pre_train.train", "bridge": 'run_recipe.py"'}[engine]
            words = shlex.split(text[text.index(start) + len(start):].replace("\\\n", " ").split("\n")[0])
            while words:
                word = words.pop(0)
                if word.startswith("--"):
                    pairs.append((word, words.pop(0)))
                elif "=" in word:
                    pairs.append(tuple(word.split("=", 1)))
        found = []
        for key, value in pairs:
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            flag = known.get(key)
            if flag is None:
                found.append(f"{name}: {engine} has no {key}")
            elif flag.get("choices") and shown not in flag["choices"] and shown != "null":
                found.append(f"{name}: {key} takes {flag['choices'][:9]}, not {shown}")
            elif flag["type"] in ("int", "float") and "$" not in shown and shown != "null":
                try:
                    float(shown)
                except ValueError:
                    found.append(f"{name}: {key} takes a number, not {shown}")
        return found if len(pairs) > 4 else found + [f"{name}: only {len(pairs)} keys were found"]


def problems(value, rule, at):
    """What of the value breaks the rule."""
    if isinstance(rule, list):
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [p for i, item in enumerate(value) for p in problems(item, rule[0], f"{at}[{i}]")]
    if isinstance(rule, dict):
        if not isinstance(value, dict):
            return [f"{at}: no mapping"]
        known = {key.rstrip("!"): inner for key, inner in rule.items()}
        found = [f"{at}.{key[:-1]} is missing" for key in rule if key.endswith("!") and key[:-1] not in value]
        for key, inner in value.items():
            if key in known:
                found += problems(inner, known[key], f"{at}.{key}")
            elif "*" in known:
                found += problems(inner, known["*"], f"{at}.{key}")
            else:
                found.append(f"{at}.{key} is unknown")
        return found
    wanted = rule if isinstance(rule, tuple) else (rule,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        return [f"{at}: {value!r} is no {'/'.join(t.__name__ for t in wanted)}"]
    return []


def check_manifest(document, name):
    rule = KINDS.get((document.get("apiVersion"), document.get("kind")))
    if rule is None:
        return [f"{name}: no schema for {document.get('apiVersion')} {document.get('kind')}"]
    found = problems(document, {"apiVersion!": str, "kind!": str, "metadata!": META, **rule}, name)
    # Rules that hold between fields.
    spec = document.get("spec", {})
    for pod in find(document, "template") if document["kind"] == "Deployment" else []:
        volumes = {v["name"] for v in pod["spec"].get("volumes", [])}
        for container in pod["spec"]["containers"]:
            if {m["name"] for m in container.get("volumeMounts", [])} - volumes:
                found.append(f"{name}: a mount without its volume")
    if document["kind"] == "ClusterQueue":
        for group in spec["resourceGroups"]:
            for flavor in group["flavors"]:
                if [r["name"] for r in flavor["resources"]] != group["coveredResources"]:
                    found.append(f"{name}: a flavor has the covered resources in their order")
    if document["kind"] == "Deployment":
        if spec["selector"]["matchLabels"].items() - spec["template"]["metadata"]["labels"].items():
            found.append(f"{name}: the selector does not match the pods")
    for replicated in spec.get("replicatedJobs", []) if document["kind"] == "JobSet" else []:
        job = replicated["template"]["spec"]
        if job["template"]["spec"].get("restartPolicy") not in ("Never", "OnFailure"):
            found.append(f"{name}: a job restarts Never or OnFailure")
        if job.get("completionMode") == "Indexed" and job.get("completions") != job.get("parallelism"):
            found.append(f"{name}: all pods of an indexed job have to run at once")
    if not all(c.islower() or c.isdigit() or c in "-." for c in document["metadata"]["name"]):
        found.append(f"{name}: {document['metadata']['name']!r} is no name")
    return found


# ---------------------------------------------------------------------------------------------------------------------
def run(command, **more):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, **more)


def check_slurm(folder, failures):
    """A controller of our own, on its own port, reads the files and takes the job."""
    if shutil.which("slurmctld") is None:
        print("no slurmctld: the Slurm files are not checked")
        return
    port = 20000 + 2 * (os.getpid() % 6000)  # below those the kernel hands out by itself
    text = (folder / "slurm.conf").read_text()
    nodes = text.split("NodeName=")[1].split()[0]
    count = int(nodes.split("-")[1].rstrip("]")) if "[" in nodes else 1
    # Nodes that do not exist need an address; everything else stays as it was written.
    address = f"127.0.0.[1-{count}]" if count > 1 else "127.0.0.1"
    text = text.replace("State=UNKNOWN", f"NodeAddr={address} State=UNKNOWN")
    with tempfile.TemporaryDirectory() as state:
        conf = pathlib.Path(state) / "slurm.conf"
        user = run(["id", "-un"]).stdout.strip()
        host = run(["hostname", "-s"]).stdout.strip()
        conf.write_text(f"ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nAuthType=auth/none\n"
                        f"CredType=cred/none\nSlurmctldPort={port}\nSlurmdPort={port + 1}\nStateSaveLocation={state}/state\n"
                        f"SlurmctldPidFile={state}/pid\nSlurmdSpoolDir={state}/spool\nMailProg=/bin/true\n"
                        f"ProctrackType=proctrack/linuxproc\n{text}")
        (pathlib.Path(state) / "state").mkdir()
        shutil.copy(folder / "gres.conf", pathlib.Path(state) / "gres.conf")
        environment = dict(os.environ, SLURM_CONF=str(conf))
        log = pathlib.Path(state) / "log"
        with open(log, "w", encoding="utf-8") as out:
            controller = subprocess.Popen(["slurmctld", "-D", "-f", str(conf)], stdout=out, stderr=out, env=environment)
        try:
            for _ in range(300):
                up = run(["scontrol", "ping"], env=environment)
                if "UP" in up.stdout or controller.poll() is not None:
                    break
                time.sleep(0.2)
            if controller.poll() is not None:
                failures.append("slurmctld does not start:\n" + log.read_text()[-1500:])
                return
            gres = run(["scontrol", "-o", "show", "node", "gpu001"], env=environment).stdout
            wanted = [word for word in text.split() if word.startswith("Gres=")][0]
            if wanted not in gres:
                failures.append(f"slurmctld does not know {wanted}: {gres}")
            done = run(["sbatch", "--hold", "--chdir=/tmp", str(folder / "job.sbatch")], env=environment)
            if done.returncode != 0:
                failures.append(f"sbatch refuses {folder}/job.sbatch: {done.stdout}")
            # Of what the controller calls an error, what concerns the files; a slow clock, state that is not there yet and
            # nodes that do not answer are this machine's.
            for line in log.read_text().splitlines():
                if re.search(r"(error|fatal):.*(pars|invalid|bad value|unrecognized|lookup failure|gres)", line, re.IGNORECASE):
                    failures.append(f"slurmctld: {line}")
        finally:
            controller.terminate()
            controller.wait(timeout=100)


def estimates(ridge, target, flags, file):
    """A file says enough to be estimated again, with the numbers of the plan it came from."""
    if target not in ("vllm", "sglang", "trtllm", "megatron") or "--engine-version" in flags or "--draft-model" in flags or "--disaggregate" in flags:
        return []
    kind = "train" if target == "megatron" else "infer"
    engine = [] if kind == "train" else ["--engine", target]
    plan = subprocess.run([ridge, "estimate", kind, *flags.split(), *engine, "--json"], stdout=subprocess.PIPE, check=True, timeout=120)
    again = subprocess.run([ridge, "emit", "--check", str(file), "--json"], stdout=subprocess.PIPE, check=True, timeout=120)
    key = "step_time_s" if kind == "train" else "output_tokens_per_s"
    planned, found = json.loads(plan.stdout)[key]["mid"], json.loads(again.stdout)["estimate"]
    # Megatron runs whole layers of a chunk twice, a plan the share that fits: a file may be that much slower, never faster.
    slower = 0.15 if kind == "train" else 1e-6
    if found is None or not -1e-6 <= found[key] / planned - 1 <= slower:
        return [f"{target} {flags}: {key} {planned} as planned, {found} read back"]
    return []


def estimates_of_pools(ridge, target, flags, files):
    """The same for two pools: a prompt and a token take as long as planned, and all engines of tokens together give as much."""
    if target not in ("vllm", "sglang", "trtllm"):
        return []
    plain = re.sub(r"--pools \S+", "", flags)
    planned = json.loads(subprocess.run([ridge, "estimate", "infer", *plain.split(), "--engine", target, "--json"],
                                        stdout=subprocess.PIPE, check=True, timeout=120).stdout)
    back = {}
    for file in files:
        if file.stem in ("prefill", "decode"):
            again = subprocess.run([ridge, "emit", "--check", str(file), "--json"], stdout=subprocess.PIPE, check=True, timeout=120)
            back[file.stem] = json.loads(again.stdout)["estimate"]
    count = int(re.search(r"--pools \d+P(\d+)D", flags)[1]) if "--pools" in flags else planned["decode_engines"]
    pairs = [(back["prefill"]["ttft_s"], planned["prefill_s"]["mid"]), (back["decode"]["tpot_s"], planned["tpot_s"]["mid"]),
             (back["decode"]["output_tokens_per_s"], count * planned["output_tokens_per_s"]["mid"])]
    return [f"{target} {flags}: {found} read back, {wanted} planned" for found, wanted in pairs if abs(found / wanted - 1) > 1e-6]


def main(ridge, data):
    failures = []
    flags_of = Flags(data)
    with tempfile.TemporaryDirectory() as out:
        for index, (target, flags) in enumerate(PLANS):
            folder = pathlib.Path(out) / f"{index}-{target}"
            done = run([ridge, "emit", "--for", target, *flags.split(), "--out", str(folder)])
            if done.returncode != 0:
                failures.append(f"ridge emit --for {target} {flags}: {done.stdout}")
                continue
            files = [pathlib.Path(line) for line in done.stdout.splitlines()]
            for file in files:
                if file.suffix in (".sh", ".sbatch"):
                    checked = run(["shellcheck", "--shell=bash", str(file)])
                    if checked.returncode != 0:
                        failures.append(f"{flags}\n{checked.stdout}")
                    if file.stem != "router":
                        failures += flags_of.problems(file.read_text(), f"{target} {flags}")
                    if run(["bash", "-n", str(file)]).returncode != 0:
                        failures.append(f"bash does not read {file}")
                if file.suffix == ".yaml":
                    documents = list(yaml.safe_load_all(file.read_text()))
                    if "values" in file.name:
                        continue
                    for document in documents:
                        failures += check_manifest(document, f"{target} {file.name} ({flags})")
                        for text in find(document, "args"):
                            if "\n" not in text[0]:
                                continue
                            failures += flags_of.problems(text[0], f"{target} {flags}")
                            script = pathlib.Path(out) / "container.sh"
                            script.write_text(text[0])
                            checked = run(["shellcheck", "--shell=bash", str(script)])
                            if checked.returncode != 0:
                                failures.append(f"{file.name} {flags}\n{checked.stdout}")
            if target == "dynamo":
                continue  # graphs are not read back
            failures += estimates(ridge, target, flags, files[0])
            if "--disaggregate" in flags:
                failures += estimates_of_pools(ridge, target, flags, files)
            for first in files[:1] if "--disaggregate" not in flags else [f for f in files if f.stem in ("prefill", "decode")]:
                back = run([ridge, "emit", "--check", str(first), *flags.split()])
                if back.returncode != 0 or "The same plan." not in back.stdout:
                    failures.append(f"{first.name} ({flags}) is another plan:\n{back.stdout}")
            if target == "slurm" and "--disaggregate" not in flags and ("--kind train" in flags or "mi300x" in flags or "gaudi" in flags):
                check_slurm(folder, failures)
    unknown = run([ridge, "emit", "--for", "vllm", "--model", "llama3.1-8b", "--device", "h100-sxm", "--engine-version", "0.1.0"])
    if unknown.returncode != 1 or "nearest release is 0.26.0" not in " ".join(unknown.stdout.split()):
        failures.append(f"an unknown release: {unknown.stdout}")
    for target, flags, word in REFUSED:
        done = run([ridge, "emit", "--for", target, *flags.split()])
        if done.returncode != 2 or word not in " ".join(done.stdout.split()):
            failures.append(f"ridge emit --for {target} {flags}: code {done.returncode}, not 2 with {word!r}: {done.stdout}")
    # The check itself has to be able to fail.
    broken = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"templates": {}}}
    if not problems(broken, {"apiVersion!": str, "kind!": str, "metadata!": META, **KINDS[("apps/v1", "Deployment")]}, "x"):
        failures.append("a broken manifest passes")
    line = "# ridge: engine=vllm-0.27.1\nexec vllm serve m --dtype fp7 --no-such-flag 1 --max-num-seqs many\n"
    if len(flags_of.problems(line, "x")) != 3:
        failures.append("flags that do not exist pass")
    print("\n".join(failures) if failures else f"{len(PLANS)} plans: scripts, manifests and Slurm files are fine")
    return 1 if failures else 0


def find(value, key):
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            else:
                yield from find(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, key)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
