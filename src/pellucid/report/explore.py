"""Any row and any feature, to be chosen in the page: contributions and what-if curves, worked out beforehand.

The page cannot ask the model, so it holds some rows with their contributions (SHAP) and, for each feature, the
prediction of each of these rows along a grid of the feature's values (ICE), beside the average effect. A slider moves
along such a curve: one feature changes, the others stay as they are in the row. How many rows and features there are is
bounded, by the size of the file and by what may be asked of the model, and the page says how many.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts.layout import positions
from pellucid.errors import PellucidError
from pellucid.explanations import Attribution, Importance
from pellucid.explanations.attribution_words import shown_value
from pellucid.report.cards import Plain
from pellucid.report.contributions import rivals
from pellucid.report.effects import frequent, staying_near, top_features
from pellucid.report.rows import Look, outcome_words, predicted
from pellucid.report.why import Why
from pellucid.report.work import Work, spread

if TYPE_CHECKING:
    from pellucid.data.schema import Feature
    from pellucid.explainer import Explainer

NUMBERS = 30_000  # of all curves together: some 200 kB
MODEL_ROWS = 100_000
_ROWS = (5, 60)
_FEATURES = 30
_OUTPUTS = 4
_GRID, _LEVELS = 20, 15
_AVERAGED = 200  # rows of an average curve
_STEPS = 5_000  # a number is rounded to such a part of its range
_LISTED = 10  # features whose contributions stand one by one


@dataclass(frozen=True, eq=False)
class _Choice:
    """What can be chosen: rows (by position) with their contributions and why they are here, features, outputs."""

    rows: IntArray
    found: list[tuple[Attribution, int]]  # a result, and the place of the row in it
    why: list[str]
    features: list[int]
    outputs: list[int]


def exploration(
    explainer: Explainer, importance: Importance, why: Why, work: Work, *, model_rows: int = MODEL_ROWS
) -> Plain | None:
    """What the page shows of a row and a feature that are chosen there; None where there are no contributions, or
    where a model that has to be asked would be asked for more than ``model_rows``.
    """
    choice = _choice(explainer, importance, why, work, model_rows)
    if choice is None:
        return None
    quiet = copy(explainer)
    quiet._checks = False
    usual = _mean_prediction(explainer, work)
    try:
        features = [_feature(quiet, choice, j, usual, work) for j in choice.features]
    except PellucidError:
        return None
    predictor = explainer.predictor
    return {
        "intro": _intro(explainer, choice),
        "outputs": [predictor.output_names[k] for k in choice.outputs],
        "scale": predictor.scale,
        "contributed": choice.found[0][0].scale,
        "rows": _rows(explainer, choice, predicted(explainer, choice.rows, work.run)),
        "features": features,
    }


def _choice(explainer: Explainer, importance: Importance, why: Why, work: Work, model_rows: int) -> _Choice | None:
    """As many rows and features as the file and the model allow; None where that is too few."""
    features = top_features(explainer, importance, len(explainer.data.schema.features), all_that_vary=True)[:_FEATURES]
    if why.overall is None or why.chosen is None or not features:
        return None
    outputs = list(range(len(explainer.predictor.output_names)))[:_OUTPUTS]
    most = min(NUMBERS // (len(features) * _GRID * len(outputs)), _ROWS[1])
    if not why.read(explainer, "tree", "linear"):
        most = min(most, work.affordable(model_rows) // (len(features) * _GRID) - _AVERAGED)
    if most < _ROWS[0]:
        return None
    sample, overall = why.overall
    first = list(why.chosen.reasons)
    room = np.linspace(0, len(sample) - 1, min(max(most - len(first), 0), len(sample))).astype(np.intp)
    others = [int(k) for k in np.unique(room) if int(sample[k]) not in why.chosen.reasons]
    return _Choice(
        np.array([*first, *sample[others]], dtype=np.intp),
        [*((why.chosen.found, k) for k in range(len(first))), *((overall, k) for k in others)],
        [*(", ".join(words) for words in why.chosen.reasons.values()), *[""] * len(others)],
        features,
        outputs,
    )


def _intro(explainer: Explainer, choice: _Choice) -> str:
    schema, n = explainer.data.schema, len(explainer.data)
    rows = "all rows" if len(choice.rows) == n else f"{len(choice.rows):,} of {n:,} rows"
    p = len(schema.features)
    columns = f"all {p:,}" if len(choice.features) == p else f"{len(choice.features):,} of {p:,}"
    outputs, known = len(choice.outputs), len(explainer.predictor.output_names)
    classes = "" if outputs == known else f", {outputs} of {known} outputs"
    return (
        f"Choose a row and a feature: the page holds {rows} and {columns}"
        f" {'feature' if p == 1 else 'features'}{classes},"
        " with predictions that were computed beforehand. What-if moves one feature along its curve (ICE)"
        " while the others"
        " stay as they are in the row; a combination that does not occur is answered by the model all the same."
    )


# -- rows --------------------------------------------------------------------------------------------


def _rows(explainer: Explainer, choice: _Choice, seen: Look) -> list[Plain]:
    data = explainer.data
    codes = {j: data.codes(j)[choice.rows] for j in choice.features}
    texts = {j: [_text(data.schema.features[j], code) for code in codes[j]] for j in choice.features}
    best = seen.explained[:, choice.outputs].argmax(axis=1) if rivals(explainer) else np.zeros(len(seen.rows), np.intp)
    steps = _decimals(seen.explained)
    rows = []
    for i, (found, k) in enumerate(choice.found):
        why = f": {choice.why[i]}" if choice.why[i] else ""
        rows.append(
            {
                "label": f"Row {found.row_labels.name(k)}{why}",
                "said": outcome_words(explainer, seen, i),
                "output": int(best[i]),
                "prediction": _short(seen.explained[i, choice.outputs], steps),
                "own": [texts[j][i] for j in choice.features],
                **_contributions(found, k, choice.outputs),
            }
        )
    return rows


def _contributions(found: Attribution, k: int, outputs: list[int]) -> Plain:
    """The largest contributions of a row with the values of these features, and the sum of all others."""
    values = found.stacked()[k][:, outputs]
    base = np.broadcast_to(found.stacked("base"), found.stacked("prediction").shape)[k][outputs]
    order = np.argsort(-np.abs(values).max(axis=1), kind="stable")[:_LISTED]
    steps = _decimals(found.stacked("prediction"))
    return {
        "base": _short(base, steps),
        "end": _short(found.stacked("prediction")[k][outputs], steps),
        "named": [
            [found.feature_names[j], shown_value(found.data[j][k]), *_short(values[j], steps)] for j in order.tolist()
        ],
        "others": [len(values) - len(order), *_short(values.sum(axis=0) - values[order].sum(axis=0), steps)],
    }


# -- features ----------------------------------------------------------------------------------------


def _feature(quiet: Explainer, choice: _Choice, j: int, usual: FloatArray, work: Work) -> Plain:
    """The average effect of a feature and the curves of the rows, at the same values."""
    feature = quiet.data.schema.features[j]
    many = feature.nominal and feature.distinct > _LEVELS
    at = frequent(quiet, j, _LEVELS) if many else None
    average = quiet.pdp(j, grid=_GRID, at=at, rows=spread(quiet, _AVERAGED).tolist())
    work.keep(average)
    curves = work.keep(quiet.ice(j, rows=choice.rows.tolist(), at=list(average.grids[0])))
    level, note = average.stacked("average"), "partial dependence (PDP)"
    related = None if many else quiet._off_data(j, work.run)
    if related is not None:
        local = work.keep(quiet.ale(j))
        level = np.array([np.atleast_1d(local.value(point)) for point in average.grids[0]]) + usual
        note = f"{staying_near(feature.name, *related)} They are shown around the average prediction."
    steps = _decimals(curves.values)
    places = [] if average.nominal[0] else positions(average.grids[0]).tolist()
    own = quiet.data.codes(j)[choice.rows]
    return {
        "name": feature.name,
        "kind": "level" if average.nominal[0] else "date" if feature.kind == "date" else "number",
        "labels": [shown_value(point) for point in average.grids[0]],
        "at": [float(f"{x:.6g}") if feature.kind != "date" else x for x in places],
        "own": _own(feature, own) if places else [],
        "average": [_short(level[:, k], steps) for k in choice.outputs],
        "note": note,
        "curves": [[_short(curve[:, k], steps) for k in choice.outputs] for curve in curves.stacked()],
    }


def _mean_prediction(explainer: Explainer, work: Work) -> FloatArray:
    """Around which effects that are differences are shown."""
    rows = spread(explainer, _AVERAGED)
    seen = predicted(explainer, rows, work.run)
    return np.asarray(np.average(seen.explained, axis=0, weights=explainer.data.weights[rows]))


def _own(feature: Feature, codes: FloatArray) -> list[float | None]:
    """The value of each row as a place on the axis; None where it is missing."""
    known = ~np.isnan(codes)
    places = np.full(len(codes), np.nan)
    if known.any():
        places[known] = positions(np.asarray(feature.decode(codes[known])))
    return [float(x) if np.isfinite(x) else None for x in places]


def _text(feature: Feature, code: float) -> str:
    return "missing" if np.isnan(code) else shown_value(feature.decode(np.array([code]))[0])


def _decimals(values: FloatArray) -> int:
    """Digits after the point that show a number to a five-thousandth of the range of all of them."""
    size = float(np.ptp(values)) or float(np.abs(values).max(initial=0.0)) or 1.0
    return int(np.ceil(np.log10(_STEPS / size)))


def _short(values: FloatArray, decimals: int) -> list[float]:
    return [float(f"{x:.{decimals}f}") if decimals > 0 else round(float(x), decimals) for x in values]
