"""An image changed a little in every pixel so that the model predicts something else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.explanations import Explanation
from pellucid.explanations.store import stored
from pellucid.parts.segments import value_range
from pellucid.words import counted, number, percent


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageAttack(Explanation):
    """The smallest change of all pixels together that was found to make the model say something else.

    ``changed`` is the image as the model saw it, `values` its difference from ``image``, pixel by pixel, in
    the image's own units. ``distance`` is the size of the difference by the ``norm``, as a share of the range from
    black to white: the largest change ("linf") or the root of the mean square ("l2"). ``valid`` says whether the
    ``target`` is reached; if not, ``changed`` is the image itself and ``distance`` infinite. ``prediction`` and
    ``changed_prediction`` (outputs,) are the model's own, ``said`` the same in words. ``noise`` is the share of
    ``draws`` random changes of the same size that reach the target, too. ``gradients`` says where derivatives come
    from: the "model" or "differences".
    """

    image: AnyArray
    changed: AnyArray
    distance: float
    norm: str
    valid: bool
    target: str
    prediction: FloatArray
    changed_prediction: FloatArray
    said: tuple[str, str]
    noise: float
    draws: int
    gradients: str
    flat: bool = False

    @property
    def already(self) -> bool:
        """Whether the model says what is wanted of the image as it is."""
        return self.valid and self.distance == 0

    def columns(self) -> dict[str, AnyArray]:
        """One line per pixel and channel: ``y``, ``x``, of colours ``channel``, the ``value``, and what it is
        ``changed`` to.
        """
        places = np.indices(self.image.shape).reshape(self.image.ndim, -1)
        names = ("y", "x", "channel")[: self.image.ndim]
        return {**dict(zip(names, places, strict=True)), "value": self.image.ravel(), "changed": self.changed.ravel()}

    def findings(self) -> list[str]:
        if self.already:
            return [
                f"Nothing has to change: the model already predicts {self.said[0]}, which meets the target"
                f" ({self.target})."
            ]
        if not self.valid:
            return [f"No change along the gradients was found that reaches the target ({self.target}).", *self._why()]
        steps = self.settings["steps"]
        return [
            f"{self._how_much()} fools the model: it predicts {self.said[1]} instead of {self.said[0]}.",
            f"No smaller change was found along the gradients ({self._norm()}, {counted(steps, 'step')});"
            " that is no proof that there is none.",
            *self._against_noise(),
        ]

    def _norm(self) -> str:
        return "largest change of a pixel" if self.norm == "linf" else "root mean square of the changes"

    def _how_much(self) -> str:
        low, high = value_range(self.image)
        levels = f" ({number(self.distance * (high - low))} of 255 levels)" if self.image.dtype == np.uint8 else ""
        size = f"{percent(self.distance)} of the range from black to white{levels}"
        if self.norm == "linf":
            return f"Changing each pixel by at most {size}"
        return f"Changing pixels by {size} (root mean square)"

    def _against_noise(self) -> list[str]:
        if not self.draws:
            return []
        share = round(self.noise * self.draws)
        what = f"Of {counted(self.draws, 'random change')} of the same size"
        if not share:
            return [f"{what} none does: it is the direction that fools the model, not the amount."]
        does = "does" if share == 1 else "do"
        return [f"{what} {share} {does}, too: the image is near the border of the model's decision anyway."]

    def _why(self) -> list[str]:
        if self.flat:
            return [
                "The derivatives vanish at this image: the model is saturated or piecewise constant, so gradients"
                " give no direction.",
                "Explain the scores before the softmax, or use kind='pixel' or kind='segment'.",
            ]
        return ["Raise steps= or budget=, relax the target, or use kind='pixel' or kind='segment'."]
