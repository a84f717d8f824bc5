"""RuleFit: a short sum of rules and straight lines (Friedman and Popescu 2008).

Definition. On its scale (log-odds for classes) the model predicts

    f(x) = b_0 + sum_k a_k r_k(x) + sum_j b_j l_j(x_j)

with rules r_k from the nodes of boosted trees (1 where the rule holds) and winsorised numbers l_j, level beyond the
outer 2.5% of the rows. The lasso chooses among them; see `lasso` for how much the chosen are shrunk.

Importance. Of a rule |a_k| sqrt(s_k (1 - s_k)) with s_k the share of rows for which it holds, of a line |b_j| sd(l_j).
In one row |a_k| |r_k(x) - s_k| and |b_j| |l_j(x_j) - mean|. A feature has what its line has, and of each rule an equal
part among the features that the rule asks for.

When it misleads. (1) Rules overlap: the weight of a rule is what it adds to all others that hold as well. (2) Of rules
that say nearly the same one is chosen, which can be another one on other rows. (3) The weight of a rule is not the mean
outcome of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import flag, fraction, positive, seed, whole
from pellucid.errors import InputError
from pellucid.explanations import Attribution, Importance
from pellucid.explanations.attribution import Entries
from pellucid.explanations.explanation import Header
from pellucid.glassbox.base import Training, caller, labels_of, one_row
from pellucid.glassbox.rules import sayings
from pellucid.glassbox.rules.bins import binned
from pellucid.glassbox.rules.boosted_rules import Grove, boosted_rules
from pellucid.glassbox.rules.either_task import EitherTask, classifies
from pellucid.glassbox.rules.lasso import Path, Terms
from pellucid.glassbox.rules.rule_choice import choose, folds, same_rows
from pellucid.glassbox.rules.rule_terms import Line, RuleTerm, Term, design, features_of, lines
from pellucid.runner import Cost
from pellucid.words import value_name

_BINS = 64  # of a number, between which rules compare
_RELAX = 0.5  # where nothing is tried
_ROWS_PER_TERM = 10


class RuleFit(EitherTask):
    """A sum of a few rules and straight lines, for numbers or two classes.

    Parameters
    ----------
    terms
        How many rules and lines the model has, unless there are fewer in all. None: as many as predict best the rows
        that were left out, in ``folds`` folds with rules grown anew in each; ``most`` at most.
    most
        Terms at most, where their number is chosen. There is also no more than one for ten distinct rows, of two
        classes for ten of the rarer one (Harrell, Lee and Mark 1996).
    rules
        How many rules are grown to choose from.
    leaves, depth
        Leaves of a tree on average, and features that a rule uses at most.
    linear
        Whether straight lines are among the terms.
    overlap
        A rule whose correlation with an earlier one is larger is left out.
    folds
        Into which the rows are parted to choose the number of terms.
    task
        "regression", "classification" (of two classes), or "auto": see `ShortTree`.
    random_state
        Same number, same model.

    Attributes
    ----------
    n_terms_, coef_, intercept_
        The terms, their coefficients (of a line per unit of the number), and the intercept.
    relax_
        By how much the coefficients are those without a penalty, from 0 to 1.
    losses_
        Where the number was chosen, the loss (log loss or squared) on rows left out, by number of terms from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import RuleFit
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> model = RuleFit(terms=1).fit(X, np.where(X[:, 1] > 0.5, 3.0, 1.0) + 0.01 * X[:, 0])
    >>> model.n_terms_
    1
    """

    def __init__(
        self,
        terms: int | None = None,
        *,
        most: int = 60,
        rules: int = 400,
        leaves: float = 3.0,
        depth: int = 3,
        linear: bool = True,
        overlap: float = 0.99,
        folds: int = 5,
        task: str = "auto",
        random_state: int = 0,
    ) -> None:
        self.terms = terms
        self.most = most
        self.rules = rules
        self.leaves = leaves
        self.depth = depth
        self.linear = linear
        self.overlap = overlap
        self.folds = folds
        self.task = task
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = False
        return tags

    losses_: FloatArray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow rules and choose among them."""
        self._settle_task(y)
        training = self._learn(X, y, sample_weight)
        if self._classifies and len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass; "
                f"y has {len(self.classes_)} classes: take ShortTree, or fit one RuleFit per class."
            )
        grove = Grove(
            whole("rules", self.rules),
            positive("leaves", self.leaves),
            whole("depth", self.depth),
            fraction("overlap", self.overlap),
            self._classifies,
        )
        first = seed(self.random_state)
        count, relax = self._size(training, grove, first)
        terms = self._grown(training, grove, first)
        fitted = Terms(design(terms, training.codes), training.y.astype(np.float64), training.weights, self._classifies)
        found = Path(fitted).exactly(count)
        scaled = found.coefficients(relax)
        self._terms = tuple(terms[k] for k in found.chosen)
        self.coef_ = scaled[1:] * [term.scale for term in self._terms]
        self.intercept_, self.relax_, self.n_terms_ = float(scaled[0]), relax, len(self._terms)
        self._remember(training)
        return self

    def _size(self, training: Training, grove: Grove, first: int) -> tuple[int, float]:
        """How many terms, and how far relaxed."""
        if hasattr(self, "losses_"):
            del self.losses_
        if self.terms is not None:
            return whole("terms", self.terms, also="None"), _RELAX
        most, count = whole("most", self.most), whole("folds", self.folds, least=2)
        same = same_rows(training)
        smallest = _fewest(same, training.y) if self._classifies else int(same.max()) + 1
        most = min(most, max(1, smallest // _ROWS_PER_TERM))
        if smallest < 2:
            return most, _RELAX
        parts = folds(same, training.y, min(count, smallest), self._classifies, first)
        chosen = choose(training, parts, lambda rows, k: self._grown(rows, grove, first + k), self._classifies, most)
        self.losses_ = chosen.loss.min(axis=1)
        return chosen.terms, chosen.relax

    def _grown(self, training: Training, grove: Grove, first: int) -> list[Term]:
        kinds = [feature.kind for feature in self._schema.features]
        levels = [len(f.categories or ()) if f.kind == "categorical" else 0 for f in self._schema.features]
        bins = binned(training.codes, kinds, training.weights, _BINS)
        clauses, _ = boosted_rules(grove, training, bins, levels, same_rows(training), first)
        straight: Sequence[Term] = lines(training, kinds) if flag("linear", self.linear) else []
        return [*straight, *map(RuleTerm, clauses)]

    def _remember(self, training: Training) -> None:
        """Mean and standard deviation of every term over the training rows: of a rule s and sqrt(s (1 - s))."""
        w = training.weights / training.weights.sum()
        values = self._values(training.codes)
        self._means = w @ values
        self._sizes = np.sqrt(w @ (values - self._means) ** 2)

    def _values(self, codes: FloatArray) -> FloatArray:
        """The terms of rows, unscaled."""
        return (
            np.stack([term.values(codes) for term in self._terms], axis=1) if self._terms else np.empty((len(codes), 0))
        )

    # -- predicting ----------------------------------------------------------------------------------

    def _score(self, X: Any) -> FloatArray:
        check_is_fitted(self, "_terms")
        return np.asarray(self._values(self._design(X)) @ self.coef_ + self.intercept_)

    def predict(self, X: Any) -> AnyArray:
        """The sums, or the likelier class."""
        score = self._score(X)
        return np.asarray(self.classes_[(score > 0).astype(np.intp)]) if self._classifies else score

    @available_if(classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """The log-odds of the second class."""
        return self._score(X)

    @available_if(classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of both classes."""
        score = self._score(X)
        return np.stack([expit(-score), expit(score)], axis=1)

    # -- explaining ----------------------------------------------------------------------------------

    @property
    def term_names_(self) -> tuple[str, ...]:
        """The terms in words: the conditions of rules, the features of lines."""
        check_is_fitted(self, "_terms")
        return tuple(
            self._names[t.feature] if isinstance(t, Line) else sayings.words(t.clause, self._schema)
            for t in self._terms
        )

    def text(self) -> str:
        """The sum, one term per line, the most important first."""
        order = np.argsort(-np.abs(self.coef_) * self._sizes, kind="stable")
        said = [f"{self.intercept_:.4g}"]
        for k in order:
            term, name = self._terms[k], self.term_names_[k]
            if isinstance(term, Line):
                said.append(
                    f"{self.coef_[k]:+.4g} × {name} (from {self._end(term, term.low)} to {self._end(term, term.high)})"
                )
            else:
                said.append(f"{self.coef_[k]:+.4g} if {name}")
        return "\n".join(said)

    def _end(self, line: Line, code: float) -> str:
        feature = self._schema.features[line.feature]
        return f"{code:.4g}" if feature.kind == "numeric" else value_name(feature.decode(np.array([code]))[0])

    def feature_importance(self, rows: Any = None) -> Importance:
        """What each feature has of the importance of the terms; with ``rows``, the mean over these rows."""
        size = self._local(rows).mean(axis=0) if rows is not None else np.abs(self.coef_) * self._sizes
        values = np.zeros(self.n_features_in_)
        for term, own in zip(self._terms, size, strict=True):
            features = features_of(term)
            np.add.at(values, list(features), own / len(features))
        return self._importances("importance of its terms, shared equally", values, self._names, None)

    def _local(self, rows: Any) -> FloatArray:
        """|a_k| |r_k(x) - s_k| and |b_j| |l_j(x_j) - mean| ``(rows, terms)``."""
        check_is_fitted(self, "_terms")
        return np.asarray(np.abs(self.coef_) * np.abs(self._values(self._design(rows)) - self._means))

    def explain(self, what: Any = None) -> Importance | Attribution:
        """Nothing: the importance of the terms. Rows: what each term adds to their predictions, from the mean."""
        check_is_fitted(self, "_terms")
        if what is not None:
            return self._contributions(what)
        members = tuple(tuple(self._names[j] for j in features_of(term)) for term in self._terms)
        size = np.abs(self.coef_) * self._sizes
        return self._importances("standard deviation of the term", size, self.term_names_, members)

    def _importances(self, measure: str, values: FloatArray, names: tuple[str, ...], members: Any) -> Importance:
        return Importance(
            method="terms",
            measure=measure,
            compare="difference",
            values=values,
            se=np.zeros(len(values)),
            low=values,
            high=values,
            repeats=np.empty((len(values), 0)),
            members=members or tuple((name,) for name in names),
            header=self._header(names),
        )

    def _contributions(self, rows: Any) -> Attribution:
        table = one_row(rows)
        values = self._values(self._design(table))
        parts = self.coef_ * (values - self._means)
        base = float(self.intercept_ + self.coef_ @ self._means)
        cells = tuple(
            column if isinstance(term, Line) else np.where(column > 0, "yes", "no").astype(object)
            for term, column in zip(self._terms, values.T, strict=True)
        )
        members = tuple(tuple(self._names[j] for j in features_of(term)) for term in self._terms)
        return Attribution(
            method="linear",
            game="marginal",
            values=parts,
            se=np.zeros(parts.shape),
            base=np.asarray(base),
            prediction=base + parts.sum(axis=1),
            entries=Entries(cells, members),
            header=self._header(self.term_names_, library=caller(rows), row_labels=labels_of(self, table, rows)),
        )

    def _header(self, names: tuple[str, ...], **fields: Any) -> Header:
        return Header(
            feature_names=names,
            output_names=self._output_names,
            scale="log-odds" if self._classifies else "response",
            cost=Cost(0, 0.0, 0, 0.0),
            settings={"model": type(self).__name__, "method": "terms"},
            classes=tuple(str(label) for label in getattr(self, "classes_", ())),
            **fields,
        )


def _fewest(same: IntArray, y: AnyArray) -> int:
    """The distinct rows of the class that has fewest."""
    return int(np.bincount(y[np.unique(same, return_index=True)[1]]).min())
