"""The options of anchors of tables, texts and images: what they may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import InputError
from pellucid.methods.rules.certify import Goal


def check_goal(goal: Goal, budget: int | None) -> None:
    """Refuse what cannot be asked of a search, by the names that callers use."""
    for name, value in (("delta", goal.delta), ("epsilon", goal.epsilon)):
        if not _number(value) or not 0 < value < 1:
            raise InputError(f"{name}={value!r} is no probability; give a number between 0 and 1, such as 0.05.")
    if not _number(goal.tau) or not 0 < goal.tau <= 1:
        raise InputError(f"precision={goal.tau!r} is no precision; give a number above 0, at most 1, such as 0.95.")
    wholes = {"beams": goal.beams, "batch": goal.batch, "empty_evaluations": goal.empty}
    optional = {"max_conditions": goal.most, "budget": budget}
    wholes |= {name: value for name, value in optional.items() if value is not None}
    for name, value in wholes.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name}={value!r}: give a whole number, at least 1.")
    if not isinstance(goal.suboptimal, bool | np.bool_):
        raise InputError(f"suboptimal={goal.suboptimal!r}: give True or False.")


def within_words(within: Any) -> Any:
    """An interval of predictions, or a half width, as it is kept in the settings."""
    return [float(end) for end in within] if isinstance(within, tuple | list) else within


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
