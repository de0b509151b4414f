"""Ridgeline: does it fit, how fast, what binds it, what does it cost.

Every function takes the flags of the command of the same name, - as _, and returns what ``--json`` prints, to the last
bit. Numbers are in SI base units with the unit in the name; predictions have ``low``, ``mid`` and ``high``.

>>> import ridgeline
>>> answer = ridgeline.estimate(kind="infer", model="llama3.3-70b", device="h200-sxm", gpus=2, precision="fp8")
>>> answer.fits
True
>>> answer.output_tokens_per_s.low < answer.output_tokens_per_s.mid < answer.output_tokens_per_s.high
True
>>> answer.bottleneck
'memory bandwidth'

What cannot run is :class:`Refused`, with what would; what cannot be understood is :class:`BadInput`, a ``ValueError``:

>>> try:
...     ridgeline.estimate(kind="infer", model="llama3.3-70b", device="h100-sxm", gpus=1)
... except ridgeline.Refused as refused:
...     print(refused.answer.nearest[0].change)
tp=2, gpus=2
>>> ridgeline.estimate(kind="infer", modle="llama3.3-70b")
Traceback (most recent call last):
    ...
ridgeline.BadInput: modle: is no key of estimate; did you mean 'model'?
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy
from numpy.typing import NDArray

from . import _native

__version__: str = _native.version()
__all__ = [
    "BadInput", "Catalogue", "Refused", "Result", "batch_columns", "call", "check", "cost", "emit", "estimate",
    "evaluate_batch", "facility", "goodput", "mlperf", "open_data", "plan", "reason_name", "simulate", "validate",
]  # fmt: skip

#: What a flag may be: a text, a number, a switch, several of them, or nothing at all.
Flag = Union[str, int, float, bool, Sequence[Union[str, int, float]], None]


class Result(Mapping[str, Any]):
    """A JSON object whose members are attributes too.

    >>> r = Result({"mfu": {"mid": 0.4}, "rows": [{"a": 1}, {"a": 2}]})
    >>> r.mfu.mid, r["mfu"]["mid"], len(r)
    (0.4, 0.4, 2)
    >>> r.to_dict()["rows"]
    [{'a': 1}, {'a': 2}]
    """

    def __init__(self, members: dict[str, Any]) -> None:
        self._members = members

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._members[key])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key not in self._members:
            raise AttributeError(f"there is no {key!r}; there are {', '.join(self._members)}")
        return self[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._members]

    def __repr__(self) -> str:
        return f"Result({json.dumps(self._members, indent=2, ensure_ascii=False)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as ``json.loads`` gives them."""
        return self._members

    def table(self, key: str) -> Any:
        """A member that is a list of objects: a pandas DataFrame, or a list of dictionaries where pandas is missing.
        Nested members become columns with dots: ``output_tokens_per_s.mid``."""
        return _table(self._members[key])


