"""Generalised functional ANOVA of one and two features, written out: every hat function at every row, all parts in one
regression, then every part regressed on what fewer features can say."""

import math

import numpy as np


def hats(value, points):
    """The value of every hat function, one per point and one more for missing, at a value."""
    out = [0.0] * (len(points) + 1)
    if math.isnan(value):
        out[-1] = 1.0
        return out
    if value <= points[0]:
        out[0] = 1.0
    elif value >= points[-1]:
        out[len(points) - 1] = 1.0
    else:
        for i in range(len(points) - 1):
            if points[i] <= value <= points[i + 1]:
                share = (value - points[i]) / (points[i + 1] - points[i])
                out[i], out[i + 1] = 1.0 - share, share
                break
    return out


def generalized_parts(rows, weights, f, points):
    """Mean and the values of all parts {(j,): ..., (j, k): ...} at the rows.

    ``points[j]`` are the knots of feature j (or its levels).
    """
    p = len(points)
    single = [[hats(row[j], points[j]) for row in rows] for j in range(p)]
    pairs = [(j, k) for j in range(p) for k in range(j + 1, p)]
    double = {
        (j, k): [[a * b for a in one for b in two] for one, two in zip(single[j], single[k], strict=True)]
        for j, k in pairs
    }
    # One regression on everything; its fitted values belong to the sum only, so each pair is regressed again below.
    blocks = {**{(j,): single[j] for j in range(p)}, **double}
    wide = np.hstack([np.ones((len(rows), 1)), *(np.array(block) for block in blocks.values())])
    root = np.sqrt(np.array(weights, dtype=float))
    solution = np.linalg.lstsq(wide * root[:, None], np.array(f) * root, rcond=1e-12)[0]
    parts, start = {}, 1
    for name, block in blocks.items():
        size = len(block[0])
        parts[name] = np.array(block) @ solution[start : start + size]
        start += size
    for j, k in pairs:
        both = np.hstack([single[j], single[k]])
        root_both = both * root[:, None]
        shares = np.linalg.lstsq(root_both, parts[j, k] * root, rcond=1e-12)[0]
        n = len(single[j][0])
        first, second = np.array(single[j]) @ shares[:n], np.array(single[k]) @ shares[n:]
        parts[j, k] = parts[j, k] - first - second
        parts[j,] = parts[j,] + first
        parts[k,] = parts[k,] + second
    mean = float(np.average(f, weights=weights))
    for j in range(p):
        parts[j,] = parts[j,] - np.average(parts[j,], weights=weights)
    return mean, parts
