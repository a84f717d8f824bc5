"""What can spoil any explanation: an interrupted run, an unsteady model, a useless model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations import Caveat
from pellucid.explanations.caveat import PARTIAL
from pellucid.losses import find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import comparable, constant_prediction, outcome_for
from pellucid.models.predictor import LOGIT_FLOOR
from pellucid.runner import Intervention, Run
from pellucid.words import loss_words, percent

Players = Mapping[str, tuple[int, ...]]

SAMPLE_ROWS = 500  # evenly spaced; an Explainer asks for them with its first calls of the model
_CLIPPED = 0.01
STEADY = "Fix its random state, or switch off dropout and other sampling, before explaining it."
_POOR = 0.95


def general_caveats(predictor: Predictor, data: Data, run: Run) -> tuple[Caveat, ...]:
    """Caveats that hold for every method; the model is asked once per Explainer."""
    if not run.checks:
        return ()
    about_model: tuple[Caveat, ...] = run.remember("general", lambda: tuple(_about_model(predictor, data, run)))
    return (*about_model, *_unread(run), *interrupted(run))


def interrupted(run: Run) -> Iterator[Caveat]:
    """The work was not done to its end."""
    if run.interrupted:
        yield PARTIAL


def _unread(run: Run) -> Iterator[Caveat]:
    if run.unread is not None:
        yield unread_trees(run.unread, run.cost().model_rows)


def unread_trees(reason: str, rows: int, difference: float = 1.0, tolerance: float = 0.0) -> Caveat:
    """The model has trees, but not ones that could be used: it was asked instead, and that is dear."""
    return Caveat(
        code="not-trees",
        message=f"The trees of this model could not be used: {reason}. The model was called for {rows:,} rows instead.",
        value=difference,
        threshold=tolerance,
        advice=(
            "The answer comes from the model itself and only takes longer; if it takes too long, give the Explainer"
            " fewer rows."
        ),
    )


def unsteady(instability: float) -> Iterator[Caveat]:
    """The model contradicts itself, by a share of the range of its predictions."""
    if instability > 0:
        yield Caveat(
            code="unsteady-model",
            message=(
                f"The model gives different predictions for the same rows when called twice (by up to"
                f" {percent(instability)} of their range)."
            ),
            value=instability,
            threshold=0.0,
            advice=STEADY,
        )


def _about_model(predictor: Predictor, data: Data, run: Run) -> Iterator[Caveat]:
    yield from unsteady(predictor.instability)
    if predictor.link != "logit" and not comparable(predictor, data):
        return
    some = data.take(data.spread(SAMPLE_ROWS))
    raw = sample_predictions(predictor, some, run)
    if predictor.link == "logit":
        yield from _clipping(predictor, raw)
    if comparable(predictor, data):
        yield from _poor(predictor, some, raw)


def sample_predictions(predictor: Predictor, some: Data, run: Run) -> FloatArray:
    """All outputs for the sample of rows that checks look at (`SAMPLE_ROWS` of them), asked for once per Explainer."""
    with run.checking():
        return run.remember("sample", lambda: run.predict(predictor, some, full=True))


def exchanged_predictions(
    predictor: Predictor,
    some: Data,
    players: Sequence[tuple[int, ...]],
    donors: IntArray,
    run: Run,
    *,
    full: bool = False,
) -> FloatArray:
    """Predictions ``(players, repeats, rows, outputs)`` with the features of each player from ``donors``
    ``(repeats, rows)``: all in one intervention, since calls of a model are dear.
    """
    features = tuple(sorted({j for player in players for j in player}))
    moved = np.array([[j in player for j in features] for player in players])
    index = np.where(moved[:, None, None, :], donors[None, :, :, None], np.arange(len(some))[None, None, :, None])
    pools = tuple(some.frame.native_column(j) for j in features)
    intervention = Intervention(features, pools, index.reshape(-1, len(some), len(features)).astype(np.intp))
    with run.checking():
        found = run.collect(predictor, some, intervention, full=full)
    return found.reshape(len(players), len(donors), *found.shape[1:])


def _clipping(predictor: Predictor, raw: FloatArray) -> Iterator[Caveat]:
    limit = np.log(1 - LOGIT_FLOOR) - np.log(LOGIT_FLOOR)
    share = float((np.abs(predictor.restrict(raw)) >= limit * (1 - 1e-9)).mean())
    if share > _CLIPPED:
        yield Caveat(
            code="logit-clipped",
            message=(
                f"{percent(share)} of the predicted probabilities are 0 or 1 and have no log-odds; they were clipped"
                f" to within {LOGIT_FLOOR:g} of 0 and 1."
            ),
            value=share,
            threshold=_CLIPPED,
            advice="Explain probabilities (link='identity'), or calibrate the model.",
        )


def _poor(predictor: Predictor, some: Data, raw: FloatArray) -> Iterator[Caveat]:
    y = outcome_for(predictor, some)
    loss = find_loss(None, predictor.task, predictor.raw_scale)
    own = loss(y, raw, some.weights)
    constant = loss(y, constant_prediction(predictor, y, some.weights), some.weights)
    if constant > 0 and own > _POOR * constant:
        (name, shown), (_, other) = loss_words(loss.name, own), loss_words(loss.name, constant)
        better = "hardly better" if own < constant else "no better"
        yield Caveat(
            code="poor-model",
            message=(
                f"The model is {better} than a constant on these data: its {name} is {shown}, that of the"
                f" best constant {other}."
            ),
            value=own / constant,
            threshold=_POOR,
            advice="Do not explain a model that does not predict; improve it or check that y belongs to X.",
        )
