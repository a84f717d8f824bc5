"""SP-LIME: a few rows that show, between them, what the model uses.

Reference. Ribeiro, Singh and Guestrin 2016, section 4.

Definition. W (rows, features) are absolute effects in the explanations of many rows. A feature is globally important as
far as it explains many rows, I_j = sqrt(sum_i |W_ij|), and a set V of rows shows the features that any of its rows has,

    c(V) = sum_j I_j [some i in V has W_ij > 0]

The pick is the set of B rows with the greatest c(V).

Estimator. Greedy: add the row that shows most that is not yet shown. c is submodular, so this reaches at least 1 - 1/e
= 63% of the best, which would be NP-hard to find. When all is shown, showing starts anew: further rows are again those
that show most.

When it misleads.
1. Explanations that use every feature (Shapley values) all show everything. A feature then counts as shown where it has
   at least ``least`` of the row's absolute effects, a tenth unless told.
2. What is common is shown, not what is odd: a rule for few rows has a small I_j.
3. Weak local models show what they chose, right or wrong: see the caveats of the single explanations.

Cost. That of LIME for the rows looked at; samples are shared. The greedy choice costs no model rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import bounded, whole
from pellucid.data import Data
from pellucid.data.row_labels import RowLabels
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.local_models import uncovered
from pellucid.errors import InputError
from pellucid.explanations import Attribution, Header, Pick
from pellucid.explanations.attribution_views import comparable_names
from pellucid.methods.local.lime import lime
from pellucid.models import Predictor
from pellucid.runner import Run

_SAMPLE = 100
_EACH = 5000  # samples; a feature that comes and goes in one of many rows decides nothing here
_DENSE = 0.1


def lime_pick(
    predictor: Predictor, data: Data, budget: int, *, rows: Any = None, sample: int = _SAMPLE, run: Run, **options: Any
) -> Pick:
    """At most ``budget`` rows that show what the model uses, of ``rows`` or of a random ``sample`` of X."""
    budget, sample = whole("budget", budget), whole("sample", sample)
    places = _places(data, sample, run) if rows is None else None
    looked_at = data.take(places) if places is not None else data.rows(rows)
    options = {"samples": _EACH, **options}
    found = lime(predictor, data, looked_at, run=run, **options)
    picked = pick_rows(found, budget)
    caveats = (*general_caveats(predictor, data, run), *(uncovered(picked) if run.checks else ()))
    return run.finish(
        picked,
        caveats,
        positions=picked.rows if places is None else places[picked.rows],
        settings={**found.settings, "method": "lime_pick", "budget": budget, "sample": len(found)},
    )


def pick_rows(attribution: Attribution | Sequence[Attribution], budget: int, *, least: float | None = None) -> Pick:
    """Rows of any explained ones (LIME, Shapley values) that show, between them, most of what matters.

    ``attribution`` may be a list, such as the explanations of some texts: a feature is then a word, whatever its case
    and the marks around it. ``least`` is the share of a row's absolute contributions that a feature needs to be shown
    by the row: by default none where explanations are sparse, a tenth where every feature contributes everywhere.
    """
    budget = whole("budget", budget)
    names, W, dense, every = _effects(attribution)
    share = (_DENSE if dense else 0.0) if least is None else bounded("least", least, least=0, below=1)
    shows = (W > 0) & (share * W.sum(axis=1, keepdims=True) <= W)
    importance = np.sqrt(W.sum(axis=0))
    rows, gains, covered = greedy(shows, importance, budget)
    one = every[0]
    return Pick(
        values=importance,
        se=np.full(importance.shape, np.nan),
        header=Header(
            feature_names=names,
            output_names=one.output_names,
            scale=one.scale,
            cost=one.cost,
            library=one.library,
            settings={**one.settings, "method": "pick_rows", "budget": budget, "least": float(share)},
            row_labels=RowLabels(rows) if len(every) > 1 else one.row_labels.take(rows),
        ),
        rows=rows,
        positions=rows,
        gains=gains,
        covered=covered,
        shows=shows[rows],
        sizes=W[rows],
        explanations=tuple(_row(every, int(i)) for i in rows),
        looked_at=len(W),
    )


Effects = tuple[tuple[str, ...], FloatArray, bool, list[Attribution]]


def _effects(given: Attribution | Sequence[Attribution]) -> Effects:
    """Names of all features, absolute effects W (rows, features), whether all that a row has contributes, and the
    explanations.
    """
    if isinstance(given, Attribution):
        W = np.abs(given.stacked()).sum(axis=2)
        return given.feature_names, W, bool(W.all()), [given]
    every = list(given)
    if not every or not all(isinstance(one, Attribution) for one in every):
        raise InputError(
            "there is nothing to pick from; give an explanation of several rows, or a list of explanations."
        )
    if len({(one.output_names, one.scale) for one in every}) > 1:
        raise InputError(
            "the explanations are of different outputs or scales; explain all with the same model and output=."
        )
    places: dict[str, int] = {}
    own = [np.abs(one.stacked()).sum(axis=2) for one in every]
    found = [[places.setdefault(name, len(places)) for name in comparable_names(one, every)] for one in every]
    W = np.zeros((sum(len(part) for part in own), len(places)))
    start = 0
    for part, columns in zip(own, found, strict=True):
        for j, column in enumerate(columns):  # a word may be there several times
            W[start : start + len(part), column] += part[:, j]
        start += len(part)
    return tuple(places), W, all(bool(part.all()) for part in own), every


def _row(every: list[Attribution], i: int) -> Attribution:
    """The explanation of a row of those that are stacked."""
    for one in every:
        if i < len(one):
            return one.row(i) if len(one) > 1 else one
        i -= len(one)
    raise IndexError(i)


def greedy(shows: BoolArray, importance: FloatArray, budget: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Rows in the order in which they are picked, what each adds, and the share of all importance shown so far."""
    total = float(importance.sum())
    left, ever = np.ones(len(importance), dtype=np.bool_), np.zeros(len(importance), dtype=np.bool_)
    open_ = np.ones(len(shows), dtype=np.bool_)
    rows, gains, covered = [], [], []
    for _ in range(min(budget, len(shows))):
        gain = np.where(open_, (shows & left) @ importance, -1.0)
        if gain.max() <= 0:  # all that can be shown is shown: start anew
            left[:] = True
            gain = np.where(open_, shows @ importance, -1.0)
        # Sums in another order differ by rounding: of equal rows the first.
        best = int(np.flatnonzero(gain >= gain.max() * (1 - 1e-9))[0])
        gains.append(float((shows[best] & ~ever) @ importance))
        left, ever = left & ~shows[best], ever | shows[best]
        open_[best] = False
        rows.append(best)
        covered.append(float(ever @ importance) / total if total > 0 else 1.0)
    return np.array(rows, dtype=np.intp), np.array(gains), np.array(covered)


def _places(data: Data, sample: int, run: Run) -> IntArray:
    """Rows to look at: all that count, or a random number of them."""
    counting = np.flatnonzero(data.weights > 0)
    if len(counting) <= sample:
        return counting
    return np.sort(run.generator("lime-pick.rows").choice(counting, sample, replace=False))
