"""What a person who waits is told: how far a long job is, and one line where something is compiled or will take long.

A line is said on standard error. ``progress=False`` silences it, ``progress=True`` says it in any case; otherwise it is
said where a person reads along: at a terminal or in a notebook.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

Progress = bool | Callable[[int, int], None] | None

_PATIENCE = 1.0  # seconds before anything is shown
_latest: list[Progress] = [None]


class Reporter:
    """Reports rows done out of rows planned.

    ``progress=None`` draws a bar on an interactive terminal when a job takes longer than a moment,
    ``True`` draws it in any case, ``False`` never; a function is called with ``(done, total)``.
    """

    def __init__(self, progress: Progress, what: str) -> None:
        listen(progress)
        self._progress = progress
        self._what = what
        self._done, self._total = 0, 0
        self._start = time.perf_counter()
        self._bar: Any = None

    def plan(self, rows: int) -> None:
        """Add rows to the work ahead."""
        self._total += rows

    def advance(self, rows: int) -> None:
        """Note that rows are done."""
        self._done += rows
        if callable(self._progress):
            self._progress(self._done, self._total)
        elif self._wanted():
            self._draw()

    def _wanted(self) -> bool:
        if self._progress is False:
            return False
        if self._progress is True or self._bar is not None:
            return True
        elapsed = time.perf_counter() - self._start
        left = elapsed * (self._total - self._done) / max(self._done, 1)
        return sys.stderr.isatty() and elapsed > _PATIENCE and left > _PATIENCE

    def _draw(self) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,} of {task.total:,} model rows"),
                TimeRemainingColumn(),
            )
            console = Console(stderr=True)
            # A terminal is left clean; a log keeps the last line, the only one it gets.
            self._bar = Progress(*columns, console=console, transient=console.is_terminal)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.update(self._task, completed=self._done, total=self._total)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


# -- one line -----------------------------------------------------------------------------------------


def listen(progress: Progress) -> None:
    """Notes what the call under way wants to be told."""
    _latest[0] = progress


def heard(progress: Progress) -> bool:
    """Whether a line is wanted."""
    return progress is not False and (progress is True or reads_along())


def heard_now() -> bool:
    """Whether the call under way wants a line."""
    return heard(_latest[0])


def reads_along() -> bool:
    """Whether standard error is a terminal or the output of a notebook's cell."""
    stream = sys.stderr
    return stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel."))


def say(sentence: str) -> None:
    """Writes one line to standard error."""
    if sys.stderr is not None:
        sys.stderr.write(sentence + "\n")
        sys.stderr.flush()
