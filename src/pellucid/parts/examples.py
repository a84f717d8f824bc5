"""Typical texts and images, and those that are like one: prototypes, criticisms and neighbours through a feature map.

Kim, Khanna and Koyejo 2016, "Examples are not enough, learn to criticize!"; the methods are those of tables
(`pellucid.methods.examples`).

Definition. A feature map turns each text or image into a row of numbers; what is near there is alike. Of texts it is,
unless given, the bag of words: of the most frequent words how often each is in the text times log((1 + n) / (1 + texts
with it)) + 1, divided by the length of the row (tf-idf); texts with none of them share a column. Of images it is their
pixels, averaged over blocks where there are more than 32 in a line.

When it misleads. (1) Texts similar in words may differ in meaning, and images alike in pixels in what they show: give
``features``, such as the last layer but one of a network. (2) The weaknesses of prototypes of tables, measured in the
caveats.

Cost. One model row for each example and a sample to compare with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data.cells import objects
from pellucid.errors import InputError
from pellucid.explainer import Explainer
from pellucid.explanations import Neighbors, Prototypes
from pellucid.methods.examples.neighbors import neighbors
from pellucid.methods.examples.prototypes import prototypes
from pellucid.parts.model import Models
from pellucid.runner import Run

Map = Callable[[Any], Any] | None
_WORDS = 1000  # columns of a bag of words
_OWN = "features of your own"
_TYPICAL, _SAID = 0.5, 3  # standard deviations; words
_SIDE = 32  # pixels in a line
_RARE = "(none that is frequent)"


@dataclass(frozen=True, eq=False)
class Wholes:
    """Texts or images with what they are compared by: ``points`` ``(n, columns)``.

    ``by`` says what these are. ``bag`` ``(n, words)`` and its ``words`` say what is typical of texts. ``of`` is "text"
    or "image".
    """

    of: str
    items: Sequence[Any]
    points: FloatArray
    by: str
    bag: FloatArray | None = None
    words: tuple[str, ...] = ()

    def at(self, table: Any) -> FloatArray:
        """The points of some positions, which are the rows of the table that stands for them."""
        return self.points[np.asarray(table, dtype=np.intp)[:, 0]]

    def cells(self, places: Sequence[int], near: AnyArray | None) -> dict[str, AnyArray]:
        """What is shown of some of them; ``near`` has the place of the prototype that every text is nearest to."""
        if self.of == "image":
            return {}
        own = {"text": objects([self.items[i] for i in places])}
        if near is None or self.bag is None:
            return own
        typical = [", ".join(self._typical(i, near == k)) for k, i in enumerate(places)]
        return {**own, "typical words": objects(typical)}

    def _typical(self, place: int, inside: AnyArray) -> list[str]:
        """Words of a text that are more frequent in some texts than in all."""
        assert self.bag is not None
        if not inside.any():
            return []
        spread = self.bag.std(axis=0)
        more = (self.bag[inside].mean(axis=0) - self.bag.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
        order = np.argsort(-np.where(self.bag[place] > 0, more, -np.inf), kind="stable")[:_SAID]
        return [
            self.words[j] for j in order if more[j] >= _TYPICAL and self.bag[place, j] > 0 and self.words[j] != _RARE
        ]


# -- feature maps ------------------------------------------------------------------------------------


def texts_of(texts: Sequence[str], features: Map, tokens: Callable[[str], Sequence[str]]) -> Wholes:
    """Texts by their own feature map or the bag of words."""
    bag, words = bag_of_words([tokens(text) for text in texts])
    points = bag if features is None else _mapped(features, list(texts), "text")
    return Wholes("text", texts, points, "words" if features is None else _OWN, bag, words)


def images_of(images: Sequence[AnyArray], features: Map) -> Wholes:
    """Images by their own feature map or their pixels."""
    shapes = {image.shape for image in images}
    if features is not None:
        given = list(images) if len(shapes) > 1 else np.stack(images)
        return Wholes("image", images, _mapped(features, given, "image"), _OWN)
    if len(shapes) > 1:
        raise InputError(
            f"the images have different shapes, {' and '.join(str(shape) for shape in sorted(shapes)[:2])}; give images"
            " of one shape, or features=, a function that returns one row of numbers for each."
        )
    return Wholes("image", images, np.stack([_coarse(image) for image in images]), "pixels")


def bag_of_words(tokens: Sequence[Sequence[str]]) -> tuple[FloatArray, tuple[str, ...]]:
    """The weights ``(texts, words)`` of the most frequent words, rows of length one, and the words."""
    within = Counter(word for words in tokens for word in dict.fromkeys(words))
    common = [
        word for word, n in sorted(within.items(), key=lambda each: (-each[1], each[0])) if n > 1 or len(tokens) < 3
    ]
    place = {word: j for j, word in enumerate(common[:_WORDS])}
    bag = np.zeros((len(tokens), len(place) + 1))
    for i, words in enumerate(tokens):
        for word in words:
            if word in place:
                bag[i, place[word]] += 1.0
    rarity = [np.log((1 + len(tokens)) / (1 + within[word])) + 1 for word in place]
    bag[:, : len(place)] *= np.array(rarity)
    bag[:, -1] = ~bag.any(axis=1)  # texts without a frequent word would be near to all others
    return bag / np.linalg.norm(bag, axis=1, keepdims=True), (*place, _RARE)


def _coarse(image: AnyArray) -> FloatArray:
    """The pixels, averaged over blocks where there are many."""
    pixels = image.astype(np.float64)
    for axis in (0, 1):
        n = pixels.shape[axis]
        if n > _SIDE:
            ends = np.linspace(0, n, _SIDE + 1).astype(np.intp)[:-1]
            sizes = np.diff(np.append(ends, n)).reshape([-1 if k == axis else 1 for k in range(pixels.ndim)])
            pixels = np.add.reduceat(pixels, ends, axis=axis) / sizes
    return pixels.ravel()


def _mapped(features: Callable[[Any], Any], items: Any, of: str) -> FloatArray:
    """What the caller's own feature map makes of all."""
    if not callable(features):
        raise InputError(
            f"features must be a function of {of}s that returns one row of numbers for each, got {features!r}."
        )
    found = np.asarray(features(items))
    found = found.reshape(len(found), -1) if found.ndim > 1 else found.reshape(-1, 1)
    if len(found) != len(items) or found.dtype.kind not in "biuf" or not np.isfinite(found).all():
        raise InputError(
            f"features returned an array of shape {found.shape} and type {found.dtype} for {len(items)} {of}s; return"
            " one row of finite numbers for each."
        )
    return found.astype(np.float64)


