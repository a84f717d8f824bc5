"""A rule that fixes a prediction, and several of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray
from pellucid.data.cells import missing_mask
from pellucid.data.frames.doorway import as_frame, is_series
from pellucid.data.frames.frame import Frame
from pellucid.data.schema import dates_to_codes
from pellucid.data.table import plain_array
from pellucid.errors import InputError
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.rule_words import check_sentence, predicted, rule_findings, rules_findings, sentence
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True)
class Condition:
    """What a rule asks of one feature: a value in (``low``, ``high``], the value ``level``, or none at all.

    ``kind`` is "interval", "level" or "missing"; dates count microseconds since 1970. ``player`` is the group
    that the feature belongs to, or the feature itself. ``words`` says it, as in ``7 < temp <= 14``.
    """

    feature: str
    player: str
    kind: Literal["interval", "level", "missing"]
    words: str
    low: float = -np.inf
    high: float = np.inf
    level: Any = None

    def holds(self, values: AnyArray) -> BoolArray:
        """For which plain values of the feature (numbers, dates or labels) the condition holds."""
        if self.kind == "missing":
            return missing_mask(values)
        if self.kind == "interval":
            numbers = dates_to_codes(values) if _are_dates(values) else np.asarray(values, dtype=np.float64)
            return np.asarray((numbers > self.low) & (numbers <= self.high))
        if values.dtype.kind == "f":  # numbers, and booleans, which are 0 and 1
            return np.asarray(values == float(self.level))
        own = dates_to_codes(values) if _are_dates(values) else values
        return np.fromiter((cell == self.level for cell in own.tolist()), dtype=bool, count=len(own))


def _are_dates(values: AnyArray) -> bool:
    if values.dtype.kind == "M":
        return True
    present = values[~missing_mask(values)] if values.dtype == object else values[:0]
    return len(present) > 0 and isinstance(present[0], datetime.date)


@stored
@dataclass(frozen=True)
class RuleCheck:
    """A rule on other rows: how many it applies to, and in what share of these the prediction is the same.

    ``low`` and ``high`` are a 95% interval of the precision, for rows drawn at random; NaN, as the precision, where the
    rule applies to no row.
    """

    rows: int
    applies: int
    precision: float
    coverage: float
    low: float
    high: float

    def __str__(self) -> str:
        return check_sentence(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Rule(Explanation):
    """IF conditions THEN PREDICT: what fixes one prediction.

    ``precision`` is the share of perturbed rows obeying the rule for which the model predicts the same. Each end of its
    ``interval`` holds with probability 1 - delta, whenever sampling stopped; the two are equal, and ``samples`` is 0,
    where it is exact.
    ``coverage`` is the exact share of the data that the rule applies to, ``base`` the precision of the empty rule.
    ``running_precision`` and ``running_coverage`` start with the empty rule and add one step (``players``) after the
    other.
    ``values`` is what each feature (group) adds to the precision when it joins, 0 for those without a condition.

    ``reached``: whether the precision asked for was reached; ``reason`` says why not. ``prediction`` is the class or
    the number predicted for the row; ``same`` what counts as the same prediction: empty for classes, else the lowest
    and the highest number for each output.
    """

    conditions: tuple[Condition, ...]
    players: tuple[str, ...]
    precision: float
    interval: tuple[float, float]
    coverage: float
    base: float
    running_precision: FloatArray
    running_coverage: FloatArray
    prediction: Any
    same: FloatArray
    reached: bool
    reason: str
    samples: int
    rows: int
    columns_of_data: tuple[str, ...]
    row: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The rule in one line."""
        return sentence(self)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rule alone, so that what is written for several rows works for one."""
        return (self,)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def applies(self, X: Any) -> BoolArray:
        """For which rows of any table the rule holds."""
        return _applies(self, _as_table(X, self.columns_of_data))

    def check(self, X: Any, predictions: Any) -> RuleCheck:
        """Coverage and precision on other rows, given the model's predictions for them.

        ``predictions`` are class labels, or numbers (one column per output) if the rule is about an interval; or the
        function that makes them of ``X``, such as ``model.predict``.
        """
        holds = self.applies(X)
        same = _same(self, predictions(X) if callable(predictions) else predictions, len(holds))
        n, hits = int(holds.sum()), int((holds & same).sum())
        low, high = _wilson(hits, n)
        return RuleCheck(len(holds), n, hits / n if n else np.nan, n / len(holds), low, high)

    def columns(self) -> dict[str, AnyArray]:
        steps = ("", *self.players)
        said = {player: " AND ".join(c.words for c in self.conditions if c.player == player) for player in self.players}
        return {
            "step": np.arange(len(steps)),
            "feature": np.array(steps, dtype=object),
            "condition": np.array(["base", *(said[player] for player in self.players)], dtype=object),
            "precision": self.running_precision,
            "coverage": self.running_coverage,
        }

    def findings(self) -> list[str]:
        return rule_findings(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Rules(Explanation):
    """The rules of several rows; ``values`` (rows, features) are what each feature adds to the precision."""

    rules: tuple[Rule, ...]

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, i: int) -> Rule:
        return self.rules[i]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def applies(self, X: Any) -> BoolArray:
        """Which rule (columns) holds for which row of any table."""
        table = _as_table(X, self.rules[0].columns_of_data)
        return np.column_stack([_applies(rule, table) for rule in self.rules])

    def pick(self, n: int, X: Any) -> tuple[Rule, ...]:
        """At most ``n`` rules that together apply to most rows: the one that adds most first, no rule that adds none.

        Only rules that reached their precision are picked. The choice is greedy, which covers at least 63% of what the
        best choice does.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n={n!r}: give a whole number of rules, at least 1.")
        holds = self.applies(X) & np.array([rule.reached for rule in self.rules])
        chosen: list[int] = []
        covered = np.zeros(len(holds), dtype=np.bool_)
        for _ in range(min(n, len(self))):
            gain = (holds & ~covered[:, None]).sum(axis=0)
            best = int(np.argmax(gain))
            if gain[best] == 0:
                break
            chosen.append(best)
            covered |= holds[:, best]
        return tuple(self.rules[i] for i in chosen)

    def columns(self) -> dict[str, AnyArray]:
        parts = [rule.columns() for rule in self.rules]
        which = np.repeat(np.arange(len(parts)), [len(part["step"]) for part in parts])
        return {"rule": which, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}}

    def findings(self) -> list[str]:
        return rules_findings(self)


