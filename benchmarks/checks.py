"""What the default checks cost: every verb with its checks and with checks=False, on three models.

python benchmarks/checks.py [--only lime] [--on network] [--rounds 5] [--write]
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import page
from pellucid import Explainer
from pellucid.cli.app import demo_model
from pellucid.datasets import simulate_bike

SHARE, MILLISECONDS = 0.30, 20.0  # the goal: at most one of the two, whichever is more
_SECONDS = 20.0  # a line stops early after this long, but not before two rounds

Verb = Callable[[Explainer], Any]


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted model with rows to explain it on, and two of its features."""

    name: str
    model: Any
    X: Any
    y: Any
    pair: tuple[Any, Any] = (0, 1)

    def explainer(self, *, checks: bool) -> Explainer:
        return Explainer(self.model, self.X, self.y, progress=False, checks=checks)


def demo() -> Case:
    days = simulate_bike(2000, seed=0)
    model = demo_model().fit(days.X.iloc[:1400], days.y.iloc[:1400])
    return Case("demo", model, days.X.iloc[1400:], days.y.iloc[1400:], ("temp", "humidity"))


def numbers(rows: int = 2000) -> tuple[Any, Any]:
    """Ten correlated features and an outcome with an interaction."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X[:, 0] + np.sin(2 * X[:, 2]) + X[:, 3] * X[:, 4] + 0.5 * X[:, 5] + 0.3 * rng.normal(size=rows)
    return X, y


def network() -> Case:
    X, y = numbers()
    model = make_pipeline(
        StandardScaler(), MLPRegressor(hidden_layer_sizes=(50,), max_iter=300, early_stopping=True, random_state=0)
    )
    return Case("network", model.fit(X[1000:], y[1000:]), X[:1000], y[:1000])


def boosting() -> Case:
    import xgboost

    X, y = numbers()
    model = xgboost.XGBRegressor(n_estimators=200, max_depth=5, learning_rate=0.1, n_jobs=1, random_state=0)
    return Case("xgboost", model.fit(X[1000:], y[1000:]), X[:1000], y[:1000])


CASES = {"demo": demo, "network": network, "xgboost": boosting}


def verbs(case: Case) -> dict[str, Verb]:
    a, b = case.pair
    aim = f">= {np.quantile(case.y, 0.8):.2f}"
    found: dict[str, Verb] = {
        "pdp": lambda ex: ex.pdp(a),
        "pdp of a pair": lambda ex: ex.pdp((a, b), grid=20),
        "ice": lambda ex: ex.ice(a),
        "ale": lambda ex: ex.ale(a),
        "ale of a pair": lambda ex: ex.ale((a, b), bins=10),
        "mplot": lambda ex: ex.mplot(a),
    }
    for method in ("permutation", "conditional", "shap", "pdp", "sobol", "anova", "shapley-effects", "sage"):
        found[f"importance, {method}"] = lambda ex, method=method: ex.importance(method=method)
    if case.name != "demo":  # fits again, six times for each feature
        found["importance, drop"] = lambda ex: ex.importance(method="drop", folds=2)
        found["importance, folds"] = lambda ex: ex.importance(folds=2)
    found["importance, two methods"] = lambda ex: ex.importance(method=["permutation", "pdp"])
    for method in ("h", "greenwell", "shap"):
        found[f"interactions, {method}"] = lambda ex, method=method: ex.interactions(
            method=method, **({} if method == "shap" else {"rows": 100})
        )
    for method in ("marginal", "anova", "generalized", "ale"):
        found[f"decompose, {method}"] = lambda ex, method=method: ex.decompose(method=method)
    found |= {
        "shap, one row": lambda ex: ex.shap(0),
        "shap, 100 rows": lambda ex: ex.shap(list(range(100))),
        "shap, kernel": lambda ex: ex.shap(0, method="kernel"),
        "shap, permutation": lambda ex: ex.shap(0, method="permutation"),
        "shap, conditional": lambda ex: ex.shap(0, game="conditional"),
        "shap, interactions": lambda ex: ex.shap(0, interactions=True),
    }
    if case.name != "network":
        found["shap, path"] = lambda ex: ex.shap(0, game="path")
    found |= {
        "breakdown": lambda ex: ex.breakdown(0),
        "lime": lambda ex: ex.lime(0),
        "lime_pick": lambda ex: ex.lime_pick(3, sample=20),
        "anchor": lambda ex: ex.anchor(0),
        "counterfactuals": lambda ex: ex.counterfactuals(0, aim),
        "associations": lambda ex: ex.associations(),
        "clusters": lambda ex: ex.clusters(),
        "performance": lambda ex: ex.performance(),
    }
    return found


@dataclass
class Line:
    """Least CPU seconds of a first and of a warm call, with checks and without."""

    verb: str
    case: str
    cpu: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("first", "first bare", "warm", "bare"), math.inf)
    )

    def extra(self, call: str, bare: str) -> tuple[float, float]:
        """What checks take on top, in milliseconds and as a share."""
        return 1e3 * (self.cpu[call] - self.cpu[bare]), self.cpu[call] / self.cpu[bare] - 1

    def met(self, call: str, bare: str) -> bool:
        milliseconds, share = self.extra(call, bare)
        return share <= SHARE or milliseconds <= MILLISECONDS

    @property
    def good(self) -> bool:
        return self.met("first", "first bare") and self.met("warm", "bare")

    def cells(self) -> list[str]:
        said = [self.verb, self.case]
        for call, bare in (("first", "first bare"), ("warm", "bare")):
            milliseconds, share = self.extra(call, bare)
            said += [f"{1e3 * self.cpu[bare]:.1f}", f"{max(milliseconds, 0):.1f}", f"{max(100 * share, 0):.0f}%"]
        return [*said, "yes" if self.good else "NO"]


HEAD = ["verb", "model", "first ms", "checks ms", "share", "warm ms", "checks ms", "share", "met"]


def measure(case: Case, verb: str, ask: Verb, rounds: int) -> Line:
    """Take turns, and keep the least times."""
    line = Line(verb, case.name)
    ask(case.explainer(checks=True))  # compiles and imports
    started = time.perf_counter()
    for done in range(rounds):
        if done >= 2 and time.perf_counter() - started > _SECONDS:
            break
        for checks, first, warm in ((True, "first", "warm"), (False, "first bare", "bare")):
            explainer = case.explainer(checks=checks)
            for call in (first, warm):
                gc.collect()
                begin = time.process_time()
                ask(explainer)
                line.cpu[call] = min(line.cpu[call], time.process_time() - begin)
    return line


NOTES = f"""*ms* is the least CPU time of a call with `checks=False`, *checks ms* what default checks take on top and *share* the same over *ms*: of the
first question to a fresh Explainer (its making not counted) and of the same question asked again. The goal is at most {SHARE:.0%} or
{MILLISECONDS:.0f} ms, whichever is more, for both. One thread. *demo*: the pipeline of `pellucid demo`, 600 rows of 9 features with categories; *network*: a
scaler and a multi-layer perceptron, 1,000 rows of 10 numbers; *xgboost*: 200 trees of depth 5 on the same rows. Refits use two
folds, interactions 100 rows, `lime_pick` 20 rows, counterfactuals aim at the highest fifth of the outcomes; everything else is the default."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="verbs whose name contains this")
    options.add_argument("--on", default="", help="models whose name contains this")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--write", action="store_true", help="write CHECKS.md too")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    told = page.printed(__file__, "xgboost", "xgboost-cpu")
    print(told, flush=True)
    print(page.header(HEAD, 2), flush=True)
    lines = []
    for case in (make() for name, make in CASES.items() if chosen.on in name):
        for verb, ask in verbs(case).items():
            if chosen.only in verb:
                lines.append(measure(case, verb, ask, chosen.rounds))
                print(page.row(lines[-1].cells()), flush=True)
    missed = [f"{line.verb} ({line.case})" for line in lines if not line.good]
    print(f"{len(lines) - len(missed)} of {len(lines)} met.", *missed, sep="\n", flush=True)
    if chosen.write:
        table = page.table(HEAD, [line.cells() for line in lines], 2)
        page.write("CHECKS.md", "# What the default checks cost", told, NOTES, table, "Missed:", page.bullets(missed))
    sys.exit(int(bool(missed)))


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    main()
