"""Sampled Shapley values against the peers: python benchmarks/shapley.py [--only accuracy|trees|wide|overhead] [--write].

Four parts. *Accuracy*: mean absolute error against exact values of a network and of support vectors with 12 features;
all estimators get the same games and as many coalitions. *Trees*: the same for boosted trees and forests that are asked as
black boxes, with 12 and 20 features. *Wide*: the same with 30 and 60 features, against a long run over random orders.
*Overhead*: CPU time beyond the model's own calls, taking turns. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable
from functools import partial

import numpy as np

import page
import pellucid
from shapley_peers import ESTIMATORS, OURS, SHAP, SLOW, Limit
from shapley_problems import Game, Problem, accuracy_problems, tree_problems, wide_problems

BUDGETS = (256, 512, 1024, 2048)
GOALS = {256: 1 / 2, 512: 1 / 3, 1024: 1 / 5, 2048: 1 / 6}
PEERS = ("xgboost", "xgboost-cpu", "lightgbm", "shap", "shapiq", "torch", "botorch")
Errors = dict[tuple[int, int], float]  # by row and seed; empty where the estimator cannot

HEAD = ("model", "coalitions", "error", "shap's error", "best other's error", "best other", "goal", "ours / shap", "ours / best other", "met")  # fmt: skip
OVERHEAD = ("features", "rows", "coalitions", "ours", "shap", "times less")
PARTS = {
    "accuracy": ("Networks and support vectors, 12 features", accuracy_problems),
    "trees": ("Trees as black boxes, 12 and 20 features", tree_problems),
    "wide": ("30 and 60 features, against a long run over orders", wide_problems),
}


# -- accuracy ----------------------------------------------------------------------------------------


def errors(name: str, problem: Problem, games: list[Game], budget: int) -> tuple[Errors, float]:
    """Mean absolute error over the players of each row and seed, and CPU seconds per answer."""
    limit = SLOW.get(name, Limit())
    if budget > limit.budget or (limit.problems and problem.name not in limit.problems):
        return {}, np.nan
    found: Errors = {}
    start = time.process_time()
    for row, (value, truth) in enumerate(games[: limit.rows]):
        for seed in range(min(problem.seeds, limit.seeds)):
            values = ESTIMATORS[name](value, len(truth), budget, seed)
            if values is None:
                return {}, np.nan
            found[row, seed] = float(np.abs(values - truth).mean())
    return found, (time.process_time() - start) / len(found)


def over(ours: Errors, theirs: Errors) -> float:
    """Our error over theirs, on the rows and seeds that both were asked about."""
    common = ours.keys() & theirs.keys()
    return sum(ours[key] for key in common) / sum(theirs[key] for key in common)


def mean(found: Errors) -> float:
    return float(np.mean(list(found.values()))) if found else np.nan


def headline(problem: Problem, budget: int, missed: dict[str, Errors]) -> tuple[list[str], bool]:
    others = {name: found for name, found in missed.items() if found and not name.startswith(OURS)}
    ratios = {name: over(missed[OURS], found) for name, found in others.items()}
    best = max(ratios, key=ratios.__getitem__)
    goal = GOALS[budget] if problem.goals else None
    met = ratios[best] < 1 and (goal is None or ratios[SHAP] <= goal)
    cells = [problem.name, f"{budget:,}", *(_number(mean(missed[name])) for name in (OURS, SHAP, best)), best]
    cells += ["" if goal is None else f"{goal:.2f}", f"{ratios[SHAP]:.3f}", f"{ratios[best]:.2f}"]
    return [*cells, "yes" if met else "NO"], met


def every_estimator(problem: Problem, missed: dict[int, dict[str, Errors]], seconds: dict[str, float]) -> str:
    """One line per estimator; the smallest error of each column in bold."""
    means = {name: [mean(missed[budget][name]) for budget in BUDGETS] for name in ESTIMATORS}
    least = np.nanmin(list(means.values()), axis=0)
    rows = [
        (
            name,
            *(f"**{_number(e)}**" if e == low else _number(e) for e, low in zip(found, least, strict=True)),
            _number(seconds[name], "{:.3f}"),
        )
        for name, found in means.items()
    ]
    head = ("estimator", *(f"{budget:,} coalitions" for budget in BUDGETS), "CPU s per answer, most coalitions")
    return f"### {problem.name}\n\n" + page.table(head, rows)


def _number(value: float, form: str = "{:.2e}") -> str:
    return form.format(value) if np.isfinite(value) else "-"


def accuracy(problems: Iterable[Problem]) -> tuple[list[str], list[str], bool]:
    """The headline's lines, the long tables and whether every goal is met."""
    lines, tables, met = [], [], True
    for problem in problems:
        games, missed, seconds = problem.games(), {}, dict.fromkeys(ESTIMATORS, np.nan)
        for budget in BUDGETS:
            missed[budget] = {}
            for name in ESTIMATORS:
                missed[budget][name], taken = errors(name, problem, games, budget)
                seconds[name] = taken if missed[budget][name] else seconds[name]
            cells, good = headline(problem, budget, missed[budget])
            met &= good
            lines.append(page.row(cells))
            print(lines[-1], flush=True)
        tables.append(every_estimator(problem, missed, seconds))
    print("\n" + "\n\n".join(tables), flush=True)
    return lines, tables, met


