#!/usr/bin/env python3
"""Checks what `ridge emit` writes with the tools it is written for.

Usage: check_launch_files.py RIDGE

Every script passes shellcheck; every manifest has the structure of the public Kubernetes, Kueue and Volcano schemas
(required fields, known fields, types; the part of them that a launch file uses); the configuration and the job for Slurm
are taken by a real slurmctld; every file reads back as the plan it came from.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

SERVE = "--model llama3.3-70b --device h200-sxm --precision fp8 --isl 1000 --osl 250"
TRAIN = "--model llama3.1-70b --system dgx-h100 --gpus 64 --tp 8 --pp 2 --global-batch 128 --seq-length 8192"
PLANS = [
    ("vllm", f"{SERVE} --gpus 8 --tp 2 --kv-precision fp8"),
    ("vllm", "--model llama3.1-405b --system dgx-h100 --gpus 16 --tp 8 --pp 2 --precision fp8"),
    ("sglang", f"{SERVE} --gpus 16 --tp 4"),
    ("sglang", "--model deepseek-r1 --system dgx-h200 --gpus 16 --tp 16"),
    ("trtllm", f"{SERVE} --gpus 4 --tp 4 --kv-precision fp8"),
    ("trtllm", f"{SERVE} --gpus 8 --tp 1"),
    ("megatron", TRAIN),
    ("megatron", "--model deepseek-v3 --system dgx-h100 --gpus 512 --tp 2 --pp 8 --ep 32 --precision fp8"),
    ("torchrun", TRAIN),
    ("torchrun", "--model llama3.1-8b --device h100-sxm --gpus 8 --tp 1 --global-batch 64"),
    ("slurm", f"--kind train {TRAIN}"),
    ("slurm", f"--kind train --engine torchtitan --sharding zero3 {TRAIN}"),
    ("slurm", f"--kind serve {SERVE} --gpus 8 --tp 2"),
    ("slurm", "--kind serve --model llama3.1-70b --device mi300x --gpus 8 --tp 2"),
    ("k8s", f"--kind train {TRAIN}"),
    ("k8s", f"--kind serve {SERVE} --gpus 8 --tp 2"),
    ("k8s", f"--kind serve --engine sglang {SERVE} --gpus 4 --tp 4"),
    ("k8s", "--kind serve --model llama3.1-70b --device mi300x --gpus 2 --tp 2"),
]

# ---------------------------------------------------------------------------------------------------------------------
# Structure. A rule is a type, a list with the rule of its items, or a dict of fields; a field that ends in ! is
# required, "*" stands for any key.
POD_SPEC = {
    "containers!": [{
        "name!": str, "image!": str, "command": [str], "args": [str],
        "envFrom": [{"configMapRef!": {"name!": str}}],
        "resources!": {"limits!": {"*": (int, str)}},
        "volumeMounts": [{"name!": str, "mountPath!": str}],
        "ports": [{"containerPort!": int}],
    }],
    "restartPolicy": str, "subdomain": str, "nodeSelector": {"*": str},
    "volumes": [{"name!": str, "emptyDir!": {"medium": str}}],
}
META = {"name!": str, "namespace": str, "labels": {"*": str}}
SERVICE = {"clusterIP": str, "publishNotReadyAddresses": bool, "selector!": {"*": str},
           "ports": [{"port!": int, "targetPort": (int, str)}]}
KINDS = {
    ("v1", "Service"): {"spec!": SERVICE},
    ("v1", "ConfigMap"): {"data!": {"*": str}},
    ("apps/v1", "Deployment"): {"spec!": {
        "replicas!": int, "selector!": {"matchLabels!": {"*": str}},
        "template!": {"metadata!": {"labels!": {"*": str}}, "spec!": POD_SPEC}}},
    ("batch/v1", "Job"): {"spec!": {
        "suspend": bool, "completionMode": str, "completions": int, "parallelism": int, "backoffLimit": int,
        "template!": {"metadata": {"labels": {"*": str}}, "spec!": POD_SPEC}}},
    ("batch.volcano.sh/v1alpha1", "Job"): {"spec!": {
        "minAvailable!": int, "schedulerName": str, "queue": str, "plugins": {"*": [str]},
        "policies": [{"event!": str, "action!": str}],
        "tasks!": [{"name!": str, "replicas!": int, "template!": {"spec!": POD_SPEC}}]}},
    ("kueue.x-k8s.io/v1beta1", "ResourceFlavor"): {"spec": {"nodeLabels": {"*": str}}},
    ("kueue.x-k8s.io/v1beta1", "ClusterQueue"): {"spec!": {
        "namespaceSelector": {}, "resourceGroups!": [{
            "coveredResources!": [str],
            "flavors!": [{"name!": str, "resources!": [{"name!": str, "nominalQuota!": (int, str)}]}]}]}},
    ("kueue.x-k8s.io/v1beta1", "LocalQueue"): {"spec!": {"clusterQueue!": str}},
}


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
    if document["kind"] == "Deployment":
        if spec["selector"]["matchLabels"].items() - spec["template"]["metadata"]["labels"].items():
            found.append(f"{name}: the selector does not match the pods")
    if document["kind"] == "Job" and document["apiVersion"] == "batch/v1":
        if spec["template"]["spec"].get("restartPolicy") not in ("Never", "OnFailure"):
            found.append(f"{name}: a job restarts Never or OnFailure")
        if spec.get("completionMode") == "Indexed" and spec.get("completions") != spec.get("parallelism"):
            found.append(f"{name}: all pods of an indexed job have to run at once")
    if "minAvailable" in spec and spec["minAvailable"] != sum(task["replicas"] for task in spec["tasks"]):
        found.append(f"{name}: a gang is all of its pods")
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


def main(ridge):
    failures = []
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
                if file.suffix == ".yaml":
                    documents = list(yaml.safe_load_all(file.read_text()))
                    if "values" in file.name:
                        continue
                    for document in documents:
                        failures += check_manifest(document, f"{target} {file.name} ({flags})")
                        for text in find(document, "args"):
                            script = pathlib.Path(out) / "container.sh"
                            script.write_text(text[0])
                            checked = run(["shellcheck", "--shell=bash", str(script)])
                            if checked.returncode != 0:
                                failures.append(f"{file.name} {flags}\n{checked.stdout}")
            back = run([ridge, "emit", "--check", str(files[0]), *flags.split()])
            if back.returncode != 0 or "The same plan." not in back.stdout:
                failures.append(f"{files[0].name} ({flags}) is another plan:\n{back.stdout}")
            if target == "slurm":
                check_slurm(folder, failures)
    # The check itself has to be able to fail.
    broken = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {"templates": {}}}
    if not problems(broken, {"apiVersion!": str, "kind!": str, "metadata!": META, **KINDS[("batch/v1", "Job")]}, "x"):
        failures.append("a broken manifest passes")
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
    sys.exit(main(sys.argv[1]))
