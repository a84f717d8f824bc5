"""CatBoost with text categories (target statistics): `shap` of 500 rows against shap and CatBoost's own values.

PELLUCID_DATA=folder python benchmarks/categories.py [--only titanic] [--rounds 5] [--write]

The public call of an Explainer, checks included, on probabilities (the default) and on log-odds. CatBoost's own values, and
those of shap's TreeExplainer, which asks CatBoost for them, are of the path-dependent game on log-odds: a game about the
trees. pellucid's are of the marginal game, about the model as a function; they are compared with all coalitions asked of the
model. Without the data sets (titanic.csv and adult.csv, in the folder that PELLUCID_DATA names) nothing is measured.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import page

page.restart_with(page.ONE_THREAD)

import catboost  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import shap  # noqa: E402

from pellucid import Explainer  # noqa: E402

ROWS, BACKGROUND, FITTED, TREES = 500, 100, 5000, 300
CASES = {"titanic": ("survived", "1"), "adult": ("income", ">50K")}
HEAD = ["model", "who", "game, scale", "first call, s", "later calls, s"]


def read(name: str) -> tuple[pd.DataFrame, pd.Series, list[str]]:
    """Features, whether the target is the class that is predicted, and the columns of text."""
    target, wanted = CASES[name]
    table = pd.read_csv(Path(os.environ["PELLUCID_DATA"]) / f"{name}.csv", keep_default_na=name == "titanic")
    y = (table.pop(target).astype(str).str.strip() == wanted).astype(int)
    texts = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
    table[texts] = table[texts].astype(object).where(table[texts].notna(), "missing")
    return table, y, texts


def contestants(
    model: Any, X: pd.DataFrame, y: pd.Series, texts: list[str]
) -> dict[tuple[str, str], Callable[[], Any]]:
    """By name and what is explained: something that makes the call anew, ready for its first one."""
    background = X[:BACKGROUND]

    def pellucid(scale: str) -> Callable[[], Any]:
        ex = Explainer(model, X[:FITTED], y[:FITTED], background=background, progress=False)
        return lambda: ex.shap(X[:ROWS], scale=scale)

    def trees() -> Callable[[], Any]:
        asked = shap.TreeExplainer(model)
        return lambda: asked.shap_values(catboost.Pool(X[:ROWS], cat_features=texts))

    def own() -> Any:
        pool = catboost.Pool(X[:ROWS], cat_features=texts)
        return model.get_feature_importance(pool, type="ShapValues", thread_count=1)

    return {
        ("pellucid", "marginal, probability"): lambda: pellucid("auto"),
        ("pellucid", "marginal, log-odds"): lambda: pellucid("log-odds"),
        ("shap TreeExplainer", "path, log-odds"): trees,
        ("CatBoost ShapValues", "path, log-odds"): lambda: own,
    }


def timed(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def measured(name: str, rounds: int) -> tuple[list[list[str]], str]:
    X, y, texts = read(name)
    quiet: dict[str, Any] = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(iterations=TREES, random_seed=0, **quiet)
    model.fit(X[:FITTED], y[:FITTED], cat_features=texts)
    makers = contestants(model, X, y, texts)
    for make in makers.values():
        make()()  # whatever is compiled or imported once
    calls: dict[Any, Callable[[], Any]] = {}
    first, later = (dict.fromkeys(makers, np.inf) for _ in range(2))
    for _ in range(rounds):
        for who, make in makers.items():
            calls[who] = make()
            first[who] = min(first[who], timed(calls[who]))
            later[who] = min(later[who], timed(calls[who]))
    case = f"{name}, {X.shape[1]} features, {len(texts)} of text"
    lines = [[case, *who, f"{first[who]:.2f}", f"{later[who]:.2f}"] for who in makers]
    return lines, f"{name}: largest difference from all coalitions asked of the model {error(model, X, y):.1e}."


def error(model: Any, X: pd.DataFrame, y: pd.Series, few: int = 10) -> float:
    """Of probabilities of one row, with a few background rows: the model is asked about every coalition."""
    ex = Explainer(model, X[:FITTED], y[:FITTED], background=X[:few], progress=False, checks=False)
    exact = ex.shap(X[ROWS : ROWS + 1], method="exact", budget=10**9)
    return float(np.abs(exact.values - ex.shap(X[ROWS : ROWS + 1]).values).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write CATEGORIES.md")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if "PELLUCID_DATA" not in os.environ:
        raise SystemExit("PELLUCID_DATA names no folder with titanic.csv and adult.csv; nothing is measured.")
    lines, errors = [], []
    for name in CASES:
        if arguments.only in (None, name):
            found, told = measured(name, arguments.rounds)
            lines += found
            errors.append(told)
            print(page.table(HEAD, found, words=3), told, sep="\n", flush=True)
    if arguments.write:
        page.write(
            "CATEGORIES.md",
            "# CatBoost with text categories",
            page.printed(__file__, "catboost", "shap"),
            f"`shap` of {ROWS} rows of a CatBoost classifier of {TREES} trees whose splits are on target statistics of text"
            f" columns and of their combinations; {BACKGROUND} background rows, least CPU seconds of {arguments.rounds} rounds in"
            ' turns, checks included. "First call" reads the model, "later calls" are of the same Explainer.',
            page.table(HEAD, lines, words=3),
            "CatBoost's own values, which shap asks it for, are of another game: absent features follow the training rows"
            " through the trees, on log-odds. pellucid's are of the marginal game, exact on either scale.",
            page.bullets(errors),
        )


if __name__ == "__main__":
    main()
