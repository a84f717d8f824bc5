"""How alike the rows of a table are, by a kernel, without the matrix of all pairs.

Kernels of two rows x and z, with D their Euclidean distance as points (`pellucid.data.embedding`) and G Gower's:

- *rbf*: exp(-D^2 / (2 width^2)); the exponent holds the squared distance;
- *laplace*: exp(-D / width);
- *gower*: exp(-G / width), a product of kernels of single features, for tables of mixed types;
- *leaves*: the share of trees in which both rows end in the same leaf (Breiman 2001), a mean of kernels of single
  trees.

Each is 1 for equal rows and positive definite. A *local* kernel is 0 for rows of different groups.

The exponents of a block of pairs are one matrix product: with rows [-2z, |z|^2, 1] and [z, 1, |z|^2] it holds squared
distances. Up to `DOUBLE` rows are held in double, more in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.distance import RowDistance
from pellucid.data.table import Data

KernelName = Literal["rbf", "laplace", "gower", "leaves"]
KERNELS: tuple[KernelName, ...] = ("rbf", "laplace", "gower")  # to be chosen; leaves are a space of their own
DOUBLE = 1024
_BLOCK = 1024
_WIDTH_ROWS = 500
_SMALL = 1e-12
_REMEMBERED = 2_000_000  # values of columns


class Points:
    """Rows as points of a Euclidean space; ``apart`` gives squared distances."""

    squared = True

    def __init__(self, matrix: FloatArray) -> None:
        z = matrix - matrix.mean(axis=0)
        z = z if len(z) <= DOUBLE else z.astype(np.float32)
        size = np.einsum("ij,ij->i", z, z)[:, None]
        one = np.ones_like(size)
        self.left, self.right = np.hstack([-2 * z, size, one]), np.hstack([z, one, size])

    def __len__(self) -> int:
        return len(self.left)

    def apart(self, rows: Any, others: Any, factor: float = 1.0) -> AnyArray:
        """``factor`` times the squared distances of some rows from others."""
        left, right = self.left[rows], self.right[others]
        return left @ (right if factor == 1.0 else right * right.dtype.type(factor)).T

    def take(self, some: IntArray) -> Points:
        """Some of the rows, the same points."""
        other = object.__new__(Points)
        other.left, other.right = self.left[some], self.right[some]
        return other


class Cells:
    """Rows of numbers, categories and missing values; ``apart`` gives Gower's distances."""

    squared = False

    def __init__(self, data: Data) -> None:
        learnt = RowDistance.learn(data, "gower")
        kind = np.float64 if len(data) <= DOUBLE else np.float32
        self.nominal = learnt.nominal
        self.columns = [
            (data.codes(j) if learnt.nominal[j] else data.codes(j) / learnt.unit[j]).astype(kind)
            for j in range(len(learnt.nominal))
        ]
        self.gaps = [bool(np.isnan(column).any()) for column in self.columns]
        self.n = len(data)

    def __len__(self) -> int:
        return self.n

    def apart(self, rows: Any, others: Any, factor: float = 1.0) -> AnyArray:
        """``factor`` times the distances of some rows from others."""
        total: AnyArray | None = None
        for column, nominal, gaps in zip(self.columns, self.nominal, self.gaps, strict=True):
            x, z = column[rows][:, None], column[others][None]
            d = (x != z).astype(column.dtype) if nominal else np.abs(x - z)
            if gaps:
                lacks, other = np.isnan(x), np.isnan(z)
                d = np.where(lacks | other, (lacks != other).astype(d.dtype), d)
            total = d if total is None else np.add(total, d, out=total)
        if total is None:
            raise ValueError("a table without columns has no distances")
        total *= total.dtype.type(factor / len(self.columns))
        return total

    def take(self, some: IntArray) -> Cells:
        """Some of the rows, with the same units."""
        other = object.__new__(Cells)
        other.columns, other.n = [column[some] for column in self.columns], len(some)
        other.nominal, other.gaps = self.nominal, self.gaps
        return other


class Leaves:
    """Rows as the leaves ``(rows, trees)`` that they end in; ``apart`` gives the shares of trees that part them."""

    squared = False

    def __init__(self, leaves: IntArray) -> None:
        self.trees = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in leaves.T]
        self.n = len(leaves)

    def __len__(self) -> int:
        return self.n

    def apart(self, rows: Any, others: Any, factor: float = 1.0) -> AnyArray:
        """``factor`` times the distances of some rows from others."""
        return np.asarray(factor * (1.0 - self.together(rows, others)))

    def together(self, rows: Any, others: Any) -> AnyArray:
        """The shares of trees in which two rows end in the same leaf."""
        found = np.zeros((len(self.trees[0][rows]), len(self.trees[0][others])), dtype=np.uint16)
        for leaf in self.trees:
            found += leaf[rows][:, None] == leaf[others][None]
        return found / np.asarray(len(self.trees), dtype=np.float64 if self.n <= DOUBLE else np.float32)

    def take(self, some: IntArray) -> Leaves:
        """Some of the rows, in the same trees."""
        other = object.__new__(Leaves)
        other.trees, other.n = [leaf[some] for leaf in self.trees], len(some)
        return other


Rows = Points | Cells | Leaves


