"""Sobol indices against SALib: model rows and CPU seconds to the same error.

pellucid answers with a budget; SALib (scrambled Sobol points, first-order and total indices, its default 100 bootstrap resamples for
intervals) is asked with 2^k points, k growing, until its error is as small. The error is the root of the mean squared
difference to closed forms (or to exact indices of trees, or to a long run) over all first-order and total indices and seeds.

    python benchmarks/sobol.py [--seeds 5] [--most 15] [--only ishigami] [--write]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from SALib.analyze import sobol as salib_analyze
from SALib.sample import sobol as salib_sample
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.neural_network import MLPRegressor

import page
from pellucid import Explainer

A = np.array([0.0, 1.0, 4.5, 9.0, 99.0, 99.0, 99.0, 99.0])


@dataclass(frozen=True, eq=False)
class Problem:
    name: str
    model: object  # as pellucid takes it
    predict: Callable[[np.ndarray], np.ndarray]
    ranges: list[tuple[float, float]]
    truth: tuple[np.ndarray, np.ndarray] | None  # first-order, total; None: a long run
    budgets: tuple[int, ...] = (5_000, 50_000)
    method: str = "sobol"


def ishigami(X):
    return np.sin(X[:, 0]) + 7 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])


def ishigami_truth():
    v1, v2, v13 = (1 + 0.1 * np.pi**4 / 5) ** 2 / 2, 49 / 8, 0.01 * np.pi**8 * 8 / 225
    return np.array([v1, v2, 0]) / (v1 + v2 + v13), np.array([v1 + v13, v2, v13]) / (v1 + v2 + v13)


def g_function(X, shift=0.0):
    return np.prod((np.abs(4 * ((X + shift) % 1.0) - 2) + A) / (1 + A), axis=1)


def g_truth():
    part = 1 / 3 / (1 + A) ** 2
    variance = np.prod(1 + part) - 1
    return part / variance, part * np.prod(1 + part) / (1 + part) / variance


def steps(X):
    """Steps in every direction, which no smooth function resembles."""
    return np.floor(3 * np.sin(9 * X[:, 0] * X[:, 1])) + np.floor(4 * X[:, 2] * X[:, 3]) * (X[:, 4] > 0.3)


def problems():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 8))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    unit = [(0.0, 1.0)] * 8
    trees = GradientBoostingRegressor(n_estimators=200, max_depth=4, random_state=0).fit(X, y)
    classes = GradientBoostingClassifier(n_estimators=100, random_state=0).fit(X, y > np.median(y))
    net = MLPRegressor(hidden_layer_sizes=(50, 50), max_iter=300, random_state=0).fit(X, (y - y.mean()) / y.std())
    return [
        Problem("Ishigami, 3 features", ishigami, ishigami, [(-np.pi, np.pi)] * 3, ishigami_truth()),
        Problem("g-function, 8 features", g_function, g_function, unit, g_truth()),
        Problem("g-function, kinks off the knots", lambda X: g_function(X, 0.17), lambda X: g_function(X, 0.17), unit, g_truth()),
        Problem("steps, 5 features", steps, steps, [(0.0, 1.0)] * 5, None),
        Problem("neural network, 8 features", net, net.predict, unit, None),
        Problem("boosted classifier, probabilities, 8 features", classes, lambda X: classes.predict_proba(X)[:, 1], unit, None),
        Problem("gradient boosting, 8 features (exact)", trees, trees.predict, unit, None, (5_000,), "anova"),
    ]  # fmt: skip


def rows_of(ranges, n=4096):
    """Rows whose columns are evenly spaced; with the ends of the ranges, for the uniform distribution between them."""
    rng = np.random.default_rng(1)
    middles = (np.arange(n) + 0.5) / n
    return np.column_stack([rng.permutation(low + middles * (high - low)) for low, high in ranges])


def ours(problem, budget, seed):
    X = rows_of(problem.ranges)
    if problem.method == "anova":
        X = np.vstack([X, np.array(problem.ranges).T])
    start = time.process_time()
    explainer = Explainer(problem.model, X, random_state=seed, progress=False)
    found = explainer.importance(method=problem.method, budget=budget)
    return (found.first, found.values, found.cost.model_rows + found.cost.check_rows, time.process_time() - start)


def salib(problem, n, seed, resamples=100):
    setting = {
        "num_vars": len(problem.ranges),
        "names": [f"x{j}" for j in range(len(problem.ranges))],
        "bounds": problem.ranges,
    }
    start = time.process_time()
    points = salib_sample.sample(setting, n, calc_second_order=False, seed=seed)
    found = salib_analyze.analyze(
        setting, problem.predict(points), calc_second_order=False, num_resamples=resamples, seed=seed
    )
    return found["S1"], found["ST"], len(points), time.process_time() - start


@cache
def truth_of(problem):
    """A closed form, or the mean of long runs of SALib: of another implementation than the one that is judged."""
    if problem.truth is not None:
        return problem.truth
    runs = [salib(problem, 2**15, 1000 + s, resamples=2)[:2] for s in range(12)]
    return tuple(np.mean([run[i] for run in runs], axis=0) for i in (0, 1))


def error_of(runs, truth):
    return float(np.sqrt(np.mean([np.square(np.concatenate(run[:2]) - np.concatenate(truth)) for run in runs])))


def judged(problem, budget, seeds, most):
    truth = truth_of(problem)
    mine = [ours(problem, budget, s) for s in range(seeds)]
    error, rows, seconds = error_of(mine, truth), mine[0][2], float(np.median([run[3] for run in mine]))
    for k in range(6, most + 1):
        theirs = [salib(problem, 2**k, s) for s in range(seeds)]
        reached = error_of(theirs, truth)
        if reached <= error:
            break
    peer_rows, peer_seconds = theirs[0][2], float(np.median([run[3] for run in theirs]))
    more = "" if reached <= error else "> "
    return {
        "problem": problem.name, "error": f"{error:.1e}", "rows": f"{rows:,}", "SALib rows": f"{more}{peer_rows:,}",
        "SALib error": f"{reached:.1e}", "rows ratio": f"{more}{peer_rows / rows:.0f}", "seconds": f"{seconds:.2f}",
        "SALib seconds": f"{more}{peer_seconds:.2f}", "seconds ratio": f"{more}{peer_seconds / seconds:.1f}",
        "ahead": peer_rows > rows and (peer_seconds > seconds),
    }  # fmt: skip


NOTES = """pellucid answers within a budget of 5,000 or 50,000 model rows, with its default checks; SALib is asked with 2^k points, k
growing, until its error is as small (">": not reached). The error is the root mean squared difference over all first-order and
total indices to closed forms, or, where there are none, to the mean of twelve runs of SALib with 2^15 points (the error of the exact
line is that of this long run). Seconds are CPU seconds of the whole call, with the model and with intervals on both sides (SALib: 100 bootstrap
resamples). The g-function has its kinks where the control variate has knots; the shifted one has not."""


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--most", type=int, default=15, help="SALib is asked with at most 2^most points")
    options.add_argument("--only", default="")
    options.add_argument("--write", action="store_true", help="write SOBOL.md too")
    chosen = options.parse_args()
    warm = Problem("", ishigami, ishigami, [(-np.pi, np.pi)] * 3, None)
    ours(warm, 5_000, 0)
    told = page.printed(__file__, "SALib")
    print(told, flush=True)
    lines = []
    for problem in problems():
        if chosen.only.lower() not in problem.name.lower():
            continue
        for budget in problem.budgets:
            lines.append(judged(problem, budget, chosen.seeds, chosen.most))
            lines[-1]["ahead"] = "yes" if lines[-1]["ahead"] else "NO"
            print(page.row(list(lines[-1].values())), flush=True)
    if chosen.write:
        table = page.table(list(lines[0]), [list(line.values()) for line in lines])
        page.write("SOBOL.md", "# Sobol indices against SALib", told, f"{chosen.seeds} seeds. {NOTES}", table)
    sys.exit(int(any(line["ahead"] == "NO" for line in lines)))


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    main()
