"""Compiled loops over rows: what additive models gather of them, and what they predict. Twins: tests/reference."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel


@kernel
def gather(index, share, starts, weight, target, size):
    """Normal equations of all functions of one feature in one pass.

    With h_a(x_i) the hat function of entry a: G_ab = sum_i w_i h_a h_b (upper triangle), r_a = sum_i w_i h_a z_i and
    c_a = sum_i w_i h_a.
    """
    n, p = index.shape
    G, r, c = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    at, hat = np.empty(2 * p, np.int64), np.empty(2 * p)
    for i in range(n):
        m = 0
        for j in range(p):
            if index[i, j] < 0:
                continue
            a, u = starts[j] + index[i, j], share[i, j]
            at[m], hat[m] = a, 1.0 - u
            m += 1
            if u > 0.0:
                at[m], hat[m] = a + 1, u
                m += 1
        for s in range(m):
            q = weight[i] * hat[s]
            r[at[s]] += q * target[i]
            c[at[s]] += q
            for t in range(s, m):
                G[at[s], at[t]] += q * hat[t]
    return G, r, c


@kernel
def gather_right(index, share, starts, weighted, size):
    """The right-hand side alone: r_a = sum_i h_a(x_i) q_i."""
    n, p = index.shape
    r = np.zeros(size)
    for i in range(n):
        for j in range(p):
            if index[i, j] < 0:
                continue
            a, u = starts[j] + index[i, j], share[i, j]
            r[a] += (1.0 - u) * weighted[i]
            if u > 0.0:
                r[a + 1] += u * weighted[i]
    return r


@kernel
def add_functions(index, share, starts, table, out):
    """Adds the functions of one feature to ``out``. Between two entries a value never leaves their range."""
    n, p = index.shape
    for i in range(n):
        total = 0.0
        for j in range(p):
            if index[i, j] < 0:
                continue
            a, u = starts[j] + index[i, j], share[i, j]
            left = table[a]
            if u > 0.0:
                right = table[a + 1]
                total += max(min(left + u * (right - left), max(left, right)), min(left, right))
            else:
                total += left
        out[i] += total


@kernel
def gather_surface(i1, u1, i2, u2, width, weight, target, band, right):
    """Normal equations of a bilinear surface, as a band matrix in lower form ``band[row - column, column]``."""
    at, hat = np.empty(4, np.int64), np.empty(4)
    for i in range(len(i1)):
        m = 0
        for a in range(2):
            va = u1[i] if a else 1.0 - u1[i]
            for b in range(2):
                v = va * (u2[i] if b else 1.0 - u2[i])
                if v > 0.0:
                    at[m], hat[m] = (i1[i] + a) * width + i2[i] + b, v
                    m += 1
        for s in range(m):
            q = weight[i] * hat[s]
            right[at[s]] += q * target[i]
            for t in range(s + 1):
                band[at[s] - at[t], at[t]] += q * hat[t]


@kernel
def gather_surface_right(i1, u1, i2, u2, width, weighted, right):
    """The right-hand side of a surface alone."""
    for i in range(len(i1)):
        for a in range(2):
            va = u1[i] if a else 1.0 - u1[i]
            for b in range(2):
                v = va * (u2[i] if b else 1.0 - u2[i])
                if v > 0.0:
                    right[(i1[i] + a) * width + i2[i] + b] += v * weighted[i]


@kernel
def add_surface(i1, u1, i2, u2, width, table, out):
    """Adds a bilinear surface to ``out``; nothing where either feature has no entry."""
    for i in range(len(i1)):
        if i1[i] < 0 or i2[i] < 0:
            continue
        for a in range(2):
            va = u1[i] if a else 1.0 - u1[i]
            for b in range(2):
                v = va * (u2[i] if b else 1.0 - u2[i])
                if v > 0.0:
                    out[i] += v * table[(i1[i] + a) * width + i2[i] + b]


@kernel
def cell_sums(first, second, width, weight, weighted, mass, total):
    """Weights and weighted residuals of the cells of two coarse axes."""
    for i in range(len(first)):
        cell = first[i] * width + second[i]
        mass[cell] += weight[i]
        total[cell] += weighted[i]


@kernel
def selected_inverse(factor):
    """Takahashi: the band of the inverse of a matrix from the band of its Cholesky factor (lower form).

    With L_j the factor's column j below its diagonal d_j, and D the inverse of the nodes that it reaches,
    Z_j = -D L_j / d_j and Z_jj = (1/d_j - L_j' Z_j) / d_j. D is kept as a window: node i in row and column i mod width.
    """
    bands, n = factor.shape
    width = max(bands - 1, 1)
    Z, D = np.zeros((bands, n)), np.zeros((width, width))
    column, found = np.empty(width), np.empty(width)
    for j in range(n - 1, -1, -1):
        d, most = factor[0, j], min(bands - 1, n - 1 - j)
        column[:] = 0.0
        found[:] = 0.0
        for m in range(1, most + 1):
            column[(j + m) % width] = factor[m, j]
        for m in range(width):
            if column[m] != 0.0:
                scale = -column[m] / d
                for k in range(width):
                    found[k] += scale * D[m, k]
        s = 0.0
        for m in range(width):
            s += column[m] * found[m]
        Z[0, j] = (1.0 / d - s) / d
        for m in range(1, most + 1):
            Z[m, j] = found[(j + m) % width]
        own = j % width  # the node that leaves the window, or the place of a node beyond the last
        for k in range(width):
            D[own, k] = found[k]
            D[k, own] = found[k]
        D[own, own] = Z[0, j]
    return Z
