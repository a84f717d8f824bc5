"""Friedman's H: the share of a joint effect that is interaction.

Friedman and Popescu 2008.

Definition. With partial dependences centred over the n rows,

    pairs      H_jk^2  = sum of [PD_jk - PD_j - PD_k]^2 / sum of PD_jk^2
    triples    H_jkl^2 = sum of [PD_jkl - PD_jk - PD_jl - PD_kl + PD_j + PD_k + PD_l]^2 / sum of PD_jkl^2
    all        H_j^2   = sum of [f - PD_j - PD_-j]^2 / sum of f^2

`values` is H, not its square; with ``normalize=False`` it is the root of the mean squared numerator, in the units of
the prediction (`strength`, which is always there; the sum over rows of the textbook is sqrt(n) times this). `joint` is
the variance of the joint effect as a share of that of the prediction. Rows count by their weights.

Estimator. Numerators are dividends, joint effects sums of dividends (see `dividends`): exact for trees and linear
models, from all rows against all rows; any other model is asked, about as many rows as cost three million model rows,
unless
``rows`` says how many. Numerators below what rounding makes are exactly zero; 0/0 is 0.
`low`, `high` and `se` come from a bootstrap of the rows in the sums, with the model and the background held fixed. To
first order the background matters only as far as the interaction of a set itself depends on further features.

When it misleads: (1) a joint effect that is small makes any small interaction large by comparison: see `strength` and
`joint`; (2) correlated features are asked about in combinations that do not occur, which inflates H, even above
1; (3) it says how much the model interacts, not that the world does: `p_values` asks that (see `h_test`); (4) it says
how much, not how: draw the partial dependence of the pair.

Cost. Trees and linear models: the rows, once. Else n^2 model rows for each feature, and for each pair or triple, as
well as for each feature's complement with ``against="all"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray, group_sums
from pellucid.diagnostics.by_measure import h_caveats
from pellucid.explanations import Header, Interactions, squeeze_outputs
from pellucid.methods.interactions.estimation.dividends import Dividends, Members, find_dividends, subsets_of
from pellucid.methods.interactions.estimation.h_test import holm, interaction_p_values, outcomes
from pellucid.methods.interactions.request import Request

_CELLS = 1 << 25  # rows times parts times outputs that are held at once
DRAWS = 200
_LOTS = 1000
_LEVEL = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class _Variances:
    """Of the numerators, the joint effects and the predictions: ``(sets, outputs)``, and ``(draws, sets, outputs)``."""

    numerator: FloatArray
    joint: FloatArray
    prediction: FloatArray
    drawn_numerator: FloatArray
    drawn_joint: FloatArray


def h_statistic(request: Request) -> Interactions:
    """H of each set asked about."""
    run, predictor = request.run, request.predictor
    if request.p_values:
        outcomes(request, request.data)  # refuses before anything is asked
    parts = find_dividends(request)
    found = _variances(request, parts)
    p_values = interaction_p_values(request, parts) if request.p_values else None
    run.close()
    strength, drawn_strength = np.sqrt(found.numerator), np.sqrt(found.drawn_numerator)
    values, drawn = (
        (_ratio(found.numerator, found.joint), _ratio(found.drawn_numerator, found.drawn_joint))
        if request.normalize
        else (strength, drawn_strength)
    )
    se, low, high = spread(drawn)
    with np.errstate(invalid="ignore", divide="ignore"):
        joint = np.where(found.prediction > 0, found.joint / found.prediction, 0.0)
    result = Interactions(
        method="h",
        against=request.against,
        sets=request.set_names,
        measure=(
            "share of the joint effect"
            if request.normalize
            else f"spread of the interaction, in units of the {predictor.scale}"
        ),
        values=squeeze_outputs(values),
        se=squeeze_outputs(se),
        low=squeeze_outputs(low),
        high=squeeze_outputs(high),
        strength=squeeze_outputs(strength),
        joint=squeeze_outputs(joint),
        p_values=None if p_values is None else squeeze_outputs(p_values),
        adjusted=None if p_values is None else squeeze_outputs(holm(p_values)),
        header=Header.of(
            predictor,
            request.data,
            run,
            {
                "method": "h",
                "against": request.against,
                "normalize": request.normalize,
                "p_values": request.p_values,
                "source": parts.source,
                "rows": len(parts.rows),
                "resamples": DRAWS,
                "random_state": run.seed,
            },
            feature_names=request.feature_names,
        ),
    )
    return run.finish(result, h_caveats(predictor, request.data, result, run))


def _variances(request: Request, parts: Dividends) -> _Variances:
    """Variances of the centred parts over the rows, a portion of the sets at a time."""
    resampling = Resampling.of(parts.rows.weights, request.run.generator("h.bootstrap"))
    prediction, _ = resampling.variances(resampling.centred(parts.prediction))
    prediction = np.where(prediction > np.square(parts.noise), prediction, 0.0)
    found = []
    for sets in _portions(request.sets, parts.prediction.size):
        numerator, joint = _effects(request, parts, sets)
        numerator = resampling.centred(numerator)
        size = np.sqrt(np.tensordot(resampling.weights, np.square(numerator), axes=(0, 0)))
        numerator = np.where(size <= parts.noise, 0.0, numerator)
        found.append((*resampling.variances(numerator), *resampling.variances(resampling.centred(joint))))
    top, drawn_top, bottom, drawn_bottom = (
        np.concatenate(column, axis=axis) for column, axis in zip(zip(*found, strict=True), (0, 1, 0, 1), strict=True)
    )
    bottom = np.where(bottom > np.square(parts.noise), bottom, 0.0)
    return _Variances(top, bottom, prediction, drawn_top, drawn_bottom)


def _effects(request: Request, parts: Dividends, sets: list[Members]) -> tuple[FloatArray, FloatArray]:
    """Numerators and joint effects ``(rows, sets, outputs)``; with all others, the joint effect is the prediction."""
    if request.against == "all":
        numerator = parts.totals([members[0] for members in sets])
        return numerator, np.broadcast_to(parts.prediction[:, None], numerator.shape)
    place = {part: i for i, part in enumerate(dict.fromkeys(p for members in sets for p in subsets_of(members)))}
    dividends = parts.dividends(list(place))
    within = [[place[part] for part in subsets_of(members)] for members in sets]
    joint = np.stack([dividends[:, places].sum(axis=1) for places in within], axis=1)
    return dividends[:, [places[-1] for places in within]], joint


def _portions(sets: tuple[Members, ...], cells: int, most: int = _CELLS) -> Iterator[list[Members]]:
    """As many sets as fit the memory, with all their parts."""
    step = max(1, most // max(cells, 1) // 2 ** len(sets[0]))
    for start in range(0, len(sets), step):
        yield list(sets[start : start + step])


def _ratio(numerator: FloatArray, joint: FloatArray) -> FloatArray:
    """The root of the ratio; 0/0 is no interaction, and anything else over nothing is unknown."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(np.where(joint > 0, numerator / joint, np.nan))
    return np.where(numerator == 0, 0.0, ratio)