# -- overhead ----------------------------------------------------------------------------------------


def overhead(rounds: int = 5) -> tuple[list[str], bool]:
    """CPU milliseconds per row beyond the model's own calls."""
    import shap

    lines, met = [], True
    for p, rows in ((12, 10), (12, 100), (30, 10)):
        generator = np.random.default_rng(0)
        X, w = generator.normal(size=(500, p)), generator.normal(size=p)
        inside = [0.0]

        def model(A: np.ndarray, w: np.ndarray = w, inside: list[float] = inside) -> np.ndarray:
            start = time.process_time()
            answer = np.tanh(A @ w)
            inside[0] += time.process_time() - start
            return answer

        theirs = shap.KernelExplainer(model, X[:100])
        ours = pellucid.Explainer(model, X, background=X[:100], progress=False)
        for budget in BUDGETS:
            least = {"ours": np.inf, "shap": np.inf}
            ask = {
                "ours": partial(ours.shap, X[:rows], method="kernel", budget=rows * 100 * budget),
                "shap": partial(theirs.shap_values, X[:rows], nsamples=budget, l1_reg=False, silent=True),
            }
            for _ in range(rounds):
                for who, call in ask.items():
                    inside[0], start = 0.0, time.process_time()
                    call()
                    least[who] = min(least[who], time.process_time() - start - inside[0])
            ratio = least["shap"] / least["ours"]
            met &= p != 12 or ratio >= 5
            ms = [f"{1e3 * least[who] / rows:.2f}" for who in ("ours", "shap")]
            lines.append(page.row((f"{p}", f"{rows}", f"{budget:,}", *ms, f"{ratio:.1f}")))
            print(lines[-1], flush=True)
    return lines, met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*PARTS, "overhead"])
    parser.add_argument("--write", action="store_true", help="write these parts of SHAPLEY.md")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    told, good = page.printed(__file__, *PEERS), True
    print(told)
    for name, (title, problems) in PARTS.items():
        if asked.only in (None, name):
            print(f"\n## {title}\n\n{page.header(HEAD)}", flush=True)
            lines, tables, met = accuracy(problems())
            good &= met
            if asked.write:
                page.write_section("SHAPLEY.md", title, told, "\n".join((page.header(HEAD), *lines)), *tables)
    if asked.only in (None, "overhead"):
        title = "Overhead: CPU ms per row beyond the model's own calls, checks included"
        print(f"\n## {title}\n\n{page.header(OVERHEAD, 0)}", flush=True)
        lines, met = overhead()
        good &= met
        if asked.write:
            page.write_section("SHAPLEY.md", title, told, "\n".join((page.header(OVERHEAD, 0), *lines)))
    return 0 if good else 1


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
