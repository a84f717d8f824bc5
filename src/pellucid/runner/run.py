"""The one loop that asks the model: batches, threads, progress, cost and interruption."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.frame import Frame, Scratch
from pellucid.models import Predictor
from pellucid.runner.progress import Progress, Reporter
from pellucid.runner.sweep import Batch, Sweep, blocks

_MEMORY = 64 * 2**20  # bytes of table handed to the model at once
_MOST_ROWS = 65_536  # beyond this a larger batch no longer pays and only leaves the caches


@dataclass(frozen=True)
class Cost:
    """What an explanation cost: rows and seconds in the model, calls, and seconds in all."""

    model_rows: int
    model_seconds: float
    model_calls: int
    total_seconds: float


@dataclass(frozen=True, eq=False)
class _Job:
    """One call of the model."""

    sweep: int
    spec: Sweep
    base: IntArray | slice
    variants: slice
    rows: slice

    @property
    def n(self) -> int:
        return (self.variants.stop - self.variants.start) * (self.rows.stop - self.rows.start)


class Run:
    """The work of one method call."""

    def __init__(
        self,
        *,
        n_jobs: int | None = None,
        progress: Progress = False,
        what: str = "asking the model",
        seed: int = 0,
        memory: int = _MEMORY,
    ) -> None:
        self._n_jobs = n_jobs
        self._memory = memory
        self._reporter = Reporter(progress, what)
        self._start = time.perf_counter()
        self._rows, self._calls, self._seconds = 0, 0, 0.0
        self.seed = seed
        self.interrupted = False

    def generator(self, *key: int) -> np.random.Generator:
        """A random generator for one part of the work; the same key gives the same numbers."""
        return np.random.default_rng([self.seed, *key])

    def cost(self) -> Cost:
        """What has been spent so far."""
        return Cost(self._rows, self._seconds, self._calls, time.perf_counter() - self._start)

    # -- asking ----------------------------------------------------------------------------------

    def predict(self, predictor: Predictor, data: Data, *, full: bool = False) -> FloatArray:
        """Predictions ``(rows, outputs)`` of the table as it is."""
        return self.collect(predictor, data, Sweep((), (), np.zeros((1, 0), dtype=np.intp)), full=full)[0]

    def collect(self, predictor: Predictor, data: Data, sweep: Sweep, *, full: bool = False) -> FloatArray:
        """All predictions ``(variants, rows, outputs)`` of one sweep."""
        out: FloatArray | None = None
        for batch in self.stream(predictor, data, [sweep], full=full):
            if out is None:
                out = np.full((sweep.variants, sweep.n_rows(data), batch.predictions.shape[2]), np.nan)
            out[batch.variants, batch.rows] = batch.predictions
        if out is None:
            return np.empty((sweep.variants, sweep.n_rows(data), len(predictor.output_names)))
        return out

    def stream(
        self,
        predictor: Predictor,
        data: Data,
        sweeps: Sequence[Sweep],
        *,
        full: bool = False,
        partial: bool = False,
    ) -> Iterator[Batch]:
        """Batches of predictions in a fixed order, whatever the number of threads.

        With ``partial=True`` an interruption (Ctrl-C) ends the stream and is noted in `interrupted`,
        provided that something is known already; otherwise it is raised as usual.
        """
        jobs = list(self._plan(data, sweeps))
        self._reporter.plan(sum(job.n for job in jobs))
        ask = predictor.timed_full if full else predictor.timed
        done = 0
        try:
            for job, (predictions, seconds) in zip(
                jobs, self._answers(jobs, data, ask, predictor.mutates), strict=True
            ):
                self._rows, self._calls, self._seconds = (
                    self._rows + job.n,
                    self._calls + 1,
                    self._seconds + seconds,
                )
                self._reporter.advance(job.n)
                done += 1
                shape = (job.variants.stop - job.variants.start, job.rows.stop - job.rows.start, -1)
                yield Batch(job.sweep, job.variants, job.rows, predictions.reshape(shape))
        except KeyboardInterrupt:
            if not (partial and done):
                raise
            self.interrupted = True
        finally:
            self._reporter.close()

    def _plan(self, data: Data, sweeps: Sequence[Sweep]) -> Iterator[_Job]:
        """Rows outside, variants inside: one stacked copy of the rows serves all variants and sweeps."""
        size = int(np.clip(self._memory // max(data.frame.bytes_per_row(), 1), 1, _MOST_ROWS))
        everywhere = [(s, sweep) for s, sweep in enumerate(sweeps) if sweep.rows is None]
        for rows in blocks(len(data), size) if everywhere else ():
            for s, sweep in everywhere:
                for variants in blocks(sweep.variants, max(1, size // (rows.stop - rows.start))):
                    yield _Job(s, sweep, rows, variants, rows)
        for s, sweep in enumerate(sweeps):
            if sweep.rows is not None:
                for rows in blocks(len(sweep.rows), size):
                    for variants in blocks(sweep.variants, max(1, size // (rows.stop - rows.start))):
                        yield _Job(s, sweep, sweep.rows[rows], variants, rows)

    def _answers(
        self, jobs: list[_Job], data: Data, ask: Ask, mutates: bool
    ) -> Iterable[tuple[FloatArray, float]]:
        workers = 1 if len(jobs) < 2 else _effective_jobs(self._n_jobs)
        desks = _Desks(data.frame, reuse=not mutates)
        if workers == 1:
            return (desks.answer(job, ask) for job in jobs)
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self._n_jobs, prefer="threads", return_as="generator")
        answers: Iterable[tuple[FloatArray, float]] = parallel(
            delayed(desks.answer)(job, ask) for job in jobs
        )
        return answers


Ask = Callable[[Any, int], tuple[FloatArray, float]]


def _effective_jobs(n_jobs: int | None) -> int:
    if n_jobs in (None, 1) and "joblib" not in sys.modules:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


class _Desks:
    """Workspaces lent to one worker at a time and handed on, so that stacked copies are made rarely."""

    def __init__(self, frame: Frame, *, reuse: bool) -> None:
        self._frame = frame
        self._reuse = reuse
        self._free: list[tuple[tuple[int, int], int, Scratch]] = []

    def answer(self, job: _Job, ask: Ask) -> tuple[FloatArray, float]:
        repeats = job.variants.stop - job.variants.start
        if not isinstance(job.base, slice):
            scratch = self._frame.take(job.base).scratch(repeats)
            return ask(scratch.fill(job.spec.columns(job.variants, job.rows), job.n), job.n)
        key = (job.base.start, job.base.stop)
        scratch, capacity = self._borrow(key, repeats)
        answer = ask(scratch.fill(job.spec.columns(job.variants, job.rows), job.n), job.n)
        if self._reuse:
            self._free.append((key, capacity, scratch))
        return answer

    def _borrow(self, key: tuple[int, int], repeats: int) -> tuple[Scratch, int]:
        """A free workspace over the same rows that is large enough, or a new one."""
        while self._free:
            try:
                found_key, capacity, scratch = self._free.pop()
            except IndexError:  # another thread was quicker
                break
            if found_key == key and capacity >= repeats:
                return scratch, capacity
        start, stop = key
        whole = start == 0 and stop == len(self._frame)
        rows = self._frame if whole else self._frame.take(np.arange(start, stop))
        return rows.scratch(repeats), repeats

    def __getstate__(self) -> dict[str, Any]:
        return {"_frame": self._frame, "_reuse": self._reuse, "_free": []}
