"""ImageExplainer: binds a model of images to the methods. It has no logic of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.checks import flag, is_whole, one_of, optional, reporting, seed, whole, workers
from pellucid.errors import InputError
from pellucid.explanations import Neighbors, Prototypes
from pellucid.methods.attribution.estimators import Effort, Estimator
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.methods.examples.prototypes import By, Method
from pellucid.methods.local.surrogate.fitting import Model
from pellucid.methods.local.surrogate.selection import Select
from pellucid.models.predictor import Link
from pellucid.parts.alternatives import by_pixel, pixel_effort, pixel_labels, pixels_instead
from pellucid.parts.anchor import AnchorEffort, AnchorOptions, Corpus, Perturb, part_anchor
from pellucid.parts.answers import ImageCounterfactuals
from pellucid.parts.attack import ImageAttack
from pellucid.parts.attribution import ImageAttribution
from pellucid.parts.counterfactual import AnswerEffort, AnswerOptions, part_counterfactuals
from pellucid.parts.examples import images_of, part_neighbors, part_prototypes
from pellucid.parts.game import ImageGames
from pellucid.parts.gradient_attack import AttackEffort, gradient_attack
from pellucid.parts.lime import Draw, LimeEffort, LimeOptions, PartDistance, part_lime
from pellucid.parts.local import LocalImageAttribution
from pellucid.parts.model import Models
from pellucid.parts.rule import ImageRule
from pellucid.parts.segments import Absent, Segmenter, check_image
from pellucid.parts.shap import ShapOptions, part_shap
from pellucid.runner import Run
from pellucid.runner.progress import Progress

T = TypeVar("T")


class _Anchor(AnchorOptions, total=False):
    """The options of `ImageExplainer.anchor`."""

    corpus: Sequence[AnyArray] | None


class _Attack(AnswerOptions, total=False):
    """The options of `ImageExplainer.adversarial`."""

    kind: Literal["segment", "pixel"]


class _Gradient(TypedDict, total=False):
    """The options of `ImageExplainer.adversarial` along gradients."""

    target: Any
    norm: Literal["linf", "l2"]
    steps: int
    budget: int | None


class ImageExplainer:
    """See through a model of images.

    Parameters
    ----------
    f
        A function that maps images ``(n, height, width)`` or ``(n, height, width, channels)``, of the type and range of
        the explained image, to numbers ``(n,)`` or ``(n, outputs)``; or an estimator with predict_proba or predict.
    output, link, class_names
        As for `TextExplainer`.
    segmenter
        What a player is: ``"slic"``, ``"quickshift"`` or ``"felzenszwalb"`` superpixels (they need the extra
        ``pellucid[images]``), rectangles of a ``"grid"``, a function that returns labels ``(height, width)`` of an
        image, or the labels themselves.
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
    >>> from pellucid.parts.image_explainer import ImageExplainer
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
        class_names: Sequence[Any] | None = None,
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
        self._models = Models.of(f, output, link, class_names, self._dressed)
        self._flatten = optional(flag, "flatten", flatten)
        self._segmenter, self._absent = segmenter, absent
        self._segments = (
            (whole("segments", segments[0]), whole("segments", segments[1]))
            if isinstance(segments, tuple) and len(segments) == 2
            else whole("segments", segments)
        )
        self._batch = None if batch is None else whole("batch", batch)
        self._run = partial(
            Run,
            n_jobs=workers(n_jobs),
            progress=reporting(progress),
            what="calling the model on images",
            seed=seed(random_state),
            checks=flag("checks", checks),
        )

    def __repr__(self) -> str:
        how = self._absent if isinstance(self._absent, str | int | float) else "colours of your own"
        return f"{self._models.introduction('ImageExplainer')}\n  absent    segments are replaced by {how}"

    def _dressed(self, images: AnyArray) -> AnyArray:
        pixels = int(np.prod(images.shape[1:]))
        rows = self._models.explained.adapter.n_features == pixels if self._flatten is None else self._flatten
        return images.reshape(len(images), pixels) if rows else images

    @overload
    def shap(self, image: AnyArray, **options: Unpack[ShapOptions]) -> ImageAttribution: ...
    @overload
    def shap(
        self, image: list[AnyArray] | tuple[AnyArray, ...], **options: Unpack[ShapOptions]
    ) -> list[ImageAttribution]: ...
    def shap(
        self,
        image: Any,
        *,
        method: Estimator = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        interactions: bool | Index = False,
    ) -> ImageAttribution | list[ImageAttribution]:
        """Contributions of the segments to the prediction of an image (SHAP): Shapley values of the game in which
        segments are absent.

        A list of images gives a list of results. ``method``, ``budget``, ``tolerance`` and ``interactions`` are those
        of `Explainer.shap`; a budget counts images.

        It misleads where painted segments look like something to the model, and where other segments would tell
        another story; the result's `caveats` say whether they do.
        """
        effort = Effort(method, budget, tolerance, interactions)

        def one(games: ImageGames) -> ImageAttribution:
            return part_shap(ImageAttribution, games, self._models.explained, effort=effort, run=self._run())

        return self._each(image, "shap", one)

    @overload
    def lime(self, image: AnyArray, **options: Unpack[LimeOptions]) -> LocalImageAttribution: ...
    @overload
    def lime(
        self, image: list[AnyArray] | tuple[AnyArray, ...], **options: Unpack[LimeOptions]
    ) -> list[LocalImageAttribution]: ...
    def lime(
        self,
        image: Any,
        *,
        features: int = 6,
        samples: Any = 1000,
        sampler: Draw = "count",
        kernel: Any = "share",
        distance: PartDistance = "cosine",
        width: Any = "default",
        model: Model = "linear",
        select: Select = "auto",
        tolerance: float | None = None,
    ) -> LocalImageAttribution | list[LocalImageAttribution]:
        """A few segments and their weights: a local surrogate that imitates the model on variants of an image (LIME).

        The options are those of `TextExplainer.lime`, with segments instead of words; ``distance="pixels"`` is the root
        mean square change of the pixels, 1 when everything is absent.

        The weights start from the local model's answer with every segment absent and lead to its answer for the image.
        It misleads where segments work only together, where another neighbourhood, other segments or another ``absent``
        give other weights; the result's `fidelity`, `width_search` and `caveats` say so.

        >>> import numpy as np
        >>> from pellucid.parts.image_explainer import ImageExplainer
        >>> image = np.array([[0, 0, 9, 9]] * 4)
        >>> ex = ImageExplainer(lambda images: images.sum(axis=(1, 2)), segmenter="grid", segments=(1, 2), absent=0)
        >>> ex.lime(image).values.round(6)
        array([[ 0., 72.]])
        """
        effort = LimeEffort(features, samples, sampler, kernel, distance, width, model, select, tolerance)

        def one(games: ImageGames) -> LocalImageAttribution:
            return part_lime(LocalImageAttribution, games, self._models.explained, effort=effort, run=self._run())

        return self._each(image, "lime", one)

    @overload
    def anchor(self, image: AnyArray, **options: Unpack[_Anchor]) -> ImageRule: ...
    @overload
    def anchor(self, image: list[AnyArray] | tuple[AnyArray, ...], **options: Unpack[_Anchor]) -> list[ImageRule]: ...
    def anchor(
        self,
        image: Any,
        *,
        precision: float = 0.95,
        delta: float = 0.05,
        epsilon: float = 0.05,
        corpus: Sequence[AnyArray] | None = None,
        perturb: Perturb = "absent",
        beams: int = 4,
        batch: int = 32,
        max_conditions: int | None = None,
        budget: int | None = None,
        empty_evaluations: int = 200,
        suboptimal: bool = True,
        within: Any = None,
    ) -> ImageRule | list[ImageRule]:
        """The segments that fix the prediction of an image: with them there it stays, whatever the others show (an
        anchor).

        Each other segment is absent in half of the perturbed images, or with ``perturb="corpus"`` shows another image
        of
        ``corpus`` (of the same size and type). The other options are those of `TextExplainer.anchor`. Segments of one
        image are in no other, so the coverage is only the share of perturbed images that keep those of the rule.

        It misleads where nearly all perturbed images get the prediction anyway, and where painted segments look like
        something to the model; the result's `caveats` say so.

        >>> import numpy as np
        >>> from pellucid.parts.image_explainer import ImageExplainer
        >>> image = np.array([[0, 0, 9, 9]] * 4)
        >>> bright = lambda images: (images.mean(axis=(1, 2)) > 2).astype(float)
        >>> rule = ImageExplainer(bright, segmenter="grid", segments=(2, 2), absent=0).anchor(image)
        >>> rule.players, rule.precision
        (('segment 2',), 1.0)
        """
        effort = AnchorEffort(
            precision,
            delta,
            epsilon,
            beams,
            batch,
            perturb,
            max_conditions,
            budget,
            empty_evaluations,
            suboptimal,
            within,
        )

        def one(games: ImageGames) -> ImageRule:
            known = Corpus(replacements=_alike(corpus, games.parts.image))
            return part_anchor(ImageRule, games, self._models, corpus=known, effort=effort, run=self._run())

        return self._each(image, "anchor", one)

    def prototypes(
        self,
        images: Sequence[AnyArray] | AnyArray,
        n: Any = "auto",
        *,
        y: Any = None,
        criticisms: int | str = 0,
        method: Method = "mmd",
        by: By = None,
        features: Callable[[Any], Any] | None = None,
        kernel: Literal["rbf", "laplace"] = "rbf",
        width: float | str = "auto",
        sample: int | str | None = "auto",
    ) -> Prototypes:
        """Typical images (prototypes), and images that these represent badly (criticisms), with what the model says of
        both.

        Images are compared by their pixels (averaged over blocks where there are more than 32 in a line), or by
        ``features``, a function of an array of images that returns one row of numbers for each: the last layer but one
        of a network says better what is similar. ``y`` are the true classes or numbers. All other options are those of
        `Explainer.prototypes`.

        It misleads where pixels are similar and what they show is not. The result's `caveats` measure how far it
        depends on the number, the kernel and its width.

        >>> import numpy as np
        >>> from pellucid.parts.image_explainer import ImageExplainer
        >>> images = [np.full((4, 4), value) for value in (0.0, 0.1, 0.9, 1.0, 1.0)]
        >>> found = ImageExplainer(lambda images: images.mean(axis=(1, 2))).prototypes(images, 2)
        >>> found.predictions.ravel().round(1).tolist()
        [1.0, 0.1]
        """
        options = {"n": n, "criticisms": criticisms, "method": method, "by": by, "kernel": kernel, "width": width}
        wholes = images_of(_images(images), features)
        return part_prototypes(wholes, self._models, y, self._run, {**options, "sample": sample})

    def neighbors(
        self,
        image: Any,
        images: Sequence[AnyArray] | AnyArray,
        n: int = 5,
        *,
        y: Any = None,
        features: Callable[[Any], Any] | None = None,
    ) -> Neighbors:
        """Of some images the ``n`` most like one, what the model says of them, and the nearest that it says otherwise
        of.

        ``image`` is an image, or the position of one in ``images``. What is similar, ``features`` and ``y`` are those
        of `prototypes`. It misleads where all images are about as far; the result's `caveats` say so.

        >>> import numpy as np
        >>> from pellucid.parts.image_explainer import ImageExplainer
        >>> images = [np.full((4, 4), value) for value in (0.0, 0.5, 1.0)]
        >>> ex = ImageExplainer(lambda images: images.mean(axis=(1, 2)))
        >>> ex.neighbors(np.full((4, 4), 0.9), images, n=1).neighbors.tolist()
        ['2']
        """
        others = _images(images)
        own = not is_whole(image)
        every = [*others, *_alike([image], others[0])] if own else others
        row = len(others) if own else whole("image", image, least=0, most=len(others) - 1)
        return part_neighbors(images_of(every, features), self._models, y, row, len(others), n, self._run)

    def report(
        self, path: str | Path, images: Sequence[AnyArray] | AnyArray, y: Any = None, *, title: str | None = None
    ) -> Path:
        """One HTML file to read: how good the model is (with ``y``), and single images with their segments.

        A typical image, the extreme ones (of several classes the most certain of each), the least certain and, with
        ``y``, the most mistaken ones are shown with their segments coloured by contribution (SHAP), beside a local
        surrogate (LIME) and an anchor. What the explanations cannot be trusted for stands once, at the top. A slow
        model is evaluated at fewer images.
        """
        from pellucid.report.images import image_report

        return image_report(self, self._models, path, _images(images), y, title)

    @overload
    def counterfactuals(self, image: AnyArray, **options: Unpack[AnswerOptions]) -> ImageCounterfactuals: ...
    @overload
    def counterfactuals(
        self, image: list[AnyArray] | tuple[AnyArray, ...], **options: Unpack[AnswerOptions]
    ) -> list[ImageCounterfactuals]: ...
    def counterfactuals(
        self,
        image: Any,
        target: Any = None,
        *,
        n: int = 5,
        max_changes: int | None = None,
        best_effort: bool = False,
        budget: int | None = None,
    ) -> ImageCounterfactuals | list[ImageCounterfactuals]:
        """The fewest segments without which the model says something else (counterfactual explanations).

        Segments are painted over as ``absent`` says. ``target`` and the other options are those of
        `TextExplainer.counterfactuals`, with segments instead of words.

        It misleads where many sets would do, where the prediction is only just over the edge, and where painted
        segments look like something to the model; the result's `caveats` say so.

        >>> import numpy as np
        >>> from pellucid.parts.image_explainer import ImageExplainer
        >>> image = np.array([[0, 0, 9, 9]] * 4)
        >>> bright = lambda images: (images.mean(axis=(1, 2)) > 2).astype(float)
        >>> ex = ImageExplainer(bright, class_names=["dark", "bright"], segmenter="grid", segments=(2, 2), absent=0)
        >>> found = ex.counterfactuals(image, n=1)
        >>> sorted(found.changes()), found.proven
        (['segment 2', 'segment 4'], True)
        """
        effort = AnswerEffort("counterfactuals", target, n, max_changes, best_effort, budget)
        return self._answers(image, "counterfactuals", effort)

    @overload
    def adversarial(
        self, image: AnyArray, *, kind: Literal["gradient"], **options: Unpack[_Gradient]
    ) -> ImageAttack: ...
    @overload
    def adversarial(
        self, image: list[AnyArray] | tuple[AnyArray, ...], *, kind: Literal["gradient"], **options: Unpack[_Gradient]
    ) -> list[ImageAttack]: ...
    @overload
    def adversarial(self, image: AnyArray, **options: Unpack[_Attack]) -> ImageCounterfactuals: ...
    @overload
    def adversarial(
        self, image: list[AnyArray] | tuple[AnyArray, ...], **options: Unpack[_Attack]
    ) -> list[ImageCounterfactuals]: ...
    def adversarial(
        self,
        image: Any,
        target: Any = None,
        *,
        kind: Literal["segment", "pixel", "gradient"] = "segment",
        n: int = 1,
        max_changes: int | None = None,
        best_effort: bool = False,
        budget: int | None = None,
        norm: Literal["linf", "l2"] = "linf",
        steps: int = 10,
    ) -> ImageCounterfactuals | ImageAttack | list[ImageCounterfactuals] | list[ImageAttack]:
        """How little of an image has to change to fool the model: an adversarial example.

        Segments are painted over as in `counterfactuals`; with ``kind="pixel"`` single pixels get the darkest or the
        lightest value of each channel (the one-pixel attack), every pixel in every such colour, then the best ones
        together, at most 3 unless ``max_changes`` says otherwise. The other options are those of `counterfactuals`.

        With ``kind="gradient"`` every pixel changes a little, along the sign of the gradient (``norm="linf"``: the
        smallest largest change) or the gradient itself (``"l2"``), in ``steps`` steps (1: the fast gradient sign
        method): an `ImageAttack`, with the share of random changes of the same size that fool the model, too. A torch
        module has derivatives; a function has them as an attribute, ``f.gradient(images)`` -> ``(n, height, width, ...,
        outputs)``; of other models and small images, differences are taken.

        >>> import numpy as np
        >>> from pellucid.parts.image_explainer import ImageExplainer
        >>> image = np.full((4, 4), 0.5)
        >>> spot = lambda images: images[:, 2, 1]
        >>> ImageExplainer(spot, segmenter="grid").adversarial(image, "> 0.8", kind="pixel").changes()
        {'pixel [2, 1]': '1'}
        >>> found = ImageExplainer(spot).adversarial(image, target=">= 0.6", kind="gradient")
        >>> round(found.distance, 3)
        0.1
        """
        if one_of("kind", kind, ("segment", "pixel", "gradient")) == "gradient":
            if n != 1 or max_changes is not None or best_effort:
                raise InputError(
                    "kind='gradient' finds one change of every pixel; leave out n, max_changes, best_effort."
                )
            attack = AttackEffort(target, norm, steps, budget)
            fooled: ImageAttack | list[ImageAttack] = self._of_each(
                image,
                "adversarial",
                lambda each: gradient_attack(check_image(each), self._models.explained, attack, self._run()),
            )
            return fooled
        if (norm, steps) != ("linf", 10):
            raise InputError(f"norm and steps are options of kind='gradient'; leave them out of kind={kind!r}.")
        effort = AnswerEffort("adversarial", target, n, max_changes, best_effort, budget)
        if kind == "segment":
            return self._answers(image, "adversarial", effort)

        def one(games: ImageGames) -> ImageCounterfactuals:
            pixels = by_pixel(games)
            instead = pixels_instead(pixels)
            enough = pixel_effort(effort, instead)
            model = self._models.explained
            return part_counterfactuals(
                ImageCounterfactuals, pixels, model, instead=instead, effort=enough, run=self._run()
            )

        found: ImageCounterfactuals | list[ImageCounterfactuals] = self._each(image, "adversarial", one, pixel_labels)
        return found

    def _answers(
        self, image: Any, method: str, effort: AnswerEffort
    ) -> ImageCounterfactuals | list[ImageCounterfactuals]:
        def one(games: ImageGames) -> ImageCounterfactuals:
            return part_counterfactuals(
                ImageCounterfactuals, games, self._models.explained, instead=None, effort=effort, run=self._run()
            )

        return self._each(image, method, one)

    def _each(
        self, image: Any, method: str, one: Callable[[ImageGames], T], segmenter: Segmenter | None = None
    ) -> T | list[T]:
        """One result for one image, a list of them for several."""
        cut = self._segmenter if segmenter is None else segmenter

        def explained(image: Any) -> T:
            games = ImageGames.cut(check_image(image), cut, self._segments, self._absent, self._batch)
            return one(games)

        return self._of_each(image, method, explained)

    def _of_each(self, image: Any, method: str, explained: Callable[[Any], T]) -> T | list[T]:
        if isinstance(image, list | tuple):
            return [explained(each) for each in image]
        if np.ndim(image) == 4:
            raise InputError(f"image has 4 dimensions; give one image, or a list of images: ex.{method}(list(images)).")
        return explained(image)


def _images(images: Any) -> list[AnyArray]:
    """Several images, each checked."""
    one = isinstance(images, np.ndarray) and images.ndim < 3
    if one or isinstance(images, str | bytes | Mapping) or not isinstance(images, Iterable):
        raise InputError("images= must be several images; give a list of them.")
    given = [check_image(image) for image in images]
    if not given:
        raise InputError("images= has no images; give some.")
    return given


def _alike(corpus: Sequence[AnyArray] | None, image: AnyArray) -> list[AnyArray]:
    """Other images of the same size and type."""
    others = [check_image(each) for each in (() if corpus is None else corpus)]
    for i, other in enumerate(others):
        if other.shape != image.shape or other.dtype != image.dtype:
            raise InputError(
                f"image {i} of the corpus is {other.dtype} {other.shape}, but the explained one is {image.dtype}"
                f" {image.shape}; give images of the same size and type."
            )
    return others
