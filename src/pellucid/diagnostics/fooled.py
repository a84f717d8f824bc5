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

Estimators. R: the errors out of bag of a forest that imitates f on real rows without J, less those of one with J. T:
the mean over pairs of real rows, where of four mixtures the one is taken that a classifier (real rows against mixtures,
trained on half of the rows) finds most synthetic; choosing among the mixtures of a pair, not among pairs, keeps the
values of the features representative. G: the errors of a forest learned from the mixtures of T, less the errors out of
bag of the one with J. J is each of the three players that matter most to the imitation on real rows, and all three
together, because features can stand in for each other. Both sides are taken at the cautious end of their interval, R
two standard errors down, T two up (and as if one pair more had differed by two standard deviations).

Thresholds. It fires when R is worth it (a tenth of the variance), T is below half of R, and G above half of the
variance. They were chosen on these simulations, so the counts flatter them somewhat; wherever R was worth it:

- 176 honest models (linear, logistic, forest, boosting, network, support vectors, neighbours, tree; 12 simulated and 12
  real tables, two seeds each): R/T was 0.4 in the middle, 1.1 at the 99% quantile, 1.6 at most. G was above 0.5 for one
  network on one table, with R/T below 0.2. None fired.
- 108 models that do not see one of their columns, some of these columns a formula of others (product, sign, sine): R/T
  passed 2 in 43 sets, since the formula helps the imitation, but G was 0.47 at most. None fired.
- 14 attacks on 12 tables, three seeds each: 38 of 42 were found, with R/T from 3.4 to 74 and G from 0.6 to 5.2. Missed
  were those by the colour of wine, which its chemistry gives away (R about 0.1), and once one whose G was 0.48.

The classifier's area under the curve is told but decides nothing: a model that knows its rows by heart recognises
mixtures that a classifier which has not seen those rows cannot tell from real ones.

When it misleads.
1. A sensitive feature that more than two others determine together is not missed by an imitation without it: R is
   small, and the attack stays hidden.
2. The rows must be those on which the model shows its true face, as a rule those it was trained on.
3. A model that is constant far from its training rows (a narrow kernel) fires without any intent; that the
   mixtures show little of what it does with real rows is true all the same.
4. Rules that need many conditions at once are rarer among mixtures than among real rows: T is small, G is not large.

Cost. At most 2,000 model rows, once for an Explainer and scale; five to seven small forests, some 0.4 s for ten
features and 1 s for a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import Players
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Intervention, Run
from pellucid.words import listed, number, percent

HIDDEN = 0.5
WORTH = 0.1
UNTOLD = 0.5

_KEY = 23  # of the random generator
_REAL = 500
_PAIRS = 180
_FEWEST_ROWS, _FEWEST_PLAYERS, _WIDEST = 100, 3, 100
_OUTPUTS = 5  # those that vary most
_TREES = 40
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

    @property
    def suspicious(self) -> bool:
        """Whether mixtures show too little of a reliance that is worth it."""
        return self.on_data >= WORTH and self.hidden > HIDDEN

    @property
    def fooled(self) -> bool:
        """Whether real rows and mixtures are answered differently: mixtures do not tell what real rows get, either."""
        return self.suspicious and self.untold > UNTOLD


def fooled_caveat(predictor: Predictor, data: Data, rows: Data, players: Players, run: Run) -> Iterator[Caveat]:
    """The model answers mixtures of rows by other features than real rows."""
    if not run.checks or not _can_tell(data, players):
        return
    real = run.remember("fooled rows", lambda: _real_rows(data, players, run))
    found = run.remember(f"fooled {predictor.scale}", lambda: reliances(predictor, real, run))
    worst = max((one for one in found if one.fooled), key=lambda one: one.hidden, default=None)
    if worst is None:
        return
    name = listed(worst.players)
    together = " together" if len(worst.players) > 1 else ""
    seen = _Detector.of(real, run).told_apart(real, rows, run)
    yield Caveat(
        code="fooled",
        message=(
            f"Between real rows {name}{together} accounts for {percent(min(worst.on_data, 1.0))} of the variation of"
            " the predictions, in the mixtures of rows that this explanation is made from for"
            f" {percent(min(worst.in_mixtures, 1.0))} at most: the model seems to know synthetic rows and to answer"
            f" them otherwise. What mixtures teach about it leaves {percent(min(worst.untold, 1.0))} of its predictions"
            " for real rows unexplained. A classifier tells mixtures of the explained rows from real rows with an area"
            f" under the curve of {number(seen)}."
        ),
        value=worst.hidden,
        threshold=HIDDEN,
        advice=(
            "Distrust contributions from the marginal game and LIME for this model: it may hide what it does with"
            f" {name}. Use game='conditional', and compare its predictions for real rows that differ in {name}."
        ),
        feature=worst.players[0],
    )


