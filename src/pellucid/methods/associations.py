"""Associations between the features (which of them are correlated), and clusters of correlated features.

Definition. Of two numeric features the absolute Pearson correlation; of a numeric and a categorical one the square root
of the variance explained, ``sqrt(SSB/SST)``; of two categorical ones Cramer's V. The higher, the less a partial
dependence plot can be trusted for either.

When it misleads: a relation without a trend (a parabola, a cycle) has no correlation; outliers make or hide one
(`clusters` takes ranks); pairs only, so a feature that several others determine together is not seen.

Cost. No model rows; features squared times rows.

*Clusters* of correlated features, and one feature to stand for each. Reference. Spearman 1904; Sokal and Michener 1958
(average linkage); Bergsma 2013 (Cramer's V without its bias).

Definition. The association of two features is 0 (none) to 1 (each determines the other): of two numbers the absolute
rank correlation, of a number and a category the correlation ratio of the ranks, of two categories Cramer's V, the
latter two less what chance gives. Starting from single features the two clusters with the greatest mean association
between their members are joined, until it is below ``threshold``.

Each cluster has a representative: the member with the greatest mean association with the other members; of equal ones
that with fewer missing values, then the one that is less correlated with features outside, then the first.
`Clusters.kept` says how much of the members' (rank) variance it explains, `Clusters.component` what the first principal
component of the members would, and `Clusters.components` how many components keep 90%.

With ``importance=True`` each cluster is permuted as a whole, so that what its members share is counted once and is not
lost to the other members (`Clusters.importance`).

When they mislead:
1. ranks see no dependence without a trend (a parabola, a cycle);
2. pairs only: a feature that is the sum of three others is strongly correlated with none of them;
3. the threshold is a choice, and features of different clusters may still be correlated.

Cost. No model rows; features squared times rows (at most 20,000). The importance asks as permutation importance does,
once for each cluster instead of each feature.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import bounded, flag
from pellucid.data import Data
from pellucid.data.association import association_matrix, rank_association
from pellucid.diagnostics.by_method import cluster_caveats
from pellucid.errors import InputError
from pellucid.explanations import Associations, Caveat, Clusters, Header, Importance, changed
from pellucid.methods.importance.permutation import permutation_importance
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number

_RISKY = 0.7
_WIDEST = 2000


def associations(predictor: Predictor, data: Data, *, run: Run) -> Associations:
    """Association of every pair of features."""
    _refuse_wide(data, "a map of all pairs is drawn for")
    matrix = association_matrix(data)
    result = Associations(
        values=matrix,
        se=np.full(matrix.shape, np.nan),
        header=Header.of(
            predictor, data, run, {"method": "associations"}, feature_names=data.schema.names, scale="association"
        ),
    )
    risky = [pair for pair in result.strongest(len(matrix) ** 2) if pair[2] >= _RISKY] if run.checks else []
    if not risky:
        return result
    a, b, value = risky[0]
    caveat = Caveat(
        code="dependent-features",
        message=f"{_pairs(len(risky))}{a} and {b} ({number(value)}).",
        value=value,
        threshold=_RISKY,
        advice=(
            "Partial dependence, permutation importance and marginal Shapley values of these features rely on"
            " predictions for unlikely rows; prefer ale, or group the features."
        ),
        feature=a,
    )
    return changed(result, caveats=(caveat,))


def _refuse_wide(data: Data, what: str) -> None:
    count = len(data.schema.features)
    if count > _WIDEST:
        raise InputError(f"X has {count} features; {what} at most {_WIDEST}: give fewer columns.")


def _pairs(count: int) -> str:
    if count == 1:
        return "Two features are strongly associated: "
    return f"{count} pairs of features are strongly associated, most of all "


_ENOUGH = 0.9  # of the variance, by principal components
_TIE = 1e-9


def clusters(
    predictor: Predictor, data: Data, *, threshold: float = 0.5, importance: bool = False, run: Run
) -> Clusters:
    """Correlated features, as clusters; with the permutation importance of each as a whole if asked."""
    threshold, importance = bounded("threshold", threshold, above=0, most=1), flag("importance", importance)
    _refuse_wide(data, "clusters are made of")
    signed = rank_association(data)
    matrix = association_matrix(data)
    merges = average_linkage(matrix)
    labels = cut(merges, len(matrix), threshold)
    members = [np.flatnonzero(labels == c) for c in range(int(labels.max()) + 1)]
    missing = np.array([float(np.isnan(data.codes(j)).mean()) for j in range(len(matrix))])
    chosen = [_representative(matrix, m, missing) for m in members]
    kept = [float(np.square(matrix[r, m]).mean()) for r, m in zip(chosen, members, strict=True)]
    spectra = [_spectrum(signed[np.ix_(m, m)]) for m in members]
    result = Clusters(
        values=matrix,
        se=np.full(matrix.shape, np.nan),
        threshold=float(threshold),
        merges=merges,
        labels=labels,
        representatives=np.array(chosen, dtype=np.intp),
        kept=np.array(kept),
        component=np.array([spectrum[0] for spectrum in spectra]),
        components=np.array([1 + int((np.cumsum(s) < _ENOUGH - _TIE).sum()) for s in spectra], dtype=np.intp),
        header=Header.of(
            predictor,
            data,
            run,
            {"method": "clusters", "threshold": float(threshold)},
            feature_names=data.schema.names,
            scale="association",
        ),
    )
    caveats = cluster_caveats(result, data, run)
    if not importance:
        return run.finish(result, caveats)
    joint = _joint_importance(predictor, data, result, run)
    return run.finish(result, (*caveats, *joint.caveats), importance=joint)


def _joint_importance(predictor: Predictor, data: Data, found: Clusters, run: Run) -> Importance:
    """Permutation importance of every cluster, its members permuted together; in the order of the clusters."""
    groups = {name: tuple(data.schema.index(member) for member in members) for name, members in found.groups.items()}
    return permutation_importance(predictor, data.regrouped(groups), run=run)


def average_linkage(association: FloatArray) -> FloatArray:
    """The joins ``(features - 1, 4)`` as scipy writes them: two clusters, the distance 1 - association, the size."""
    if len(association) < 2:
        return np.empty((0, 4))
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - association
    np.fill_diagonal(distance, 0.0)
    return np.asarray(linkage(squareform(distance, checks=False), method="average"), dtype=np.float64)


def cut(merges: FloatArray, n: int, threshold: float) -> IntArray:
    """The cluster of each feature, numbered in the order of their first features."""
    inside: list[list[int]] = [[j] for j in range(n)]
    labels = np.arange(n)
    for a, b, distance, _ in merges:
        inside.append([*inside[int(a)], *inside[int(b)]])
        if distance <= 1.0 - threshold + _TIE:
            labels[inside[-1]] = min(labels[inside[-1]])
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def _representative(association: FloatArray, members: IntArray, missing: FloatArray) -> int:
    """The medoid of a cluster."""
    outside = np.setdiff1d(np.arange(len(association)), members)
    inner = association[np.ix_(members, members)].mean(axis=1)
    outer = association[np.ix_(members, outside)].mean(axis=1) if len(outside) else np.zeros(len(members))
    order = np.lexsort((members, np.round(outer, 9), missing[members], -np.round(inner, 9)))
    return int(members[order[0]])


def _spectrum(association: FloatArray) -> FloatArray:
    """Shares of the variance that the principal components of the members have, the largest first."""
    values = np.maximum(np.linalg.eigvalsh(association)[::-1], 0.0)
    return np.asarray(values / values.sum())
