"""What the model relies on as a whole: feature importance, interactions, the function in parts."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack, overload

from pellucid.explanations import Decomposition, Importance, ImportanceComparison, Interactions
from pellucid.methods.decomposition.dispatch import Density, decompose
from pellucid.methods.decomposition.dispatch import Method as DecompositionMethod
from pellucid.methods.importance.dispatch import importance
from pellucid.methods.importance.estimation.loss_change import Compare
from pellucid.methods.importance.permutation import Scheme
from pellucid.methods.importance.request import Request
from pellucid.methods.interactions.dispatch import interactions
from pellucid.methods.interactions.request import Against
from pellucid.methods.interactions.request import Method as InteractionMethod
from pellucid.verbs.bound import Bound


class _ImportanceOptions(TypedDict, total=False):
    loss: Any
    compare: Compare
    repeats: int
    scheme: Scheme
    p_values: bool | int
    grid: int
    at: Any
    ranges: Any
    holdout: tuple[Any, Any] | None
    folds: Any
    refit: Any
    budget: int | None
    tolerance: float | None


class ModelVerbs(Bound):
    """What the model relies on, over all rows."""

    @overload
    def importance(self, *, method: str = ..., **options: Unpack[_ImportanceOptions]) -> Importance: ...
    @overload
    def importance(
        self, *, method: list[str] | tuple[str, ...], **options: Unpack[_ImportanceOptions]
    ) -> ImportanceComparison: ...
    def importance(
        self,
        *,
        method: Any = "permutation",
        loss: Any = None,
        compare: Compare = "difference",
        repeats: int = 5,
        scheme: Scheme = "shuffle",
        p_values: bool | int = False,
        grid: int = 50,
        at: Any = None,
        ranges: Any = None,
        holdout: tuple[Any, Any] | None = None,
        folds: Any = None,
        refit: Any = None,
        budget: int | None = None,
        tolerance: float | None = None,
    ) -> Importance | ImportanceComparison:
        """Feature importance: how much the model relies on each feature or group.

        ``method="permutation"`` compares the loss before and after a feature's values are given to other rows
        (``scheme`` random ``"shuffle"``, split-half swap ``"halves"``, or all n(n-1) ``"pairs"``, exact);
        ``"conditional"`` draws them given the other features instead: what a feature adds to the others. ``loss`` is a
        name (mse, mae, rmse, 1-r2; log_loss, brier, error, 1-auc), ``"variance"`` (needs no y) or a function
        ``loss(y, prediction)`` that gives one number, or one per row, which are then averaged by their weights.
        ``"shap"`` is the mean absolute contribution, ``"pdp"`` the spread of the partial dependence, over ``grid``
        values or those of ``at={"temp": [0, 10, 20]}``. ``"drop"`` fits the model again without each feature, by
        cross-validation (``folds``, 5 unless told), and compares the losses on held-out rows. ``folds=`` with
        ``method="permutation"`` measures models fitted to the other folds on each fold; it is a number, or one label
        per row so that rows that belong together stay together. ``p_values=True`` compares each value with those of
        models fitted to permuted outcomes (100 of them, or as many as you say:
        ``p_values=500``). Estimators are cloned and fitted again; for any other model give ``refit``, a function
        ``fit(X, y)`` that returns a fitted model (or an unfitted estimator). Your model is never touched. ``"sage"``
        divides what the model gains over its mean prediction (in mse, log loss, or another ``loss`` that is a mean over
        rows) fairly among the features: Shapley values of the loss, which add up to `joint`; without y they are shares
        of the variance of the predictions. Few features are exact, as are trees that add up to the prediction; else
        ``budget`` model rows are spent, or as many as make every 95% interval narrower than ``tolerance``. ``"sobol"``
        shares the variance of the predictions among features taken as independent, each distributed as in X: the value
        is the total index (with all interactions), ``first`` that of the feature alone; exact for trees that add up to
        what is explained, else sampled. ``"anova"`` is the same with every feature uniform over its range.
        ``ranges={"temp": (0, 30)}`` lets both vary features evenly over ranges of your own.
        ``"shapley-effects"`` shares the variance among features that may be correlated: shares add up to one. A list of
        methods gives a comparison: shares on one scale, agreement of the orders, and what a disagreement usually means.
        ``holdout=(X, y)`` lets the result say whether these rows flatter the model. An option that the method does not
        take is refused.

        It misleads when features are correlated (they share their importance; ``"conditional"`` gives none to a copy)
        and on data the model was fitted to. Fitting again tells about the way of fitting, not about the given model;
        without a feature others replace it (``"drop"`` then finds neither important).

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> importance = ex.importance(loss="variance")
        >>> importance.top(1)
        ['x0']
        >>> both = ex.importance(method=["permutation", "shap"])
        >>> float(both.agreement[0, 1]), both.shares.shape
        (1.0, (2, 2))

        >>> shares = ex.importance(method="sobol")
        >>> shares.values.round(2), shares.first.round(2)
        (array([0.66, 0.34]), array([0.66, 0.34]))

        Fitting again:

        >>> from sklearn.linear_model import LinearRegression
        >>> y = 2 * X[:, 0] + np.random.default_rng(1).normal(size=500)
        >>> fitted = pellucid.Explainer(LinearRegression().fit(X, y), X, y)
        >>> dropped = fitted.importance(method="drop")
        >>> dropped.settings["refits"], dropped.top(1)
        (15, ['x0'])
        """
        request = Request(
            self.predictor,
            self.data,
            background=self.background,
            loss=loss,
            compare=compare,
            repeats=repeats,
            scheme=scheme,
            p_values=p_values,
            grid=grid,
            at=at,
            ranges=ranges,
            holdout=None if holdout is None else self.data.like(*holdout),
            folds=folds,
            refit=refit,
            budget=budget,
            tolerance=tolerance,
            run=self._run("importance"),
        )
        return importance(method, request)

    def interactions(
        self,
        features: Any = None,
        *,
        method: InteractionMethod = "h",
        against: Against = "pairs",
        normalize: bool = True,
        p_values: bool = False,
        rows: int | None = None,
        network: bool = True,
    ) -> Interactions:
        """What interacts: how strongly features act together beyond what each does alone.

        ``features=None`` measures all pairs, a name or position about its pairs with all others, a list about the
        pairs among them, a list of pairs (``[("temp", "hum"), ("wind", "hum")]``) about these. Where all pairs would be
        more than 20,000, those among the 20 features that interact most in all are answered. ``against="all"`` gives
        one value per feature, its interaction with all others together, ``"triples"`` one per triple.

        ``method="h"`` is Friedman's H, the root of the share of the joint effect's variance that is interaction;
        ``"greenwell"`` how much the size of one feature's effect varies with the other, in standard deviations of the
        prediction; ``"shap"`` the share of all Shapley attributions that goes to the pair. ``normalize=False`` gives
        them in the units of the prediction (`strength` always does, and `top` and the chart go by it). Trees and linear
        models are read exactly, at all rows against all rows; any other model is called, at as many rows as cost three
        million model rows, or at ``rows`` of them.
        ``p_values=True`` (method "h", needs y, of rows that the model was not fitted to) tests whether the outcome
        confirms each interaction: it is regressed on flexible functions of the features, the model's other parts and
        the interaction. `adjusted` is for the number of sets (Holm).

        No value is strong as such. `Interactions.network` says what an interaction is worth: which features, pairs and
        triples are needed to reproduce the model within a share ``loss`` of its variance; ``network=False`` saves the
        model rows for it.

        It misleads when features are correlated (the model is evaluated at rows that do not occur; see `caveats`) and
        when a normalised value divides by a weak effect. It says how strong an interaction is, not what shape it has:
        draw
        ``pdp(("temp", "hum"))``.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> ex = pellucid.Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X, feature_names=["temp", "hum", "wind"])
        >>> found = ex.interactions()
        >>> found.top(1), found.pair("hum", "wind")
        ([('temp', 'hum')], 0.0)
        >>> found.network(loss=0.01).edges
        (('temp', 'hum'),)
        """
        return interactions(
            self.predictor,
            self.data,
            features,
            background=self.background,
            method=method,
            against=against,
            normalize=normalize,
            p_values=p_values,
            rows=rows,
            network=network,
            run=self._run("interactions"),
        )

    def decompose(
        self,
        *,
        method: DecompositionMethod = "marginal",
        order: int = 2,
        features: Any = None,
        grid: int | None = None,
        at: Any = None,
        density: Density = "data",
    ) -> Decomposition:
        """The function in parts: a constant, main effects and interactions that add up to the prediction.

        ``method="marginal"`` takes partial dependence apart, ``"anova"`` averages over all combinations of values as
        equally likely (orthogonal components, Sobol's shares). ``"generalized"`` fits all parts at once and moves what
        fewer features can say to the parts of fewer features; ``density`` says where the function counts: at the rows
        (``"data"``), anywhere in the ranges (``"uniform"``) or anywhere near a row (``"support"``). ``"ale"`` adds up
        small steps near real rows. These two are for correlated features: their parts overlap, so read
        ``covariance``, which adds up, beside ``values``. ``order`` is the most features in one component, 1 to 3;
        ``features`` restricts the components to some features; ``grid`` is the number of points along a feature;
        ``at={"temp": [0, 10, 20]}`` gives the points of "anova" themselves, each as likely. The result has each
        component's share of the variance, ``r2`` (how well all together reproduce the predictions), ``predict(X)``,
        ``explain(rows)``, ``component("a", "b")`` and ``checks``.

        It misleads when features are correlated ("marginal" and "anova" average over combinations that do not occur)
        and when much is left over; the result's `caveats` say so.

        Examples
        --------
        >>> import itertools, numpy as np, pellucid
        >>> X = np.array(list(itertools.product(range(4), repeat=2)), dtype=float)
        >>> ex = pellucid.Explainer(lambda X: X[:, 0] + X[:, 0] * X[:, 1], X)
        >>> parts = ex.decompose()
        >>> parts.feature_names, round(float(parts.constant), 6)
        (('x0', 'x1', 'x0 × x1'), 3.75)
        >>> bool(np.allclose(parts.predict(X), X[:, 0] + X[:, 0] * X[:, 1]))
        True
        """
        return decompose(
            self.predictor,
            self.data,
            background=self.background,
            method=method,
            order=order,
            features=features,
            grid=grid,
            at=at,
            density=density,
            run=self._run("decomposition"),
        )
