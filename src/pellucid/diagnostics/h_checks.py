"""The caveats of H: rows were sampled, small joint effects, values above one, wide intervals, training data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.importance_checks import training_data
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.interactions import Interactions
from pellucid.losses import find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.runner import Run
from pellucid.words import listed, number, percent

_WEAK_JOINT = 0.02  # of the prediction's variance
_NOTICED = 0.1  # H that is worth a word
_WIDE = 0.5  # width of an interval, as a share of the value
_LEADING = 5


def h_caveats(predictor: Predictor, data: Data, result: Interactions, run: Run) -> tuple[Caveat, ...]:
    """Everything known against these values on these data."""
    caveats = list(general_caveats(predictor, data, run))
    if not run.checks or run.interrupted:
        return tuple(caveats)
    caveats.extend(_sampled(data, result))
    if result.settings["normalize"]:
        caveats.extend(_weak_joint(result))
        caveats.extend(_above_one(result))
    caveats.extend(_imprecise(result))
    if result.p_values is not None:
        caveats.extend(_seen(predictor, data, run))
    return tuple(caveats)


def _sampled(data: Data, result: Interactions) -> Iterator[Caveat]:
    used, all_rows = int(result.settings["rows"]), int(np.count_nonzero(data.weights > 0))
    if used < all_rows:
        yield Caveat(
            code="rows-sampled",
            message=f"{used:,} of {all_rows:,} rows were used, drawn at random.",
            value=all_rows / used,
            threshold=1.0,
            advice=(
                "Give rows= for more (the cost grows with its square), or another random_state to see how much it"
                " matters."
            ),
        )


def _weak_joint(result: Interactions) -> Iterator[Caveat]:
    """Interaction relative to next to nothing."""
    values, joint, strength = _by_output(result)
    weak = (joint < _WEAK_JOINT) & (values > _NOTICED)
    if not weak.any():
        return
    s, k = np.unravel_index(np.argmax(np.where(weak, values, -1.0)), values.shape)
    names = result.sets[s]
    many = int(weak.any(axis=1).sum())
    others = f" So it is with {many} of the {len(values)} sets." if many > 1 else ""
    yield Caveat(
        code="weak-joint-effect",
        message=(
            f"{listed(names)} have a large H ({number(float(values[s, k]))}) because they do little: their joint effect"
            f" has {percent(float(joint[s, k]))} of the variance of the prediction, and their interaction is"
            f" {number(float(strength[s, k]))} in its units.{others}"
        ),
        value=float(values[s, k]),
        threshold=_NOTICED,
        advice="Compare `strength`, or use normalize=False.",
        feature=names[0],
    )


def _above_one(result: Interactions) -> Iterator[Caveat]:
    values, _, _ = _by_output(result)
    highest = np.where(np.isnan(values), -np.inf, values)
    s, k = np.unravel_index(np.argmax(highest), values.shape)
    if highest[s, k] > 1 + 1e-9:
        yield Caveat(
            code="above-one",
            message=(
                f"H of {listed(result.sets[s])} is {number(float(values[s, k]))}: effects alone and together cancel, as"
                " where features go together, and H is no share there."
            ),
            value=float(values[s, k]),
            threshold=1.0,
            advice="Use normalize=False, or treat features that go together as one group (groups=).",
            feature=result.sets[s][0],
        )


def _imprecise(result: Interactions) -> Iterator[Caveat]:
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
                f"The value of {listed(result.sets[s])} is known roughly: {number(float(values[s, k]))}, 95% interval"
                f" {number(float(low))} to {number(float(high))}."
            ),
            value=float(doubt[place, k]),
            threshold=_WIDE,
            advice="Use more rows, and do not rank sets whose intervals overlap.",
            feature=result.sets[s][0],
        )


def _seen(predictor: Predictor, data: Data, run: Run) -> Iterator[Caveat]:
    """The test is no test on rows that the model was fitted to."""
    y = outcome_for(predictor, data)
    loss = find_loss(None, predictor.task, predictor.raw_scale)
    with run.checking():
        raw = run.predict(predictor, data, full=True)
    yield from training_data(predictor, data, loss, loss(y, raw, data.weights), y)


def _by_output(result: Interactions) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values, joint shares and strengths ``(sets, outputs)``; unknown values as nothing."""
    shape = (len(result.sets), -1)
    values = np.where(np.isnan(result.values), 0.0, result.values)
    return values.reshape(shape), result.joint.reshape(shape), result.strength.reshape(shape)
