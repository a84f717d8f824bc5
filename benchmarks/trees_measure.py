"""Contestants in turns: least CPU time on one thread, least wall time on two, and the memory of ours."""

from __future__ import annotations

import gc
import hashlib
import io
import math
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from pellucid.trees.convert import TreeModel, convert

_SECONDS = 90.0  # a workload stops early after this long, but not before two rounds

Ask = Callable[[int], np.ndarray]  # with so many threads; the answer in the shape of ours


@dataclass(frozen=True, eq=False)
class Peer:
    """Another library; ``make`` may fail, and its reason is printed.

    ``times``: it is asked about this many times fewer rows, and its time multiplied. ``serial``: it knows no
    threads. ``tolerance``: of the largest difference, over the largest number in its answer.
    """

    name: str
    goal: float | None
    make: Callable[[], Ask]
    times: float = 1.0
    serial: bool = False
    tolerance: float = 1e-4


@dataclass(frozen=True, eq=False)
class Workload:
    """One question to one model; ``build`` gives the engine's function of the rows."""

    name: str
    title: str
    model: Any
    X: Any
    build: Callable[[TreeModel], partial[Any]]
    read: Callable[[Any], np.ndarray]
    predict: Callable[[], Any]
    peers: tuple[Peer, ...]
    within: float | None = None  # goal for our time over that of the model's predict
    watched: str = "run"  # the argument that carries the number of threads


@dataclass
class Result:
    """Least seconds by contestant: ``ours``, ``from model``, ``predict`` and the peers."""

    workload: Workload
    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    difference: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    memory: float = math.nan
    rounds: int = 0

    def faster(self, peer: Peer) -> float:
        return self.cpu[peer.name] / self.cpu["ours"]

    @property
    def over_predict(self) -> float:
        return self.cpu["ours"] / self.cpu["predict"]


class Threads:
    """What the engine asks its run: so many threads, no progress."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def plan(self, amount: int) -> None: ...

    def advance(self, amount: int) -> None: ...

    def close(self) -> None: ...


class Elsewhere:
    """A peer in a process of its own, which measures itself; ``last`` is its CPU and wall time."""

    last: tuple[float, float] = (math.nan, math.nan)


def measure(workload: Workload, rounds: int, only_peer: str) -> Result:
    result = Result(workload)
    tree = convert(workload.model)
    engine, X = workload.build(tree), tree.encode(workload.X)

    def ours(threads: int) -> np.ndarray:
        return workload.read(engine(X, **{workload.watched: Threads(threads)}))

    def from_model(_: int) -> Any:
        tree = convert(workload.model)
        return workload.build(tree)(tree.encode(workload.X))

    asks = _made(workload, only_peer, result)
    values = ours(2)  # kernels are compiled by now
    pools = ThreadpoolController()
    started = time.perf_counter()
    while result.rounds < rounds and (result.rounds < 2 or time.perf_counter() - started < _SECONDS):
        for name, ask in (*asks.items(), ("", None)):
            _turn(result, pools, "ours", ours, two=True)
            if ask is None:
                _turn(result, pools, "from model", from_model, two=False)
                _turn(result, pools, "predict", lambda _: workload.predict(), two=False)
                continue
            peer = next(peer for peer in workload.peers if peer.name == name)
            try:
                answer = _turn(result, pools, name, ask, two=not peer.serial, times=peer.times)
            except Exception as error:  # a peer may fail in any way
                result.skipped[name] = f"{type(error).__name__}: {error}"
                continue
            result.difference.setdefault(name, _difference(values, answer))
        asks = {name: ask for name, ask in asks.items() if name not in result.skipped}
        result.rounds += 1
    result.memory = peak_memory(engine, X)
    return result


def _made(workload: Workload, only_peer: str, result: Result) -> dict[str, Ask]:
    asks = {}
    for peer in workload.peers:
        if only_peer.lower() not in peer.name.lower():
            continue
        try:
            asks[peer.name] = _quiet(peer.make)
        except Exception as error:
            result.skipped[peer.name] = f"{type(error).__name__}: {error}"
    return asks


def _turn(
    result: Result, pools: ThreadpoolController, who: str, ask: Ask, *, two: bool, times: float = 1.0
) -> Any:
    answer, cpu, wall = _timed(pools, ask, 1)
    _keep(result.cpu, who, times * cpu)
    if two:
        _, _, wall = _timed(pools, ask, 2)
    _keep(result.wall, who, times * wall)
    return answer


def _timed(pools: ThreadpoolController, ask: Ask, threads: int) -> tuple[Any, float, float]:
    gc.collect()
    with pools.limit(limits=threads):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = _quiet(lambda: ask(threads))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return (answer, *ask.last) if isinstance(ask, Elsewhere) else (answer, cpu, wall)


def _keep(least: dict[str, float], who: str, seconds: float) -> None:
    least[who] = min(least.get(who, math.inf), seconds)


def _quiet(call: Callable[[], Any]) -> Any:
    """Some peers print, and draw progress bars, as they work."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return call()


def _difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference over the largest number, on the rows that the peer was asked about."""
    ours, theirs = np.asarray(ours)[: len(theirs)], np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise ValueError(f"shapes differ: {ours.shape} and {theirs.shape}")
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def second_core() -> float:
    """How many times as much two threads get done here and now as one: about 2, or 1 where others use the machine."""
    block = bytes(1 << 20)

    def work() -> None:
        for _ in range(200):
            hashlib.sha256(block).digest()

    seconds = {1: math.inf, 2: math.inf}
    for threads in (1, 2) * 3:
        crew = [threading.Thread(target=work) for _ in range(threads)]
        begin = time.perf_counter()
        for each in crew:
            each.start()
        for each in crew:
            each.join()
        seconds[threads] = min(seconds[threads], time.perf_counter() - begin)
    return 2 * seconds[1] / seconds[2]


# -- memory --------------------------------------------------------------------------------------


# What is freed goes back at once, or a first small answer would leave room for a part of the one that counts.
_GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def peak_memory(engine: partial[Any], X: Any) -> float:
    """Bytes by which a fresh process grows at most while it answers, results included; one thread."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.pickle"
        path.write_bytes(pickle.dumps((engine, X)))
        done = subprocess.run(
            [sys.executable, __file__, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | _GIVE_BACK,
        )
    try:
        return float(done.stdout)
    except ValueError:
        return math.nan


def _grow(path: str) -> None:
    engine, X = pickle.loads(Path(path).read_bytes())
    engine(X[:64])  # kernels are loaded by now
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # from here on, the peak counts from now
    before = _status("VmRSS")
    answer = engine(X)
    print(_status("VmHWM") - before)
    del answer


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    _grow(sys.argv[1])
