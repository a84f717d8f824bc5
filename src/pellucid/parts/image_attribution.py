"""ImageAttribution: how a prediction is shared out among the segments of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.store import stored
from pellucid.parts.attribution import MaskedAttribution

_ABSENT = {
    "grey": "grey",
    "mean": "the mean colour of the segment itself",
    "neighbours": "the mean colour of the pixels around the segment",
    "blur": "a blurred image",
    "colour": "one colour",
    "image": "another image",
}
_PAINTED = {
    "grey": "grey",
    "mean": "in its mean colour",
    "neighbours": "in the colour around it",
    "blur": "blurred",
    "colour": "in one colour",
    "image": "of another image",
}


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageAttribution(MaskedAttribution):
    """Contributions ``values`` (1, segments) of the segments of ``image``, with outputs last if there are several.

    ``segments`` (height, width) holds, for each pixel, the number of its segment in `players`. ``absent`` says what
    takes the place of an absent segment; ``base`` is the prediction with all of them absent.
    """

    image: AnyArray
    segments: IntArray
    absent: str = "grey"

    def comparable_names(self, others: Sequence[Attribution]) -> tuple[str, ...]:
        if any(not isinstance(o, ImageAttribution) or not np.array_equal(self.segments, o.segments) for o in others):
            raise InputError(
                "the images have different segments, which cannot be compared; explain all with the same segments"
                " (segmenter='grid')."
            )
        return self.feature_names

    @property
    def part(self) -> str:
        return "segment"

    @property
    def starting_point(self) -> str:
        if self.against:
            return f"the prediction of {self.against}"
        return f"the prediction for the image with every segment {_PAINTED[self.absent]}"

    def absence(self) -> str:
        return (
            f"In place of an absent segment stands {_ABSENT[self.absent]}, which makes images that no camera took; "
            f"other segments than these {len(self.players)} would share the prediction out differently."
        )

    @property
    def centres(self) -> FloatArray:
        """Row and column of the middle of each segment, as shares of height and width."""
        sizes = np.bincount(self.segments.ravel())
        height, width = self.segments.shape
        rows, columns = np.indices(self.segments.shape)
        sums = [np.bincount(self.segments.ravel(), axis.ravel() + 0.5) for axis in (rows, columns)]
        return np.asarray(np.stack(sums, axis=1) / sizes[:, None] / [height, width])

    def map(self, output: str | None = None) -> FloatArray:
        """The contribution of the segment of every pixel ``(height, width)``, to one output.

        After `sparse`, NaN in the segments that were summed; after `group`, the sum in every segment of the group.
        """
        one = self.for_output(self.output_names[0] if output is None else output)
        values = one.values[0].copy()
        if self.others is not None:
            values[self.others] = np.nan
        return np.asarray(values[self.entry_of][self.segments])

    def label(self, j: int, i: int) -> str:
        del i
        name = self.feature_names[j]
        if self.others == j or self.grouped(j):
            return name
        down, across = self.centres[self.players.index(name)]
        return f"{name} ({_place(float(down), float(across))})"

    def described(self) -> dict[str, AnyArray]:
        sizes, height_width = np.bincount(self.segments.ravel()), self.segments.shape
        weights = [np.where(self.entry_of == j, sizes, 0) for j in range(len(self.feature_names))]
        middle = [np.average(self.centres, axis=0, weights=each) * height_width for each in weights]
        return {
            "segment": np.array(self.feature_names, dtype=object),
            "pixels": np.array([int(each.sum()) for each in weights], dtype=np.intp),
            "y": np.array([y for y, _ in middle]),
            "x": np.array([x for _, x in middle]),
        }


def _place(down: float, across: float) -> str:
    """Where on the image, in words."""
    row = ("top", "middle", "bottom")[min(int(3 * down), 2)]
    column = ("left", "centre", "right")[min(int(3 * across), 2)]
    return "centre" if (row, column) == ("middle", "centre") else f"{row} {column}"