# -- results -----------------------------------------------------------------------------------------


def part_prototypes(
    wholes: Wholes, models: Models, y: Any, run: Callable[..., Run], options: dict[str, Any]
) -> Prototypes:
    """Typical ones, and those that these represent badly."""
    ex = _over_positions(wholes, models, y, len(wholes.items), run())
    n = options.pop("n")
    found = prototypes(ex.predictor, ex.data, n, features=wholes.at, of=wholes.of, run=ex._run("prototypes"), **options)
    places = _places(found)
    chosen = wholes.points[places[: len(found.values)]]
    apart = np.square(chosen).sum(axis=1) - 2 * wholes.points @ chosen.T
    return _about(found, wholes, places, wholes.cells(places, apart.argmin(axis=1)))


def part_neighbors(
    wholes: Wholes, models: Models, y: Any, row: int, among: int, n: Any, run: Callable[..., Run]
) -> Neighbors:
    """Those of the first ``among`` that are nearest to one, by its position; the one may stand behind these."""
    ex = _over_positions(wholes, models, y, among, run())
    asked: Any = row if row < among else np.array([[float(row)]])
    found = neighbors(ex.predictor, ex.data, asked, n, distance=wholes.at, of=wholes.of, run=ex._run("neighbours"))
    places = _places(found)
    return _about(replace(found, distance=wholes.by), wholes, places, wholes.cells(places, None))


def _places(found: Prototypes) -> list[int]:
    """Positions of the examples, which are the one column of their table."""
    return [int(place) for place in found.cells[0]]


def _about(found: Any, wholes: Wholes, places: list[int], cells: dict[str, AnyArray]) -> Any:
    """A result about positions as one about what stands there."""
    contrast = np.zeros((len(found.contrast), len(cells)))
    return replace(
        found,
        cells=tuple(cells.values()),
        column_names=tuple(cells),
        contrast=contrast,
        images=tuple(wholes.items[i] for i in places) if wholes.of == "image" else (),
        map=None if found.map is None else replace(found.map, plain=False),
        header=replace(found.header, feature_names=tuple(cells)),
    )


@dataclass(frozen=True, eq=False)
class _Classifier:
    """A model of wholes as one of their positions in a list."""

    ask: Callable[[Any], FloatArray]
    classes_: AnyArray

    def predict_proba(self, table: Any) -> FloatArray:
        """Probabilities (or scores) of all classes."""
        return self.ask(table)


def _over_positions(wholes: Wholes, models: Models, y: Any, n: int, run: Run) -> Explainer:
    """An explainer of a table with one column, the positions of texts or images."""
    items, model = wholes.items, models.classes.in_full()
    some = _taken(items, range(min(len(items), 8)))
    first = model.raw(some, len(some))
    predictor, _ = model.learn(first, model.raw(some, len(some)))

    def ask(table: Any) -> FloatArray:
        chosen = np.asarray(table, dtype=np.intp)[:, 0].tolist()
        return predictor(_taken(items, chosen), len(chosen))

    labels = predictor.labels or predictor.classes
    over: Any = ask if labels is None else _Classifier(ask, np.asarray(labels))
    return Explainer(
        over,
        np.arange(float(n))[:, None],
        y,
        output=models.explained.output,
        link=models.explained.link,
        random_state=run.seed,
        checks=run.checks,
        progress=False,
    )


def _taken(items: Sequence[Any], places: Any) -> Any:
    """Some of them as the model takes them: a list of texts, an array of images."""
    chosen = [items[i] for i in places]
    return np.stack(chosen) if len(chosen) and isinstance(chosen[0], np.ndarray) else chosen
