#!/usr/bin/env python3
"""Price lists that are broken, cut off, renamed or hostile are refused as a whole, with the place; what was there stays.

Usage: import_test.py RIDGE ROOT
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SKYPILOT = ("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n"
            "gpu-h200-sxm_1gpu,H200,1,16,200,5.4,eu-north1,,\n"
            "gpu-h100-sxm_8gpu,H100,8,128,1600,36,eu-north1,,18\n")
GPUHUNT = ("instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,gpu_vendor,spot,disk_size\n"
           "a,eu,3.29,16,200,1,H100,80,nvidia,False,100\n"
           "b,eu,10.4,32,400,2,H200,141,nvidia,True,100\n")
LITELLM = {"llama-3.1-8b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 5e-8,
                            "output_cost_per_token": 8e-8},
           "llama-3.3-70b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 5.9e-7,
                             "output_cost_per_token": 7.9e-7}}
OPENROUTER = {"data": [{"id": "meta-llama/llama-3.3-70b-instruct", "name": "Llama 3.3 70B",
                        "pricing": {"prompt": "0.0000001", "completion": "0.00000032"}}]}
LISTS = {"skypilot": SKYPILOT, "gpuhunt": GPUHUNT, "litellm": json.dumps(LITELLM, indent=1),
         "openrouter": json.dumps(OPENROUTER, indent=1)}


def hostile(form, good):
    """(what it is, bytes): lists that have to be refused."""
    cut = good[: len(good) * 2 // 3].rstrip("\n")
    yield "empty", b""
    yield "no text", bytes(range(256)) * 20
    yield "a NUL byte", good.replace("l", "\0", 1).encode()
    yield "not UTF-8", good.encode().replace(b"a", b"\xff\xfe", 1)
    yield "of another form", LISTS["litellm" if form in ("skypilot", "gpuhunt") else "skypilot"].encode()
    if form in ("skypilot", "gpuhunt"):
        price = "5.4" if form == "skypilot" else "3.29"
        head, rest = good.split("\n", 1)
        yield "cut off within a line", cut[: cut.rfind(",")].encode()
        yield "a column renamed", (head.replace("AcceleratorName", "Accelerator").replace("gpu_name", "gpu") + "\n" + rest).encode()
        for word in ("-1", "inf", "1e300", "0x10", "5.4.1", "=1+1", "1;DROP TABLE", "five"):
            yield f"a price of {word}", good.replace(price, word, 1).encode()
        yield "a quote that never ends", (good + '"x,1,2').encode()
        yield "a line with too many cells", (good + ",".join("x" * 40) + "\n").encode()
        yield "a line of 20 MB", (good + "x" * 20_000_000).encode()
    else:
        yield "cut off", cut.encode()
        yield "no object", b"[1, 2, 3]"
        yield "deep", b"[" * 100_000
        yield "deep objects", b'{"a":' * 100_000
        old = "5e-08" if form == "litellm" else '"0.0000001"'
        for word in ("-1e-8", "1e300", '"x"', '{"a": 1}', "[1]", "5"):
            yield f"a price of {word}", good.replace(old, word, 1).encode()


def main():
    ridge, root = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)

        def take(form, content, what):
            (at / "list").write_bytes(content)
            taken = at / "taken.toml"
            taken.write_text("old prices")
            done = subprocess.run([ridge, "--data", str(root / "data"), "catalogue", "import", form, "list", "--take", "taken.toml",
                                   "--date", "2026-10-24"], cwd=at, capture_output=True, text=True, errors="replace", timeout=60)
            if done.returncode not in (0, 1):
                wrong.append(f"{form}, {what}: ended with {done.returncode}: {done.stderr[-300:]}")
            if done.returncode != 0 and taken.read_text() != "old prices":
                wrong.append(f"{form}, {what}: refused, and the old prices are gone")
            others = sorted(p.name for p in at.iterdir() if p.name not in ("list", "taken.toml"))
            if others:
                wrong.append(f"{form}, {what}: left {others} behind")
            return done

        # A provider whose prices are in another unit spoils the list, unless its entries are set aside by name.
        odd = {**LITELLM, "phi-4": {**LITELLM["llama-3.1-8b"], "litellm_provider": "odd", "input_cost_per_token": 0.015}}
        for words, ends in ((["--without", "odd"], 0), ([], 1), (["--without", "odder"], 1)):
            (at / "list").write_text(json.dumps(odd))
            done = subprocess.run([ridge, "--data", str(root / "data"), "catalogue", "import", "litellm", "list", *words],
                                  cwd=at, capture_output=True, text=True)
            if done.returncode != ends or (not words and "--without odd" not in done.stderr):
                wrong.append(f"a provider set aside by {words}: {done.returncode} {done.stderr}")

        for form, good in LISTS.items():
            done = take(form, good.encode(), "as it should be")
            if done.returncode != 0 or (at / "taken.toml").read_text() == "old prices":
                wrong.append(f"{form}: a good list was not taken: {done.stderr}")
            for what, content in hostile(form, good):
                done = take(form, content, what)
                if done.returncode == 0:
                    wrong.append(f"{form}, {what}: was taken\n{done.stdout[:300]}")
                elif not done.stderr.startswith("ridge: list") or len(done.stderr) > 2000:
                    wrong.append(f"{form}, {what}: no place: {done.stderr[:300]}")
                refused += 1
            # Whatever else happens to a list, the program ends by itself and takes all of it or nothing.
            chance = random.Random(27)
            for trial in range(40):
                damaged = bytearray(good.encode())
                for _ in range(chance.randint(1, 6)):
                    damaged[chance.randrange(len(damaged))] = chance.randrange(256)
                take(form, bytes(damaged), f"damage {trial}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{refused} lists refused with their place, {4 * 40} damaged ones without harm")


if __name__ == "__main__":
    main()
