#!/usr/bin/env python3
"""Times products, copies and attention through PyTorch beside a profile of ridge-measure, on the same GPU, same method.

Usage: measure_torch.py PROFILE.toml [RIDGE-MEASURE]      (needs torch with CUDA; prints a table, exit 0)

Large products run into the power limit, and what ran before decides how warm the board is: ridge-measure therefore runs
again afterwards where its program is named, and the mean of both counts.
"""
import statistics
import subprocess
import sys
import tomllib

try:
    import torch
except ImportError:
    print("PyTorch is not installed: nothing to compare with")
    sys.exit(0)

L2_BYTES = 64 << 20


def timed(call, rotation, sample=1e-3, budget=0.06, settle=0.0):
    """Median seconds of call(i) inside a captured graph of at least `rotation` calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for i in range(3):
            call(i)
        stream.synchronize()
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record(stream)
        for i in range(3):
            call(i)
        last.record(stream)
        stream.synchronize()
        once = max(first.elapsed_time(last) * 1e-3 / 3, 1e-6)
        inner = max(rotation, min(400, int(sample / once) + 1))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(inner):
                call(i)
        for _ in range(1 + int(settle / (once * inner))):
            graph.replay()
        samples = max(7, min(60, int(budget / (once * inner))))
        events = [torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
        events[0].record(stream)
        for i in range(samples):
            graph.replay()
            events[i + 1].record(stream)
        stream.synchronize()
    return statistics.median(events[i].elapsed_time(events[i + 1]) * 1e-3 / inner for i in range(samples))


def product(dtype, m, n, k):
    each = 1 if dtype == "fp8" else 2
    sets = max(2, min(64, 4 * L2_BYTES // (n * k * each) + 2))
    large = 2.0 * m * n * k > 2e11
    a = torch.rand(m, k, device="cuda", dtype=torch.bfloat16) * 2 - 1
    weights = [((torch.rand(n, k, device="cuda", dtype=torch.bfloat16) * 2 - 1) * 0.05) for _ in range(sets)]
    out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    if dtype == "fp8":
        a = a.to(torch.float8_e4m3fn)
        weights = [(w * 20).to(torch.float8_e4m3fn) for w in weights]
        one = torch.ones((), device="cuda", dtype=torch.float32)

        def call(i):
            torch._scaled_mm(a, weights[i % sets].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                             use_fast_accum=True)
    else:
        def call(i):
            torch.mm(a, weights[i % sets].t(), out=out)
    return timed(call, sets, 5e-3 if large else 5e-4, 0.15 if large else 0.03, 0.12 if large else 0)


def main(path, repeat=None):
    with open(path, "rb") as file:
        profile = tomllib.load(file)
    measured = {}
    torch_times = {}
    print("torch", torch.__version__, "cuda", torch.version.cuda)
    wanted = {1, 16, 64, 256, 1024, 4096, 16384, 8192}
    shapes = {(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (8192, 8192)}

    def points(of):
        for p in of["point"]:
            if p["op"] == "gemm" and p["dtype"] != "fp16" and p["m"] in wanted and (p["n"], p["k"]) in shapes:
                yield (p["dtype"], p["m"], p["n"], p["k"]), p["seconds"]

    for key, seconds in points(profile):
        measured.setdefault(key, []).append(seconds)
        try:
            torch_times[key] = product(*key)
        except RuntimeError as error:
            print("torch cannot:", *key, str(error).splitlines()[0][:80])
        torch.cuda.empty_cache()
    if repeat:
        torch.cuda.synchronize()
        subprocess.run([repeat, "--quick", "--only", "gemm", "--force", "--out", "/tmp/repeat.toml"], check=False)
        with open("/tmp/repeat.toml", "rb") as file:
            for key, seconds in points(tomllib.load(file)):
                measured.setdefault(key, []).append(seconds)
    ratios = []
    print(f"{'dtype':6}{'m':>7}{'n':>8}{'k':>7}{'ridge us':>12}{'again us':>12}{'torch us':>12}{'ridge TFLOP/s':>15}"
          f"{'torch/ridge':>13}")
    for key, seconds in torch_times.items():
        dtype, m, n, k = key
        ours = statistics.mean(measured[key])
        ratios.append(seconds / ours)
        again = measured[key][1] * 1e6 if len(measured[key]) > 1 else float("nan")
        print(f"{dtype:6}{m:7}{n:8}{k:7}{measured[key][0] * 1e6:12.2f}{again:12.2f}{seconds * 1e6:12.2f}"
              f"{2e-12 * m * n * k / ours:15.1f}{ratios[-1]:13.3f}")
    if ratios:
        print(f"torch/ridge: median {statistics.median(ratios):.3f}, least {min(ratios):.3f}, most {max(ratios):.3f}")
        print(f"within 3 % or faster than torch: {sum(r >= 0.97 for r in ratios)} of {len(ratios)}")
    x = torch.empty(1 << 30, device="cuda", dtype=torch.uint8).random_()
    y = torch.empty_like(x)
    print(f"copy: {2 * x.numel() / timed(lambda i: y.copy_(x), 1) * 1e-12:.3f} TB/s")
    for batch, length in ((1, 1024), (1, 4096), (1, 8192), (4, 2048)):
        q = torch.randn(batch, 32, length, 128, device="cuda", dtype=torch.bfloat16)
        k = torch.randn(batch, 8, length, 128, device="cuda", dtype=torch.bfloat16)
        v = torch.randn(batch, 8, length, 128, device="cuda", dtype=torch.bfloat16)
        call = torch.nn.functional.scaled_dot_product_attention
        for name in ("CUDNN_ATTENTION", "FLASH_ATTENTION"):
            try:
                with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, name)):
                    seconds = timed(lambda i: call(q, k, v, is_causal=True, enable_gqa=True), 1)
                flops = 2.0 * batch * 32 * 128 * length * (length + 1)
                print(f"attention {name} {batch}x{length}: {seconds * 1e6:.1f} us, {flops / seconds * 1e-12:.0f} TFLOP/s")
            except RuntimeError as error:
                print("attention", name, "cannot:", str(error).splitlines()[0][:80])


if __name__ == "__main__":
    main(*sys.argv[1:3])
