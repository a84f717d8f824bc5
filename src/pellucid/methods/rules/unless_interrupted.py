"""Checks of a rule that is known already: an interruption costs the check, not the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pellucid.runner import Run

T = TypeVar("T")


def unless_interrupted(run: Run, measure: Callable[[], T], otherwise: T) -> T:
    """What a check measures; ``otherwise`` where checks are off, or the user interrupts it or what came before it."""
    if not run.checks or run.interrupted:
        return otherwise
    try:
        with run.checking():
            return measure()
    except KeyboardInterrupt:
        run.interrupted = True
        return otherwise
