"""One line of the table: pellucid and one peer on the same model, rows and grid, asked alternately."""

from __future__ import annotations

import gc
import io
import math
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pellucid
from workloads import Workload

Ours = Callable[[pellucid.Explainer], Any]
Peer = Callable[[], np.ndarray]

_SECONDS = 20.0  # a line stops early after this long, but not before two rounds


@dataclass(frozen=True, eq=False)
class Line:
    """``tolerance`` bounds the largest difference of the results; None: ``note`` says why they differ."""

    method: str
    workload: Workload
    peer_name: str
    ours: Ours
    peer: Peer
    tolerance: float | None = 1e-8
    note: str = ""


@dataclass
class Result:
    """Least CPU seconds, by contestant.

    ``ours`` is the first question to an Explainer that exists already, with all its checks; ``again`` the same
    question once more (what the checks share is known then); ``from scratch`` includes making the Explainer;
    ``model`` are the model's own predict calls for the rows that the question asks about.
    """

    line: Line
    difference: float
    engine: str
    cpu: dict[str, float] = field(default_factory=dict)
    rounds: int = 0

    def ratio(self, who: str = "ours") -> float:
        return self.cpu[who] / self.cpu["peer"]

    def overhead(self, who: str = "ours") -> float:
        """Time over that of the model's own predict calls."""
        return self.cpu[who] / self.cpu["model"]

    @property
    def agrees(self) -> bool:
        return self.line.tolerance is None or self.difference <= self.line.tolerance


def measure(line: Line, repeats: int) -> Result:
    """Compare the results once, then take turns and keep the least times."""
    answer = line.ours(_explainer(line))
    engine = "read" if answer.cost.model_rows < _asked(line)[1] else "asked"
    result = Result(line, _difference(answer.values, _quiet(line.peer)), engine)
    started = time.perf_counter()
    while result.rounds < repeats and (result.rounds < 2 or time.perf_counter() - started < _SECONDS):
        gc.collect()
        begin = time.process_time()
        explainer = _explainer(line)
        made = time.process_time() - begin
        first = _time_ours(result, "ours", explainer)
        _keep(result.cpu, "from scratch", made + first)
        _time_ours(result, "again", explainer)
        _time_ours(result, "no checks", _explainer(line, checks=False))
        _keep(result.cpu, "model", _asked(line)[0])
        gc.collect()
        begin = time.process_time()
        _quiet(line.peer)
        _keep(result.cpu, "peer", time.process_time() - begin)
        result.rounds += 1
    return result


def _explainer(line: Line, *, checks: bool = True) -> pellucid.Explainer:
    workload = line.workload
    return pellucid.Explainer(workload.model, workload.X, workload.y, progress=False, checks=checks)


class Opaque:
    """The model as a function that cannot be read, and the CPU seconds inside the model's own predict."""

    def __init__(self, model: Any) -> None:
        self.model, self.seconds = model, 0.0

    def __call__(self, table: Any) -> np.ndarray:
        begin = time.process_time()
        prediction = self.model.predict(table)
        self.seconds += time.process_time() - begin
        return prediction


def _asked(line: Line) -> tuple[float, int]:
    """CPU seconds of the model's own calls for the rows that the question asks about, and how many rows these are."""
    workload, model = line.workload, Opaque(line.workload.model)
    explainer = pellucid.Explainer(model, workload.X, workload.y, progress=False, checks=False)
    gc.collect()
    model.seconds = 0.0
    rows = line.ours(explainer).cost.model_rows
    return model.seconds, rows


def _time_ours(result: Result, who: str, explainer: pellucid.Explainer) -> float:
    gc.collect()
    begin = time.process_time()
    result.line.ours(explainer)
    seconds = time.process_time() - begin
    _keep(result.cpu, who, seconds)
    return seconds


def _keep(least: dict[str, float], who: str, seconds: float) -> None:
    least[who] = min(least.get(who, math.inf), seconds)


def _quiet(peer: Peer) -> np.ndarray:
    """PDPbox prints as it works."""
    with redirect_stdout(io.StringIO()):
        return peer()


def _difference(ours: Any, theirs: np.ndarray) -> float:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise ValueError(f"shapes differ: {ours.shape} and {theirs.shape}")
    return float(np.nanmax(np.abs(ours - theirs)))
