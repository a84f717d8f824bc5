"""The terms of a model's sum: what each feature adds to it, in each row and for each value that an intervention sets it
to.

What is read of a model says which encoded columns are made from which feature (see `pellucid.models.linear`). Here this
is put to the test: over other rows, and beside other values, a value must add the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.frames.doorway import as_frame
from pellucid.data.frames.frame import Frame
from pellucid.errors import PellucidError
from pellucid.models import Predictor
from pellucid.models.linear import LinearForm
from pellucid.runner import Intervention
from pellucid.runner.intervention import blocks

_MIXTURES = 8  # rows in which the values are combined in another way
_ROUNDING = 1e-9
_ENCODED = 2**21  # cells of the encoded rows held at once


class Tables(WeakKeyDictionary[Frame, FloatArray]):
    """Encoded tables, as long as they are in use; an Explainer that is sent elsewhere leaves them behind."""

    def __reduce__(self) -> tuple[type[Tables], tuple[()]]:
        return Tables, ()


@dataclass(frozen=True, eq=False)
class Terms:
    """Of one intervention: what the other features give each row, ``(rows, sums)``, and what each of the values gives,
    ``(pool, sums)``.
    """

    rest: FloatArray
    pools: tuple[FloatArray, ...]

    def sums(self, intervention: Intervention, variants: slice, rows: slice) -> FloatArray:
        """``(variants, rows, sums)``."""
        total = self.rest[None, rows]
        columns = intervention.columns(variants, rows)
        for j, pool in zip(intervention.features, self.pools, strict=True):
            part = np.take(pool, columns[j][1], axis=0)
            total = np.add(total, part, out=part if part.shape[1] == total.shape[1] else None)
        return np.broadcast_to(total, (len(intervention.index[variants]), *total.shape[1:]))

    def size(self) -> float:
        """No sum is further from zero; not finite where a term is not, or where sums may overflow."""
        return sum(float(np.abs(part).max(initial=0.0)) for part in (self.rest, *self.pools))

    def highest(self) -> float:
        """No sum is larger."""
        return float(self.rest.max(initial=0.0) + sum(pool.max(initial=0.0) for pool in self.pools))


def terms_of(encoder: Encoder, data: Data, interventions: Sequence[Intervention]) -> tuple[Terms, ...] | None:
    """The terms of every intervention; None where the model's steps fail, or make numbers of them that are none."""
    features = sorted({j for intervention in interventions for j in intervention.features})
    try:
        rest, own = encoder.parts(data.frame, features)
        pools = _pooled(encoder, data.frame, interventions, own)
    except Exception:  # whatever a step raises, the model raises as well, and is asked to
        return None
    found = []
    with np.errstate(over="ignore", invalid="ignore"):  # the model is asked then, and says so itself
        before = list(accumulate((own[j] for j in features), initial=rest))
        for intervention, values in zip(interventions, pools, strict=True):
            # The order of the additions is that of the features, so that a part of zero changes no bit.
            first = next((k for k, j in enumerate(features) if j in intervention.features), len(features))
            total = sum((own[j] for j in features[first:] if j not in intervention.features), start=before[first])
            found.append(Terms(total if intervention.rows is None else total[intervention.rows], values))
    return tuple(found) if all(np.isfinite(terms.size()) for terms in found) else None


