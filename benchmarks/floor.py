"""How near to the model's own time a question can come at all: python benchmarks/floor.py.

For questions to a model that is nearly free: the CPU time of what nobody can leave out besides the predictions, as bare calls of
numpy, and how many times the model's own time the two together take. The least of many rounds.

ALE needs the quantiles of the feature (a sort), the bin of every row and a mean per bin; ICE the mean and the spread of the curves and,
for their colours, how the curves are correlated with every other feature; permutation importance one permutation per feature and
repetition and the loss of every prediction.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import page
from effects import BINS, CURVES, GRID
from workloads import WORKLOADS, Workload

_ROUNDS, _REPEATS = 60, 5
_ON = ("linear-numpy", "linear-pandas", "mixed")


def ale(w: Workload) -> tuple[int, Callable[[], object]]:
    x = np.ascontiguousarray(w.values("x0"))
    rises = np.random.default_rng(0).normal(size=len(x))

    def least() -> object:
        edges = np.sort(x)[np.linspace(0, len(x) - 1, BINS + 1).astype(int)]
        bins = np.searchsorted(edges[1:-1], x)
        return np.bincount(bins, rises, BINS) / np.bincount(bins, minlength=BINS)

    return 2 * len(x), least


def ice(w: Workload) -> tuple[int, Callable[[], object]]:
    curves = np.random.default_rng(0).normal(size=(CURVES, GRID))
    others = np.random.default_rng(1).normal(size=(CURVES, w.X.shape[1] - 1))

    def least() -> object:
        centred = curves - curves.mean(axis=1, keepdims=True)
        return curves.mean(axis=0), curves.std(axis=0), others.T @ centred

    return CURVES * GRID, least


def importance(w: Workload) -> tuple[int, Callable[[], object]]:
    n, p = len(w.y), w.X.shape[1]
    generator, predicted = np.random.default_rng(0), w.y + 1.0

    def least() -> object:
        return [(generator.permutation(n)[0], np.square(w.y - predicted).mean()) for _ in range(p * _REPEATS)]

    return n * p * _REPEATS, least


def seconds(work: Callable[[], object]) -> float:
    best = np.inf
    for _ in range(_ROUNDS):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def own_time(w: Workload, rows: int) -> float:
    """The model's own time for so many rows, asked in tables of at most ten times its own."""
    once = min(rows, 10 * len(w.X))
    places = np.arange(once) % len(w.X)
    table = w.X[places] if w.is_numpy else w.X.iloc[places]
    return seconds(lambda: w.model.predict(table)) * rows / once


def table() -> str:
    rows = []
    for name in _ON:
        w = WORKLOADS[name]()
        for told, question in (("ICE", ice), ("ALE 1-D", ale), ("importance", importance)):
            asked, least = question(w)
            model, floor = own_time(w, asked), seconds(least)
            ratio = f"{(model + floor) / model:.2f}"
            rows.append((told, w.name, f"{asked:,}", f"{1e3 * model:.2f}", f"{1e3 * floor:.2f}", ratio))
    head = ("question", "on", "model rows", "model ms", "least besides ms", "(model + least) / model")
    return page.table(head, rows, words=2)


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    print(page.versions(), table(), sep="\n\n")
