"""ImageExplainer: binds a model of images to the methods. It has no logic of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.data.segments import Absent, Segmenter, check_image
from pellucid.errors import InputError
from pellucid.explanations.image_attribution import ImageAttribution
from pellucid.methods.attribution.estimators import Estimator
from pellucid.methods.attribution.masked_shap import Effort, image_shap
from pellucid.models.items import ItemModel
from pellucid.models.predictor import Link
from pellucid.runner import Run
from pellucid.runner.progress import Progress
from pellucid.text_explainer import seed, whole


class ImageExplainer:
    """See through a model of images.

    Parameters
    ----------
    f
        A function that maps images ``(n, height, width)`` or ``(n, height, width, channels)``, of the type and range of
        the explained image, to numbers ``(n,)`` or ``(n, outputs)``; or an estimator with predict_proba or predict.
    output, link, classes
        As for `TextExplainer`.
    segmenter
        What a player is: ``"slic"``, ``"quickshift"`` or ``"felzenszwalb"`` superpixels (they need the extra
        ``pellucid[images]``), rectangles of a ``"grid"``, a function that returns labels ``(height, width)`` of an image,
        or the labels themselves.
    segments
        How many segments there are, at most or about; for a grid also ``(rows, columns)``.
    absent
        What stands in place of an absent segment: ``"grey"``, its own ``"mean"`` colour, the mean colour of the
        ``"neighbours"`` (the pixels around it), a ``"blur"`` of the image, a colour of your own or another image.
        Transparency is left as it is.
    flatten
        Whether ``f`` gets each image as one row of pixels; None: where ``f`` is an estimator of so many features.
    batch
        Images per call of the model; None: as many as fit into 16 MiB.
    random_state, n_jobs, progress, checks
        As for `Explainer`.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.image_explainer import ImageExplainer
    >>> image = np.array([[0, 0, 9, 9]] * 4)
    >>> ex = ImageExplainer(lambda images: images.sum(axis=(1, 2)), segmenter="grid", segments=(1, 2), absent=0)
    >>> ex.shap(image).values
    array([[ 0., 72.]])
    """

    def __init__(
        self,
        f: Any,
        *,
        output: Any = None,
        link: Link = "identity",
        classes: Sequence[Any] | None = None,
        segmenter: Segmenter = "slic",
        segments: int | tuple[int, int] = 50,
        absent: Absent = "grey",
        flatten: bool | None = None,
        batch: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
        checks: bool = True,
    ) -> None:
        self._model = ItemModel(f, output=output, link=link, classes=classes, dress=self._dressed)
        self._flatten = flatten
        self._segmenter, self._absent = segmenter, absent
        self._segments = (
            (whole("segments", segments[0]), whole("segments", segments[1]))
            if isinstance(segments, tuple) and len(segments) == 2
            else whole("segments", segments)
        )
        self._batch = None if batch is None else whole("batch", batch)
        self._random_state = seed(random_state)
        self._n_jobs, self._progress, self._checks = n_jobs, progress, checks

    def _dressed(self, images: AnyArray) -> AnyArray:
        pixels = int(np.prod(images.shape[1:]))
        rows = self._model.adapter.n_features == pixels if self._flatten is None else self._flatten
        return images.reshape(len(images), pixels) if rows else images

    @overload
    def shap(
        self,
        image: AnyArray,
        *,
        method: Estimator = ...,
        budget: int | None = ...,
        tolerance: float | None = ...,
        interactions: bool = ...,
    ) -> ImageAttribution: ...
    @overload
    def shap(
        self,
        image: list[AnyArray] | tuple[AnyArray, ...],
        *,
        method: Estimator = ...,
        budget: int | None = ...,
        tolerance: float | None = ...,
        interactions: bool = ...,
    ) -> list[ImageAttribution]: ...
    def shap(
        self,
        image: Any,
        *,
        method: Estimator = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        interactions: bool = False,
    ) -> ImageAttribution | list[ImageAttribution]:
        """Contributions of the segments to the prediction of an image: Shapley values of the game in which segments are absent.

        A list of images gives a list of results. ``method``, ``budget``, ``tolerance`` and ``interactions`` are those of
        `Explainer.shap`; a budget counts images.

        It misleads where painted segments look like something to the model, and where other segments would tell
        another story; the result's `caveats` say whether they do.
        """
        effort = Effort(method, budget, tolerance, interactions)
        if isinstance(image, list | tuple):
            return [self._shap(each, effort) for each in image]
        if np.ndim(image) == 4:
            raise InputError(
                "image has 4 dimensions; give one image, or a list of images: ex.shap(list(images))."
            )
        return self._shap(image, effort)

    def _shap(self, image: Any, effort: Effort) -> ImageAttribution:
        run = Run(
            n_jobs=self._n_jobs, progress=self._progress, what="asking for images",
            seed=self._random_state, checks=self._checks,
        )  # fmt: skip
        return image_shap(
            self._model, check_image(image), segmenter=self._segmenter, segments=self._segments,
            absent=self._absent, effort=effort, batch=self._batch, run=run,
        )  # fmt: skip
