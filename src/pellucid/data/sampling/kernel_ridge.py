"""Kernel ridge regression of anything on some columns, with exact leave-one-out residuals.

Definition. f(x) = a + b'z + sum_m c_m K(z, z_m) over landmark rows z_m (Nystrom), where z are the given columns as
numbers (`pellucid.data.sampling.encoding`); a, b, c minimise sum of squares + penalty. Kernels, with a relevance r_k
between 0 and 1 for each column and k_l(u, v) = exp(-|u - v|^2 / (2 l^2)):

- linear: no kernel;
- quadratic: (1 + sum_k r_k u_k v_k)^2;
- additive: sum_k r_k k_l(u_k, v_k), with a little of the quadratic one;
- ANOVA: prod_k (1 + 2 r_k k_l(u_k, v_k)), all interactions;
- joint: exp(-sum_k r_k |u_k - v_k|^2 / (2 l^2)).

Kernel and penalty are those of the least leave-one-out error, which needs no refit: the residual over one less the
leverage. A constant, and then the linear one, is kept unless the best is better by a standard error.

Cost. n M^2 for each kernel and M landmarks; every further target is n M for each penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray

LANDMARKS = 250
_WIDTHS = (0.7, 1.5)
_PENALTIES = 10.0 ** np.arange(-6.5, 1.6, 0.5)
_MOST_LEVERAGE = 0.95
_LITTLE = 0.3  # of the quadratic kernel, beside the additive one
_JITTER = 1e-8

Recipe = tuple[tuple[str, float, float], ...]  # kernels: kind, width, weight


@dataclass(frozen=True, eq=False)
class Fitted:
    """A regression: leave-one-out ``residual`` and ``leverage`` of each row, the recipe, and how to predict.

    ``loo`` is the prediction of each row by the others.
    """

    name: str
    loo: FloatArray
    residual: FloatArray
    leverage: FloatArray
    mean: FloatArray
    coefficients: FloatArray | None
    penalty: float


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Features of the rows, times the roots of their weights, in their principal directions."""

    U: FloatArray
    values: FloatArray
    V: FloatArray


