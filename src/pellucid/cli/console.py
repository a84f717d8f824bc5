"""Speaking to the user: lines, notes, one-sentence errors and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import typer

from pellucid.errors import PellucidError

BAD_INPUT, INTERRUPTED = 2, 130


def say(text: str) -> None:
    """A line of the answer, on standard output."""
    typer.echo(text)


def warn(text: str) -> None:
    """A note beside the answer, on standard error."""
    typer.echo(f"note: {text}", err=True)


@contextmanager
def told() -> Iterator[None]:
    """What the user can put right becomes one sentence and exit code 2; anything else keeps its traceback."""
    try:
        yield
    except (PellucidError, OSError) as error:
        typer.echo(f"error: {_sentence(error)}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        typer.echo("interrupted: no report was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, PellucidError) or not isinstance(error, OSError) or error.strerror is None:
        return " ".join(str(error).split())
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{error.strerror}; check the path and its permissions."


class Bar:
    """A progress bar on standard error, drawn only on an interactive terminal.

    ``step`` follows the steps of a report, ``rows`` the model rows within a step.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._done, self._total = 0, 1
        self.share = 0.0

    @property
    def rows(self) -> Callable[[int, int], None] | bool:
        """What an Explainer takes as ``progress``: nothing at all where no bar is drawn."""
        return self._rows if self._bar is not None else False

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
            from rich.table import Column

            words = Column(width=46, no_wrap=True, overflow="ellipsis")
            step = TextColumn("{task.description}", markup=False, table_column=words)
            columns = (step, BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def say(self, what: str) -> None:
        """What is being done, where nobody knows how long it takes."""
        if self._bar is not None:
            self._bar.update(self._task, description=what)

    def step(self, what: str, done: int, total: int) -> None:
        """The next of a known number of steps."""
        self._done, self._total = done, total
        self.say(what)
        self._advance(float(done))

    def _rows(self, done: int, total: int) -> None:
        """Model rows done of those of this step."""
        self._advance(min(self._done + done / max(total, 1), self._total))

    def _advance(self, steps: float) -> None:
        self.share = steps / self._total
        if self._bar is not None:
            self._bar.update(self._task, completed=steps, total=self._total)
