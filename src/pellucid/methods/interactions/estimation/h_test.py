"""Does an interaction that the model has learned hold in the data? A test without refitting the model.

Friedman and Popescu 2008 simulate a null distribution by refitting the model to data without interactions, which only
the owner of the training algorithm can do. This test needs predictions and outcomes of rows that the model has not
seen.

Definition. Let d be the interaction that the model has for a set of features (the numerator of H). Regress the outcome
on

- flexible functions of each feature of the set: what the set can do without interacting,
- flexible functions of the features that go with those of the set, and their products with them: what the model has
  missed of these would look like an interaction of the set,
- the model's other parts: main effects of all features, other interactions with features of the set, and the rest,
- d itself.

If the features of the set do not interact in truth, the coefficient of d is zero, whatever noise the model has made an
interaction of; if they do so as the model says, it is one. The p-value is that of the one-sided test that the
coefficient is positive, with errors of unequal variance allowed for (HC2, and no more degrees of freedom than there are
rows that carry the interaction; MacKinnon and White 1985, Bell and McCaffrey 2002). `adjusted` is Holm's adjustment for
the number of sets.

Estimator. Weighted least squares. Functions of a number are quadratic splines with knots at quantiles, closer together
towards the ends, where products of correlated features are largest; those of a category are free. At most `_MOST_ROWS`
rows, and at most a fifth as many columns as rows.

When it misleads: (1) on rows the model was fitted to, it has learned their noise as interactions, which then hold
there: use held-out rows; (2) interactions on the scale of the prediction only: what is additive in log-odds is none
in probabilities; (3) of few rows and many correlated features not all can be allowed for, and true nulls may be
rejected more often than the p-values say; (4) it has no power for an interaction that the model has missed or got
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.off_data import associations
from pellucid.errors import InputError
from pellucid.methods.interactions.estimation.dividends import Dividends, Members, subsets_of
from pellucid.methods.interactions.request import Request
from pellucid.models.outcome import outcome_for

_MOST_ROWS = 20_000
_KNOTS = 8
_OTHER_KNOTS = 3
_ROWS_PER_KNOT = 50
_ROWS_PER_COLUMN = 5
_CATEGORIES = 30
_NEAR = 0.2  # association from which another feature's interactions may pass for the set's
_FEWEST = 10  # degrees of freedom
_RANK = 1e-9
_NOTHING = 1e-10


def outcomes(request: Request, rows: Data) -> FloatArray:
    """``(rows, outputs)``: what the explained outputs predict, 0 or 1 for a class."""
    predictor = request.predictor
    if request.data.y is None:
        raise InputError("p_values=True needs the true outcome; give y to the Explainer.")
    if predictor.link == "logit" or (predictor.classes is not None and predictor.raw_scale != "probability"):
        raise InputError(
            "p_values=True compares predictions with y, which is on the scale of probabilities; use link='identity' and"
            " a model that predicts them."
        )
    y = outcome_for(predictor, rows)
    explained = list(predictor.explained)
    if predictor.classes is not None:
        return np.asarray(y[:, None] == np.array(explained), dtype=np.float64)
    return np.asarray(y[:, explained])


def interaction_p_values(request: Request, parts: Dividends) -> FloatArray:
    """``(sets, outputs)``"""
    y = outcomes(request, parts.rows)
    chosen = parts.rows.spread(_MOST_ROWS)
    rows, y = parts.rows.take(chosen), y[chosen]
    single = request.against == "all"
    asked = [tuple(sorted(members)) for members in request.sets]
    sets = sorted({part for members in asked for part in subsets_of(members)}, key=lambda s: (len(s), s))
    known = parts.dividends(sets)[chosen]
    targets = parts.totals([members[0] for members in asked]) if single else None
    together = associations(request.data, request.run)
    if together is None:
        together = np.zeros((len(rows.schema.names),) * 2)
    model = _Model(rows, list(request.players.values()), sets, known, parts.prediction[chosen], together)
    p = np.empty((len(asked), y.shape[1]))
    for s, members in enumerate(asked):
        for k in range(y.shape[1]):
            target = known[:, sets.index(members), k] if targets is None else targets[chosen, s, k]
            if np.std(target) <= parts.noise[k]:
                p[s, k] = 1.0
                continue
            nuisance = model.nuisance(members, target, k, single)
            p[s, k] = slope_p_value(target, nuisance, y[:, k], rows.weights)
    return p


@dataclass(frozen=True, eq=False)
class _Model:
    """The rows, the columns of each player, and the model's parts: dividends ``(rows, sets, outputs)`` and
    predictions.
    """

    rows: Data
    players: list[tuple[int, ...]]
    sets: list[Members]
    known: FloatArray
    prediction: FloatArray
    together: FloatArray  # association of every two columns

    def nuisance(self, members: Members, target: FloatArray, output: int, single: bool) -> FloatArray:
        """Columns for everything but the interaction of the members; what matters most first, as far as there are
        rows.
        """
        n = len(self.rows)
        parts = self.known[:, :, output]
        within = [s for s, part in enumerate(self.sets) if set(part) <= set(members) and (single or part != members)]
        own = [self.basis(j, min(_KNOTS, n // _ROWS_PER_KNOT)) for i in members for j in self.players[i]]
        columns = [np.ones((n, 1)), *own, parts[:, within]]
        room = n // _ROWS_PER_COLUMN - sum(part.shape[1] for part in columns) - 1
        taken: list[int] = []
        for column, s in self._others(members, parts, single):
            if column.shape[1] <= room:
                columns.append(column)
                room -= column.shape[1]
                taken += [] if s is None else [s]
        rest = self.prediction[:, output] - target - parts[:, within + taken].sum(axis=1)
        return np.hstack([*columns, rest[:, None]])

    def _others(self, members: Members, parts: FloatArray, single: bool) -> Iterator[tuple[FloatArray, int | None]]:
        """What else may act: features near the set, alone and with its features, then the model's parts, then other
        features.
        """
        mine = [j for i in members for j in self.players[i]]
        others = [j for i, player in enumerate(self.players) if i not in members for j in player]
        near = {j: max(self.together[j, own] for own in mine) for j in others}
        others.sort(key=lambda j: -near[j])
        knots = min(_OTHER_KNOTS, len(self.rows) // _ROWS_PER_KNOT)
        together = [j for j in others if near[j] >= _NEAR]
        for j in together:
            yield self.basis(j, knots), None
            if not single:
                products = [self.standard(j) * self.standard(own) for own in mine]
                yield np.column_stack([*products, self.standard(j)]), None
        sizes = parts.std(axis=0)
        for s in np.argsort(-sizes, kind="stable"):
            part = set(self.sets[s])
            if sizes[s] > 0 and not part <= set(members) and (len(part) == 1 or part & set(members)):
                yield parts[:, s : s + 1], int(s)
        for j in others:
            if j not in together:
                yield self.basis(j, knots), None

    def standard(self, j: int) -> FloatArray:
        """A column of numbers (of a category its position) with mean 0 and variance 1, missing ones in the middle."""
        codes = self.rows.codes(j)
        known = ~np.isnan(codes)
        middle = float(codes[known].mean()) if known.any() else 0.0
        spread = float(codes[known].std()) if known.any() else 0.0
        return np.where(known, codes - middle, 0.0) / (spread or 1.0)

    def basis(self, j: int, knots: int) -> FloatArray:
        """Functions of one column: free for few values, else quadratic splines; missing values have a level of their
        own.
        """
        codes, feature = self.rows.codes(j), self.rows.schema.features[j]
        missing = np.isnan(codes)
        values, counts = np.unique(codes[~missing], return_counts=True)
        if feature.nominal or len(values) <= knots + 2:
            frequent = values[np.argsort(-counts, kind="stable")][:_CATEGORIES]
            columns = [codes == value for value in frequent]
        else:
            x = np.where(missing, np.median(codes[~missing]), codes)
            x = (x - x.mean()) / (float(x.std()) or 1.0)
            levels = (1 - np.cos(np.pi * np.arange(1, knots + 1) / (knots + 1))) / 2
            columns = [x, x**2, *(np.maximum(x - knot, 0.0) ** 2 for knot in np.unique(np.quantile(x, levels)))]
        if missing.any():
            columns.append(missing)
        return (
            np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
            if columns
            else np.empty((len(codes), 0))
        )


def slope_p_value(target: FloatArray, nuisance: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """One-sided p-value of the coefficient of ``target`` in the regression of y on it and the nuisance columns."""
    from scipy.special import stdtr

    root = np.sqrt(weights / weights.mean())
    basis = orthonormal(nuisance * root[:, None])
    u = target * root
    size = float(u @ u)
    u = u - basis @ (basis.T @ u)
    u = u - basis @ (basis.T @ u)  # again, for what rounding has left
    freedom = len(y) - basis.shape[1] - 1
    left = float(u @ u)
    if left <= _NOTHING * size:
        return 1.0
    if freedom < _FEWEST:
        return np.nan
    e = y * root
    e = e - basis @ (basis.T @ e)
    slope = float(u @ e) / left
    leverage = np.square(basis).sum(axis=1) + np.square(u) / left
    error = (e - slope * u) / np.sqrt(np.maximum(1 - leverage, _NOTHING))
    spread = float(np.sqrt(np.square(u * error).sum())) / left
    if spread == 0:  # y is fitted without error
        return 0.0 if slope > 0 else 1.0
    freedom = min(freedom, left**2 / float(np.square(np.square(u)).sum()))  # few rows may carry the interaction
    return float(stdtr(freedom, -slope / spread))


def orthonormal(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of what the columns span; those that add nothing are dropped."""
    lengths = np.sqrt(np.square(columns).sum(axis=0))
    scaled = columns[:, lengths > 0] / lengths[lengths > 0]
    eigenvalues, vectors = np.linalg.eigh(scaled.T @ scaled)
    kept = eigenvalues > _RANK * eigenvalues.max(initial=0.0)
    return np.asarray(scaled @ (vectors[:, kept] / np.sqrt(eigenvalues[kept])))


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's adjustment for the number of sets, output by output; unknown ones do not count."""
    adjusted = np.full(p_values.shape, np.nan)
    for k in range(p_values.shape[1]):
        known = np.flatnonzero(~np.isnan(p_values[:, k]))
        order = known[np.argsort(p_values[known, k], kind="stable")]
        factor = np.arange(len(order), 0, -1)
        adjusted[order, k] = np.minimum(np.maximum.accumulate(factor * p_values[order, k]), 1.0)
    return adjusted
