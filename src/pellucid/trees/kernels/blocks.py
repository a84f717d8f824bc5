"""Rows in blocks: how the kernels see a matrix.

A block holds `ROWS` rows, column after column, so that one column of a block is one run of memory that
vectors are loaded from: ``(blocks, columns, ROWS)``. The last block is filled up with copies of its last row, which
takes the same ways through memory.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray

ROWS = 32
_VECTOR = 8  # rows that a kernel works on at once
COLUMN_BYTES = 8 * ROWS
_CACHE_LINE = 64


def lanes_of(n: int) -> tuple[int, ...]:
    """One entry for each vector of a block to work on: of a few rows one, else all. A row's numbers are the same."""
    return (0,) if n <= _VECTOR else tuple(range(ROWS // _VECTOR))


EVERY_LANE = lanes_of(ROWS)


def aligned(size: int) -> FloatArray:
    """Zeros that begin at a cache line: a vector that straddles two lines is loaded at half the speed."""
    spare = np.zeros(size + _CACHE_LINE // 8)
    first = (-spare.ctypes.data // 8) % (_CACHE_LINE // 8)
    return spare[first : first + size]


def into_blocks(X: FloatArray, spare: int = 0) -> FloatArray:
    """``(rows, columns)`` as ``(blocks, columns + spare, ROWS)``; the spare columns are zero."""
    n, columns = X.shape
    count = -(-n // ROWS)
    out = empty_blocks(n, columns + spare)
    whole = n // ROWS
    out[:whole, :columns] = X[: whole * ROWS].reshape(whole, ROWS, columns).transpose(0, 2, 1)
    if whole < count:
        out[whole, :columns, : n - whole * ROWS] = X[whole * ROWS :].T
        out[whole, :columns, n - whole * ROWS :] = X[-1][:, None]
    return out


def empty_blocks(n: int, columns: int) -> FloatArray:
    """Zeros for so many rows."""
    count = -(-n // ROWS)
    return aligned(count * columns * ROWS).reshape(count, columns, ROWS)


def from_blocks(blocks: FloatArray, n: int) -> FloatArray:
    """``(blocks, columns, ROWS)`` as ``(n, columns)``."""
    columns = blocks.shape[1]
    return blocks.transpose(0, 2, 1).reshape(len(blocks) * ROWS, columns)[:n]