class Columns(Protocol):
    """A kernel between rows, one column after the other."""

    def __len__(self) -> int: ...

    def column(self, j: int) -> FloatArray:
        """The kernel between every row and row ``j``."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """The kernel of few rows, held as a whole."""

    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def column(self, j: int) -> FloatArray:
        """The kernel between every row and row ``j``."""
        return np.asarray(self.values[j])


class Remembered:
    """A kernel whose columns are kept, up to some number of values, for what asks for them again; not to be changed."""

    def __init__(self, kernel: Columns) -> None:
        self._kernel = kernel
        self._known: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self._kernel)

    def column(self, j: int) -> FloatArray:
        """The kernel between every row and row ``j``."""
        found = self._known.get(j)
        if found is None:
            found = self._kernel.column(j)
            if len(found) * len(self._known) < _REMEMBERED:
                self._known[j] = found
        return found


@dataclass(frozen=True, eq=False)
class Similarity:
    """A kernel between the rows of one table, column by column or block by block."""

    rows: Rows
    kernel: KernelName
    width: float
    groups: IntArray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def exponents(self, rows: Any, others: Any) -> AnyArray:
        """The logarithms of `block`."""
        if isinstance(self.rows, Leaves):
            with np.errstate(divide="ignore"):
                found = np.log(self.rows.together(rows, others))
        elif self.kernel == "rbf":
            found = self.rows.apart(rows, others, -0.5 / self.width**2)
        elif self.kernel == "laplace":
            found = -np.sqrt(np.maximum(self.rows.apart(rows, others, 1.0 / self.width**2), 0.0))
        else:
            found = self.rows.apart(rows, others, -1.0 / self.width)
        if self.groups is not None:
            found[self.groups[rows][:, None] != self.groups[others][None]] = -np.inf
        return found

    def block(self, rows: Any, others: Any) -> AnyArray:
        """The kernel between some rows and others."""
        found = self.exponents(rows, others)
        return np.exp(found, out=found)

    def column(self, j: int) -> FloatArray:
        """The kernel between every row and row ``j``."""
        found = self.block(slice(None), [j])[:, 0].astype(np.float64)
        np.minimum(found, 1.0, out=found)
        found[j] = 1.0
        return found

    def within(self, rows: IntArray) -> FloatArray:
        """The kernel among some rows, none of them twice."""
        found = self.block(rows, rows)
        np.minimum(found, 1.0, out=found)
        np.fill_diagonal(found, 1.0)
        return found.astype(np.float64, copy=False)

    def blocks(self, size: int = _BLOCK) -> list[slice]:
        """The rows in runs that are worked on at once."""
        return [slice(start, min(start + size, len(self))) for start in range(0, len(self), size)]

    def nearest(self, chosen: IntArray) -> IntArray:
        """For every row its nearest of the ``chosen``, by place; -1 where a local kernel leaves a row without any."""
        best = np.empty(len(self), dtype=np.intp)
        for rows in self.blocks():
            found = self.exponents(rows, chosen)
            best[rows] = _first_largest(found)
            if self.groups is not None or self.kernel == "leaves":
                best[rows][np.isneginf(found).all(axis=1)] = -1
        return best

    def means(self, weights: FloatArray, tick: Callable[[int], None] = lambda _: None) -> FloatArray:
        """The mean kernel of every row with all rows; each pair of blocks is worked out once."""
        total, w = np.zeros(len(self)), weights.astype(self.block([0], [0]).dtype)
        runs = self.blocks(min(_BLOCK, max(len(self) // 8, 64)))  # pairs within a block are worked out twice
        for a, rows in enumerate(runs):
            for others in runs[a:]:
                block = self.block(rows, others)
                total[rows] += block @ w[others]
                if others != rows:
                    total[others] += w[rows] @ block
            tick(rows.stop - rows.start)
        return total / weights.sum()

    def sampled_means(self, weights: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """The same from some columns alone, and for each of these its mean over all rows."""
        means, per_column = np.empty(len(self)), np.zeros(len(columns))
        shares = weights[columns] / weights[columns].sum()
        for rows in self.blocks():
            block = self.block(rows, columns)
            means[rows] = block @ shares.astype(block.dtype)
            per_column += weights[rows].astype(block.dtype) @ block
        return means, per_column / weights.sum()


def _first_largest(values: FloatArray) -> IntArray:
    """The place of the largest of each line; of equal ones, up to rounding, the first."""
    top = values.max(axis=1, keepdims=True)
    return np.argmax(values >= top - _SMALL * np.maximum(np.abs(top), 1.0), axis=1)


def usual_width(rows: Rows, kernel: KernelName, chosen: IntArray) -> float:
    """The median distance of different rows: the width at which half of all pairs are alike by more than exp(-1)."""
    apart = rows.apart(chosen, chosen).astype(np.float64)[np.triu_indices(len(chosen), 1)]
    apart = np.maximum(apart, 0.0)
    apart = apart[apart > 1e-9] if (apart > 1e-9).any() else np.ones(1)
    middle = float(np.median(apart))
    if kernel == "rbf":
        return float(np.sqrt(middle / 2.0))
    return float(np.sqrt(middle)) if rows.squared else middle


def width_rows(n: int, generator: np.random.Generator) -> IntArray:
    """The rows that the usual width is measured on."""
    return np.sort(generator.choice(n, min(n, _WIDTH_ROWS), replace=False))
