"""The short tree: CART with an exact number of leaves, or the proven best tree of a depth.

Reference. Breiman, Friedman, Olshen and Stone 1984; for the optimum see `pellucid.glassbox.rules.optimal`.

Definition. f(x) = sum over leaves m of c_m 1{x in R_m}. A tree is grown best first beyond its budget and pruned to
exactly the leaves asked for, with the smallest loss of all prunings: never more than CART's of the same size.

Importance. What the splits of a feature lower the loss by, as a share of 100. Path. The prediction of a row is the mean
at the root plus what changes from node to node on its way, each change a contribution of the feature that was asked.

When it misleads. (1) Other rows may give quite another tree. (2) A straight line needs many leaves. (3) Of correlated
features one is split on, and the other looks idle. (4) Contributions along the path depend on the order of the splits.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import flag, positive, whole
from pellucid.errors import InputError
from pellucid.explanations import Attribution, Importance, Rule
from pellucid.explanations.attribution import Entries
from pellucid.explanations.explanation import Header, squeeze_outputs
from pellucid.glassbox.base import Training, caller, known_codes, labels_of, one_row
from pellucid.glassbox.rules import as_trees, sayings
from pellucid.glassbox.rules.bins import binned
from pellucid.glassbox.rules.clauses import paths, step
from pellucid.glassbox.rules.either_task import EitherTask, classifies
from pellucid.glassbox.rules.growing import Grown, grown
from pellucid.glassbox.rules.optimal_tree import optimal_tree
from pellucid.glassbox.rules.pruning import Prunings, pruned
from pellucid.runner import Cost
from pellucid.trees.convert.tree_model import TreeModel
from pellucid.words import counted, percent

_USUAL = 8  # leaves, where nothing is said
_BEYOND = 8  # times the leaves asked for are grown before pruning
_DEEPEST = 12  # splits; a deeper tree has no more leaves than this one


class ShortTree(EitherTask):
    """A decision tree that is short enough to be read.

    Parameters
    ----------
    leaves
        How many leaves the tree has, unless the rows allow for fewer only. None: as many as ``depth`` allows, or 8.
    depth
        How many splits a row passes at most.
    optimal
        Whether to find the best of all trees of the ``depth`` (3 unless given; 4 at most): the fewest errors, or the
        smallest sum of squares. Numbers are then compared at the borders of at most ``bins`` bins, and levels one
        against all others. Its size is that of ``depth``; ``leaves`` must be None.
    min_weight
        Weight of rows that a leaf has at least (not with ``optimal``).
    bins
        Of a number, with ``optimal``.
    budget
        With ``optimal``, how many sets of rows are solved to depth two before the search ends without a proof.
    task
        "regression", "classification", or "auto": labels, truth values and at most ten different whole numbers are
        classes.

    Attributes
    ----------
    n_leaves_, depth_
        The size of the tree.
    rules_
        One rule per leaf.
    loss_, gap_
        With ``optimal`` the loss on the training rows, and by how much a better tree can lie below it: 0 when proven.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import ShortTree
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> print(ShortTree(leaves=2).fit(X, np.where(X[:, 1] > 0.5, "high", "low")).text())
    if x1 ≤ 0.504: low (100% of 96 rows)
    else: high (100% of 104 rows)
    """

    def __init__(
        self,
        leaves: int | None = None,
        *,
        depth: int | None = None,
        optimal: bool = False,
        min_weight: float = 1.0,
        bins: int = 32,
        budget: int = 20_000,
        task: str = "auto",
    ) -> None:
        self.leaves = leaves
        self.depth = depth
        self.optimal = optimal
        self.min_weight = min_weight
        self.bins = bins
        self.budget = budget
        self.task = task

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree."""
        self._settle_task(y)
        training = self._learn(X, y, sample_weight)
        numbers = not self._classifies
        targets = training.y.astype(np.float64)[:, None] if numbers else np.eye(len(self.classes_))[training.y]
        self._levels = [len(f.categories or ()) if f.kind == "categorical" else 0 for f in self._schema.features]
        self._tree = self._best(training, targets) if flag("optimal", self.optimal) else self._greedy(training, targets)
        self.n_leaves_, self.depth_ = int((self._tree.feature < 0).sum()), int(self._tree.depth.max())
        return self

    def _greedy(self, training: Training, targets: FloatArray) -> Grown:
        depth = None if self.depth is None else whole("depth", self.depth, also="None")
        most = 2 ** min(depth or _DEEPEST, _DEEPEST)
        usual = _USUAL if depth is None else most
        leaves = usual if self.leaves is None else whole("leaves", self.leaves, least=2, also="None")
        bins = binned(training.codes, self._kinds, training.weights)
        least = positive("min_weight", self.min_weight)
        tree = grown(bins, targets, training.weights, leaves=min(_BEYOND * leaves, most), depth=depth, least=least)
        return pruned(tree, Prunings(tree, leaves).leaves(leaves))

    def _best(self, training: Training, targets: FloatArray) -> Grown:
        if self.leaves is not None:
            raise InputError("leaves must be None with optimal=True: the size of the best tree is that of depth.")
        depth = whole("depth", 3 if self.depth is None else self.depth, most=4, also="None")
        bins = binned(training.codes, self._kinds, training.weights, whole("bins", self.bins, least=2))
        found = optimal_tree(bins, targets, training.weights, depth, self._classifies, whole("budget", self.budget))
        self.loss_, self.gap_ = found.loss, found.gap
        return found.tree

    @property
    def _kinds(self) -> list[str]:
        return [feature.kind for feature in self._schema.features]

    # -- predicting ----------------------------------------------------------------------------------

    def _leaves(self, X: Any) -> IntArray:
        codes = self._design(X)
        return self._ensemble().leaves(codes)[:, 0]

    def _ensemble(self) -> Any:
        return as_trees.ensemble(self._tree, self._tree.value, self._levels)

    def predict(self, X: Any) -> AnyArray:
        """The mean, or the commonest class, of the leaf that each row falls into."""
        value = self._tree_value(X)
        return np.asarray(self.classes_[value.argmax(axis=1)] if self._classifies else value[:, 0])

    @available_if(classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The shares of the classes in the leaf that each row falls into."""
        return self._tree_value(X)

    def _tree_value(self, X: Any) -> FloatArray:
        leaf = self._leaves(X)
        return np.asarray(self._tree.value[leaf])

    def as_trees(self) -> TreeModel:
        """The model as trees, for what reads models."""
        scale: Any = "probability" if self._classifies else "response"
        return TreeModel(self._ensemble(), self._design, np.arange(self.n_features_in_), "identity", scale)

    # -- explaining ----------------------------------------------------------------------------------

    @property
    def rules_(self) -> tuple[Rule, ...]:
        """One rule per leaf, from left to right."""
        clauses = paths(self._tree, self._levels)
        leaves = [leaf for leaf in self._in_order() if self._tree.feature[leaf] < 0]
        classes = self._labels_or_none
        return tuple(sayings.rule(clauses[k], self._tree.value[k], self._schema, classes) for k in leaves)

    def _in_order(self) -> list[int]:
        order, open_ = [], [0]
        while open_:
            node = open_.pop()
            order.append(node)
            if self._tree.feature[node] >= 0:
                open_ += [int(self._tree.right[node]), int(self._tree.left[node])]
        return order

    def text(self) -> str:
        """The tree in indented lines."""
        return "\n".join(self._lines(0, ""))

    def _lines(self, node: int, indent: str) -> list[str]:
        if self._tree.feature[node] < 0:
            return [f"{indent}{self._said(node)} ({self._support(node)})"]
        lines: list[str] = []
        sides = ((self._tree.left[node], f"if {self._asked(node)}"), (self._tree.right[node], "else"))
        for child, head in sides:
            inside = self._lines(int(child), indent + "    ")
            lines += [f"{indent}{head}: {inside[0].strip()}"] if len(inside) == 1 else [f"{indent}{head}:", *inside]
        return lines

    def _asked(self, node: int, *, left: bool = True) -> str:
        return sayings.words((step(self._tree, node, left, self._levels),), self._schema)

    def _said(self, node: int) -> str:
        value = self._tree.value[node]
        return str(self.classes_[value.argmax()]) if self._classifies else f"{value[0]:.4g}"

    def _support(self, node: int) -> str:
        """How many rows the leaf has and, of classes, what share is of the one that it predicts."""
        rows = counted(round(float(self._tree.weight[node])), "row")
        return f"{percent(float(self._tree.value[node].max()))} of {rows}" if self._classifies else rows

    def what_if(self, row: Any) -> tuple[str, ...]:
        """For each split on the way of a row, what the tree predicts had the row gone the other way there."""
        codes = self._design(one_row(row))
        if len(codes) != 1:
            raise InputError(f"row holds {len(codes)} rows; give one, such as X.iloc[[0]].")
        trees, node, said = self._ensemble(), 0, []
        while self._tree.feature[node] >= 0:
            j = int(self._tree.feature[node])
            left = bool(trees.goes_left(np.array([node]), codes[:, j])[0])
            other = int(self._tree.right[node] if left else self._tree.left[node])
            at = other
            while self._tree.feature[at] >= 0:
                k = int(self._tree.feature[at])
                goes = bool(trees.goes_left(np.array([at]), codes[:, k])[0])
                at = int(self._tree.left[at] if goes else self._tree.right[at])
            said.append(f"If {self._asked(node, left=not left)}, the prediction would be {self._said(at)}.")
            node = int(self._tree.left[node] if left else self._tree.right[node])
        return tuple(said)

    def explain(self, what: Any = None) -> Importance | Attribution:
        """Nothing: the importance of the features, of 100 in all. Rows: their predictions along their paths."""
        return self._importance() if what is None else self._contributions(what)

    def _importance(self) -> Importance:
        self._check_fitted()
        tree, values = self._tree, np.zeros(self.n_features_in_)
        inner = np.flatnonzero(tree.feature >= 0)
        gain = tree.loss[inner] - tree.loss[tree.left[inner]] - tree.loss[tree.right[inner]]
        np.add.at(values, tree.feature[inner], gain)
        values = 100 * values / values.sum() if values.sum() > 0 else values
        return Importance(
            method="splits",
            measure="impurity decrease of its splits, of 100 in all",
            compare="difference",
            values=values,
            se=np.zeros(len(values)),
            low=values,
            high=values,
            repeats=np.empty((len(values), 0)),
            header=self._header({"method": "splits"}),
        )

    def _contributions(self, rows: Any) -> Attribution:
        table = one_row(rows)
        codes = self._design(table)
        trees, tree = self._ensemble(), self._tree
        parts = np.zeros((len(codes), self.n_features_in_, tree.value.shape[1]))
        at = np.zeros(len(codes), dtype=np.intp)
        while (open_ := np.flatnonzero(tree.feature[at] >= 0)).size:
            node = at[open_]
            j = tree.feature[node]
            goes = trees.goes_left(node, codes[open_, j])
            at[open_] = np.where(goes, tree.left[node], tree.right[node])
            parts[open_, j] += tree.value[at[open_]] - tree.value[node]
        shown = slice(1, None) if self._classifies and parts.shape[2] == 2 else slice(None)
        features = zip(self._schema.features, codes.T, strict=True)
        return Attribution(
            method="path",
            game="",
            values=squeeze_outputs(parts[..., shown]),
            se=squeeze_outputs(np.zeros(parts[..., shown].shape)),
            base=squeeze_outputs(tree.value[0, shown]),
            prediction=squeeze_outputs(tree.value[at][:, shown]),
            entries=Entries(
                tuple(feature.decode(known_codes(feature, column)) for feature, column in features),
                tuple((name,) for name in self._names),
            ),
            header=self._header({"method": "path"}, library=caller(rows), row_labels=labels_of(self, table, rows)),
        )

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "_schema")

    def _header(self, settings: dict[str, Any], **fields: Any) -> Header:
        return Header(
            feature_names=self._names,
            output_names=self._output_names,
            scale="probability" if self._classifies else "response",
            cost=Cost(0, 0.0, 0, 0.0),
            settings={"model": type(self).__name__, **settings},
            classes=tuple(str(label) for label in getattr(self, "classes_", ())),
            **fields,
        )
