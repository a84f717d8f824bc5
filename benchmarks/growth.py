"""How time and memory grow: features of LIME, anchors and sampled Shapley values, rows of TreeSHAP and of a report.

    python benchmarks/growth.py [--only lime anchor permutation shap report] [--write]

Every line is a process of its own with one thread. The clock is CPU time of the public call with its defaults, after one
small call that loads what has to be loaded; memory is the peak of the process above what it held before the call (table
and model included), so the answer counts.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import page

# What is freed goes back at once, or a first small answer would leave room for a part of the one that counts.
os.environ.update(page.ONE_THREAD | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"})

import numpy as np
import pandas as pd

from pellucid import Explainer

GIB, MB = 2**30, 1e6
WIDE = (250, 500, 1000, 2000)
LONG = (100_000, 500_000, 1_000_000)
PERMUTED = (500, 1000, 2000)
SHAP_ROWS = (100_000, 1_000_000)
LINEAR = 1.25  # doubling the features may take twice as long, and a quarter of that more
ANSWER = 1.2  # bytes of memory per byte of the answer
Line = dict[str, Any]


def of_few(rows: np.ndarray) -> np.ndarray:
    """Four features matter, two of them together."""
    return rows[:, 0] * rows[:, 1] + 2 * rows[:, 2] + np.abs(rows[:, 3])


def wide(features: int, rows: int = 1000) -> Explainer:
    X = np.random.default_rng(0).normal(size=(rows, features))
    return Explainer(of_few, X, progress=False)


def lime(features: int) -> Line:
    return _wide(features, 1000, lambda ex: ex.lime(0))


def anchor(features: int) -> Line:
    return _wide(features, 1000, lambda ex: ex.anchor(0))


def permutation(features: int) -> Line:
    return _wide(features, 200, lambda ex: ex.shap(0, method="permutation"))


def _wide(features: int, rows: int, question: Callable[[Explainer], Any]) -> Line:
    """The first question to an Explainer of many features, after one to another of few."""
    question(wide(20, rows))
    return _timed(lambda: question(wide(features, rows)))


def path(rows: int) -> Line:
    return _shap(rows, "path")


def marginal(rows: int) -> Line:
    return _shap(rows, "marginal")


def _shap(rows: int, game: str) -> Line:
    from lightgbm import LGBMRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 30))
    some = X[:20_000]
    y = some[:, 0] * some[:, 1] + some[:, 2] + np.sin(some[:, 3]) + 0.1 * rng.normal(size=len(some))
    model = LGBMRegressor(n_estimators=500, num_leaves=31, n_jobs=1, verbose=-1).fit(some, y)
    ex = Explainer(model, X[:20_000], background=1000, progress=False, n_jobs=1)
    ex.shap(X[:200], game=game)
    return _timed(lambda: ex.shap(X, game=game)) | {"answer": X.nbytes}


def report(rows: int) -> Line:
    from lightgbm import LGBMRegressor

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(rows, 12)), columns=[f"x{i}" for i in range(12)])
    X["k"] = pd.Categorical(rng.choice(list("abcdef"), rows))
    y = X["x0"] * X["x1"] + X["x2"] + (X["k"] == "a") + rng.normal(size=rows)
    model = LGBMRegressor(n_estimators=100, n_jobs=1, verbose=-1).fit(X[:20_000], y[:20_000])
    with tempfile.TemporaryDirectory() as folder:
        small = Explainer(model, X[:500], y[:500], progress=False)
        small.report(f"{folder}/small.html")
        return _timed(lambda: Explainer(model, X, y, progress=False).report(f"{folder}/report.html"))


def _timed(question: Callable[[], Any]) -> Line:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # from here on, the peak counts from now
    before, begin = _status("VmRSS"), time.process_time()
    answer = question()
    seconds = time.process_time() - begin
    del answer
    return {"seconds": seconds, "memory": _status("VmHWM") - before}


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


PARTS = {
    "lime": ([lime], WIDE, "`lime(row)`, features", "at most linear, below 1 GiB"),
    "anchor": ([anchor], WIDE, "`anchor(row)`, features", "at most linear, below 1 GiB"),
    "permutation": ([permutation], PERMUTED, '`shap(row, method="permutation")`, features', "below 1 GiB"),
    "shap": ([path, marginal], SHAP_ROWS, "`shap(rows)`, LightGBM 500 trees x 30, rows", "1.2 times the answer"),
    "report": ([report], LONG, "`report`, LightGBM 100 trees x 13, rows", "25 s, 1.5 GiB"),
}


def fresh(name: str, size: int) -> Line:
    """The line of this name and size, from a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--line", name, str(size)], stdout=subprocess.PIPE, text=True, check=False
    )
    return (
        json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"seconds": math.nan, "memory": math.nan}
    )


def met(part: str, found: Line, size: int, before: tuple[int, Line] | None) -> bool:
    if part == "shap":
        return found["memory"] <= ANSWER * found["answer"]
    if part == "report":
        return found["seconds"] <= 25 and found["memory"] <= 1.5 * GIB
    linear = before is None or found["seconds"] <= LINEAR * size / before[0] * before[1]["seconds"]
    return found["memory"] < GIB and (linear or part == "permutation")


def section(part: str) -> tuple[str, list[str], bool]:
    """A part as a table: its title, its paragraphs, and whether all its goals are met."""
    lines, sizes, title, goal = PARTS[part]
    rows, good = [], True
    for line in lines:
        before = None
        for size in sizes:
            found = fresh(line.__name__, size)
            fine = met(part, found, size, before)
            good, before = good and fine, (size, found)
            answer = f"{found['answer'] / MB:,.0f} MB" if "answer" in found else "-"
            cells = (line.__name__, f"{size:,}", f"{found['seconds']:.2f}", f"{found['memory'] / MB:,.0f} MB", answer)
            rows.append((*cells, "yes" if fine else "no"))
            print(*rows[-1], flush=True)
    return title, [f"Goal: {goal}.", page.table(("call", "size", "CPU s", "memory", "answer", "goal met"), rows)], good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--line", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.line:
        found = globals()[args.line[0]](int(args.line[1]))
        print(json.dumps(found))
        return
    good = True
    for part in args.only:
        title, said, fine = section(part)
        good = good and fine
        if args.write:
            page.write_section("GROWTH.md", title, *said)
    sys.exit(not good)


if __name__ == "__main__":
    main()
