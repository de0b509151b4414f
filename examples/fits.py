"""Which accelerators hold a model of one's own, by its config.json, and what their memory costs.

    PYTHONPATH=build/release/python python3 examples/fits.py examples/my-model/config.json
"""
import sys

import ridgeline

config = sys.argv[1]
for device in ("l40s", "rtx-pro-6000-bw-ws", "a100-sxm-80", "h100-sxm", "mi300x"):
    try:
        answer = ridgeline.estimate("infer", model=config, device=device, gpus=1, isl=4000, osl=500, concurrency=8)
        rate = answer.output_tokens_per_s
        print(f"{device:20} {rate.mid:6.0f} tok/s ({rate.low:.0f} to {rate.high:.0f}), bound by {answer.bottleneck}")
    except ridgeline.Refused as refused:
        print(f"{device:20} does not fit; nearest: {refused.answer.nearest[0].change}")
