"""Audit: can explanations of this model be trusted on these data?

References. Slack, Hilgard, Jia, Singh and Lakkaraju 2020, "Fooling LIME and SHAP"; Hooker, Mentch and Zhou 2021,
"Unrestricted permutation forces extrapolation"; Molnar et al. 2022, "General pitfalls of model-agnostic interpretation
methods".

Definition. One line for each question, with its number, from where on that is bad, and a severity between 0 and 1:

- *reproducibility*: by what share of their range predictions change when the model is called again with the same rows;
- *score*: the model's loss over that of the best constant (0.95: hardly better);
- *overfitting*: the loss on held-out rows over that on X (1.5), or without held-out rows the score itself where it is
  nearly perfect (0.02), as on rows that the model was fitted to, or, of trees, the chance that unseen rows fill the
  leaves as closely as training rows do (1e-4);
- *correlated features*: the strongest association of two features (0.7);
- *one feature changed* (partial dependence, ICE, permutation importance), *two rows mixed* (Shapley values, anchors),
  *every feature drawn alone* (LIME): what share of such rows is farther from the data than 95% of the real rows are
  from each other; 5% if features are independent (0.12, or 0.15 where many features change);
- *hidden reliance*: the share of the reliance on some feature between real rows that mixtures of rows do not show,
  where mixtures do not tell what real rows get, either (`diagnostics/hidden_reliance.py`, with its forests).

Lines that need y are left out without y, those about perturbations for fewer than 20 rows or two features.

When it misleads. A model without objections here can still be explained wrongly by a method with a weakness of its
own: read the caveats of each result too. Distances see no rare combinations of many categories.

Cost. At most 2,000 model rows and about half a second.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.fitted_rows import SURE, chance_of_unseen, words
from pellucid.diagnostics.general import SAMPLE_ROWS, STEADY, sample_predictions
from pellucid.diagnostics.hidden_reliance import HIDDEN, Real, can_tell, real_rows, reliances
from pellucid.diagnostics.off_data import associations, off_data
from pellucid.explanations import Audit, AuditLine, Caveat, Header
from pellucid.explanations.caveat import severity
from pellucid.losses import find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import comparable, constant_prediction, outcome_for
from pellucid.runner import Run
from pellucid.words import listed, loss_words, number, percent

_POOR, _OVERFIT, _MEMORISED = 0.95, 1.5, 0.02
_CORRELATED = 0.7
_ONE_CHANGED, _MANY_CHANGED = 0.12, 0.15
_USUAL = 0.95
_FEWEST, _WIDEST = 20, 100
_HELD_OUT = "Give held-out rows as X, or as holdout= to compare: on training rows overfitted features look important."


def audit(predictor: Predictor, data: Data, *, holdout: Data | None = None, run: Run) -> Audit:
    """Every question that can be asked of this model and these data."""
    lines = (
        _reproducibility(predictor),
        *_score(predictor, data, holdout, run),
        *_correlated(data, run),
        *_perturbations(data, run),
        *_hidden(predictor, data, run),
    )
    values = np.array([line.value for line in lines])
    return Audit(
        lines=lines,
        values=values,
        se=np.full(values.shape, np.nan),
        header=Header(
            feature_names=data.schema.names,
            output_names=predictor.output_names,
            scale="audit",
            caveats=_caveats(lines) if run.checks else (),
            cost=run.cost(),
            settings={"method": "audit", "holdout": holdout is not None, "random_state": run.seed},
            library=data.caller,
        ),
    )


def _caveats(lines: tuple[AuditLine, ...]) -> tuple[Caveat, ...]:
    """Of the lines that are bad."""
    return tuple(
        Caveat(one.code, one.finding, one.value, one.threshold, one.advice, one.feature) for one in lines if one.bad
    )


# -- the model ---------------------------------------------------------------------------------------


def _reproducibility(predictor: Predictor) -> AuditLine:
    moved = float(predictor.instability)
    same = "The predictions for a row are the same in another call, in another order and in another batch."
    return AuditLine(
        topic="reproducibility",
        finding=(
            f"Predictions for the same rows differ between calls by up to {percent(moved)} of their range."
            if moved
            else same
        ),
        value=moved,
        threshold=0.0,
        severity=severity("unsteady-model", moved, 0.0),
        advice=STEADY,
        code="unsteady-model",
    )


def _score(predictor: Predictor, data: Data, holdout: Data | None, run: Run) -> Iterator[AuditLine]:
    """The loss against that of a constant, and against that on held-out rows."""
    if not comparable(predictor, data):
        return
    some = data.take(data.spread(SAMPLE_ROWS))
    loss, y = find_loss(None, predictor.task, predictor.raw_scale), outcome_for(predictor, some)
    own = loss(y, sample_predictions(predictor, some, run), some.weights)
    constant = loss(y, constant_prediction(predictor, y, some.weights), some.weights)
    if not constant > 0:
        return
    ratio = own / constant
    (name, shown), (_, best) = loss_words(loss.name, own), loss_words(loss.name, constant)
    yield AuditLine(
        topic="score",
        finding=(f"The {name} of the model is {shown}, {percent(ratio)} of that of the best constant ({best})."),
        value=ratio,
        threshold=_POOR,
        severity=severity("poor-model", ratio, _POOR),
        advice="Do not explain a model that does not predict; improve it or check that y belongs to X.",
        code="poor-model",
    )
    if holdout is not None:
        with run.checking():
            raw = run.predict(predictor, holdout, full=True)
        outside = loss(outcome_for(predictor, holdout), raw, holdout.weights)
        worse = outside / own if own > 0 else (np.inf if outside > 0 else 1.0)
        yield AuditLine(
            topic="overfitting",
            finding=f"The {name} is {shown} on X and {loss_words(loss.name, outside)[1]} on the held-out rows.",
            value=worse,
            threshold=_OVERFIT,
            severity=severity("overfitted", worse, _OVERFIT),
            advice="Explain it on held-out rows: on those it was fitted to, overfitted features look important.",
            code="overfitted",
        )
        return
    chance = chance_of_unseen(predictor, data, run) if len(data) >= _FEWEST else None
    if chance is not None and chance < SURE:
        yield AuditLine(
            topic="overfitting",
            finding=words(),
            value=chance,
            threshold=SURE,
            severity=severity("training-data", chance, SURE),
            advice=_HELD_OUT,
            code="training-data",
        )
        return
    perfect = len(data) >= _FEWEST and ratio < _MEMORISED
    yield AuditLine(
        topic="overfitting",
        finding=(
            f"The model is almost perfect on X (its {name} is {percent(ratio)} of that of a constant), as on"
            " training rows."
            if perfect
            else "The errors on X do not look like training errors; holdout= compares them with those on other rows."
        ),
        value=ratio,
        threshold=_MEMORISED,
        severity=severity("training-data", ratio, _MEMORISED) if perfect else 0.0,
        advice=_HELD_OUT,
        code="training-data",
    )


# -- the data and what methods make of them ----------------------------------------------------------


def _correlated(data: Data, run: Run) -> Iterator[AuditLine]:
    strengths = associations(data, run) if len(data) >= _FEWEST and len(data.schema.features) > 1 else None
    if strengths is None:
        return
    a, b = np.triu_indices(len(strengths), k=1)
    order = np.argsort(-strengths[a, b], kind="stable")[:3]
    names = data.schema.names
    said = listed([f"{names[a[k]]} and {names[b[k]]} ({number(float(strengths[a[k], b[k]]))})" for k in order])
    strongest = float(strengths[a[order[0]], b[order[0]]])
    yield AuditLine(
        topic="correlated features",
        finding=(
            f"The most strongly associated features are {said}."
            if strongest > 0
            else "No two features are associated beyond chance."
        ),
        value=strongest,
        threshold=_CORRELATED,
        severity=severity("dependent-features", strongest, _CORRELATED),
        advice="Use ale instead of pdp for them, or make them one group (groups=, see clusters()).",
        code="dependent-features",
        feature=names[a[order[0]]],
    )


def _perturbations(data: Data, run: Run) -> Iterator[AuditLine]:
    """What share of the rows that methods make up is unlike any row of the data."""
    width = len(data.schema.features)
    if len(data) < _FEWEST or not 1 < width <= _WIDEST:
        return
    shares = {}
    for j, name in enumerate(data.schema.names):
        found = run.remember(f"off-data {j}", lambda j=j: off_data(data, j, run))  # type: ignore[misc]
        if found is not None:
            shares[name] = found.share
    if shares:
        worst = max(shares, key=lambda name: shares[name])
        yield AuditLine(
            topic="one feature changed",
            finding=(
                f"With {worst} changed, as partial dependence and permutation importance do, {percent(shares[worst])}"
                " of the synthetic rows resemble no real row; on average over the features"
                f" {percent(float(np.mean(list(shares.values()))))}."
            ),
            value=shares[worst],
            threshold=_ONE_CHANGED,
            severity=severity("off-data", shares[worst], _ONE_CHANGED),
            advice=f"Use ale({worst!r}) and importance(method='conditional').",
            code="off-data",
            feature=worst,
        )
    real = real_rows(data, data.schema.players(), run)
    generator = run.generator("audit.mixtures")
    x, z = generator.integers(0, len(real.ranks), (2, SAMPLE_ROWS))
    mixed = np.where(real.coins(SAMPLE_ROWS, generator), real.ranks[x], real.ranks[z])
    share = _unlike(real, mixed, x, z)
    yield AuditLine(
        topic="two rows mixed",
        finding=f"{percent(share)} of the mixtures of two rows, as used for Shapley values, resemble no real row.",
        value=share,
        threshold=_MANY_CHANGED,
        severity=severity("off-data", share, _MANY_CHANGED),
        advice="Use shap(game='conditional'), or make correlated features one group (groups=).",
        code="off-data",
    )
    alone = np.stack([generator.permutation(column) for column in real.ranks.T], axis=1)
    share = _unlike(real, alone)
    yield AuditLine(
        topic="every feature drawn alone",
        finding=f"{percent(share)} of the samples with features drawn independently, as in LIME, resemble no real row.",
        value=share,
        threshold=_MANY_CHANGED,
        severity=severity("off-data", share, _MANY_CHANGED),
        advice="Use lime(sampler='correlated').",
        code="off-data",
    )


def _unlike(real: Real, points: np.ndarray, *parents: np.ndarray) -> float:
    """Share of points farther from the real rows than 95% of these are from each other."""
    own = real.distance(real.ranks, (np.arange(len(real.ranks)),))
    return float((real.distance(points, parents) > np.quantile(own, _USUAL) + 1e-9).mean())


def _hidden(predictor: Predictor, data: Data, run: Run) -> Iterator[AuditLine]:
    players = data.schema.players()
    if not can_tell(data, players):
        return
    found = reliances(predictor, real_rows(data, players, run), run, thorough=True)
    fooled = [one for one in found if one.fooled()]
    worst = max(fooled or found, key=lambda one: one.hidden, default=None)
    hidden = worst.hidden if worst is not None and fooled else 0.0
    finding = "The model relies on the same features in real rows and in mixtures of rows."
    if worst is not None and fooled:
        finding = (
            f"Between real rows {listed(worst.players)} accounts for {percent(min(worst.on_data, 1.0))} of the"
            f" variation of the predictions, in mixtures of rows for {percent(min(worst.in_mixtures, 1.0))} at most:"
            " the model seems to recognise synthetic rows and to treat them differently."
        )
    yield AuditLine(
        topic="hidden reliance",
        finding=finding,
        value=hidden,
        threshold=HIDDEN,
        severity=severity("fooled", hidden, HIDDEN),
        advice="Distrust marginal Shapley values, LIME and partial dependence; use shap(game='conditional') and ale.",
        code="fooled",
        feature=worst.players[0] if worst is not None and fooled else None,
    )
