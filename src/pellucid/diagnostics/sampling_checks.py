"""What sampled, conditional and long lists of contributions cannot be trusted for.

- *imprecise*: contributions that were sampled have intervals; do these decide what a reader sees?
- *conditional-game*: given what goes together, a feature is credited for others; how many rows is that known from?
- *many-small*: Shapley values share a prediction among all features; how much of it is in pieces too small to read?
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.explanations import Attribution
from pellucid.explanations.caveat import Caveat
from pellucid.words import counted, listed, number, percent

TOP = 5  # contributions of a row that are read one by one
_LEVEL = 1.96  # half the width of a 95% interval, in standard errors
_WIDE = 0.5  # of the contribution: its size is known to a factor of 1.5 / 0.5 = 3
_NOTICED = 0.05  # of the row's contributions; nobody reads less
_ROWS = 0.9  # of the rows are at least as precise as the one that is judged

_FEW = 20.0  # rows behind a coalition: its worth is then known to 1 / sqrt(20) = 22% of the spread between them

_PIECE = 0.05  # of all contributions: a small piece
_PIECES = 10
_SCATTERED = 0.3


# -- imprecise ---------------------------------------------------------------------------------------


def imprecise(result: Attribution) -> Iterator[Caveat]:
    """The intervals of sampled contributions are too wide for what a reader sees.

    Of each row (and output) the five largest contributions are looked at, those below 5% of the row's total left
    out. The worst of them, by the half width of its 95% interval as a share of the contribution, speaks for the
    row; nine rows of ten are at least as precise as the one reported. Above 1 not even the sign is known.
    Where an error is unknown (NaN) there is nothing to judge.
    """
    values, errors = (_by_answer(result.stacked(name)) for name in ("values", "se"))
    if not (errors > 0).any():
        return
    half = _LEVEL * errors
    sizes = np.abs(values)
    noticed = (_places(sizes) < TOP) & (sizes > _NOTICED * np.nansum(sizes, axis=1, keepdims=True))
    ratio = np.where(noticed & ~np.isnan(half), half, 0.0) / np.where(noticed, sizes, 1.0)
    answer = _nine_of_ten(ratio.max(axis=1))
    j = int(np.argmax(ratio[answer]))
    worst = float(ratio[answer, j])
    if worst <= _WIDE:
        return
    name, row = result.feature_names[j], answer // len(result.output_names)
    order = np.argsort(-sizes[answer], kind="stable")
    seen = [int(k) for k in order if noticed[answer, k]]
    yield Caveat(
        code="imprecise",
        message=(
            f"The contribution of {name} in row {row}, {number(float(values[answer, j]), sign=True)}, was sampled and"
            f" is known to \u00b1{number(float(half[answer, j]))} only, {percent(worst)} of it (95% interval)."
            + _undecided(result.feature_names, values[answer], half[answer], seen)
        ),
        value=worst,
        threshold=_WIDE,
        advice=_more(worst / _WIDE, result.cost.model_rows),
        feature=name,
    )


def _by_answer(part: FloatArray) -> FloatArray:
    """(rows, features, outputs) as one line per row and output."""
    return np.asarray(np.moveaxis(part, 2, 1).reshape(-1, part.shape[1]))


def _places(sizes: FloatArray) -> IntArray:
    """The place of each contribution in its line, from 0 for the largest; unknown ones last."""
    return np.argsort(np.argsort(-sizes, axis=1, kind="stable"), axis=1, kind="stable")


def _nine_of_ten(worst: FloatArray) -> int:
    """The line that nine of ten are at least as precise as."""
    return int(np.argsort(worst, kind="stable")[int(np.ceil(_ROWS * len(worst))) - 1])


def _undecided(names: tuple[str, ...], values: FloatArray, half: FloatArray, seen: list[int]) -> str:
    """Which signs, and which neighbours in the order of size, the intervals leave open."""
    signs = [names[j] for j in seen if half[j] >= abs(values[j])]
    pairs = [
        f"{names[j]} and {names[k]}"
        for j, k in pairwise(seen)
        if abs(values[j]) - abs(values[k]) < np.hypot(half[j], half[k])
    ]
    said = [f"the sign of {listed(signs)}"] if signs else []
    said += [f"the order of {listed(pairs, 3)}"] if pairs else []
    return f" The intervals do not decide {' nor '.join(said)}." if said else ""


def _more(times_too_wide: float, rows: int) -> str:
    """How much more work makes the intervals narrow enough: errors shrink with the root of the number."""
    factor = times_too_wide**2
    amount = f"{number(factor)} times as many model rows"
    amount += f" (budget={_rounded_up(factor * rows)})" if rows and np.isfinite(factor) else ""
    return (
        f"Give a larger budget= or a tolerance=: half the width takes four times the model rows, and {amount} would"
        f" bring this one to {percent(_WIDE)}."
    )


def _rounded_up(amount: float) -> int:
    """Two digits are enough of a number to type."""
    unit = 10 ** max(int(np.floor(np.log10(amount))) - 1, 0)
    return int(np.ceil(amount / unit)) * unit


# -- conditional-game --------------------------------------------------------------------------------


def conditional_game(result: Attribution, effective: float | None) -> Iterator[Caveat]:
    """The conditional game describes the data as much as the model; ``effective`` rows stand behind its thinnest
    coalition.

    Its number is 1 / sqrt(effective), the error of that coalition's worth in standard deviations of the
    predictions it averages. It is told whenever this game was played, and becomes a warning of its own below 20 rows.
    """
    if result.game != "conditional":
        return
    error = 1.0 if effective is None or effective <= 0 else float(1.0 / np.sqrt(effective))
    few = effective is not None and effective < _FEW
    thin = ""
    if effective is not None:
        thin = f" The thinnest coalition rests on about {number(effective)} rows" + (
            f", so its worth is known to {percent(error)} of the spread between them only." if few else "."
        )
    yield Caveat(
        code="conditional-game",
        message=(
            "In the conditional game a feature that the model ignores is credited for those it goes together with, and"
            " two that the model treats alike may differ: the axioms of dummy and symmetry hold for model and data"
            f" together, not for the model alone.{thin}"
        ),
        value=error,
        threshold=1.0 / np.sqrt(_FEW) if few else 0.0,
        advice=(
            "Give more reference rows, or groups= of features that go together so that fewer are known at a time;"
            " game='marginal' shows what the model itself does."
            if few
            else "Use game='marginal' for what the model itself does with each feature."
        ),
    )


# -- many-small --------------------------------------------------------------------------------------


def dense_answer(result: Attribution) -> Iterator[Caveat]:
    """Much of the prediction is shared out in pieces too small to read, because Shapley values use every feature.

    A feature is a small piece when less than 5% of all absolute contributions are its own. More than ten of them,
    with more than 30% between them, fire; 21 equal features are the simplest case.
    """
    sizes = np.abs(result.stacked())
    overall = np.nansum(sizes, axis=(0, 2))
    total = float(overall.sum())
    if not total > 0:
        return
    shares = overall / total
    small = shares[(shares > 0) & (shares < _PIECE)]
    scattered = float(small.sum())
    if len(small) <= _PIECES or scattered <= _SCATTERED:
        return
    lost = _lost(sizes, np.argsort(-shares, kind="stable")[:TOP])
    yield Caveat(
        code="many-small",
        message=(
            f"{len(small)} features share {percent(scattered)} of all contributions in pieces below {percent(_PIECE)}"
            " each: a Shapley value goes to every feature, not to a few reasons."
        ),
        value=scattered,
        threshold=_SCATTERED,
        advice=(
            f"Use .sparse({TOP}) to read the largest ones; it sums {percent(lost)} of a row's contributions into one"
            " entry, which is the fidelity lost. A larger k loses less, groups= of features none."
        ),
    )


def _lost(sizes: FloatArray, kept: IntArray) -> float:
    """The mean share of a row's absolute contributions outside the kept features."""
    whole = sizes.sum(axis=1)
    outside = whole - sizes[:, kept].sum(axis=1)
    return float(np.nanmean(outside / np.where(whole > 0, whole, 1.0)))


