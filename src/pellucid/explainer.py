"""Explainer: binds a model and reference data to every method. It has no logic of its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from pellucid.arrays import IntArray
from pellucid.checks import flag, one_of, reporting, seed, workers
from pellucid.data import Data, as_frame
from pellucid.data.frames.doorway import check_table
from pellucid.data.no_features import no_features
from pellucid.data.row_labels import split_labels
from pellucid.data.table import plain_array
from pellucid.diagnostics.general import SAMPLE_ROWS
from pellucid.diagnostics.off_data import leaves_data
from pellucid.errors import InputWarning
from pellucid.explanations import (
    Associations,
    Attribution,
    Audit,
    Clusters,
    Counterfactuals,
    Decomposition,
    Effect,
    Effects,
    Importance,
    ImportanceComparison,
    Interactions,
    LocalAttribution,
    Pick,
)
from pellucid.explanations.explanation import native_table
from pellucid.explanations.rule import Anchor, Rule, RuleCheck, Rules
from pellucid.methods.associations import associations, clusters
from pellucid.methods.attribution.breakdown import breakdown
from pellucid.methods.attribution.dispatch import Conditional, GameName, Method, Scale
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.methods.attribution.shap import shap
from pellucid.methods.attribution.shapley_kernel import Proxy
from pellucid.methods.audit import audit
from pellucid.methods.counterfactual.adversarial import NORMS, Norm
from pellucid.methods.counterfactual.counterfactuals import counterfactuals
from pellucid.methods.counterfactual.dispatch import Method as CounterfactualMethod
from pellucid.methods.decomposition.dispatch import Density, decompose
from pellucid.methods.decomposition.dispatch import Method as DecompositionMethod
from pellucid.methods.effects.ale import ale
from pellucid.methods.effects.ice import ice
from pellucid.methods.effects.leading import leading_effects, named
from pellucid.methods.effects.mplot import mplot
from pellucid.methods.effects.pdp import Kind, pdp
from pellucid.methods.importance.dispatch import importance, side_by_side
from pellucid.methods.importance.estimation.loss_change import Compare
from pellucid.methods.importance.permutation import Scheme
from pellucid.methods.importance.request import Request
from pellucid.methods.importance.shap_importance import from_contributions
from pellucid.methods.interactions.dispatch import interactions
from pellucid.methods.interactions.exclusion import with_own_draws
from pellucid.methods.interactions.request import Against, sets_of
from pellucid.methods.interactions.request import Method as InteractionMethod
from pellucid.methods.interactions.request import Request as InteractionRequest
from pellucid.methods.local.lime import lime
from pellucid.methods.local.pick import lime_pick
from pellucid.methods.local.surrogate.fitting import Model as LocalModel
from pellucid.methods.local.surrogate.neighbourhood import Sampler
from pellucid.methods.local.surrogate.representation import Space
from pellucid.methods.local.surrogate.selection import Select
from pellucid.methods.local.surrogate.width import Distance
from pellucid.methods.rules.anchor import anchor
from pellucid.methods.rules.rule_check import check_rule
from pellucid.models import Predictor
from pellucid.models.outputs import ClassNames
from pellucid.models.predictor import Link
from pellucid.reading.introduction import introduction
from pellucid.runner import Limits, Run
from pellucid.runner.progress import Progress


class _ImportanceOptions(TypedDict, total=False):
    loss: Any
    compare: Compare
    repeats: int
    scheme: Scheme
    p_values: bool | int
    grid: int
    holdout: tuple[Any, Any] | None
    folds: Any
    refit: Any
    budget: int | None
    tolerance: float | None


class _PdpOptions(TypedDict, total=False):
    grid: int
    at: Any
    kind: Kind
    center: Any
    pure: bool
    rows: Any


class _AleOptions(TypedDict, total=False):
    bins: Any
    total: bool
    order: Sequence[Any] | None
    gradient: bool


class Explainer:
    """See through a model: one object, one verb per question.

    Parameters
    ----------
    model
        Estimator, pipeline, booster, torch module, ONNX file or session, or a function ``f(X) -> array``.
    X
        Reference data: pandas, polars, pyarrow, numpy, scipy sparse or a list of dicts.
    y
        True outcome, one per row; needed only by what compares with the truth.
    output
        Class label(s) to explain; default every class, and of two classes the second.
    link
        ``"logit"`` explains log-odds instead of probabilities.
    categorical
        Names of columns to treat as categories; default: judged by their types.
    groups
        ``{"weather": ["temp", "hum"]}``: columns that act as one.
    feature_names
        Names for the columns of a bare matrix.
    class_names
        What to call the classes of a model that was fitted to 0 and 1: ``["bad", "good"]``, in the order of its labels,
        or by label, ``{0: "bad", 1: "good"}``. ``y`` and ``output`` may then use either.
    labels, units
        Names for people and units of measurement, by column: ``labels={"temp": "Temperature"}, units={"temp": "°C"}``.
        Charts, sentences and tables then speak of "Temperature (°C)"; arguments may use either name.
    background
        Rows that stand for "absent" in Shapley methods: a frame, a number of rows, or None. Effects and
        importance use every row of X.
    sample_weight
        One weight per row of X.
    row_labels
        What rows are called: a column of ids in X (it is no feature then), or one label per row. Default: the
        index of a pandas table, else positions. Rows can be asked for by label: ``ex.shap("cust7")``.
    random_state
        Seed; the same seed gives the same numbers, whatever ``n_jobs``.
    n_jobs
        joblib's convention; batches of rows go to threads.
    progress
        None: a bar when work is long and the terminal interactive; True, False, or a function
        ``(done, total)``.
    checks
        Whether to run the diagnostics behind `caveats` (they ask the model for some further rows).

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0])
    >>> ex = pellucid.Explainer(model, X, feature_names=["temp", "wind"])
    >>> effect = ex.pdp("temp", at=[0, 1])
    >>> bool(np.isclose(effect.values[1] - effect.values[0], 3))
    True
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        output: Any = None,
        link: Link = "identity",
        categorical: Sequence[str | int] | None = None,
        groups: Mapping[str, Sequence[str | int]] | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: ClassNames | None = None,
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        background: Any = None,
        sample_weight: Any = None,
        row_labels: Any = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
        checks: bool = True,
    ) -> None:
        self._random_state, self._checks = seed(random_state), flag("checks", checks)
        self._n_jobs, self._progress = workers(n_jobs), reporting(progress)
        self._limits = Limits()
        check_table(X, feature_names)
        X, named = split_labels(X, row_labels)
        judged = self._checks and (y is not None or link == "logit")
        self.predictor = Predictor(
            model,
            X,
            output=output,
            link=link,
            labels=None if y is None else plain_array(y),
            feature_names=feature_names,
            class_names=class_names,
            sample=SAMPLE_ROWS if judged else 0,
        )
        self.data = Data.of(
            as_frame(X, feature_names or self.predictor.names),
            y,
            categorical=categorical,
            groups=groups,
            sample_weight=sample_weight,
            container=self.predictor.container,
            row_labels=named,
            labels=labels,
            units=units,
        )
        for sentence in no_features(self.data):
            warnings.warn(sentence, InputWarning, stacklevel=2)
        self.background = background
        self._known: dict[str, Any] = {"sample": self.predictor.sample} if judged else {}

    def __repr__(self) -> str:
        return introduction(self.predictor, self.data, self._run("looking at the model"))

    def _run(self, what: str) -> Run:
        return Run(
            n_jobs=self._n_jobs,
            progress=self._progress,
            what=what,
            seed=self._random_state,
            checks=self._checks,
            memory_of=self._known,
            limits=self._limits,
        )

    def predict(self, rows: Any = None) -> Any:
        """What the model predicts and is explained: a table with one column per output, in your dataframe library.

        ``rows`` are positions in X, or rows of your own, as for `shap`; None: every row of X.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0], np.array([[1.0, 0.0], [2.0, 5.0]]))
        >>> ex.predict([1])["prediction"].tolist()
        [4.0]
        """
        data = self.data if rows is None else self.data.rows(rows)
        found = self._run("predictions").predict(self.predictor, data)
        return native_table(dict(zip(self.predictor.output_names, found.T, strict=True)), self.data.caller)

    @overload
    def pdp(self, features: None = None, **options: Unpack[_PdpOptions]) -> Effects: ...
    @overload
    def pdp(self, features: Any, **options: Unpack[_PdpOptions]) -> Effect: ...
    def pdp(
        self,
        features: Any = None,
        *,
        grid: int = 50,
        at: Any = None,
        kind: Kind = "average",
        center: Any = None,
        pure: bool = False,
        rows: Any = None,
    ) -> Effect | Effects:
        """Average effect of one feature or a pair: partial dependence (PDP); without a name, of the most important
        ones.

        ``at`` gives the grid (a list of values, or one list per feature), ``kind`` the average, the individual
        curves or both, ``center`` an anchor value (or ``"min"``, ``"mean"``) at which curves are set to zero;
        ``pure=True`` takes the main effects out of a pair.

        It misleads when features are correlated (see `ale`) and when rows respond differently (see `ice`); the
        result's `caveats` say whether they do.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> effect = ex.pdp(0, at=[0, 1])
        >>> round(float(effect.values[1] - effect.values[0]), 6)
        2.0
        """
        run = self._run("partial dependence")
        one = partial(pdp, self.predictor, self.data, grid=grid, at=at, kind=kind, center=center, pure=pure, rows=rows)
        if features is not None:
            return one(features, run=run)
        named("pdp", {"at": at, "pure": pure or None})
        return leading_effects(self.predictor, self.data, one, run=run)

    def ice(
        self,
        feature: Any,
        *,
        rows: Any = None,
        sample: int | None = None,
        grid: int = 50,
        at: Any = None,
        center: Any = None,
        derivative: bool = False,
    ) -> Effect:
        """What-if curves: the effect of one feature for each row, individual conditional expectation (ICE).

        ``rows`` picks rows (positions, or rows of your own), ``sample`` a random number of them, ``center`` an
        anchor value, ``derivative=True`` the slopes, whose spread shows where rows differ.

        It misleads as `pdp` does when features are correlated, curve by curve.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> curves = ex.ice(0, at=[0, 1], center=0)
        >>> curves.values.shape, round(float(curves.spread[1]), 6)
        ((500, 2), 0.0)
        """
        run = self._run("individual curves")
        return ice(
            self.predictor,
            self.data,
            feature,
            rows=rows,
            sample=sample,
            grid=grid,
            at=at,
            center=center,
            derivative=derivative,
            run=run,
        )

    @overload
    def ale(self, features: None = None, **options: Unpack[_AleOptions]) -> Effects: ...
    @overload
    def ale(self, features: Any, **options: Unpack[_AleOptions]) -> Effect: ...
    def ale(
        self,
        features: Any = None,
        *,
        bins: Any = None,
        total: bool = False,
        order: Sequence[Any] | None = None,
        gradient: bool = False,
    ) -> Effect | Effects:
        """Effect of one, two or three features, also of correlated features: accumulated local effects (ALE); without a
        name, of the most important features.

        The effect of two or three is what they do together beyond their effects alone and (for three) in pairs:
        the mixed difference of the prediction over the corners of a cell, averaged over the rows in the cell,
        added up along all features, with the effects of fewer features taken out. ``total=True`` adds these and
        the mean prediction back.

        ``bins`` is a number or the edges (for several features: one for all, or one for each). Without it there are as
        many as leave some ten rows per bin of one feature (5 to 40), or twenty per cell of several (3 to 40 for each of
        two, 3 to 10 of three). ``order`` is an order for categories (a list of them if several features have
        categories);
        ``gradient=True`` uses the model's own derivatives.

        It misleads in bins with few rows, across distant bins under strong dependence, through the order of
        categories, and for three features through noise and empty cells, because cells multiply; the result's
        `caveats` say where.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> effect = ex.ale(0)
        >>> round(effect.value(1) - effect.value(0), 6)
        2.0

        Three features whose product is predicted, every combination of values once:

        >>> X = np.array([[a, b, c] for a in range(4) for b in range(4) for c in range(4)], dtype=float)
        >>> effect = pellucid.Explainer(lambda X: X.prod(axis=1), X).ale((0, 1, 2), bins=3)
        >>> effect.values.shape, round(effect.value(3, 3, 3) - effect.value(3, 3, 0), 6)
        ((4, 4, 4), 9.1875)
        """
        run = self._run("accumulated local effects")
        one = partial(ale, self.predictor, self.data, bins=bins, total=total, order=order, gradient=gradient)
        if features is not None:
            return one(features, run=run)
        named("ale", {"order": order})
        return leading_effects(self.predictor, self.data, one, run=run)

    def mplot(self, feature: Any, *, bins: int = 20) -> Effect:
        """Average prediction of the rows that have a value: the marginal plot, to compare with `pdp` and `ale`."""
        return mplot(self.predictor, self.data, feature, bins=bins, run=self._run("marginal plot"))

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
        ``loss(y, prediction)``. ``"shap"`` is the mean absolute contribution, ``"pdp"`` the spread of the partial
        dependence. ``"drop"`` fits the model again without each feature, by cross-validation (``folds``, 5 unless
        told), and compares the losses on held-out rows. ``folds=`` with ``method="permutation"`` measures models fitted
        to the other folds on each fold; it is a number, or one label per row so that rows that belong together stay
        together. ``p_values=True`` compares each value with those of models fitted to permuted outcomes (100 of them,
        or as many as you say:
        ``p_values=500``). Estimators are cloned and fitted again; for any other model give ``refit``, a function
        ``fit(X, y)`` that returns a fitted model (or an unfitted estimator). Your model is never touched. ``"sage"``
        divides what the model gains over its mean prediction (in mse, log loss, or another ``loss`` that is a mean over
        rows) fairly among the features: Shapley values of the loss, which add up to `joint`; without y they are shares
        of the variance of the predictions. Few features are exact, as are trees that add up to the prediction; else
        ``budget`` model rows are spent, or as many as make every 95% interval narrower than ``tolerance``. ``"sobol"``
        shares the variance of the predictions among features taken as independent, each distributed as in X: the value
        is the total index (with all interactions), ``first`` that of the feature alone; exact for trees that add up to
        what is explained, else sampled. ``"anova"`` is the same with every feature uniform over its range.
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

        ``features=None`` asks about all pairs, a name or position about its pairs with all others, a list about the
        pairs among them; ``against="all"`` gives one value per feature, its interaction with all others together,
        ``"triples"`` one per triple.

        ``method="h"`` is Friedman's H, the root of the share of the joint effect's variance that is interaction;
        ``"greenwell"`` how much the size of one feature's effect varies with the other, in standard deviations of the
        prediction; ``"shap"`` the share of all Shapley attributions that goes to the pair. ``normalize=False`` gives
        them in the units of the prediction (`strength` always does, and `top` and the chart go by it). Trees and linear
        models are read exactly, at all rows against all rows; any other model is asked, at as many rows as cost three
        million model rows, or at ``rows`` of them.
        ``p_values=True`` (method "h", needs y, of rows that the model was not fitted to) tests whether the outcome
        confirms each interaction: it is regressed on flexible functions of the features, the model's other parts and
        the interaction. `adjusted` is for the number of sets (Holm).

        No value is strong as such. `Interactions.network` says what an interaction is worth: which features, pairs and
        triples are needed to reproduce the model within a share ``loss`` of its variance; ``network=False`` saves the
        model rows for it.

        It misleads when features are correlated (the model is asked about rows that do not occur; see `caveats`) and
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
        density: Density = "data",
    ) -> Decomposition:
        """The function in parts: a constant, main effects and interactions that add up to the prediction.

        ``method="marginal"`` takes partial dependence apart, ``"anova"`` averages over all combinations of values as
        equally likely (orthogonal components, Sobol's shares). ``"generalized"`` fits all parts at once and moves what
        fewer features can say to the parts of fewer features; ``density`` says where the function counts: at the rows
        (``"data"``), anywhere in the ranges (``"uniform"``) or anywhere near a row (``"support"``). ``"ale"`` adds up
        small steps near real rows. These two are for correlated features: their parts overlap, so read
        ``covariance``, which adds up, beside ``values``. ``order`` is the most features in one component, 1 to 3;
        ``features`` restricts the components to some features; ``grid`` is the number of points along a feature. The
        result has each component's share of the variance,
        ``r2`` (how well all together reproduce the predictions), ``predict(X)``, ``explain(rows)``, ``component("a",
        "b")`` and ``checks``.

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
            density=density,
            run=self._run("decomposition"),
        )

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
        >>> found.line("steadiness").severity, found.line("hidden reliance").bad
        (0.0, False)
        >>> [caveat.code for caveat in found.caveats]
        ['poor-model']
        """
        rows = None if holdout is None else self.data.like(*holdout)
        return audit(self.predictor, self.data, holdout=rows, run=self._run("audit"))

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
        are drawn given what is known (``conditional="copula"`` or ``"neighbours"``).

        ``method="auto"`` reads tree ensembles (TreeSHAP) and linear (additive) models exactly. Any other model is
        asked: for every coalition where that fits (``"exact"``), else for pairs of coalitions (``"kernel"``,
        KernelSHAP), with a standard error `se` per value; ``"permutation"`` follows random orders instead. The result
        says which it was and why. ``budget`` is a number of model rows, ``tolerance`` the half width of the 95%
        intervals at which sampling ends. ``sparse=k`` gives contributions to at most k features (an L1 penalty; no
        longer Shapley values; `Attribution.sparse` keeps them).
        ``proxy="trees"`` lets boosted trees learn from the coalitions that were asked, which pays for rule-like models.
        ``interactions=True`` (or ``"shapley"``) adds `interaction_values` (rows, features, features): off the diagonal
        half of the Shapley interaction index, rows sum to the contributions. ``"taylor"``, ``"faithful"`` and
        ``"banzhaf"`` are the Shapley-Taylor, faithful Shapley and Banzhaf indices, of trees and of models with few
        features (see `pellucid.shapley`); rows of the last sum to Banzhaf values.

        ``scale="auto"`` explains what the model predicts: probabilities for every classifier, boosted trees and
        logistic regression included. ``scale="log-odds"`` explains the sum before the link. (The path game and the
        interactions of boosted trees are those of the sum unless you say otherwise: behind a link everything
        interacts.)

        It misleads when features are correlated (the model is asked about rows that do not occur; see `caveats`), and
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

    def lime(
        self,
        row: Any,
        *,
        features: int = 6,
        samples: int | None = None,
        space: Space = "raw",
        sampler: Sampler = "data",
        distance: Distance = "euclidean",
        width: float | str = "auto",
        kernel: Any = "exponential",
        model: LocalModel = "linear",
        select: Select = "auto",
        tolerance: float | None = None,
        boundary: Any = None,
    ) -> LocalAttribution:
        """Why this prediction, sparsely: a local surrogate (LIME), a simple model of at most ``features`` features that
        holds near the row.

        Samples are drawn (``sampler``: "data", each feature by itself; "gaussian" at the data's centre; "around" the
        row; "correlated", with the correlations of the features), weighted by exp(-D^2 / width^2) for how near they are
        (``distance`` "euclidean", "gower" or "cosine"), and a ``model`` is fitted to the predictions: "linear",
        "ridge", "lasso", "logistic" (for probabilities) or "tree". Numbers are explained as they are or in bins
        (``space`` "raw", "quartile", "decile", "entropy", a dict of edges by feature), or features of your own: a
        function (or a dict of them) of the rows, or ``space=(to, back)``, maps to readable features and back.
        ``select`` chooses the features ("forward", "backward", "lasso", "all"). ``row`` may be several rows; they share
        their samples.

        ``width="auto"`` tries several widths and takes the one that is best in fidelity near the row times stability
        over repeats (`LocalAttribution.width_search`, ``plot(kind="widths")``); ``"default"`` is 0.75 sqrt(features),
        by habit.
        There are 5,000 samples, doubled (up to 20,000) until in repeats at most 5% of the weight is on other features;
        ``tolerance`` sets another share (up to 80,000), ``samples`` alone their number. ``kernel="shap"`` gives Shapley
        values from the same regression. ``boundary=("a", "b")`` keeps what ``plot(kind="boundary")`` needs.

        `values` are effects: weight times how far the row is from the average sample (`at_zero` gives weight times
        value). They add up to the local model's prediction, not to the model's: `residual` is what it misses.

        It misleads when another width turns the signs, when the fit is poor (`fidelity`), when repeats differ
        (`stability`, `agreement`), when features are correlated and their samples are not, and with many features,
        where nothing is near; the `caveats` say which.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] - X[:, 1], X, feature_names=["temp", "hum", "wind"])
        >>> why = ex.lime(0)
        >>> why.weights.round(6).tolist(), why.selected
        ([[2.0, -1.0, 0.0]], (('temp', 'hum'),))
        >>> bool(np.isclose(why.local_prediction[0], why.prediction[0]))
        True
        """
        return lime(
            self.predictor,
            self.data,
            row,
            features=features,
            samples=samples,
            space=space,
            sampler=sampler,
            distance=distance,
            width=width,
            kernel=kernel,
            model=model,
            select=select,
            tolerance=tolerance,
            boundary=boundary,
            background=self.background,
            run=self._run("local models"),
        )

    def lime_pick(self, budget: int, *, rows: Any = None, sample: int = 100, **options: Any) -> Pick:
        """A few rows that show, between them, what the model uses (SP-LIME).

        ``rows`` (or a random ``sample`` of X) are explained with `lime` and its ``options``; greedily, the row is added
        that shows the most important features not shown yet. `Pick.explanations` explain the picked rows.
        ``pick_rows(attribution, budget)`` does the same for explanations you have, `shap` included.

        It misleads by showing what is common, not what is odd, and as far as the local models are poor.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> ex = pellucid.Explainer(lambda X: np.where(X[:, 2] > 0, X[:, 0], X[:, 1]), X)
        >>> picked = ex.lime_pick(2, sample=20, features=1, width=0.8)
        >>> len(picked), picked.values.shape
        (2, (3,))
        """
        return lime_pick(
            self.predictor,
            self.data,
            budget,
            rows=rows,
            sample=sample,
            background=self.background,
            run=self._run("picking rows"),
            **options,
        )

    def anchor(
        self,
        rows: Any,
        *,
        precision: float = 0.95,
        delta: float = 0.05,
        epsilon: float = 0.05,
        beams: int = 4,
        batch: int = 32,
        bins: Any = "auto",
        perturb: Any = "data",
        max_conditions: int | None = None,
        budget: int | None = None,
        empty_evaluations: int = 1000,
        suboptimal: bool = True,
        within: Any = None,
    ) -> Anchor | Rules:
        """What fixes a prediction: the rule that covers most rows and keeps the prediction whatever else changes.

        Of rows that obey the rule, with everything else taken from other rows of the data, a share of at least
        ``precision`` gets the same prediction; the true share is below ``precision - epsilon`` with probability at most
        ``delta``. Several rows give several rules, which share what the model was asked.

        ``bins`` cuts numbers: "auto" (quartiles, halved where they are too wide for any rule), a number of bins, or
        ``{name: edges}``.
        ``perturb`` is where the other values come from: "data"; "balanced", with all predicted classes equally often;
        "conditional", rows of the data that obey the rule as they are; or a function ``(row, features, n, generator)``
        that returns a table of n rows. ``within`` says which numbers count as the same prediction: a half width or
        ``(low, high)``; without it half a standard deviation of the predictions. ``beams`` are the rules extended in
        each round (``suboptimal``: also those that are no more precise than before), ``batch`` the draws at a first
        look, ``empty_evaluations`` the rows that the precision without any condition is measured on, ``max_conditions``
        the most conditions and ``budget`` the most model rows; `Anchor.reason` says why a precision was not reached.
        `check` measures a rule on other rows.

        It misleads when features are correlated (the model is asked about rows that do not occur), when a prediction is
        very common or very rare, and near a decision boundary; the result's `caveats` say whether. Other rules may fix
        the same prediction.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).integers(0, 3, size=(300, 3)).astype(float)
        >>> rich = lambda X: (X[:, 0] == 2) & (X[:, 1] > 0)
        >>> ex = pellucid.Explainer(lambda X: rich(X).astype(float), X, feature_names=["a", "b", "c"])
        >>> rule = ex.anchor({"a": 2, "b": 2, "c": 0}, within=0.1)
        >>> rule.conditions[0].words, rule.precision
        ('a = 2', 1.0)
        >>> bool((rule.applies(X) <= rich(X)).all())
        True
        """
        return anchor(
            self.predictor,
            self.data,
            rows,
            precision=precision,
            delta=delta,
            epsilon=epsilon,
            beams=beams,
            batch=batch,
            bins=bins,
            perturb=perturb,
            max_conditions=max_conditions,
            budget=budget,
            empty_evaluations=empty_evaluations,
            suboptimal=suboptimal,
            within=within,
            run=self._run("anchors"),
        )

    def check_rule(self, rule: Rule, rows: Any) -> RuleCheck:
        """A rule on other rows: to how many it applies, and for what share of these the model predicts as it says.

        ``rule`` comes from `anchor`, or is one's own: `Rule.of`. ``rows`` are a table like X, or positions in X. Unlike
        `Anchor.precision`, which is about perturbed rows, this is about rows that occur; where features are correlated
        the two differ. Only rows that the rule applies to are asked for. `Rule.check` does the same with predictions,
        or a function, of one's own.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).integers(0, 3, size=(300, 3)).astype(float)
        >>> ex = pellucid.Explainer(lambda X: (X[:, 0] == 2) * 1.0, X[:200])
        >>> found = ex.check_rule(ex.anchor(np.array([2.0, 0.0, 0.0]), within=0.1), X[200:])
        >>> found.precision, bool(found.applies == (X[200:, 0] == 2).sum())
        (1.0, True)
        >>> ex.check_rule(pellucid.Rule.of("x0 >= 1", prediction=(0, 0.5)), X).precision < 0.6
        True
        """
        return check_rule(self.predictor, self.data, rule, rows, run=self._run("checking a rule"))

    def counterfactuals(
        self,
        row: Any,
        target: Any = None,
        *,
        method: CounterfactualMethod = "auto",
        n: int = 5,
        fixed: Any = (),
        ranges: Mapping[Any, Any] | None = None,
        monotone: Mapping[Any, str] | None = None,
        relations: Any = (),
        feasible: Any = None,
        max_changes: int | None = None,
        distance: Any = "gower",
        costs: Mapping[Any, Any] | None = None,
        protected: Any = (),
        polish: bool = True,
        best_effort: bool = False,
        budget: int | None = None,
        **options: Any,
    ) -> Counterfactuals:
        """What would have to be different: the nearest rows for which the model predicts the ``target``.

        ``target`` is a class (``"good"``), one of several (``["b", "c"]``), any but one (``"not bad"``; None: any but the
        present one), a comparison (``">= 1000"``, ``"> 50%"``), an interval ``(low, high)``, a number to be reached, or
        a dict of these by output. Every answer is a row in the types of your table that the model, asked about it as
        it is handed out, predicts as asked; where there is none, the result says what stands in the way
        (``best_effort=True``: the nearest miss, marked as such).

        What may change: ``fixed`` names features that may not; ``monotone={"age": "up"}`` those that go one way;
        ``ranges={"amount": (0, 5000), "job": ["a", "b"]}`` where they may go (else as far as in X, in its steps and
        decimals); ``relations`` what holds between columns (``"a <= b"``, ``"2*a + b <= 10"``, ``"if housing = 'own'
        then age >= 18"``); ``feasible`` a function of rows of your table; ``max_changes`` how many features may.
        Columns of a group change together. ``protected`` features are watched: a caveat says whether answers need them.

        Near means ``distance``: "gower", "manhattan" (in median absolute deviations), "changes" (their number first), the
        norms "l1", "l2" and "linf" of `adversarial`, or a function of rows; ``costs={"amount": 0.01}`` puts a price on a unit of a feature (of a category, on a change, or
        on each level).

        ``method``: "auto" ("exact" where the model can be read, else "moc"); "moc" (trade-offs between distance, changes
        and nearness to the data; options ``population``, ``generations``), "wachter" (``tolerance``, ``starts``,
        ``combinations``, ``steps``), "spheres" and "random" (``draws``), "diverse" (``proximity``), "prototype"
        (``weight``, ``k``), "neighbours" (real rows) and "exhaustive" (``grid``, ``most``). Each is polished by walking
        every change back as far as the target allows; ``polish=False`` gives the textbook's own. ``budget`` is the most
        model rows that are asked.

        It misleads where many answers contradict each other, off the data, and as advice: it is about the model, not
        about the world; the result's `caveats` say how far.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).integers(0, 10, size=(300, 2)).astype(float)
        >>> ex = pellucid.Explainer(lambda X: X[:, 0] + 2 * X[:, 1], X, feature_names=["a", "b"])
        >>> found = ex.counterfactuals({"a": 1, "b": 1}, ">= 8", fixed="a")
        >>> found.changes(), found.predictions[0].tolist()
        ({'b': (np.float64(1.0), np.float64(4.0))}, [9.0])
        """
        return counterfactuals(
            self.predictor,
            self.data,
            row,
            target,
            method=method,
            n=n,
            fixed=fixed,
            ranges=ranges,
            monotone=monotone,
            relations=relations,
            feasible=feasible,
            max_changes=max_changes,
            distance=distance,
            costs=costs,
            protected=protected,
            polish=polish,
            best_effort=best_effort,
            budget=budget,
            options=options,
            run=self._run("counterfactuals"),
        )

    def adversarial(
        self,
        row: Any,
        target: Any = None,
        *,
        norm: Norm = "linf",
        n: int = 1,
        fixed: Any = (),
        ranges: Mapping[Any, Any] | None = None,
        budget: int | None = None,
    ) -> Counterfactuals:
        """The smallest change that fools the model: the row nearest by a ``norm`` that is predicted otherwise.

        ``norm`` is "l0" (number of changes), "l1", "l2", "linf" (the largest change) or "gower", of differences in units of
        the observed ranges, another level of a category being 1. ``target``, ``fixed``, ``ranges`` and ``budget`` are those
        of `counterfactuals`; without a target, any other class will do. ``scores["distance"]`` is the robustness of the row:
        the size of the change, of which ``proven`` says that there is no smaller one.

        It misleads where the change that was found should change the prediction: then it is no attack, but a
        counterfactual.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).uniform(size=(300, 2))
        >>> ex = pellucid.Explainer(lambda X: X[:, 0] + X[:, 1], X)
        >>> found = ex.adversarial(np.array([0.2, 0.2]), ">= 0.6")
        >>> bool(abs(found.scores["distance"][0] - 0.1) < 0.005)
        True
        """
        return counterfactuals(
            self.predictor,
            self.data,
            row,
            target,
            n=n,
            fixed=fixed,
            ranges=ranges,
            distance=NORMS[one_of("norm", norm, NORMS)],
            budget=budget,
            otherwise="adversarial",
            run=self._run("adversarial examples"),
        )

    def report(
        self,
        path: str | Path = "report.html",
        *,
        title: str | None = None,
        top: int = 6,
        rows: Sequence[int] | None = None,
    ) -> Path:
        """Everything, to read: one HTML file that needs no network, with the caveats beside each chart.

        Besides what matters, effects and contributions it shows several measures of importance side by side, what acts
        together, the model in parts and which features are correlated. A model that has to be asked, above all a slow
        one, is asked about fewer rows; what is left out for that reason is named with the call that has it.

        ``top`` is the number of features whose effects are shown. A typical row, the extreme ones and one with unusual
        contributions are explained one by one, and so are the ``rows`` you name by their positions, as in
        ``rows=[3, 17]``.
        """
        from pellucid.report import report

        return report(self, path, title=title, top=top, rows=rows)

    # -- what a report asks besides ------------------------------------------------------------------

    def _off_data(self, j: int, run: Run) -> tuple[str, float] | None:
        """The feature with which this one is correlated, and how strongly, where partial dependence leaves the data."""
        found = leaves_data(self.data, j, run)
        return None if found is None else (found.partner, found.association)

    def _importance_of(self, rows: IntArray, why: Attribution) -> Importance:
        """Contributions in some rows of X as a measure of importance."""
        return from_contributions(why, self.data.weights[rows])

    def _side_by_side(self, parts: Sequence[Importance], run: Run) -> ImportanceComparison:
        """Measures of importance that are known already."""
        return side_by_side(parts, self.predictor, self.data, run)

    def _with_more_draws(self, found: Interactions, run: Run) -> Interactions:
        """Interactions with costs of exclusion from draws of their own."""
        players = self.data.schema.players()
        sets = sets_of([list(players).index(name) for name in found.feature_names], len(players), "pairs")
        request = InteractionRequest(
            self.predictor, self.data, self.background, players, sets, "pairs", True, False, None, run
        )
        return with_own_draws(found, request)
