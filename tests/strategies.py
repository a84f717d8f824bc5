"""Random small tables and the models the twins are compared on."""

import math
import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pellucid import Explainer

NAMES = ("a", "b", "c")
LEVELS = ("red", "green", "blue", "grey")

EXPLORING = os.environ.get("HYPOTHESIS") == "explore"
QUICK = settings(
    max_examples=100 if EXPLORING else 15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not EXPLORING,
)

_EIGHTHS = st.integers(-40, 40).map(lambda k: k / 8)
_CONTINUOUS = st.floats(-5, 5, allow_nan=False, allow_subnormal=False).map(lambda x: round(x, 6))
_SKEWED = st.integers(0, 7).map(lambda k: 2.0**k / 16)
_FEW = st.sampled_from([0.0, 1.0, 2.0])
_BINARY = st.sampled_from([0.0, 1.0])
_MOSTLY_ZERO = st.sampled_from([0.0] * 8 + [1.5, -2.0, 3.0, 0.25])
_MISSING = st.just(math.nan)
_KINDS = (_EIGHTHS, _CONTINUOUS, _SKEWED, _FEW, _BINARY, _MOSTLY_ZERO)


@dataclass(frozen=True)
class Table:
    """Rows as lists, with weights (None: all alike)."""

    rows: list
    weights: list | None = None
    names: tuple = NAMES

    @property
    def mass(self):
        return self.weights or [1.0] * len(self.rows)

    @property
    def native(self):
        """A matrix, or a data frame if there are categories."""
        if not any(isinstance(value, str) for row in self.rows for value in row):
            return np.array(self.rows, dtype=float)
        return pd.DataFrame(self.rows, columns=list(self.names))

    def without(self, *columns):
        """Rows and weights where the given columns are present."""
        kept = [i for i, row in enumerate(self.rows) if not any(is_missing(row[j]) for j in columns)]
        return [self.rows[i] for i in kept], [self.mass[i] for i in kept]

    def repeated(self):
        """Every row as often as its (whole) weight says."""
        return Table(
            [row for row, w in zip(self.rows, self.mass, strict=True) for _ in range(int(w))], None, self.names
        )

    def explainer(self, f, y=None, **options):
        options = {"feature_names": self.names, "sample_weight": self.weights, "checks": False} | options
        if isinstance(self.native, pd.DataFrame):
            options.pop("feature_names")
        return Explainer(tabular(f), self.native, y, **options)


def is_missing(value):
    return not isinstance(value, str) and math.isnan(value)


def tabular(f):
    """A model of one row as a model of a table."""

    def model(X):
        rows = X.tolist() if isinstance(X, np.ndarray) else zip(*(X[name].tolist() for name in X), strict=True)
        return np.array([f(row) for row in rows])

    return model


def bent(row):
    """Interactions, a jump, a curve; missing and categories have values of their own."""
    a, b, c = (_number(value) for value in row)
    return (
        3.0 + 1.3 * a + a * b - 0.2 * b * b + (2.0 if a > 0.5 and c < 1.0 else 0.0) + 0.25 * c + 0.5 * math.sin(a * c)
    )


def additive(row):
    """No interaction."""
    a, b, c = (_number(value) for value in row)
    return 1.0 + 0.3 * a * a - 1.7 * a + 2.0 * math.tanh(b) + (1.0 if c > 0 else -0.5)


def _number(value):
    if isinstance(value, str):
        return {"red": 0.7, "green": -1.1, "blue": 2.0, "grey": 0.1}[value]
    return -0.6 if math.isnan(value) else value


def weights(n, whole=False):
    """None, whole weights, or quarters with some zeros; at least two rows count."""
    some = st.lists(st.integers(1, 3).map(float), min_size=n, max_size=n)
    if whole:
        return some
    quarters = st.lists(st.integers(0, 8).map(lambda k: k / 4), min_size=n, max_size=n)
    return st.one_of(st.none(), some, quarters.filter(lambda w: sum(v > 0 for v in w) >= 2))


def _column(n, kinds, missing):
    def of(kind):
        values = st.one_of(kind, kind, kind, kind, _MISSING) if missing else kind
        return st.lists(values, min_size=n, max_size=n)

    return st.sampled_from(kinds).flatmap(of)


@st.composite
def tables(draw, *, least=2, most=20, category=False, missing=(), weighted=True, whole=False, kinds=_KINDS):
    """A table of three columns; ``category``: the first holds levels; ``missing``: columns with holes."""
    n = draw(st.integers(least, most))
    columns = [draw(_column(n, kinds, j in missing)) for j in range(3)]
    if category:
        columns[0] = draw(st.lists(st.sampled_from(LEVELS), min_size=n, max_size=n))
    mass = draw(weights(n, whole)) if weighted or whole else None
    return Table([list(row) for row in zip(*columns, strict=True)], mass)


def varied(table, j):
    """Whether feature j has two values among the rows that count."""
    rows, mass = table.without(j)
    return len({row[j] for row, w in zip(rows, mass, strict=True) if w > 0}) > 1


def assert_close(actual, expected, tolerance=1e-10):
    expected = np.asarray(expected, dtype=float)
    scale = max(1.0, float(np.nanmax(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=0, atol=tolerance * scale)
