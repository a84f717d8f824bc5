"""Columns given others, the slow and obvious way."""

import numpy as np
from scipy.special import ndtr, ndtri


def given_by_rejection(joint, row, known, n, near, generator):
    """Of n rows drawn from the whole distribution those whose known values are near the row's: within a share ``near``
    of the drawn rows."""
    shares = generator.random((n, joint.width))
    scores = ndtri(generator.random((n, len(joint.base)))) @ np.linalg.cholesky(joint.copula.correlation).T
    rows = joint.sample(shares, ndtr(scores))
    apart = np.abs(rows[:, known] - row[known]).max(axis=1)
    return rows[apart <= near * rows[:, known].std()]
