"""The game of an image: where a segment is absent, the pixels of another image stand."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, IntArray
from pellucid.parts.game import MaskedGame
from pellucid.parts.model import ItemModel
from pellucid.runner import Run

_MEMORY = 16 * 2**20  # bytes of images handed to the model at once


class ImageGame(MaskedGame):
    """The segments of one image as players; ``absent`` is the image in which nobody is there.

    The model gets images of the same type and range as the one that is explained.
    """

    def __init__(
        self,
        model: ItemModel,
        image: AnyArray,
        segments: IntArray,
        absent: AnyArray,
        run: Run,
        batch: int | None = None,
    ) -> None:
        self._image, self._segments, self._absent = image, segments, absent
        changed = image != absent
        changed = changed if image.ndim == 2 else changed.any(axis=2)
        self._active = np.bincount(segments.ravel(), changed.ravel()) > 0
        fitting = max(1, _MEMORY // max(image.nbytes, 1))
        super().__init__(model, int(segments.max()) + 1, run, fitting if batch is None else batch)

    @property
    def active(self) -> BoolArray:
        return self._active[None]

    def masked(self, coalitions: BoolArray) -> AnyArray:
        known = coalitions[:, self._segments]
        known = known if self._image.ndim == 2 else known[..., None]
        return np.where(known, self._image[None], self._absent[None])

    def distinct(self, coalitions: BoolArray) -> tuple[IntArray, IntArray]:
        _, asked, place = np.unique(coalitions & self._active, axis=0, return_index=True, return_inverse=True)
        return asked, place.reshape(-1)
