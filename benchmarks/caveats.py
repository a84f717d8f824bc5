"""How often each verb carries a caveat: on benign data, and with one planted problem. Writes WARNINGS.md.

``python benchmarks/caveats.py [data sets]``; each line is over that many seeded data sets.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer

ROWS = 600
SILENT, HEARD = 0.95, 0.9
VERBS: dict[str, Callable[[Explainer], Any]] = {
    "pdp": lambda ex: ex.pdp("a"),
    "pdp of two": lambda ex: ex.pdp(("a", "b"), grid=15),
    "ice": lambda ex: ex.ice("a", rows=range(30)),
    "ale": lambda ex: ex.ale("a"),
    "ale of two": lambda ex: ex.ale(("a", "c")),
    "mplot": lambda ex: ex.mplot("a"),
    "importance": lambda ex: ex.importance(),
    "importance, conditional": lambda ex: ex.importance(method="conditional", repeats=2),
    "importance, shap": lambda ex: ex.importance(method="shap"),
    "importance, pdp": lambda ex: ex.importance(method="pdp"),
    "sage": lambda ex: ex.importance(method="sage"),
    "interactions": lambda ex: ex.interactions(),
    "decompose": lambda ex: ex.decompose(),
    "decompose, ale": lambda ex: ex.decompose(method="ale"),
    "decompose, generalized": lambda ex: ex.decompose(method="generalized"),
    "shap": lambda ex: ex.shap(range(10)),
    "breakdown": lambda ex: ex.breakdown(0),
    "lime": lambda ex: ex.lime(0),
    "anchor": lambda ex: ex.anchor(0),
    "clusters": lambda ex: ex.clusters(),
}
MATTERS = (
    "A quarter of the models are classifiers: log-odds add up, probabilities do not, so that their break-down does"
    " depend on the order, and says so (not with link='logit')."
)
Planted = Iterator[tuple[str, str, str, Any]]  # problem, verb, code that should speak, result


def table(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Independent features of four shapes."""
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.uniform(-2, 2, n),
            "c": rng.normal(size=n),
            "d": rng.integers(0, 8, n).astype(float),
        }
    )


