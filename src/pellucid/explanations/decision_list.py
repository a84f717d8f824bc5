"""A list of rules: the first that holds decides; and which one did so for some rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.cells import objects
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import DecisionListOptions
from pellucid.explanations.rule import Rule
from pellucid.explanations.rule_words import predicted
from pellucid.explanations.store import stored
from pellucid.words import counted, number, percent


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class DecisionList(Explanation, options=DecisionListOptions):
    """Rules in their order, the last one without conditions, and what they predict.

    `values` (rules) are the share of the explained class, or the mean, among the training rows that a rule decides;
    with several classes a share for each, classes last. ``low`` and ``high`` bound 95% intervals for rows drawn at
    random, which do not know that the rules were searched for. ``support`` is the weight of the training rows that each
    rule decides. Of a result about rows, ``fired`` is the place of the rule that decides each row.
    """

    rules: tuple[Rule, ...]
    low: FloatArray
    high: FloatArray
    support: FloatArray
    fired: IntArray

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, place: int) -> Rule:
        """One of the rules: ``found[0]``."""
        return self.rules[place]

    @property
    def of_rows(self) -> bool:
        """Whether it is about rows, rather than about the list itself."""
        return len(self.fired) > 0

    @property
    def coverage(self) -> FloatArray:
        """The share of the training rows that each rule decides."""
        return np.asarray(self.support / self.support.sum())

    def columns(self) -> dict[str, AnyArray]:
        """One line per rule; of a result about rows one line per row, with the rule that decides it."""
        places = self.fired if self.of_rows else np.arange(len(self.rules))
        first = {"row": self.row_labels.column_of(len(places))} if self.of_rows else {}
        parts: dict[str, AnyArray] = {
            **first,
            "rule": places + 1,
            "conditions": objects([self.conditions(k) for k in places.tolist()]),
            "prediction": objects([self.said(k) for k in places.tolist()]),
            "support": self.support[places],
            "coverage": self.coverage[places],
        }
        named = {"value": self.values, "low": self.low, "high": self.high}
        for name, part in named.items():
            columns = np.asarray(part).reshape(len(self.rules), -1)
            for k, output in enumerate(self.output_names):
                parts[name if len(self.output_names) == 1 else f"{name} {output}"] = columns[places, k]
        return parts

    def conditions(self, place: int) -> str:
        """The conditions of a rule in one line; "else" of the last one."""
        return " AND ".join(condition.words for condition in self.rules[place].conditions) or "else"

    def said(self, place: int) -> str:
        """What a rule predicts: a class, or a number."""
        return predicted(self.rules[place])

    def _support(self, place: int) -> str:
        """``82% of 120 rows``, or of numbers ``120 rows``."""
        rows = counted(round(float(self.support[place])), "row")
        if self.scale != "probability":
            return rows
        own = np.asarray(self.values).reshape(len(self.rules), -1)[place]
        share = own.max() if len(own) > 1 else max(own[0], 1.0 - own[0])
        return f"{percent(float(share))} of {rows}"

    def lines(self) -> list[str]:
        """The list itself: ``if ...: yes (82% of 120 rows)``, ``else if ...``, ``else: no (...)``."""
        heads = ["if ", *["else if "] * (len(self.rules) - 2), ""] if len(self.rules) > 1 else [""]
        always = len(self.rules) == 1
        return [
            f"{'always' if always else head + self.conditions(k)}: {self.said(k)} ({self._support(k)})"
            for k, head in enumerate(heads)
        ]

    def findings(self) -> list[str]:
        """The rules in order; of a result about rows, the rule that decides each (at most twenty)."""
        if not self.of_rows:
            return self.lines()
        lines = [self._decided(i) for i in range(min(len(self.fired), 20))]
        left = len(self.fired) - len(lines)
        return [*lines, f"{counted(left, 'more row')}: see .frame()."] if left else lines

    def _decided(self, i: int) -> str:
        k, last = int(self.fired[i]), len(self.rules) - 1
        row = f"Row {self.row_labels.name(i)}"
        if k == last:
            why = "no rule applies" if last else "there is no rule"
        else:
            why = f"rule {k + 1} is the first that applies ({self.conditions(k)})"
        return f"{row}: {why}; the prediction is {self.said(k)} ({self._support(k)})."

    def _headline(self) -> str:
        if self.of_rows:
            return self._decided(0) if len(self.fired) == 1 else self._commonest()
        if len(self.rules) == 1:
            return f"No rule improves on always predicting {self.said(0)} ({self._support(0)})."
        widest = int(np.argmax(self.support[:-1]))
        return (
            f"{counted(len(self.rules) - 1, 'rule')}, else {self.said(len(self.rules) - 1)}"
            f" ({percent(float(self.coverage[-1]))} of the rows). The rule that decides most rows"
            f" ({percent(float(self.coverage[widest]))}): {self.conditions(widest)} gives {self.said(widest)}."
        )

    def _commonest(self) -> str:
        counts = np.bincount(self.fired, minlength=len(self.rules))
        k = int(counts.argmax())
        which = f"rule {k + 1} ({self.conditions(k)})" if k < len(self.rules) - 1 else "no rule, so by the default"
        are = "is" if counts[k] == 1 else "are"
        return f"Of {counted(len(self.fired), 'row')}, {number(counts[k])} {are} decided by {which}: {self.said(k)}."
