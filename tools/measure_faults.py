#!/usr/bin/env python3
"""Whether ridge-measure reports faults and keeps them out of its figures, on a real GPU.

Usage: measure_faults.py RIDGE-MEASURE FOLDER [CLEAN-PROFILE.toml]      prints a verdict each; exit 3 if one failed

Memory that others hold, weights that do not fit, a GPU in use, a process that comes while measuring and an interruption are
made for real. Heat and memory errors come from a management library that makes them up (tests/measure/fake_nvml): the
board's clocks, power limit and modes are never touched. Profiles stay in FOLDER. With a clean profile, what was kept beside
a newcomer is compared with it.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 60


class Faults:
    def __init__(self, program, folder, clean):
        self.program, self.folder = program, pathlib.Path(folder)
        self.clean = self.read(pathlib.Path(clean)) if clean and os.path.exists(clean) else None
        self.failed = 0

    @staticmethod
    def read(path):
        try:
            return tomllib.loads(path.read_text())
        except FileNotFoundError:
            return {"point": [], "skipped": [], "health": {}, "missing": True}

    def start(self, *words, environment=None):
        return subprocess.Popen([self.program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **(environment or {})})

    def run(self, name, *words, stop_after=None, environment=None, meanwhile=None):
        """Exit code, profile and messages of a run; interrupted after so many seconds; `meanwhile` runs beside it."""
        path = self.folder / f"fault-{name}.toml"
        path.unlink(missing_ok=True)
        process = self.start(*words, "--out", str(path), environment=environment)
        try:
            if meanwhile:
                meanwhile()
            if stop_after:
                time.sleep(stop_after)
                process.send_signal(signal.SIGINT)
            messages = process.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            messages = process.communicate()[1] + "did not end in time"
        return process.returncode, self.read(path), messages

    def verdict(self, name, began, conditions, messages):
        wrong = [text for text, holds in conditions.items() if not holds]
        self.failed += bool(wrong)
        print(f"{'FAIL' if wrong else 'PASS'}  {name} ({time.time() - began:.0f} s)", flush=True)
        for text in wrong:
            print(f"      not so: {text}")
        if wrong:
            print(f"      {messages.strip()[-600:]}", flush=True)


def reasons(profile):
    return [s["why"] for s in profile.get("skipped", [])]


def hammer(faults):
    """Steady work of another process for about ten seconds."""
    return faults.start("--quick", "--only", "sustained", "--force")


def end(process):
    """Ends it at once, and waits until the driver has noticed."""
    process.kill()
    process.wait(timeout=LIMIT)
    time.sleep(1)


def memory_used():
    query = subprocess.run(["nvidia-smi", "--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"],
                           capture_output=True, text=True, check=False)
    used, total = (float(x) for x in query.stdout.splitlines()[0].split(","))
    return used / total


def wait_until(holds, seconds):
    end = time.time() + seconds
    while time.time() < end and not holds():
        time.sleep(0.2)


def no_memory(faults):
    began = time.time()
    holder = faults.start("model", "--phase", "prefill", "--precision", "bf16", "--batch", "64", "--context", "8192", "--force")
    wait_until(lambda: memory_used() > 0.97, 20)
    code, profile, messages = faults.run("memory", "--quick", "--only", "experts,attention", "--force", stop_after=12)
    end(holder)
    faults.verdict("memory that others hold", began, {
        "exit 0 or 2": code in (0, 2),
        "what does not fit is named": any("memory" in why or "fit" in why for why in reasons(profile)),
        "the other process is in the profile": profile["health"].get("other_processes", 0) >= 1}, messages)


def no_room_for_weights(faults):
    began = time.time()
    code, profile, messages = faults.run("weights", "model", "--layers", "1000", "--batch", "1", "--context", "1024",
                                         "--precision", "bf16", "--phase", "decode")
    faults.verdict("weights that do not fit", began, {
        "exit 2": code == 2,
        "the reason is in the profile": any(why.startswith("weights:") for why in reasons(profile))}, messages)


def busy(faults):
    began = time.time()
    other = hammer(faults)
    time.sleep(3)
    code, profile, messages = faults.run("busy", "--quick", "--only", "launch")
    faults.verdict("a GPU in use is refused", began, {
        "exit 2": code == 2, "a sentence says so": "in use by others" in messages, "no profile": "missing" in profile}, messages)
    began = time.time()
    code, profile, messages = faults.run("forced", "--quick", "--only", "launch", "--force")
    faults.verdict("a GPU in use, by --force", began, {
        "exit 0": code == 0,
        "the profile says so": profile["health"].get("other_processes", 0) >= 1
        or profile["health"].get("busy_share", 0) > 0.05}, messages)
    end(other)


def key(point):
    return tuple(point.get(k, 0) for k in ("op", "dtype", "m", "n", "k"))


def newcomer(faults):
    began = time.time()
    others = []

    def come():
        time.sleep(5)
        others.append(hammer(faults))
        time.sleep(4)
        end(others[0])
    code, profile, messages = faults.run("newcomer", "--quick", "--only", "gemm", meanwhile=come, stop_after=4)
    conditions = {"exit 0": code == 0, "the profile counts it": profile["health"].get("newcomers", 0) >= 1,
                  "points beside it are left out": any("another process came" in why for why in reasons(profile)),
                  "points without it are kept": len(profile.get("point", [])) > 3}
    if faults.clean:
        clean = {key(p): p["seconds"] for p in faults.clean["point"]}
        ratios = sorted(p["seconds"] / clean[key(p)] for p in profile.get("point", []) if key(p) in clean)
        print(f"      kept beside a newcomer: {len(ratios)}, against the clean profile "
              f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios else "      nothing to compare")
        conditions["nothing that was kept is 1.5 times a clean run"] = not ratios or ratios[-1] < 1.5
    faults.verdict("a process that comes while measuring", began, conditions, messages)


def made_up(faults, fault, says, folder):
    began = time.time()
    environment = {"RIDGE_FAKE_NVML": fault, "RIDGE_FAKE_FROM": "3", "RIDGE_FAKE_UNTIL": "5",
                   "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    code, profile, messages = faults.run(fault, "--quick", "--only", "gemm", stop_after=9, environment=environment)
    health = profile["health"]
    seen = health.get("uncorrected_errors", 0) > 0 if fault == "memory" else \
        health.get("newcomers", 0) == 1 if fault == "process" else any("thermal" in t for t in health.get("throttled", []))
    faults.verdict(f"made up: {says}", began, {
        "exit 0": code == 0, "the profile has it": seen,
        "points meanwhile are left out": any(says in why for why in reasons(profile)),
        "points before and after are kept": len(profile.get("point", [])) > 3,
        "the interruption is in the profile": "interrupted" in reasons(profile)}, messages)


def main(program, folder, clean=None):
    faults = Faults(program, folder, clean)
    no_room_for_weights(faults)
    no_memory(faults)
    busy(faults)
    newcomer(faults)
    with tempfile.TemporaryDirectory() as built:
        subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-o", f"{built}/libnvidia-ml.so.1",
                        str(ROOT / "tests/measure/fake_nvml/fake_nvml.cpp")], check=True)
        made_up(faults, "heat", "clocks were slowed: thermal", built)
        made_up(faults, "memory", "memory had an error", built)
        made_up(faults, "process", "another process came", built)
    print("faults:", "all as they should be" if faults.failed == 0 else f"{faults.failed} failed")
    return 3 if faults.failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
