"""SAGE against sage-importance: python benchmarks/sage_values.py [--write].

The peer's values have an error that falls with the square root of the model rows. So that the two can be compared at equal
error, its rows and CPU seconds are multiplied by the ratio of the mean squared errors. Errors are root mean squares over features
and seeds, against the values from all coalitions, as a share of what they add up to. Exits with 1 where pellucid is behind.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from sage import KernelEstimator, MarginalImputer, PermutationEstimator
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor

import page
from pellucid import Explainer

FEATURES, ROWS, BACKGROUND, SEEDS = 8, 200, 64, 6
BUDGETS, READ_BUDGETS = (40_000, 200_000), (10_000,)
PERMUTATIONS, COALITIONS = 512, 4096
HEADER = page.header(
    ("model", "loss", "pellucid, model rows", "error", "CPU s", "PermutationEstimator, error", "rows at equal error",
     "CPU at equal error", "KernelEstimator, error", "rows at equal error", "CPU at equal error"),
    words=2,
)  # fmt: skip
NOTES = f"""{FEATURES} features, {ROWS} rows, a background of {BACKGROUND} rows, {SEEDS} seeds; pellucid with its default checks. Errors
against the values from all coalitions, as a share of their sum. *At equal error*: the peer's model rows and CPU time as a multiple of
pellucid's, extrapolated with the square root of the rows. Trees that are *read* are asked for their own predictions only."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A fitted model, and rows it has not seen."""

    name: str
    model: object
    X: np.ndarray
    y: np.ndarray
    loss: str

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X) if self.loss == "mse" else self.model.predict_proba(X)  # type: ignore[attr-defined]


def problems() -> Iterator[Problem]:
    """Networks, boosting and forests, for numbers and for classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, FEATURES))
    X[:, 1] += 0.6 * X[:, 0]
    target = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] + np.abs(X[:, 4]) + 0.3 * rng.normal(size=1200)  # fmt: skip
    label = np.digitize(target, [0.0, 1.2])
    test = slice(1000, 1000 + ROWS)
    for name, model in {
        "network": MLPRegressor(hidden_layer_sizes=(32, 32), max_iter=400, random_state=0),
        "forest (read)": RandomForestRegressor(100, random_state=0),
        "boosting (read)": GradientBoostingRegressor(random_state=0),
    }.items():
        yield Problem(name, model.fit(X[:1000], target[:1000]), X[test], target[test], "mse")
    for name, model in {
        "network": MLPClassifier(hidden_layer_sizes=(32, 32), max_iter=400, alpha=0.1, random_state=0),
        "forest (read)": RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=12, random_state=0),
    }.items():
        yield Problem(name, model.fit(X[:1000], label[:1000]), X[test], label[test], "log_loss")


@dataclass(frozen=True)
class Measured:
    """Error, model rows and CPU seconds of one estimate."""

    error: float
    rows: float
    cpu: float

    def at(self, error: float) -> Measured:
        """The same, extrapolated to another error."""
        more = (self.error / error) ** 2
        return Measured(error, self.rows * more, self.cpu * more)


def measure(estimate: Callable[[int], tuple[np.ndarray, int]], exact: np.ndarray, seeds: int) -> Measured:
    """An estimate over seeds; it gives values and the model rows it took."""
    errors, rows, start = [], 0, time.process_time()
    for seed in range(seeds):
        values, asked = estimate(seed)
        errors.append(values - exact)
        rows += asked
    cpu = (time.process_time() - start) / seeds
    return Measured(float(np.sqrt(np.mean(np.square(errors))) / exact.sum()), rows / seeds, cpu)


def ours(problem: Problem, background: np.ndarray, budget: int | None) -> Callable[[int], tuple[np.ndarray, int]]:
    def estimate(seed: int) -> tuple[np.ndarray, int]:
        ex = Explainer(problem.model, problem.X, problem.y, background=background, random_state=seed, progress=False)  # fmt: skip
        found = ex.importance(method="sage", loss=problem.loss, budget=budget)
        return found.values, found.cost.model_rows + found.cost.check_rows

    return estimate


def peer(problem: Problem, background: np.ndarray, kind: str) -> Callable[[int], tuple[np.ndarray, int]]:
    def estimate(seed: int) -> tuple[np.ndarray, int]:
        asked = 0

        def model(X: np.ndarray) -> np.ndarray:
            nonlocal asked
            asked += len(X)
            return problem.predict(X)

        imputer = MarginalImputer(model, background)
        loss = "mse" if problem.loss == "mse" else "cross entropy"
        if kind == "permutation":
            estimator = PermutationEstimator(imputer, loss, random_state=seed)
            found = estimator(problem.X, problem.y, detect_convergence=False, n_permutations=PERMUTATIONS, bar=False)
        else:
            estimator = KernelEstimator(imputer, loss, random_state=seed)
            found = estimator(problem.X, problem.y, detect_convergence=False, n_samples=COALITIONS, bar=False)
        return found.values, asked

    return estimate


def lines() -> Iterator[tuple[str, bool]]:
    """A line of the table, and whether pellucid is ahead, for each problem and budget."""
    for problem in problems():
        background = problem.X[:BACKGROUND]
        exact = ours(problem, background, 10**9)(0)[0]
        peers = [measure(peer(problem, background, kind), exact, SEEDS) for kind in ("permutation", "kernel")]
        read = "(read)" in problem.name
        for budget in READ_BUDGETS if read else BUDGETS:
            ours(problem, background, budget)(0)  # kernels are loaded once
            own = measure(ours(problem, background, budget), exact, SEEDS)
            cells = [problem.name, problem.loss, f"{own.rows:,.0f}", f"{own.error:.4f}", f"{own.cpu:.2f}"]
            ahead = True
            for other in peers:
                equal = other.at(own.error)
                more = "-" if read else f"{equal.rows / own.rows:,.0f} times"
                cells += [f"{other.error:.4f}", more, f"{equal.cpu / own.cpu:,.1f} times"]
                ahead &= equal.cpu > own.cpu and equal.rows > own.rows
            yield page.row(cells), ahead


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="also write SAGE.md")
    asked = parser.parse_args()
    told = page.printed(__file__, "sage-importance")
    print(f"{told}\n\n{HEADER}", flush=True)
    table, behind = [HEADER], 0
    for line, ahead in lines():
        print(line, "" if ahead else " <- behind", flush=True)
        table.append(line)
        behind += not ahead
    if asked.write:
        page.write("SAGE.md", "# SAGE", told, NOTES, "\n".join(table))
    return int(behind > 0)


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
