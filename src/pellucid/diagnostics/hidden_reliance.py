"""Can this model be fooling us? LIME and marginal Shapley values ask it about rows that never occurred.

Reference. Slack, Hilgard, Jia, Singh and Lakkaraju 2020, "Fooling LIME and SHAP: adversarial attacks on post hoc
explanation methods": a model decides by a sensitive feature, but answers by a harmless one wherever it recognises a row
as synthetic. Explanations made of synthetic rows show the harmless one.

Definition. Real rows are rows of X. A mixture takes each player (feature or group) from one of two real rows, by a
coin. For a set J of players, in units of the variance of the predictions f for real rows,

    R_J = E Var(f(X) | X_-J)           what J decides between real rows that are otherwise alike
    T_J = E (f(M_J=x) - f(M_J=z))^2/2  what J decides in a mixture M of the rows x and z
    G   = E (f(X) - m(X))^2            what mixtures do not tell about real rows; m is f as learned from mixtures

An honest f is the same function on both, and mixtures lie around all real rows. If J does nothing to mixtures (T = 0),
it does nothing to real rows (R = 0); for additive f R = T with independent features and R < T with dependent ones. And
to learn f on real rows from mixtures is to interpolate. A model that switches has R large, T small and G large.

Estimators. R: the errors of an imitation of f on real rows without J, less those of one with J, each row left out in
turn. T: the mean over pairs of real rows, where of four mixtures the one is taken that is farthest from all other real
rows; choosing among the mixtures of a pair, not among pairs, keeps the values of the features representative. G: the
errors on real rows of an imitation learned from the mixtures of T, less the errors of the one with J. J is each of the
three players that matter most to the imitation on real rows, and all three together, because features can stand in for
each other. Both sides are taken at the cautious end of their interval, R two standard errors down, T two up (and as if
one pair more had differed by two standard deviations).

Two imitations. The first is a sum of curves, one per feature, by ridge regression: some milliseconds. Of nearly every
honest model it shows that nothing is hidden, and there the check ends. Where it finds something, a forest (errors out
of bag) is asked whether that remains when interactions are imitated too, and what it says counts. `audit` asks the
forest always.

Thresholds. It fires when R is worth it (a tenth of the variance), T is below half of R, and G above half of the
variance. They were chosen on these simulations, so the counts flatter them somewhat, and the
counts are those of the forests on all pairs of rows, before curves looked first; wherever R was worth it:

- 176 honest models (linear, logistic, forest, boosting, network, support vectors, neighbours, tree; 12 simulated and 12
  real tables, two seeds each): R/T was 0.4 in the middle, 1.1 at the 99% quantile, 1.6 at most. G was above 0.5 for one
  network on one table, with R/T below 0.2. None fired.
- 108 models that do not see one of their columns, some of these columns a formula of others (product, sign, sine): R/T
  passed 2 in 43 sets, since the formula helps the imitation, but G was 0.47 at most. None fired.
- 14 attacks on 12 tables, three seeds each: 38 of 42 were found, with R/T from 3.4 to 74 and G from 0.6 to 5.2. Missed
  were those by the colour of wine, which its chemistry gives away (R about 0.1), and once one whose G was 0.48.

How well distances tell mixtures from real rows (area under the curve) is told but decides nothing: a model that knows
its rows by heart recognises mixtures that cannot be told from real rows otherwise.

When it misleads.
1. A sensitive feature that more than two others determine together is not missed by an imitation without it: R is
   small, and the attack stays hidden.
2. The rows must be those on which the model shows its true face, as a rule those it was trained on.
3. A model that is constant far from its training rows (a narrow kernel) fires without any intent; that the
   mixtures show little of what it does with real rows is true all the same.
4. Rules that need many conditions at once are rarer among mixtures than among real rows: T is small, G is not large.

5. What a model decides by interactions alone is not seen by the sum of curves; `audit` sees it.

Cost. At most 1,000 model rows, once for an Explainer and scale, and some milliseconds; where the first imitation is
suspicious 1,440 more and six small forests (0.4 s).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.forest import Forest
from pellucid.diagnostics.general import SAMPLE_ROWS, Players, sample_predictions
from pellucid.explanations import Caveat
from pellucid.explanations.advice import advice
from pellucid.models import Predictor
from pellucid.runner import Intervention, Run
from pellucid.words import listed, number, percent

HIDDEN = 0.5
WORTH = 0.1
UNTOLD = 0.5
_LOOKED_INTO = 0.5  # of these three: from there on the forest is asked

_POINTS = 500
_PAIRS = (60, 180)  # of rows that are mixed: at a first look, and in all
_FEWEST_ROWS, _FEWEST_PLAYERS, _WIDEST = 100, 3, 100
_OUTPUTS = 5  # those that vary most
_TREES = 40
_KNOTS = 6
_COLUMNS = 150  # of all curves together
_SUSPECTS = 3
_CHOICES = 4


@dataclass(frozen=True)
class Reliance:
    """How much the predictions rely on some players: between real rows, at least, and in mixtures, at most.

    ``untold`` is G of this module, of the model and not of the players.
    """

    players: tuple[str, ...]
    on_data: float
    in_mixtures: float
    untold: float = 0.0

    @property
    def hidden(self) -> float:
        """The share of the reliance between real rows that mixtures do not show."""
        return max(1.0 - self.in_mixtures / self.on_data, 0.0) if self.on_data > 0 else 0.0

    def suspicious(self, times: float = 1.0) -> bool:
        """Whether mixtures show too little of a reliance that is worth it; by so many times the usual limits."""
        return self.on_data >= times * WORTH and self.hidden > times * HIDDEN

    def fooled(self, times: float = 1.0) -> bool:
        """Whether real rows and mixtures are answered differently: mixtures do not tell what real rows get, either."""
        return self.suspicious(times) and self.untold > times * UNTOLD


def fooled_caveat(
    predictor: Predictor, data: Data, rows: Data, players: Players, run: Run, *, verb: str
) -> Iterator[Caveat]:
    """The model answers mixtures of rows by other features than real rows."""
    if not run.checks or not can_tell(data, players):
        return
    real = real_rows(data, players, run)
    found = run.remember(f"fooled {predictor.scale}", lambda: reliances(predictor, real, run))
    worst = max((one for one in found if one.fooled()), key=lambda one: one.hidden, default=None)
    if worst is None:
        return
    name = listed(worst.players)
    together = " together" if len(worst.players) > 1 else ""
    yield Caveat(
        code="fooled",
        message=(
            "The model seems to recognise synthetic rows and to treat them differently:"
            f" {name}{together} {'account' if together else 'accounts'} for {percent(min(worst.on_data, 1.0))} of the"
            " variation of the predictions between real rows, but for at most"
            f" {percent(min(worst.in_mixtures, 1.0))} in the mixtures of rows that this explanation is computed from."
            f" What can be learned from mixtures leaves {percent(min(worst.untold, 1.0))} of the variation of the"
            " predictions for real rows unexplained. Distances separate mixtures of the explained rows from real rows"
            f" with an AUC of {number(told_apart(real, rows, run))}."
        ),
        value=worst.hidden,
        threshold=HIDDEN,
        advice=advice("fooled", verb, compare=f"compare the predictions for real rows that differ in {name}"),
        feature=worst.players[0],
    )


def can_tell(data: Data, players: Players) -> bool:
    """Whether there are rows and players enough, and not too many columns."""
    width = sum(len(members) for members in players.values())
    enough = int((data.weights > 0).sum()) >= _FEWEST_ROWS
    return enough and len(players) >= _FEWEST_PLAYERS and width <= _WIDEST


# -- real rows and mixtures --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Real:
    """Some real rows: codes ``(rows, features)``, the features' players by number, each feature's distinct values, and
    the places of the codes among these (missing last); and whether other checks know the predictions for them.
    """

    data: Data
    shared: bool
    names: tuple[str, ...]
    features: tuple[int, ...]
    owner: IntArray
    codes: FloatArray
    levels: tuple[FloatArray, ...]
    ranks: FloatArray

    def predicted(self, predictor: Predictor, run: Run) -> FloatArray:
        """The predictions for them."""
        if self.shared:
            return predictor.restrict(sample_predictions(predictor, self.data, run))
        with run.checking():
            return run.predict(predictor, self.data)

    def ranked(self, codes: FloatArray) -> FloatArray:
        """The place of each code among the distinct values."""
        return _ranked(self.levels, codes)

    def coins(self, n: int, generator: np.random.Generator) -> BoolArray:
        """For each of n mixtures, which features are taken from its first row."""
        return (generator.random((n, len(self.names))) < 0.5)[:, self.owner]

    def distance(self, ranks: FloatArray, parents: tuple[IntArray, ...]) -> FloatArray:
        """Squared distance of each point to the nearest real row that is none of its parents, in spreads of ranks."""
        spread = np.where(self.ranks.std(axis=0) > 0, self.ranks.std(axis=0), 1.0)
        rows, points = self.ranks / spread, ranks / spread
        beyond = (-2 * points) @ rows.T + np.square(rows).sum(axis=1)
        for parent in parents:
            beyond[np.arange(len(points)), parent] = np.inf
        return np.asarray(beyond.min(axis=1) + np.square(points).sum(axis=1))


def _ranked(levels: tuple[FloatArray, ...], codes: FloatArray) -> FloatArray:
    places = [np.searchsorted(known, column) for known, column in zip(levels, codes.T, strict=True)]
    return np.stack(places, axis=1).astype(np.float64)


def real_rows(data: Data, players: Players, run: Run) -> Real:
    """The sample that other checks look at, or where weights differ, rows drawn by these; once for an Explainer."""
    return run.remember("fooled rows", lambda: _drawn(data, players, run))


def _drawn(data: Data, players: Players, run: Run) -> Real:
    share = data.weights / data.weights.sum()
    alike = bool((share == share[0]).all())
    size = min(SAMPLE_ROWS, int((share > 0).sum()))
    drawn = (
        data.spread(size)
        if alike
        else run.generator("hidden-reliance.rows").choice(len(data), size, replace=False, p=share)
    )
    some = data.take(drawn)
    features = tuple(j for members in players.values() for j in members)
    owner = np.repeat(np.arange(len(players)), [len(members) for members in players.values()])
    codes = np.stack([some.codes(j) for j in features], axis=1)
    levels = tuple(np.unique(column) for column in codes.T)
    return Real(some, alike, tuple(players), features, owner, codes, levels, _ranked(levels, codes))


def told_apart(real: Real, rows: Data, run: Run) -> float:
    """Area under the curve: the chance that a mixture of an explained row is farther from the data than a real row."""
    generator = run.generator("hidden-reliance.mixtures")
    explained = real.ranked(np.stack([rows.codes(j) for j in real.features], axis=1))
    x, z = generator.integers(0, [[len(explained)], [len(real.ranks)]], (2, _POINTS))
    own = np.array([_first_equal(real.ranks, row) for row in explained])[x]
    mixed = np.where(real.coins(_POINTS, generator), explained[x], real.ranks[z])
    mixtures = real.distance(mixed, (z, np.where(own < 0, z, own)))[:, None]
    truly = real.distance(real.ranks, (np.arange(len(real.ranks)),))
    return float(np.mean((mixtures > truly) + 0.5 * (mixtures == truly)))


def _first_equal(rows: FloatArray, row: FloatArray) -> int:
    """The place of the first row that is the same, or -1."""
    same = (rows == row).all(axis=1)
    return int(np.argmax(same)) if same.any() else -1


# -- what the predictions rely on --------------------------------------------------------------------


def reliances(predictor: Predictor, real: Real, run: Run, *, thorough: bool = False) -> tuple[Reliance, ...]:
    """R, T and G for the players that matter most between real rows; nothing where none of them is worth it.

    By the quick imitation, and where that is suspicious (or to be ``thorough``) by the forest. G is worked out where it
    can decide, and zero elsewhere.
    """
    predictions = real.predicted(predictor, run)
    unit = _Unit.of(predictions)
    if not unit.outputs.size:
        return ()
    y = unit.scaled(predictions)
    quick, forest = _Curves(real), _Forest(run.seed)
    first: _Imitation = forest if thorough else quick
    suspects = _suspects(real, first.errors(real.ranks, y)[1])
    inside = [np.isin(real.owner, J) for J in suspects]
    on_data = _between_rows(first, real.ranks, y, inside)
    worth = [k for k, reliance in enumerate(on_data) if reliance >= (1.0 if thorough else _LOOKED_INTO) * WORTH]
    if not worth:
        return ()
    suspects, inside, on_data = [suspects[k] for k in worth], [inside[k] for k in worth], [on_data[k] for k in worth]

    def judged(imitation: _Imitation, on_data: list[float], pairs: int, times: float) -> tuple[Reliance, ...]:
        mixed = _Mixtures.asked(predictor, real, inside, unit, run, pairs)
        found = [
            Reliance(tuple(real.names[i] for i in J), reliance, mixture)
            for J, reliance, mixture in zip(suspects, on_data, mixed.changes(), strict=True)
        ]
        if not any(one.suspicious(times) for one in found):
            return tuple(found)
        untold = mixed.untold(imitation, y)
        return tuple(replace(one, untold=untold) for one in found)

    few, all_of_them = _PAIRS
    if thorough:
        return judged(forest, on_data, all_of_them, 1.0)
    found = judged(quick, on_data, few, _LOOKED_INTO)
    if not any(one.fooled(_LOOKED_INTO) for one in found):
        return found
    return judged(forest, _between_rows(forest, real.ranks, y, inside), all_of_them, 1.0)


@dataclass(frozen=True, eq=False)
class _Unit:
    """The outputs that vary most between real rows, with the mean and spread that they are measured by."""

    outputs: IntArray
    centre: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, predictions: FloatArray) -> _Unit:
        centre, spread = predictions.mean(axis=0), predictions.std(axis=0)
        order = np.argsort(-spread, kind="stable")[:_OUTPUTS]
        outputs = order[spread[order] > 1e-9 * np.abs(predictions).max()]
        return cls(outputs, centre[outputs], spread[outputs])

    def scaled(self, predictions: FloatArray) -> FloatArray:
        return np.asarray((predictions[..., self.outputs] - self.centre) / self.spread)


@dataclass(frozen=True, eq=False)
class _Mixtures:
    """Mixtures of pairs of real rows, in pairs that differ in the suspects: ranks and scaled predictions
    ``(variants, pairs, ...)``.
    """

    real: Real
    ranks: FloatArray
    answers: FloatArray

    @classmethod
    def asked(
        cls, predictor: Predictor, real: Real, inside: list[BoolArray], unit: _Unit, run: Run, pairs: int
    ) -> _Mixtures:
        x, z, known = _most_synthetic(real, run, pairs)
        taken = np.stack([variant for J in inside for variant in (known | J, known & ~J)])
        pools = tuple(real.data.pool(j, codes) for j, codes in zip(real.features, real.codes.T, strict=True))
        intervention = Intervention(real.features, pools, np.where(taken, x[:, None], z[:, None]).astype(np.intp))
        with run.checking():
            answers = unit.scaled(run.collect(predictor, real.data.take(z), intervention))
        return cls(real, np.where(taken, real.ranks[x], real.ranks[z]), answers)

    def changes(self) -> list[float]:
        """T of each set of suspects."""
        each = np.square(self.answers[::2] - self.answers[1::2]).mean(axis=2) / 2
        return [float((one.sum() + 2.0) / (len(one) + 1) + 2 * _error(one)) for one in each]

    def untold(self, imitation: _Imitation, y: FloatArray) -> float:
        """G: the mean squared error, on real rows, of an imitation that has learned the model from mixtures, less that
        of one that has learned it from other real rows.
        """
        mixed, answers = (part.reshape(-1, part.shape[-1]) for part in (self.ranks, self.answers))
        told = imitation.learned(mixed, answers, self.real.ranks)
        return float(np.square(told - y).mean() - imitation.errors(self.real.ranks, y)[0].mean())


def _most_synthetic(real: Real, run: Run, pairs: int) -> tuple[IntArray, IntArray, BoolArray]:
    """Pairs of real rows, and for each the most synthetic of a few mixtures: which features come from the first."""
    generator = run.generator("hidden-reliance.synthetic", pairs)
    x, z = generator.integers(0, len(real.ranks), (2, pairs))
    choices = np.stack([real.coins(pairs, generator) for _ in range(_CHOICES)])
    mixed = np.where(choices, real.ranks[x], real.ranks[z]).reshape(-1, real.ranks.shape[1])
    far = real.distance(mixed, (np.tile(x, _CHOICES), np.tile(z, _CHOICES))).reshape(_CHOICES, pairs)
    return x, z, choices[far.argmax(axis=0), np.arange(pairs)]


def _suspects(real: Real, importance: FloatArray) -> list[tuple[int, ...]]:
    """The players that matter most to an imitation, one by one, and together if others are left."""
    matters = np.bincount(real.owner, weights=importance)
    most = [int(i) for i in np.argsort(-matters, kind="stable")[:_SUSPECTS]]
    together = [tuple(most)] if len(real.names) > _SUSPECTS + 1 else []
    return [(i,) for i in most] + together


def _between_rows(imitation: _Imitation, ranks: FloatArray, y: FloatArray, inside: list[BoolArray]) -> list[float]:
    """R of each set of suspects."""
    errors = imitation.errors(ranks, y)[0]
    gains = [imitation.errors(ranks, y, ~J)[0] - errors for J in inside]
    return [float(gain.mean() - 2 * _error(gain)) for gain in gains]


def _error(values: FloatArray) -> float:
    """Standard error of the mean."""
    return float(values.std() / np.sqrt(len(values)))


# -- imitations --------------------------------------------------------------------------------------


class _Imitation(Protocol):
    """Something that learns the model's scaled predictions ``(rows, outputs)`` from ranks ``(rows, features)``."""

    def errors(
        self, ranks: FloatArray, y: FloatArray, kept: BoolArray | None = None
    ) -> tuple[FloatArray, FloatArray]: ...

    def learned(self, ranks: FloatArray, y: FloatArray, elsewhere: FloatArray) -> FloatArray: ...


