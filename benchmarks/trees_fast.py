"""fasttreeshap in an environment of its own: it needs numpy < 2.

Run by the interpreter that FASTTREESHAP_PYTHON names (or .bench-fasttreeshap/bin/python), as a process that
explains the same rows of the same trees once for every line that it reads, and measures itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

_PARTS = (
    "children_left",
    "children_right",
    "children_default",
    "features",
    "thresholds",
    "values",
    "node_sample_weight",
)


def interpreter() -> str:
    usual = Path(__file__).resolve().parents[1] / ".bench-fasttreeshap" / "bin" / "python"
    return os.environ.get("FASTTREESHAP_PYTHON", str(usual))


def release() -> tuple[str, ...]:
    """Name and version, where it is installed."""
    if not Path(interpreter()).exists():
        return ()
    asked = "from importlib.metadata import version; print(version('fasttreeshap'), version('numpy'))"
    done = subprocess.run([interpreter(), "-c", asked], capture_output=True, text=True, check=False)
    told = done.stdout.split()
    return (f"fasttreeshap {told[0]} (numpy {told[1]})",) if told else ()


def start(trees: Any, base: float, X: np.ndarray, folder: Path) -> subprocess.Popen[str]:
    """The process; ``trees`` are those of a shap.TreeExplainer: the model's own file is too new for it."""
    if not Path(interpreter()).exists():
        raise FileNotFoundError("no environment with fasttreeshap; see benchmarks/README.md")
    parts = {part: np.concatenate([getattr(tree, part) for tree in trees]) for part in _PARTS}
    ends = np.cumsum([len(tree.features) for tree in trees])
    np.savez(folder / "question.npz", X=X, base=base, ends=ends, **parts)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [interpreter(), __file__, str(folder)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    )


def turn(process: subprocess.Popen[str], folder: Path, threads: int) -> tuple[np.ndarray, float, float]:
    """Its values, CPU and wall seconds."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{threads}\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("fasttreeshap's process ended")
    told = json.loads(line)
    return np.load(folder / "values.npy"), told["cpu"], told["wall"]


def _serve(folder: Path) -> None:
    warnings.simplefilter("ignore")
    import fasttreeshap

    told = np.load(folder / "question.npz")
    begins = np.append(0, told["ends"])
    trees = [{part: told[part][begin:end] for part in _PARTS} for begin, end in pairwise(begins)]
    model = {"trees": trees, "base_offset": float(told["base"]), "input_dtype": np.float32}
    X = told["X"]
    for line in sys.stdin:
        explainer = fasttreeshap.TreeExplainer(model, algorithm="v2", n_jobs=int(line))
        wall, cpu = time.perf_counter(), time.process_time()
        values = explainer.shap_values(X, check_additivity=False)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        np.save(folder / "values.npy", values)
        print(json.dumps({"cpu": cpu, "wall": wall}), flush=True)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
