"""Counterfactuals: rows for which the model says what was asked for, how far they are, and how far to trust them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, frozen
from pellucid.data.cells import objects
from pellucid.explanations.counterfactual_scene import Scene
from pellucid.explanations.counterfactual_words import answer_sentence, counterfactual_findings
from pellucid.explanations.explanation import Explanation, native_table
from pellucid.explanations.plot_options import CounterfactualOptions
from pellucid.explanations.store import stored
from pellucid.words import value_name

_HEADED = 3  # changes named above a chart


@stored
@dataclass(frozen=True)
class Obstacle:
    """A constraint without which the target can be reached: at what ``distance``, and by which ``change``."""

    constraint: str
    distance: float
    change: str


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Counterfactuals(Explanation, options=CounterfactualOptions):
    """Answers to "what would have to be different", the nearest first.

    ``cells`` holds one array per column (``column_names``): first the row that is explained, then the answers;
    ``changed`` (answers, columns) which cells differ. ``predictions`` (answers, outputs) are the model's own, of the
    rows as they are emitted, ``prediction`` (outputs,) that of the row. ``valid`` says which answers reach the
    ``target``: all, unless ``best_effort=True`` was asked for. ``values`` is the share of answers in which each
    feature changes.

    ``scores`` are, per answer: ``distance`` (in the chosen distance), ``target`` (how far the prediction is from
    it, 0 where reached), ``gower``, ``changes`` (number of changed features), ``nearest`` (Gower's distance to the
    nearest row of the data), ``plausibility`` (share of the data's rows that are at least as far from their nearest
    neighbour), ``robustness`` (share of small perturbations of its numbers under which the answer still reaches the
    target) and, where asked for, ``refits`` (share of models fitted again under which it does).

    ``proven``: no allowed row that reaches the target is nearer than the first answer (without one: there is none).
    ``lower`` is a distance below which there is none, where one is known. ``obstacles`` say, where the target was not
    reached, which constraints block it. ``nearest_miss`` is how near to the target one comes, ``own_miss`` how near the
    row itself is. ``hypervolume`` is the
    share of the box of Gower's distance, number of changes and distance from the data that the answers dominate.

    ``scene`` is what charts stand on: what the data hold of each column, the ends of the target and, where it was asked
    for, a ``surface`` of predictions over two features.
    """

    cells: tuple[AnyArray, ...]
    column_names: tuple[str, ...]
    changed: BoolArray
    predictions: FloatArray
    prediction: FloatArray
    target: str
    valid: BoolArray
    scores: Mapping[str, FloatArray]
    proven: bool
    lower: float | None
    nearest_miss: float
    own_miss: float = float("nan")
    obstacles: tuple[Obstacle, ...] = ()
    hypervolume: float = float("nan")
    scene: Scene = field(default_factory=Scene)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scores", {name: frozen(score) for name, score in self.scores.items()})

    def __len__(self) -> int:
        return len(self.changed)

    @property
    def gap(self) -> float:
        """By what share of its distance the nearest answer may be too far: 0 where it is proven, NaN where unknown."""
        if self.proven:
            return 0.0
        if self.lower is None or not len(self):
            return float("nan")
        distance = float(self.scores["distance"][0])
        return (distance - self.lower) / distance if distance > 0 else 0.0

    @property
    def front(self) -> BoolArray:
        """Which answers no other beats (Pareto): none is as good in target, distance, number of changes and distance
        from the data, and better in one of them.
        """
        scores = np.stack([self.scores[name] for name in ("target", "distance", "changes", "nearest")], axis=1)
        f = np.round(scores, 10)
        beaten: BoolArray = np.asarray((f[None] <= f[:, None]).all(axis=2) & (f[None] < f[:, None]).any(axis=2))
        return np.asarray(~beaten.any(axis=1))

    @property
    def frequency(self) -> dict[str, float]:
        """In what share of the answers each feature changes, the most frequent first."""
        order = np.argsort(-self.values, kind="stable")
        return {self.feature_names[j]: float(self.values[j]) for j in order}

    def rows(self) -> Any:
        """The answers as whole rows, in the type of your own table; what is unchanged is as it was.

        Loaded from a file, they are a table of your dataframe library.
        """
        kept = self.__dict__.get("_native")
        if kept is not None:
            return copy.deepcopy(kept)
        return native_table(
            {name: column[1:] for name, column in zip(self.column_names, self.cells, strict=True)}, self.library
        )

    def changes(self, answer: int = 0) -> dict[str, tuple[Any, Any]]:
        """What differs in one answer: ``{feature: (now, instead)}``."""
        return {
            self.column_names[j]: (self.cells[j][0], self.cells[j][answer + 1])
            for j in np.flatnonzero(self.changed[answer])
        }

    def sentence(self, answer: int = 0) -> str:
        """One answer in a sentence: "With savings 'moderate' instead of 'little', the model would predict 62%."."""
        return answer_sentence(self, answer)

    def columns(self, *, whole: bool = False) -> dict[str, AnyArray]:
        """One line per answer and changed feature: ``answer``, ``feature``, ``now`` and ``instead``.

        With ``whole``, one line per answer: all its cells, its predictions and its scores.
        """
        if whole:
            cells = {name: column[1:] for name, column in zip(self.column_names, self.cells, strict=True)}
            said = {f"predicted {name}": self.predictions[:, k] for k, name in enumerate(self.output_names)}
            return {**cells, **said, "valid": self.valid, **self.scores}
        answer, j = np.nonzero(self.changed)
        now = [self.cells[column][0] for column in j]
        instead = [self.cells[column][row + 1] for row, column in zip(answer, j, strict=True)]
        return {
            "answer": answer,
            "feature": np.array([self.column_names[column] for column in j], dtype=object),
            "now": _one_type(now),
            "instead": _one_type(instead),
        }

    def frame(self, *, whole: bool = False) -> Any:
        """What changes, one line per answer and changed feature; with ``whole``, every answer as a row with its
        scores.
        """
        return native_table(self.columns(whole=whole), self.library)

    def findings(self) -> list[str]:
        return counterfactual_findings(self)

    def _headline(self) -> str:
        return answer_sentence(self, 0, _HEADED) if len(self) and self.changed.any() else self.findings()[0]


def _one_type(cells: list[Any]) -> AnyArray:
    """Numbers where all are, else texts, in which numbers keep all their digits."""
    if cells and all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=np.float64)
    return objects([f"{cell}" if _is_number(cell) and np.isfinite(cell) else value_name(cell) for cell in cells])


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.number) and not isinstance(cell, bool | np.timedelta64)
