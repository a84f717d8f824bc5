"""The rows that stand for "absent": all of X, some of it, or rows of the caller's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.runner import Run

MOST = 200  # rows that are asked for every coalition unless the caller says otherwise
_KEY = 11  # of the random generator


def background_rows(data: Data, given: Any, run: Run, *, most: int | None = None) -> Data:
    """The background, with its weights; of X at most ``most`` rows, drawn at random with the run's seed."""
    if isinstance(given, bool):
        raise InputError(f"background={given!r} is no background; give a table, a number of rows or None.")
    if given is not None and not isinstance(given, int | np.integer):
        return run.keep("background", given, lambda: data.rows(given))
    if given is not None and given < 1:
        raise InputError(f"background={given} leaves no row; give at least one row.")
    size = most if given is None else int(given)
    counting = np.flatnonzero(data.weights > 0)
    if size is not None and size < len(counting):
        counting = np.sort(run.generator(_KEY).choice(counting, size, replace=False))
    elif len(counting) == len(data):
        return data
    return replace(data.take(counting), y=None)
