"""The local model of one row: width, columns, coefficients, and how well and how far it holds.

The *radius* is the largest distance within which at least nine in ten samples are predicted to within a tenth of the
spread of the predictions.

Moments of all pairs of columns grow with the square of their number. So of more than `SCREENED` columns, of which few
are to be chosen, only as many take part as have the largest weighted correlation with an answer at any of the widths
(sure independence screening, Fan and Lv 2008): time and memory then grow with the number of columns. Samples are drawn
independently of each other, mostly column by column, so that a column which matters shows by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.distance import kernels
from pellucid.methods.local.surrogate import fitting
from pellucid.methods.local.surrogate.neighbourhood import BLOCKS
from pellucid.methods.local.surrogate.options import Options
from pellucid.methods.local.surrogate.stability import agreement, common, selection
from pellucid.methods.local.surrogate.width import WidthFits, candidates, default_width, fit_widths, near_weights
from pellucid.stats import effective_sizes

SCREENED = 200  # columns, or ten for each that is to be chosen
_TOGETHER = 256  # columns whose squares are held at once
_AS_GOOD = 0.01  # of widths whose score is this close to the best the narrowest is taken, which is most about the row
_NEAREST = 25
_WITHIN = 0.1  # of the range of the middle nine tenths of the predictions
_SHARE, _FEWEST = 0.9, 20
_TINY = 1e-200


@dataclass(frozen=True, eq=False)
class Task:
    """What is known for a row: columns (samples, p), distances (samples,), answers (samples, m), its prediction
    (m,).
    """

    columns: FloatArray
    distance: FloatArray
    answers: FloatArray
    prediction: FloatArray
    among: int = 0

    @property
    def width(self) -> int:
        """Columns that the distances are of."""
        return self.among or self.columns.shape[1]


@dataclass(frozen=True, eq=False)
class LocalFit:
    """A local model. Coefficients and effects ``(p, m)`` are in units of the columns; ``parts`` (blocks, p, m) are the
    effects without each block, ``spread`` (m,) the standard deviation of the model's answers to all samples,
    ``nearest`` the root mean square distance of the nearest samples (one in 25) over that of all, ``predict`` its
    answers for columns.
    """

    coefficients: FloatArray
    coefficients_se: FloatArray
    effects: FloatArray
    parts: FloatArray
    base: FloatArray
    chosen: BoolArray
    widths: WidthFits
    width: float
    effective: float
    fidelity: FloatArray
    selection: FloatArray
    stability: FloatArray
    agreement: FloatArray
    radius: FloatArray
    within: FloatArray
    spread: FloatArray
    nearest: float
    predict: Callable[[FloatArray], FloatArray]
    bootstrapped: bool = False

    def entry_se(self, entries: Sequence[Sequence[int]]) -> FloatArray:
        """The standard errors ``(entries, m)`` of sums of some columns' effects."""
        sums = np.stack([self.parts[:, list(members)].sum(axis=1) for members in entries], axis=1)
        return sums.std(axis=0) if self.bootstrapped else fitting.jackknife(sums)

    def among(self, kept: IntArray, p: int) -> LocalFit:
        """The same among all p columns, of which only those ``kept`` took part."""

        def placed(part: Any, axis: int) -> Any:
            shape = list(part.shape)
            shape[axis] = p
            out = np.moveaxis(np.zeros(shape, dtype=part.dtype), axis, 0)
            out[kept] = np.moveaxis(part, axis, 0)
            return np.moveaxis(out, 0, axis)

        inner = self.predict
        swept = replace(self.widths, weights=placed(self.widths.weights, 1), spread=placed(self.widths.spread, 1))
        single = {
            name: placed(getattr(self, name), 0) for name in ("coefficients", "coefficients_se", "effects", "chosen")
        }
        return replace(
            self, **single, parts=placed(self.parts, 1), widths=swept, predict=lambda columns: inner(columns[:, kept])
        )


