"""Individual rows: typical, extreme and unusual ones, and those that were asked for, each with its contributions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import positions
from pellucid.errors import InputError
from pellucid.explanations import Attribution
from pellucid.models.outcome import outcome_as_said
from pellucid.report.cards import Plain, card, section
from pellucid.report.contributions import about, how_found, main_output, rivals, short
from pellucid.report.work import LOOKED, spread
from pellucid.runner import Run
from pellucid.words import number, percent, value_name

if TYPE_CHECKING:
    from pellucid.explainer import Explainer
from pellucid.data import Data
from pellucid.data.row_labels import is_label
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.attribution_words import amount, grouped, remark
from pellucid.report.cards import table
from pellucid.stats import weighted_median

TITLE = "Individual rows"
MOST_ASKED = 20  # rows that a caller may ask for: each has a chart
_BARS = 8  # features of a waterfall and of the table below it
_SMALL = 0.01  # of the largest contribution: what is smaller is left out of the table
_UNUSUAL = "most unusual contributions"
_LISTED = 40  # features of the table, those beyond `_BARS` folded away

Reasons = dict[int, list[str]]  # why each row is shown, by its position, in the order in which they are shown
_NEAR = 0.1  # share of rows with central predictions among which a typical one is looked for
_NEIGHBOUR = 5
_ROUNDING = 1e-9  # relative; differences below this are noise of the arithmetic
_HEAD = ("Feature", "Value in this row", "Usual value", "Contribution")


@dataclass(frozen=True, eq=False)
class Look:
    """Predictions of the rows that were looked at: ``full`` has all outputs, ``explained`` those to explain."""

    rows: IntArray
    full: FloatArray
    explained: FloatArray


def check_rows(explainer: Explainer, rows: Any) -> list[int]:
    """The positions of the rows a caller asked for, by position or label, each once; an error says what to give."""
    data = explainer.data
    given = list(rows) if isinstance(rows, Iterable) and not is_label(rows) else [] if rows is None else [rows]
    asked = [int(data.row_labels.places([row])[0]) if is_label(row) else row for row in given]
    chosen = list(dict.fromkeys(positions("rows", asked, len(data))))
    if len(chosen) > MOST_ASKED:
        raise InputError(
            f"rows has {len(chosen)} rows, but a report shows at most {MOST_ASKED} of your choice; shap(rows)"
            " explains any number."
        )
    return chosen


def look(explainer: Explainer, run: Run) -> Look:
    """Ask for the predictions among which extremes are looked for."""
    rows = spread(explainer, LOOKED)
    return predicted(explainer, rows, run)


def choose(
    explainer: Explainer, asked: Sequence[int], seen: Look, sample: IntArray, overall: Attribution | None
) -> Reasons:
    """Rows to show and why; ``overall`` holds the contributions in the ``sample`` of rows."""
    ends = extremes(_score(explainer, seen)) or ()
    found = [(row, "as requested") for row in asked]
    extreme = [(int(seen.rows[end]), what) for end, what in zip(ends, _names_of_ends(explainer), strict=False)]
    if overall is None:
        found += extreme
    else:
        middle = _middle(explainer, overall, explainer.data.weights[sample])
        odd = unusual(overall.values, other_than=middle)
        found += [(int(sample[middle]), "typical"), *extreme]
        found += [] if odd is None else [(int(sample[odd]), _UNUSUAL)]
    reasons: Reasons = {}
    for row, why in found:
        reasons.setdefault(row, []).append(why)
    return reasons


def row_section(explainer: Explainer, reasons: Reasons, seen: Look, found: Attribution, *, sample: int) -> Plain:
    """One card per row; ``seen`` and ``found`` hold the predictions and contributions of these rows, in this order."""
    cards = [row_card(explainer, seen, k, why, found) for k, why in enumerate(reasons.values())]
    intro = [*_how_chosen(explainer, reasons.values(), sample), *how_found(explainer, found)]
    return section("rows", TITLE, intro, cards=cards)


# -- one row -----------------------------------------------------------------------------------------


def row_card(
    explainer: Explainer, seen: Look, k: int, why: Sequence[str], found: Attribution, *, half: bool = False
) -> Plain:
    """The card of the row at place ``k`` of what was seen and found; half a page wide it has no table."""
    row = int(seen.rows[k])
    one = found.row(k).for_output(explained_name(explainer, seen, k))
    sizes = np.abs(one.values[0])
    order = [int(j) for j in np.argsort(-sizes, kind="stable")[:_LISTED] if sizes[j] > _SMALL * sizes.max()]
    shown = about(one, [one.feature_names[j] for j in order[:_BARS]])
    return card(
        f"row-{row}",
        f"Row {one.row_labels.name(0)}: {', '.join(why)}",
        shown,
        subtitle=outcome_words(explainer, seen, k),
        sentences=short(one),
        values=None if half else value_table(explainer.data, one, order, shown=_BARS),
        more=[] if half else one.findings(),
        half=half,
        kind="waterfall",
        max_display=_BARS,
    )


def outcome_words(explainer: Explainer, seen: Look, k: int) -> str:
    """What was predicted, and what was true where that is known."""
    predictor, y = explainer.predictor, explainer.data.y
    if predictor.classes is not None:
        best = int(np.argmax(seen.full[k]))
        sure = f" ({percent(float(seen.full[k, best]))})" if predictor.raw_scale == "probability" else ""
        said = f"Predicted class: {value_name(predictor.classes[best])}{sure}."
        true = "True class"
    else:
        shown = seen.explained[k, _explained_output(explainer, seen, k)]
        said, true = f"Prediction: {number(float(shown))}.", "Outcome"
    if y is None or y.ndim > 1:
        return said
    outcome = outcome_as_said(predictor, explainer.data.take(seen.rows[k : k + 1]))[0]
    as_number = predictor.classes is None and y.dtype.kind in "iuf"
    return f"{said} {true}: {number(float(outcome)) if as_number else value_name(outcome)}."


def explained_name(explainer: Explainer, seen: Look, k: int) -> str:
    """The name of the output that is explained."""
    return explainer.predictor.output_names[_explained_output(explainer, seen, k)]


def _explained_output(explainer: Explainer, seen: Look, k: int) -> int:
    """The output that is explained: the predicted class if it is one of them, of several numbers the first."""
    explained = explainer.predictor.explained
    if len(explained) == 1 or not rivals(explainer):
        return 0
    best = int(np.argmax(seen.full[k]))
    return explained.index(best) if best in explained else int(np.argmax(seen.explained[k]))


# -- choosing ----------------------------------------------------------------------------------------


def predicted(explainer: Explainer, rows: IntArray, run: Run) -> Look:
    """Ask for the predictions of some rows."""
    full = run.predict(explainer.predictor, explainer.data.take(rows), full=True)
    return Look(rows, full, explainer.predictor.restrict(full))


def _middle(explainer: Explainer, overall: Attribution, weights: FloatArray) -> int:
    """Place of the typical row: of several classes, among the rows of the class that is predicted most often."""
    name = main_output(explainer, overall)
    main, k = overall.for_output(name), overall.output_names.index(name)
    alike = np.ones(len(overall), dtype=np.bool_)
    if rivals(explainer):
        alike = overall.stacked("prediction").argmax(axis=1) == k
    places = np.flatnonzero(alike)
    return int(places[typical(main.values[places], main.prediction[places], weights[places])])


def _score(explainer: Explainer, seen: Look) -> FloatArray:
    """What is high or low: the only or first output, or how sure the model is of its class."""
    if not rivals(explainer):
        return seen.explained[:, 0]
    return np.asarray(seen.explained.max(axis=1))


def _names_of_ends(explainer: Explainer) -> tuple[str, str]:
    predictor, several = explainer.predictor, len(explainer.predictor.output_names) > 1
    if several and rivals(explainer):
        return "surest prediction", "least sure prediction"
    what = "probability" if predictor.scale == "probability" else "prediction"
    named = several or predictor.classes is not None
    of = f" of {predictor.output_names[0]}" if named else ""
    return f"highest {what}{of}", f"lowest {what}{of}"


def _how_chosen(explainer: Explainer, reasons: Iterable[Sequence[str]], sample: int) -> list[str]:
    """What the names of the rows mean."""
    given = [why for some in reasons for why in some]
    n = int((explainer.data.weights > 0).sum())
    several = rivals(explainer) and len(explainer.predictor.output_names) > 1
    of_class = ", and of them those of the class predicted most often" if several else ""
    said = ["Rows are numbered from 0, in the order of the data."]
    if "typical" in given:
        said.append(
            f"The typical row was chosen from {sample:,} rows{of_class}: among the tenth with the most central"
            " predictions it has the most central contributions."
        )
    if _UNUSUAL in given:
        said.append(
            "The most unusual row is the one whose contributions are farthest from those of its fifth nearest row."
        )
    if n > LOOKED:
        said.append(f"Extremes were sought among {LOOKED:,} of {n:,} rows, evenly spaced.")
    return [" ".join([*said, "The usual value is the median, for categories the most frequent one."])]


# -- Which rows ------------------------------------------------------------------------------------
#
# Which rows are worth showing one by one.
#
# Definitions. The distance of two rows is the sum of the absolute differences of their numbers.
# - typical: among the tenth of the rows with the most central predictions (least distance to those of all rows, which
# is least at the median), the one with the most central contributions: a medoid; - extreme: the highest and the lowest
# prediction; - unusual: of the others than the typical one, the row whose contributions are farthest from those of its
# fifth nearest row, so that hardly any other row is predicted for the same reasons.
#
# When it misleads: typical and unusual are so among the rows looked at, and no row stands for all of them.


def typical(values: FloatArray, prediction: FloatArray, weights: FloatArray) -> int:
    """Place of the typical row, given contributions and predictions with rows first."""
    away = _to_all(_flat(prediction), np.arange(len(values)), weights)
    near = np.argsort(away, kind="stable")[: int(np.ceil(_NEAR * len(values)))]
    return int(near[int(np.argmin(_to_all(_flat(values), near, weights)))])


def unusual(values: FloatArray, other_than: int) -> int | None:
    """Place of the row with the most unusual contributions; None if no row differs from the others."""
    flat = _flat(values)
    if len(flat) < 3:
        return None
    place = min(_NEIGHBOUR, len(flat) - 1)
    lonely = np.array([np.partition(np.abs(flat - row).sum(axis=1), place)[place] for row in flat])
    lonely[other_than] = 0.0
    if lonely.max() <= _ROUNDING * np.abs(flat).sum(axis=1).max():
        return None
    return int(np.argmax(lonely))


def extremes(score: FloatArray) -> tuple[int, int] | None:
    """Places of the highest and the lowest; None if all are the same."""
    if np.ptp(score) <= _ROUNDING * np.abs(score).max():
        return None
    return int(np.argmax(score)), int(np.argmin(score))


def _flat(numbers: FloatArray) -> FloatArray:
    return numbers.reshape(len(numbers), -1)


def _to_all(flat: FloatArray, rows: IntArray, weights: FloatArray) -> FloatArray:
    """The weighted sum of the distances from each of these rows to all rows."""
    return np.array([np.abs(flat - flat[i]).sum(axis=1) @ weights for i in rows])


# -- Their values ----------------------------------------------------------------------------------
#
# The values of one row beside the usual ones, with what each contributed.


def value_table(data: Data, one: Attribution, order: Sequence[int], *, shown: int) -> Plain | None:
    """A line for each feature of ``order`` (positions in ``one``, a single row); those beyond ``shown`` are folded
    away.
    """
    low, high = one.interval()
    players = data.schema.players()
    rows = []
    for j in order:
        name = one.feature_names[j]
        value = f"{shown_value(one.data[j][0])}{remark(one, j)}"
        usual = "" if grouped(one, j) else usual_value(data, players[name][0])
        half = float(high[0, j] - low[0, j]) / 2
        rows.append([name, value, usual, amount(float(one.values[0, j]), half, one.scale)])
    return table(_HEAD, rows, shown=shown, what="features") if rows else None


def usual_value(data: Data, j: int) -> str:
    """The median of what has an order, the most frequent of what has none; by weight, among the values that are
    known.
    """
    feature, codes = data.schema.features[j], data.codes(j)
    known = ~np.isnan(codes) & (data.weights > 0)
    if not known.any():
        return ""
    codes, weights = codes[known], data.weights[known]
    if feature.kind in ("categorical", "boolean"):
        levels, place = np.unique(codes, return_inverse=True)
        code = levels[int(np.argmax(np.bincount(place, weights)))]
    else:
        code = weighted_median(codes, weights)
        if feature.kind != "numeric":  # between two values there need not be one
            code = codes[codes <= code].max()
    return shown_value(feature.decode(np.array([code]))[0])
