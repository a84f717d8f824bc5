"""Friedman's H: the share of a joint effect that is interaction.

Friedman and Popescu 2008.

Definition. With partial dependences centred over the n rows,

    pairs      H_jk^2  = sum of [PD_jk - PD_j - PD_k]^2 / sum of PD_jk^2
    triples    H_jkl^2 = sum of [PD_jkl - PD_jk - PD_jl - PD_kl + PD_j + PD_k + PD_l]^2 / sum of PD_jkl^2
    all        H_j^2   = sum of [f - PD_j - PD_-j]^2 / sum of f^2

`values` is H, not its square; with ``normalize=False`` it is the root of the mean squared numerator, in the units of
the prediction (`strength`, which is always there; the sum over rows of the textbook is sqrt(n) times this). `joint` is
the variance of the joint effect as a share of that of the prediction. Rows count by their weights.

Estimator. Numerators are dividends, joint effects sums of dividends (see `parts`): exact for trees and linear models,
from all rows against all rows; any other model is asked, about as many rows as cost three million model rows, unless
``rows`` says how many. Numerators below what rounding makes are exactly zero; 0/0 is 0.
`low`, `high` and `se` come from a bootstrap of the rows in the sums, with the model and the background held fixed. To
first order the background matters only as far as the interaction of a set itself depends on further features.

When it misleads: (1) a joint effect that is small makes any small interaction large by comparison: see `strength` and
`joint`; (2) features that go together are asked about in combinations that do not occur, which inflates H, even above
1; (3) it says how much the model interacts, not that the world does: `p_values` asks that (see `h_test`); (4) it says
how much, not how: draw the partial dependence of the pair.

Cost. Trees and linear models: the rows, once. Else n^2 model rows for each feature, and for each pair or triple, as
well as for each feature's complement with ``against="all"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.diagnostics.by_measure import h_caveats
from pellucid.explanations.explanation import squeeze_outputs
from pellucid.explanations.interactions import Interactions
from pellucid.methods.interactions.bootstrap import DRAWS, Resampling, spread
from pellucid.methods.interactions.h_test import holm, interaction_p_values, outcomes
from pellucid.methods.interactions.parts import Members, Parts, find_parts, parts_of
from pellucid.methods.interactions.request import Question

_CELLS = 1 << 25  # rows times parts times outputs that are held at once
_KEY = 72  # of the random numbers of the bootstrap


@dataclass(frozen=True, eq=False)
class _Variances:
    """Of the numerators, the joint effects and the predictions: ``(sets, outputs)``, and ``(draws, sets, outputs)``."""

    numerator: FloatArray
    joint: FloatArray
    prediction: FloatArray
    drawn_numerator: FloatArray
    drawn_joint: FloatArray


def h_statistic(question: Question) -> Interactions:
    """H of each set asked about."""
    run, predictor = question.run, question.predictor
    if question.p_values:
        outcomes(question, question.data)  # refuses before anything is asked
    parts = find_parts(question)
    found = _variances(question, parts)
    p_values = interaction_p_values(question, parts) if question.p_values else None
    run.close()
    strength, drawn_strength = np.sqrt(found.numerator), np.sqrt(found.drawn_numerator)
    values, drawn = (
        (_ratio(found.numerator, found.joint), _ratio(found.drawn_numerator, found.drawn_joint))
        if question.normalize
        else (strength, drawn_strength)
    )
    se, low, high = spread(drawn)
    with np.errstate(invalid="ignore", divide="ignore"):
        joint = np.where(found.prediction > 0, found.joint / found.prediction, 0.0)
    result = Interactions(
        method="h",
        against=question.against,
        sets=question.set_names,
        measure=(
            "share of the joint effect"
            if question.normalize
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
        feature_names=question.feature_names,
        output_names=predictor.output_names,
        scale=predictor.scale,
        cost=run.cost(),
        library=question.data.caller,
        settings={
            "method": "h",
            "against": question.against,
            "normalize": question.normalize,
            "p_values": question.p_values,
            "source": parts.source,
            "rows": len(parts.rows),
            "resamples": DRAWS,
            "random_state": run.seed,
        },
    )
    return replace(result, caveats=h_caveats(predictor, question.data, result, run), cost=run.cost())


def _variances(question: Question, parts: Parts) -> _Variances:
    """Variances of the centred parts over the rows, a portion of the sets at a time."""
    resampling = Resampling.of(parts.rows.weights, question.run.generator(_KEY))
    prediction, _ = resampling.variances(resampling.centred(parts.prediction))
    prediction = np.where(prediction > np.square(parts.noise), prediction, 0.0)
    found = []
    for sets in _portions(question.sets, parts.prediction.size):
        numerator, joint = _effects(question, parts, sets)
        numerator = resampling.centred(numerator)
        size = np.sqrt(np.tensordot(resampling.weights, np.square(numerator), axes=(0, 0)))
        numerator = np.where(size <= parts.noise, 0.0, numerator)
        found.append((*resampling.variances(numerator), *resampling.variances(resampling.centred(joint))))
    top, drawn_top, bottom, drawn_bottom = (
        np.concatenate(column, axis=axis) for column, axis in zip(zip(*found, strict=True), (0, 1, 0, 1), strict=True)
    )
    bottom = np.where(bottom > np.square(parts.noise), bottom, 0.0)
    return _Variances(top, bottom, prediction, drawn_top, drawn_bottom)


def _effects(question: Question, parts: Parts, sets: list[Members]) -> tuple[FloatArray, FloatArray]:
    """Numerators and joint effects ``(rows, sets, outputs)``; with all others, the joint effect is the prediction."""
    if question.against == "all":
        numerator = parts.totals([members[0] for members in sets])
        return numerator, np.broadcast_to(parts.prediction[:, None], numerator.shape)
    place = {part: i for i, part in enumerate(dict.fromkeys(p for members in sets for p in parts_of(members)))}
    dividends = parts.dividends(list(place))
    within = [[place[part] for part in parts_of(members)] for members in sets]
    joint = np.stack([dividends[:, places].sum(axis=1) for places in within], axis=1)
    return dividends[:, [places[-1] for places in within]], joint


def _portions(sets: tuple[Members, ...], cells: int) -> Iterator[list[Members]]:
    """As many sets as fit the memory, with all their parts."""
    step = max(1, _CELLS // max(cells, 1) // 2 ** len(sets[0]))
    for start in range(0, len(sets), step):
        yield list(sets[start : start + step])


def _ratio(numerator: FloatArray, joint: FloatArray) -> FloatArray:
    """The root of the ratio; 0/0 is no interaction, and anything else over nothing is unknown."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(np.where(joint > 0, numerator / joint, np.nan))
    return np.where(numerator == 0, 0.0, ratio)