def fit_row(
    task: Task,
    options: Options,
    repeats: FloatArray,
    *,
    compare: bool,
    fixed: float | None = None,
    least: float = 0.0,
    screened: int = SCREENED,
) -> LocalFit:
    """The local model of a row; ``compare`` tries other widths even if one is given.

    ``fixed`` is a width that was chosen before; where its stability is below ``least`` and the width is not the
    caller's, it is the best of the widths that are stable enough, if there are any.
    """
    p, k = task.columns.shape[1], min(options.features, task.columns.shape[1])
    auto = options.width == "auto"
    wanted, widths, counts = _tried(task, options, k, compare=compare, fixed=fixed)
    most = max(screened, 10 * k)
    if p > most and options.how != "all":
        kept = strongest(task, counts, most)
        few = replace(task, columns=task.columns[:, kept], among=p)
        return fit_row(few, options, repeats, compare=compare, fixed=fixed, least=least).among(kept, p)
    sizes, shifted = effective_sizes(counts), task.answers - task.prediction
    weights = np.concatenate([counts, near_weights(counts, sizes, task.distance)[None]])
    blocks = fitting.block_moments(task.columns, shifted, weights, BLOCKS)
    by = fitting.Linear(k, options.how, options.penalty, lasso=options.model == "lasso")
    swept = fit_widths(blocks, widths, sizes, repeats, p, by)
    at = _best(swept) if auto and fixed is None else int(np.argmin(np.abs(widths - wanted)))
    if auto and least > 0 and options.model != "tree":  # a tree has an index of its own
        at = _stable(swept, at, least)
    whole = fitting.combined(blocks[at], np.ones((1, BLOCKS)), p)
    main = fitting.fit(whole, by)
    if options.model in ("logistic", "tree"):
        return _other(task, options, repeats, counts[at], main.chosen[0], swept, at)
    without = fitting.fit(
        fitting.combined(blocks[at], fitting.leave_one_out(BLOCKS), p), by, None if by.lasso else main.chosen[0]
    )
    level, beta, centre = (main.at_row[0] + task.prediction, main.weights[0], task.columns.mean(axis=0)[:, None])
    return LocalFit(
        coefficients=beta,
        coefficients_se=fitting.jackknife(without.weights),
        effects=-beta * centre,
        parts=-without.weights * centres(task.columns, fitting.leave_one_out(BLOCKS)),
        base=level + (beta * centre).sum(axis=0),
        chosen=main.chosen[0],
        fidelity=swept.fidelity[at],
        selection=swept.selection[at],
        stability=swept.stability[at],
        agreement=swept.agreement[at],
        **_holds(task, swept, at, lambda z: level + z @ beta),
    )


def _tried(
    task: Task, options: Options, k: int, *, compare: bool, fixed: float | None
) -> tuple[float, FloatArray, FloatArray]:
    """The width that is wanted, those that are tried, and the weights of the samples at each."""
    weigh = options.weigh
    default = default_width(task.distance, task.width, options.distance)
    wanted = fixed or (default if isinstance(options.width, str) else float(options.width))
    widths = candidates(task.distance, weigh, k, wanted) if compare or options.width == "auto" else np.array([wanted])
    counts = kernels(weigh, task.distance, widths)
    largest = counts.max(axis=1, keepdims=True)
    if (largest <= _TINY).any():  # of a width that lets nothing count, the nearest samples are left
        nearest = (task.distance == task.distance.min()).astype(np.float64)
        counts = np.where(largest > _TINY, counts, nearest)
    return wanted, widths, counts


def strongest(task: Task, weights: FloatArray, most: int, *, together: int = _TOGETHER) -> IntArray:
    """The columns with the largest squared correlation with an answer, at any of the weights ``(widths, samples)``."""
    share = weights / weights.sum(axis=1, keepdims=True)
    found = []
    for start in range(0, task.columns.shape[1], together):
        part = task.columns[:, start : start + together]
        mean, squares = share @ part, share @ np.square(part)
        spread = squares - np.square(mean)
        varies = spread > 1e-12 * np.maximum(squares, 1e-300)
        score = np.zeros(part.shape[1])
        for answer in task.answers.T:
            centred = answer[None] - (share @ answer)[:, None]
            along = (share * centred) @ part
            size = np.maximum((share * np.square(centred)).sum(axis=1, keepdims=True), 1e-300)
            score = np.maximum(
                score, (np.where(varies, np.square(along), 0.0) / np.where(varies, spread, 1.0) / size).max(axis=0)
            )
        found.append(score)
    return np.sort(np.argsort(-np.concatenate(found), kind="stable")[:most])


def _best(found: WidthFits) -> int:
    """The position of the narrowest width that is about as good as the best."""
    return int(np.flatnonzero(found.score >= found.score.max() - _AS_GOOD)[0])


