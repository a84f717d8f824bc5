"""Fragile rows: how little has to change for each of some rows to be predicted otherwise, the most fragile first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.data.cells import objects
from pellucid.explanations.explanation import Explanation, native_table
from pellucid.explanations.fragile_words import change_of, changes_of, fragile_findings
from pellucid.explanations.plot_options import FragileOptions
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class FragileRows(Explanation, options=FragileOptions):
    """How far each of some rows is from another prediction, by the ``norm`` of the change.

    `values` (rows,) are the distances: infinite where no change was found that does it, NaN where the row is already
    predicted so. ``proven`` says of which rows no smaller change does it (of an infinite distance: none at all);
    ``lower`` is a distance below which there is none, where one is known. `ranking` has the places of the rows, the
    most fragile first.

    ``cells`` and ``answers`` hold one array per column (``column_names``): the rows, and what they are changed to;
    ``moved`` (rows, columns) by how much, in units of the observed ranges (another level: 1). ``predictions`` and
    ``answer_predictions`` (rows, outputs) are the model's own; ``said`` and ``answer_said`` the same in short: the
    class, or the number. ``sampled_from`` is the number of rows that they were drawn from; 0: all, or those given.
    """

    norm: str
    proven: BoolArray
    lower: FloatArray
    column_names: tuple[str, ...]
    cells: tuple[AnyArray, ...]
    answers: tuple[AnyArray, ...]
    moved: FloatArray
    predictions: FloatArray
    answer_predictions: FloatArray
    said: tuple[str, ...]
    answer_said: tuple[str, ...]
    target: str
    sampled_from: int = 0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def flipped(self) -> BoolArray:
        """For which rows a change was found."""
        return np.isfinite(self.values)

    def ranking(self, n: int | None = None) -> IntArray:
        """Places of the rows, the most fragile first; then those without an answer, and those that need none."""
        order = np.argsort(self.values, kind="stable")
        return order if n is None else order[: whole("n", n)]

    def changes(self, place: int = 0) -> dict[str, tuple[Any, Any]]:
        """What changes in the row at a place: ``{feature: (now, instead)}``, the largest change first."""
        return changes_of(self, place)

    def rows(self) -> Any:
        """The changed rows as a table of your dataframe library, the most fragile first."""
        order = self.ranking()[: int(self.flipped.sum())]
        return native_table(
            {name: column[order] for name, column in zip(self.column_names, self.answers, strict=True)}, self.library
        )

    def columns(self) -> dict[str, AnyArray]:
        """One line per row, the most fragile first: ``row``, ``distance``, ``proven``, what the model says ``now`` and
        ``instead``, how many ``features`` change, and the ``change`` in words.
        """
        order = self.ranking()
        words = [self.change(int(i)) for i in order]
        return {
            "row": self.row_labels.column_of(len(self))[order],
            "distance": self.values[order],
            "proven": self.proven[order],
            "now": objects([self.said[i] for i in order]),
            "instead": objects([self.answer_said[i] for i in order]),
            "features": (self.moved[order] > 0).sum(axis=1),
            "change": objects(words),
        }

    def change(self, place: int = 0, most: int = 8) -> str:
        """The change of the row at a place in words; features beyond ``most`` are counted."""
        return change_of(self, place, most)

    def findings(self) -> list[str]:
        return fragile_findings(self)
