"""Random problems: models, targets, constraints, mixed types and missing values; and a checker of its own."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from methods.counterfactual.asking import credit_like
from pellucid import Explainer

NUMBERS = ("age", "amount", "score")
ROUNDING = 1e-12  # predictions of one row differ by this with the rows beside it


@dataclass
class Random:
    """A problem with all that a checker needs to know of it."""

    ex: Explainer
    table: pd.DataFrame
    row: int
    target: Any
    reached: Any  # of the model's own output for a table, whether the target is reached
    said: dict[str, Any] = field(default_factory=dict)


def features(table: pd.DataFrame) -> np.ndarray:
    hot = [(table["housing"].astype(object) == level).to_numpy(dtype=float) for level in ("free", "own", "rent")]
    numbers = [np.nan_to_num(table[name].to_numpy(dtype=float), nan=-3.0) for name in NUMBERS]
    rest = [(table["job"] == "skilled").to_numpy(dtype=float), table["foreign"].to_numpy(dtype=float)]
    return np.column_stack([*numbers, *hot, *rest])


def random_model(rng: np.random.Generator, table: pd.DataFrame):
    """A number per row: linear, steps, or a smooth bump; and its cousin with probabilities of three classes."""
    X = features(table)
    size = X.std(axis=0) + 1e-9
    weights = rng.normal(size=(X.shape[1], 3)) * (rng.random((X.shape[1], 3)) < 0.7)
    knots = rng.normal(size=(X.shape[1],))
    kind = rng.choice(["linear", "steps", "bump"])

    def scores(table):
        z = (features(table) - X.mean(axis=0)) / size
        if kind == "steps":
            z = (z > knots) * 2.0 - 1.0
        elif kind == "bump":
            z = np.sin(1.5 * z)
        return z @ weights

    return scores


def random_problem(seed: int) -> Random:
    rng = np.random.default_rng(seed)
    table = credit_like(n=int(rng.integers(40, 120)), seed=seed, gaps=float(rng.choice([0.0, 0.2])))
    scores = random_model(rng, table)
    row = int(rng.integers(len(table)))
    if rng.random() < 0.4:

        def predict(table):
            odds = np.exp(scores(table))
            return odds / odds.sum(axis=1, keepdims=True)

        ex = Explainer(predict, table, np.arange(len(table)) % 3, progress=False, checks=False, random_state=seed)
        now = int(predict(table.iloc[[row]])[0].argmax())
        wanted = (now + 1) % 3
        target, reached = [
            (None, lambda p: p.argmax(axis=1) != now),
            (int(wanted), lambda p: p.argmax(axis=1) == wanted),
            ([int(wanted), (wanted + 1) % 3], lambda p: p.argmax(axis=1) != now),
            (f"not {now}", lambda p: p.argmax(axis=1) != now),
        ][int(rng.integers(4))]
        return Random(ex, table, row, target, lambda t: reached(predict(t)), constraints(rng, table))

    def number(table):
        return scores(table)[:, 0]

    ex = Explainer(number, table, progress=False, checks=False, random_state=seed)
    spread, own = np.quantile(number(table), [0.3, 0.7, 0.9]), number(table.iloc[[row]])[0]
    target, reached = [
        (f">= {spread[1]}", lambda f: f >= spread[1] - ROUNDING),
        ((float(spread[1]), float(spread[2])), lambda f: (f >= spread[1] - ROUNDING) & (f <= spread[2] + ROUNDING)),
        (float(spread[0]), lambda f: (f >= spread[0] - ROUNDING) if own < spread[0] else (f <= spread[0] + ROUNDING)),
        (f"< {spread[0]}", lambda f: f < spread[0] + ROUNDING),
    ][int(rng.integers(4))]
    return Random(ex, table, row, target, lambda t: reached(number(t)), constraints(rng, table))


def constraints(rng: np.random.Generator, table: pd.DataFrame) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if rng.random() < 0.5:
        said["fixed"] = tuple(rng.choice(table.columns, int(rng.integers(1, 3)), replace=False))
    if rng.random() < 0.4:
        said["monotone"] = {"age": str(rng.choice(["up", "down"]))}
    if rng.random() < 0.4:
        said["ranges"] = {"amount": (20, 70), "housing": ["own", "rent"]}
    if rng.random() < 0.3:
        said["max_changes"] = int(rng.integers(1, 4))
    if rng.random() < 0.3:
        said["relations"] = ["age + amount <= 120", "if housing = own then age >= 25"]
    if rng.random() < 0.2:
        said["feasible"] = lambda table: (table["amount"] != 50).to_numpy()
    if rng.random() < 0.3:
        said["distance"] = str(rng.choice(["manhattan", "changes"]))
    return said


def broken(problem: Random, rows: pd.DataFrame) -> list[str]:
    """Every promise that emitted rows break, worked out from the table alone."""
    own, said = problem.table.iloc[[problem.row]].reset_index(drop=True), problem.said
    same = pd.DataFrame({name: _same(rows[name], own[name][0]) for name in rows})
    amount = rows["amount"]
    kept: dict[str, Any] = {
        "target": problem.reached(rows),
        "dtypes": rows.dtypes == problem.table.dtypes,
        "decimals": np.isclose(amount.round(1), amount, atol=1e-12),
        **{f"fixed {name}": same[name] for name in said.get("fixed", ())},
        **{f"{name} outside": _inside(rows[name], problem.table[name]) for name in NUMBERS},
    }
    for name, way in said.get("monotone", {}).items():
        kept["monotone"] = (rows[name] - own[name][0]) * (1 if way == "up" else -1) >= 0
    if "ranges" in said:
        kept["range"] = amount.between(20, 70) | same["amount"]
        kept["levels"] = rows["housing"].isin(["own", "rent"]) | same["housing"]
    if "max_changes" in said:
        kept["max_changes"] = (~same).sum(axis=1) <= said["max_changes"]
    if "relations" in said:
        kept["linear relation"] = rows["age"] + amount <= 120 + 1e-9
        kept["if-then"] = (rows["housing"].astype(object) != "own") | (rows["age"] >= 25)
    if "feasible" in said:
        kept["feasible"] = amount != 50
    return [name for name, holds in kept.items() if not np.all(holds)]


def _inside(column: pd.Series, observed: pd.Series) -> pd.Series:
    return column.between(observed.min(), observed.max()) | column.isna()


def _same(column: pd.Series, value: Any) -> pd.Series:
    return column.isna() if pd.isna(value) else column == value
