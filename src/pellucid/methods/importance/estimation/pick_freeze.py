"""Sobol indices of any model by picking and freezing: what changes when one player alone is drawn anew, or kept alone.

Sobol 1993; Saltelli et al. 2010; Jansen 1999; Owen 2013 (scrambled points).

Definition. For independent players, V = Var f, V_i = Var E[f | x_i] and T_i = E Var[f | x_-i] = V - Var E[f | x_-i].

Estimator. With A and B two independent sets of N points and C_i the points of A with player i taken from B,

    T_i = 1/2 mean (f(A) - f(C_i))^2,        V_i = mean (f(B) - f_0) (f(C_i) - f(A)),

each corrected by a control variate (see `control_variate`). A and B are scrambled Sobol points, which fill the cube
more evenly than random ones. Several independent scramblings give independent estimates, whose spread gives standard
errors; the control variate of each half of them is fitted on the other half, and used (whole, or its main effects only)
if what is averaged varies less with it.

Cost. scramblings x N x (players + 2) model rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.methods.importance.estimation.control_variate import ControlVariate, fit_control_variates, unit_shapes
from pellucid.methods.importance.estimation.inputs import Inputs
from pellucid.models import Predictor
from pellucid.runner import Run

SCRAMBLINGS = 8  # or up to 14
DEFAULT_ROWS = 50_000
MOST_ROWS = 5_000_000
_FEWEST_POINTS = 8
_MOST_UNITS = 10_000  # Sobol points have twice as many coordinates, at most 21,201
_CARRIERS = 10  # points that may have much of the variance
_NOTHING = 1e-13  # a spread of predictions below this share of their size is rounding


@dataclass(frozen=True, eq=False)
class Sample:
    """Predictions of one scrambling: ``positions`` (players + 2, N, units) and ``values`` (players + 2, N, outputs) of
    A, B, C_1, ...
    """

    positions: IntArray
    values: FloatArray

    def extended(self, other: Sample) -> Sample:
        """With further points of the same scrambling."""
        return Sample(
            np.concatenate([self.positions, other.positions], axis=1),
            np.concatenate([self.values, other.values], axis=1),
        )


@dataclass(frozen=True, eq=False)
class Moments:
    """Estimates per scrambling: ``variance`` (scramblings, outputs), ``first`` and ``total`` (scramblings, players,
    outputs).
    """

    variance: FloatArray
    first: FloatArray
    total: FloatArray
    points: int
    explained: FloatArray  # (outputs,): share of the variance that the control variates have
    carried: FloatArray  # (outputs,): share of the variance of all points that ten of them have

    def shares(self, part: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A part as a share of the variance, its standard error, and the share by each scrambling alone."""
        n = len(self.variance)
        variance = self.variance.mean(axis=0)
        known = np.where(variance > 0, variance, 1.0)
        share = np.where(variance > 0, part.mean(axis=0) / known, 0.0)
        apart = (part - share * self.variance[:, None]) / known  # first-order error of a ratio
        se = np.where(variance > 0, apart.std(axis=0, ddof=1) / np.sqrt(n), 0.0)
        each = np.where(variance > 0, part / np.where(self.variance > 0, self.variance, known)[:, None], 0.0)
        return share, se, each


def half_width(scramblings: int) -> float:
    """Standard errors in half a 95% interval from so many independent estimates."""
    from scipy.special import stdtrit

    return float(stdtrit(scramblings - 1, 0.975))


def pick_freeze(
    run: Run,
    predictor: Predictor,
    inputs: Inputs,
    *,
    budget: int | None = None,
    tolerance: float | None = None,
    controlled: bool = True,
) -> Moments:
    """Variance, first-order and total parts of each player; players that cannot vary have exactly none.

    ``controlled=False`` does without control variates.
    """
    varying = inputs.varying
    if not varying:
        return _nothing(len(inputs.players), len(predictor.output_names))
    lines = len(varying) + 2
    scramblings, points = _points(lines, len(inputs.units), budget, tolerance)
    samplers = [_sampler(run, len(inputs.units), r) for r in range(scramblings)]
    shapes = [unit_shapes(unit) for unit in inputs.units]
    samples: list[Sample] = []
    asked = points[0]
    for n in points:
        with run.until_interrupted(partial(bool, samples)) as work:
            more = _asked(run, predictor, inputs, varying, samplers, n, keep_some=not samples)
        if work.cut:
            break
        samples = [a.extended(b) for a, b in zip(samples, more, strict=True)] if samples else more
        asked = samples[0].positions.shape[1]
        found = _moments(inputs, varying, samples, shapes, controlled)
        if run.interrupted or (tolerance is not None and _widest(found) <= tolerance):
            break
    return replace(found, points=asked)