# -- not-shapley -------------------------------------------------------------------------------------


def sparse_answer(result: Attribution) -> Iterator[Caveat]:
    """Contributions to a few features only are no Shapley values; the number is what these features cannot say."""
    if "explained" not in result.settings:
        return
    lost = max(1.0 - float(result.settings["explained"]), 0.0)
    few = result.settings["sparse"]
    yield Caveat(
        code="not-shapley",
        message=(
            f"These are no Shapley values: at most {counted(few, 'feature')} got a share, and what the"
            f" others do was given to them. {percent(lost)} of what coalitions of features differ in is not said by"
            " these."
        ),
        value=lost,
        threshold=0.0,
        advice="Leave sparse= out for the shares of all features; .sparse(k) of that result sums the small ones.",
    )


# -- tolerance-missed --------------------------------------------------------------------------------


def missed_tolerance(result: Attribution) -> Iterator[Caveat]:
    """Sampling ended before all intervals were as narrow as asked for."""
    wanted = result.settings.get("tolerance")
    if wanted is None:
        return
    widest = 1.96 * float(result.se.max(initial=0.0))
    if widest > float(wanted):
        yield Caveat(
            code="tolerance-missed",
            message=(
                f"The tolerance of {number(float(wanted))} was not reached: the widest 95% interval is ±"
                f" {number(widest)}."
            ),
            value=widest,
            threshold=float(wanted),
            advice="Give a larger budget=, explain fewer rows, or accept a larger tolerance=.",
        )
