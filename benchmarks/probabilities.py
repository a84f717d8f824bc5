"""Shapley values of probabilities: the public call of a warm Explainer against shap, with the error of each.

python benchmarks/probabilities.py [--only 14] [--rounds 5] [--write]

Truth are all coalitions, asked of the model, or for more than 14 features a thousand pairs of opposite orders.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import page

page.restart_with(page.ONE_THREAD)

import numpy as np  # noqa: E402
import shap  # noqa: E402
import xgboost  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from pellucid import Explainer  # noqa: E402

BACKGROUND = 100
ROWS = 3  # explained one by one
MANY = 1000  # explained at once
_ORDERS = 1000
_SHORT, _TIMES = 0.05, 30  # calls below so many seconds are timed so often in every round


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted model, the rows that stand for absent, and rows to explain."""

    name: str
    model: Any
    background: np.ndarray
    rows: np.ndarray
    trees: bool = True

    def probability(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict_proba(rows)[:, 1])


def numbers(features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7000, features))
    sums = X[:, 0] * X[:, 1] + X[:, 2] + np.sin(2 * X[:, 3]) + 0.8 * X[:, 4:].sum(axis=1) / np.sqrt(features - 4)
    return X, (sums + 0.7 * rng.normal(size=len(X)) > 0).astype(int)


def boosted(features: int) -> Case:
    X, y = numbers(features)
    model = xgboost.XGBClassifier(n_estimators=300, max_depth=6, learning_rate=0.1, n_jobs=1).fit(X[:5000], y[:5000])
    return Case(f"XGBoost 300 x 6, {features} features", model, X[5000 : 5000 + BACKGROUND], X[6000:])


def logistic(features: int) -> Case:
    X, y = numbers(features)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:5000], y[:5000])
    return Case(f"logistic pipeline, {features} features", model, X[5000 : 5000 + BACKGROUND], X[6000:], trees=False)


CASES: dict[str, Callable[[], Case]] = {
    "10": lambda: boosted(10),
    "14": lambda: boosted(14),
    "30": lambda: boosted(30),
    "100": lambda: boosted(100),
    "logistic": lambda: logistic(20),
}


def truth(case: Case, row: np.ndarray) -> np.ndarray:
    """Shapley values by asking the model: every coalition, or many orders."""
    features = len(row)
    if features <= 14:
        ex = Explainer(case.model, case.background, background=case.background, checks=False, progress=False)
        return np.asarray(ex.shap(row[None], method="exact", budget=10**9).values[0])
    rng, total = np.random.default_rng(1), np.zeros(features)
    for _ in range(_ORDERS):
        order = rng.permutation(features)
        for way in (order, order[::-1]):
            steps = np.repeat(case.background[None], features + 1, axis=0)
            for place, j in enumerate(way):
                steps[place + 1 :, :, j] = row[j]
            worths = case.probability(steps.reshape(-1, features)).reshape(features + 1, -1).mean(axis=1)
            total[way] += np.diff(worths)
    return total / (2 * _ORDERS)


Contestant = Callable[[np.ndarray], np.ndarray]


def contestants(case: Case) -> dict[str, Contestant]:
    """By name: from one row to its contributions, everything prepared."""
    options: dict[str, Any] = {"background": case.background, "progress": False}
    ex, quiet = (Explainer(case.model, case.background, checks=checks, **options) for checks in (True, False))
    found: dict[str, Contestant] = {
        "pellucid": lambda row: ex.shap(row[None]).values[0],
        "pellucid, checks=False": lambda row: quiet.shap(row[None]).values[0],
    }
    if case.trees:
        trees = shap.TreeExplainer(case.model, case.background, model_output="probability")
        found["shap TreeExplainer, model_output='probability'"] = lambda row: trees.shap_values(row[None])[0]
    kernel = shap.KernelExplainer(case.probability, case.background)
    found["shap KernelExplainer"] = lambda row: kernel.shap_values(row[None], silent=True)[0]
    return found


def measured(case: Case, rounds: int) -> list[list[str]]:
    rows = case.rows[:ROWS]
    exact = np.array([truth(case, row) for row in rows])
    asked = contestants(case)
    best = dict.fromkeys(asked, np.inf)
    errors: dict[str, np.ndarray] = {}
    for name, ask in asked.items():
        errors[name] = np.array([np.ravel(ask(row)) for row in rows]) - exact
    for _ in range(rounds):
        for name, ask in asked.items():
            for _ in range(_TIMES if best[name] < _SHORT else 1):
                began = time.process_time()
                ask(rows[0])
                best[name] = min(best[name], time.process_time() - began)
    lines = []
    for name, wrong in errors.items():
        size = f"{np.sqrt(np.mean(wrong**2)):.1e}", f"{np.abs(wrong).max():.1e}"
        lines.append([case.name, name, f"{1e3 * best[name]:,.2f}", f"{best[name] / best['pellucid']:,.1f}", *size])
    return lines


def many(case: Case) -> str:
    """One call for many rows."""
    ex = Explainer(case.model, case.background, background=case.background, progress=False)
    ex.shap(case.rows[:2])
    began = time.process_time()
    found = ex.shap(case.rows[:MANY])
    took = time.process_time() - began
    return f"{case.name}: {MANY:,} rows in one call {took:,.1f} s ({1e3 * took / MANY:,.1f} ms a row), largest standard error {found.se.max():.1e}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CASES, help="one case")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write PROBABILITIES.md")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines, calls = [], []
    for name, make in CASES.items():
        if arguments.only in (None, name):
            case = make()
            lines += measured(case, arguments.rounds)
            calls.append(many(case))
            print(*("  ".join(line) for line in lines[-4:]), calls[-1], sep="\n", flush=True)
    head = ["model", "who", "ms", "times pellucid", "rms error", "largest error"]
    found = page.table(head, lines, words=2)
    if arguments.write:
        page.write(
            "PROBABILITIES.md",
            "# Shapley values of probabilities",
            page.printed(__file__, "shap", "xgboost", "xgboost-cpu"),
            f"One row, {BACKGROUND} background rows, least CPU milliseconds of a warm call with default settings. Errors are differences from "
            "all coalitions asked of the model (10 and 14 features) or from 2,000 orders (the others, themselves off by up to 1e-3), "
            f"over {ROWS} rows. `model_output='probability'` of shap rescales contributions to log-odds.",
            found,
            page.bullets(calls),
        )


if __name__ == "__main__":
    main()
