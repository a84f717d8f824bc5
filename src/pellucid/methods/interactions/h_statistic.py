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
`low`, `high` and `se` are about the population, with the model held fixed: a tenth of the rows is left out at a time,
and Student's intervals are taken of logarithms. Up to 200 rows (60 where trees are read) the tenth is left out of the
background too; of more rows the background matters, to first order, only as far as the interaction of a set itself
depends on further features.

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

from pellucid.arrays import FloatArray
from pellucid.diagnostics.by_measure import h_caveats
from pellucid.explanations import Header, Interactions, squeeze_outputs
from pellucid.methods.interactions.estimation.dividends import Dividends, Members, find_dividends, subsets_of
from pellucid.methods.interactions.estimation.h_test import holm, interaction_p_values, outcomes
from pellucid.methods.interactions.request import Request
from pellucid.stats import jackknife_interval

_CANCELLED = 1e-24  # of the variance of a part
_CELLS = 1 << 25  # rows times parts times outputs that are held at once


@dataclass(frozen=True, eq=False)
class _Variances:
    """Of the numerators, the joint effects and the predictions: ``(sets, outputs)``; of the first two without each
    tenth of the rows, too: ``(tenths, sets, outputs)``.
    """

    numerator: FloatArray
    joint: FloatArray
    prediction: FloatArray
    numerators: FloatArray
    joints: FloatArray


def h_statistic(request: Request) -> Interactions:
    """H of each set asked about."""
    run, predictor = request.run, request.predictor
    if request.p_values:
        outcomes(request, request.data)  # refuses before anything is asked
    parts = find_dividends(request)
    found = _variances(request, parts)
    p_values = interaction_p_values(request, parts) if request.p_values else None
    run.close()
    strength = np.sqrt(found.numerator)
    values, without = (
        (_ratio(found.numerator, found.joint), _ratio(found.numerators, found.joints))
        if request.normalize
        else (strength, np.sqrt(found.numerators))
    )
    se, low, high = jackknife_interval(values, without)
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
                "random_state": run.seed,
            },
            feature_names=request.feature_names,
        ),
    )
    return run.finish(result, h_caveats(predictor, request.data, result, run))


def _variances(request: Request, parts: Dividends) -> _Variances:
    """Variances of the centred parts over the rows, a portion of the sets at a time."""
    tenth = parts.rows.tenths
    share = parts.rows.weights / parts.rows.weights.sum()
    mass = np.bincount(tenth, weights=share)
    kept = [np.where(tenth == b, 0.0, share) / (1 - mass[b]) for b in range(len(mass))]
    prediction = _variance(parts.prediction, share)
    prediction = np.where(prediction > np.square(parts.noise), prediction, 0.0)
    found: list[tuple[FloatArray, ...]] = []
    split = parts.tenths
    for sets in _portions(request.sets, parts.prediction.size * (len(mass) if split else 1)):
        whole = _effects(request, parts, sets)
        apart = [_effects(request, part, sets) for part in split] or [whole] * len(mass)
        # Without a tenth of the background a mean over it is the whole one less what that tenth had.
        without = [
            [(all_ - mass[b] * own) / (1 - mass[b]) for all_, own in zip(whole, apart[b], strict=True)]
            for b in range(len(mass))
        ]
        numerators = [_known(without[b][0], kept[b], parts.noise) for b in range(len(mass))]
        joints = [_variance(without[b][1], kept[b]) for b in range(len(mass))]
        found.append(
            (_known(whole[0], share, parts.noise), _variance(whole[1], share), *map(np.stack, (numerators, joints)))
        )
    top, bottom, tops, bottoms = (
        np.concatenate(column, axis=axis) for column, axis in zip(zip(*found, strict=True), (0, 0, 1, 1), strict=True)
    )
    # A joint effect is a sum, in which the interaction may cancel but for rounding.
    bottom = np.where(bottom > np.maximum(np.square(parts.noise), _CANCELLED * top), bottom, 0.0)
    bottoms = np.where(bottom > 0, bottoms, 0.0)
    return _Variances(top, bottom, prediction, tops, bottoms)


def _known(numerator: FloatArray, share: FloatArray, noise: FloatArray) -> FloatArray:
    """The variance of a numerator, 0 where it is rounding."""
    variance = _variance(numerator, share)
    return np.where(np.sqrt(variance) <= noise, 0.0, variance)


def _variance(parts: FloatArray, share: FloatArray) -> FloatArray:
    """The variance of parts ``(rows, ...)`` over the rows."""
    centred = parts - np.tensordot(share, parts, axes=(0, 0))
    return np.asarray(np.tensordot(share, np.square(centred), axes=(0, 0)))


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
