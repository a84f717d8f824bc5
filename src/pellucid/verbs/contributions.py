"""Why these predictions: Shapley values and break-downs."""

from __future__ import annotations

from typing import Any

from pellucid.explanations import Attribution
from pellucid.methods.attribution.breakdown import breakdown
from pellucid.methods.attribution.dispatch import Conditional, GameName, Method, Scale
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.methods.attribution.shap import shap
from pellucid.methods.attribution.shapley_kernel import Proxy
from pellucid.verbs.bound import Bound


class ContributionVerbs(Bound):
    """Why predictions are what they are."""

    def shap(
        self,
        rows: Any = None,
        *,
        method: Method = "auto",
        game: GameName = "marginal",
        budget: int | None = None,
        tolerance: float | None = None,
        interactions: bool | Index = False,
        scale: Scale = "auto",
        conditional: Conditional = "auto",
        sparse: int | None = None,
        proxy: Proxy = "curve",
    ) -> Attribution:
        """Why these predictions: Shapley values (SHAP), the fair share of each feature (or group) in a prediction.

        Without ``rows`` a random sample of X is explained, 200 rows at most.

        The contributions of a row add up to its prediction minus the average prediction (`base`). A feature's
        contribution is its average gain when it becomes known after some of the others, over all orders. In the
        ``"marginal"`` game (interventional SHAP) unknown features take their values from the `background`; in the
        ``"path"`` game of trees they follow the training rows down both branches; in the ``"conditional"`` game they
        are drawn given what is known (along curves where these show; ``conditional="copula"`` or ``"neighbours"``).

        ``method="auto"`` reads tree ensembles (TreeSHAP) and linear (additive) models exactly. Any other model is
        called: for every coalition where that fits (``"exact"``), else for pairs of coalitions (``"kernel"``,
        KernelSHAP), with a standard error `se` per value; ``"permutation"`` follows random orders instead. The result
        says which it was and why. ``budget`` is a number of model rows, ``tolerance`` the half width of the 95%
        intervals at which sampling ends. ``sparse=k`` gives contributions to at most k features (an L1 penalty; no
        longer Shapley values; `Attribution.sparse` keeps them).
        ``proxy="trees"`` lets boosted trees learn from the coalitions that were evaluated, which pays for rule-like
        models. ``interactions=True`` (or ``"shapley"``) adds `interaction_values` (rows, features, features): off the
        diagonal half of the Shapley interaction index, rows sum to the contributions. ``"taylor"``, ``"faithful"`` and
        ``"banzhaf"`` are the Shapley-Taylor, faithful Shapley and Banzhaf indices, of trees and of models with few
        features (see `pellucid.shapley`); rows of the last sum to Banzhaf values.

        ``scale="auto"`` explains what the model predicts: probabilities for every classifier, boosted trees and
        logistic regression included. ``scale="log-odds"`` explains the sum before the link. (The path game and the
        interactions of boosted trees are those of the sum unless you say otherwise: behind a link everything
        interacts.)

        It misleads when features are correlated (the model is evaluated at rows that do not occur; see `caveats`), and
        when read as what would happen if a feature were removed or changed: it compares with the average prediction.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1], X)
        >>> why = ex.shap([0, 1, 2])
        >>> why.values.shape, bool(np.allclose(why.values[:, 0], 2 * (X[:3, 0] - X[:, 0].mean())))
        ((3, 2), True)
        >>> bool(np.allclose(why.base + why.values.sum(axis=1), why.prediction))
        True
        """
        return shap(
            self.predictor,
            self.data,
            rows,
            background=self.background,
            method=method,
            game=game,
            budget=budget,
            tolerance=tolerance,
            interactions=interactions,
            scale=scale,
            conditional=conditional,
            sparse=sparse,
            proxy=proxy,
            run=self._run("Shapley values"),
        )

    def breakdown(self, row: Any, *, order: Any = None, interactions: bool = False) -> Attribution:
        """Why this prediction, step by step: features become known one after the other, in one order.

        From the average prediction on, each step is the change when one more feature takes the row's value.
        ``order=None`` takes the feature that changes the prediction most at every step; a list of names gives the
        order; ``"all"`` averages over all orders, which gives Shapley values. ``interactions=True`` lets two features
        enter together where they do more than both alone.

        It misleads where features interact: another order gives other steps (the result's `caveats` say by how much).
        `shap` does not depend on an order.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1], X)
        >>> steps = ex.breakdown(0)
        >>> bool(np.allclose(steps.values, ex.shap(0).values))
        True
        """
        return breakdown(
            self.predictor,
            self.data,
            row,
            background=self.background,
            order=order,
            interactions=interactions,
            run=self._run("break-down"),
        )
