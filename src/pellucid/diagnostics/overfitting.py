"""Rows the model was fitted to flatter it, and a model that is fitted again is another one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.general import SAMPLE_ROWS, Players, exchanged_predictions, sample_predictions
from pellucid.explanations import Caveat
from pellucid.explanations.advice import advice
from pellucid.losses import Loss, find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import comparable, constant_prediction, outcome_for
from pellucid.runner import Run
from pellucid.stats import standard_error
from pellucid.words import loss_name, loss_words, percent

_MEMORISED = 0.02
_OVERFIT = 1.5
_CHECKED = 0.1  # an index large enough to ask whether the outcome bears it out
_FEWEST = 50
_REAL = 0.25
_TOP = 5
_SHUFFLES = 2
_BY_HEART = 0.3
_ANOTHER = 1.5


def training_data(
    predictor: Predictor, data: Data, loss: Loss, baseline: float, y: FloatArray, *, verb: str = "importance"
) -> Iterator[Caveat]:
    """A loss near zero looks like the data the model was fitted to."""
    if loss.name == "share of prediction variance" or len(data) < 20:
        return
    constant = loss(y, constant_prediction(predictor, y, data.weights), data.weights)
    if constant > 0 and baseline < _MEMORISED * constant:
        (name, own), (_, other) = loss_words(loss.name, baseline), loss_words(loss.name, constant)
        yield Caveat(
            code="training-data",
            message=(
                f"The model is almost perfect on these rows, as on training data: its {name} is {own},"
                f" that of a constant {other}."
            ),
            value=baseline / constant,
            threshold=_MEMORISED,
            advice=advice("training-data", verb),
        )


def overfitted(predictor: Predictor, holdout: Data, run: Run, loss: Loss, baseline: float) -> Iterator[Caveat]:
    """The loss on held-out rows is much larger."""
    raw = run.predict(predictor, holdout, full=True)
    outside = loss(outcome_for(predictor, holdout), raw, holdout.weights)
    if outside > _OVERFIT * baseline:
        (name, own), (_, other) = loss_words(loss.name, baseline), loss_words(loss.name, outside)
        yield Caveat(
            code="overfitted",
            message=f"The model's {name} is {own} on these rows but {other} on the held-out ones.",
            value=outside / baseline if baseline > 0 else np.inf,
            threshold=_OVERFIT,
            advice="Take the importance from the held-out rows.",
        )


def not_borne_out(predictor: Predictor, data: Data, run: Run, players: Players, total: FloatArray) -> Iterator[Caveat]:
    """The predictions depend on a feature, but the outcome does not bear that out.

    Giving rows another row's value of an independent feature increases the mean squared error by twice its total part
    of the variance if the model is right about the feature, and not at all if the outcome has nothing to do with it.
    """
    squares = predictor.link == "identity" and (predictor.classes is None or predictor.raw_scale == "probability")
    if not comparable(predictor, data) or not squares or len(data) < _FEWEST:
        return
    overall = total.mean(axis=-1)
    order = [int(p) for p in np.argsort(-overall, kind="stable")[:_TOP] if overall[p] >= _CHECKED]
    if not order:
        return
    some = data.take(data.spread(SAMPLE_ROWS))
    with run.checking():
        borne_out = _borne_out(predictor, some, run, [list(players.values())[p] for p in order])
    for p, (share, error) in zip(order, borne_out, strict=True):
        if share + 2 * error < _REAL:
            name = list(players)[p]
            yield Caveat(
                code="not-borne-out",
                message=(
                    f"The predictions depend on {name} ({percent(float(overall[p]))} of their variance), but the"
                    f" outcome confirms only {percent(max(share, 0.0))} of that: the model has overfitted to it, or is"
                    " wrong about it here."
                ),
                value=1.0 - share,
                threshold=1.0 - _REAL,
                advice="Compare with importance(method='permutation') on held-out data.",
                feature=name,
            )


def _borne_out(predictor: Predictor, some: Data, run: Run, columns: list[tuple[int, ...]]) -> list[tuple[float, float]]:
    """For each player the increase of the squared error as a share of what a right model has, with its standard
    error.
    """
    before = sample_predictions(predictor, some, run)
    outcome = outcome_for(predictor, some)
    y = outcome if predictor.classes is None else np.eye(before.shape[1])[outcome.astype(np.intp)]
    donors = np.stack([run.generator("overfitting.donors", s).permutation(len(some)) for s in range(_SHUFFLES)])
    found = []
    for after in exchanged_predictions(predictor, some, columns, donors, run, full=True):
        increase = (np.square(y - after) - np.square(y - before)).sum(axis=2).mean(axis=0)
        change = np.square(after - before).sum(axis=2).mean(axis=0)
        expected = float(np.average(change, weights=some.weights))
        share = float(np.average(increase, weights=some.weights)) / expected if expected > 0 else 1.0
        error = float(standard_error(increase - share * change, some.weights))
        found.append((share, error / expected if expected > 0 else 0.0))
    return found


def tested_on_training_data(predictor: Predictor, data: Data, run: Run) -> Iterator[Caveat]:
    """The test is no test on rows that the model was fitted to."""
    y = outcome_for(predictor, data)
    loss = find_loss(None, predictor.task, predictor.raw_scale)
    with run.checking():
        raw = run.predict(predictor, data, full=True)
    yield from training_data(predictor, data, loss, loss(y, raw, data.weights), y, verb="interactions")


def noise_by_heart(noise: float, measure: str) -> Iterator[Caveat]:
    """Models that learn a permuted outcome on their own rows make a null that little stands out from."""
    if noise > _BY_HEART:
        yield Caveat(
            code="noise-by-heart",
            message=(
                f"Fitted to a permuted outcome, which is pure noise, the model still removes {percent(noise)} of the"
                f" {loss_name(measure)} of a constant on its training rows: it memorises so much noise that features"
                " which matter may not stand out."
            ),
            value=noise,
            threshold=_BY_HEART,
            advice="Use folds=5, which measures the importance and the noise on held-out rows.",
        )


def other_model(
    measure: str, given: float, refitted: float, where: str = "rows held out from them"
) -> Iterator[Caveat]:
    """The models that were fitted again predict much better or worse than the given one."""
    if not (given >= 0 and refitted >= 0 and given + refitted > 0):
        return
    small, large = sorted((given, refitted))
    if large > _ANOTHER * small:
        (name, again), (_, own) = loss_words(measure, refitted), loss_words(measure, given)
        yield Caveat(
            code="other-model",
            message=(
                f"The refitted models differ from the given one: their {name} is {again} on {where}, its own"
                f" {own} on all rows."
            ),
            value=large / small if small > 0 else np.inf,
            threshold=_ANOTHER,
            advice=(
                "Read this as a statement about the fitting procedure on these rows; for the given model use"
                " method='permutation' without refits, on rows it was not fitted to."
            ),
        )
