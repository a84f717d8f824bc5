"""Where a surrogate fails: subgroups that differ in how far held-out rows are missed.

A shallow tree (at most four leaves of at least a twentieth of the rows) is grown to the squared misses of half of the
rows, and cut back to the fewest leaves that explain nine tenths of what all of them do; shares, misses and R2 of its
leaves are counted on the other half, which did not grow it. R2 of a subgroup compares with the mean of the subgroup, so
it may be low because the model hardly varies there: the miss is beside it.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.explanations.surrogate import Subgroup
from pellucid.methods.surrogate.fitting.columns import Columns
from pellucid.methods.surrogate.fitting.conditions import path_words, walk
from pellucid.methods.surrogate.fitting.growing import Grown
from pellucid.methods.surrogate.fitting.task import Task, row_groups
from pellucid.runner import Run
from pellucid.stats import weighted_mean

_FEWEST = 200  # rows
_GROUPS = 4
_LEAST = 0.05
_NEARLY = 0.9


def subgroups(task: Task, held: FloatArray, run: Run) -> tuple[Subgroup, ...]:
    """The subgroups, that of the largest miss first; none where rows are few or all are missed alike."""
    missed = np.square(task.scaled - held / task.unit).sum(axis=1)
    if len(task) < _FEWEST or not (missed > 1e-12 * np.square(task.scaled).sum(axis=1).max()).any():
        return ()
    half = row_groups(task.data, run.generator("surrogate.halves"), 2)
    grow, judge = np.flatnonzero(half == 0), np.flatnonzero(half != 0)
    if min(len(grow), len(judge)) < _FEWEST // 4:
        return ()
    columns, w = Columns.of(task.data), task.weights
    orders = columns.orders(grow, missed[:, None], w)
    matrix = columns.ordered(orders)
    least = _LEAST * float(w[grow].sum())
    grown = Grown.of(matrix[grow], missed[grow, None], w[grow], least=least, most=_GROUPS, depth=3)
    ends = grown.leaves(_enough(grown))
    reached = grown.reach(matrix[judge], ends)
    _, _, paths = walk(columns, grown, orders, ends)
    found = [
        _subgroup(path_words(paths[node], task.data), task, held, judge, judge[reached == node])
        for node in np.unique(reached).tolist()
    ]
    return tuple(sorted(found, key=lambda group: -group.ratio)) if len(found) > 1 else ()


def _enough(grown: Grown) -> int:
    """The fewest groups that tell rows apart nearly as well as the most do."""
    explained = [float(grown.cost[0] - grown.cost[grown.leaves(k)].sum()) for k in range(1, grown.largest + 1)]
    return int(np.argmax(np.array(explained) >= _NEARLY * explained[-1])) + 1


def _subgroup(words: str, task: Task, held: FloatArray, judge: IntArray, own: IntArray) -> Subgroup:
    f, w = task.target, task.weights
    missed = np.square(f - held)
    here, all_rows = weighted_mean(missed[own], w[own]), weighted_mean(missed[judge], w[judge])
    scaled = [float((part / task.unit**2).sum()) for part in (here, all_rows)]
    around = weighted_mean(np.square(f[own] - weighted_mean(f[own], w[own])), w[own])
    within = float((around / task.unit**2).sum())
    return Subgroup(
        words=words,
        share=float(w[own].sum() / w[judge].sum()),
        r2=1.0 - scaled[0] / within if within > 0 else float("nan"),
        miss=float(np.sqrt(here.mean())),
        ratio=float(np.sqrt(scaled[0] / scaled[1])) if scaled[1] > 0 else 1.0,
        rows=len(own),
    )
