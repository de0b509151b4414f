"""Speed for one user against speed for all: every TP and number of clients in one call, and the points worth having.

    PYTHONPATH=build/release/python python3 examples/pareto.py
"""
import numpy
import ridgeline

tp = numpy.array([1, 2, 4, 8])[:, None]
clients = numpy.unique(numpy.geomspace(1, 512, 60).astype(int))
out = ridgeline.evaluate_batch(
    "infer", model="llama3.3-70b", device="h200-sxm", precision="fp8", isl=1000, osl=250,
    tp=tp, concurrency=clients, outputs=["output_tokens_per_s", "tpot_s", "reason"])  # fmt: skip

per_gpu = out["output_tokens_per_s"] / tp
per_user = 1 / out["tpot_s"]
points = sorted(
    (user, gpu, int(t), int(c))
    for user, gpu, t, c in zip(
        per_user.flat, per_gpu.flat, numpy.broadcast_to(tp, per_gpu.shape).flat, numpy.tile(clients, len(tp)))
    if numpy.isfinite(user)
)  # fmt: skip
best = 0.0
front = []
for user, gpu, t, c in reversed(points):
    if gpu > best:
        best = gpu
        front.append((user, gpu, t, c))

print(f"{out['reason'].size} plans, {numpy.count_nonzero(out['reason'])} do not fit, {len(front)} worth having")
for user, gpu, t, c in front[:: max(1, len(front) // 6)]:
    print(f"TP{t} {c:4} clients: {user:6.1f} tok/s for each of them, {gpu:7.1f} tok/s per GPU")
