"""Conditional importance where it is known: 2 E Var[f | the other features] of models that predict without error.

27 settings of dependence: curves, rings, mixtures, categories that turn a slope, unequal spreads, normal features, few
values, long tails, many columns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal

from covered.case import Case, Ends
from pellucid import Explainer
from pellucid.data.sampling.column_draws import DrawnColumn
from pellucid.data.sampling.conditional_draws import conditional_draws
from pellucid.data.sampling.copula import Copula
from pellucid.errors import InputWarning
from pellucid.methods.importance.estimation.loss_change import Setting as Losses
from pellucid.methods.importance.estimation.row_and_donor import Before, Permuted, permuted_losses
from pellucid.methods.importance.request import DEFAULTS

Table = np.ndarray
LEVELS = np.array(["a", "b", "c", "d", "e"])


@dataclass(frozen=True, eq=False)
class Setting:
    """``draw(n, generator)`` gives rows, ``f`` the model, of which feature ``j`` is drawn; columns in ``categories``
    are levels. The truth is worked out from the density of the rows: ``truth()``.
    """

    name: str
    draw: Callable[[int, np.random.Generator], Table]
    j: int
    f: Callable[[Table], np.ndarray]
    truth: Callable[[], float]
    categories: tuple[int, ...] = ()

    def table(self, X: Table) -> pd.DataFrame:
        named = {f"x{k}": LEVELS[x.astype(int)] if k in self.categories else x for k, x in enumerate(X.T)}
        return pd.DataFrame(named)

    def codes(self, table: pd.DataFrame) -> Table:
        columns = [np.searchsorted(LEVELS, table[f"x{k}"]) if k in self.categories else table[f"x{k}"].to_numpy()
                   for k in range(table.shape[1])]  # fmt: skip
        return np.column_stack(columns).astype(float)

    def explainer(self, X: Table, seed: int) -> Explainer:
        with warnings.catch_warnings():  # some models say what one column is
            warnings.simplefilter("ignore", InputWarning)
            return Explainer(
                lambda table: self.f(self.codes(table)), self.table(X), self.f(X), checks=False, random_state=seed
            )


def column(k: int) -> Callable[[Table], np.ndarray]:
    return lambda X: X[:, k]


def squared(k: int) -> Callable[[Table], np.ndarray]:
    return lambda X: X[:, k] ** 2


def product(X: Table) -> np.ndarray:
    return X[:, 0] * X[:, 1]


# -- how rows are drawn, and the logarithm of their density ------------------------------------------


def parabola(n, generator, noise=0):
    x = generator.normal(size=n)
    return np.column_stack([x, x**2 + 0.3 * generator.normal(size=n), generator.normal(size=(n, noise))])


def of_parabola(X):
    return -0.5 * X[:, 0] ** 2 - 0.5 * ((X[:, 1] - X[:, 0] ** 2) / 0.3) ** 2


def ring(n, generator):
    angle, radius = generator.uniform(0, 2 * np.pi, n), 1 + 0.1 * generator.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def of_ring(X):
    radius = np.hypot(X[:, 0], X[:, 1]) + 1e-12
    return -0.5 * ((radius - 1) / 0.1) ** 2 - np.log(radius)


_SIGNS = np.array([1.0, -1.0, 1.0])
_FIRST = np.array([[1, 0.9, 0.5], [0.9, 1, 0.5], [0.5, 0.5, 1.0]])
_SECOND = _FIRST * np.outer(_SIGNS, _SIGNS)


def two_normals(n, generator):
    X = generator.multivariate_normal(np.zeros(3), _FIRST, n)
    return np.where(generator.random(n)[:, None] < 0.5, X, X * _SIGNS)


def of_two_normals(X):
    return np.logaddexp(*(multivariate_normal(np.zeros(3), C).logpdf(X) for C in (_FIRST, _SECOND)))


def switch(n, generator):
    c, x = generator.integers(0, 2, n), generator.normal(size=n)
    return np.column_stack([x, np.where(c == 0, x, -x) + 0.3 * generator.normal(size=n), c])


def of_switch(X):
    return -0.5 * X[:, 0] ** 2 - 0.5 * ((X[:, 1] - np.where(X[:, 2] == 0, X[:, 0], -X[:, 0])) / 0.3) ** 2


def unequal(n, generator):
    x = generator.normal(size=n)
    return np.column_stack([x, x + (0.1 + np.abs(x)) * generator.normal(size=n)])


_SPREAD = 0.01 + 0.2 * np.sqrt(2 / np.pi) + 1  # E (0.1 + |x|)^2


def normal(rho, p):
    root = np.linalg.cholesky(np.full((p, p), rho) + (1 - rho) * np.eye(p))
    return lambda n, generator: generator.normal(size=(n, p)) @ root.T


def left_over(rho: float, p: int) -> float:
    """Var(x0 | others) of equally correlated normal features."""
    return float(1 / np.linalg.inv(np.full((p, p), rho) + (1 - rho) * np.eye(p))[0, 0])


_CUTS = ndtri([0.2, 0.4, 0.6, 0.8])


def fifths(n, generator):
    z = normal(0.8, 3)(n, generator)
    return np.column_stack([np.searchsorted(_CUTS, z[:, 0]), np.searchsorted(_CUTS, z[:, 1]), z[:, 2]]).astype(float)


_NEXT = np.full((4, 4), 0.07) + 0.72 * np.eye(4)
_NEXT /= _NEXT.sum(axis=1, keepdims=True)
_OFFSETS = np.array([0, 1.5, -1.5, 3])


def two_categories(n, generator):
    a = generator.integers(0, 4, n)
    b = ((generator.random(n)[:, None] > np.cumsum(_NEXT, axis=1)[a]).sum(axis=1) + 1) % 4
    return np.column_stack([a, b, _OFFSETS[b] + generator.normal(size=n)]).astype(float)


def of_two_categories(X):
    a, b = X[:, 0].astype(int), X[:, 1].astype(int)
    return np.log(_NEXT[a, (b - 1) % 4]) - 0.5 * (X[:, 2] - _OFFSETS[b]) ** 2


def lognormal(n, generator):
    return np.exp(normal(0.8, 3)(n, generator))


def ten(n, generator):
    """A curved function of four of nine columns."""
    Z = generator.normal(size=(n, 9))
    return np.column_stack([_curved(Z) + 0.4 * generator.normal(size=n), Z])


def _curved(Z):
    return np.sin(2 * Z[:, 0]) + 0.7 * Z[:, 1] * Z[:, 2] + 0.5 * Z[:, 3]


def of_ten(X):
    return -0.5 * np.square(X[:, 1:]).sum(axis=1) - 0.5 * ((X[:, 0] - _curved(X[:, 1:])) / 0.4) ** 2


# -- truths ------------------------------------------------------------------------------------------


def integrated(draw, density, j, f, values, rows=4000) -> Callable[[], float]:
    """2 E Var[f | others], over many rows, by the density at many values of feature j."""

    @cache
    def truth() -> float:
        X, found = draw(rows, np.random.default_rng(99)), []
        for row in X:
            Y = np.repeat(row[None], len(values), axis=0)
            Y[:, j] = values
            weight = density(Y)
            weight = np.exp(weight - weight.max())
            found.append(np.cov(f(Y), aweights=weight, ddof=0))
        return 2 * float(np.mean(found))

    return truth


@cache
def of_fifths() -> float:
    """x0 given the fifth of the second score and the third score: over the second score within its fifth."""
    z = normal(0.8, 3)(100_000, np.random.default_rng(99))
    edges = np.array([-9.0, *_CUTS, 9.0])
    place = np.searchsorted(_CUTS, z[:, 1])
    low, high = (ndtr((edges[place + side] - 0.8 * z[:, 2]) / 0.6) for side in (0, 1))
    C = np.full((3, 3), 0.8) + 0.2 * np.eye(3)
    along = np.linalg.solve(C[1:, 1:], C[1:, 0])
    spread, shares = np.sqrt(1 - C[0, 1:] @ along), np.zeros((len(z), 5))
    for q in (np.arange(40) + 0.5) / 40:
        second = 0.8 * z[:, 2] + 0.6 * ndtri(np.clip(low + (high - low) * q, 1e-9, 1 - 1e-9))
        mean = along[0] * second + along[1] * z[:, 2]
        shares += np.diff(ndtr((edges - mean[:, None]) / spread), axis=1) / 40
    mean = shares @ np.arange(5)
    return 2 * float((shares @ np.arange(5) ** 2 - mean**2).mean())


def known(value: float) -> Callable[[], float]:
    return lambda: value


def of_lognormal() -> float:
    left = left_over(0.8, 3)
    return 2 * float(np.exp(2 * (1 - left) + left) * (np.exp(left) - 1))


def _settings() -> list[Setting]:
    line, circle = np.linspace(-4.5, 4.5, 2001), np.linspace(-1.8, 1.8, 2001)
    seven = lambda n, generator: parabola(n, generator, 5)  # noqa: E731
    mixed, levels = np.linspace(-6, 6, 801), np.arange(4.0)
    x0_squared = integrated(parabola, of_parabola, 0, squared(0), line)

    def below_two(k):
        return lambda X: (X[:, k] < 2) - 0.25  # no classes

    def below_half(X):
        return (X[:, 2] < 0.5) - 0.25

    def distance(X):
        return np.abs(X[:, 1] - X[:, 0])

    def along(X):
        return np.sin(2 * X[:, 1])

    return [
        Setting("x1 = x0² + noise, of x1", parabola, 1, column(1), known(0.18)),
        Setting("the same, of x0", parabola, 0, column(0), known(2.0)),
        Setting("the same, of x0 through x0²", parabola, 0, squared(0), x0_squared),
        Setting("the same, of x0 through x0 x1", parabola, 0, product, known(30.18)),
        Setting("the same with 5 columns of noise, of x1", seven, 1, column(1), known(0.18)),
        Setting("the same with 5 columns of noise, of x0 through x0²", seven, 0, squared(0), x0_squared),
        Setting("ring, of x0", ring, 0, column(0), known(1.01)),
        Setting("ring, of x0 through x0²", ring, 0, squared(0), integrated(ring, of_ring, 0, squared(0), circle)),
        Setting(
            "two normals, of x0",
            two_normals,
            0,
            column(0),
            integrated(two_normals, of_two_normals, 0, column(0), mixed),
        ),
        Setting(
            "two normals, of x0 through x0 x1",
            two_normals,
            0,
            product,
            integrated(two_normals, of_two_normals, 0, product, mixed),
        ),
        Setting("category turns the slope, of x1", switch, 1, column(1), known(0.18), (2,)),
        Setting(
            "category turns the slope, of the category",
            switch,
            2,
            below_half,
            integrated(switch, of_switch, 2, below_half, levels[:2], 100_000),
            (2,),
        ),
        Setting("category turns the slope, of x0", switch, 0, column(0), known(2 * 0.09 / 1.09), (2,)),
        Setting("unequal spread, of x1", unequal, 1, column(1), known(2 * _SPREAD)),
        Setting(
            "unequal spread, of x1 through their distance", unequal, 1, distance, known(2 * (1 - 2 / np.pi) * _SPREAD)
        ),
        *[
            Setting(f"normal, rho = {rho}", normal(rho, 5), 0, column(0), known(2 * left_over(rho, 5)))
            for rho in (0.0, 0.5, 0.9)
        ],
        Setting("normal, rho = 0.9, 15 columns", normal(0.9, 15), 0, column(0), known(2 * left_over(0.9, 15))),
        Setting("fifths of normals, as levels", fifths, 0, column(0), of_fifths, (0, 1)),
        Setting("fifths of normals, as numbers", fifths, 0, column(0), of_fifths),
        Setting(
            "two categories, of the first",
            two_categories,
            0,
            below_two(0),
            integrated(two_categories, of_two_categories, 0, below_two(0), levels, 100_000),
            (0, 1),
        ),
        Setting(
            "two categories, of the second",
            two_categories,
            1,
            below_two(1),
            integrated(two_categories, of_two_categories, 1, below_two(1), levels, 100_000),
            (0, 1),
        ),
        Setting("lognormal", lognormal, 0, column(0), of_lognormal),
        Setting(
            "lognormal, through the logarithm",
            lognormal,
            0,
            lambda X: np.log(np.maximum(X[:, 0], 1e-9)),
            known(2 * left_over(0.8, 3)),
        ),
        Setting("a curved function of ten columns, of it", ten, 0, column(0), known(0.32)),
        Setting(
            "a curved function of ten columns, of its sine",
            ten,
            1,
            along,
            integrated(ten, of_ten, 1, along, np.linspace(-4.5, 4.5, 801), 3000),
        ),
    ]


SETTINGS = _settings()


@dataclass(frozen=True, eq=False)
class Measured:
    """The importance of the one feature, how its values were drawn, the CPU seconds of that, and the importance that
    the copula would have given.
    """

    importance: Permuted
    drawn: DrawnColumn
    seconds: float
    copula: float


def measured(setting: Setting, n: int, seed: int) -> Measured:
    """As ``importance(method="conditional")`` works it out, which goes through all features."""
    generator = np.random.default_rng([seed, n, SETTINGS.index(setting)])
    X = setting.draw(n, generator)
    explainer, y, name = setting.explainer(X, seed), setting.f(X)[:, None], f"x{setting.j}"
    start = time.process_time()
    drawn = conditional_draws(
        explainer.data, {name: (setting.j,)}, np.arange(n), tuple(generator.spawn(2)), DEFAULTS["repeats"]
    ).of[name]
    spent = time.process_time() - start
    before = Before.of(Losses.of(explainer.predictor, explainer.data, "mse", y), "difference")
    found = permuted_losses(before, drawn.donors, predictions(setting, X, drawn.codes), 1)
    copula = np.mean(
        [np.square(p - y).mean() for p in predictions(setting, X, _by_copula(setting, explainer, generator))]
    )
    return Measured(found, drawn, spent, float(copula))


def _by_copula(setting: Setting, explainer: Explainer, generator: np.random.Generator) -> np.ndarray:
    data, told = explainer.data, np.arange(len(explainer.data.schema.features)) != setting.j
    rows = np.stack([data.codes(k) for k in range(len(told))], axis=1)
    return Copula.of(data).draw_each(rows, told[None], DEFAULTS["repeats"], generator)[0][..., [setting.j]]


def predictions(setting: Setting, X: Table, codes: np.ndarray) -> Iterator[np.ndarray]:
    """Of the rows with each repeat of the drawn codes ``(repeats, rows, 1)``."""
    for drawn in codes[..., 0]:
        changed = X.copy()
        changed[:, setting.j] = drawn
        yield setting.f(changed)[:, None]


def interval(setting: Setting, n: int) -> Callable[[int], Ends]:
    def draw(seed: int) -> Ends:
        found = measured(setting, n, seed).importance
        return np.array([found.low]), np.array([found.high]), np.array([setting.truth()])

    return draw


# Hard to draw in few rows: tails that decide, two humps among columns of noise (benchmarks/draws.py).
HARD = ("through x0 x1", "of its sine", "columns of noise", "lognormal")


def CASES() -> list[Case]:
    quick = {("ring, of x0", 100): 8}
    return [
        Case(
            "conditional importance",
            "population",
            f"{setting.name}, n = {n}",
            interval(setting, n),
            quick=quick.get((setting.name, n), 0),
            least=0.0 if any(hard in setting.name for hard in HARD) else 0.7,
            often=60,
        )
        for n in (100, 500)
        for setting in SETTINGS
    ]
