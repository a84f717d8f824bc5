"""What would change a prediction: counterfactuals and adversarial examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack, overload

from pellucid.checks import one_of
from pellucid.explanations import Counterfactuals, FragileRows
from pellucid.methods.counterfactual.adversarial import NORMS, Norm
from pellucid.methods.counterfactual.counterfactuals import counterfactuals
from pellucid.methods.counterfactual.dispatch import Method as CounterfactualMethod
from pellucid.methods.counterfactual.fragile_rows import fragile_rows, rows_to_rank
from pellucid.verbs.bound import Bound


class _Attack(TypedDict, total=False):
    """The options of `adversarial`."""

    norm: Norm
    n: int
    fixed: Any
    ranges: Mapping[Any, Any] | None
    budget: int | None
    seconds: float | None
    sample: int


class ChangeVerbs(Bound):
    """What would change predictions."""

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
        seconds: float | None = None,
        effort: int | None = None,
        refits: int = 0,
        refit: Any = None,
        surface: Any = None,
        **options: Any,
    ) -> Counterfactuals:
        """What would have to be different: the nearest rows for which the model predicts the ``target``.

        ``target`` is a class (``"good"``), one of several (``["b", "c"]``), any but one (``"not bad"``; None: any but
        the present one), a comparison (``">= 1000"``, ``"> 50%"``), an interval ``(low, high)``, a number to be
        reached, or a dict of these by output. Every answer is a row in the types of your table for which the model,
        evaluated at it as it is handed out, reaches the target; where there is none, the result says what stands in
        the way (``best_effort=True``: the nearest miss, marked as such).

        What may change: ``fixed`` names features that may not; ``monotone={"age": "up"}`` those that go one way;
        ``ranges={"amount": (0, 5000), "job": ["a", "b"]}`` where they may go (else as far as in X, in its steps and
        decimals); ``relations`` what holds between columns (``"a <= b"``, ``"2*a + b <= 10"``, ``"if housing = 'own'
        then age >= 18"``); ``feasible`` a function of rows of your table; ``max_changes`` how many features may.
        Columns of a group change together. ``protected`` features are watched: a caveat says whether answers need them.

        Near means ``distance``: "gower", "manhattan" (in median absolute deviations), "changes" (their number first),
        the norms "l1", "l2" and "linf" of `adversarial`, or a function of rows; ``costs={"amount": 0.01}`` puts a
        price on a unit of a feature (of a category, on a change, or on each level).

        ``method``: "auto" ("exact" where the model can be read, else "moc"); "moc" (trade-offs between distance,
        changes and nearness to the data; options ``population``, ``generations``), "wachter" (``tolerance``,
        ``starts``, ``combinations``, ``steps``), "spheres" and "random" (``draws``), "diverse" (``proximity``),
        "prototype" (``weight``, ``k``), "neighbours" (real rows) and "exhaustive" (``grid``, ``most``). Each is
        polished by walking every change back as far as the target allows; ``polish=False`` gives the textbook's own.
        ``budget`` is the most model rows that the search evaluates, ``seconds`` the longest that it takes (an exact
        one 60 unless told); then the best so far is given. ``effort`` limits an exact one by its work, in units of some
        tenths of a second that are counted, so that a busy machine gives the same answer. ``surface=True``, or the
        names of two features, evaluates some 700 more: the prediction over the two that change most, for
        ``plot(kind="surface")``.

        ``refits=10`` fits the model ten times again to rows drawn with replacement (by ``refit(X, y) -> model`` where
        it cannot be cloned; needs y): ``scores["refits"]`` is the share of them under which an answer still holds.

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
            seconds=seconds,
            effort=effort,
            refits=refits,
            refit=refit,
            surface=surface,
            options=options,
            run=self._run("counterfactuals"),
        )

    @overload
    def adversarial(self, row: int, target: Any = None, **options: Unpack[_Attack]) -> Counterfactuals: ...
    @overload
    def adversarial(
        self, row: Any = None, target: Any = None, **options: Unpack[_Attack]
    ) -> Counterfactuals | FragileRows: ...
    def adversarial(
        self,
        row: Any = None,
        target: Any = None,
        *,
        norm: Norm = "linf",
        n: int = 1,
        fixed: Any = (),
        ranges: Mapping[Any, Any] | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        sample: int = 100,
    ) -> Counterfactuals | FragileRows:
        """The smallest change that fools the model: the row nearest by a ``norm`` that is predicted otherwise.

        ``norm`` is "l0" (number of changes), "l1", "l2", "linf" (the largest change) or "gower", of differences in
        units of the observed ranges, another level of a category being 1. ``target``, ``fixed``, ``ranges``, ``budget``
        and ``seconds`` are those of `counterfactuals`; without a target, any other class will do.
        ``scores["distance"]`` is the robustness of the row: the size of the change, of which ``proven`` says that there
        is no smaller one.

        Several rows (positions, labels, a slice, a table; None: a random ``sample`` of X) are ranked, the most fragile
        first: `FragileRows`, with the smallest change of each. ``budget`` and ``seconds`` are for each row.

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
        >>> ex.adversarial([0, 1, 2], ">= 1.2").ranking().tolist()
        [0, 1, 2]
        """
        run = self._run("adversarial examples")
        distance = NORMS[one_of("norm", norm, NORMS)]
        rows, sampled_from = rows_to_rank(self.data, row, sample, run)
        if len(rows) == 1:
            return counterfactuals(
                self.predictor,
                self.data,
                rows,
                target,
                n=n,
                fixed=fixed,
                ranges=ranges,
                distance=distance,
                budget=budget,
                seconds=seconds,
                otherwise="adversarial",
                run=run,
            )
        return fragile_rows(
            self.predictor,
            self.data,
            rows,
            target,
            norm=norm,
            n=n,
            fixed=fixed,
            ranges=ranges,
            budget=budget,
            seconds=seconds,
            sampled_from=sampled_from,
            run=run,
        )
