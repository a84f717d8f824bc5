"""An attack by gradients: the image, what is added to it, and the image that fools the model."""

from __future__ import annotations

import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray
from pellucid.charts.layout import grid, told
from pellucid.charts.png import data_uri
from pellucid.charts.text import caveat_note
from pellucid.explanations.option import PlotOptions
from pellucid.parts.attack import ImageAttack
from pellucid.parts.chart_style import painted
from pellucid.parts.image_chart import as_bytes, enlarged, panel, shown_image
from pellucid.parts.segments import colours, value_range
from pellucid.words import number, percent

_SIDE = 240.0
_GREY = 128


def body(found: ImageAttack, options: PlotOptions) -> ChartType:
    """Three pictures beside each other; the change is enhanced so that it can be seen."""
    height, width = found.image.shape[:2]
    side = options.width or _SIDE
    size = (side * width / max(height, width), side * height / max(height, width))
    both = as_bytes(np.concatenate([found.image, found.changed]))  # on one scale, so that what is the same looks so
    own, changed = both[:height], both[height:]
    words = [
        f"the image: {found.said[0]}",
        f"the change, {number(enhanced_by(found))} times enhanced",
        f"together: {found.said[1]}",
    ]
    pictures = [own, change_picture(found), changed]
    shown = range(3) if found.valid and found.distance > 0 else range(1)
    views = [panel(shown_image(data_uri(enlarged(pictures[i], size)), size), words[i], size[0]) for i in shown]
    share = percent(found.noise) if found.noise else "none"
    tried = f"{share} of {found.draws} random changes of this size do it" if found.draws else ""
    norm = "largest change" if found.norm == "linf" else "root mean square change"
    notes = [
        f"{norm} {percent(found.distance)} of the range" if found.valid else "",
        tried,
        _colours(found) if len(shown) > 1 else "",
        caveat_note(found),
    ]
    what = "Every pixel changes a little, along the gradient of the model"
    return told(grid(views, columns=3, column=18), found, options, what, notes, 3 * (size[0] + 18))


def _colours(found: ImageAttack) -> str:
    return "blue darker, orange lighter" if colours(found.image) == 1 else "grey: no change"


def enhanced_by(found: ImageAttack) -> float:
    """By how much the change is multiplied so that the largest one is full colour."""
    low, high = value_range(found.image)
    most = float(np.abs(found.values).max(initial=0.0))
    return (high - low) / most if most > 0 else 1.0


def change_picture(found: ImageAttack) -> AnyArray:
    """The change as a picture: blue and orange of grey images, around grey of colours."""
    change = found.values if found.values.ndim == 3 else found.values[..., None]
    change = change[..., : colours(found.image)]
    most = float(np.abs(change).max(initial=0.0)) or 1.0
    if change.shape[2] == 1:
        return painted(change[..., 0], most)
    shown = np.rint(_GREY + 127 * change[..., :3] / most).astype(np.uint8)
    return shown if shown.shape[2] == 3 else np.concatenate([shown, shown[..., :1]], axis=2)
