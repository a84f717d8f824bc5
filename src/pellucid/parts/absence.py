"""What stands for absence, by name, and what else could."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.parts.segments import Absent, value_range


def absent_name(absent: Absent, image: AnyArray) -> str:
    """The name of what stands in place of an absent segment: that of the option, "image" or "colour"."""
    if isinstance(absent, str):
        return absent
    given = np.asarray(absent)
    return "image" if given.ndim > 1 and given.shape == image.shape else "colour"


def plain_colours(image: AnyArray, absent: Absent) -> dict[str, Absent]:
    """Colours in which nothing is to be seen, for comparison: grey, the darkest and the lightest."""
    low, high = value_range(image)
    plain: dict[str, Absent] = {"'grey'": "grey", f"{low:g}": low, f"{high:g}": high}
    if not isinstance(absent, str):
        return plain
    return {name: colour for name, colour in plain.items() if colour != absent}
