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
    """Least CPU seconds, least wall seconds and least seconds inside the model, by contestant.

    ``ours`` is the first question to an Explainer that exists already, with all its checks; ``again`` the same
    question once more (what the checks share is known then); ``from scratch`` includes making the Explainer.
    """

    line: Line
    difference: float
    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    model: dict[str, float] = field(default_factory=dict)
    rounds: int = 0

    def ratio(self, who: str = "ours") -> float:
        return self.cpu[who] / self.cpu["peer"]

    def overhead(self, who: str = "ours") -> float:
        """Wall time over the time inside the model's own predict calls."""
        return self.wall[who] / self.model[who]

    @property
    def agrees(self) -> bool:
        return self.line.tolerance is None or self.difference <= self.line.tolerance


def measure(line: Line, repeats: int) -> Result:
    """Compare the results once, then take turns and keep the least times."""
    result = Result(line, _difference(line.ours(_explainer(line)).values, _quiet(line.peer)))
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
        gc.collect()
        begin = time.process_time()
        _quiet(line.peer)
        _keep(result.cpu, "peer", time.process_time() - begin)
        result.rounds += 1
    return result


def _explainer(line: Line, *, checks: bool = True) -> pellucid.Explainer:
    workload = line.workload
    return pellucid.Explainer(workload.model, workload.X, workload.y, progress=False, checks=checks)


def _time_ours(result: Result, who: str, explainer: pellucid.Explainer) -> float:
    gc.collect()
    wall, begin = time.perf_counter(), time.process_time()
    answer = result.line.ours(explainer)
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    _keep(result.cpu, who, seconds)
    _keep(result.wall, who, wall)
    _keep(result.model, who, answer.cost.model_seconds)
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
