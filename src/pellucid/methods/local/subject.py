"""What a local model is about: a model, its rows, and the features that the explanation speaks of.

As a rule these are the model's own features. They can be others (``space=(to, back)``): ``to`` gives a table of
readable features for rows of the model, ``back`` rows of the model for such a table. Then x' = to(x), samples z' are
drawn and compared in the readable features, and the model is asked about back(z'): words for a model of embeddings,
survey questions for a model of their principal components, or components for a model of many correlated columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pellucid.data import Data
from pellucid.data.frames.doorway import as_frame
from pellucid.errors import InputError
from pellucid.methods.local.neighbourhood import Distributions
from pellucid.models import Predictor
from pellucid.models.predictor import MappedPredictor
from pellucid.runner import Run

Map = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """``predictor``, ``data`` and ``rows`` in the features of the explanation, with the distributions of these;
    ``model``, ``table`` and
    ``originals`` are the same in the features of the model.
    """

    predictor: Predictor
    data: Data
    rows: Data
    known: Distributions
    model: Predictor
    table: Data
    originals: Data

    @classmethod
    def of(cls, predictor: Predictor, data: Data, rows: Data, maps: tuple[Map, Map] | None, run: Run) -> Subject:
        """Explained in the features of the model, or in those of the maps."""
        if maps is None:
            return cls(predictor, data, rows, Distributions.of(data, run), predictor, data, rows)
        to, back = maps
        readable = Data.of(_mapped(to, data), sample_weight=data.weights)
        seen = readable.rows(_mapped(to, rows))
        mapped = MappedPredictor(predictor, _checked(back, data), readable.frame.kind)
        return cls(mapped, readable, seen, Distributions.learn(readable), predictor, data, rows)

    @property
    def mapped(self) -> bool:
        """Whether the features of the explanation are not those of the model."""
        return self.predictor is not self.model


def maps_of(space: Any) -> tuple[Map, Map] | None:
    """The two maps of a space of other features, None for a space that has none."""
    if not isinstance(space, tuple):
        return None
    if len(space) != 2 or not all(callable(one) for one in space):
        raise InputError(
            "space= as a tuple has two functions: to(table), which gives a table of readable features for rows of X,"
            " and back(table), which gives rows of X for such a table."
        )
    return space[0], space[1]


def _mapped(to: Map, data: Data) -> Any:
    """The readable features of some rows."""
    found = to(data.frame.native)
    n = len(as_frame(found))
    if n != len(data):
        raise InputError(
            f"space= gave {n} rows of readable features for {len(data)} rows; to() returns a table with one row per"
            " row."
        )
    return found


def _checked(back: Map, data: Data) -> Callable[[Any, int], Any]:
    """``back`` as a table in the columns and types of the model's data."""

    def asked(table: Any, n: int) -> Any:
        found = back(table)
        try:
            rows = data.like(found, None)
        except InputError as error:
            raise InputError(f"space= has a back() that gives no rows of X: {error}") from error
        if len(rows) != n:
            raise InputError(
                f"space= gave {len(rows)} rows of X for {n} rows of readable features; back() returns a table with one"
                " row per row."
            )
        return rows.frame.native

    return asked
