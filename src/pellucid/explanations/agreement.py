"""Agreement: one prediction explained in several ways, and whether they say the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.local_attribution import LocalAttribution
from pellucid.explanations.plot_options import AgreementOptions
from pellucid.explanations.rule import Anchor
from pellucid.explanations.store import stored
from pellucid.words import listed, number, percent

AGREE, IN_PART = 0.9, 0.6  # likeness from which answers agree, and agree in part
_FIRST = 3  # features that are compared by name
_ROUNDING = 1e-9  # of the largest value: what is smaller is nothing


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Agreement(Explanation, options=AgreementOptions):
    """``values`` (features, 2): the contributions of one row (Shapley values) and the effects in its local model.

    ``contributions``, ``local`` and ``rule`` (None where there is none) are the explanations themselves. `likeness` is
    the cosine of the two columns: one if they share the prediction out in the same proportions, 0 if they have nothing
    in common, negative if they contradict each other. `on_rule` is the share of the absolute contributions on features
    of the rule.
    """

    contributions: Attribution
    local: LocalAttribution
    rule: Anchor | None = None

    @property
    def likeness(self) -> float:
        """Cosine between contributions and effects; NaN where either says nothing."""
        sizes = float(np.prod(np.linalg.norm(self.values, axis=0)))
        return float(self.values[:, 0] @ self.values[:, 1]) / sizes if sizes > 0 else float("nan")

    def overlap(self, k: int = _FIRST) -> float:
        """Share of the ``k`` largest contributions that are among the ``k`` largest effects."""
        ours, theirs = self.first(0, k), self.first(1, k)
        return len(set(ours) & set(theirs)) / len(ours) if ours else float("nan")

    @property
    def same_direction(self) -> float:
        """Share of the absolute contributions on features whose effect in the local model has the same sign."""
        sizes = np.abs(self.values[:, 0])
        same = np.sign(self.values[:, 0]) == np.sign(self.values[:, 1])
        return float(sizes[same].sum() / sizes.sum()) if sizes.any() else float("nan")

    @property
    def on_rule(self) -> float:
        """Share of the absolute contributions on features that the rule has a condition on; NaN without a rule."""
        sizes = np.abs(self.values[:, 0])
        if self.rule is None or not sizes.any():
            return float("nan")
        return float(sizes[self.in_rule].sum() / sizes.sum())

    @property
    def in_rule(self) -> AnyArray:
        """Which features (groups) the rule has a condition on."""
        players = () if self.rule is None else self.rule.players
        return np.array([name in players for name in self.feature_names], dtype=np.bool_)

    @property
    def order(self) -> list[int]:
        """Positions of the features, the largest contribution first; those with nothing to say are left out."""
        said = (np.abs(self.values) > _ROUNDING * np.abs(self.values).max(axis=0)).any(axis=1) | self.in_rule
        order = np.argsort(-np.abs(self.values[:, 0]), kind="stable")
        return [int(j) for j in order if said[j]]

    def first(self, way: int, k: int = _FIRST) -> list[str]:
        """Names of the ``k`` features with the largest contributions (way 0) or effects (way 1)."""
        sizes: FloatArray = np.abs(self.values[:, way])
        return [
            self.feature_names[j] for j in np.argsort(-sizes, kind="stable")[:k] if sizes[j] > _ROUNDING * sizes.max()
        ]

    def columns(self) -> dict[str, AnyArray]:
        order = self.order
        return {
            "feature": np.array(self.feature_names, dtype=object)[order],
            "contribution": self.values[order, 0],
            "effect": self.values[order, 1],
            "in_rule": self.in_rule[order],
        }

    def findings(self) -> list[str]:
        return [*self._compared(), *self._opposed(), *self._ruled()]

    def _compared(self) -> list[str]:
        ours, theirs = self.first(0), self.first(1)
        if not ours or not theirs:
            silent = "No feature contributes" if not ours else "The local model uses no feature"
            return [f"{silent}: there is nothing to compare."]
        likeness = self.likeness
        same = [name for name in ours if name in theirs]
        if ours == theirs:
            first = f"both rank {listed(ours)} first{', in this order' if len(ours) > 1 else ''}"
        elif set(ours) == set(theirs):
            first = f"both rank {listed(ours)} first"
        elif same:
            first = (
                f"both find {listed(same)} among the largest; the contributions also"
                f" {listed([n for n in ours if n not in same])}"
            )
            others = [n for n in theirs if n not in same]
            first += f", the local model {listed(others)}" if others else ""
        else:
            first = f"the contributions find {listed(ours)} largest, the local model {listed(theirs)}"
        return [f"Contributions and local model {verdict(likeness)} (cosine similarity {number(likeness)}): {first}."]

    def _opposed(self) -> list[str]:
        """The largest contributions whose effect has the other sign."""
        named = dict(zip(self.feature_names, self.values.tolist(), strict=True))
        against = [name for name in self.first(0) if named[name][0] * named[name][1] < 0]
        said = [
            f"{name} ({number(named[name][0], sign=True)} and {number(named[name][1], sign=True)})" for name in against
        ]
        return [f"They disagree about the direction of {listed(said)}."] if said else []

    def _ruled(self) -> list[str]:
        if self.rule is None:
            return []
        lines = [self.rule.sentence]
        if not self.rule.players:
            return lines
        share = self.on_rule
        if np.isfinite(share):
            few = "feature accounts" if len(self.rule.players) == 1 else "features account"
            lines.append(f"The rule's {few} for {percent(share)} of the absolute contributions.")
        first = self.first(0, 1)
        if first and first[0] not in self.rule.players:
            lines.append(f"{first[0]} contributes most, but the rule keeps the prediction without it.")
        return lines


def verdict(likeness: float) -> str:
    """A likeness in words."""
    if likeness >= AGREE:
        return "agree"
    if likeness >= IN_PART:
        return "partly agree"
    return "hardly agree" if likeness >= 0 else "contradict each other"
