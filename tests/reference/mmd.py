"""Maximum mean discrepancy, witness, greedy prototypes and criticisms, k-medoids: plain loops from the definitions."""

import math
from itertools import combinations

import numpy as np


def rbf(x, z, width):
    return math.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * width**2))


def mmd2(Z, X, kernel, weights=None):
    w = [1.0] * len(X) if weights is None else list(weights)
    total = sum(w)
    own = sum(kernel(a, b) for a in Z for b in Z) / len(Z) ** 2
    between = sum(w[j] * kernel(z, X[j]) for z in Z for j in range(len(X))) / (len(Z) * total)
    all_rows = sum(w[i] * w[j] * kernel(X[i], X[j]) for i in range(len(X)) for j in range(len(X))) / total**2
    return own - 2 * between + all_rows


def witness(x, Z, X, kernel):
    return sum(kernel(x, row) for row in X) / len(X) - sum(kernel(x, z) for z in Z) / len(Z)


def greedy(X, m, kernel, weights=None):
    """Positions of the prototypes, each the one that lowers MMD2 most."""
    chosen = []
    for _ in range(m):
        left = [i for i in range(len(X)) if i not in chosen]
        values = {i: mmd2([X[j] for j in [*chosen, i]], X, kernel, weights) for i in left}
        least = min(values.values())
        chosen.append(next(i for i in left if values[i] <= least + 1e-12))
    return chosen


def best(X, m, kernel):
    """The least MMD2 of any m rows."""
    return min(mmd2([X[i] for i in rows], X, kernel) for rows in combinations(range(len(X)), m))


def weighted_mmd2(Z, X, kernel):
    """The least MMD2 over weights of Z that are not below 0 and have the sum 1."""
    kappa = np.array([sum(kernel(z, x) for x in X) / len(X) for z in Z])
    gram = np.array([[kernel(a, b) for a in Z] for b in Z])
    return _least(gram, kappa) + sum(kernel(a, b) for a in X for b in X) / len(X) ** 2


def best_weighted(X, m, kernel):
    """The least MMD2 of any m rows with their best weights."""
    gram = np.array([[kernel(a, b) for a in X] for b in X])
    sets = map(list, combinations(range(len(X)), m))
    return min(_least(gram[np.ix_(rows, rows)], gram[rows].mean(axis=1)) for rows in sets) + gram.mean()


def _least(gram, kappa):
    """The least w'Kw - 2w'kappa: of every set of weights above 0, the exact solution."""
    least = math.inf
    for size in range(1, len(gram) + 1):
        for some in map(list, combinations(range(len(gram)), size)):
            sides = np.block([[gram[np.ix_(some, some)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            w = np.linalg.lstsq(sides, np.append(kappa[some], 1.0), rcond=None)[0][:-1]
            if w.min() >= -1e-12:
                least = min(least, w @ gram[np.ix_(some, some)] @ w - 2 * w @ kappa[some])
    return least


def criticisms(X, chosen, count, kernel):
    """Greedily the rows with the largest sum of |witness| and log det of their kernel."""
    Z, found = [X[i] for i in chosen], []
    for _ in range(count):
        left = [i for i in range(len(X)) if i not in chosen and i not in found]

        def worth(i, found=tuple(found)):
            rows = [X[j] for j in (*found, i)]
            gram = np.array([[kernel(a, b) for a in rows] for b in rows])
            size, log_det = np.linalg.slogdet(gram)
            return sum(abs(witness(x, Z, X, kernel)) for x in rows) + (log_det if size > 0 else -np.inf)

        values = {i: worth(i) for i in left}
        most = max(values.values())
        found.append(next(i for i in left if values[i] >= most - 1e-9))
    return found


def medoid_loss(X, rows):
    return sum(min(math.dist(x, X[i]) for i in rows) for x in X)


def best_medoids(X, m):
    return min(medoid_loss(X, rows) for rows in combinations(range(len(X)), m))
