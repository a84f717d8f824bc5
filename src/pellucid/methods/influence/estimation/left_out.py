"""Models without some of their training rows, however they are had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked: of which rows (``target``; None: all), about what, and how models are fitted again.

    ``units`` are the sets of training rows that are left out together; None: each row by itself.
    """

    predictor: Predictor
    data: Data
    target: Data | None
    on: Any
    refit: Any
    units: tuple[IntArray, ...] | None
    budget: int
    run: Run

    @property
    def n_units(self) -> int:
        """How many sets of rows may be left out."""
        return len(self.data) if self.units is None else len(self.units)

    def rows_of(self, unit: int) -> IntArray:
        """The training rows of a unit."""
        return np.array([unit]) if self.units is None else self.units[unit]

    def without(self, unit: int) -> IntArray:
        """All other training rows that count."""
        kept = self.data.weights > 0
        kept[self.rows_of(unit)] = False
        return np.flatnonzero(kept)


class Models(Protocol):
    """Full predictions ``(units, rows, width)`` of the models without each of some units."""

    def __call__(self, units: IntArray, rows: Data) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class LeftOut:
    """How the models without units are had, and what is known of them besides.

    Attributes
    ----------
    how
        "closed form", "Newton steps", "trees kept", "influence function" (of a network) or "refits".
    tried
        Units whose models are known; the others were not tried.
    present
        Full predictions of the model with all units, which the others are compared with.
    without
        Full predictions of the models without units.
    change
        theta with minus without each unit, ``(units, lines, scores)``, for models with coefficients; ``names`` are
        those of the coefficients, ``errors`` their standard errors.
    leverage, residual
        Of each training row, where known.
    apart
        How far the model fitted to these rows is from the given one: mean difference of predictions, as a share of
        their spread.
    at_random
        The tried units that were drawn at random.
    again
        Where these models are an approximation: ``again(units, rows)`` gives full predictions of models that were
        really fitted again, and before them those of the model with all rows; None where that cannot be done.
    grown
        Whether fitting again grows the model anew, so that leaving out any row moves it.
    costly
        Whether fitting again takes seconds each time.
    """

    how: str
    tried: IntArray
    present: Any
    without: Models
    change: FloatArray | None = None
    names: tuple[str, ...] = ()
    errors: FloatArray | None = None
    leverage: FloatArray | None = None
    residual: FloatArray | None = None
    cook: FloatArray | None = None
    apart: float = 0.0
    at_random: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    grown: bool = False
    costly: bool = False
    notes: dict[str, Any] = field(default_factory=dict)
    again: Any = None


def spread_apart(own: FloatArray, other: FloatArray) -> float:
    """Mean difference of predictions as a share of their spread."""
    size = float(np.std(own, axis=0).mean())
    return float(np.abs(own - other).mean()) / size if size > 0 else float(np.abs(own - other).mean())
