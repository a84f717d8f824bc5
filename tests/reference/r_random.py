"""R's default random numbers: Mersenne Twister seeded by ``set.seed``, uniforms, and normals by inversion.

The R manual, ?Random. ``sample`` (rejection sampling) is not here.
"""

import numpy as np
from scipy.special import ndtri

_TO_UNIT = 2.3283064365386963e-10  # 2^-32
_BIG = 134217728  # 2^27


class RRandom:
    """``RRandom(1).rnorm(3)`` is ``set.seed(1); rnorm(3)``."""

    def __init__(self, seed):
        for _ in range(50):
            seed = (69069 * seed + 1) % 2**32
        words = []
        for _ in range(625):
            seed = (69069 * seed + 1) % 2**32
            words.append(seed)
        # The first word would be the position in the block; set.seed starts at its end (624).
        self._twister = np.random.MT19937()
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words[1:], dtype=np.uint32), "pos": 624},
        }

    def runif(self, n, low=0.0, high=1.0):
        """n uniforms in the open interval."""
        unit = self._twister.random_raw(n).astype(np.float64) * _TO_UNIT
        unit = np.clip(unit, 0.5 * _TO_UNIT, 1.0 - 0.5 * _TO_UNIT)
        return low + (high - low) * unit

    def rnorm(self, n, mean=0.0, sd=1.0):
        """n normals; each takes two uniforms for 59 bits."""
        pairs = self.runif(2 * n).reshape(n, 2)
        u = np.floor(_BIG * pairs[:, 0]) + pairs[:, 1]
        return mean + sd * ndtri(u / _BIG)
