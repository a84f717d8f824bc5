"""Shapley values of linear and additive models, in closed form.

Strumbelj and Kononenko 2014 (marginal); Aas, Jullum and Loland 2021 and Chen et al. 2020 (correlated features).

Definition. For a model that is a weighted sum of encoded columns e, each made from one feature, f(x) = b_0 + sum of b
e(x), on some scale, with d = e(x) - E e:

- marginal game:      phi_j = sum over the columns of feature j of b d.   Without encoding:  b_j x_j - b_j E[X_j]
- conditional game:   v(S) = E f + sum over the known columns of b d + sum over the others of b Cov(e, e_S) Cov(e_S)^-1
  d_S

The latter is exact if the columns are jointly normal, and otherwise the best linear prediction of what is absent. The
worth of a coalition is linear in d; all its Shapley values follow by the usual estimators, which ask no model.

Estimator. Coefficients and encodings are read from the model (see `pellucid.models.linear`) and trusted only after they
have reproduced the model's own predictions of the explained rows, of background rows and of mixtures of those.

When it misleads: as `shapley_exact`. The conditional game knows only linear dependence between the columns, and credits
features the model does not use.

Cost. The explained rows and the background, once.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games import Game
from pellucid.games.marginal import Players
from pellucid.methods.attribution.estimation.estimate import Estimate, Solved
from pellucid.methods.attribution.estimators import Effort, solve
from pellucid.reading.additive import SumRows
from pellucid.runner import Run


def linear_shap(terms: SumRows, effort: Effort, *, players: Players, conditional: bool = False, run: Run) -> Solved:
    """Contributions of the players in each row."""
    member = np.array([np.isin(terms.source, columns) for columns in players.values()])
    middle = terms.share @ terms.background
    away = terms.explained - middle
    if conditional:
        game = _NormalGame(away, terms.background - middle, terms, member)
        found = solve(game, effort, run)
        values, se, pairs, inner = found.values, found.se, found.interactions, found.method
    else:
        values = np.einsum("ie,re,ek->rik", member, away, terms.slopes, optimize=True)
        se, inner = np.zeros(values.shape), "closed form"
        pairs = None if effort.index is None else _no_interactions(values)
    return Solved(
        Estimate("linear", values, se, pairs, settings={"inner": inner}),
        base=terms.intercept + middle @ terms.slopes,
        prediction=terms.prediction,
        scale=terms.scale,
        background=len(terms.background),
    )


def _no_interactions(values: FloatArray) -> FloatArray:
    """An additive model has contributions on the diagonal only."""
    pairs = np.zeros((values.shape[0], values.shape[1], *values.shape[1:]))
    own = np.arange(values.shape[1])
    pairs[:, own, own] = values
    return pairs


class _NormalGame(Game):
    """What a sum of jointly normal columns is expected to be, once some of them are known."""

    def __init__(self, away: FloatArray, background: FloatArray, terms: SumRows, member: BoolArray) -> None:
        scale = np.sqrt(terms.share @ np.square(background))
        scale = np.where(scale > 0, scale, 1.0)
        self._away, self._slopes, self._member = away / scale, terms.slopes * scale[:, None], member
        self._covariance = (background / scale).T @ (terms.share[:, None] * background / scale)
        self.rows, self.players, self.outputs = len(away), len(member), terms.slopes.shape[1]

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        weights = np.zeros((len(coalitions), *self._slopes.shape))
        for line, known in zip(weights, coalitions @ self._member, strict=True):
            along = self._covariance[np.ix_(known, ~known)] @ self._slopes[~known]
            inverse = np.linalg.pinv(self._covariance[np.ix_(known, known)], rcond=1e-10, hermitian=True)
            line[known] = self._slopes[known] + inverse @ along
        away = self._away if rows is None else self._away[rows]
        return np.asarray(np.einsum("re,cek->rck", away, weights, optimize=True))