class BadInput(ValueError):
    """What cannot be understood. ``where``: the flag, or file, line and column; ``message``: what is wrong, and what
    works."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.message = message


class Refused(Exception):
    """What was understood and cannot be. ``answer`` is the whole answer where there is one (``nearest`` says what can
    run), else None."""

    def __init__(self, where: str, message: str, answer: Result | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.message = message
        self.answer = answer


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Result(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


def _table(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        return rows
    return pandas.json_normalize(rows)


def _raise(code: int, text: str) -> None:
    error = json.loads(text)["error"]
    raise (Refused if code == 2 else BadInput)(error["where"], error["message"])


_data_directory = ""


def open_data(directory: str | os.PathLike[str]) -> None:
    """Reads the catalogue there from now on, instead of the bundled one or ``$RIDGE_DATA``."""
    global _data_directory
    _data_directory = os.fspath(directory)
    _session.cache_clear()


@functools.lru_cache(maxsize=1)
def _session() -> _native.Session:
    try:
        return _native.Session(_data_directory)
    except _native.Failure as failure:
        _raise(1, str(failure))
        raise


def _plain(flags: Mapping[str, Any]) -> str:
    def simple(value: Any) -> Any:  # NumPy's numbers and arrays
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, (numpy.generic, numpy.ndarray)) and value.dtype.kind in "biufU":
            return value.tolist()
        raise TypeError(f"{type(value).__name__} is no text, number or list of texts")

    said = []
    for key, value in flags.items():
        try:
            said.append(f"{json.dumps(key.rstrip('_'))}: {json.dumps(value, default=simple)}")
        except (TypeError, ValueError, RecursionError) as wrong:
            raise BadInput(key, str(wrong)) from None
    return "{" + ", ".join(said) + "}"


def call(verb: str, **flags: Flag) -> Result:
    """Runs any command of ``ridge`` with these flags. ``kind`` and ``id`` are the words after it, ``file`` a path where
    it takes one. ``from_`` is ``--from``, ``for_`` is ``--for``. What a command answers as a text is the member
    ``text``. A check that did not hold (exit code 3) is an answer like any other, and so is a text in which not all could
    be checked.

    >>> call("show", kind="devices", id="h200-sxm").devices[0].year
    2024
    """
    code, text = _session().call(verb, _plain(flags))
    members = json.loads(text)
    if set(members) == {"error"}:
        _raise(code, text)
    answer = Result(members)
    if code == 2 and verb != "check":
        raise Refused("", str(members.get("reason") or "this cannot run"), answer)
    return answer


def estimate(kind: str = "infer", **flags: Flag) -> Result:
    """``ridge estimate``: one plan, ``infer``, ``train``, ``diffusion``, or ``fit``, ``techniques``, ``compare``.

    >>> step = estimate("train", model="llama3.1-70b", device="h100-sxm", gpus=512, tokens="15T")
    >>> 0.3 < step.mfu.mid < 0.7
    True
    """
    return call("estimate", kind=kind, **flags)


def plan(kind: str = "serve", **flags: Flag) -> Result:
    """``ridge plan``: what to buy, rent or set for a load and its targets: ``serve`` or ``train``.

    >>> plan("serve", model="llama3.1-8b", devices="h100-sxm", request_rate=5, isl=1000, osl=200, tpot="50ms").schema
    'ridge.plan/1'
    """
    return call("plan", kind=kind, **flags)


def simulate(**flags: Flag) -> Result:
    """``ridge simulate``: a deployment under load, request by request.

    >>> simulate(model="llama3.1-8b", device="h100-sxm", request_rate=4, requests=200).schema
    'ridge.simulate/1'
    """
    return call("simulate", **flags)


def cost(kind: str | None = None, **flags: Flag) -> Result:
    """``ridge cost``: of an hour, a token or a run: ``rent``, ``own``, ``decide``, ``power-cap``, ...

    >>> cost("rent", lease_month="$9200", gpus=8).schema
    'ridge.cost/1'
    """
    return call("cost", kind=kind, **flags)


def goodput(**flags: Flag) -> Result:
    """``ridge goodput``: what failures, checkpoints and repairs leave of a training run.

    >>> run = goodput(gpus=16384, model="llama3.1-405b", record="llama3-405b", tier="tectonic", calendar="54 days")
    >>> run.schema
    'ridge.goodput/1'
    """
    return call("goodput", **flags)


def facility(**flags: Flag) -> Result:
    """``ridge facility``: racks, power, cooling, fabric and storage of a cluster.

    >>> facility(system="dgx-h100", nodes=16, rack_power="42kW").schema
    'ridge.facility/1'
    """
    return call("facility", **flags)


def emit(for_: str, **flags: Flag) -> str:
    """``ridge emit``: the launch file of a plan, for ``vllm``, ``slurm``, ``k8s``, ...

    >>> print(emit("vllm", model="llama3.1-8b", device="h100-sxm", gpus=1)[:19])
    #!/usr/bin/env bash
    """
    return str(call("emit", for_=for_, **flags).text)


def mlperf(kind: str | None = None, **flags: Flag) -> Result:
    """``ridge mlperf``: published results, and what they say.

    >>> mlperf("table", benchmark="deepseek-r1", round="v5.1").schema
    'ridge.mlperf/1'
    """
    return call("mlperf", kind=kind, **flags)


def check(text: str | None = None, **flags: Flag) -> Result:
    """``ridge check``: is this claim right? ``file`` audits a document instead: ``check(file="report.md")``.

    >>> check("The H200 has 4.8 TB/s of memory bandwidth").schema
    'ridge.check/1'
    """
    return call("check", text=text, **flags)


def validate(**flags: Flag) -> Result:
    """``ridge validate``: predictions beside published measurements, or beside yours (``cases="mine.csv"``).

    >>> validate(kind="power").schema
    'ridge.validate/1'
    """
    return call("validate", **flags)


class Catalogue:
    """What is known: devices, systems, fabrics, models, prices, architectures, os, sources.

    >>> catalogue = Catalogue()
    >>> catalogue.device("h200-sxm").name
    'H200 SXM 141GB'
    >>> catalogue.counts()["devices"] > 50
    True
    >>> "llama3.3-70b" in catalogue.ids("models")
    True
    >>> catalogue.device("h300")
    Traceback (most recent call last):
        ...
    ridgeline.BadInput: ...
    """

    def counts(self) -> dict[str, int]:
        """Entries of each kind."""
        return dict(call("show").counts)

    def ids(self, kind: str) -> list[str]:
        """Of all entries of a kind, as it is listed."""
        return [row["id"] for row in call("show", kind=kind).to_dict()[kind]]

    def table(self, kind: str, **flags: Flag) -> Any:
        """A kind as a DataFrame (or dictionaries); ``where``, ``sort`` and ``vendor`` as in ``ridge show``."""
        return call("show", kind=kind, **flags).table(kind)

    def get(self, kind: str, id: str) -> Result:
        """One entry: ``get("systems", "dgx-h200")``."""
        entry: Result = call("show", kind=kind, id=id)[kind][0]
        return entry

    def device(self, id: str) -> Result:
        return self.get("devices", id)

    def model(self, id: str) -> Result:
        return self.get("models", id)

    def system(self, id: str) -> Result:
        return self.get("systems", id)

    def devices(self, **flags: Flag) -> Any:
        return self.table("devices", **flags)

    def models(self, **flags: Flag) -> Any:
        return self.table("models", **flags)

    def systems(self, **flags: Flag) -> Any:
        return self.table("systems", **flags)

    def prices(self, **flags: Flag) -> Any:
        return self.table("prices", **flags)


def batch_columns(kind: str) -> dict[str, list[str]]:
    """What :func:`evaluate_batch` takes as arrays, and what it gives, for ``infer`` and ``train``.

    >>> batch_columns("train")["inputs"][:4]
    ['gpus', 'tp', 'pp', 'vp']
    """
    names: dict[str, list[str]] = json.loads(_native.batch_names(kind))
    return names


def reason_name(reason: float) -> str:
    """
    >>> reason_name(0), reason_name(1)
    ('none', 'out of memory')
    """
    return _native.reason_name(int(reason))


_USUAL = {
    "infer": ["output_tokens_per_s", "ttft_s", "tpot_s", "power_w", "memory_bytes", "reason"],
    "train": ["step_time_s", "tokens_per_s", "mfu", "power_w", "memory_bytes", "reason"],
}


def evaluate_batch(
    kind: str = "infer", outputs: Sequence[str] | None = None, threads: int = 1, **flags: Any
) -> dict[str, NDArray[Any]]:
    """Many plans in one call. Flags that are NumPy arrays vary from point to point (:func:`batch_columns` lists which
    may), the others are the same for all; arrays are broadcast against each other. Each point is what
    :func:`estimate` says, to the last bit. Points that cannot run are NaN, and ``reason`` says why. Releases the GIL.

    >>> out = evaluate_batch(
    ...     "infer", model="llama3.3-70b", device="h200-sxm", isl=1000, osl=250,
    ...     tp=numpy.array([1, 2, 4])[:, None], concurrency=numpy.array([1, 16, 64]))
    >>> out["output_tokens_per_s"].shape
    (3, 3)
    >>> one = estimate("infer", model="llama3.3-70b", device="h200-sxm", isl=1000, osl=250, tp=4, concurrency=64)
    >>> bool(out["output_tokens_per_s"][2, 2] == one.output_tokens_per_s.mid)
    True
    >>> reason_name(out["reason"][0, 0])
    'out of memory'
    """
    names = list(outputs) if outputs is not None else _USUAL.get(kind, ["reason"])
    given = {key: value for key, value in flags.items() if isinstance(value, numpy.ndarray)}
    shape = numpy.broadcast_shapes(*(array.shape for array in given.values()))
    columns = [(key, _column(key, array, shape)) for key, array in given.items()]
    rest = _plain({key: value for key, value in flags.items() if key not in given})
    try:
        results = _session().evaluate(kind, rest, columns, names, threads)
    except _native.Failure as failure:
        _raise(1, str(failure))
    return {name: result.reshape(shape) for name, result in zip(names, results)}


def _column(key: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if array.dtype not in (numpy.int32, numpy.int64, numpy.float64):
        try:
            array = array.astype(numpy.float64, casting="unsafe" if array.dtype.kind == "O" else "same_kind")
        except (TypeError, ValueError) as wrong:
            raise BadInput(key, str(wrong)) from None
    return numpy.ascontiguousarray(numpy.broadcast_to(array, shape).reshape(-1))
