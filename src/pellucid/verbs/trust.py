"""Whether to trust it: how good the model is, which features are correlated, what is known against explanations."""

from __future__ import annotations

from typing import Any

from pellucid.explanations import Associations, Audit, Clusters, Performance
from pellucid.methods.associations import associations, clusters
from pellucid.methods.audit import audit
from pellucid.methods.performance import performance
from pellucid.verbs.bound import Bound


class TrustVerbs(Bound):
    """How good the model is, and what is known against explaining it."""

    def clusters(self, *, threshold: float = 0.5, importance: bool = False) -> Clusters:
        """Groups of correlated features, with one feature to stand for each.

        Association is by ranks (numbers), the correlation ratio (a number and a category) and Cramer's V (categories),
        0 to 1. Features are joined while the mean association of two clusters is at least ``threshold``.
        `Clusters.groups` is ready for ``Explainer(..., groups=...)``, whose importances are then those of whole
        clusters; `Clusters.subset` is one feature for each, to fit a model on; ``most_important(importance)`` picks by
        importance instead.
        ``importance=True`` adds the importance of each cluster permuted as a whole (`Clusters.importance`).

        It misleads where features are associated without a trend (a parabola), or only three at a time.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> rng = np.random.default_rng(0)
        >>> temp, wind = rng.normal(size=(2, 300))
        >>> X = np.column_stack([temp, np.exp(temp), wind])
        >>> ex = pellucid.Explainer(lambda X: X[:, 0] + X[:, 2], X, feature_names=["temp", "felt", "wind"])
        >>> found = ex.clusters()
        >>> found.groups, len(found.subset)
        ({'temp + felt': ['temp', 'felt']}, 2)
        >>> ex.clusters(importance=True).importance.top(1)
        ['temp + felt']
        """
        return clusters(
            self.predictor, self.data, threshold=threshold, importance=importance, run=self._run("clusters")
        )

    def associations(self) -> Associations:
        """How strongly each pair of features is associated (0 to 1; for numbers, the absolute correlation): where it is
        high, prefer `ale` to `pdp`.
        """
        return associations(self.predictor, self.data, run=self._run("associations"))

    def audit(self, *, holdout: tuple[Any, Any] | None = None) -> Audit:
        """Can explanations of this model be trusted on these data: one line per question, with its number.

        Whether it predicts better than a constant, whether it is overfitted (``holdout=(X, y)`` compares with rows it
        was not fitted to), which features are correlated, what share of the rows that methods make up (partial
        dependence and permutation, Shapley values, LIME) is unlike any row of the data, whether it answers such rows by
        other features than real ones (Slack et al. 2020), and whether it gives the same rows the same predictions. What
        is bad is a caveat, with what to do.

        It misleads as an all-clear: methods have weaknesses of their own, which the `caveats` of each result tell.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> found = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X, X[:, 0]).audit()
        >>> found.line("reproducibility").severity, found.line("hidden reliance").bad
        (0.0, False)
        >>> [caveat.code for caveat in found.caveats]
        ['poor-model']
        """
        rows = None if holdout is None else self.data.like(*holdout)
        return audit(self.predictor, self.data, holdout=rows, run=self._run("audit"))

    def performance(self, *, bins: int = 10) -> Performance:
        """How good the predictions are: R² and residuals, or confusion matrix, ROC, precision-recall, calibration and
        thresholds.

        ``bins`` is the number of bins of predictions in which these are compared with the outcome (calibration).

        It misleads on rows that the model was fitted to, which flatter it; the result's `caveats` say so where it
        shows. Intervals take rows as independent of each other.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> found = pellucid.Explainer(lambda X: X[:, 0], X, X.sum(axis=1)).performance()
        >>> found.measures, round(found.value("R²"), 1)
        (('R²', 'mean absolute error', 'RMSE'), 0.5)
        """
        return performance(self.predictor, self.data, bins=bins, run=self._run("performance"))
