"""How much memory the public call takes: measured in a process of its own (Linux only)."""

from __future__ import annotations

import gc
import math
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

# What is freed goes back at once, or a first small answer would leave room for a part of the one that counts.
_GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def peak_memory(explainer: partial[Any], question: Callable[..., Any], X: Any) -> float:
    """Bytes by which a fresh process grows at most while a warm Explainer answers, result included; one thread."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.pickle"
        path.write_bytes(pickle.dumps((explainer, question, X)))
        done = subprocess.run(
            [sys.executable, __file__, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | _GIVE_BACK,
        )
    try:
        return float(done.stdout)
    except ValueError:
        return math.nan


def _grow(path: str) -> None:
    explainer, question, X = pickle.loads(Path(path).read_bytes())
    made = explainer(progress=False, n_jobs=1)
    for rows in (X[:64], X[:64]):  # kernels are loaded by now, and the Explainer knows what checks share
        question(made, rows)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # from here on, the peak counts from now
    before = _status("VmRSS")
    answer = question(made, X)
    print(_status("VmHWM") - before)
    del answer


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    _grow(sys.argv[1])
