"""The caveats of importance: training data, features that share importance, blindness to interactions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.off_data import off_data_caveat
from pellucid.diagnostics.shared_importance import Joint, shared_importance
from pellucid.explanations.caveat import Caveat
from pellucid.losses import Loss
from pellucid.models import Predictor
from pellucid.models.outcome import constant_prediction, outcome_for
from pellucid.runner import Intervention, Run
from pellucid.words import number, percent

_MEMORISED = 0.02
_OVERFIT = 1.5
_TOP = 5
_BLIND_ROWS = 500
_BLIND_SHARE = 0.1


def permutation_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: dict[str, tuple[int, ...]],
    values: FloatArray,
    errors: FloatArray,
    compare: str,
    loss: Loss,
    baseline: float,
    y: FloatArray,
    joint: Joint,
    holdout: Data | None,
) -> tuple[Caveat, ...]:
    """Everything known against these importances on these data."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    caveats = list(general_caveats(predictor, data, run))
    if data.y is not None:
        caveats.extend(training_data(predictor, data, loss, baseline, y))
    if holdout is not None:
        with run.checking():
            caveats.extend(_overfitting(predictor, holdout, run, loss, baseline))
    caveats.extend(mixed_off_data(data, players, values, run))
    with run.checking():
        caveats.extend(
            shared_importance(
                data,
                run,
                players=players,
                values=values,
                errors=errors,
                compare=compare,
                joint=joint,
                words="share their importance: permuted",
            )
        )
    return tuple(caveats)


def mixed_off_data(data: Data, players: dict[str, tuple[int, ...]], values: FloatArray, run: Run) -> Iterator[Caveat]:
    """Whether giving the values of the most important features to other rows makes rows that do not occur."""
    columns = list(players.values())
    for j in np.argsort(-values, kind="stable")[:_TOP]:
        if len(columns[j]) == 1:
            yield from off_data_caveat(data, columns[j][0], run, method="permutation")


def training_data(predictor: Predictor, data: Data, loss: Loss, baseline: float, y: FloatArray) -> Iterator[Caveat]:
    """A loss near zero looks like the data the model was fitted to."""
    if loss.name == "share of prediction variance" or len(data) < 20:
        return
    constant = loss(y, constant_prediction(predictor, y, data.weights), data.weights)
    if constant > 0 and baseline < _MEMORISED * constant:
        yield Caveat(
            code="training-data",
            message=(
                f"The model is almost perfect here: its {loss.name} is {number(baseline)}, that of a constant"
                f" {number(constant)}, as on data it was fitted to."
            ),
            value=baseline / constant,
            threshold=_MEMORISED,
            advice="Pass held-out data: on training data overfitted features look important.",
        )


def _overfitting(predictor: Predictor, holdout: Data, run: Run, loss: Loss, baseline: float) -> Iterator[Caveat]:
    raw = run.predict(predictor, holdout, full=True)
    outside = loss(outcome_for(predictor, holdout), raw, holdout.weights)
    if outside > _OVERFIT * baseline:
        yield Caveat(
            code="overfitted",
            message=(
                f"The model's {loss.name} is {number(baseline)} on these rows but {number(outside)} on the held-out"
                " ones."
            ),
            value=outside / baseline if baseline > 0 else np.inf,
            threshold=_OVERFIT,
            advice="Take the importance from the held-out rows.",
        )


def pdp_importance_caveats(predictor: Predictor, data: Data, run: Run, values: FloatArray) -> tuple[Caveat, ...]:
    """Features that change predictions in single rows but not on average."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    with run.checking():
        hidden = list(_blind(predictor, data, run, values.sum(axis=-1)))
    return (*general_caveats(predictor, data, run), *hidden)


def _blind(predictor: Predictor, data: Data, run: Run, values: FloatArray) -> Iterator[Caveat]:
    """Compare with the root mean squared change of the prediction when the feature is shuffled."""
    some = data.take(data.spread(_BLIND_ROWS))
    before = run.predict(predictor, some)
    donors = run.generator(2).permutation(len(some))[None, :, None]
    interventions = [Intervention((j,), (some.frame.native_column(j),), donors) for j in range(len(values))]
    change = np.zeros(len(values))
    for batch in run.stream(predictor, some, interventions):
        change[batch.intervention] += np.square(batch.predictions[0] - before[batch.rows]).sum()
    moved, shown = np.sqrt(change), values
    if moved.sum() <= 0:
        return
    moved_share = moved / moved.sum()
    shown_share = shown / shown.sum() if shown.sum() > 0 else np.zeros(len(shown))
    for j in np.flatnonzero((moved_share >= _BLIND_SHARE) & (shown_share < moved_share / 4)):
        name = data.schema.names[j]
        yield Caveat(
            code="hidden-interaction",
            message=(
                f"{name} moves single predictions ({percent(float(moved_share[j]))} of all movement) but hardly their"
                " average: its effect is in interactions, which this importance cannot see."
            ),
            value=float(moved_share[j]),
            threshold=_BLIND_SHARE,
            advice="Use method='permutation'.",
            feature=name,
        )
