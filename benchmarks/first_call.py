"""The first answer on a machine: CPU seconds of `shap` in a fresh process, before and after the loops are compiled.

python benchmarks/first_call.py [--only xgboost] [--write]

Every model is explained in processes of their own: with an empty cache folder, and again with what the first one left
there. Times are of the call alone (loading the engine included), not of importing the model's library or fitting.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import page

page.restart_with(page.ONE_THREAD)

GOAL = 5.0  # CPU seconds, with an empty cache
ROWS = 1000
MODELS = {
    "xgboost regressor": "xgboost:XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1)",
    "xgboost classifier": "xgboost:XGBClassifier(n_estimators=100, max_depth=6, n_jobs=1)",
    "lightgbm regressor": "lightgbm:LGBMRegressor(n_jobs=1, verbose=-1)",
    "random forest": "sklearn.ensemble:RandomForestRegressor(n_estimators=20, random_state=0)",
}


def explain(model: str, rows: int) -> None:
    """In a process of its own: prints the CPU seconds of the call and of the same call again."""
    import importlib

    import numpy as np

    from pellucid import Explainer

    module, call = MODELS[model].split(":")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
    y = (y > 0).astype(int) if "Classifier" in call else y
    fitted = eval(call, vars(importlib.import_module(module))).fit(X, y)
    asked = X[:100] if "forest" in model and rows > 1 else X[:rows]  # of a deep forest every row is dear
    explainer = Explainer(fitted, X, y, background=100)
    seconds = []
    for _ in range(2):
        start = time.process_time()
        explainer.shap(asked)
        seconds.append(time.process_time() - start)
    print(json.dumps([len(asked), *seconds]))


def measured(model: str, rows: int) -> tuple[str, ...]:
    """One line of the table."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            ran = subprocess.run(
                [sys.executable, __file__, "--explain", model, "--rows", str(rows)],
                env=os.environ | {"NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            found.append(json.loads(ran.stdout.splitlines()[-1]))
    (count, first, again), (_, later, _) = found
    return model, f"{count:,}", f"{first:.1f}", f"{later:.2f}", f"{again:.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--explain", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, default=ROWS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.explain:
        explain(options.explain, options.rows)
        return 0
    lines = [measured(model, rows) for model in MODELS if options.only in model for rows in (1, ROWS)]
    head = ("model", "rows", "empty cache", "compiled before", "second call")
    table = page.table(head, lines)
    print(table)
    if options.write:
        words = (
            'CPU seconds of `shap` in a fresh process. "Empty cache" is the first call on a new machine, which compiles what it'
            f' needs (goal: at most {GOAL:.0f} s), "compiled before" the first call of every later process, which loads it.'
        )
        page.write(
            "FIRST_CALL.md", "# The first call", page.printed(__file__, "xgboost", "lightgbm", "numba"), words, table
        )
    return int(any(float(line[2]) > GOAL for line in lines))


if __name__ == "__main__":
    sys.exit(main())
