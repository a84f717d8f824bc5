"""Rows that look like the data but are none of them: for trying things out where the data may not go.

Reference. Nelsen 2006, "An introduction to copulas"; the copula is that of `pellucid.data.sampling.copula`.

What is stored, and nothing else: for each feature its distribution, coarsely, and the correlations of the features'
normal scores. With ``least`` (10 unless told) as the number of rows below which nothing is disclosed:

- a number of many values: at most 101 knots of its quantile function, each the mean of ``least`` neighbouring values,
  rounded to a hundredth of its distance from the nearer of the knots beside it, or finer (kept as it is where all of
  these values are equal). The outermost knots are the means of the ``least`` smallest and largest values, rounded
  inwards: no knot and no drawn row is beyond them, and a minimum or maximum is stored only where ``least`` rows share
  it. The exception is whole numbers or days of which none lies between the outermost means: the one nearest to their
  middle is told, and drawn always;
- a number of few values (nine in ten rows share theirs with ``least`` rows or more): those values and their shares, the
  rarer ones counted to the nearest of them;
- a category: the levels that ``least`` rows or more have, and their shares; rarer ones are dropped, also from the
  dtype's list of categories;
- missing: its share, where ``least`` rows or more lack the feature.

When it misleads.

1. It is not differentially private: shares and means of ten rows are told exactly, and who knows all rows but a few can
   work out things about those few. A small table, or a group that is small in every respect, is not protected.
2. Only dependence in pairs, and with a trend, is kept (see `pellucid.data.sampling.neighbours`). A model that rests on
   interactions or cycles will find none in such rows; nothing about how good a model is should be learned from them.
3. The outermost values are missing, so that ranges are a little narrower.

Cost. No model rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import seed, whole
from pellucid.data.frames.frame import Frame
from pellucid.data.grid import snap
from pellucid.data.sampling.copula import Copula, positive
from pellucid.data.sampling.margin import Margin
from pellucid.data.schema import DAY, Feature
from pellucid.data.table import Data
from pellucid.data.template import column_labels, template, type_words
from pellucid.errors import InputError

_FORMAT = "pellucid rows 1"
_KNOTS = 101
_SHARED = 0.9


class Curve(Margin):
    """A quantile function through knots: every value in between may be drawn."""

    def quantile(self, shares: FloatArray) -> FloatArray:
        return np.interp(shares, self.upper, self.values)


@dataclass(frozen=True, eq=False)
class RowGenerator:
    """Draws rows like those of a table.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": range(20, 60), "smokes": [True, False] * 20})
    >>> RowGenerator.learn(table).sample(2).columns.tolist()
    ['age', 'smokes']

    Attributes
    ----------
    description
        Everything that is known, as plain data: what `save` writes.
    """

    description: dict[str, Any]

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        feature_names: Sequence[str] | None = None,
        categorical: Sequence[str | int] | None = None,
        sample_weight: Any = None,
        least: int = 10,
    ) -> RowGenerator:
        """Learn from a table of any kind; ``least`` is the number of rows below which nothing is disclosed."""
        data = Data.of(X, feature_names=feature_names, categorical=categorical, sample_weight=sample_weight)
        words = type_words(data.frame)
        least = whole("least", least, least=2, most=len(data))
        copula = Copula.of(data)
        columns = [
            {"label": label, "type": word, **_column(feature, data.codes(j), data.weights, copula.margins[j], least)}
            for j, (label, word, feature) in enumerate(
                zip(column_labels(data.frame), words, data.schema.features, strict=True)
            )
        ]
        # Gaps that few rows have are not told, nor are the values of what few rows have.
        gaps = [k for k, j in enumerate(copula.gaps) if np.isnan(data.codes(j)).sum() >= least]
        p = copula.n_features
        kept = [*range(p), *(p + k for k in gaps)]
        description = {
            "format": _FORMAT,
            "library": data.frame.kind,
            "least": least,
            "columns": columns,
            "gaps": {data.schema.names[copula.gaps[k]]: float(copula.margins[p + k].upper[0]) for k in gaps},
            "correlation": np.round(copula.correlation[np.ix_(kept, kept)], 4).tolist(),
        }
        return cls(json.loads(json.dumps(description)))

    def sample(self, n: int, random_state: int = 0) -> Any:
        """``n`` rows in the caller's kind of table, with its names and types."""
        n, random_state = whole("n", n), seed(random_state)
        features, copula = self._features(), self._copula()
        codes = copula.sample(n, np.random.default_rng(random_state))
        drawn = [snap(feature, codes[:, j]) for j, feature in enumerate(features)]
        frame = self._template(features, drawn)
        return frame.from_columns([frame.column(j, f.plain(drawn[j])) for j, f in enumerate(features)]).native

    def save(self, path: str | Path) -> None:
        """Write what is known as JSON."""
        Path(path).write_text(json.dumps(self.description, indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> RowGenerator:
        """Read what `save` wrote."""
        try:
            description = json.loads(Path(path).read_text(encoding="utf-8"))
        except json.JSONDecodeError:
            description = None
        if not isinstance(description, dict) or description.get("format") != _FORMAT:
            raise InputError(f"{path} holds no row generator of this version; write one with RowGenerator.save.")
        return cls(description)

    def _features(self) -> list[Feature]:
        return [
            Feature(
                column["name"],
                column["kind"],
                np.nan,
                np.nan,
                None if column["labels"] is None else tuple(column["labels"]),
                0.0,
                int,
                column["whole_days"],
            )
            for column in self.description["columns"]
        ]

    def _copula(self) -> Copula:
        columns, gaps = self.description["columns"], self.description["gaps"]
        names = [column["name"] for column in columns]
        margins = [
            (Curve if column["curve"] else Margin)(
                np.array(column["values"], dtype=np.float64), np.array(column["upper"]), not column["curve"]
            )
            for column in columns
        ]
        present = [Margin(np.array([0.0, 1.0]), np.array([share, 1.0]), levels=True) for share in gaps.values()]
        return Copula(
            (*margins, *present),
            tuple(names.index(name) for name in gaps),
            positive(np.array(self.description["correlation"])),
        )

    def _template(self, features: list[Feature], drawn: list[FloatArray]) -> Frame:
        labels, words = zip(*((c["label"], c["type"]) for c in self.description["columns"]), strict=True)
        return template(self.description["library"], labels, words, features, drawn)


# -- what is told of one feature ---------------------------------------------------------------------


def _column(feature: Feature, codes: FloatArray, weights: FloatArray, margin: Margin, least: int) -> dict[str, Any]:
    """The distribution of one feature as plain data."""
    told = {"name": feature.name, "kind": feature.kind, "whole_days": feature.whole_days, "labels": None}
    if margin.levels or feature.categories is not None:
        return told | _levels(feature, codes, margin, least)
    present = ~np.isnan(codes) & (weights > 0)
    if present.sum() < least:
        return told | {"curve": False, "values": [None], "upper": [1.0]}
    shared = _shared_values(codes[present], weights[present], least)
    values, upper = shared or _knots(feature, codes[present], weights[present], least)
    return told | {"curve": shared is None, "values": values, "upper": upper}


def _levels(feature: Feature, codes: FloatArray, margin: Margin, least: int) -> dict[str, Any]:
    """The levels that enough rows have, in the order of their scores, and their cumulated shares."""
    places = margin.places(codes)
    often = np.flatnonzero(np.bincount(places[places >= 0], minlength=len(margin.values)) >= least)
    if not often.size:
        raise InputError(
            f"every value of {feature.name!r} is held by fewer than {least} rows, which would give rows away; drop the"
            " column, or lower least."
        )
    mass, values = np.diff(margin.upper, prepend=0.0)[often], margin.values[often]
    told: dict[str, Any] = {"curve": False, "upper": (np.cumsum(mass) / mass.sum()).tolist()}
    if feature.categories is not None:
        kept = np.unique(values[~np.isnan(values)])
        told["labels"] = [_label(feature, int(code)) for code in kept]
        values = np.where(np.isnan(values), np.nan, np.searchsorted(kept, values).astype(np.float64))
    return told | {"values": [None if np.isnan(value) else float(value) for value in values]}


def _label(feature: Feature, code: int) -> Any:
    label = (feature.categories or ())[code]
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, str | int | float | bool):
        raise InputError(
            f"the categories of {feature.name!r} are no text or numbers but {type(label).__name__}, which a file cannot"
            " hold; convert them to text."
        )
    return label


def _shared_values(codes: FloatArray, weights: FloatArray, least: int) -> tuple[list[float], list[float]] | None:
    """The values that enough rows share, and their cumulated shares; None where most rows have others."""
    values, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    often = values[counts >= least]
    if not len(often) or len(often) > _KNOTS or counts[counts >= least].sum() < _SHARED * len(codes):
        return None
    right = np.clip(np.searchsorted(often, values), 1, max(len(often) - 1, 1)) if len(often) > 1 else None
    nearest = np.zeros(len(values), dtype=np.intp)
    if right is not None:
        nearest = np.where(values - often[right - 1] <= often[right] - values, right - 1, right)
    mass = np.bincount(nearest[place], weights, len(often))
    return often.tolist(), (np.cumsum(mass) / mass.sum()).tolist()


def _knots(feature: Feature, codes: FloatArray, weights: FloatArray, least: int) -> tuple[list[float], list[float]]:
    """Knots of the quantile function: means of ``least`` neighbouring values around evenly spaced shares, rounded."""
    order = np.argsort(codes, kind="stable")
    ascending, cumulated = codes[order], np.cumsum(weights[order])
    shares = np.linspace(0.0, 1.0, min(_KNOTS - 1, max(1, len(codes) // least)) + 1)
    middle = np.searchsorted(cumulated, shares * cumulated[-1] * (1 - 1e-12))  # sums that differ by rounding are equal
    start = np.clip(middle - least // 2, 0, len(codes) - least)
    around = ascending[start[:, None] + np.arange(least)]
    first, last = around[:, 0], around[:, -1]
    means = first + (around - first[:, None]).mean(axis=1)  # exact where all are equal
    told = np.where(first == last, means, _rounded(means))
    return _inside(feature, told, means).tolist(), shares.tolist()


def _rounded(means: FloatArray) -> FloatArray:
    """Each to a hundredth of the distance from the nearer of its neighbours, or finer; the outermost inwards."""
    knots, place = np.unique(means, return_inverse=True)
    if len(knots) == 1:
        return means
    gaps = np.diff(knots)
    nearer = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))
    digits = np.ceil(2 - np.log10(nearer)).astype(int)
    knots[0] += 10.0 ** -digits[0] / 2
    knots[-1] -= 10.0 ** -digits[-1] / 2
    told = [round(knot, digit) for knot, digit in zip(knots.tolist(), digits.tolist(), strict=True)]
    return np.array(told)[place]


def _inside(feature: Feature, told: FloatArray, means: FloatArray) -> FloatArray:
    """Values the feature can take, none beyond the outermost means."""
    low, high = means.min(), means.max()
    step = {"integer": 1.0, "date": DAY if feature.whole_days else 1.0}.get(feature.kind)
    if step is not None:
        low, high = np.ceil(low / step) * step, np.floor(high / step) * step
    if low > high:
        low = high = snap(feature, np.array([(means.min() + means.max()) / 2]))[0]
    return np.clip(snap(feature, told), low, high)
