"""Surrogate: a simple model that stands in for another one, how far it does, and where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, freeze
from pellucid.checks import bounded
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import SurrogateOptions, SurrogatesOptions
from pellucid.explanations.store import stored
from pellucid.stats import Z95


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class SizeCurve:
    """R² by size: ``held_out`` with its standard error ``se``, and on the ``fitted`` rows; ``by_output`` has
    ``(sizes, outputs)``.
    """

    sizes: IntArray
    held_out: FloatArray
    se: FloatArray
    fitted: FloatArray
    by_output: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class SurrogateTree:
    """A tree, its nodes from the root down, left before right.

    ``features`` has the feature that each node splits ("" for a leaf), ``yes`` and ``no`` what the left and the right
    side ask, ``left`` and ``right`` the nodes below (-1 for a leaf), ``predictions`` ``(nodes, outputs)``, ``shares``
    of the rows. For each leaf, in the same order: ``rules`` in words, of the model's own predictions there
    ``quantiles`` ``(leaves, outputs, 5)`` (5, 25, 50, 75 and 95%) and ``histograms`` ``(leaves, outputs, bins)`` in
    shares of all rows over ``edges``, the share of rows by predicted class (``classes``), and by how much held-out rows
    are missed (``misses``, RMSE).
    """

    features: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    left: IntArray
    right: IntArray
    predictions: FloatArray
    shares: FloatArray
    rules: tuple[str, ...]
    edges: FloatArray
    histograms: FloatArray
    quantiles: FloatArray
    classes: FloatArray
    misses: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def leaves(self) -> IntArray:
        """The nodes that are leaves, from left to right."""
        return np.flatnonzero(self.left < 0)

    @property
    def depth(self) -> IntArray:
        """How many splits lead to each node."""
        depth = np.zeros(len(self.left), dtype=np.int64)
        for node in range(len(self.left)):
            if self.left[node] >= 0:
                depth[[self.left[node], self.right[node]]] = depth[node] + 1
        return depth

    def text(self, output: int = 0) -> str:
        """The tree as indented lines, one for each split and leaf."""
        from pellucid.words import number, percent

        lines: list[str] = []

        def write(node: int, depth: int, condition: str) -> None:
            said = "   " * depth + (condition or "all rows")
            if self.left[node] < 0:
                said += (
                    f": {number(float(self.predictions[node, output]))} ({percent(float(self.shares[node]))} of rows)"
                )
            lines.append(said)
            if self.left[node] >= 0:
                write(int(self.left[node]), depth + 1, self.yes[node])
                write(int(self.right[node]), depth + 1, self.no[node])

        write(0, 0, "")
        return "\n".join(lines)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class LinearTerms:
    """Coefficients ``(names, outputs)``: of a number per unit, of a category one for each level, zero on average over
    the rows. ``owners`` says which feature each belongs to. ``features`` are the chosen ones, the strongest first;
    ``strengths`` ``(features, outputs)`` the standard deviation of what each adds.
    """

    names: tuple[str, ...]
    owners: tuple[str, ...]
    coefficients: FloatArray
    features: tuple[str, ...]
    strengths: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@stored
@dataclass(frozen=True, kw_only=True)
class Subgroup:
    """A part of the data: which (``words``), its ``share`` of the rows, R² within it, by how much the surrogate misses
    the model there (``miss``, RMSE), and how many times the miss over all rows that is (``ratio``). Counted on ``rows``
    rows that did not shape it.
    """

    words: str
    share: float
    r2: float
    miss: float
    ratio: float
    rows: int


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Replacement:
    """What using the surrogate instead of the model costs: the ``loss`` of the ``model``, the ``surrogate`` and the
    best ``constant``, the standard error ``se`` of the difference; and both by a measure that people quote (``score``,
    ``scores``).
    """

    loss: str
    constant: float
    model: float
    surrogate: float
    se: float
    score: str
    scores: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def kept(self) -> float:
        """The share of what the model gains over a constant that the surrogate keeps; NaN where it gains nothing."""
        gain = self.constant - self.model
        return (self.constant - self.surrogate) / gain if gain > 0 else float("nan")

    @property
    def verdict(self) -> str:
        """ "replace": the surrogate is as good, or loses less than 2% of the gain (95% sure); "trade": it keeps nine
        tenths or more; "keep": the model is worth its complexity; "neither": the model is no better than a constant.
        """
        gain = self.constant - self.model
        if not gain > 0:
            return "neither"
        worst = self.surrogate - self.model + Z95 * self.se
        if worst <= 0.02 * gain:
            return "replace"
        return "trade" if self.kept >= 0.9 else "keep"


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Surrogate(Explanation, options=SurrogateOptions):
    """A simple model fitted to the predictions of another.

    `values` are R² on held-out rows, one for each output, with standard errors `se`; ``overall`` is R² over all
    outputs, ``fitted`` the same on the rows that it was fitted to (which flatters), ``curve`` both by size. ``kind`` is
    "tree", "linear" or the name of an estimator, ``size`` its number of leaves, features or terms (0: it has no size).

    What it looks like is in ``tree``, ``terms`` or ``inside`` (what a glass box says of itself). ``subgroups`` are
    parts of the data that it misses more or less than others, ``replacement`` says what using it instead of the model
    costs (where the outcome is known), ``other_splits`` which share of a tree's first splits use another feature on
    resampled rows.
    """

    kind: str
    size: int
    overall: float
    overall_se: float
    fitted: float
    curve: SizeCurve
    tree: SurrogateTree | None = None
    terms: LinearTerms | None = None
    inside: Explanation | None = None
    subgroups: tuple[Subgroup, ...] = ()
    replacement: Replacement | None = None
    other_splits: float = float("nan")

    def size_for(self, r2: float) -> int | None:
        """The smallest size on the curve with so high an R² on held-out rows; None where no size has it."""
        wanted = bounded("r2", r2, above=0, most=1)
        enough = np.flatnonzero(self.curve.held_out >= wanted)
        return int(self.curve.sizes[enough[0]]) if len(enough) else None

    @property
    def best_size(self) -> int:
        """The size with the highest R² on held-out rows."""
        return int(self.curve.sizes[int(np.argmax(self.curve.held_out))])

    def columns(self) -> dict[str, AnyArray]:
        """Of a tree one line per leaf and output (``leaf``, ``conditions``, ``share``, ``prediction``, ``miss``), of a
        linear surrogate one per coefficient and output, else one per output with its R².
        """
        outputs = np.array(self.output_names, dtype=object)
        if self.tree is not None:
            leaves, n = self.tree.leaves, len(outputs)
            return {
                "leaf": np.repeat(np.arange(1, len(leaves) + 1), n),
                "conditions": np.repeat(np.array(self.tree.rules, dtype=object), n),
                "share": np.repeat(self.tree.shares[leaves], n),
                **({"output": np.tile(outputs, len(leaves))} if n > 1 else {}),
                "prediction": self.tree.predictions[leaves].ravel(),
                "miss": self.tree.misses.ravel(),
            }
        if self.terms is not None and len(self.terms.names):
            names, n = np.array(self.terms.names, dtype=object), len(outputs)
            return {
                "term": np.repeat(names, n),
                "feature": np.repeat(np.array(self.terms.owners, dtype=object), n),
                **({"output": np.tile(outputs, len(names))} if n > 1 else {}),
                "coefficient": self.terms.coefficients.ravel(),
            }
        return {"output": outputs, "r2": self.values, "se": self.se}

    def findings(self) -> list[str]:
        from pellucid.explanations.surrogate_words import findings

        return findings(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Surrogates(Explanation, options=SurrogatesOptions):
    """Several surrogates of one model, fitted to the same rows and judged by the same held-out rows.

    `values` are R² on held-out rows ``(surrogates, outputs)``; ``members`` are the surrogates themselves.
    """

    members: tuple[Surrogate, ...]

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, kind: Any) -> Surrogate:
        """A surrogate by its place or kind."""
        if isinstance(kind, str):
            return next(one for one in self.members if one.kind == kind)
        return self.members[kind]

    def columns(self) -> dict[str, AnyArray]:
        """One line per surrogate: its ``kind`` and ``size``, ``r2`` on held-out rows with ``se``, ``fitted``, and what
        it ``kept`` of the model's gain where the outcome is known.
        """
        known: dict[str, AnyArray] = {
            "kind": np.array([one.kind for one in self.members], dtype=object),
            "size": np.array([one.size for one in self.members]),
            "r2": np.array([one.overall for one in self.members]),
            "se": np.array([one.overall_se for one in self.members]),
            "fitted": np.array([one.fitted for one in self.members]),
        }
        verdicts = [one.replacement for one in self.members]
        if all(one is not None for one in verdicts):
            known["kept"] = np.array([one.kept for one in verdicts if one is not None])
        return known

    def findings(self) -> list[str]:
        from pellucid.explanations.surrogate_words import side_by_side

        return side_by_side(self)
