"""Which rules to look at next: one predicate more, or one less.

A `Space` knows the predicates. Some are finer versions of others (a narrower interval around the row's value); a rule
holds at most one version of each owner (feature, word, superpixel). ``levels[v]`` lists the predicates of version v,
one per owner, the coarsest first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from pellucid.arrays import BoolArray, FloatArray

Rule = tuple[int, ...]  # predicates in the order in which they were added


class Space(ABC):
    """Predicates, which owner each belongs to, and what share of the data a rule covers.

    ``paired``: whether draw number k is the same row for all rules of an episode. ``shares``: how likely each row is,
    where the rows that a draw can give are so few that they may be gone through one by one.
    """

    paired = True

    def __init__(self, owner: list[int], levels: list[list[int]]) -> None:
        self.owner, self.levels = owner, levels
        self.shares = np.empty(0)

    def enumerable(self, bits: BoolArray) -> BoolArray:
        """For which rules a draw is one of as many rows as there are ``shares``."""
        return np.zeros(len(bits), dtype=np.bool_)

    @abstractmethod
    def coverage(self, bits: BoolArray) -> FloatArray:
        """The share of the data that each rule, a row of bits, covers."""

    def finer(self) -> bool:
        """Add a finer version of the predicates, if there is one."""
        return False

    def bits(self, rules: Sequence[Rule]) -> BoolArray:
        """Rules as rows of bits."""
        out = np.zeros((len(rules), len(self.owner)), dtype=np.bool_)
        for place, rule in enumerate(rules):
            out[place, list(rule)] = True
        return out

    def longer(self, beam: Sequence[Rule], level: int) -> list[Rule]:
        """Every rule of the beam with one predicate more, each set of predicates once."""
        found: dict[frozenset[int], Rule] = {}
        for rule in beam:
            owners = {self.owner[predicate] for predicate in rule}
            for predicate in self.levels[level]:
                if self.owner[predicate] not in owners:
                    found.setdefault(frozenset((*rule, predicate)), (*rule, predicate))
        return list(found.values())

    def wider(self, rule: Rule) -> list[Rule]:
        """The rule with one predicate exchanged for its next coarser version, or left out if there is none."""
        found: list[Rule] = []
        for place, predicate in enumerate(rule):
            coarser = self._coarser(predicate)
            kept = () if coarser is None else (coarser,)
            found.append((*rule[:place], *kept, *rule[place + 1 :]))
        return found

    def opened(self, rule: Rule) -> list[tuple[int, int]]:  # noqa: ARG002  where predicates are no intervals
        """Places in the rule at which a predicate may be exchanged for one that is open to one side, and that
        predicate.
        """
        return []

    def _coarser(self, predicate: int) -> int | None:
        """Predicates of one owner are numbered from the coarsest to the finest."""
        own = [other for other in range(predicate) if self.owner[other] == self.owner[predicate]]
        return own[-1] if own else None