def _can_tell(data: Data, players: Players) -> bool:
    width = sum(len(members) for members in players.values())
    enough = int((data.weights > 0).sum()) >= _FEWEST_ROWS
    return enough and len(players) >= _FEWEST_PLAYERS and width <= _WIDEST


# -- real rows and mixtures --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Real:
    """Some real rows: codes ``(rows, features)``, the features' players by number, and each feature's distinct
    values.
    """

    data: Data
    names: tuple[str, ...]
    features: tuple[int, ...]
    owner: IntArray
    codes: FloatArray
    levels: tuple[FloatArray, ...]

    def ranks(self, codes: FloatArray) -> FloatArray:
        """The place of each code among the distinct values, missing last: what a forest can work with."""
        places = [np.searchsorted(levels, column) for levels, column in zip(self.levels, codes.T, strict=True)]
        return np.stack(places, axis=1).astype(np.float64)

    def coins(self, n: int, generator: np.random.Generator) -> BoolArray:
        """For each of n mixtures, which features are taken from its first row."""
        return (generator.random((n, len(self.names))) < 0.5)[:, self.owner]


def _real_rows(data: Data, players: Players, run: Run) -> _Real:
    share = data.weights / data.weights.sum()
    size = min(_REAL, int((share > 0).sum()))
    some = data.take(run.generator(_KEY).choice(len(data), size, replace=False, p=share))
    features = tuple(j for members in players.values() for j in members)
    owner = np.repeat(np.arange(len(players)), [len(members) for members in players.values()])
    codes = np.stack([some.codes(j) for j in features], axis=1)
    levels = tuple(np.unique(column) for column in codes.T)
    return _Real(some, tuple(players), features, owner, codes, levels)


@dataclass(frozen=True, eq=False)
class _Detector:
    """A classifier between real rows and mixtures, trained on the first half of the real rows."""

    forest: Any

    @classmethod
    def of(cls, real: _Real, run: Run) -> _Detector:
        """The classifier, trained once."""
        return run.remember("fooled detector", lambda: cls._trained(real, run))

    @classmethod
    def _trained(cls, real: _Real, run: Run) -> _Detector:
        from sklearn.ensemble import RandomForestClassifier  # on use: slow to import

        generator = run.generator(_KEY, 1)
        ranks = real.ranks(real.codes)
        half = len(ranks) // 2
        x, z = generator.integers(0, half, (2, 2 * half))
        mixed = np.where(real.coins(2 * half, generator), ranks[x], ranks[z])
        forest = RandomForestClassifier(
            _TREES,
            min_samples_leaf=5,
            max_features=_tried(ranks.shape[1]),
            class_weight="balanced",
            random_state=run.seed % 2**32,
        )
        labels = np.repeat([0, 1], [half, 2 * half])
        return cls(forest.fit(np.concatenate([ranks[:half], mixed]), labels))

    def looks(self, ranks: FloatArray) -> FloatArray:
        """How synthetic rows look, from 0 to 1."""
        scores: FloatArray = self.forest.predict_proba(ranks)[:, 1]
        return scores

    def told_apart(self, real: _Real, rows: Data, run: Run) -> float:
        """Area under the curve: the chance that a mixture of an explained row looks more synthetic than a real one."""
        generator = run.generator(_KEY, 2)
        half = len(real.codes) // 2
        own = real.ranks(real.codes[half:])
        explained = real.ranks(np.stack([rows.codes(j) for j in real.features], axis=1))
        x, z = generator.integers(0, [[len(explained)], [len(own)]], (2, _REAL))
        mixtures = self.looks(np.where(real.coins(_REAL, generator), explained[x], own[z]))[:, None]
        truly = self.looks(own)
        return float(np.mean((mixtures > truly) + 0.5 * (mixtures == truly)))


# -- what the predictions rely on --------------------------------------------------------------------