def outcome(X: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """A sum of the features and noise."""
    return X["a"] + 0.7 * X["b"] - 0.5 * X["c"] + 0.2 * X["d"] + rng.normal(size=len(X))


def benign(seed: int) -> Explainer:
    """Independent features, rows enough, held out, and a mild model: in turns a line, stumps, a function and a
    classifier.
    """
    rng = np.random.default_rng(seed)
    X = table(rng, 2 * ROWS)
    y = outcome(X, rng)
    stumps = GradientBoostingRegressor(n_estimators=60, max_depth=1, random_state=0)
    kind = seed % 4
    y = (y > y.median()).astype(int) if kind == 3 else y
    model = {1: stumps, 3: LogisticRegression()}.get(kind, LinearRegression()).fit(X[:ROWS], y[:ROWS])
    asked = model.predict if kind == 2 else model
    return Explainer(asked, X[ROWS:].reset_index(drop=True), y[ROWS:].reset_index(drop=True), random_state=seed)


def heterogeneous(seed: int) -> Planted:
    """The effect of a changes its sign with c."""
    X = table(np.random.default_rng(seed), ROWS)
    ex = Explainer(lambda rows: rows["a"] * np.sign(rows["c"]) + rows["b"], X)
    for verb, call in (("pdp", lambda: ex.pdp("a")), ("ale", lambda: ex.ale("a"))):
        yield "opposite effects", verb, "heterogeneous", call()


def far(seed: int) -> Planted:
    """A row ten standard deviations outside."""
    ex, row = benign(seed), table(np.random.default_rng(seed), 1)
    row["a"] = 10.0 * (-1) ** seed
    for verb in ("shap", "breakdown", "lime", "anchor"):
        yield "row 10 sd outside", verb, "far-row", getattr(ex, verb)(row)


def few(seed: int) -> Planted:
    """Twenty rows."""
    rng = np.random.default_rng(seed)
    X = table(rng, 20)
    ex = Explainer(lambda rows: rows["a"] + rows["b"], X, outcome(X, rng))
    yield "20 rows", "importance", "few-rows", ex.importance()
    yield "20 rows", "sage", "few-rows", ex.importance(method="sage")
    yield "20 rows", "shap", "few-rows", ex.shap(0)
    yield "20 rows", "breakdown", "few-rows", ex.breakdown(0)
    yield "20 rows", "decompose", "few-rows", ex.decompose()


def memorised(seed: int) -> Planted:
    """Noise, fitted and explained on the same rows."""
    rng = np.random.default_rng(seed)
    X, y = table(rng, 300), rng.normal(size=300)
    for name, model in (
        ("tree", DecisionTreeRegressor(random_state=seed)),
        ("forest", RandomForestRegressor(30, random_state=seed)),
        ("gradient boosting", GradientBoostingRegressor(n_estimators=50, random_state=seed)),
        ("histogram boosting", HistGradientBoostingRegressor(max_iter=50, random_state=seed)),
    ):
        yield f"noise fitted by a {name}", "importance", "training-data", Explainer(model.fit(X, y), X, y).importance()


CURVES = {"x^2": np.square, "abs(x)": np.abs, "sin(3 x)": lambda x: np.sin(3 * x), "exp(3 x)": lambda x: np.exp(3 * x)}


def curved(seed: int) -> Planted:
    """A feature that is a curved function of another."""
    rng = np.random.default_rng(seed)
    for name, curve in CURVES.items():
        X = table(rng, ROWS)
        X["b"] = curve(X["a"])
        yield from _left(name, X, rng)
    X, angle = table(rng, ROWS), rng.uniform(0, 2 * np.pi, ROWS)
    X["a"], X["b"] = np.cos(angle), np.sin(angle)
    yield from _left("circle", X, rng)


def _left(name: str, X: pd.DataFrame, rng: np.random.Generator) -> Planted:
    y = X["a"] + X["b"] + X["c"] + rng.normal(size=len(X)) * np.std(X["b"])
    ex = Explainer(lambda rows: rows["a"] + rows["b"] + rows["c"], X, y)
    asked = {
        "pdp": ex.pdp("a"),
        "importance": ex.importance(),
        "shap": ex.shap(0),
        "sage": ex.importance(method="sage"),
        "interactions": ex.interactions(),
    }
    for verb, result in asked.items():
        yield f"b = {name} of a" if name != "circle" else "a, b on a circle", verb, "off-data", result


def main(count: int) -> str:
    """The page."""
    lines = ["# Caveats", "", f"Share of calls with each code, over {count} seeded data sets.", ""]
    spoken: dict[str, list[set[str]]] = {}
    for seed in range(count):
        ex = benign(seed)
        for verb, call in VERBS.items():
            name = f"{verb} of a probability" if verb == "breakdown" and ex.predictor.classes else verb
            spoken.setdefault(name, []).append({caveat.code for caveat in call(ex).caveats})
    lines += ["## Benign data", "", f"Goal: silent in {SILENT:.0%}, per code and verb. {MATTERS}", ""]
    lines += ["| verb | calls | code | speaks |", "|---|--:|---|--:|"]
    for verb, calls in spoken.items():
        codes = Counter(code for said in calls for code in said).most_common() or [("-", 0)]
        lines += [f"| {verb} | {len(calls)} | {code} | {n / len(calls):.0%} |" for code, n in codes]
    right: dict[tuple[str, str, str], list[tuple[bool, int]]] = {}
    others: dict[tuple[str, str, str], Counter[str]] = {}
    for seed in range(count):
        for scene in (heterogeneous, far, few, memorised, curved):
            for problem, verb, code, result in scene(seed):
                codes = {caveat.code for caveat in result.caveats}
                right.setdefault((problem, verb, code), []).append((code in codes, len(codes - {code})))
                others.setdefault((problem, verb, code), Counter()).update(codes - {code})
    lines += ["", "## One planted problem", "", f"Goal: the right code in {HEARD:.0%}, and at most one other.", ""]
    lines += ["| problem | verb | code | speaks | at most one other | others |", "|---|---|---|--:|--:|---|"]
    for key, found in right.items():
        said, few_others = (np.mean([part(one) for one in found]) for part in (lambda o: o[0], lambda o: o[1] <= 1))
        more = ", ".join(f"{code} {n / count:.0%}" for code, n in others[key].most_common(4))
        lines += [f"| {' | '.join(key)} | {said:.0%} | {few_others:.0%} | {more} |"]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    page = main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
    print(page)
    (Path(__file__).parent / "WARNINGS.md").write_text(page, encoding="utf-8")
