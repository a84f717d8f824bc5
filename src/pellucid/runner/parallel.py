"""Several calls at once, in threads or wherever the caller has told joblib to work."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

from pellucid.runner.threads import in_threads

T = TypeVar("T")


def elsewhere() -> bool:
    """Whether joblib's active backend, if the caller has chosen one, shares no memory with this process."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return not getattr(backend, "supports_sharedmem", False)


def in_parallel(calls: Sequence[Callable[[], T]], workers: int) -> Generator[T, None, None]:
    """What the calls return, in their order."""
    return in_processes(calls, workers) if workers > 1 and elsewhere() else in_threads(calls, workers)


def in_processes(calls: Iterable[Callable[[], T]], workers: int) -> Generator[T, None, None]:
    """What the calls return, in their order, worked out by joblib's active backend."""
    from joblib import Parallel, delayed

    answers = Parallel(n_jobs=workers, return_as="generator")(delayed(_call)(call) for call in calls)
    try:
        yield from answers
    finally:
        # That some of the work is not used is meant, so joblib need not warn of it.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            answers.close()


def _call(call: Callable[[], T]) -> T:
    return call()
