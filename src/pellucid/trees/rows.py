"""Rows through a kernel: in portions that fit the memory, shared out over threads, with progress.

A thread works on its own rows from beginning to end, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.runner.limits import USUAL, Limits
from pellucid.runner.parallel import in_threads
from pellucid.trees.kernels.blocks import ROWS


class Watch(Protocol):
    """What the engine needs of the run of a method: threads, how to cut the work, and telling how far it is."""

    @property
    def threads(self) -> int: ...
    @property
    def limits(self) -> Limits: ...
    def plan(self, amount: int) -> None: ...
    def advance(self, amount: int) -> None: ...
    def close(self) -> None: ...


class Alone:
    """One thread, no progress."""

    threads = 1

    def __init__(self, limits: Limits = USUAL) -> None:
        self.limits = limits

    def plan(self, amount: int) -> None: ...

    def advance(self, amount: int) -> None: ...

    def close(self) -> None: ...


def portions(
    n: int, cells_per_row: int, limits: Limits = USUAL, unit: int = ROWS, *, most: int | None = None
) -> Iterator[slice]:
    """Rows in portions of memory (of ``most`` bytes), whole blocks (or a whole number of other units) each."""
    size = max(1, (limits.portion_bytes if most is None else most) // (8 * unit * max(cells_per_row, 1))) * unit
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


@dataclass(frozen=True, eq=False)
class Places:
    """Where results go: an array ``(rows, columns, outputs)`` of zeros, and the columns that are written.

    What a kernel works out for some rows goes there at once: no second array of this size is ever made.
    """

    values: FloatArray
    columns: IntArray | slice

    @classmethod
    def of(cls, rows: int, columns: int, outputs: int, written: IntArray | None = None) -> Places:
        """An array of their own, of which only some columns may be ``written``."""
        some: IntArray | slice = slice(None) if written is None or len(written) == columns else written
        return cls(np.zeros((rows, columns, outputs)), some)

    def add(self, rows: slice, output: int | slice, part: FloatArray) -> None:
        """Adds ``(rows, written columns)`` of one output, or ``(rows, written columns, outputs)`` of all."""
        self.values[rows, self.columns, output] += part

    def sums(self) -> FloatArray:
        """``(rows, outputs)``: the sums over the written columns, in their order."""
        n, columns, outputs = self.values.shape
        found = np.empty((n, outputs))
        for rows in portions(n, columns * outputs, most=USUAL.contribution_bytes):
            found[rows] = np.ascontiguousarray(self.values[rows, self.columns]).sum(axis=1)
        return found


def shares_of(n: int, weights: FloatArray | None) -> FloatArray:
    """What each of n background rows counts; together one."""
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if not weights.sum() > 0:
        raise InputError("the weights of the background add up to nothing; give some row a weight.")
    return weights / weights.sum()


def dense(X: Any, rows: slice, fill: float) -> FloatArray:
    """Some rows as float64; of a sparse matrix only those are filled in."""
    part = X[rows]
    if not hasattr(part, "indptr"):
        return np.asarray(part, dtype=np.float64)
    part.sum_duplicates()
    out = np.full(part.shape, fill)
    row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
    out[row, part.indices] = part.data
    return out


def blocks_of(n: int) -> int:
    """In how many blocks so many rows are."""
    return -(-n // ROWS)


def share_out(work: Callable[[int, int], None], blocks: int, watch: Watch, *, planned: bool = False) -> None:
    """Calls ``work(first, end)`` for shares of the blocks, which may have been ``planned``; Ctrl-C is heard between two
    shares.
    """
    size = max(1, min(watch.limits.share_blocks, -(-blocks // watch.threads)))
    shares = [(first, min(first + size, blocks)) for first in range(0, blocks, size)]
    if not planned:
        watch.plan(blocks)
    with closing(in_threads([partial(work, *share) for share in shares], watch.threads)) as done:
        for (first, end), _ in zip(shares, done, strict=True):
            watch.advance(end - first)
