"""One line for the person who waits: that something is being compiled, or that a call will take long.

Said on standard error. ``progress=False`` silences it, ``progress=True`` says it in any case; otherwise it is said
where a person reads along: at a terminal or in a notebook.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = bool | Callable[[int, int], None] | None

_latest: list[Progress] = [None]


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
