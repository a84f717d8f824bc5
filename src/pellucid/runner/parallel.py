"""Several calls at once, given back in order: in threads of this process, or wherever joblib has been told to work.

An interruption (Ctrl-C) leaves nothing behind. It may strike the main thread between any two of its steps, also while
it holds a lock or is inside a library. So it holds none here: threads and caller share two `queue.SimpleQueue`, which
are written in C and cannot be left half done, and one list that says whether anybody still wants the answers.

To other processes the model is sent once, not once per batch (`Sealed`).
"""

from __future__ import annotations

import io
import sys
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import ModelError

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


_opened: dict[str, Callable[..., tuple[FloatArray, float]]] = {}


class Sealed:
    """A predictor's function, serialised once; a worker process opens it at the first batch and keeps it.

    The bytes are held as an array because joblib shares large arrays between processes through a file
    instead of copying them with every task.
    """

    def __init__(self, ask: Callable[[Any, int], tuple[FloatArray, float]]) -> None:
        import joblib

        self._token = uuid.uuid4().hex
        stream = io.BytesIO()
        try:
            # The wrapper is for functions without a name, and for what they refer to.
            joblib.dump(joblib.wrap_non_picklable_objects(ask, keep_wrapper=False), stream)
        except Exception as error:  # whatever the model's own serialisation raises
            raise ModelError(
                f"the model cannot be sent to other processes ({type(error).__name__}: {error}); "
                "use threads, as in joblib.parallel_config(backend='threading'), or n_jobs=1."
            ) from error
        self._bytes = np.frombuffer(stream.getvalue(), dtype=np.uint8)

    def __call__(self, table: Any, n: int) -> tuple[FloatArray, float]:
        ask = _opened.get(self._token)
        if ask is None:
            import joblib

            ask = joblib.load(io.BytesIO(self._bytes.tobytes()))
            _opened.clear()
            _opened[self._token] = ask
        return ask(table, n)


_AHEAD = 2  # calls for each thread, begun before the first of them is given back


class _Outcome(NamedTuple):
    """What became of a call: an error is the caller's, once its turn has come."""

    place: int
    value: object
    error: BaseException | None


def in_threads(calls: Sequence[Callable[[], T]], workers: int) -> Generator[T, None, None]:
    """What the calls return, in their order, whichever thread was quicker.

    When the caller stops asking, calls that have not begun never do, and calls under way are not waited for.
    """
    if workers == 1 or len(calls) < 2:
        yield from (call() for call in calls)
        return
    waiting: SimpleQueue[int | None] = SimpleQueue()
    finished: SimpleQueue[_Outcome] = SimpleQueue()
    over: list[bool] = []
    early: dict[int, _Outcome] = {}
    ahead = _AHEAD * workers
    threads: list[Thread] = []
    try:
        for place in range(min(ahead, len(calls))):
            waiting.put(place)
        for _ in range(min(workers, len(calls))):
            threads.append(Thread(target=_work, args=(calls, waiting, finished, over), daemon=True))
            threads[-1].start()
        for place in range(len(calls)):
            while place not in early:
                outcome = finished.get()
                early[outcome.place] = outcome
            outcome = early.pop(place)
            if outcome.error is not None:
                raise outcome.error
            if place + ahead < len(calls):
                waiting.put(place + ahead)
            yield outcome.value  # type: ignore[misc]  # what the call returned
    finally:
        over.append(True)
        for _ in threads:
            waiting.put(None)


def _work(
    calls: Sequence[Callable[[], object]],
    waiting: SimpleQueue[int | None],
    finished: SimpleQueue[_Outcome],
    over: list[bool],
) -> None:
    """What a thread does until nobody wants any more."""
    while (place := waiting.get()) is not None and not over:
        value, error = None, None
        try:
            value = calls[place]()
        except BaseException as raised:  # told to the caller
            error = raised
        finished.put(_Outcome(place, value, error))
