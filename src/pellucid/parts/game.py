"""The game of a whole whose parts can be absent: a text without some words, an image without some segments.

    v(S) = f(the text or image with only the parts of S)

What takes the place of an absent part is decided once, by the kind of whole, so that every coalition is one model row
and the worth of nobody is what the model says when everything is absent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.games.game import Game
from pellucid.parts.model import WholeModel, WholePredictor
from pellucid.parts.segments import Absent, Segmenter, absent_image, absent_name, plain_colours, segment
from pellucid.parts.source import REMOVE, ImageParts, TextParts
from pellucid.parts.tokens import is_letter
from pellucid.runner import Run
from pellucid.runner.parallel import in_threads


class PartGame(Game):
    """One whole, its parts, and a model; no variant of it is asked twice in one call.

    ``predictor`` knows what the model returns after the first call, which asks for nobody and everybody.
    """

    rows = 1

    def __init__(self, model: WholeModel, players: int, run: Run, batch: int) -> None:
        self.players = players
        self._run, self._batch = run, batch
        ends = np.repeat([[False], [True]], players, axis=1)
        with run.counting(2):
            first = model.raw(self.wholes(ends), 2)
        again = first
        if run.checks:  # in the other order: does the model answer the same?
            with run.checking(), run.counting(2):
                again = model.raw(self.wholes(ends[::-1]), 2)[::-1]
        self.predictor: WholePredictor
        self.predictor, found = model.learn(first, again)
        self._ends = found[:1], found[1:]
        self.outputs = found.shape[1]

    @abstractmethod
    def wholes(self, coalitions: BoolArray) -> Any:
        """The texts or images with only the parts of these coalitions, in a container that the model may change."""

    @abstractmethod
    def distinct(self, coalitions: BoolArray) -> tuple[IntArray, IntArray]:
        """Positions of coalitions whose texts or images differ, and for every coalition its place among them."""

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        del rows  # there is one
        if not len(coalitions):
            return np.empty((1, 0, self.outputs))
        asked, place = self.distinct(coalitions)
        blocks = [asked[start : start + self._batch] for start in range(0, len(asked), self._batch)]
        self._run.plan(len(asked))
        found = []
        with closing(self._answers([coalitions[block] for block in blocks])) as answers:
            for block in blocks:
                with self._run.counting(len(block)):
                    found.append(next(answers))
                self._run.advance(len(block))
        self._run.close()
        return np.concatenate(found)[place][None]

    def _answers(self, blocks: list[BoolArray]) -> Generator[FloatArray, None, None]:
        """The answers block by block, in order, whatever the number of threads."""
        return in_threads([partial(self._answer, block) for block in blocks], self._run.threads)

    def _answer(self, coalitions: BoolArray) -> FloatArray:
        return self.predictor(self.wholes(coalitions), len(coalitions))


class ActiveGame(Game):
    """The game among those parts that change something; for the others present and absent are the
    same.
    """

    rows = 1

    def __init__(self, game: PartGame) -> None:
        self.kept = np.flatnonzero(game.active[0])
        self.players, self.outputs = len(self.kept), game.outputs
        self._game = game

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._game.ends()

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        del rows  # there is one
        whole = np.zeros((len(coalitions), self._game.players), dtype=np.bool_)
        whole[:, self.kept] = coalitions
        return self._game.worth(whole)


class Remembered:
    """The answers of one game so far, found again by the coalition."""

    def __init__(self, game: PartGame) -> None:
        self._game = game
        nobody, everybody = game.ends()
        ends = np.repeat([[0], [1]], game.players, axis=1)
        self._known = {key: answer[0] for key, answer in zip(_keys(ends), (nobody, everybody), strict=True)}

    def new(self, coalitions: AnyArray) -> int:
        """How many of these coalitions were not asked before."""
        return len(set(_keys(coalitions)) - self._known.keys())

    def worth(self, coalitions: AnyArray) -> FloatArray:
        """The answers ``(coalitions, outputs)``."""
        keys = _keys(coalitions)
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._known:
                first.setdefault(key, i)
        if first:
            found = self._game.worth(coalitions[list(first.values())])[0]
            self._known |= dict(zip(first, found, strict=True))
        return np.array([self._known[key] for key in keys]).reshape(len(keys), self._game.outputs)


def _keys(coalitions: AnyArray) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(coalitions, dtype=np.int32)]


# -- texts -------------------------------------------------------------------------------------------


class TextGame(PartGame):
    """The words of one text as players; number k of ``others`` stands where a coalition has k + 2 instead of 0 or 1.

    Absent words are taken out, or a mask stands in their place. White space follows the words: where words are taken
    out, the widest of the gaps around them stays (a line break rather than a space), and none at the beginning or end.
    Text outside all words, which a tokenizer may leave, always stays.
    """

    def __init__(self, model: WholeModel, parts: TextParts, run: Run, batch: int, others: Sequence[str] = ()) -> None:
        self._mask, self._words, self._others = parts.mask, parts.tokens, tuple(others)
        ends, starts = [0, *parts.spans[:, 1].tolist()], [*parts.spans[:, 0].tolist(), len(parts.source)]
        self._gaps = [parts.source[end:start] for end, start in zip(ends, starts, strict=True)]
        super().__init__(model, len(self._words), run, batch)

    @property
    def active(self) -> BoolArray:
        same = [self._mask != REMOVE and word == self._mask for word in self._words]
        return ~np.array([same], dtype=np.bool_)

    def wholes(self, coalitions: BoolArray) -> list[str]:
        return [self.text(known) for known in coalitions.tolist()]

    def distinct(self, coalitions: BoolArray) -> tuple[IntArray, IntArray]:
        """Texts are told apart by a digest: all of them at once may be too large to hold."""
        first: dict[bytes, int] = {}
        digests = (_digest(self.text(known)) for known in coalitions.tolist())
        place = [first.setdefault(digest, len(first)) for digest in digests]
        _, asked = np.unique(place, return_index=True)
        return asked.astype(np.intp), np.array(place, dtype=np.intp)

    def text(self, known: Sequence[int]) -> str:
        """The text in which only some words are there: 1, absent: 0, or replaced: k + 2."""
        instead = [self._mask, "", *self._others]
        if self._mask == REMOVE and 0 in known:
            said = [word if code < 2 else instead[code] for word, code in zip(self._words, known, strict=True)]
            return self._without(known, said)
        words = [word if code == 1 else instead[code] for word, code in zip(self._words, known, strict=True)]
        return "".join(part for pair in zip(self._gaps, [*words, ""], strict=True) for part in pair)

    def _without(self, known: Sequence[int], words: Sequence[str]) -> str:
        parts: list[str] = []
        gap, last, edge = self._gaps[0], "", False
        for i, (word, there) in enumerate(zip(words, known, strict=True)):
            if not there:
                gap = closed(gap, self._gaps[i + 1])
                edge = edge or self._edge(i) or self._edge(i + 1)
                continue
            if not gap and edge and is_letter(last[-1:]) and is_letter(word[0]):
                gap = " "  # what stood between two words kept them apart
            parts += [gap, word]
            gap, last, edge = self._gaps[i + 1], word, False
        text = "".join([*parts, gap])
        if len(known) and not known[0]:
            text = text.lstrip()
        if len(known) and not known[-1]:
            text = text.rstrip()
        return text

    def _edge(self, i: int) -> bool:
        """Whether the text has a word's edge between part i - 1 and part i."""
        if not 0 < i < len(self._words) or self._gaps[i]:
            return True
        return not (is_letter(self._words[i - 1][-1]) and is_letter(self._words[i][0]))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def closed(before: str, after: str) -> str:
    """Two gaps that meet because the word between them is gone: of the white space that meets, the wider stays.

    >>> closed(" ", " "), closed(" ", "\\n"), closed(", ", " ("), closed("", " ")
    (' ', '\\n', ', (', ' ')
    """
    left, right = before.rstrip(), after.lstrip()
    spaces = (before[len(left) :], after[: len(after) - len(right)])
    return left + max(spaces, key=lambda space: (space.count("\n"), len(space))) + right