def reliances(predictor: Predictor, real: _Real, run: Run) -> tuple[Reliance, ...]:
    """R, T and G for the players that matter most between real rows; nothing where none of them is worth it.

    G is worked out where it can decide, and zero elsewhere.
    """
    with run.checking():
        predictions = run.predict(predictor, real.data)
    unit = _Unit.of(predictions)
    if not unit.outputs.size:
        return ()
    ranks, y = real.ranks(real.codes), unit.scaled(predictions)
    errors, importance = _imitation(ranks, y, run.seed)
    suspects = _suspects(real, importance)
    inside = [np.isin(real.owner, J) for J in suspects]
    gains = [_imitation(ranks[:, ~J], y, run.seed)[0] - errors for J in inside]
    on_data = [float(gain.mean() - 2 * _error(gain)) for gain in gains]
    if max(on_data) < WORTH:
        return ()
    x, z, known = _most_synthetic(real, ranks, run)
    taken = np.stack([variant for J in inside for variant in (known | J, known & ~J)])
    with run.checking():
        answers = unit.scaled(_asked(predictor, real, x, z, taken, run))
    changes = np.square(answers[::2] - answers[1::2]).mean(axis=2) / 2
    found = [
        Reliance(
            players=tuple(real.names[i] for i in J),
            on_data=reliance,
            in_mixtures=float((change.sum() + 2.0) / (len(change) + 1) + 2 * _error(change)),
        )
        for J, reliance, change in zip(suspects, on_data, changes, strict=True)
    ]
    if not any(one.suspicious for one in found):
        return tuple(found)
    untold = _untold(np.where(taken, ranks[x], ranks[z]), answers, ranks, y, run.seed) - errors.mean()
    return tuple(replace(one, untold=float(untold)) for one in found)


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


def _suspects(real: _Real, importance: FloatArray) -> list[tuple[int, ...]]:
    """The players that matter most to an imitation, one by one, and together if others are left."""
    matters = np.bincount(real.owner, weights=importance)
    most = [int(i) for i in np.argsort(-matters, kind="stable")[:_SUSPECTS]]
    together = [tuple(most)] if len(real.names) > _SUSPECTS + 1 else []
    return [(i,) for i in most] + together


def _most_synthetic(real: _Real, ranks: FloatArray, run: Run) -> tuple[IntArray, IntArray, BoolArray]:
    """Pairs of real rows, and for each the most synthetic of a few mixtures: which features come from the first."""
    generator = run.generator(_KEY, 3)
    x, z = generator.integers(0, len(ranks), (2, _PAIRS))
    choices = np.stack([real.coins(_PAIRS, generator) for _ in range(_CHOICES)])
    scores = _Detector.of(real, run).looks(np.where(choices, ranks[x], ranks[z]).reshape(-1, ranks.shape[1]))
    best = scores.reshape(_CHOICES, _PAIRS).argmax(axis=0)
    return x, z, choices[best, np.arange(_PAIRS)]


def _asked(predictor: Predictor, real: _Real, x: IntArray, z: IntArray, taken: BoolArray, run: Run) -> FloatArray:
    """Predictions ``(variants, pairs, outputs)`` of mixtures that take the given features from x, the others from z."""
    pools = tuple(real.data.pool(j, codes) for j, codes in zip(real.features, real.codes.T, strict=True))
    intervention = Intervention(real.features, pools, np.where(taken, x[:, None], z[:, None]).astype(np.intp))
    return run.collect(predictor, real.data.take(z), intervention)


def _untold(mixtures: FloatArray, answers: FloatArray, real: FloatArray, y: FloatArray, seed: int) -> float:
    """Mean squared error, on real rows, of a forest that has learned the model from mixtures."""
    forest = _forest(mixtures.shape[-1], seed)
    forest.fit(mixtures.reshape(-1, mixtures.shape[-1]), _flat(answers.reshape(-1, answers.shape[-1])))
    return float(np.square(forest.predict(real).reshape(y.shape) - y).mean())


def _imitation(ranks: FloatArray, y: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Squared errors out of bag of a forest that imitates the model on real rows, and what each column matters to it.

    A forest that finds nothing does worse than the mean, which is zero here: then the mean is the better imitation.
    """
    forest = _forest(ranks.shape[1], seed, oob_score=True).fit(ranks, _flat(y))
    errors = np.square(forest.oob_prediction_.reshape(y.shape) - y).mean(axis=1)
    of_mean = np.square(y).mean(axis=1)
    return min(errors, of_mean, key=np.mean), np.asarray(forest.feature_importances_)


def _forest(width: int, seed: int, **options: Any) -> Any:
    from sklearn.ensemble import RandomForestRegressor  # on use: slow to import

    return RandomForestRegressor(
        _TREES, min_samples_leaf=2, max_features=_tried(width), random_state=seed % 2**32, **options
    )


def _tried(width: int) -> int:
    """Columns tried at a split: all of few, about twice the root of many."""
    return min(width, max(4, int(2 * np.sqrt(width))))


def _flat(y: FloatArray) -> FloatArray:
    """One output as a vector, as a forest wants it."""
    return y[:, 0] if y.shape[1] == 1 else y


def _error(values: FloatArray) -> float:
    """Standard error of the mean."""
    return float(values.std() / np.sqrt(len(values)))
