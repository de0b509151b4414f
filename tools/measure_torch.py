#!/usr/bin/env python3
"""Compares the products of ridge-measure with PyTorch's on the same GPU, turn by turn; also its copies and attention.

Usage: measure_torch.py RIDGE-MEASURE [TABLE.csv]      (needs torch with CUDA; prints a table, exit 0)

Both get the same shapes, the same distribution of operands, the same rotation past the cache, the same settling at the power
limit and the same number of samples inside a captured graph. For each shape the two take turns, three times, the order
changing; the medians count. PyTorch may call cuBLAS or cuBLASLt for 16-bit products: the faster of the two counts.
"""
import csv
import statistics
import subprocess
import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed: nothing to compare with")
    sys.exit(0)

ROUNDS = 3
MATRICES = ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336))
ROWS = (1, 16, 64, 256, 1024, 4096, 8192, 16384)


class Timed:
    """call(i) in a captured graph of at least `rotation` calls; each run() gives the median of its samples, in seconds."""

    def __init__(self, call, rotation=1, sample=1e-3, budget=0.06, settle=0.0):
        self.stream = torch.cuda.Stream()
        self.budget, self.settle = budget, settle
        with torch.cuda.stream(self.stream):
            for i in range(3):
                call(i)
            once = max(self.between(lambda: [call(i) for i in range(3)]) / 3, 1e-6)
            self.inner = max(rotation, min(400, int(sample / once) + 1))
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=self.stream):
                for i in range(self.inner):
                    call(i)

    def between(self, work):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record(self.stream)
        work()
        last.record(self.stream)
        self.stream.synchronize()
        return first.elapsed_time(last) * 1e-3

    def run(self):
        with torch.cuda.stream(self.stream):
            self.graph.replay()
            each = max(self.between(self.graph.replay), 1e-6)
            for _ in range(int(self.settle / each)):
                self.graph.replay()
            samples = max(7, min(60, int(self.budget / each)))
            events = [torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
            events[0].record(self.stream)
            for i in range(samples):
                self.graph.replay()
                events[i + 1].record(self.stream)
            self.stream.synchronize()
        times = [events[i].elapsed_time(events[i + 1]) * 1e-3 / self.inner for i in range(samples)]
        return statistics.median(times)


def uniform(rows, columns, scale):
    """Uniform in [-scale, scale], drawn in 32 bits: drawn in 16, many low bits are zero, and zeros draw less power."""
    return torch.empty(rows, columns, device="cuda", dtype=torch.float32).uniform_(-scale, scale)


def products(dtype, m, n, k):
    """The ways in which PyTorch can run a product, by name; sizes and times as in src/measure/gpu/suite_products.cpp."""
    each = 1 if dtype == "fp8" else 2
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    sets = max(2, min(64, 4 * cache // (n * k * each) + 2))
    operations = 2.0 * m * n * k
    large, middling = operations > 2e11, operations > 2e10
    timing = {"rotation": sets, "sample": 5e-3 if large else 5e-4, "budget": 0.15 if large else 0.025,
              "settle": 0.12 if large else 0.04 if middling else 0.0}
    if dtype == "fp8":
        narrow = torch.float8_e4m3fn
        a = uniform(m, k, 1).to(narrow)
        weights = [uniform(n, k, 1).to(narrow).t() for _ in range(sets)]
        one = torch.ones((), device="cuda", dtype=torch.float32)
        torch.cuda.synchronize()

        def scaled(i):
            torch._scaled_mm(a, weights[i % sets], scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
        return {"cublaslt": Timed(scaled, **timing)}
    a = uniform(m, k, 1).to(torch.bfloat16)
    weights = [uniform(n, k, 0.05).to(torch.bfloat16).t() for _ in range(sets)]
    out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    torch.cuda.synchronize()
    ways = {}
    for library in ("cublas", "cublaslt"):
        torch.backends.cuda.preferred_blas_library(library)
        ways[library] = Timed(lambda i: torch.mm(a, weights[i % sets], out=out), **timing)
    return ways


class Ridge:
    """ridge-measure, waiting for products to time."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "products", "--force"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *shape):
        print(*shape, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("refused"):
            raise RuntimeError("ridge-measure: " + (answer or "ended"))
        words = answer.split()
        return float(words[0]), float(words[3]), words[4]

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def compare(ridge, shape):
    ours, theirs, clock, choice = [], [], 0, ""
    ways = products(*shape)
    best = None
    for turn in range(ROUNDS):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            if side == 0:
                seconds, clock, choice = ridge.ask(*shape)
                ours.append(seconds)
            elif best is None:
                first = {name: way.run() for name, way in ways.items()}
                best = min(first, key=first.get)
                theirs.append(first[best])
            else:
                theirs.append(ways[best].run())
    return ours, theirs, clock, choice, best


def compare_products(program, table):
    ridge = Ridge(program)
    rows = []
    print(f"{'dtype':6}{'m':>6}{'n':>7}{'k':>7}{'ridge us':>10}{'torch us':>10}{'torch/ridge':>12}{'ridge spread':>13}"
          f"{'torch spread':>13}{'TFLOP/s':>9}{'GHz':>6}  algorithm of ridge, of torch")
    for dtype in ("bf16", "fp8"):
        shapes = [(m, n, k) for n, k in MATRICES for m in ROWS] + [(8192, 8192, 8192)]
        for m, n, k in shapes:
            try:
                ours, theirs, clock, choice, best = compare(ridge, (dtype, m, n, k))
            except RuntimeError as error:
                print(f"{dtype:6}{m:6}{n:7}{k:7}  not compared: {str(error).splitlines()[0][:100]}")
                continue
            a, b = statistics.median(ours), statistics.median(theirs)
            rows.append([dtype, m, n, k, a, b, b / a, max(ours) / min(ours) - 1, max(theirs) / min(theirs) - 1, clock, choice, best])
            print(f"{dtype:6}{m:6}{n:7}{k:7}{a * 1e6:10.2f}{b * 1e6:10.2f}{b / a:12.3f}{100 * rows[-1][7]:12.1f}%"
                  f"{100 * rows[-1][8]:12.1f}%{2e-12 * m * n * k / a:9.1f}{clock * 1e-9:6.2f}  {choice}, {best}"
                  f"{'' if b / a >= 0.97 else '   SLOWER'}", flush=True)
            torch.cuda.empty_cache()
    ridge.end()
    if table:
        with open(table, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["dtype", "m", "n", "k", "ridge_s", "torch_s", "torch_over_ridge", "ridge_spread", "torch_spread",
                             "ridge_clock_hz", "ridge_algorithm", "torch_library"])
            writer.writerows(rows)
    ratios = [row[6] for row in rows]
    if ratios:
        print(f"torch/ridge: median {statistics.median(ratios):.3f}, least {min(ratios):.3f}, most {max(ratios):.3f}")
        print(f"ridge within 3 % of torch, or faster: {sum(r >= 0.97 for r in ratios)} of {len(ratios)}; "
              f"torch within 3 % of ridge, or faster: {sum(r <= 1.03 for r in ratios)}")


def other_work():
    x = torch.empty(1 << 30, device="cuda", dtype=torch.uint8).random_()
    y = torch.empty_like(x)
    print(f"copy: {2 * x.numel() / Timed(lambda i: y.copy_(x)).run() * 1e-12:.3f} TB/s")
    for batch, length in ((1, 1024), (1, 4096), (1, 8192), (4, 2048)):
        q = torch.randn(batch, 32, length, 128, device="cuda", dtype=torch.bfloat16)
        k = torch.randn(batch, 8, length, 128, device="cuda", dtype=torch.bfloat16)
        v = torch.randn(batch, 8, length, 128, device="cuda", dtype=torch.bfloat16)
        call = torch.nn.functional.scaled_dot_product_attention
        for name in ("CUDNN_ATTENTION", "FLASH_ATTENTION"):
            try:
                with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, name)):
                    seconds = Timed(lambda i: call(q, k, v, is_causal=True, enable_gqa=True)).run()
                flops = 2.0 * batch * 32 * 128 * length * (length + 1)
                print(f"attention {name} {batch}x{length}: {seconds * 1e6:.1f} us, {flops / seconds * 1e-12:.0f} TFLOP/s")
            except RuntimeError as error:
                print("attention", name, "cannot:", str(error).splitlines()[0][:80])


def main(program, table=None):
    print("torch", torch.__version__, "cuda", torch.version.cuda)
    compare_products(program, table)
    other_work()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