# -- images ------------------------------------------------------------------------------------------

_MEMORY = 16 * 2**20  # bytes of images handed to the model at once


class ImageGame(PartGame):
    """The segments of one image as players; ``absent`` is the image in which nobody is there.

    The same place of number k of ``others`` is shown where a coalition has k + 2 instead of 0 or 1. The model gets
    images of the same type and range as the one that is explained.
    """

    def __init__(
        self,
        model: WholeModel,
        parts: ImageParts,
        absent: AnyArray,
        run: Run,
        batch: int | None = None,
        others: Sequence[AnyArray] = (),
    ) -> None:
        image, self._segments = parts.image, parts.segments
        self._shown = np.stack([absent, image, *others])
        changed = image != absent
        changed = changed if image.ndim == 2 else changed.any(axis=2)
        self._active = np.bincount(self._segments.ravel(), changed.ravel()) > 0
        fitting = max(1, _MEMORY // max(image.nbytes, 1))
        super().__init__(model, len(parts.sizes), run, fitting if batch is None else batch)

    @property
    def active(self) -> BoolArray:
        return self._active[None] if len(self._shown) == 2 else np.ones((1, self.players), dtype=np.bool_)

    def wholes(self, coalitions: AnyArray) -> AnyArray:
        known = coalitions[:, self._segments]
        if len(self._shown) == 2:
            known = known if self._shown.ndim == 3 else known[..., None]
            return np.where(known, self._shown[1:], self._shown[:1])
        rows, columns = np.indices(self._segments.shape)
        return np.asarray(self._shown[known.astype(np.intp), rows, columns])

    def distinct(self, coalitions: AnyArray) -> tuple[IntArray, IntArray]:
        different = coalitions & self._active if len(self._shown) == 2 else coalitions
        _, asked, place = np.unique(different, axis=0, return_index=True, return_inverse=True)
        return asked, place.reshape(-1)


# -- the games of one text or image ------------------------------------------------------------------

_OTHER_MASK = "UNK"
_BLOCKS = 4  # of neighbouring words


@dataclass(frozen=True, eq=False)
class TextGames:
    """The games that can be played with the words of a text, and what a method must know of them."""

    parts: TextParts
    batch: int
    larger: ClassVar[str] = "by='auto' or by='sentence'"  # how to get larger parts

    def game(self, model: WholeModel, run: Run, others: Sequence[Any] = ()) -> PartGame:
        """With only these words, or with ``others`` in the place of absent ones."""
        return TextGame(model, self.parts, run, self.batch, others)

    def settings(self) -> dict[str, Any]:
        """What is needed to cut the text again."""
        return {"unit": self.parts.unit, "words": self.parts.words, "mask": self.parts.mask}

    def otherwise(self) -> dict[str, TextGames]:
        """The same with something else in place of absent words, by the option that asks for it."""
        mask = _OTHER_MASK if self.parts.mask == REMOVE else REMOVE
        return {f"mask={mask!r}": replace(self, parts=replace(self.parts, mask=mask))}

    def empty(self) -> dict[str, Any]:
        """Texts without any word, to compare: none, for there is only one way to say nothing."""
        return {}

    def changes(self) -> FloatArray:
        """How much changes when each word is absent."""
        return np.ones(len(self.parts.tokens))

    def blocks(self) -> IntArray:
        """Neighbouring words in at most four blocks."""
        n = len(self.parts.tokens)
        return np.arange(n, dtype=np.intp) * min(_BLOCKS, n) // max(n, 1)


@dataclass(frozen=True, eq=False)
class ImageGames:
    """The games that can be played with the segments of an image; ``painted`` is the image without any of them."""

    parts: ImageParts
    painted: AnyArray
    segmenter: str
    batch: int | None
    larger: ClassVar[str] = "segments="

    @classmethod
    def cut(
        cls, image: AnyArray, segmenter: Segmenter, segments: int | tuple[int, int], absent: Absent, batch: int | None
    ) -> ImageGames:
        """The games of an image, cut by a segmenter."""
        labels = segment(image, segmenter, segments)
        parts = ImageParts(image, labels, absent_name(absent, image))
        painted = absent_image(image, labels, absent)
        return cls(parts, painted, segmenter if isinstance(segmenter, str) else "given", batch)

    def game(self, model: WholeModel, run: Run, others: Sequence[Any] = ()) -> PartGame:
        """With only these segments, or with ``others`` shown in the place of absent ones."""
        return ImageGame(model, self.parts, self.painted, run, self.batch, others)

    def settings(self) -> dict[str, Any]:
        """What is needed to cut the image again."""
        return {"segmenter": self.segmenter, "segments": len(self.parts.sizes), "absent": self.parts.absent}

    def otherwise(self) -> dict[str, ImageGames]:
        """The same in other plain colours, by the option that asks for them."""
        return {name: replace(self, painted=painted) for name, painted in self.empty().items()}

    def empty(self) -> dict[str, AnyArray]:
        """Images without any segment, in other plain colours, by the option that asks for them."""
        image, labels, absent = self.parts.image, self.parts.segments, self.parts.absent
        return {
            f"absent={name}": absent_image(image, labels, colour)
            for name, colour in plain_colours(image, absent).items()
        }

    def changes(self) -> FloatArray:
        """How much the pixels of each segment change when it is absent: the sum of squares."""
        change = np.square(self.parts.image.astype(np.float64) - self.painted.astype(np.float64))
        change = change if change.ndim == 2 else change.sum(axis=2)
        return np.bincount(self.parts.segments.ravel(), change.ravel()).astype(np.float64)

    def blocks(self) -> IntArray:
        """The quarters of the image in which the segments have their middle, numbered without gaps."""
        quarter = 2 * (self.parts.centres[:, 0] > 0.5) + (self.parts.centres[:, 1] > 0.5)
        return np.unique(quarter, return_inverse=True)[1].reshape(-1).astype(np.intp)


Games = TextGames | ImageGames


def empty_predictions(games: Games, game: PartGame, run: Run) -> dict[str, FloatArray]:
    """What the model says when everything is absent, for what else could stand for absence; nothing without checks."""
    found: dict[str, FloatArray] = {}
    with run.checking():
        for name, whole in games.empty().items() if run.checks else ():
            with run.counting(1):
                found[name] = game.predictor(whole[None], 1)[0]
    return found
