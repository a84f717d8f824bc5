"""What measures of interaction cannot be trusted for: shares of weak effects, rough values, effects that turn round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations import Caveat, Interactions
from pellucid.explanations.network import pooled_costs
from pellucid.words import listed, number, percent, quantity

_NOTICED = 0.1  # H that is worth a word
_WEAK_JOINT = 0.02  # of the prediction's variance
_LEADING = 5
_FIRST = 3  # sets that a reader takes for the strongest
_WIDE = 0.5  # width of an interval, as a share of the value
_COSTLY = 0.01
_UNSHARP = 0.3
_DEAR = 0.05
_UNSEEN = 0.1  # of the standard deviation that the interaction has


def weak_joint(result: Interactions) -> Iterator[Caveat]:
    """Interaction relative to next to nothing."""
    values, joint, strength = _by_output(result)
    weak = (joint < _WEAK_JOINT) & (values > _NOTICED)
    weak[result.ranking[_FIRST:]] = False  # nobody is misled by what stands below
    if not weak.any():
        return
    s, k = np.unravel_index(np.argmax(np.where(weak, values, -1.0)), values.shape)
    names = result.sets[s]
    many = int(weak.any(axis=1).sum())
    others = f" The same holds for {many} of the {len(values)} sets." if many > 1 else ""
    yield Caveat(
        code="weak-joint-effect",
        message=(
            f"{listed(names)} have a large H ({number(float(values[s, k]))}{_for(result, int(k))}) because their"
            f" effects are small: their joint effect has {percent(float(joint[s, k]))} of the variance of the"
            f" prediction, and their interaction is {_size(result, float(strength[s, k]))}.{others}"
        ),
        value=float(values[s, k]),
        threshold=_NOTICED,
        advice="Compare `strength`, or use normalize=False.",
        feature=names[0],
    )


def _for(result: Interactions, k: int) -> str:
    """Which of several outputs a number is of."""
    return f" for {result.output_names[k]}" if len(result.output_names) > 1 else ""


def _size(result: Interactions, strength: float) -> str:
    """A strength in units of the prediction."""
    own = "" if result.scale == "probability" else " in its units"
    return f"{quantity(strength, result.scale, change=True, sign=False)}{own}"


def above_one(result: Interactions) -> Iterator[Caveat]:
    """A share that is none: H above one."""
    values, _, _ = _by_output(result)
    highest = np.where(np.isnan(values), -np.inf, values)
    s, k = np.unravel_index(np.argmax(highest), values.shape)
    if highest[s, k] > 1 + 1e-9:
        yield Caveat(
            code="above-one",
            message=(
                f"H of {listed(result.sets[s])}{_for(result, int(k))} is {number(float(values[s, k]))}, more than 1:"
                " single and joint effects cancel, as with correlated features, so H is not a share here."
            ),
            value=float(values[s, k]),
            threshold=1.0,
            advice="Use normalize=False, or treat correlated features as one group (groups=).",
            feature=result.sets[s][0],
        )


def imprecise_interactions(result: Interactions) -> Iterator[Caveat]:
    """Among the leading sets, the one whose interval is widest for its value."""
    values = result.values.reshape(len(result.sets), -1)
    width = (result.high - result.low).reshape(values.shape)
    noticed = result.ranking[:_LEADING]
    with np.errstate(invalid="ignore", divide="ignore"):
        doubt = np.where(values > 0, width / values, 0.0)[noticed]
    doubt = np.where(np.isnan(doubt), 0.0, doubt)
    place, k = np.unravel_index(np.argmax(doubt), doubt.shape)
    if doubt[place, k] > _WIDE:
        s = noticed[place]
        low, high = (part.reshape(values.shape)[s, k] for part in (result.low, result.high))
        yield Caveat(
            code="imprecise",
            message=(
                f"The value of {listed(result.sets[s])}{_for(result, int(k))} is imprecise:"
                f" {number(float(values[s, k]))}, 95% interval {number(float(low))} to {number(float(high))}."
            ),
            value=float(doubt[place, k]),
            threshold=_WIDE,
            advice="Use more rows, and do not rank sets whose intervals overlap.",
            feature=result.sets[s][0],
        )


def _by_output(result: Interactions) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values, joint shares and strengths ``(sets, outputs)``; unknown values as nothing."""
    shape = (len(result.sets), -1)
    values = np.where(np.isnan(result.values), 0.0, result.values)
    return values.reshape(shape), result.joint.reshape(shape), result.strength.reshape(shape)


def uncertain_costs(result: Interactions) -> Iterator[Caveat]:
    """The most costly pair is known only roughly: few draws meet what makes it costly."""
    costs, errors = pooled_costs(result)
    pairs = [k for k, part in enumerate(result.parts) if len(part) == 2 and costs[k] >= _COSTLY]
    if not pairs:
        return
    k = max(pairs, key=lambda k: costs[k])
    doubt = float(errors[k] / costs[k])
    if doubt > _UNSHARP and np.isfinite(doubt):
        names = " and ".join(result.parts[k])
        yield Caveat(
            code="costs-uncertain",
            message=(
                f"The share of variance of the interaction of {names} is imprecise: {percent(float(costs[k]))}, with a"
                f" standard error of {percent(float(errors[k]))}; it comes from few rows."
            ),
            value=doubt,
            threshold=_UNSHARP,
            advice="Do not choose a network by small differences of cost; look for outliers in the predictions.",
            feature=result.parts[k][0],
        )


def turned_effects(result: Interactions) -> Iterator[Caveat]:
    """A costly pair without a value: sizes of effects do not tell an effect from its opposite."""
    if result.method != "greenwell" or not result.normalized:
        return
    costs, errors = pooled_costs(result)
    value = dict(zip(map(frozenset, result.sets), result.overall, strict=True))
    unseen = {
        part: float(cost)
        for part, cost, error in zip(result.parts, costs, errors, strict=True)
        if cost - 2 * error > _DEAR and value.get(frozenset(part), np.inf) < _UNSEEN * np.sqrt(cost)
    }
    if unseen:
        worst = max(unseen, key=lambda part: unseen[part])
        yield Caveat(
            code="turned-effects",
            message=(
                f"The value of {' and '.join(worst)} is {number(float(value[frozenset(worst)]))}, but their interaction"
                f" explains {percent(unseen[worst])} of the variance: it reverses effects without changing their size,"
                " which this measure does not see."
            ),
            value=unseen[worst],
            threshold=_DEAR,
            advice="Use interactions(method='h').",
            feature=worst[0],
        )
