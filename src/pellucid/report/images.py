"""The report of a model of images: how good it is, and why it predicts what it predicts in some of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.parts.attribution import PartAttribution
from pellucid.parts.model import Models, WholeModel
from pellucid.report.cards import Plain
from pellucid.report.page import check_path, write
from pellucid.report.singles import care_section, explain, single_section
from pellucid.report.whole_document import document
from pellucid.report.wholes import choose, look, model_section
from pellucid.report.work import Work

if TYPE_CHECKING:
    from pellucid.parts.image_explainer import ImageExplainer

_NUMBERS = 5  # of segments, written on the image


def image_report(
    explainer: ImageExplainer, models: Models, path: str | Path, images: Sequence[AnyArray], y: Any, title: str | None
) -> Path:
    """Write what is worth knowing about a model of images to one HTML file, and return its path."""
    target = check_path(path)
    return write(build_image_report(explainer, models, images, y, title), target)


def build_image_report(
    explainer: ImageExplainer, models: Models, images: Sequence[AnyArray], y: Any = None, title: str | None = None
) -> Plain:
    """The content of the report as plain data."""
    work = Work(0, None)
    seen = look(models, images, y, "image", _ask, work)
    score, scored = model_section(seen, work)
    singles = explain(explainer, images, seen, choose(seen), work)
    care = care_section(seen, singles, singles[0].found.parts.absence())
    intro = [
        "Images are numbered from 0. Contributions are Shapley values (SHAP) of the segments: they start from the"
        " prediction for the image with every segment absent and add up to the prediction. LIME is a local surrogate of"
        " at most six segments; an anchor is a set of segments that fixes the prediction."
    ]
    sections = [care, score, single_section(seen, singles, _picture, intro)]
    shapes = sorted({np.shape(image)[:2] for image in images})
    size = {"label": "Pixels", "value": f"{shapes[0][1]} x {shapes[0][0]}{' and others' if len(shapes) > 1 else ''}"}
    return document(title, seen, [size], scored, sections, work)


def _ask(model: WholeModel, images: list[AnyArray]) -> FloatArray:
    """All at once where they are of one size, as a model wants them."""
    if len({(image.shape, image.dtype) for image in images}) == 1:
        return model.raw(np.stack(images), len(images))
    return np.concatenate([model.raw(image[None].copy(), 1) for image in images])


def _picture(one: PartAttribution) -> dict[str, Any]:
    """The image beside its coloured segments."""
    del one
    return {"options": {"numbers": _NUMBERS}, "adds": {}}
