"""Saying once, soon after a long call has begun, how long it will take and what would make it faster.

Seconds are those so far, carried on to the rows that are planned. Work that a method plans only later (a sampler that
goes on until its interval is narrow enough) is not in it, so the call may take longer than is said. Where and whether
it is said: see `runner.progress`; a function that is given as ``progress`` is told how far a call is, and nothing else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pellucid.runner.progress import Progress, heard, say
from pellucid.words import counted

LONG = 10.0  # seconds that a call must have ahead of it
FEWER_ROWS = "fewer rows"  # to be explained: no option, but what the work is proportional to
SURE = 0.5  # seconds of work by which they are judged

# What the call is about, as its run names it, and what makes it faster besides the options that its work is
# proportional to (`Run.scales_with`), of which the seconds are said; every option named here exists.
_FASTER = {
    "Shapley values": (FEWER_ROWS, "budget= (model rows for each row)", "Explainer(..., background=50)"),
    "break-down": (FEWER_ROWS, "Explainer(..., background=50)"),
    "individual curves": ("sample= (fewer curves)", "grid= (fewer points)"),
    "partial dependence": ("rows= (averaged over fewer rows)", "grid= (fewer points)"),
    "accumulated local effects": ("fewer features", "an Explainer on fewer rows"),
    "importance": ("repeats= (fewer permutations)", "budget= where it is sampled", "an Explainer on fewer rows"),
    "interactions": ("rows= (fewer rows)", "features= (fewer pairs)"),
    "decomposition": ("order=1", "features= (fewer of them)", "grid= (fewer points)"),
    "local models": ("samples= (fewer of them)", FEWER_ROWS),
    "picking rows": ("sample= (fewer rows to choose from)",),
    "anchors": ("budget= (model rows)", "a lower precision=", FEWER_ROWS),
}


@dataclass(frozen=True)
class Lever:
    """An option that the work is proportional to (to its ``power``): what it is now, and the least that makes sense.

    ``option`` is the name of an argument, or `FEWER_ROWS`.
    """

    option: str
    now: int
    least: int
    power: float

    def offer(self, total: float, goal: float) -> str:
        """The largest round number with which the call takes about as long as the goal; nothing where there is none."""
        wanted = self.now * (goal / total) ** (1 / self.power)
        step = max(10 ** math.floor(math.log10(max(wanted, 1))) // 2, 1)
        value = max(int(wanted // step * step), self.least)
        if value >= self.now:
            return ""
        what = counted(value, "row") if self.option == FEWER_ROWS else f"{self.option}={value}"
        return f"{what} instead of {self.now:,} would take about {_duration(total * (value / self.now) ** self.power)}"


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
        self._levers: list[Lever] = []

    def scales_with(self, option: str, now: int, least: int, power: float) -> None:
        """Notes an option that the work is proportional to."""
        self._levers = [*(lever for lever in self._levers if lever.option != option), Lever(option, now, least, power)]

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
                offers = tuple((lever.option, lever.offer(spent + left, self._long)) for lever in self._levers)
                say(sentence(self._what, left, self._planned if unit else 0, unit, offers))


def sentence(
    what: str, seconds: float, planned: int = 0, unit: str = "", offers: Sequence[tuple[str, str]] = ()
) -> str:
    """What is said; ``offers`` are options and what they would save, before others that make the call faster."""
    size = f" ({counted(planned, unit)} in all)" if planned else ""
    told = {option for option, _ in offers}
    others = [way for way in _FASTER.get(what, ()) if way not in told and way.split("=")[0] not in told]
    ways = [*(offer for _, offer in offers if offer), *others]
    faster = f" Faster: {'; '.join(ways)}." if ways else ""
    return f"pellucid: {what} will take about {_duration(seconds)} more{size}.{faster} progress=False silences this."


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
