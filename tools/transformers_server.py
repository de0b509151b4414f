#!/usr/bin/env python3
"""A plain OpenAI-compatible server around Hugging Face transformers, with random weights in the shape of a config.json.

usage: transformers_server.py CONFIG.json [--port 8090] [--max-batch 64] [--gather 0.02]

What `ridge bench` measured for the rows own-h200-pytorch of data/evidence/own.csv: eager PyTorch, no engine. Requests that wait
are put into one batch if their prompts are equally long, prefilled together, and decoded together to the end of the longest
(batching "fixed" of data/engines/inference.toml). Prompts are lists of token ids; the tokens of an answer are written as words.
"""
import argparse
import http.server
import json
import queue
import threading
import time

START = time.time()


def say(*words):
    print(f"[{time.time() - START:.1f} s]", *words, flush=True)


class Request:
    def __init__(self, prompt, tokens, write):
        self.prompt, self.tokens, self.write, self.done = prompt, tokens, write, threading.Event()

    def send(self, item):
        """A client that has left is no reason to stop the batch."""
        try:
            self.write(b"data: " + (item if isinstance(item, bytes) else json.dumps(item).encode()) + b"\n\n")
        except OSError:
            pass


def gather(waiting, kept, most, patience):
    """The next batch: requests as long as the one that has waited longest. `kept` holds those that did not fit."""
    batch = [kept.pop(0) if kept else waiting.get()]
    until = time.time() + patience
    rest = kept[:]
    kept.clear()
    while len(batch) < most:
        if rest:
            one = rest.pop(0)
        else:
            try:
                one = waiting.get(timeout=max(0.0, until - time.time()))
            except queue.Empty:
                break
        (batch if len(one.prompt) == len(batch[0].prompt) else kept).append(one)
    kept.extend(rest)
    return batch


def serve_batches(torch, model, waiting, most, patience):
    kept = []
    while True:
        batch = gather(waiting, kept, most, patience)
        longest = max(r.tokens for r in batch)
        with torch.inference_mode():
            ids = torch.tensor([r.prompt for r in batch], device=model.device)
            cache, before = None, None
            for step in range(longest + 1):
                if step < longest:
                    out = model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
                    cache, ids = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
                # The device works on this step while the tokens of the one before are sent.
                for r, token in zip(batch, before or []):
                    if step <= r.tokens:
                        end = "length" if step == r.tokens else None
                        r.send({"choices": [{"index": 0, "text": f" {token}", "finish_reason": end}]})
                    if step == r.tokens:
                        r.send({"choices": [], "usage": {"prompt_tokens": len(r.prompt), "completion_tokens": r.tokens}})
                        r.send(b"[DONE]")
                        r.done.set()
                before = ids[:, 0].tolist() if step < longest else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    waiting = queue.Queue()

    def log_message(self, format, *args):  # a line for each request would be work beside the model's
        pass

    def page(self, body, status=200):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        known = self.path in ("/v1/models", "/health")
        self.page({"data": [{"id": "plain"}]} if known else {"error": {"message": "no such page"}}, 200 if known else 404)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = asked.get("prompt")
        if self.path != "/v1/completions" or not isinstance(prompt, list) or not prompt or not asked.get("stream"):
            self.page({"error": {"message": "only streamed completions of token ids are served"}}, 400)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        request = Request(prompt, int(asked.get("max_tokens", 16)), self.wfile.write)
        self.waiting.put(request)
        request.done.wait()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("config")
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--max-batch", type=int, default=64)
    parser.add_argument("--gather", type=float, default=0.02, help="seconds to wait for others before a batch starts")
    words = parser.parse_args()

    import torch
    import transformers
    with open(words.config, encoding="utf-8") as file:
        keys = json.load(file)
    config = transformers.AutoConfig.for_model(keys.pop("model_type"), **keys)
    say("torch", torch.__version__, "transformers", transformers.__version__)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    model.eval()
    say(model.config._attn_implementation, model.dtype, f"{torch.cuda.memory_allocated() / 1e9:.1f} GB")
    with torch.inference_mode():
        for _ in range(2):
            model(input_ids=torch.ones(1, 64, dtype=torch.long, device="cuda"))
    torch.cuda.synchronize()
    threading.Thread(target=serve_batches, args=(torch, model, Handler.waiting, words.max_batch, words.gather),
                     daemon=True).start()
    server = Server(("127.0.0.1", words.port), Handler)
    say("serving")
    server.serve_forever()


if __name__ == "__main__":
    main()