@dataclass(frozen=True, eq=False)
class Encoder:
    """From rows to the parts of their sums. A table that is asked about again is encoded once, unless it is large."""

    form: LinearForm
    predictor: Predictor
    tables: Tables
    cells: int = _ENCODED

    def parts(self, frame: Frame, features: Sequence[int]) -> tuple[FloatArray, dict[int, FloatArray]]:
        """What all other features and the intercept add to the sum of each row, and what each of the given ones
        does.
        """
        size = max(1, self.cells // max(len(self.form.source), len(frame.names), 1))
        several = [self._portion(frame, rows, features) for rows in blocks(len(frame), size)]
        if len(several) == 1:
            return several[0]
        rest = np.concatenate([part for part, _ in several])
        return rest, {j: np.concatenate([own[j] for _, own in several]) for j in features}

    def _portion(self, frame: Frame, rows: slice, features: Sequence[int]) -> tuple[FloatArray, dict[int, FloatArray]]:
        matrix, weights = self._matrix(frame, rows), self.form.weights
        feature = np.asarray(self.predictor.columns, dtype=np.intp)[self.form.source]
        others = np.where(np.isin(feature, features)[:, None], 0.0, weights)
        own = {j: np.flatnonzero(feature == j) for j in features}
        return (matrix @ others + self.form.intercept, {j: _product(matrix, weights, mine) for j, mine in own.items()})

    def _matrix(self, frame: Frame, rows: slice) -> FloatArray:
        if rows != slice(0, len(frame)):
            return self.form.encode(self.predictor.dressed(frame.take(np.arange(rows.start, rows.stop))))
        if frame not in self.tables:
            self.tables[frame] = self.form.encode(self.predictor.dressed(frame))
        return self.tables[frame]


def _product(matrix: FloatArray, weights: FloatArray, columns: IntArray) -> FloatArray:
    """The part of a matrix product that some columns make; a single one is not copied for it."""
    if len(columns) == 1:
        return np.asarray(matrix[:, columns[0], None] * weights[columns[0]])
    return np.asarray(matrix[:, columns] @ weights[columns])


def _pooled(
    encoder: Encoder, frame: Frame, interventions: Sequence[Intervention], own: Mapping[int, FloatArray]
) -> list[tuple[FloatArray, ...]]:
    """What each value of every pool adds to a sum; ``own``: what those of the table do.

    Any row will do for the other features, and one row can hold a value of each feature: interventions of different
    features are encoded together. Of the table's own columns only a few values are, to see that they add the same.
    """
    few = np.linspace(0, len(frame) - 1, _MIXTURES).astype(np.intp)
    tables: list[dict[int, Any]] = []
    places = []
    for intervention in interventions:
        for j, pool in zip(intervention.features, intervention.pools, strict=True):
            place = next((t for t, table in enumerate(tables) if j not in table), len(tables))
            if place == len(tables):
                tables.append({})
            tables[place][j] = frame.gather(pool, few) if intervention.exchanged else pool
            places.append((place, j))
    parts = [_of_values(encoder, frame, table) for table in tables]
    found = iter([parts[place][j] for place, j in places])
    pools = []
    for intervention in interventions:
        values = tuple(next(found) for _ in intervention.features)
        if intervention.exchanged:
            for j, part in zip(intervention.features, values, strict=True):
                _expect_alike(own[j][few], part, within=(own[j],))
            values = tuple(own[j] for j in intervention.features)
        pools.append(values)
    return pools


def _of_values(encoder: Encoder, frame: Frame, pools: Mapping[int, Any]) -> dict[int, FloatArray]:
    """What each value of some features adds to a sum; an error if that depends on anything else.

    The values are laid out one after the other over the first row. Below, some of them are combined in another way over
    other rows: there they must add the same, and the other features must add the same in all of the first part.
    """
    n = max(map(len, pools.values()))
    rows = np.append(np.zeros(n, dtype=np.intp), np.linspace(0, len(frame) - 1, _MIXTURES).astype(np.intp))
    columns, mixed = {}, {}
    for f, (j, pool) in enumerate(pools.items()):
        mixed[j] = (np.arange(_MIXTURES) * (2 * f + 3) + f) * max(len(pool) // 7, 1) % len(pool)
        columns[j] = pool, np.append(np.minimum(np.arange(n), len(pool) - 1), mixed[j])
    table = frame.take(rows).scratch(1).fill(columns, len(rows))
    rest, own = encoder.parts(as_frame(table, frame.names), list(pools))
    _expect_alike(rest[:n], rest[:1], within=(rest, *own.values()))
    for j in pools:
        _expect_alike(own[j][n:], own[j][mixed[j]], within=(rest, *own.values()))
    return {j: own[j][: len(pool)] for j, pool in pools.items()}


def _expect_alike(some: FloatArray, others: FloatArray, *, within: Iterable[FloatArray]) -> None:
    """Up to rounding, relative to the largest of the numbers they are among."""
    size = max(float(np.abs(part).max(initial=0.0)) for part in within)
    if not (np.abs(some - others) <= _ROUNDING * size).all():
        raise PellucidError("the parts of a sum depend on more than their own features")