# -- the bootstrap ---------------------------------------------------------------------------------
#
# Variances over rows, and how they vary when the rows are drawn anew.
#
# The parts of the predictions stay what they are; only the rows over which they are averaged are resampled, so that 200
# draws cost next to nothing. With many rows, these are first dealt into a thousand lots at random, and whole lots are
# drawn: the spread of a mean over lots is that of a mean over rows.


@dataclass(frozen=True, eq=False)
class Resampling:
    """Weights of the rows, the lot of each, and how often every lot is in each draw ``(draws, lots)``."""

    weights: FloatArray
    lot: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, weights: FloatArray, generator: np.random.Generator, lots: int = _LOTS) -> Resampling:
        n = len(weights)
        lots = min(n, lots)
        dealt = np.arange(n) if lots == n else generator.permutation(n) * lots // n
        drawn = generator.integers(lots, size=(DRAWS, lots)) + lots * np.arange(DRAWS)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=DRAWS * lots).reshape(DRAWS, lots)
        return cls(weights / weights.sum(), np.asarray(dealt, dtype=np.intp), counts.astype(np.float64))

    def centred(self, parts: FloatArray) -> FloatArray:
        """Parts ``(rows, ...)`` less their mean."""
        return np.asarray(parts - np.tensordot(self.weights, parts, axes=(0, 0)))

    def variances(self, centred: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The variance of each part of centred parts ``(rows, ...)``, and in every draw ``(draws, ...)``."""
        shape = centred.shape[1:]
        flat = centred.reshape(len(centred), -1)
        weighted = self.weights[:, None] * flat
        lots = self.counts.shape[1]
        first, second = group_sums(self.lot, lots, weighted), group_sums(self.lot, lots, weighted * flat)
        mass = self.counts @ group_sums(self.lot, lots, self.weights)
        mass = np.where(mass > 0, mass, np.nan)[:, None]
        drawn = self.counts @ second / mass - np.square(self.counts @ first / mass)
        return second.sum(axis=0).reshape(shape), np.maximum(drawn, 0.0).reshape(len(drawn), *shape)


def spread(draws: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard error and the bounds of a 95% interval from draws ``(draws, ...)``; draws that are undefined do not
    count.
    """
    if not np.isnan(draws).any():
        low, high = np.quantile(draws, _LEVEL, axis=0)
        return draws.std(axis=0, ddof=1), low, high
    enough = (~np.isnan(draws)).sum(axis=0) > DRAWS // 2
    filled = np.where(enough, draws, 0.0)
    low, high = np.nanquantile(filled, _LEVEL, axis=0)
    error = np.nanstd(filled, axis=0, ddof=1)
    unknown = np.where(enough, 0.0, np.nan)
    return error + unknown, low + unknown, high + unknown