def _or_mean(errors: FloatArray, y: FloatArray) -> FloatArray:
    """An imitation that finds nothing does worse than the mean, which is zero here and then the better imitation."""
    return min(errors, np.square(y).mean(axis=1), key=np.mean)


class _Curves:
    """A sum of piecewise linear curves, one per feature, by ridge regression; few levels have a value each."""

    def __init__(self, real: Real) -> None:
        width = len(real.features)
        most = max(1, min(_KNOTS, _COLUMNS // width))
        self._heights = [_heights(column, len(levels), most) for column, levels in _columns(real)]
        self._owner = np.repeat(np.arange(width), [table.shape[1] for table in self._heights])
        self._starts = np.searchsorted(self._owner, np.arange(width))
        self._fitted: tuple[FloatArray, ...] | None = None

    def errors(self, ranks: FloatArray, y: FloatArray, kept: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Squared errors of the rows, each left out in turn, and how much the curve of each feature varies.

        Without some features by the formula for a part of an inverse, from one fit with all.
        """
        if self._fitted is None:
            basis = self._basis(ranks)
            inverse: FloatArray = np.asarray(np.linalg.inv(_gram(basis)), dtype=np.float64)
            spanned: FloatArray = basis @ inverse
            leverage: FloatArray = np.einsum("rc,rc->r", basis, spanned)
            self._fitted = basis, inverse, spanned, spanned.T @ y, leverage
        basis, inverse, spanned, coefficients, leverage = self._fitted
        fit = basis @ coefficients
        if kept is not None:
            out = ~kept[self._owner]
            taken = np.linalg.solve(inverse[np.ix_(out, out)], spanned[:, out].T)
            fit = fit - taken.T @ coefficients[out]
            leverage = leverage - np.einsum("cr,rc->r", taken, spanned[:, out])
        errors = np.square((y - fit) / (1 - np.minimum(leverage + 1 / len(y), 0.99))[:, None]).mean(axis=1)
        curves = np.add.reduceat(basis[:, :, None] * coefficients, self._starts, axis=1)
        return _or_mean(errors, y), curves.var(axis=0).mean(axis=1)

    def learned(self, ranks: FloatArray, y: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """What it predicts elsewhere."""
        basis, centre = self._basis(ranks), y.mean(axis=0)
        coefficients = np.linalg.solve(_gram(basis), basis.T @ (y - centre))
        return np.asarray(self._basis(elsewhere) @ coefficients + centre)

    def _basis(self, ranks: FloatArray) -> FloatArray:
        places = ranks.astype(np.intp)
        return np.concatenate([table[places[:, j]] for j, table in enumerate(self._heights)], axis=1)


def _columns(real: Real) -> Iterator[tuple[FloatArray, FloatArray]]:
    return zip(real.ranks.T, real.levels, strict=True)


def _heights(ranks: FloatArray, levels: int, most: int) -> FloatArray:
    """``(levels, knots less one)``: 1 at a knot, 0 at the others, linear between; less the mean over the rows.

    The knots are the levels themselves if they are few, else there are evenly many rows between two of them.
    """
    knots = np.arange(levels) if levels <= most + 1 else np.unique(np.quantile(ranks, np.linspace(0, 1, most + 1)))
    place = np.interp(np.arange(levels + 1), knots, np.arange(len(knots)))  # one more for what no row has
    hats = np.maximum(1 - np.abs(place[:, None] - np.arange(1, max(len(knots), 2))), 0.0)
    return np.asarray(hats - hats[ranks.astype(np.intp)].mean(axis=0))


def _gram(basis: FloatArray) -> FloatArray:
    gram = basis.T @ basis
    return np.asarray(gram + np.eye(len(gram)) * max(1e-3 * np.trace(gram) / len(gram), 1e-12))


class _Forest:
    """A random forest."""

    def __init__(self, seed: int) -> None:
        self._seed = seed % 2**32
        self._known: tuple[FloatArray, FloatArray] | None = None

    def errors(self, ranks: FloatArray, y: FloatArray, kept: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Squared errors out of bag, and what each column matters."""
        if kept is None and self._known is not None:
            return self._known
        ranks = ranks if kept is None else ranks[:, kept]
        forest = self._grown(ranks, y)
        errors = np.square(forest.out_of_bag(ranks) - y).mean(axis=1)
        found = _or_mean(errors, y), forest.importances()
        self._known = found if kept is None else self._known
        return found

    def learned(self, ranks: FloatArray, y: FloatArray, elsewhere: FloatArray) -> FloatArray:
        """What it predicts elsewhere."""
        return self._grown(ranks, y).predict(elsewhere)

    def _grown(self, ranks: FloatArray, y: FloatArray) -> Forest:
        width = ranks.shape[1]
        tried = min(width, max(4, int(2 * np.sqrt(width))))  # all of few columns, about twice the root of many
        return Forest.grown(ranks, y, trees=_TREES, leaf=2, tried=tried, seed=self._seed)
