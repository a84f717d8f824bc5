"""Anchors against alibi and anchor-exp: python benchmarks/anchors.py [--rows 20] [--epsilon 0.15] [--write].

Rows of the breast cancer data and a forest, precision 0.95, delta 0.05 and a beam of one everywhere, one thread, CPU seconds.
Reported is what the explainer says; measured is the precision of its rules on 4,000 fresh rows drawn as both the peers and
perturb="data" define them: a random row of the data in which each feature of the rule that is outside its bin takes the value of a
random row inside. Kept: the share of rules whose measured precision is at least 0.95 - epsilon. Exits with 1 where pellucid is
behind.

What the peers report is not this precision: draws made for a short rule that happen to obey a longer one are counted for the
longer one, and those are not rows in which the rest is random but, mostly, real rows of the same class. perturb="conditional" is what such a
number means (rows of the data that obey the rule as they are); it asks the model for every row of the data once, and its "measured"
column is for comparison only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import page

TAU, DELTA = 0.95, 0.05
FRESH = 4000
Cells = dict[int, tuple[float, float]]  # per feature the interval (low, high]
HEADER = page.header(
    ("explainer", "CPU s", "times ours", "model rows per row explained", "calls", "conditions", "coverage",
     "precision, reported", "measured", "least", "kept")
)  # fmt: skip
PEERS = ("alibi", "anchor-exp", "lime")


class Counted:
    """A model that counts the rows and calls it is asked for."""

    def __init__(self, model: RandomForestClassifier) -> None:
        self.model, self.rows, self.calls = model, 0, 0

    def predict(self, X: np.ndarray) -> np.ndarray:
        self.rows += len(X)
        self.calls += 1
        return self.model.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        self.rows += len(X)
        self.calls += 1
        return self.model.predict_proba(X)


@dataclass(frozen=True)
class Line:
    """What one explainer did."""

    name: str
    seconds: float
    rows: float
    calls: float
    cells: list[Cells]
    reported: list[float]


def measured(model: RandomForestClassifier, X: np.ndarray, row: int, cells: Cells) -> float:
    """The precision of a rule on fresh rows."""
    rng = np.random.default_rng([7, row])
    Z = X[rng.integers(0, len(X), FRESH)].copy()
    for j, (low, high) in cells.items():
        outside = ~((Z[:, j] > low) & (Z[:, j] <= high))
        inside = np.flatnonzero((X[:, j] > low) & (X[:, j] <= high))
        Z[outside, j] = X[rng.choice(inside, outside.sum()), j] if len(inside) else X[row, j]
    return float((model.predict(Z) == model.predict(X[row : row + 1])[0]).mean())


def quartile_cells(X: np.ndarray, row: int, features: list[int]) -> Cells:
    """The quartile bins that the peers use."""
    cells: Cells = {}
    for j in features:
        edges = np.unique(np.percentile(X[:, j], [25, 50, 75]))
        at = int(np.searchsorted(edges, X[row, j], side="left"))
        low = edges[at - 1] if at > 0 else -np.inf
        cells[j] = (float(low), float(edges[at]) if at < len(edges) else np.inf)
    return cells


def read_cells(names: list[str], said: list[str]) -> Cells:
    """Rules of the peers, as ``a < name <= b``; the bins of one feature are joined."""
    cells: Cells = {}
    for words in said:
        name = next(name for name in sorted(names, key=len, reverse=True) if name in words)
        j = names.index(name)
        before, after = words.split(name, 1)
        low, high = cells.get(j, (-np.inf, np.inf))
        if "<" in before:
            low = max(low, float(before.replace("<", "").replace("=", "")))
        if ">" in after:
            low = max(low, float(after.replace(">", "").replace("=", "")))
        if "<" in after:
            high = min(high, float(after.replace("<", "").replace("=", "")))
        cells[j] = (low, high)
    return cells


def pellucid_line(model: Counted, X: np.ndarray, names: list[str], rows: range, perturb: str, epsilon: float) -> Line:
    from pellucid import Explainer

    explainer = Explainer(model.model, X, feature_names=names, progress=False)
    start = time.process_time()
    found = explainer.anchor(list(rows), precision=TAU, delta=DELTA, epsilon=epsilon, beams=1, perturb=perturb)
    seconds = time.process_time() - start
    rules = list(found)
    cells = [
        {
            names.index(c.feature): (c.low, c.high)
            if c.kind == "interval"
            else (np.nextafter(c.level, -np.inf), c.level)
            for c in rule.conditions
        }
        for rule in rules
    ]
    cost = found.cost
    return Line(
        f'pellucid, "{perturb}"',
        seconds,
        (cost.model_rows + cost.check_rows) / len(rows),
        cost.model_calls,
        cells,
        [rule.precision for rule in rules],
    )


def alibi_line(model: Counted, X: np.ndarray, names: list[str], rows: range, epsilon: float) -> Line:
    from alibi.explainers import AnchorTabular

    explainer = AnchorTabular(model.predict, names, seed=0)
    explainer.fit(X, disc_perc=(25, 50, 75))

    def ask(row: int) -> tuple[Cells, float]:
        found = explainer.explain(X[row], threshold=TAU, delta=DELTA, tau=epsilon, beam_size=1)
        return quartile_cells(X, row, _features(names, found.anchor)), float(found.precision)

    return peer_line("alibi", model, rows, ask)


def _features(names: list[str], said: list[str]) -> list[int]:
    return sorted(read_cells(names, said))


def authors_line(model: Counted, X: np.ndarray, names: list[str], rows: range, epsilon: float) -> Line:
    from anchor import anchor_tabular

    np.random.seed(0)  # noqa: NPY002  the peer draws from the global state
    explainer = anchor_tabular.AnchorTabularExplainer(["0", "1"], names, X, {})

    def ask(row: int) -> tuple[Cells, float]:
        found = explainer.explain_instance(X[row], model.predict, threshold=TAU, delta=DELTA, tau=epsilon, beam_size=1)
        return read_cells(names, list(found.names())), float(found.precision())

    return peer_line("anchor-exp", model, rows, ask)


def peer_line(name: str, model: Counted, rows: range, ask: Callable[[int], tuple[Cells, float]]) -> Line:
    model.rows = model.calls = 0
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
        found = [ask(row) for row in rows]
    seconds = time.process_time() - start
    return Line(
        name, seconds, model.rows / len(rows), model.calls, [cells for cells, _ in found], [p for _, p in found]
    )


def written(line: Line, ours: Line, model: RandomForestClassifier, X: np.ndarray, rows: range, epsilon: float) -> str:
    truth = np.array([measured(model, X, row, cells) for row, cells in zip(rows, line.cells, strict=True)])
    covered = [np.mean([(X[:, j] > low) & (X[:, j] <= high) for j, (low, high) in cells.items()], axis=0) == 1 if cells else np.ones(len(X), dtype=bool) for cells in line.cells]  # fmt: skip
    cells = [
        line.name, f"{line.seconds:.1f}", f"{line.seconds / ours.seconds:.1f}", f"{line.rows:,.0f}", f"{line.calls:,}",
        f"{np.mean([len(one) for one in line.cells]):.1f}", f"{np.mean([one.mean() for one in covered]):.3f}",
        f"{np.mean(line.reported):.3f}", f"{truth.mean():.3f}", f"{truth.min():.3f}", f"{(truth >= TAU - epsilon).mean():.0%}",
    ]  # fmt: skip
    return page.row(cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=0.15)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    cancer = load_breast_cancer()
    X, names, rows = cancer.data, [str(name) for name in cancer.feature_names], range(asked.rows)
    forest = RandomForestClassifier(100, random_state=0).fit(X, cancer.target)
    model = Counted(forest)
    ours = pellucid_line(model, X, names, rows, "data", asked.epsilon)
    lines = [ours, pellucid_line(model, X, names, rows, "conditional", asked.epsilon)]
    peers, skipped = [], []
    for make in (alibi_line, authors_line):
        try:
            peers.append(make(model, X, names, rows, asked.epsilon))
        except Exception as error:  # a peer may fail in any way
            skipped.append(f"Skipped: {make.__name__} ({type(error).__name__}: {error}).")
    table = [HEADER, *(written(line, ours, forest, X, rows, asked.epsilon) for line in (*lines, *peers))]
    parts = (
        "# Anchors",
        page.printed(__file__, *PEERS),
        __doc__.split("\n\n", 1)[1],
        f"{asked.rows} rows, epsilon {asked.epsilon}.",
        "\n".join(table),
        *skipped,
    )
    print("\n\n".join(parts))
    if asked.write:
        page.write("ANCHORS.md", *parts)
    behind = [peer.name for peer in peers if peer.seconds < 10 * ours.seconds or peer.rows < ours.rows]
    return 1 if behind else 0


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