def _as_table(X: Any, names: tuple[str, ...]) -> Frame:
    if isinstance(X, Mapping) or is_series(X):
        return as_frame([X])
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.names is None:
        X = X.reshape(1, -1)
    return as_frame(X, names if getattr(X, "shape", (0, 0))[-1] == len(names) else None)


def _applies(rule: Rule, table: Frame) -> BoolArray:
    holds = np.ones(len(table), dtype=np.bool_)
    for condition in rule.conditions:
        if condition.feature not in table.names:
            raise InputError(
                f"the rows lack the feature {condition.feature!r} of the rule; give every feature it names."
            )
        try:
            holds &= condition.holds(table.values(table.names.index(condition.feature)))
        except (TypeError, ValueError):
            raise InputError(
                f"the column {condition.feature!r} is of another type than that of the rule ({condition.words}); give"
                " the values as in X."
            ) from None
    return holds


def _same(rule: Rule, predictions: Any, n: int) -> BoolArray:
    given = np.atleast_1d(plain_array(predictions))
    if len(given) != n:
        raise InputError(f"there are {len(given)} predictions for {n} rows; give one per row.")
    if not len(rule.same):
        if given.ndim > 1:
            raise InputError("the rule predicts a class; give one class label per row, not a matrix.")
        label = rule.prediction
        return np.array([cell == label or str(cell) == str(label) for cell in given.tolist()])
    try:
        numbers = given.astype(np.float64).reshape(n, -1)
    except (TypeError, ValueError):
        raise InputError(
            f"the rule is about predicted numbers ({predicted(rule)}); give numbers, not labels."
        ) from None
    if numbers.shape[1] != len(rule.same):
        raise InputError(f"the rule is about {len(rule.same)} outputs; give as many columns of predictions.")
    return np.asarray(((numbers >= rule.same[:, 0]) & (numbers <= rule.same[:, 1])).all(axis=1))


def _wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    if n == 0:
        return (np.nan, np.nan)
    share, extra = hits / n, z * z / n
    middle = (share + extra / 2) / (1 + extra)
    half = z / (1 + extra) * np.sqrt(share * (1 - share) / n + extra / (4 * n))
    return (max(0.0, float(middle - half)), min(1.0, float(middle + half)))
