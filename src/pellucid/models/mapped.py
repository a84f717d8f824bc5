"""A model that is asked in other features than its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pellucid.arrays import FloatArray
from pellucid.models.predictor import Predictor


class MappedPredictor(Predictor):
    """The outputs, classes and scale of a predictor, for tables that ``back`` turns into tables of the model.

    ``container`` is the kind of table that ``back`` wants.
    """

    def __init__(self, predictor: Predictor, back: Callable[[Any, int], Any], container: str) -> None:
        vars(self).update(vars(predictor))
        self.container = container
        self._inner, self._back = predictor, back

    def timed_full(self, table: Any, n: int) -> tuple[FloatArray, float]:
        """All outputs for a table of ``n`` rows in the other features, and the seconds spent inside the model."""
        return self._inner.timed_full(self._back(table, n), n)
