"""Saying how far a long job is, once, in one place."""

from __future__ import annotations

import sys
import time
from typing import Any

from pellucid.runner.notices import Progress, listen

_PATIENCE = 1.0  # seconds before anything is shown


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
