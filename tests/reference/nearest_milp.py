"""The nearest row of an ensemble of numeric splits as a mixed-integer program, for scipy's HiGHS.

u[j, k] says that feature j is at most its k-th threshold, y[l] that a row is in leaf l. At a node on threshold k the
leaves to the left together are at most u[j, k], those to the right at most 1 - u[j, k]. The cost of the cell between two
thresholds is counted by the difference of their u.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array


def nearest_by_program(ensemble, thresholds, costs, low, high):
    """The least cost of a row whose sum of leaves is in [low, high]; ``costs[j]`` has one entry per cell."""
    nodes = ensemble.nodes
    start = np.cumsum([0, *[len(t) for t in thresholds]])
    leaves = np.flatnonzero(nodes.feature < 0)
    place = {int(leaf): start[-1] + i for i, leaf in enumerate(leaves)}
    lines = []  # of {variable: weight}, low, high

    def below(node):
        if nodes.feature[node] < 0:
            return [place[node]]
        j = nodes.feature[node]
        u = start[j] + int(np.searchsorted(thresholds[j], nodes.threshold[node]))
        left, right = below(int(nodes.left[node])), below(int(nodes.right[node]))
        lines.append(({**dict.fromkeys(left, 1.0), u: -1.0}, -np.inf, 0.0))
        lines.append(({**dict.fromkeys(right, 1.0), u: 1.0}, -np.inf, 1.0))
        return left + right

    lines += [(dict.fromkeys(below(int(root)), 1.0), 1.0, 1.0) for root in ensemble.roots]
    for j, t in enumerate(thresholds):
        lines += [({start[j] + k: 1.0, start[j] + k + 1: -1.0}, -np.inf, 0.0) for k in range(len(t) - 1)]
    value = {place[int(leaf)]: float(nodes.value[leaf, 0]) for leaf in leaves}
    lines.append((value, low - ensemble.base[0], high - ensemble.base[0]))
    n = start[-1] + len(leaves)
    matrix = lil_array((len(lines), n))
    for i, (line, _, _) in enumerate(lines):
        for variable, weight in line.items():
            matrix[i, variable] = weight
    objective, constant = np.zeros(n), 0.0
    for j, cost in enumerate(costs):  # cell k has u[k] = 1 and u[k - 1] = 0; the last has no u of its own
        objective[start[j] : start[j + 1]] = cost[:-1] - cost[1:]
        constant += cost[-1]
    whole = np.arange(n) < start[-1]
    limits = LinearConstraint(matrix.tocsr(), [line[1] for line in lines], [line[2] for line in lines])
    found = milp(objective, constraints=limits, integrality=whole, bounds=Bounds(0, 1), options={"mip_rel_gap": 0.0})
    return found.fun + constant if found.status == 0 else np.inf