def _stable(found: WidthFits, at: int, least: float) -> int:
    """This width if it is stable enough, else the best of those that are, if any."""
    enough = found.stability.min(axis=1) >= least
    if enough[at] or not enough.any():
        return at
    return int(np.argmax(np.where(enough, found.score, -1.0)))


def centres(columns: FloatArray, counts: FloatArray) -> FloatArray:
    """Means of the columns ``(unions, p, 1)`` over unions of blocks of the samples: ``counts`` (unions, blocks)."""
    means = columns.reshape(BLOCKS, -1, columns.shape[1]).mean(axis=1)
    return np.asarray(counts @ means / counts.sum(axis=1, keepdims=True))[:, :, None]


def _other(
    task: Task, options: Options, repeats: FloatArray, weights: FloatArray, chosen: BoolArray, found: WidthFits, at: int
) -> LocalFit:
    """A logistic or tree model at the width that suits a straight line; errors from the repeats."""
    make = fitting.logistic if options.model == "logistic" else fitting.tree
    k = options.features

    def fitted(counts: FloatArray) -> fitting.Curve:
        return make(task.columns, task.answers, weights * np.repeat(counts, len(weights) // BLOCKS), chosen, k)

    main, again = fitted(np.ones(BLOCKS)), [fitted(counts) for counts in repeats]
    missed = np.zeros(task.answers.shape[1])
    for keep in fitting.fold_counts(BLOCKS):
        held = np.repeat(1.0 - keep, len(weights) // BLOCKS) * weights
        missed += held @ np.square(task.answers - fitted(keep).predict(task.columns))
    mean = weights @ task.answers / weights.sum()
    squares = weights @ np.square(task.answers - mean)
    fidelity = np.where(squares > 0, 1.0 - missed / np.where(squares > 0, squares, 1.0), 1.0)
    parts, slopes = np.stack([one.effects for one in again]), np.stack([one.weights for one in again])
    if options.model == "logistic":  # what its effects are compared with was drawn, too
        parts = -slopes * centres(task.columns, repeats)
    turned = np.moveaxis(slopes, -1, 0)
    luck = (selection(turned != 0), common(turned), agreement(turned))
    if options.model == "logistic":  # its columns were chosen for the straight line
        luck = (found.selection[at], found.stability[at], luck[2])
    return LocalFit(
        coefficients=main.weights,
        coefficients_se=slopes.std(axis=0),
        effects=main.effects,
        parts=parts,
        base=main.start,
        chosen=main.weights != 0,
        fidelity=fidelity,
        selection=luck[0],
        stability=luck[1],
        agreement=luck[2],
        bootstrapped=True,
        **_holds(task, found, at, main.predict),
    )


def _holds(task: Task, found: WidthFits, at: int, predict: Callable[[FloatArray], FloatArray]) -> dict[str, Any]:
    """What a local model rests on and how far it holds, as fields of `LocalFit`."""
    low, high = np.quantile(task.answers, [0.05, 0.95], axis=0)
    within = _WITHIN * (high - low)
    missed = np.abs(task.answers - predict(task.columns))
    squares = np.square(task.distance)
    close = np.partition(squares, len(squares) // _NEAREST)[: len(squares) // _NEAREST].mean()
    typical = squares.mean()
    return {
        "widths": found,
        "width": float(found.widths[at]),
        "effective": float(found.effective[at]),
        "radius": radius_of(task.distance, missed, within),
        "within": within,
        "spread": task.answers.std(axis=0),
        "nearest": float(np.sqrt(close / typical)) if typical > 0 else 0.0,
        "predict": predict,
    }


def radius_of(distance: FloatArray, missed: FloatArray, within: FloatArray) -> FloatArray:
    """The distance ``(outputs,)`` up to which nine in ten samples are predicted well enough; zero where not even the
    nearest are.
    """
    order = np.argsort(distance, kind="stable")
    needed = _SHARE * np.arange(1, len(order) + 1)
    needed[: _FEWEST - 1] = np.inf
    found = np.zeros(missed.shape[1])
    for k, line in enumerate(missed.T):
        enough = np.flatnonzero(np.cumsum(line[order] <= within[k]) >= needed)
        found[k] = distance[order[enough[-1]]] if enough.size else 0.0
    return found
