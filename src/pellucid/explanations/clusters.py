"""Correlated features, as clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.importance import Importance
from pellucid.explanations.plot_options import ClusterOptions
from pellucid.explanations.store import stored
from pellucid.words import counted, listed, number, percent


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Clusters(Explanation, options=ClusterOptions):
    """Association of every pair of features (`values`, features x features), and the clusters it makes.

    ``labels`` is the cluster of each feature, ``representatives`` the position of the feature that stands for each
    cluster,
    ``kept`` the share of the members' variance it explains; ``component`` is the share that the members' first
    principal component has, ``components`` how many of them keep 90%. ``merges`` are the joins from single features to
    one cluster: two clusters (features first, then joins, counted on), the distance ``1 - association``, the size.
    ``importance`` is that of each cluster as a whole, in the order of the clusters, where it was asked for.
    """

    threshold: float
    merges: FloatArray
    labels: IntArray
    representatives: IntArray
    kept: FloatArray
    component: FloatArray
    components: IntArray
    importance: Importance | None = None

    @property
    def members(self) -> list[list[str]]:
        """The names of the features in each cluster, single ones included."""
        return [
            [self.feature_names[j] for j in np.flatnonzero(self.labels == c)] for c in range(len(self.representatives))
        ]

    @property
    def groups(self) -> dict[str, list[str]]:
        """Clusters of several features, ready for ``Explainer(..., groups=...)``; other features stay as they are."""
        groups: dict[str, list[str]] = {}
        for members in self.members:
            if len(members) > 1:
                name = group_name(members)
                while name in groups or name in self.feature_names:
                    name += "\u2032"
                groups[name] = members
        return groups

    @property
    def subset(self) -> list[str]:
        """One feature for each cluster: features that are correlated less than the threshold, on average."""
        return [self.feature_names[j] for j in self.representatives]

    def most_important(self, importance: Importance) -> list[str]:
        """One feature for each cluster, the one with the greatest importance."""
        unknown = [name for name in self.feature_names if name not in importance.feature_names]
        if unknown:
            raise InputError(
                f"the importance has no value for {unknown[0]!r}; give one of the same features, without groups."
            )
        place = {name: rank for rank, name in enumerate(importance.top(len(importance.feature_names)))}
        return [min(members, key=place.__getitem__) for members in self.members]

    def columns(self) -> dict[str, AnyArray]:
        order = np.lexsort((np.arange(len(self.labels)), self.labels))
        chosen = self.representatives[self.labels[order]]
        return {
            "feature": np.array(self.feature_names, dtype=object)[order],
            "cluster": self.labels[order] + 1,
            "representative": np.array(self.feature_names, dtype=object)[chosen],
            "association": self.values[order, chosen],
            **self._joint_columns(self.labels[order]),
        }

    def _joint_columns(self, cluster: IntArray) -> dict[str, AnyArray]:
        """The importance of the whole cluster of each feature."""
        if self.importance is None:
            return {}
        return {"cluster_importance": self.importance.values[cluster], "cluster_se": self.importance.se[cluster]}

    def findings(self) -> list[str]:
        several = [c for c, members in enumerate(self.members) if len(members) > 1]
        count = len(self.representatives)
        if not several:
            return [
                f"No two of the {len(self.labels)} features have an association of {number(self.threshold)} or more.",
                *self._joint_words(),
            ]
        lines = [
            f"{len(self.labels)} features form {counted(count, 'cluster')} at an association of"
            f" {number(self.threshold)}."
        ]
        for c in sorted(several, key=lambda c: -len(self.members[c]))[:5]:
            enough = (
                "one principal component" if self.components[c] == 1 else f"{self.components[c]} principal components"
            )
            lines.append(
                f"{listed(self.members[c])} are correlated: {self.subset[c]} can stand for them and keeps"
                f" {percent(float(self.kept[c]))} of their variance; {enough} would keep 90%."
            )
        if len(several) > 5:
            lines.append(f"{len(several) - 5} more clusters have several features.")
        return [*lines, *self._joint_words()]

    def _joint_words(self) -> list[str]:
        """What the clusters are worth as wholes."""
        return [] if self.importance is None else [f"As groups: {self.importance.findings()[0]}"]


def group_name(members: Sequence[str]) -> str:
    """A name for features that act as one."""
    return " + ".join(members) if len(members) <= 3 else f"{members[0]} + {len(members) - 1} more"
