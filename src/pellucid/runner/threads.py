"""Several calls at once in threads of this process, given back in order; Ctrl-C leaves nothing behind.

An interruption may strike the main thread between any two of its steps, also while it holds a lock or is inside a
library. So it holds none here: threads and caller share two `queue.SimpleQueue`, which are written in C and cannot be
left half done, and one list that says whether anybody still wants the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple, TypeVar

T = TypeVar("T")
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
