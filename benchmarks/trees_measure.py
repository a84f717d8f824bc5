"""Contestants in turns: least CPU time on one thread, least wall time on two, and the memory of ours."""

from __future__ import annotations

import gc
import hashlib
import io
import math
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from pellucid import Explainer
from pellucid.trees.convert import TreeModel, convert
from pellucid.trees.rows import Alone
from trees_memory import peak_memory

_SECONDS = 90.0  # a workload stops early after this long, but not before two rounds
_SHORT, _MOST = (0.1, 30)  # a short call is repeated within its turn for so many seconds, and so often at most
OURS, UNCHECKED, ENGINE, PREDICT = "public call", "checks=False", "engine", "predict"

Ask = Callable[[int], Any]  # with so many threads


@dataclass(frozen=True, eq=False)
class Peer:
    """Another library; ``make`` may fail, and its reason is printed.

    ``times``: it is asked about this many times fewer rows, and its time multiplied. ``serial``: it knows no
    threads. ``tolerance``: of the largest difference, over the largest number in its answer. ``read`` turns the
    answer into the shape of ours, outside the clock.
    """

    name: str
    goal: float | None
    make: Callable[[], Ask]
    times: float = 1.0
    serial: bool = False
    tolerance: float = 1e-4
    read: Callable[[Any], np.ndarray] = np.asarray


@dataclass(frozen=True, eq=False)
class Workload:
    """One question to one model.

    ``explainer`` makes the Explainer (from checks and n_jobs), ``question`` is the public call, and ``build`` gives
    the engine's function of the encoded rows. ``cold``: making the Explainer is part of the call.
    """

    name: str
    title: str
    model: Any
    X: np.ndarray
    explainer: partial[Explainer]
    question: Callable[[Explainer, np.ndarray], np.ndarray]
    build: Callable[[TreeModel], partial[Any]]
    predict: Callable[[], Any]
    peers: tuple[Peer, ...]
    goal_ms: float | None = None  # for the public call
    watched: str = "run"  # the engine's argument that carries the number of threads
    cold: bool = False


@dataclass
class Result:
    """Least seconds by contestant: the public call, the same without checks, the engine, predict and the peers."""

    workload: Workload
    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    difference: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    memory: float = math.nan
    rounds: int = 0

    def faster(self, peer: Peer) -> float:
        return self.cpu[peer.name] / self.cpu[OURS]

    @property
    def over_predict(self) -> float:
        return self.cpu[OURS] / self.cpu[PREDICT]


class Threads(Alone):
    """What the engine asks its run: so many threads, no progress."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.threads = threads


class Elsewhere:
    """A peer in a process of its own, which measures itself; ``last`` is its CPU and wall time."""

    last: tuple[float, float] = (math.nan, math.nan)


def measure(workload: Workload, rounds: int, only_peer: str) -> Result:
    result = Result(workload)
    asks = _made(workload, only_peer, result)
    ours = {OURS: public(workload, checks=True), UNCHECKED: public(workload, checks=False)}
    rest = {ENGINE: engine(workload), PREDICT: lambda _: workload.predict()}
    answers = [ask(threads) for ask in ours.values() for threads in (1, 2)]  # all are warm by now
    pools = ThreadpoolController()
    started = time.perf_counter()
    while result.rounds < rounds and (result.rounds < 2 or time.perf_counter() - started < _SECONDS):
        for name, ask in asks.items():
            _turn(result, pools, OURS, ours[OURS], two=True)
            peer = next(peer for peer in workload.peers if peer.name == name)
            try:
                answer = _turn(result, pools, name, ask, two=not peer.serial, times=peer.times)
            except Exception as error:  # a peer may fail in any way
                result.skipped[name] = f"{type(error).__name__}: {error}"
                continue
            result.difference.setdefault(name, _difference(answers[0], peer.read(answer)))
        for name, ask in (ours | rest).items():
            _turn(result, pools, name, ask, two=name == OURS)
        asks = {name: ask for name, ask in asks.items() if name not in result.skipped}
        result.rounds += 1
    result.memory = peak_memory(workload.explainer, workload.question, workload.X)
    return result


def public(workload: Workload, *, checks: bool) -> Ask:
    """The call of a user, to an Explainer that exists unless the workload is cold."""

    def make(threads: int) -> Explainer:
        return workload.explainer(checks=checks, n_jobs=threads, progress=False)

    made = {} if workload.cold else {threads: make(threads) for threads in (1, 2)}
    return lambda threads: workload.question(made.get(threads) or make(threads), workload.X)


def engine(workload: Workload) -> Ask:
    """The inner function alone, on trees and rows that are converted already."""
    tree = convert(workload.model)
    call, X = workload.build(tree), tree.encode(workload.X)
    return lambda threads: call(X, **{workload.watched: Threads(threads)})


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


def _turn(result: Result, pools: ThreadpoolController, who: str, ask: Ask, *, two: bool, times: float = 1.0) -> Any:
    answer, cpu, wall = _timed(pools, ask, 1)
    _keep(result.cpu, who, times * cpu)
    if two:
        _, _, wall = _timed(pools, ask, 2)
    _keep(result.wall, who, times * wall)
    return answer


def _timed(pools: ThreadpoolController, ask: Ask, threads: int) -> tuple[Any, float, float]:
    """The answer, and the least CPU and wall time of a turn."""
    gc.collect()
    cpus, walls = [], []
    with pools.limit(limits=threads), _silence():
        while not walls or (sum(walls) < _SHORT and len(walls) < _MOST):
            wall, cpu = time.perf_counter(), time.process_time()
            answer = ask(threads)
            cpus.append(time.process_time() - cpu)
            walls.append(time.perf_counter() - wall)
    return (answer, *ask.last) if isinstance(ask, Elsewhere) else (answer, min(cpus), min(walls))


def _keep(least: dict[str, float], who: str, seconds: float) -> None:
    least[who] = min(least.get(who, math.inf), seconds)


def _quiet(call: Callable[[], Any]) -> Any:
    with _silence():
        return call()


def _silence() -> Any:
    """Some peers print, and draw progress bars, as they work."""
    stack = ExitStack()
    stack.enter_context(redirect_stdout(io.StringIO()))
    stack.enter_context(redirect_stderr(io.StringIO()))
    return stack


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
