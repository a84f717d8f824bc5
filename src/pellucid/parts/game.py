"""The game of a whole whose parts can be absent: a text without some words, an image without some segments.

    v(S) = f(the text or image with only the parts of S)

What takes the place of an absent part is decided once, by the kind of whole, so that every coalition is one model row
and the worth of nobody is what the model says when everything is absent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.games.game import Game
from pellucid.parts.model import WholeModel, WholePredictor
from pellucid.parts.tokens import Span, is_letter
from pellucid.runner import Run
from pellucid.runner.threads import in_threads


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
        """The texts or images with only the parts of these coalitions, in a container of its own that the model may change."""

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


REMOVE = "remove"


class TextGame(PartGame):
    """The words of one text as players."""

    def __init__(self, model: WholeModel, text: str, spans: Sequence[Span], mask: str, run: Run, batch: int) -> None:
        self._text, self._mask = text, mask
        self._words = [text[start:end] for start, end in spans]
        ends = [0, *(end for _, end in spans)]
        starts = [*(start for start, _ in spans), len(text)]
        self._gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
        super().__init__(model, len(spans), run, batch)

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

    def text(self, known: Sequence[bool]) -> str:
        """The text in which only some words are known."""
        if self._mask != REMOVE:
            words = [word if there else self._mask for word, there in zip(self._words, known, strict=True)]
            return "".join(part for pair in zip(self._gaps, [*words, ""], strict=True) for part in pair)
        return self._without(known)

    def _without(self, known: Sequence[bool]) -> str:
        parts: list[str] = []
        gap, last, edge = self._gaps[0], "", False
        for i, (word, there) in enumerate(zip(self._words, known, strict=True)):
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


_MEMORY = 16 * 2**20  # bytes of images handed to the model at once


class ImageGame(PartGame):
    """The segments of one image as players; ``absent`` is the image in which nobody is there.

    The model gets images of the same type and range as the one that is explained.
    """

    def __init__(
        self,
        model: WholeModel,
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

    def wholes(self, coalitions: BoolArray) -> AnyArray:
        known = coalitions[:, self._segments]
        known = known if self._image.ndim == 2 else known[..., None]
        return np.where(known, self._image[None], self._absent[None])

    def distinct(self, coalitions: BoolArray) -> tuple[IntArray, IntArray]:
        _, asked, place = np.unique(coalitions & self._active, axis=0, return_index=True, return_inverse=True)
        return asked, place.reshape(-1)


class ReplacedText(TextGame):
    """The words of one text; others may stand in their places."""

    def __init__(
        self,
        model: WholeModel,
        text: str,
        spans: Sequence[Span],
        mask: str,
        others: Sequence[str],
        run: Run,
        batch: int,
    ) -> None:
        self._others = tuple(others)
        super().__init__(model, text, spans, mask, run, batch)

    def text(self, known: Sequence[int]) -> str:
        if not any(code > 1 for code in known):
            return super().text([code == 1 for code in known])
        words = [word if code == 1 else self._others[code - 2] for word, code in zip(self._words, known, strict=True)]
        return "".join(part for pair in zip(self._gaps, [*words, ""], strict=True) for part in pair)


class ReplacedImage(ImageGame):
    """The segments of one image; the same places of other images may stand in theirs."""

    def __init__(
        self,
        model: WholeModel,
        image: AnyArray,
        segments: IntArray,
        absent: AnyArray,
        others: Sequence[AnyArray],
        run: Run,
        batch: int | None = None,
    ) -> None:
        self._stack = np.stack([absent, image, *others])
        super().__init__(model, image, segments, absent, run, batch)

    def wholes(self, coalitions: AnyArray) -> AnyArray:
        rows, columns = np.indices(self._segments.shape)
        return np.asarray(self._stack[coalitions.astype(np.intp)[:, self._segments], rows, columns])

    def distinct(self, coalitions: AnyArray) -> tuple[IntArray, IntArray]:
        _, asked, place = np.unique(coalitions, axis=0, return_index=True, return_inverse=True)
        return asked, place.reshape(-1)
