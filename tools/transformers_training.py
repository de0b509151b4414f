#!/usr/bin/env python3
"""Times training steps of plain transformers on one GPU, with random weights: rows own-h200-hf-* of the evidence.

    python3 tools/transformers_training.py > steps.jsonl

Needs torch and transformers. Weights and optimizer states are in bf16 (AdamW of torch, fused), attention is torch's
scaled_dot_product_attention, modules run eagerly. Energy is the board's own counter, read between two of its moves.
"""
import ctypes
import gc
import json
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

WARM_S, LEAST_S = 0.1, 2.0
WIDE = dict(max_position_embeddings=131072, num_key_value_heads=8)
MODELS = {
    "llama3.2-1b": (LlamaForCausalLM, LlamaConfig(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        head_dim=64, tie_word_embeddings=True, **WIDE)),
    "llama3.2-3b": (LlamaForCausalLM, LlamaConfig(
        vocab_size=128256, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24,
        head_dim=128, tie_word_embeddings=True, **WIDE)),
    "qwen3-4b": (Qwen3ForCausalLM, Qwen3Config(
        vocab_size=151936, hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32,
        head_dim=128, tie_word_embeddings=True, **WIDE)),
    "llama3.1-8b": (LlamaForCausalLM, LlamaConfig(
        vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
        head_dim=128, tie_word_embeddings=False, **WIDE)),
}
# model, tokens of a sequence, sequences, gradient checkpointing
STEPS = [("llama3.2-1b", 2048, 1, False), ("llama3.2-1b", 2048, 8, False), ("llama3.2-1b", 8192, 2, False),
         ("llama3.2-1b", 8192, 2, True), ("llama3.2-1b", 512, 4, False), ("llama3.2-3b", 2048, 1, False),
         ("llama3.2-3b", 2048, 4, False), ("llama3.2-3b", 2048, 8, True), ("llama3.2-3b", 8192, 2, True),
         ("qwen3-4b", 2048, 1, False), ("qwen3-4b", 2048, 4, True), ("qwen3-4b", 8192, 2, True),
         ("llama3.1-8b", 2048, 1, False), ("llama3.1-8b", 2048, 4, True), ("llama3.1-8b", 8192, 2, True),
         ("llama3.1-8b", 512, 1, False)]


class Board:
    """The first board's energy counter."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.handle = ctypes.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))

    def joules(self):
        value = ctypes.c_ulonglong()
        self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle, ctypes.byref(value))
        return value.value / 1000


def until_it_moves(board, step):
    before, steps = board.joules(), 0
    while board.joules() == before:
        step()
        steps += 1
    return steps


def timed(board, step):
    step()
    began = time.time()
    step()
    one = time.time() - began
    while time.time() - began < WARM_S:
        step()
    until_it_moves(board, step)
    joules, began, steps = board.joules(), time.time(), 0
    while time.time() - began < max(LEAST_S, 4 * one):
        step()
        steps += 1
    steps += until_it_moves(board, step)
    seconds = time.time() - began
    return seconds / steps, (board.joules() - joules) / seconds


def main():
    board, name, model = Board(), None, None
    for wanted, length, sequences, checkpointing in STEPS:
        if wanted != name:
            model = None
            gc.collect()
            torch.cuda.empty_cache()
            kind, config = MODELS[wanted]
            torch.set_default_dtype(torch.bfloat16)
            with torch.device("cuda"):
                model = kind(config).train()
            torch.set_default_dtype(torch.float32)
            name = wanted
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
        if checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        else:
            model.gradient_checkpointing_disable()
        tokens = torch.randint(0, model.config.vocab_size, (sequences, length), device="cuda")
        torch.cuda.reset_peak_memory_stats()

        def step():
            model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            torch.cuda.synchronize()

        seconds, watts = timed(board, step)
        print(json.dumps({"model": name, "seq_len": length, "micro_batch": sequences,
                          "recompute": "full" if checkpointing else "none", "step_time_s": round(seconds, 5),
                          "power_w": round(watts, 1), "peak_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2)}),
              flush=True)
        del optimizer, tokens
        gc.collect()
        torch.cuda.empty_cache()


main()
