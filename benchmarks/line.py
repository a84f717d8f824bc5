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
from workloads import Workload

import pellucid

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
    """Least CPU seconds of each contestant, and the least ratio of wall time to time inside the model."""

    line: Line
    difference: float
    cpu: dict[str, float] = field(default_factory=dict)
    overhead: dict[str, float] = field(default_factory=dict)
    rounds: int = 0

    def take(self, who: str, seconds: float) -> None:
        self.cpu[who] = min(self.cpu.get(who, math.inf), seconds)

    def take_overhead(self, who: str, ratio: float) -> None:
        self.overhead[who] = min(self.overhead.get(who, math.inf), ratio)

    @property
    def ratio(self) -> float:
        """The headline: pellucid as it comes, over the peer."""
        return self.cpu["ours"] / self.cpu["peer"]

    @property
    def agrees(self) -> bool:
        return self.line.tolerance is None or self.difference <= self.line.tolerance


def explainer(workload: Workload, *, checks: bool = True) -> pellucid.Explainer:
    return pellucid.Explainer(workload.model, workload.X, workload.y, progress=False, checks=checks)


def measure(line: Line, repeats: int) -> Result:
    """Compare the results, then alternate: from scratch, again, without checks, and the peer."""
    checked, unchecked = explainer(line.workload), explainer(line.workload, checks=False)
    result = Result(line, _difference(line.ours(checked).values, _quiet(line.peer)))
    line.ours(unchecked)
    started = time.perf_counter()
    while result.rounds < repeats and (result.rounds < 2 or time.perf_counter() - started < _SECONDS):
        for who, ours in (("ours", checked), ("no checks", unchecked)):
            _time_ours(result, who, lambda ours=ours: line.ours(ours))
        _time_ours(result, "from scratch", lambda: line.ours(explainer(line.workload)))
        gc.collect()
        begin = time.process_time()
        _quiet(line.peer)
        result.take("peer", time.process_time() - begin)
        result.rounds += 1
    return result


def _time_ours(result: Result, who: str, ask: Callable[[], Any]) -> None:
    gc.collect()
    wall, begin = time.perf_counter(), time.process_time()
    answer = ask()
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    result.take(who, seconds)
    result.take_overhead(who, wall / answer.cost.model_seconds)


def _quiet(peer: Peer) -> np.ndarray:
    """PDPbox prints as it works."""
    with redirect_stdout(io.StringIO()):
        return peer()


def _difference(ours: Any, theirs: np.ndarray) -> float:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise ValueError(f"shapes differ: {ours.shape} and {theirs.shape}")
    return float(np.nanmax(np.abs(ours - theirs)))
