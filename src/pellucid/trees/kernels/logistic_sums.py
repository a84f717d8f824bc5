"""The effects of players on the logistic of a sum, averaged over coalitions by their waves (see `linked_sums`)."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.simd import VECTOR_BYTES, fused, fused_less, load, splat, store


@kernel
def add_waves(turn, size, points, weights, out):
    """Adds to ``out`` (blocks, players, 8) the waves of eight background rows at a time.

    ``turn`` (blocks, players + 1, 2, 8) has cosine and sine of half the first wave's angle for every player's step, and
    last of its angle at the middle of the sums; ``size`` the size of each wave, ``points`` and ``weights`` the times s.
    """
    blocks, players = len(turn), turn.shape[1] - 1
    wave, before = np.empty((players + 1, 2, 8)), np.empty((players, 2, 8))
    w, b = wave.ctypes.data, before.ctypes.data
    pair = 2 * VECTOR_BYTES
    for block in range(blocks):
        first = turn.ctypes.data + block * (players + 1) * pair
        target = out.ctypes.data + block * players * VECTOR_BYTES
        for j in range(players + 1):
            store(w + j * pair, splat(1.0))
            store(w + j * pair + VECTOR_BYTES, splat(0.0))
        for n in range(len(size)):
            for j in range(players + 1):
                _turned(w + j * pair, first + j * pair)
            for q in range(len(points)):
                s = splat(points[q])
                re, im = splat(1.0), splat(0.0)
                for j in range(players):  # all players before j
                    at = b + j * pair
                    store(at, re)
                    store(at + VECTOR_BYTES, im)
                    x, y = load(w + j * pair), s * load(w + j * pair + VECTOR_BYTES)
                    re, im = fused_less(im, y, re * x), fused(re, y, im * x)
                re, im = splat(2.0 * weights[q] * size[n]) * load(w + players * pair), splat(0.0)
                for j in range(players - 1, -1, -1):  # times all players after j
                    at = b + j * pair
                    x, sine = load(w + j * pair), load(w + j * pair + VECTOR_BYTES)
                    others = fused_less(load(at + VECTOR_BYTES), im, load(at) * re)
                    place = target + j * VECTOR_BYTES
                    store(place, fused(others, sine, load(place)))
                    y = s * sine
                    re, im = fused_less(im, y, re * x), fused(re, y, im * x)


@inner
def _turned(at, by):
    """The next wave: its angle is larger by that of the first."""
    re, im = load(at), load(at + VECTOR_BYTES)
    x, y = load(by), load(by + VECTOR_BYTES)
    store(at, fused_less(im, y, re * x))
    store(at + VECTOR_BYTES, fused(re, y, im * x))
