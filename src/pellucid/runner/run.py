"""The one loop that asks the model: batches, threads, progress, cost and interruption."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import reporting, workers
from pellucid.data import Data
from pellucid.data.frames.frame import Frame, Scratch
from pellucid.models import Predictor
from pellucid.runner.estimate import Estimate
from pellucid.runner.intervention import Batch, Intervention, blocks
from pellucid.runner.limits import USUAL, Limits
from pellucid.runner.parallel import Sealed, elsewhere, in_processes, in_threads
from pellucid.runner.progress import Progress, Reporter

T = TypeVar("T")
Result = TypeVar("Result", bound=Any)  # an explanation


@dataclass(frozen=True)
class Cost:
    """What an explanation cost: rows, calls and seconds in the model, and seconds in all.

    ``check_rows`` are the further rows that the diagnostics asked for; the seconds include them. What an Explainer
    asks when it is made (at most 532 rows) belongs to no explanation and is not counted. ``interrupted``: the user
    ended the work early.
    """

    model_rows: int
    model_seconds: float
    model_calls: int
    total_seconds: float
    check_rows: int = 0
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class _Job:
    """One call of the model."""

    intervention: int
    spec: Intervention
    base: IntArray | slice
    variants: slice
    rows: slice

    @property
    def n(self) -> int:
        return (self.variants.stop - self.variants.start) * (self.rows.stop - self.rows.start)

    def columns(self) -> Columns:
        return self.spec.columns(self.variants, self.rows)


def stream(seed: int, name: str, *key: int) -> np.random.Generator:
    """Random numbers of their own for every purpose, named as in "lime.samples", and for every ``key`` within it."""
    # As a spawn key: in a plain list of numbers trailing zeros do not count.
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(crc32(name.encode()), *key)))


class UntilInterrupted:
    """A block that an interruption ends; ``cut`` says whether it did."""

    def __init__(self, run: Run, enough: Callable[[], object]) -> None:
        self._run, self._enough, self.cut = run, enough, False

    def __enter__(self) -> UntilInterrupted:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        if kind is None or not issubclass(kind, KeyboardInterrupt) or not self._enough():
            return False
        self._run.interrupted = self.cut = True
        return True


class Run:
    """The work of one method call."""

    def __init__(
        self,
        *,
        n_jobs: int | None = None,
        progress: Progress = False,
        what: str = "calling the model",
        seed: int = 0,
        checks: bool = True,
        memory_of: dict[str, Any] | None = None,
        limits: Limits = USUAL,
    ) -> None:
        self._n_jobs = workers(n_jobs)
        self._reporter = Reporter(reporting(progress), what)
        self._estimate = Estimate(progress, what)
        self._start = time.perf_counter()
        self._rows, self._calls, self._seconds = 0, 0, 0.0
        self._checking, self._check_rows = False, 0
        self._known: dict[str, Any] = {} if memory_of is None else memory_of
        self.checks, self.limits = checks, limits
        self.seed = seed
        self.interrupted = False
        self.unread: str | None = None  # why a model was asked that should have been read

    def generator(self, name: str, *key: int) -> np.random.Generator:
        """Random numbers for one purpose, by name: ``run.generator("lime.samples", start)``."""
        return stream(self.seed, name, *key)

    def cost(self) -> Cost:
        """What has been spent so far."""
        elapsed = time.perf_counter() - self._start
        return Cost(self._rows, self._seconds, self._calls, elapsed, self._check_rows, self.interrupted)

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Model rows asked for in here are counted as those of a diagnostic; one may stand in another."""
        before, self._checking = self._checking, True
        try:
            yield
        finally:
            self._checking = before

    def until_interrupted(self, enough: Callable[[], object] = lambda: True) -> UntilInterrupted:
        """A block that an interruption (Ctrl-C) ends, noted in `interrupted`, provided that ``enough`` is known.

        ``with run.until_interrupted(lambda: bool(known)) as work: ...``, after which ``work.cut`` says whether it was.
        """
        return UntilInterrupted(self, enough)

    def raise_if_interrupted(self) -> None:
        """Ends what is under way as well, where an interruption was only noted."""
        if self.interrupted:
            raise KeyboardInterrupt

    def finish(self, result: Result, caveats: Iterable[Any] | None = None, **fields: Any) -> Result:
        """A result with what it cost in all, its caveats (None: those that it has), and what else is known last."""
        fields |= {"caveats": result.caveats if caveats is None else tuple(caveats), "cost": self.cost()}
        header = {name: fields.pop(name) for name in list(fields) if hasattr(result.header, name)}
        return replace(result, header=replace(result.header, **header), **fields)

    def unless_interrupted(self, measure: Callable[[], T], otherwise: T) -> T:
        """What a check measures: an interruption costs the check, not the result that it is about.

        ``otherwise`` where checks are off, or the user interrupts the check or what came before it.
        """
        if not self.checks or self.interrupted:
            return otherwise
        with self.until_interrupted(), self.checking():
            return measure()
        return otherwise

    def remember(self, name: str, work_out: Callable[[], T]) -> T:
        """Work something out once for all runs that share a memory (those of one Explainer)."""
        if name not in self._known:
            self._known[name] = work_out()
        known: T = self._known[name]
        return known

    def keep(self, name: str, of: object, work_out: Callable[[], T]) -> T:
        """As `remember`, for what belongs to one object; of another object it is worked out anew and takes its
        place.
        """
        kept: tuple[object, T] | None = self._known.get(name)
        if kept is None or kept[0] is not of:
            kept = self._known[name] = (of, work_out())
        return kept[1]

    # -- work that asks no model -----------------------------------------------------------------

    @property
    def threads(self) -> int:
        """How many threads may work at once."""
        return _effective_jobs(self._n_jobs)

    def plan(self, amount: int) -> None:
        """Adds to the work ahead."""
        self._estimate.plan(amount)
        self._reporter.plan(amount)

    def scales_with(self, option: str, now: int, *, least: int = 1, power: float = 1.0) -> None:
        """Notes that the work is proportional to (a power of) an option, so that a long call can say what less of it
        would save; ``"fewer rows"`` stands for rows that are explained.
        """
        self._estimate.scales_with(option, now, least, power)

    def advance(self, amount: int) -> None:
        """Notes that some of it is done."""
        self._estimate.advance(amount)
        self._reporter.advance(amount)

    def close(self) -> None:
        """Ends the progress bar, if there is one."""
        self._reporter.close()

    @contextmanager
    def counting(self, rows: int) -> Iterator[None]:
        """Counts and times a call of something else than a predictor, worth so many model rows."""
        start = time.perf_counter()
        yield
        self._count(rows, time.perf_counter() - start)

    def _count(self, rows: int, seconds: float) -> None:
        self._calls += 1
        self._seconds += seconds
        if self._checking:
            self._check_rows += rows
        else:
            self._rows += rows

    # -- asking ----------------------------------------------------------------------------------

    def predict(self, predictor: Predictor, data: Data, *, full: bool = False) -> FloatArray:
        """Predictions ``(rows, outputs)`` of the table as it is."""
        return self.collect(predictor, data, Intervention((), (), np.zeros((1, 0), dtype=np.intp)), full=full)[0]

    def collect(
        self, predictor: Predictor, data: Data, intervention: Intervention, *, full: bool = False
    ) -> FloatArray:
        """All predictions ``(variants, rows, outputs)`` of one intervention."""
        out: FloatArray | None = None
        for batch in self.stream(predictor, data, [intervention], full=full):
            if out is None:
                out = np.full((intervention.variants, intervention.n_rows(data), batch.predictions.shape[2]), np.nan)
            out[batch.variants, batch.rows] = batch.predictions
        if out is None:
            return np.empty((intervention.variants, intervention.n_rows(data), len(predictor.output_names)))
        return out

    def gradient(self, predictor: Predictor, data: Data, *, full: bool = False) -> FloatArray:
        """The model's own derivatives ``(rows, features, outputs)`` at the rows of the table."""
        size = self._batch_size(data)
        parts = []
        for rows in blocks(len(data), size):
            start = time.perf_counter()
            table = data.frame.take(np.arange(rows.start, rows.stop)).native
            parts.append(predictor.gradient(table, rows.stop - rows.start, full=full))
            self._count(rows.stop - rows.start, time.perf_counter() - start)
        return np.concatenate(parts)

    def stream(
        self,
        predictor: Predictor,
        data: Data,
        interventions: Sequence[Intervention],
        *,
        full: bool = False,
        partial: bool = False,
    ) -> Iterator[Batch]:
        """Batches of predictions in a fixed order, whatever the number of threads.

        With ``partial=True`` an interruption (Ctrl-C) ends the stream and is noted in `interrupted`,
        provided that something is known already; otherwise it is raised as usual.
        """
        jobs = list(self._plan(data, interventions))
        left = sum(job.n for job in jobs)
        self.plan(left)
        ask = predictor.timed_full if full else predictor.timed
        answers = self._answers(jobs, data, ask)
        done = 0
        try:
            with self.until_interrupted(lambda: partial and done):
                for job, (predictions, seconds) in zip(jobs, answers, strict=True):
                    self._count(job.n, seconds)
                    self._estimate.advance(job.n, "model row")
                    self._reporter.advance(job.n)
                    left -= job.n
                    done += 1
                    shape = (job.variants.stop - job.variants.start, job.rows.stop - job.rows.start, -1)
                    yield Batch(job.intervention, job.variants, job.rows, predictions.reshape(shape))
        finally:
            answers.close()
            self.plan(-left)
            self._reporter.close()

    def _batch_size(self, data: Data) -> int:
        """Rows per call: many, to outweigh the call itself and to keep each tree of a forest in the caches in turn."""
        return max(1, min(self.limits.batch_bytes // max(data.frame.bytes_per_row(), 1), self.limits.batch_rows))

    def _plan(self, data: Data, interventions: Sequence[Intervention]) -> Iterator[_Job]:
        """Rows outside, variants inside: one stacked copy of the rows serves all variants and interventions."""
        size = self._batch_size(data)
        everywhere = [(s, intervention) for s, intervention in enumerate(interventions) if intervention.rows is None]
        for rows in blocks(len(data), size) if everywhere else ():
            for s, intervention in everywhere:
                for variants in intervention.chunks(max(1, size // (rows.stop - rows.start))):
                    yield _Job(s, intervention, rows, variants, rows)
        for s, intervention in enumerate(interventions):
            if intervention.rows is not None:
                for rows in blocks(len(intervention.rows), size):
                    for variants in intervention.chunks(max(1, size // (rows.stop - rows.start))):
                        yield _Job(s, intervention, intervention.rows[rows], variants, rows)

    def _answers(self, jobs: list[_Job], data: Data, ask: Ask) -> Answers:
        workers = 1 if len(jobs) < 2 else _effective_jobs(self._n_jobs)
        desks = _Desks(data.frame)
        if workers == 1:
            return (desks.answer(job, ask) for job in jobs)
        if elsewhere():
            sealed = Sealed(ask)
            return in_processes((partial(_answer, *desks.parcel(job), sealed) for job in jobs), workers)
        return in_threads([partial(desks.answer, job, ask) for job in jobs], workers)


Ask = Callable[[Any, int], tuple[FloatArray, float]]
Answers = Generator[tuple[FloatArray, float], None, None]
Columns = Mapping[int, tuple[Any, IntArray]]


def _answer(frame: Frame, repeats: int, columns: Columns, n: int, ask: Ask) -> tuple[FloatArray, float]:
    """One call of the model in a workspace of its own."""
    return ask(frame.scratch(repeats).fill(columns, n), n)


def _effective_jobs(n_jobs: int | None) -> int:
    if n_jobs in (None, 1) and "joblib" not in sys.modules:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


class _Desks:
    """Workspaces lent to one worker at a time and handed on, so that stacked copies are made rarely.

    A model that writes into its input is no danger to them: the predictor gives it a copy.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._free: list[tuple[slice, int, Scratch]] = []

    def answer(self, job: _Job, ask: Ask) -> tuple[FloatArray, float]:
        """The model's answer to a job, in a borrowed workspace where one can be shared."""
        if not isinstance(job.base, slice):
            return _answer(*self.parcel(job), ask)
        repeats = job.variants.stop - job.variants.start
        if repeats == 1 and not job.spec.features and (job.n < len(self._frame) or self._frame.made):
            return ask(self._frame.lent(job.base).native, job.n)  # no workspace to write into
        scratch, capacity = self._borrow(job.base, repeats)
        answer = ask(job.spec.fill(scratch, job.variants, job.rows, job.n), job.n)
        self._free.append((job.base, capacity, scratch))
        return answer

    def parcel(self, job: _Job) -> tuple[Frame, int, Columns, int]:
        """All that a worker without shared memory needs: copies of the job's rows and what replaces them."""
        rows = np.arange(job.base.start, job.base.stop) if isinstance(job.base, slice) else job.base
        return self._frame.take(rows), job.variants.stop - job.variants.start, job.columns(), job.n

    def _borrow(self, rows: slice, repeats: int) -> tuple[Scratch, int]:
        """A free workspace over the same rows that is large enough, or a new one."""
        while self._free:
            try:
                found, capacity, scratch = self._free.pop()
            except IndexError:  # another thread was quicker
                break
            if found == rows and capacity >= repeats:
                return scratch, capacity
        whole = rows == slice(0, len(self._frame))
        frame = self._frame if whole else self._frame.take(np.arange(rows.start, rows.stop))
        return frame.scratch(repeats), repeats
