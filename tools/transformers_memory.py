#!/usr/bin/env python3
"""Measures the memory that training with plain transformers takes on one GPU: rows of data/evidence/own_memory.csv.

    python3 tools/transformers_memory.py > memory.jsonl

Needs torch and transformers. Weights are random and in bf16, attention is torch's scaled_dot_product_attention, modules
run eagerly. All weights are trained with AdamW (fused, states in bf16), or adapters of rank 16 on every linear layer of
the blocks. What is printed is the peak of torch's allocator over three steps,
the first of them included.
"""
import gc
import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

LONG = dict(max_position_embeddings=131072)
MODELS = {
    "llama3.2-1b": (LlamaForCausalLM, LlamaConfig(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        num_key_value_heads=8, head_dim=64, tie_word_embeddings=True, **LONG)),
    "qwen3-4b": (Qwen3ForCausalLM, Qwen3Config(
        vocab_size=151936, hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=True, **LONG)),
    "qwen2.5-7b": (Qwen2ForCausalLM, Qwen2Config(
        vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
        num_key_value_heads=4, tie_word_embeddings=False, **LONG)),
    "llama3.1-8b": (LlamaForCausalLM, LlamaConfig(
        vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=False, **LONG)),
    "qwen3-14b": (Qwen3ForCausalLM, Qwen3Config(
        vocab_size=151936, hidden_size=5120, intermediate_size=17408, num_hidden_layers=40, num_attention_heads=40,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=False, **LONG)),
}
# model, adapters, tokens of a sequence, sequences, steps that add up, gradient checkpointing
RUNS = [(model, adapters, length, sequences, adds, again)
        for model in MODELS
        for adapters in (False, True)
        for length, sequences, adds, again in ((2048, 1, 1, False), (2048, 4, 1, False), (2048, 4, 1, True), (8192, 1, 1, True),
                                               (2048, 1, 4, False), (512, 8, 2, True), (16384, 1, 1, True))]


class Adapted(torch.nn.Module):
    def __init__(self, frozen, rank=16):
        super().__init__()
        self.frozen = frozen
        options = dict(device=frozen.weight.device, dtype=torch.bfloat16)
        self.down = torch.nn.Linear(frozen.in_features, rank, bias=False, **options)
        self.up = torch.nn.Linear(rank, frozen.out_features, bias=False, **options)

    def forward(self, x):
        return self.frozen(x) + self.up(self.down(x))


def adapt(model):
    model.requires_grad_(False)
    for layer in model.model.layers:
        for part in (layer.self_attn, layer.mlp):
            for name, child in list(part.named_children()):
                if isinstance(child, torch.nn.Linear):
                    setattr(part, name, Adapted(child))


def run(model, length, sequences, adds):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-6, fused=True)
    tokens = torch.randint(0, model.config.vocab_size, (sequences, length), device="cuda")

    def step():
        for _ in range(adds):
            model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


def main():
    before, model = None, None
    for name, adapters, length, sequences, adds, again in RUNS:
        if (name, adapters) != before:
            model = None
            gc.collect()
            torch.cuda.empty_cache()
            kind, config = MODELS[name]
            torch.set_default_dtype(torch.bfloat16)
            with torch.device("cuda"):
                model = kind(config).train()
            torch.set_default_dtype(torch.float32)
            if adapters:
                adapt(model)
            before = (name, adapters)
        if again:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        else:
            model.gradient_checkpointing_disable()
        row = {"model": name, "task": "lora" if adapters else "sft", "seq_len": length, "micro_batch": sequences,
               "grad_acc": adds, "recompute": "full" if again else "none"}
        try:
            allocated, reserved = run(model, length, sequences, adds)
            row |= {"ran": "yes", "allocated_gb": round(allocated / 1e9, 3), "reserved_gb": round(reserved / 1e9, 3)}
        except torch.cuda.OutOfMemoryError:
            row |= {"ran": "no"}
        print(json.dumps(row), flush=True)
        for p in model.parameters():
            p.grad = None
        gc.collect()
        torch.cuda.empty_cache()


main()
