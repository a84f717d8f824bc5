"""Which training rows shaped the model, and which to check first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pellucid.errors import InputError
from pellucid.explanations import Influence, Poisoning, RobustFit, Triage
from pellucid.methods.influence.dispatch import Method, On, influence
from pellucid.methods.influence.new_rows import new_rows
from pellucid.methods.influence.poisoning import poisoning
from pellucid.methods.influence.robust import robust
from pellucid.methods.influence.triage import triage
from pellucid.verbs.bound import Bound


class InfluenceVerbs(Bound):
    """What training rows do to the model."""

    def influence(
        self,
        rows: Any = None,
        *,
        method: Method = "auto",
        on: On | Callable[..., float] = "predictions",
        refit: Any = None,
        together: Any = None,
        budget: int | None = None,
    ) -> Influence:
        """Which training rows shaped the model, these predictions or these errors: what leaving each of them out would
        change.

        X and y of the Explainer must be the training rows; the result says how far the model fitted to them is from
        the given one. Influence is *with minus without*: a row of +3 raises the prediction by 3 by being there.

        ``rows`` are the rows whose predictions are explained (positions in X, or rows of your own); None: the mean
        absolute change of predictions of 100 rows of X. ``on="loss"`` explains the mean loss of the rows instead
        (below zero: the row helps), ``"parameters"`` about the coefficients (DFBETA), a function about the number it
        makes of the predictions.

        ``method="auto"`` is exact for least squares and ridge regression, also in pipelines (closed form); for
        logistic, softmax and generalised linear regression (Poisson, gamma, Tweedie, ...) ``"function"`` (influence
        functions by Newton steps, refined where leverage is high);
        for trees, forests and boosted trees ``"leaves"`` (the trees are kept, leaf values and later boosting steps
        fitted again); else ``"deletion"``: the model is really fitted again without each row. ``"cook"`` gives Cook's
        distance, ``"dfbeta"`` the change of every coefficient. ``"function"`` of a PyTorch module (with ``refit=``) are
        damped influence functions, shown beside their correlation with refitting.

        ``refit`` fits the model again, a function ``fit(X, y)`` or an estimator; scikit-learn's estimators need none.
        ``budget`` is the number of refits (200): with more rows than that, random ones are left out first, then those
        that look influential. ``together`` is a column of X or one label per row: rows of one value are left out
        together.

        It misleads where leaving out any row moves the model as much (trees grow otherwise: the result measures it),
        and where equal rows mask each other.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> from sklearn.linear_model import LinearRegression
        >>> X = np.arange(10.0)[:, None]
        >>> y = 2 * X[:, 0]
        >>> y[9] = 30.0
        >>> found = pellucid.Explainer(LinearRegression().fit(X, y), X, y).influence()
        >>> int(found.ranking(1)[0]), found.how
        (9, 'closed form')
        >>> without = LinearRegression().fit(X[:9], y[:9])
        >>> shaped = pellucid.Explainer(LinearRegression().fit(X, y), X, y).influence(0)
        >>> bool(np.isclose(shaped.present[0] - shaped.values[9, 0], without.predict(X[:1])[0]))
        True
        """
        return influence(
            self.predictor,
            self.data,
            rows,
            method=method,
            on=on,
            refit=refit,
            together=together,
            budget=budget,
            run=self._run("influence"),
        )

    def triage(
        self, *, new: tuple[Any, Any] | None = None, folds: int = 5, changed: float = 0.05, refit: Any = None
    ) -> Triage:
        """Which rows to check first for wrong outcomes (mislabelled rows), and what such a list is worth on these data.

        Rows are listed by the loss of their own outcome: under models fitted without their fold (out-of-fold), and
        under the model itself, by the mean of the losses. A share of the outcomes (``changed``) is then changed on
        purpose and everything fitted again, to say what part of them the first tenth of the list holds; where one of
        the losses alone finds clearly more, the list is by that. ``refit`` fits the model again, as for `importance`.

        ``new=(X_new, y_new)`` checks rows that arrive later, before the model is fitted to them: they are listed by
        their loss under the model, with the share of training rows that surprise less when held out (``surprise``) and
        what each would do to predictions by being among the training rows (``influence``).

        It misleads as a list of rows to drop: a hard row looks like a wrong one. Errors that follow a pattern are
        harder to find than those at random.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = (X[:, 0] > 0).astype(int)
        >>> y[7] = 1 - y[7]
        >>> found = pellucid.Explainer(LogisticRegression().fit(X, y), X, y).triage()
        >>> 7 in found.ranking(10), found.found > 0.5
        (True, True)
        """
        run = self._run("triage")
        if new is not None:
            if not isinstance(new, tuple | list) or len(new) != 2:
                raise InputError("new is a pair, new=(X_new, y_new): the new rows and their outcomes.")
            rows = self.data.like(*new)
            return new_rows(self.predictor, self.data, rows, folds=folds, changed=changed, refit=refit, run=run)
        return triage(self.predictor, self.data, folds=folds, changed=changed, refit=refit, run=run)

    def poisoning(self, row: Any, target: Any = None, *, refit: Any = None, budget: int = 20) -> Poisoning:
        """How few changed labels of training rows turn the prediction of ``row`` (data poisoning), and which.

        X and y of the Explainer must be the training rows. ``target`` is the class to be predicted instead (default:
        the second most likely), or the number that a regression should reach; changed outcomes are any class, or any
        number between the least and the largest outcome. Rows are changed in the order of what that adds to the score
        of the target, then the model is really fitted again: ``needed`` labels were *seen* to be enough, an upper
        bound. In least squares and ridge regression predictions are linear in y, and ``least`` is the proven minimum.

        ``refit`` fits the model again, as for `importance`; ``budget`` is the largest number of refits. Linear,
        logistic and softmax regression and trees are read; of other models the rows nearest to ``row`` are changed
        first.

        It misleads as a proof of safety: an upper bound that is large says only that this attack needs many labels.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> from sklearn.linear_model import LinearRegression
        >>> X = np.arange(10.0)[:, None]
        >>> y = 2 * X[:, 0]
        >>> found = pellucid.Explainer(LinearRegression().fit(X, y), X, y).poisoning(9, 14)
        >>> found.needed, found.least
        (1, 1)
        """
        return poisoning(self.predictor, self.data, row, target, refit=refit, budget=budget, run=self._run("poisoning"))

    def robust(self, without: Any = None, *, folds: int = 5, refit: Any = None) -> RobustFit:
        """Whether few rows carry the model: what it predicts if its most influential rows are left out, or if outliers
        count less, and how these fits do on rows held out.

        ``without`` is a number of rows (default: one in a hundred), of which those of most influence are left out
        (where that is known only by refitting: of the largest held-out loss), or rows of X, by position or label.
        Where the model's fit takes row weights, another fit weighs down what its held-out loss shows to be outliers, as
        Huber's estimator does. As many random rows are left out for comparison. ``folds`` are those of the held-out
        loss; ``refit`` fits the model again, as for `importance`.

        It misleads as a reason to drop rows: rare rows that are right are missed where they are, and no other rows
        tell. Rows that move the model no more than random ones are not to blame (a caveat).

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> from sklearn.linear_model import LinearRegression
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> y = X[:, 0] + 0.1 * rng.normal(size=200)
        >>> y[7] = 100.0
        >>> found = pellucid.Explainer(LinearRegression().fit(X, y), X, y).robust(1)
        >>> found.rows.tolist(), bool(found.values[0] > 10 * found.values[-1]), bool(found.better[0] > 0)
        ([7], True, True)
        """
        return robust(self.predictor, self.data, without, folds=folds, refit=refit, run=self._run("robust fits"))
