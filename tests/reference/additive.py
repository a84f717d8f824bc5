"""Slow twin of the additive model's fit: dense design matrices and penalties written out, numpy's own solvers."""

from __future__ import annotations

import itertools

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.axes import Axis


def hats(axis: Axis, codes: FloatArray) -> FloatArray:
    """The design matrix of one feature, by interpolation of unit vectors."""
    matrix = np.zeros((len(codes), axis.size))
    for i, code in enumerate(codes):
        if np.isnan(code):
            if axis.missing:
                matrix[i, -1] = 1.0
        elif axis.nominal:
            matrix[i, : axis.present] = axis.points == code
        else:
            for k in range(axis.present):
                matrix[i, k] = np.interp(code, axis.points, np.eye(axis.present)[k])
    return matrix


def penalty(axis: Axis, tau: FloatArray) -> FloatArray:
    """The matrix S of one feature, from its definition b' S b."""
    S = np.zeros((axis.size, axis.size))
    if axis.nominal:
        centre = np.eye(axis.size) - 1.0 / axis.size
        return centre.T @ centre
    for k in range(axis.present - 1):
        d = np.zeros(axis.size)
        d[k], d[k + 1] = -1.0, 1.0
        S += tau[k] * np.outer(d, d)
    if axis.missing:
        S[-1, -1] = 0.1
    return S


def penalised(
    H: list[FloatArray], S: list[FloatArray], z: FloatArray, w: FloatArray
) -> tuple[float, list[FloatArray], FloatArray]:
    """Intercept and functions that minimise sum_i w_i (z_i - b_0 - sum_j f_j)^2 + sum_j b' S_j b, each of mean zero, and
    the inverse of the matrix of the fit; by a basis of the entries that have mean zero.
    """
    bases = [_mean_zero(w @ each) for each in H]
    A = np.hstack([np.ones((len(z), 1)), *(each @ basis for each, basis in zip(H, bases, strict=True))])
    P = np.zeros((A.shape[1], A.shape[1]))
    starts = np.cumsum([1, *(basis.shape[1] for basis in bases)])
    own = [slice(a, b) for a, b in itertools.pairwise(starts)]
    for at, basis, each in zip(own, bases, S, strict=True):
        P[at, at] = basis.T @ each @ basis
    inverse = np.linalg.inv(A.T @ (w[:, None] * A) + P)
    found = inverse @ (A.T @ (w * z))
    B = np.zeros((sum(each.shape[1] for each in H), A.shape[1]))
    ends = np.cumsum([0, *(each.shape[1] for each in H)])
    for at, basis, a, b in zip(own, bases, ends[:-1], ends[1:], strict=True):
        B[a:b, at] = basis
    return float(found[0]), np.split(B @ found, ends[1:-1]), B @ inverse @ B.T


def _mean_zero(mass: FloatArray) -> FloatArray:
    """An orthonormal basis of the entries with mass' b = 0."""
    return np.linalg.svd(mass[None])[2][1:].T


def restricted(
    H: list[FloatArray], S: list[FloatArray], z: FloatArray, w: FloatArray, lam: FloatArray, phi: float
) -> float:
    """Minus twice the restricted log-likelihood by lam, up to what does not depend on it: the functions are random with
    the precision lam S / phi, and integrated out.
    """
    bases = [_mean_zero(w @ each) for each in H]
    covariance = np.diag(phi / w)
    for each, basis, s, strength in zip(H, bases, S, lam, strict=True):
        Z = each @ basis
        covariance = covariance + phi / strength * Z @ np.linalg.inv(basis.T @ s @ basis) @ Z.T
    inverse = np.linalg.inv(covariance)
    ones = np.ones(len(z))
    known = ones @ inverse @ ones
    away = z - (ones @ inverse @ z) / known
    return float(np.linalg.slogdet(covariance)[1] + np.log(known) + away @ inverse @ away)
