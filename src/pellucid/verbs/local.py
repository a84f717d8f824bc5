"""Why, sparsely: local surrogates (LIME) and rules (anchors)."""

from __future__ import annotations

from typing import Any

from pellucid.explanations import LocalAttribution, Pick
from pellucid.explanations.rule import Anchor, Rule, RuleCheck, Rules
from pellucid.methods.local.lime import lime
from pellucid.methods.local.pick import lime_pick
from pellucid.methods.local.surrogate.fitting import Model as LocalModel
from pellucid.methods.local.surrogate.neighbourhood import Sampler
from pellucid.methods.local.surrogate.representation import Space
from pellucid.methods.local.surrogate.selection import Select
from pellucid.methods.local.surrogate.width import Distance
from pellucid.methods.rules.anchor import anchor
from pellucid.methods.rules.rule_check import check_rule
from pellucid.verbs.bound import Bound


class LocalVerbs(Bound):
    """Why, in a few features or a rule."""

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
        ``delta``. Several rows give several rules, which share the model's predictions.

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

        It misleads when features are correlated (the model is evaluated at rows that do not occur), when a prediction
        is very common or very rare, and near a decision boundary; the result's `caveats` say whether. Other rules may
        fix the same prediction.

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

        ``rule`` comes from `anchor`, or is yours: `Rule.of`. ``rows`` are a table like X, or positions in X. Unlike
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
