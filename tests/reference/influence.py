"""Influence by its definition: fit again without the row. Slow and obvious; nothing of pellucid is used."""

import numpy as np


def least_squares(X, y, alpha=0.0, w=None):
    """Intercept and slopes that minimise sum w (y - a - X b)^2 + alpha |b|^2."""
    w = np.ones(len(X)) if w is None else w
    centre, level = np.average(X, axis=0, weights=w), np.average(y, weights=w)
    root = np.sqrt(w)[:, None]
    A = np.vstack([(X - centre) * root, np.sqrt(alpha) * np.eye(X.shape[1])])
    b = np.linalg.lstsq(A, np.append((y - level) * root[:, 0], np.zeros(X.shape[1])), rcond=None)[0]
    return np.append(level - centre @ b, b)


def dfbeta(X, y, alpha=0.0):
    """theta minus theta without each row."""
    full = least_squares(X, y, alpha)
    return np.array([full - least_squares(np.delete(X, i, 0), np.delete(y, i), alpha) for i in range(len(X))])


def cook(X, y):
    """sum_j (yhat_j - yhat_j(-i))^2 / (p MSE), least squares."""
    A = np.column_stack([np.ones(len(X)), X])
    e = y - A @ least_squares(X, y)
    p = A.shape[1]
    mse = (e @ e) / (len(y) - p)
    return np.array([np.square(A @ change).sum() / (p * mse) for change in dfbeta(X, y)])


def boosted_scores(leaf, y, at, w, *, rate, l2, base, logistic):
    """Scores of other rows by boosted trees whose splits are given: one leaf, one tree after the other."""
    score, out = np.full(len(y), base), np.full(len(at), base)
    for t in range(leaf.shape[1]):
        p = 1 / (1 + np.exp(-score)) if logistic else score
        g, h = p - y, p * (1 - p) if logistic else np.ones(len(y))
        value = {}
        for name in set(leaf[:, t]):
            there = (leaf[:, t] == name) & (w > 0)
            value[name] = -rate * (w * g)[there].sum() / ((w * h)[there].sum() + l2) if there.any() else 0.0
        score = score + np.array([value[name] for name in leaf[:, t]])
        out = out + np.array([value[name] for name in at[:, t]])
    return out
