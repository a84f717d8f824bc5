"""Attribution: how a prediction is shared out among the features of its row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, frozen
from pellucid.errors import InputError, nearest
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.store import stored
from pellucid.explanations.words import listed, number, value_name

_SAID = 5  # features named one by one in a text

GAMES = {
    "marginal": "Absent features take their values from the background rows (marginal game).",
    "path": "Absent features follow both branches of a split, by the training rows that went there (path game).",
}
# What the trees of a model add up to, by the link that makes predictions of it.
_SUMS = {
    "logistic": "log-odds; scale='probability' explains probabilities",
    "one-vs-rest": "log-odds of each class; scale='probability' explains probabilities",
    "softmax": "scores, of which a softmax makes probabilities; scale='probability' explains those",
    "exp": "the logarithm of the prediction; method='exact' explains the prediction itself",
}


@dataclass(frozen=True)
class Additivity:
    """The row whose contributions miss its prediction most: by how much, and as a share of the row's numbers."""

    row: int
    residual: float
    relative: float


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Attribution(Explanation):
    """Contributions ``values`` (rows, features), with outputs last if there are several.

    ``base`` is what the contributions start from, the average prediction: one number, or one per output.
    ``prediction`` (rows, or rows x outputs) is where they lead, on the explained `scale`; what is missing is in
    `residual`. ``data`` holds, for each feature, its value in every row (for a group, those of its
    ``members`` in words). ``interaction_values`` (rows, features, features), where asked for, has half of each
    pair's interaction off the diagonal and what is left of the feature's contribution on it. ``game`` says what
    an absent feature is, ``background`` how many rows stand for it.
    """

    method: str
    game: str
    base: FloatArray
    prediction: FloatArray
    data: tuple[AnyArray, ...]
    members: tuple[tuple[str, ...], ...] = ()
    interaction_values: FloatArray | None = None
    background: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "data", tuple(frozen(column) for column in self.data))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def residual(self) -> FloatArray:
        """Prediction minus base minus the sum of the contributions: rounding, unless something is wrong."""
        return np.asarray(self.prediction - self.base - self.values.sum(axis=1))

    @property
    def additivity(self) -> Additivity:
        """How well base and contributions add up to the prediction, in the row where they do worst."""
        residual = np.abs(self.residual)
        sizes = np.abs(self.values).sum(axis=1) + np.abs(self.base) + np.abs(self.prediction)
        shares = residual / np.where(sizes > 0, sizes, 1.0)
        worst = int(np.argmax(shares)) if shares.size else 0
        row = worst // max(shares[:1].size, 1)
        return Additivity(row, float(residual.ravel()[worst]), float(shares.ravel()[worst]))

    def stacked(self, name: str = "values") -> FloatArray:
        """A field with the axis of outputs, also where there is only one."""
        part: FloatArray = getattr(self, name)
        return part if self._several else part[..., None]

    @property
    def _several(self) -> bool:
        return self.values.ndim == 3

    # -- parts ---------------------------------------------------------------------------------------

    def for_output(self, name: str) -> Self:
        """The contributions to one output (class) alone."""
        if str(name) not in self.output_names:
            raise InputError(f"there is no output {name!r}{nearest(str(name), self.output_names)}")
        if not self._several:
            return self
        k = self.output_names.index(str(name))
        return replace(
            self,
            output_names=(str(name),),
            **{field: part[..., k] for field, part in self._arrays().items()},
        )

    def row(self, i: int) -> Self:
        """The contributions in one row alone, by its place among the explained rows."""
        if not 0 <= i < len(self):
            raise InputError(
                f"row {i} is out of range: {len(self)} rows are explained, 0 to {len(self) - 1}."
            )
        parts = {field: part[i : i + 1] for field, part in self._arrays().items() if field != "base"}
        return replace(self, data=tuple(column[i : i + 1] for column in self.data), **parts)

    def _arrays(self) -> dict[str, Any]:
        names = ("values", "se", "base", "prediction", "interaction_values")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    # -- overall -------------------------------------------------------------------------------------

    @property
    def mean_abs(self) -> FloatArray:
        """Mean absolute contribution of each feature over the rows: (features,), outputs last if several."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    @property
    def ranking(self) -> IntArray:
        """Positions of the features from largest to smallest mean absolute contribution, over all outputs."""
        overall = np.abs(self.stacked()).mean(axis=(0, 2))
        return np.asarray(np.argsort(-overall, kind="stable"), dtype=np.intp)

    def top(self, n: int) -> list[str]:
        """Names of the ``n`` features that contribute most."""
        return [self.feature_names[j] for j in self.ranking[:n]]

    # -- table and words -----------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        """One row per explained row, feature and output; feature values are text unless all are numbers."""
        n, p, outputs = self.stacked().shape
        tidy = {
            "row": np.repeat(np.arange(n), p * outputs),
            "feature": np.tile(np.repeat(np.array(self.feature_names, dtype=object), outputs), n),
            "value": np.repeat(np.stack(self._cells(), axis=1).ravel(), outputs),
            "contribution": self.values.ravel(),
            "se": self.se.ravel(),
        }
        if self._several:
            tidy["output"] = np.tile(np.array(self.output_names, dtype=object), n * p)
        return tidy

    def _cells(self) -> list[AnyArray]:
        if all(column.dtype.kind in "iuf" for column in self.data):
            return [column.astype(np.float64) for column in self.data]
        cells = [np.empty(len(self), dtype=object) for _ in self.data]
        for some, column in zip(cells, self.data, strict=True):
            some[:] = [_exact(value) for value in column]
        return cells

    def labels(self, i: int) -> list[str]:
        """``feature = value`` for each feature in one row; a group names its members' values."""
        return [
            f"{name}: {column[i]}" if self._grouped(j) else f"{name} = {shown_value(column[i])}"
            for j, (name, column) in enumerate(zip(self.feature_names, self.data, strict=True))
        ]

    def _grouped(self, j: int) -> bool:
        return bool(self.members) and self.members[j] != (self.feature_names[j],)

    def findings(self) -> list[str]:
        lines = [self._of_row(name) for name in self.output_names] if len(self) == 1 else self._of_rows()
        link = _SUMS.get(str(self.settings.get("link")))
        if link is not None:
            lines.append(f"The trees of this model add up to {link}.")
        lines.append(self._of_game())
        return lines

    def _of_game(self) -> str:
        rows = f" The background has {self.background:,} rows." if self.background else ""
        return GAMES.get(self.game, "") + rows

    def _of_row(self, output: str) -> str:
        one = self.for_output(output)
        prediction, base = float(one.prediction[0]), float(one.base)
        noise = 1e-12 * (abs(prediction) + abs(base))
        values, labels = np.where(np.abs(one.values[0]) > noise, one.values[0], 0.0), self.labels(0)
        order = np.argsort(-np.abs(values), kind="stable")
        said = [f"{labels[j]} contributed {number(float(values[j]), sign=True)}" for j in order[:_SAID]]
        if len(order) > _SAID:
            rest = float(values[order[_SAID:]].sum())
            said.append(f"the other {len(order) - _SAID} together {number(rest, sign=True)}")
        return (
            f"The prediction{self.scale_of(output)} is {number(prediction)}; the average prediction is {number(base)}. "
            f"Compared with the average prediction, {listed(said, len(said))}."
        )

    def _of_rows(self) -> list[str]:
        lines = []
        for output in self.output_names:
            one = self.for_output(output)
            sizes = one.mean_abs
            order = np.argsort(-sizes, kind="stable")[:_SAID]
            said = [f"{self.feature_names[j]} ({number(float(sizes[j]))})" for j in order]
            lines.append(
                f"Mean absolute contribution to the prediction{self.scale_of(output)} over {len(self):,} rows, compared with "
                f"the average prediction of {number(float(one.base))}: {listed(said)}."
            )
        return lines

    def scale_of(self, output: str) -> str:
        """The scale in words, with the output's name where there is one to name: `` (log-odds of yes)``."""
        named = "" if output in ("prediction", "output") else f" of {output}"
        return named if self.scale == "response" else f" ({self.scale}{named})"


def shown_value(value: object) -> str:
    """A feature value as people read it; missing by that name."""
    if isinstance(value, float | np.floating) and np.isnan(value):
        return "missing"
    if isinstance(value, np.datetime64) and np.isnat(value):
        return "missing"
    return value_name(value)


def _exact(value: object) -> str | None:
    """A feature value as text without loss; None if missing."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else repr(float(value))
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value_name(value)
    return None if value is None else str(value)
