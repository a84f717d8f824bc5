"""Rules: what they say, anchors (rules that were searched for), and what a rule does on other rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, frozen
from pellucid.checks import whole
from pellucid.data.frames.doorway import as_frame, is_series
from pellucid.data.frames.frame import Frame
from pellucid.data.table import plain_array
from pellucid.errors import InputError
from pellucid.explanations.condition import Condition, read_conditions
from pellucid.explanations.explanation import Explanation, changed
from pellucid.explanations.plot_options import RuleOptions
from pellucid.explanations.rule_words import (
    anchor_findings,
    anchor_sentence,
    check_sentence,
    predicted,
    rules_findings,
    rules_headline,
    sentence,
)
from pellucid.explanations.store import encode, stored
from pellucid.stats import wilson

HALF_WIDTH = 0.5  # standard deviations of the predictions: as far apart may numbers be and count as the same
R = TypeVar("R", bound="Rule")


@stored
@dataclass(frozen=True)
class RuleCheck:
    """A rule on other rows: how many it applies to, and in what share of these the prediction is the same.

    ``low`` and ``high`` are a 95% interval of the precision, for rows drawn at random; NaN, as the precision, where the
    rule applies to no row. ``prediction`` is the prediction that was counted; ``assumed``, whether it is the commonest
    one of the rows that the rule applies to, because the rule itself names none.
    """

    rows: int
    applies: int
    precision: float
    coverage: float
    low: float
    high: float
    prediction: str = ""
    assumed: bool = False

    def __str__(self) -> str:
        return check_sentence(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Rule:
    """IF conditions THEN PREDICT: what a rule says. Write your own with `Rule.of`.

    ``prediction`` is the class that it predicts, ``same`` (outputs, 2) the lowest and the highest number where it
    predicts numbers (empty for classes; of an anchor, ``prediction`` is then the number of its row). With neither, the
    rule says nothing of the prediction. ``columns_of_data`` names the columns of tables that come without names.

    >>> rule = Rule.of("age > 30 and sex = 'female'", prediction="survived")
    >>> print(rule)
    IF age > 30 AND sex = female THEN PREDICT survived
    >>> rule.applies([{"age": 40, "sex": "female"}, {"age": 20, "sex": "female"}])
    array([ True, False])
    """

    conditions: tuple[Condition, ...]
    prediction: Any = None
    same: FloatArray = field(default_factory=lambda: np.empty((0, 2)))
    columns_of_data: tuple[str, ...] = ()

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs, which only a rule that was found for a model has."""
        return ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "same", frozen(self.same))

    @classmethod
    def of(cls, text: str, *, prediction: Any = None) -> Rule:
        """A rule that you write yourself: conditions joined by ``and``, to be measured by `Explainer.check_rule`.

        A condition compares a feature (``age > 30``, ``20 <= age < 30``, ``age between 20 and 30``), names its levels
        (``sex = 'female'``, ``class != third``, ``class in [first, second]``) or asks whether it ``is missing``. Names
        and levels of several words stand in quotes. ``prediction`` is the class that the rule predicts, the lowest and
        the highest number ``(low, high)`` that it does, or a list of such pairs, one for each output.
        """
        conditions, same = read_conditions(text), _ranges(prediction)
        if same is not None:
            return Rule(conditions=conditions, same=same)
        return Rule(
            conditions=conditions, prediction=prediction.item() if isinstance(prediction, np.generic) else prediction
        )

    @property
    def sentence(self) -> str:
        """The rule in one line."""
        return sentence(self)

    @property
    def predicts(self) -> bool:
        """Whether the rule says what is predicted."""
        return self.prediction is not None or len(self.same) > 0

    def __str__(self) -> str:
        return self.sentence

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and json.dumps(encode(self)) == json.dumps(encode(other))

    def __hash__(self) -> int:
        return hash(json.dumps(encode(self)))

    def applies(self, X: Any) -> BoolArray:
        """For which rows of any table the rule holds."""
        return applies(self, _as_table(X, self.columns_of_data))

    def check(self, X: Any, predictions: Any) -> RuleCheck:
        """Coverage and precision on other rows, given the model's predictions for them.

        ``predictions`` are class labels, or numbers (one column per output) if the rule is about an interval; or the
        function that makes them of ``X``, such as ``model.predict``. If the rule names no prediction, it is that of
        most rows to which it applies; of floating-point numbers, those within half a standard deviation of their
        median.
        """
        return measured(self, self.applies(X), predictions(X) if callable(predictions) else predictions)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Anchor(Explanation, Rule, options=RuleOptions):
    """A rule that fixes one prediction, and how sure that is.

    ``precision`` is the share of perturbed rows obeying the rule for which the model predicts the same. Each end of its
    ``interval`` holds with probability 1 - delta, whenever sampling stopped; the two are equal, and ``samples`` is 0,
    where it is exact.
    ``coverage`` is the exact share of the data that the rule applies to, ``base`` the precision of the empty rule.
    ``running_precision`` and ``running_coverage`` start with the empty rule and add one step (``players``) after the
    other.
    ``values`` is what each feature (group) adds to the precision when it joins, 0 for those without a condition.

    ``reached``: whether the required precision was reached; ``reason`` says why not. ``prediction`` is the class or
    the number predicted for the row; ``same`` what counts as the same prediction: empty for classes, else the lowest
    and the highest number for each output.
    """

    players: tuple[str, ...]
    precision: float
    interval: tuple[float, float]
    coverage: float
    base: float
    running_precision: FloatArray
    running_coverage: FloatArray
    reached: bool
    reason: str
    samples: int
    rows: int
    row: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The rule in one line, with its precision and coverage."""
        return anchor_sentence(self)

    @property
    def rules(self) -> tuple[Anchor, ...]:
        """The rule alone, so that what is written for several rows works for one."""
        return (self,)

    def __iter__(self) -> Iterator[Anchor]:
        return iter(self.rules)

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
        return anchor_findings(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Rules(Explanation, options=RuleOptions):
    """The rules of several rows; ``values`` (rows, features) are what each feature adds to the precision."""

    rules: tuple[Anchor, ...]

    def __len__(self) -> int:
        return len(self.rules)

    @overload
    def __getitem__(self, which: int | str) -> Anchor: ...
    @overload
    def __getitem__(self, which: slice) -> Rules: ...
    def __getitem__(self, which: int | str | slice) -> Anchor | Rules:
        """One rule, by its place or the label of its row, or some: ``rules[1:3]``."""
        if isinstance(which, str):
            return self.rules[int(self.row_labels.places([which])[0])]
        if not isinstance(which, slice):
            return self.rules[which]
        places = np.arange(len(self))[which]
        if not len(places):
            raise InputError(f"[{which}] holds none of the {len(self)} rules.")
        return changed(
            self,
            rules=self.rules[which],
            values=self.values[places],
            se=self.se[places],
            row_labels=self.row_labels.take(places),
        )

    def __iter__(self) -> Iterator[Anchor]:
        return iter(self.rules)

    def applies(self, X: Any) -> BoolArray:
        """Which rule (columns) holds for which row of any table."""
        table = _as_table(X, self.rules[0].columns_of_data)
        return np.column_stack([applies(rule, table) for rule in self.rules])

    def pick(self, n: int, X: Any) -> tuple[Anchor, ...]:
        """At most ``n`` rules that together apply to most rows: the one that adds most first, no rule that adds none.

        Only rules that reached their precision are picked. The choice is greedy, which covers at least 63% of what the
        best choice does.
        """
        n = whole("n", n)
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
        row = self.row_labels.column_of(len(parts))[which]
        return {
            "rule": which,
            "row": row,
            **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]},
        }

    def findings(self) -> list[str]:
        return rules_findings(self)

    def _headline(self) -> str:
        return rules_headline(self)


def _as_table(X: Any, names: tuple[str, ...]) -> Frame:
    if isinstance(X, Mapping) or is_series(X):
        return as_frame([X])
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.names is None:
        X = X.reshape(1, -1)
    return as_frame(X, names if getattr(X, "shape", (0, 0))[-1] == len(names) else None)


def applies(rule: Rule, table: Frame) -> BoolArray:
    """Which rows of a table meet all conditions of a rule."""
    holds = np.ones(len(table), dtype=np.bool_)
    for condition in rule.conditions:
        column = condition.column if condition.column in table.names else condition.feature
        if column not in table.names:
            raise InputError(
                f"the rows lack the feature {condition.feature!r} of the rule; give every feature it names."
            )
        try:
            holds &= condition.holds(table.values(table.names.index(column)))
        except (TypeError, ValueError):
            raise InputError(
                f"the column {condition.feature!r} is of another type than that of the rule ({condition.words}); give"
                " the values as in X."
            ) from None
    return holds


def measured(rule: Rule, holds: BoolArray, predictions: Any) -> RuleCheck:
    """What a rule does on rows of which it is known to which it applies, and what is predicted for them."""
    given = np.atleast_1d(plain_array(predictions))
    if len(given) != len(holds):
        raise InputError(f"there are {len(given)} predictions for {len(holds)} rows; give one per row.")
    meant = rule if rule.predicts or not holds.any() else _commonest(rule, given, holds)
    n = int(holds.sum())
    hits = int((holds & _same(meant, given)).sum()) if meant.predicts else 0
    low, high = map(float, wilson(np.array(hits / n if n else np.nan), np.array(n)))
    said = predicted(meant) if meant.predicts else ""
    return RuleCheck(
        len(holds), n, hits / n if n else np.nan, n / len(holds), low, high, said, assumed=not rule.predicts
    )


def _commonest(rule: R, given: AnyArray, holds: BoolArray) -> R:
    """The rule with the class that most of its rows get, or with numbers around their median."""
    if given.dtype.kind != "f":
        if given.ndim > 1:
            raise InputError("class labels stand in one column; give one per row, not a matrix.")
        return replace(rule, prediction=Counter(given[holds].tolist()).most_common(1)[0][0])
    numbers = given.reshape(len(given), -1)
    middle, half = np.median(numbers[holds], axis=0), HALF_WIDTH * numbers.std(axis=0)
    return replace(rule, same=np.stack([middle - half, middle + half], axis=1))


def _ranges(prediction: Any) -> FloatArray | None:
    """Pairs of numbers, the lowest and the highest for each output; None if it is a label."""
    if not isinstance(prediction, tuple | list | np.ndarray):
        return None
    try:
        ranges = np.asarray(prediction, dtype=np.float64)
    except (TypeError, ValueError):
        ranges = np.empty(0)
    ranges = ranges[None, :] if ranges.ndim == 1 else ranges
    if ranges.ndim != 2 or ranges.shape[1] != 2 or not (ranges[:, 0] <= ranges[:, 1]).all():
        raise InputError(
            f"prediction={prediction!r} is neither a class nor a range; give a label, (low, high), or one such pair for"
            " each output."
        )
    return ranges


def _same(rule: Rule, given: AnyArray) -> BoolArray:
    """Which predictions are those of the rule."""
    if not len(rule.same):
        if given.ndim > 1:
            raise InputError("the rule predicts a class; give one class label per row, not a matrix.")
        label = rule.prediction
        return np.array([cell == label or str(cell) == str(label) for cell in given.tolist()])
    try:
        numbers = given.astype(np.float64).reshape(len(given), -1)
    except (TypeError, ValueError):
        raise InputError(
            f"the rule is about predicted numbers ({predicted(rule)}); give numbers, not labels."
        ) from None
    if numbers.shape[1] != len(rule.same):
        raise InputError(f"the rule is about {len(rule.same)} outputs; give as many columns of predictions.")
    return np.asarray(((numbers >= rule.same[:, 0]) & (numbers <= rule.same[:, 1])).all(axis=1))
