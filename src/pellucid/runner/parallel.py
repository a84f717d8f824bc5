"""Several calls at once that ask no model, such as fitting models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_parallel(calls: Sequence[Callable[[], T]], workers: int) -> Generator[T, None, None]:
    """What the calls return, in their order; joblib's active backend does the work, threads by default."""
    if workers == 1 or len(calls) < 2:
        yield from (call() for call in calls)
        return
    from joblib import Parallel, delayed

    answers = Parallel(n_jobs=workers, prefer="threads", return_as="generator")(
        delayed(_call)(call) for call in calls
    )
    try:
        yield from answers
    finally:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            answers.close()


def _call(call: Callable[[], T]) -> T:
    return call()
