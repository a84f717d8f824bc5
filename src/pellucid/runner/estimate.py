"""Saying once, soon after a long call has begun, how long it will take and what would make it faster.

Seconds are those so far, carried on to the rows that are planned. Work that a method plans only later (a sampler that
goes on until its interval is narrow enough) is not in it, so the call may take longer than is said. Where and whether
it is said: see `runner.notices`; a function that is given as ``progress`` is told how far a call is, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pellucid.runner.notices import Progress, heard, say
from pellucid.words import counted

LONG = 10.0  # seconds that a call must have ahead of it
SURE = 0.5  # seconds of work by which they are judged

# What the call is about, as its run names it, and what makes it faster; every option named here exists.
_FASTER = {
    "Shapley values": "fewer rows, budget= (model rows for each row) or Explainer(..., background=50)",
    "break-down": "Explainer(..., background=50)",
    "individual curves": "sample= (fewer curves) or grid= (fewer points)",
    "partial dependence": "rows= (averaged over fewer rows) or grid= (fewer points)",
    "accumulated local effects": "bins= (fewer intervals) or fewer features",
    "importance": "repeats= (fewer permutations), budget= where it is sampled, or an Explainer on fewer rows",
    "interactions": "rows= (fewer rows) or features= (fewer pairs)",
    "decomposition": "order=1, features= (fewer of them) or grid= (fewer points)",
    "local models": "samples= (fewer of them) or fewer rows",
    "picking rows": "sample= (fewer rows to choose from)",
    "anchors": "budget= (model rows), a lower precision= or fewer rows",
}


class Estimate:
    """The estimate of one call; ``clock``, ``long`` and ``sure`` are for tests."""

    def __init__(
        self,
        progress: Progress,
        what: str,
        *,
        clock: Callable[[], float] = time.perf_counter,
        long: float = LONG,
        sure: float = SURE,
    ) -> None:
        self._open = not callable(progress)
        self._progress, self._what = progress, what
        self._clock, self._long, self._sure = clock, long, sure
        self._since: float | None = None
        self._done, self._planned = 0, 0

    def plan(self, amount: int) -> None:
        """Adds to the work ahead; the clock runs from the first of it."""
        self._planned += amount
        if self._since is None:
            self._since = self._clock()

    def advance(self, amount: int, unit: str = "") -> None:
        """Notes that some is done, and speaks where what is left will take long; ``unit`` is what is counted."""
        self._done += amount
        if not self._open or self._since is None or not self._done:
            return
        spent = self._clock() - self._since
        left = spent * (self._planned - self._done) / self._done
        if spent >= self._sure and left > self._long:
            self._open = False
            if heard(self._progress):
                say(sentence(self._what, left, self._planned if unit else 0, unit))


def sentence(what: str, seconds: float, planned: int = 0, unit: str = "") -> str:
    """What is said."""
    size = f" ({counted(planned, unit)} in all)" if planned else ""
    faster = f" Faster: {_FASTER[what]}." if what in _FASTER else ""
    return f"pellucid: {what} will take about {_duration(seconds)} more{size}.{faster} progress=False silences this."


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
