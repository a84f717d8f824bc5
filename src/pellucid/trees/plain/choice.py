"""Whether the kernels can be compiled here.

They are used wherever they can be, also for a single row: numpy and the kernels agree to rounding, not to the bit, and
a row must have the same numbers whatever it is explained with.
"""

from __future__ import annotations


def can_compile() -> bool:
    """Whether numba is there and compiles."""
    try:
        from numba import config
    except ImportError:
        return False
    return not config.DISABLE_JIT