class KernelRidge:
    """Learning rows as blocks of columns, ready for any number of targets."""

    def __init__(
        self,
        blocks: list[FloatArray],
        relevance: FloatArray,
        weights: FloatArray,
        generator: np.random.Generator,
        landmarks: int = LANDMARKS,
    ) -> None:
        n = len(weights)
        self._blocks, self._relevance = blocks, relevance
        self._weights = weights / weights.mean()
        chosen = np.sort(generator.permutation(n)[:landmarks])
        self._landmarks = [block[chosen] for block in blocks]
        linear = np.hstack(blocks)
        self._centre = self._mean(linear)
        self._scale = 1.0 / np.sqrt(max(float(self._mean(np.square(linear - self._centre).sum(axis=1))), 1e-12))
        self._maps: dict[tuple[str, float], tuple[FloatArray, FloatArray, float]] = {}
        self.recipes = _recipes(len(blocks))
        self._features = {
            key: self._mapped(key, chosen) for key in sorted({p[:2] for r in self.recipes.values() for p in r})
        }
        self._spectra = {name: self._spectrum(recipe) for name, recipe in self.recipes.items()}

    def _mean(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.tensordot(self._weights, values, axes=(0, 0)) / len(self._weights))

    def _mapped(self, key: tuple[str, float], chosen: IntArray) -> FloatArray:
        """Nystrom features of one kernel, centred and of mean square norm one."""
        K = self._kernel(key, self._blocks)
        small = K[chosen]
        root = np.linalg.cholesky(small + _JITTER * np.trace(small) / len(small) * np.eye(len(small)))
        A = np.linalg.inv(root).T
        found = K @ A
        centre = self._mean(found)
        found -= centre
        scale = 1.0 / np.sqrt(max(float(self._mean(np.square(found).sum(axis=1))), 1e-12))
        self._maps[key] = A, centre, scale
        return np.asarray(found * scale)

    def _spectrum(self, recipe: Recipe) -> _Spectrum:
        linear = (np.hstack(self._blocks) - self._centre) * self._scale
        whole = np.hstack([linear, *(weight * self._features[kind, width] for kind, width, weight in recipe)])
        rooted = whole * np.sqrt(self._weights)[:, None]
        values, V = np.linalg.eigh(rooted.T @ rooted)
        kept = values > 1e-10 * values[-1]
        return _Spectrum(rooted @ (V[:, kept] / np.sqrt(values[kept])), values[kept], V[:, kept])

    def fit(self, target: FloatArray) -> Fitted:
        """Regress a target ``(n,)``, or several at once ``(n, q)`` with one kernel and penalty."""
        n, w = len(target), self._weights
        Y = target.reshape(n, -1)
        mean = self._mean(Y)
        centred = Y - mean
        variance = self._mean(np.square(centred)) + 1e-300
        rooted = centred * np.sqrt(w)[:, None]
        own = w / n
        plain = centred / (1.0 - np.minimum(own, _MOST_LEVERAGE))[:, None]
        found = {"constant": (float(self._mean(np.square(plain) / variance).mean()), plain, own, 0.0)}
        for name, s in self._spectra.items():
            found[name] = _best(s, rooted, variance, w)
        best = min(found, key=lambda name: found[name][0])
        for simple in ("constant", "linear"):
            gain = self._gain(found[simple][1], found[best][1], variance)
            if simple != best and gain[0] < gain[1]:
                best = simple
                break
        _, residual, leverage, penalty = found[best]
        coefficients = None
        if best != "constant":
            s = self._spectra[best]
            coefficients = s.V @ ((np.sqrt(s.values) / (s.values + penalty))[:, None] * (s.U.T @ rooted))
        loo = (Y - residual).reshape(target.shape)
        return Fitted(best, loo, residual.reshape(target.shape), leverage, mean, coefficients, penalty)

    def _gain(self, worse: FloatArray, better: FloatArray, variance: FloatArray) -> tuple[float, float]:
        """By how much squared residuals are smaller, and its standard error."""
        gain = ((np.square(worse) - np.square(better)) / variance).mean(axis=1)
        return float(self._mean(gain)), float(gain.std() / np.sqrt(len(gain)))

    def predict(self, fitted: Fitted, blocks: list[FloatArray]) -> FloatArray:
        """Predictions ``(rows, targets)`` for other rows."""
        if fitted.coefficients is None:
            return np.repeat(fitted.mean[None], len(blocks[0]), axis=0)
        linear = (np.hstack(blocks) - self._centre) * self._scale
        step = linear.shape[1]
        total = linear @ fitted.coefficients[:step] + fitted.mean
        for kind, width, weight in self.recipes[fitted.name]:
            A, centre, scale = self._maps[kind, width]
            part = weight * scale * fitted.coefficients[step : step + len(centre)]
            step += len(centre)
            total += self._weighed((kind, width), blocks, A @ part) - centre @ part
        return np.asarray(total)

    def _weighed(self, key: tuple[str, float], blocks: list[FloatArray], at_landmarks: FloatArray) -> FloatArray:
        """The kernel times numbers at the landmarks ``(M, targets)``; of the quadratic one the polynomial it is."""
        if key[0] != "quadratic":
            return np.asarray(self._kernel(key, blocks) @ at_landmarks)
        Z, M = np.hstack(blocks), _relevant(self._landmarks, self._relevance)
        squares = [((Z @ ((M.T * of_target) @ M)) * Z).sum(axis=1) for of_target in at_landmarks.T]
        return np.asarray(at_landmarks.sum(axis=0) + 2.0 * Z @ (M.T @ at_landmarks) + np.stack(squares, axis=1))

    def along(self, fitted: Fitted, k: int, grid: FloatArray, blocks: list[FloatArray] | None = None) -> FloatArray:
        """Predictions ``(rows, grid)`` of a single target with block ``k`` set to each line of a grid: for the learning
        rows, each by the others alone, or for other rows.
        """
        rows = self._blocks if blocks is None else blocks
        n = len(rows[0])
        if fitted.coefficients is None:
            return np.full((n, len(grid)), fitted.mean[0])
        coefficients = fitted.coefficients.T
        if blocks is None:
            # Leaving row i out moves the coefficients by -w_i r_i (F'WF + penalty)^-1 f_i.
            s = self._spectra[fitted.name]
            moved = (s.U * (np.sqrt(s.values) / (s.values + fitted.penalty))) @ s.V.T
            coefficients = coefficients - moved * (np.sqrt(self._weights) * fitted.residual.reshape(n))[:, None]
        return np.asarray(fitted.mean[0] + self._along(coefficients, self.recipes[fitted.name], k, grid, rows))

    def _along(
        self, coefficients: FloatArray, recipe: Recipe, k: int, grid: FloatArray, blocks: list[FloatArray]
    ) -> FloatArray:
        """Features times the coefficients ``(rows or 1, features)``, along the grid of block k."""
        widths = [block.shape[1] for block in blocks]
        place, step = slice(sum(widths[:k]), sum(widths[: k + 1])), sum(widths)
        linear = (np.hstack(blocks) - self._centre) * self._scale
        linear[:, place] = 0.0
        own = coefficients[:, :step]
        total = (own * linear).sum(axis=1, keepdims=True) + own[:, place] @ (
            (grid - self._centre[place]) * self._scale
        ).T
        for kind, width, weight in recipe:
            A, centre, scale = self._maps[kind, width]
            part = coefficients[:, step : step + len(centre)] * (weight * scale)
            step += len(centre)
            total = total - (part @ centre)[:, None]
            at_landmarks = part @ A.T
            for of_row, of_grid in self._terms((kind, width), k, grid, blocks):
                total = total + (at_landmarks * of_row) @ of_grid.T
        return np.asarray(total)

    def _terms(
        self, key: tuple[str, float], k: int, grid: FloatArray, blocks: list[FloatArray]
    ) -> list[tuple[FloatArray, FloatArray]]:
        """The kernel as a sum of products of what rows ``(rows, M)`` and what the grid ``(grid, M)`` says."""
        kind, width = key
        others, marks = ([b for i, b in enumerate(part) if i != k] for part in (blocks, self._landmarks))
        relevance, own = np.delete(self._relevance, k), self._landmarks[k]
        shape = len(blocks[0]), len(own)
        if kind == "quadratic":
            pairs = zip(others, marks, relevance, strict=True)
            rest, new = (
                1.0 + sum((_inner(*pair) for pair in pairs), np.zeros(shape)),
                _inner(grid, own, self._relevance[k]),
            )
            return [(np.square(rest), np.ones(new.shape)), (2.0 * rest, new), (np.ones(shape), np.square(new))]
        rest = _kernel(kind, width, others, marks, relevance, shape)
        new = _kernel(kind, width, [grid], [own], self._relevance[[k]], (len(grid), shape[1]))
        return [(rest, np.ones(new.shape)), (np.ones(shape), new)] if kind == "additive" else [(rest, new)]

    def _kernel(self, key: tuple[str, float], blocks: list[FloatArray]) -> FloatArray:
        shape = len(blocks[0]), len(self._landmarks[0])
        return _kernel(*key, blocks, self._landmarks, self._relevance, shape)