def _nothing(players: int, outputs: int) -> Moments:
    """Of players that cannot vary."""
    empty = np.zeros((SCRAMBLINGS, players, outputs))
    return Moments(empty[:, 0], empty, empty, 0, np.zeros(outputs), np.zeros(outputs))


def _widest(found: Moments) -> float:
    errors = [found.shares(part)[1].max(initial=0.0) for part in (found.first, found.total)]
    return half_width(len(found.variance)) * float(max(errors))


def _points(lines: int, units: int, budget: int | None, tolerance: float | None) -> tuple[int, list[int]]:
    """Scramblings, and their points round by round: one round, or with a tolerance rounds that double what is known."""
    each = SCRAMBLINGS * lines
    least = each * _FEWEST_POINTS
    most = budget if budget is not None else max(MOST_ROWS if tolerance is not None else DEFAULT_ROWS, 2 * least)
    if units > _MOST_UNITS or (budget is None and least > MOST_ROWS):
        raise InputError(
            f"{units:,} features take at least {least:,} model rows; put features into groups (groups=), or use"
            " method='permutation'."
        )
    if most < least:
        raise InputError(
            f"budget={budget} is too small: {lines - 2} features take at least {least:,} model rows; give a larger"
            " budget or groups of features (groups=)."
        )
    largest = int(np.log2(most // each))
    first = largest if tolerance is None else min(int(np.log2(max(DEFAULT_ROWS // 4 // each, _FEWEST_POINTS))), largest)
    # Points come in powers of two: what is left of the budget goes into further scramblings.
    scramblings = SCRAMBLINGS if tolerance is not None else most // (lines * 2**largest) // 2 * 2
    return scramblings, [2**first, *[2**k for k in range(first, largest)]]


def _sampler(run: Run, units: int, r: int) -> object:
    from scipy.stats.qmc import Sobol  # on use: slow to import

    return Sobol(2 * units, scramble=True, rng=run.generator("sobol.points", r))


def _asked(
    run: Run,
    predictor: Predictor,
    inputs: Inputs,
    varying: list[int],
    samplers: list[object],
    n: int,
    *,
    keep_some: bool,
) -> list[Sample]:
    """The next ``n`` points of each scrambling; interrupted, an even number of scramblings may do."""
    done: list[Sample] = []
    with run.until_interrupted(lambda: keep_some and len(done) >= 4) as work:
        for sampler in samplers:
            positions = _lines(inputs, varying, sampler.random(n))  # type: ignore[attr-defined]
            flat = positions.reshape(-1, positions.shape[2])
            values = inputs.predict(run, predictor, flat)
            done.append(Sample(positions, values.reshape(*positions.shape[:2], -1)))
    return done[: len(done) // 2 * 2] if work.cut else done


def _lines(inputs: Inputs, varying: list[int], cube: FloatArray) -> IntArray:
    """Positions ``(players + 2, N, units)`` of A, B and A with one player from B."""
    d = len(inputs.units)
    a, b = (
        np.stack([unit.at(part[:, u]) for u, unit in enumerate(inputs.units)], axis=1)
        for part in (cube[:, :d], cube[:, d:])
    )
    lines = np.stack([a, b, *[a] * len(varying)])
    for line, p in enumerate(varying, start=2):
        own = list(inputs.players[p])
        lines[line][:, own] = b[:, own]
    return lines


# -- estimates ---------------------------------------------------------------------------------------


def _moments(
    inputs: Inputs, varying: list[int], samples: list[Sample], shapes: list[FloatArray], controlled: bool
) -> Moments:
    shape = len(samples), len(inputs.players), samples[0].values.shape[2]
    variance, first, total = np.zeros((shape[0], shape[2])), np.zeros(shape), np.zeros(shape)
    explained = np.zeros((2, shape[2]))
    halves = np.array_split(np.arange(len(samples)), 2)
    for h, own in enumerate(halves):
        others = [samples[r] for r in halves[1 - h]]
        controls = _fitted(inputs, varying, others, shapes)
        for k, g in enumerate(controls):
            fs = np.stack([samples[r].values[:, :, k] for r in own])
            positions = np.stack([samples[r].positions for r in own])
            tried = [
                _control(c, positions, fs, inputs.belongs()[varying]) for c in ((g, g.alone()) if controlled else ())
            ]
            best = min([_Control.none(fs, len(varying)), *tried], key=lambda c: c.noise(fs))
            explained[h, k] = best.explained(fs)
            for r, f, its in zip(own, fs, best.values, strict=True):
                variance[r, k], first[r, varying, k], total[r, varying, k] = best.estimates(f, its)
    variance = np.where(_still(samples), 0.0, variance)
    return Moments(variance, first, total, 0, explained.mean(axis=0), _carried(samples))


def _carried(samples: list[Sample]) -> FloatArray:
    """The share of the variance over the points of A and B that the few farthest from the mean have."""
    values = np.concatenate([part for s in samples for part in s.values[:2]])
    squares = np.square(values - values.mean(axis=0))
    whole = squares.sum(axis=0)
    most = np.partition(squares, len(squares) - _CARRIERS, axis=0)[-_CARRIERS:].sum(axis=0)
    return np.where(whole > 0, most / np.where(whole > 0, whole, 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class _Control:
    """A control variate at the points of several scramblings: ``values`` (scramblings, lines, N), less its mean, and
    its exact parts.
    """

    values: FloatArray
    mean: float
    variance: float
    first: FloatArray
    total: FloatArray

    @classmethod
    def none(cls, f: FloatArray, players: int) -> _Control:
        """No control variate: sampling alone."""
        return cls(np.zeros(f.shape), 0.0, 0.0, np.zeros(players), np.zeros(players))

    def estimates(self, f: FloatArray, g: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """V, V_i and T_i of the model's predictions ``(lines, N)``."""
        f = f - (self.mean + (f - self.mean - g).mean())
        variance = self.variance + (np.square(f) - np.square(g)).mean()
        alone, total = (of_f - of_g for of_f, of_g in zip(_terms(f), _terms(g), strict=True))
        return float(variance), self.first + alone.mean(axis=1), self.total + total.mean(axis=1)

    def noise(self, f: FloatArray) -> float:
        """The variance of what is averaged with its help, over all points: less than without it, or it is none."""
        of_f = _terms(np.concatenate(list(f), axis=1) - f.mean())
        of_g = _terms(np.concatenate(list(self.values), axis=1))
        return float(sum((mine - its).var(axis=1).sum() for mine, its in zip(of_f, of_g, strict=True)))

    def explained(self, f: FloatArray) -> float:
        """The share of the model's variance that it has, at the points."""
        spread = float(f.var())
        return max(0.0, 1.0 - float((f - self.values).var()) / spread) if spread > 0 else 0.0


def _terms(f: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What V_i and T_i are the means of, ``(players, N)`` each, from values ``(lines, N)`` whose mean is zero."""
    return f[1] * (f[2:] - f[0]), np.square(f[2:] - f[0]) / 2


def _control(g: ControlVariate, positions: IntArray, f: FloatArray, belongs: BoolArray) -> _Control:
    """The multiple of g that resembles f best at points that g was not fitted to."""
    values = g(positions.reshape(-1, positions.shape[-1])).reshape(positions.shape[:3]) - g.constant
    centred = values - values.mean()
    own, both = float(np.square(centred).mean()), float((centred * f).mean())
    scale = min(max(both, 0.0) / own, 1.0) if own > 0 else 0.0
    variance, first, total = g.variances(belongs)
    return _Control(scale * values, g.constant, scale**2 * variance, scale**2 * first, scale**2 * total)


def _fitted(
    inputs: Inputs, varying: list[int], samples: list[Sample], shapes: list[FloatArray]
) -> list[ControlVariate]:
    """Control variates of every output, fitted on some scramblings."""
    values = np.concatenate([s.values.reshape(-1, s.values.shape[2]) for s in samples])
    positions = np.concatenate([s.positions.reshape(-1, s.positions.shape[2]) for s in samples])
    spread = np.maximum(values.var(axis=0), 1e-300)
    changes = np.mean([np.square(s.values[2:] - s.values[0]).mean(axis=1) for s in samples], axis=0) / spread
    weight = np.zeros(len(inputs.units))
    for p, change in zip(varying, changes.max(axis=1, initial=0.0), strict=True):
        weight[list(inputs.players[p])] = change
    return fit_control_variates(inputs.units, shapes, positions, values, weight)


def _still(samples: list[Sample]) -> FloatArray:
    """``(outputs,)``: whether all predictions are the same but for rounding."""
    low = np.min([s.values.min(axis=(0, 1)) for s in samples], axis=0)
    high = np.max([s.values.max(axis=(0, 1)) for s in samples], axis=0)
    return np.asarray(high - low <= _NOTHING * np.maximum(np.abs(low), np.abs(high)))
