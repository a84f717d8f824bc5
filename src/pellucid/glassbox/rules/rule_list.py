"""The rule list: if this, predict that; else if ...; else. The first rule that holds decides.

Reference. Rivest 1987 (decision lists); Angelino et al. 2018 (CORELS, their optimum for yes-no features); Cohen 1995
(sequential covering); Holte 1993 (one rule).

Definition. With antecedents a_1, ..., a_K and s_k the rows for which a_k is the first that holds, the prediction of a
row is the commonest class, or the mean, of the training rows of its s_k. "optimal" looks for the list that minimises

    R = loss / scale + penalty * K

with the loss the weight of wrong predictions over all weight, or the sum of squares over that about the mean. See
`antecedents` for what rules may ask, `list_search` for how they are found, `list_proof` for how far that is proven.

When it misleads. (1) A rule holds among the rows that no earlier rule took, not among all rows: read it with its
"else". (2) Other rows may give quite another list of the same accuracy. (3) The proof is about the antecedents that
were mined, and about the training rows. (4) A straight line needs many rules.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import bounded, one_of, positive, whole
from pellucid.data.row_labels import RowLabels
from pellucid.explanations import DecisionList, Rule
from pellucid.explanations.explanation import Header, squeeze_outputs
from pellucid.glassbox.base import Training, caller, labels_of, one_row
from pellucid.glassbox.rules import as_trees, sayings
from pellucid.glassbox.rules.antecedents import Pool, mined
from pellucid.glassbox.rules.bins import binned
from pellucid.glassbox.rules.borders import coarse
from pellucid.glassbox.rules.clauses import first_that_holds, paths
from pellucid.glassbox.rules.either_task import EitherTask, classifies
from pellucid.glassbox.rules.growing import grown
from pellucid.glassbox.rules.list_as_tree import MOST, as_tree
from pellucid.glassbox.rules.list_baselines import covered, one_rule
from pellucid.glassbox.rules.list_proof import certified
from pellucid.glassbox.rules.list_search import Problem, searched
from pellucid.glassbox.rules.losses import loss
from pellucid.runner import Cost
from pellucid.stats import Z95, effective_size, wilson
from pellucid.trees.convert.tree_model import TreeModel, Unsupported

METHODS = ("optimal", "covering", "one-rule")
_MOST_RULES = 20  # where no number is given
_BEYOND = 4  # times as many leaves as rules has the tree whose ways are among the antecedents
_FINE = 256  # bins of a number, before few borders are chosen
_BILLION = 1e9


class RuleList(EitherTask):
    """An ordered list of rules, for numbers or classes: the first rule that holds decides.

    Parameters
    ----------
    rules
        How many rules the list has at most, the default not counted. None: as many as pay for their ``penalty``.
    method
        "optimal": the list with the smallest loss that is found, with a bound on how much better any other can be.
        "covering": sequential covering, a rule at a time. "one-rule": rules about one feature, one per bin or level.
    conditions
        Of a rule, at most.
    penalty
        By how much a rule must lower the loss, as a share of all that can be lost.
    support
        Share of the weight that a rule's conditions hold for at least (and fail for).
    bins
        Of a number, between which rules compare.
    candidates
        How many antecedents rules are chosen from.
    budget
        With "optimal", how much work goes into the proof, in billions of rows times candidates.
    task
        "regression", "classification", or "auto": see `ShortTree`.

    Attributes
    ----------
    n_rules_, rules_
        The rules in their order; the last of ``rules_`` is the default.
    loss_
        The share of the weight that is predicted wrongly, or of the sum of squares that is left, on the training rows.
    objective_, gap_
        With "optimal", the loss plus ``penalty`` per rule, and by how much any other list of these candidates can lie
        below that at most: 0 is the proof that none does.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import RuleList
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> print(RuleList(rules=1).fit(X, np.where(X[:, 1] > 0.5, "high", "low")).text())
    if x1 ≤ 0.504: low (100% of 96 rows)
    else: high (100% of 104 rows)
    """

    def __init__(
        self,
        rules: int | None = None,
        *,
        method: str = "optimal",
        conditions: int = 3,
        penalty: float = 0.002,
        support: float = 0.005,
        bins: int = 10,
        candidates: int = 1500,
        budget: float = 1.0,
        task: str = "auto",
    ) -> None:
        self.rules = rules
        self.method = method
        self.conditions = conditions
        self.penalty = penalty
        self.support = support
        self.bins = bins
        self.candidates = candidates
        self.budget = budget
        self.task = task

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the rules."""
        self._settle_task(y)
        method = one_of("method", self.method, METHODS)
        training = self._learn(X, y, sample_weight)
        sums, squared = self._sums(training), not self._classifies
        kinds = [feature.kind for feature in self._schema.features]
        self._levels = [len(f.categories or ()) if f.kind == "categorical" else 0 for f in self._schema.features]
        most = _MOST_RULES if self.rules is None else whole("rules", self.rules, also="None")
        support = bounded("support", self.support, least=0.0, below=0.5)
        fine = binned(training.codes, kinds, training.weights, _FINE)
        targets = np.eye(len(self.classes_))[training.y] if self._classifies else training.y.astype(np.float64)[:, None]
        least = max(1e-12, support * float(training.weights.sum()))
        tree = grown(fine, targets, training.weights, leaves=_BEYOND * (most + 1), least=least)
        bins = coarse(fine, targets, training.weights, tree, whole("bins", self.bins, least=2), least)
        for name in ("objective_", "gap_"):
            if hasattr(self, name):
                delattr(self, name)
        if method == "one-rule":
            self._clauses = one_rule(bins, sums, squared)
        else:
            problem = self._problem(
                mined(
                    bins,
                    sums,
                    squared=squared,
                    conditions=whole("conditions", self.conditions),
                    support=support,
                    most=whole("candidates", self.candidates),
                    more=paths(tree, self._levels),
                ),
                squared,
                most,
            )
            order = covered(problem) if method == "covering" else self._optimal(problem)
            self._clauses = tuple(problem.pool.clauses[k] for k in order)
        self._settle(training, sums, squared)
        return self

    def _sums(self, training: Training) -> FloatArray:
        """What the loss of any set of rows follows from: weights by class, or weight, weighted y and y²."""
        w = training.weights
        if self._classifies:
            return np.asarray(np.eye(len(self.classes_))[training.y] * w[:, None])
        y = training.y.astype(np.float64)
        middle = float(w @ y / w.sum())
        return np.stack([w, w * (y - middle), w * (y - middle) ** 2], axis=1)

    def _problem(self, pool: Pool, squared: bool, most: int) -> Problem:
        total = pool.sums.sum(axis=0)
        scale = float(loss(total, squared) if squared else total.sum())
        penalty = bounded("penalty", self.penalty, least=0.0, below=1.0)
        return Problem(pool, squared, max(scale, 1e-300), penalty, most)

    def _optimal(self, problem: Problem) -> tuple[int, ...]:
        budget = positive("budget", self.budget) * _BILLION
        found = certified(problem, searched(problem), budget)
        self.objective_, self.gap_ = found.objective, found.gap
        return found.order

    def _settle(self, training: Training, sums: FloatArray, squared: bool) -> None:
        """What the rules predict, and how sure that is."""
        fired = first_that_holds(self._clauses, training.codes)
        by_rule = np.zeros((len(self._clauses) + 1, sums.shape[1]))
        np.add.at(by_rule, fired, sums)
        mass = by_rule[:, 0] if squared else by_rule.sum(axis=1)
        total = float(loss(sums.sum(axis=0), squared)) if squared else float(sums.sum())
        self.loss_ = float(loss(by_rule, squared).sum()) / total if total > 0 else 0.0
        self._support = mass
        weights = [training.weights[fired == k] for k in range(len(mass))]
        sizes = np.array([effective_size(w) if len(w) else 0.0 for w in weights])
        filled = np.where(mass[:, None] > 0, by_rule, sums.sum(axis=0))
        if squared:
            y, w = training.y.astype(np.float64), training.weights
            self._value = (filled[:, 1] / filled[:, 0] + float(w @ y / w.sum()))[:, None]
            spread = np.sqrt(loss(filled, squared) / filled[:, 0])
            self._error = (spread / np.sqrt(np.maximum(sizes - 1, 1e-12)))[:, None]
            self._low, self._high = self._value - Z95 * self._error, self._value + Z95 * self._error
        else:
            self._value = filled / filled.sum(axis=1, keepdims=True)
            self._error = np.sqrt(self._value * (1 - self._value) / np.maximum(sizes, 1.0)[:, None])
            self._low, self._high = wilson(self._value, sizes[:, None])
        self.n_rules_ = len(self._clauses)
        self._tree = as_tree(self._clauses, self._value, training.codes, training.weights, self._levels)

    # -- predicting ----------------------------------------------------------------------------------

    def _fired(self, X: Any) -> IntArray:
        check_is_fitted(self, "_clauses")
        return first_that_holds(self._clauses, self._design(X))

    def predict(self, X: Any) -> AnyArray:
        """The commonest class, or the mean, of the rule that decides each row."""
        fired = self._fired(X)
        value = self._value[fired]
        return np.asarray(self.classes_[value.argmax(axis=1)] if self._classifies else value[:, 0])

    @available_if(classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The shares of the classes among the training rows of the rule that decides each row."""
        fired = self._fired(X)
        return np.asarray(self._value[fired])

    def as_trees(self) -> TreeModel:
        """The model as a tree, for what reads models."""
        if self._tree is None:
            raise Unsupported(f"as a tree the list of rules would have more than {MOST} leaves")
        trees = as_trees.ensemble(self._tree, self._tree.value, self._levels)
        scale: Any = "probability" if self._classifies else "response"
        return TreeModel(trees, self._design, np.arange(self.n_features_in_), "identity", scale)

    # -- explaining ----------------------------------------------------------------------------------

    @property
    def rules_(self) -> tuple[Rule, ...]:
        """The rules in their order; the last one, without conditions, is the default."""
        check_is_fitted(self, "_clauses")
        every = zip((*self._clauses, ()), self._value, strict=True)
        return tuple(sayings.rule(clause, value, self._schema, self._labels_or_none) for clause, value in every)

    def text(self) -> str:
        """The list, one rule per line, with how many training rows each decides."""
        return "\n".join(self.explain().lines())

    def explain(self, rows: Any = None) -> DecisionList:
        """Nothing: the list. Rows: the list, and which of its rules decides each row."""
        check_is_fitted(self, "_clauses")
        fired, settings = np.empty(0, dtype=np.intp), {"model": type(self).__name__}
        labels, library = RowLabels(), "pandas"
        if rows is not None:
            table = one_row(rows)
            fired, library = self._fired(table), caller(rows)
            labels = labels_of(self, table, rows)
        shown = slice(1, None) if self._classifies and self._value.shape[1] == 2 else slice(None)
        parts = [squeeze_outputs(part[:, shown]) for part in (self._value, self._error, self._low, self._high)]
        return DecisionList(
            values=parts[0],
            se=parts[1],
            low=parts[2],
            high=parts[3],
            rules=self.rules_,
            support=self._support,
            fired=fired,
            header=Header(
                feature_names=self._names,
                output_names=self._output_names,
                scale="probability" if self._classifies else "response",
                cost=Cost(0, 0.0, 0, 0.0),
                settings=settings,
                library=library,
                row_labels=labels,
                classes=tuple(str(label) for label in getattr(self, "classes_", ())),
            ),
        )