def _recipes(columns: int) -> dict[str, Recipe]:
    recipes: dict[str, Recipe] = {"linear": (), "quadratic": (("quadratic", 0.0, 1.0),)}
    for width in _WIDTHS:
        recipes[f"anova {width}"] = (("anova", width, 1.0),)
        if columns > 1:
            recipes[f"joint {width}"] = (("joint", width, 1.0),)
            recipes[f"additive {width}"] = (("additive", width, 1.0), ("quadratic", 0.0, _LITTLE))
    return recipes


def _inner(a: FloatArray, b: FloatArray, relevance: float) -> FloatArray:
    return np.asarray(relevance * (a @ b.T))


def _kernel(
    kind: str,
    width: float,
    blocks: list[FloatArray],
    landmarks: list[FloatArray],
    relevance: FloatArray,
    shape: tuple[int, int],
) -> FloatArray:
    """Kernel values ``(rows, landmarks)``."""
    if kind == "quadratic":
        return np.asarray(np.square(1.0 + np.hstack(blocks) @ _relevant(landmarks, relevance).T))
    pairs = list(zip(blocks, landmarks, relevance, strict=True))
    near = (np.exp(_distance(b, m) * (-(r if kind == "joint" else 1.0) / (2 * width * width))) for b, m, r in pairs)
    total = np.zeros(shape) if kind == "additive" else np.ones(shape)
    for k, r in zip(near, relevance, strict=True):
        if kind == "additive":
            total += r * k
        else:
            total *= k if kind == "joint" else 1.0 + 2.0 * r * k
    return total


def _relevant(blocks: list[FloatArray], relevance: FloatArray) -> FloatArray:
    """Blocks side by side, times their relevance."""
    return np.hstack([r * block for block, r in zip(blocks, relevance, strict=True)])


def _distance(a: FloatArray, b: FloatArray) -> FloatArray:
    """Squared distances of all lines of a and b."""
    if a.shape[1] == 1:
        return np.asarray(np.square(a - b.T))
    squares = np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=1) - 2.0 * a @ b.T
    return np.asarray(np.maximum(squares, 0.0))


def _best(
    s: _Spectrum, rooted: FloatArray, variance: FloatArray, w: FloatArray
) -> tuple[float, FloatArray, FloatArray, float]:
    """The penalty of the least leave-one-out error: that error, residuals, leverage, penalty."""
    n, root = len(w), np.sqrt(w)[:, None]
    along, squares = s.U.T @ rooted, np.square(s.U)
    best: tuple[float, FloatArray, FloatArray, float] | None = None
    for penalty in n * _PENALTIES:
        kept = s.values / (s.values + penalty)
        leverage = squares @ kept + w / n
        if np.median(leverage) > _MOST_LEVERAGE:  # rows that are their own predictions: nothing is left to judge by
            continue
        leverage = np.minimum(leverage, _MOST_LEVERAGE)
        residual = (rooted - s.U @ (kept[:, None] * along)) / (root * (1.0 - leverage)[:, None])
        error = float((np.square(residual) * (root**2) / variance).mean())
        if best is None or error < best[0]:
            best = error, residual, leverage, float(penalty)
    assert best is not None
    return best
