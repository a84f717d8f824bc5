"""The conditional game: absent features are drawn given the known ones.

    v(S) = E[ f(x_S, X_-S) | X_S = x_S ]

Sundararajan and Najmi 2020 and Janzing et al. 2020 show what it costs: two features that the model treats alike need
not get the same share, and a feature that the model does not use gets one if it is correlated with others. It asks
about the data as much as about the model. What is given X_S is estimated from the reference rows, each coalition from
``draws`` rows: draws of a Gaussian copula, reference rows picked in proportion to how near they are
(`pellucid.data.sampling.neighbours`), or draws of a distribution of all columns in which some follow others along
curves (`pellucid.data.sampling.joint`). The last is taken where curves fit clearly better on rows held out; else the
copula where all features are numbers and none is missing, else neighbours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.sampling.conditional_draws import held, joint_of
from pellucid.data.sampling.copula import Copula, spread_evenly
from pellucid.data.sampling.joint import Joint
from pellucid.data.sampling.neighbours import Neighbours
from pellucid.data.sampling.walk_draws import numbers
from pellucid.games.game import Game
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import effective_sizes, weighted_mean

_AT_ONCE = 65_536  # rows made at a time
_PARTICLES = 4  # for each draw of what is known to follow from the unknown


class Given(ABC):
    """How absent features are filled in, given the known ones."""

    name: str

    @abstractmethod
    def draw(self, row: FloatArray, known: BoolArray, n: int) -> FloatArray:
        """``n`` rows of codes for each coalition, ``(coalitions, n, features)``."""

    @property
    def effective(self) -> float | None:
        """The fewest rows that an answer so far rested on, where rows are weighted."""
        return None


class GivenCopula(Given):
    """Draws of a Gaussian copula; the same random numbers for all coalitions."""

    name = "copula"

    def __init__(self, data: Data, generator: np.random.Generator) -> None:
        self._copula, self._seed = Copula.of(data), int(generator.integers(2**63))

    def draw(self, row: FloatArray, known: BoolArray, n: int) -> FloatArray:
        return self._copula.draw(row, known, n, np.random.default_rng(self._seed))


class GivenNeighbours(Given):
    """Reference rows, each picked as often as it is near; the absent cells are theirs."""

    name = "neighbours"

    def __init__(self, data: Data) -> None:
        self._neighbours = Neighbours.of(data)
        self._codes = np.stack([data.codes(j) for j in range(len(data.schema.features))], axis=1)
        self._fewest = np.inf

    def draw(self, row: FloatArray, known: BoolArray, n: int) -> FloatArray:
        weights = self._neighbours.weights(row, known, own=False)
        self._fewest = min(self._fewest, float(effective_sizes(weights).min(initial=np.inf)))
        picked = _evenly(weights, n)
        return np.where(known[:, None], row, self._codes[picked])

    @property
    def effective(self) -> float | None:
        return self._fewest


class GivenCurves(Given):
    """Draws of columns that follow each other along curves; the same random numbers for all coalitions."""

    name = "curves"

    def __init__(self, data: Data, joint: Joint, generator: np.random.Generator) -> None:
        self._data, self._joint, self._seed = data, joint, int(generator.integers(2**63))

    def draw(self, row: FloatArray, known: BoolArray, n: int) -> FloatArray:
        generator, joint = np.random.default_rng(self._seed), self._joint
        few, many = (spread_evenly(size, joint.uniforms, generator)[:, None] for size in (n, _PARTICLES * n))
        drawn = np.stack(
            [joint.draw(row[None], told, n, many if joint.weighs(told) else few).codes[0] for told in known]
        )
        codes = held(self._data, drawn.reshape(-1, len(row))).reshape(drawn.shape)
        return np.where(known[:, None], row, codes)


def _evenly(weights: FloatArray, n: int) -> IntArray:
    """``n`` positions per line, at even steps through the cumulated weights."""
    total = np.cumsum(weights, axis=1)
    at = (np.arange(n) + 0.5) / n
    return np.stack([np.searchsorted(line / line[-1], at) for line in total])


class ConditionalGame(Game):
    """Explained rows, with what is absent filled in from the reference data ``data``."""

    def __init__(
        self,
        predictor: Predictor,
        data: Data,
        rows: Data,
        players: Mapping[str, tuple[int, ...]],
        run: Run,
        *,
        how: str = "auto",
        draws: int = 100,
    ) -> None:
        self._predictor, self._data, self._explained, self._run = predictor, data, rows, run
        members = list(players.values())
        self.rows, self.players, self.outputs = len(rows), len(members), len(predictor.output_names)
        self.price = draws
        self._member = np.zeros((len(members), len(data.schema.features)), dtype=np.bool_)
        for i, columns in enumerate(members):
            self._member[i, list(columns)] = True
        self.given = _given(data, run, how)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        nobody = weighted_mean(self._run.predict(self._predictor, self._data), self._data.weights)
        everybody = self._run.predict(self._predictor, self._explained)
        return np.broadcast_to(nobody, everybody.shape), everybody

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    def settings(self) -> Mapping[str, Any]:
        fewest = self.given.effective
        return {
            "conditional": self.given.name,
            "draws": self.price,
            **({} if fewest is None else {"effective": fewest}),
        }

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        chosen = np.arange(self.rows) if rows is None else rows
        known = coalitions @ self._member
        found = np.empty((len(chosen), len(coalitions), self.outputs))
        step = max(1, _AT_ONCE // self.price)
        for i, row in enumerate(chosen):
            codes = np.array([self._explained.codes(j)[row] for j in range(known.shape[1])])
            for start in range(0, len(known), step):
                drawn = self.given.draw(codes, known[start : start + step], self.price)
                asked = self._run.predict(self._predictor, self._data.of_codes(drawn.reshape(-1, drawn.shape[2])))
                found[i, start : start + step] = asked.reshape(len(drawn), self.price, -1).mean(axis=1)
        return found


def _given(data: Data, run: Run, how: str) -> Given:
    """Curves where they show, else a copula of numbers, else neighbours; or what is asked for."""
    joint = joint_distribution(data, run) if how == "auto" else None
    if joint is not None:
        return GivenCurves(data, joint, run.generator("copula.draws"))
    if how == "neighbours" or (how == "auto" and not numbers(data)):
        return GivenNeighbours(data)
    return GivenCopula(data, run.generator("copula.draws"))


def joint_distribution(data: Data, run: Run) -> Joint | None:
    """Of columns that follow each other along curves, where any does; learned once for an Explainer."""
    return run.keep("joint distribution", data, lambda: joint_of(data))[1]
