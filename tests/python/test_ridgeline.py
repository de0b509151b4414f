"""The Python module against the program: python3 test_ridgeline.py RIDGE DATA, with the module on PYTHONPATH."""

import doctest
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest

import numpy
import ridgeline

PROGRAM, DATA = "", ""

SERVE = {"model": "llama3.3-70b", "device": "h200-sxm", "precision": "fp8", "isl": 1000, "osl": 250}
TRAIN = {"model": "llama3.1-70b", "device": "h100-sxm", "global_batch": 512}


def program(verb, kind, **flags):
    words = [PROGRAM, "--data", DATA, verb, kind, "--json"]
    words += [f"--{key.replace('_', '-')}={value}" for key, value in flags.items()]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)


class Module(unittest.TestCase):
    def test_answers_are_those_of_the_program(self):
        flags = {**SERVE, "gpus": 2, "concurrency": 64}
        self.assertEqual(ridgeline.estimate("infer", **flags).to_dict(), program("estimate", "infer", **flags))
        flags = {**TRAIN, "gpus": 256}
        self.assertEqual(ridgeline.estimate("train", **flags).to_dict(), program("estimate", "train", **flags))

    def test_points_of_a_batch_of_inference_are_those_of_the_program(self):
        tp, clients, isl = numpy.array([1, 2, 8, 2]), numpy.array([1, 64, 200, 7.0]), numpy.array([10, 4000, 128, 1000])
        names = ["output_tokens_per_s", "output_tokens_per_s_low", "e2e_s_high", "joules_per_output_token", "reason"]
        flags = {key: value for key, value in SERVE.items() if key != "isl"}
        out = ridgeline.evaluate_batch("infer", outputs=names, tp=tp, concurrency=clients, isl=isl, **flags)
        for i in range(len(tp)):
            want = program("estimate", "infer", tp=tp[i], concurrency=clients[i], isl=isl[i], **flags)
            self.assertEqual(out["reason"][i], 0)
            self.assertEqual(out["output_tokens_per_s"][i], want["output_tokens_per_s"]["mid"])
            self.assertEqual(out["output_tokens_per_s_low"][i], want["output_tokens_per_s"]["low"])
            self.assertEqual(out["e2e_s_high"][i], want["e2e_s"]["high"])
            self.assertEqual(out["joules_per_output_token"][i], want["joules_per_output_token"]["mid"])

    def test_points_of_a_batch_of_training_are_those_of_the_program(self):
        columns = {
            "gpus": numpy.array([64, 256, 256, 7], numpy.int32),
            "tp": numpy.array([8, 8, 4, 8]),
            "pp": numpy.array([2, 4, 4, 1]),
            "micro_batch": numpy.array([1, 1, 2, 1]),
        }
        out = ridgeline.evaluate_batch("train", **columns, **TRAIN)
        for i in range(3):
            want = program("estimate", "train", **{key: array[i] for key, array in columns.items()}, **TRAIN)
            self.assertEqual(want["fits"], out["reason"][i] == 0)
            if want["fits"]:
                self.assertEqual(out["step_time_s"][i], want["step_time_s"]["mid"])
                self.assertEqual(out["mfu"][i], want["mfu"]["mid"])
        self.assertEqual(numpy.count_nonzero(out["reason"] == 0) >= 2, True)
        self.assertTrue(numpy.isnan(out["mfu"][3]))
        self.assertNotEqual(out["reason"][3], 0)

    def test_a_random_sample_of_points_is_what_the_program_says_to_the_last_bit(self):
        random = numpy.random.default_rng(7)
        for model, device in (("qwen3-30b-a3b", "h100-sxm"), ("deepseek-v3", "b200-sxm-180"), ("llama3.1-8b", "mi300x")):
            columns = {
                "tp": random.choice([1, 2, 4, 8], 6),
                "concurrency": random.integers(1, 300, 6),
                "isl": random.integers(16, 8000, 6),
                "osl": random.integers(2, 2000, 6),
            }
            names = ["output_tokens_per_s", "ttft_s", "tpot_s", "power_w", "reason"]
            out = ridgeline.evaluate_batch("infer", model=model, device=device, outputs=names, **columns)
            for i in range(6):
                point = {key: int(array[i]) for key, array in columns.items()}
                want = program("estimate", "infer", model=model, device=device, **point)
                self.assertEqual(want["fits"], out["reason"][i] == 0, point)
                for name in names[:-1]:
                    if want["fits"]:
                        self.assertEqual(out[name][i], want[name]["mid"], (name, point))

    def test_points_that_are_no_numbers_are_bad_values(self):
        out = ridgeline.evaluate_batch("infer", tp=numpy.array([2, 2.5, -1, numpy.nan]), concurrency=8, **SERVE)
        self.assertEqual([ridgeline.reason_name(r) for r in out["reason"]], ["none"] + ["bad value"] * 3)

    def test_degrees_whose_product_leaves_an_int_are_bad_values(self):
        large = numpy.array([65536, 4194304])
        out = ridgeline.evaluate_batch("infer", tp=large, pp=large, concurrency=8, **SERVE)
        self.assertEqual([ridgeline.reason_name(r) for r in out["reason"]], ["bad value"] * 2)
        out = ridgeline.evaluate_batch("train", tp=large, pp=large, cp=large, gpus=8, micro_batch=1, **TRAIN)
        self.assertEqual([ridgeline.reason_name(r) for r in out["reason"]], ["bad value"] * 2)

    def test_threads_change_nothing(self):
        clients = numpy.arange(1, 1000)
        one = ridgeline.evaluate_batch("infer", tp=2, concurrency=clients, **SERVE)
        two = ridgeline.evaluate_batch("infer", tp=2, concurrency=clients, threads=3, **SERVE)
        for name, column in one.items():
            numpy.testing.assert_array_equal(column, two[name])

    def test_errors_say_where(self):
        with self.assertRaises(ValueError) as caught:
            ridgeline.estimate("infer", model="no-such-model", device="h200-sxm")
        self.assertIn("no-such-model", str(caught.exception))
        for flags in ({"tp": 2, "modle": 1}, {"tp": 2, "colour": numpy.array([1])}, {}):
            with self.assertRaises(ridgeline.BadInput):
                ridgeline.evaluate_batch("infer", **SERVE, **flags)
        for value in (b"8", 8j, object(), {8}, "\ud800", 10**400, float("nan"), [[[8]]], numpy.datetime64("now"), numpy.array([8j])):
            with self.assertRaises(ridgeline.BadInput) as caught:
                ridgeline.estimate("infer", model="llama3.1-8b", device="h200-sxm", gpus=value)
            self.assertIn("gpus" if not isinstance(value, (str, int)) else "flags", caught.exception.where)
        for column in (numpy.array([8j]), numpy.array(["a"]), numpy.array([{}], dtype=object), numpy.array(["2026"], "M8[Y]")):
            with self.assertRaises(ridgeline.BadInput) as caught:
                ridgeline.evaluate_batch("infer", tp=2, concurrency=column, **SERVE)
            self.assertEqual(caught.exception.where, "concurrency")
        with self.assertRaises(ridgeline.Refused) as refused:
            ridgeline.estimate("infer", model="llama3.3-70b", device="h100-sxm", gpus=1)
        self.assertFalse(refused.exception.answer.fits)

    def test_other_threads_run_while_a_batch_does(self):
        done = threading.Event()
        clients = numpy.tile(numpy.arange(1, 501), 1000)
        work = threading.Thread(
            target=lambda: (ridgeline.evaluate_batch("infer", tp=2, concurrency=clients, **SERVE), done.set())
        )
        work.start()
        ticks = 0
        while not done.is_set():
            time.sleep(0.001)
            ticks += 1
        work.join()
        self.assertGreater(ticks, 5)

    def test_tables_are_data_frames_where_pandas_is(self):
        table = ridgeline.Catalogue().devices(where="year>=2024")
        self.assertGreater(len(table), 5)
        try:
            import pandas
        except ImportError:
            return
        self.assertIsInstance(table, pandas.DataFrame)

    def test_tables_are_lists_of_dictionaries_where_pandas_is_not(self):
        hidden = sys.modules.get("pandas")
        sys.modules["pandas"] = None  # what makes `import pandas` fail
        try:
            table = ridgeline.Catalogue().devices(where="year>=2024")
            rows = ridgeline.plan("serve", model="llama3.1-8b", devices="h100-sxm", request_rate=5).table("plans")
        finally:
            del sys.modules["pandas"]
            if hidden is not None:
                sys.modules["pandas"] = hidden
        self.assertIsInstance(table, list)
        self.assertEqual(set(table[0]) >= {"id", "vendor", "year"}, True)
        self.assertEqual(rows[0]["device"], "h100-sxm")

    def test_files_are_named_as_on_the_command_line(self):
        root = pathlib.Path(DATA).parent
        memo = ridgeline.check(file=root / "examples" / "memo.md")
        self.assertEqual(memo.documents[0].counts.wrong, 2)
        self.assertEqual(ridgeline.check(str(root / "examples" / "memo.md")).documents[0].counts.wrong, 0)  # a sentence
        own = {"model": str(root / "examples/my-model/config.json"), "device": "h100-sxm", "gpus": 2, "concurrency": 4}
        self.assertEqual(ridgeline.estimate("infer", **own).to_dict(), program("estimate", "infer", **own))
        measured = {"model": "llama3.1-8b", "device": str(root / "data/profiles/h200-sxm.toml"), "gpus": 1, "batch": 1}
        self.assertEqual(ridgeline.estimate("infer", **measured).to_dict(), program("estimate", "infer", **measured))
        board = {"model": "qwen3-8b", "device": "rtx4090-48", "catalogue": str(root / "examples/my-board.toml")}
        self.assertEqual(ridgeline.estimate("infer", **board).to_dict(), program("estimate", "infer", **board))
        cases = ridgeline.validate(cases=str(root / "examples/measurements.csv"))
        self.assertEqual(cases.schema, "ridge.validate/1")
        plan = ridgeline.estimate("infer", plan=root / "examples/offline-labels.toml")
        self.assertTrue(plan.fits)

    def test_what_a_command_answers_as_a_text_is_a_text(self):
        self.assertIn("vllm serve", ridgeline.emit("vllm", model="llama3.1-8b", device="h100-sxm", gpus=1))
        self.assertIn("gb200", ridgeline.mlperf("chart", benchmark="llama2-70b", scenario="Offline", round="v5.1").text)

    def test_examples_in_the_docstrings_hold(self):
        result = doctest.testmod(ridgeline, optionflags=doctest.ELLIPSIS)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 20)


if __name__ == "__main__":
    PROGRAM, DATA = sys.argv[1:3]
    ridgeline.open_data(DATA)
    unittest.main(argv=sys.argv[:1])
