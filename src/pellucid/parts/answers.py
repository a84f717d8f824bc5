"""Counterfactuals of texts and images: the words or segments without which the model says something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.explanations import Explanation
from pellucid.explanations.store import stored
from pellucid.parts.answer_words import answer_sentence, findings, headline
from pellucid.parts.attribution import OfImage, OfText
from pellucid.parts.options import PartAnswerOptions
from pellucid.parts.source import ImageParts, Parts, TextParts
from pellucid.words import Vocabulary


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PartCounterfactuals(Explanation):
    """Answers to "what would have to go for the model to say something else", those with the fewest changes first.

    ``states`` (answers, parts) holds 1 where a part is as it was, 0 where it is absent, and k + 2 where ``others[k]``
    is in its place. ``predictions`` (answers, outputs) are the model's own, of the texts or images as they are given
    out, ``prediction`` (outputs,) that of the original; ``said`` has the same in words, the original first. ``valid``
    says which answers reach the ``target``: all, unless ``best_effort=True`` was asked for. ``margins`` (the original
    first) is how far each prediction is inside the target, negative outside. ``values`` is the share of answers that
    change each part.

    All sets of up to ``tried`` of the ``changeable`` parts were tried: ``proven`` says that no smaller set reaches the
    target than that of the first answer. ``minimal`` counts the sets that were found to reach it and of which none is a
    part of another. ``nearest_miss`` is how near to the target one comes, 0 where it is reached.
    """

    parts: Parts
    states: IntArray
    others: tuple[str, ...]
    predictions: FloatArray
    prediction: FloatArray
    said: tuple[str, ...]
    target: str
    valid: BoolArray
    margins: FloatArray
    tried: int
    changeable: int
    minimal: int
    nearest_miss: float

    def __len__(self) -> int:
        return len(self.states)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.parts.vocabulary

    @property
    def changed(self) -> BoolArray:
        """Which parts ``(answers, parts)`` differ from the original."""
        return np.asarray(self.states != 1)

    @property
    def proven(self) -> bool:
        """Whether all smaller sets were tried: no fewer changes reach the target."""
        return bool(len(self) and self.valid[0] and self.tried >= int(self.changed[0].sum()) - 1)

    def changes(self, answer: int = 0) -> dict[str, str | None]:
        """What an answer changes, by the name of the part: what is in its place, None for nothing."""
        state = self.states[answer]
        return {
            self.parts.names[i]: self.others[state[i] - 2] if state[i] > 1 else None for i in np.flatnonzero(state != 1)
        }

    def sentence(self, answer: int = 0) -> str:
        """One answer in a sentence: 'Without "subscribe" the model would say ham (69%) instead of spam (92%).'"""
        return answer_sentence(self, answer)

    def columns(self) -> dict[str, AnyArray]:
        """One line per answer and changed part: what it is, where, what is in its place ("" for nothing), and what the
        model says then (of several outputs `predictions` has the numbers).
        """
        answer, part = np.nonzero(self.changed)
        places = self.parts.places(np.arange(len(self.parts.names), dtype=np.intp), len(self.parts.names))
        states = self.states[answer, part]
        instead = [self.others[state - 2] if state > 1 else "" for state in states.tolist()]
        single = {"predicted": self.predictions[answer, 0]} if len(self.output_names) == 1 else {}
        return {
            "answer": answer,
            self.vocabulary.part: _texts([self.parts.names[i] for i in part]),
            **{name: column[part] for name, column in places.items()},
            "instead": _texts(instead),
            "says": _texts([self.said[i + 1] for i in answer]),
            **single,
            "valid": self.valid[answer],
        }

    def findings(self) -> list[str]:
        return findings(self)

    def _headline(self) -> str:
        return headline(self)


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextCounterfactuals(OfText, PartCounterfactuals, options=PartAnswerOptions):
    """The fewest words of a text whose removal, or replacement, makes the model say something else; ``texts`` are the
    answers as the model saw them.
    """

    parts: TextParts
    texts: tuple[str, ...]


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageCounterfactuals(OfImage, PartCounterfactuals, options=PartAnswerOptions):
    """The fewest segments (or pixels) of an image without which the model says something else; ``images`` are the
    answers as the model saw them.
    """

    parts: ImageParts
    images: AnyArray

    def mask(self, answer: int = 0) -> BoolArray:
        """The pixels ``(height, width)`` that an answer changes."""
        return np.isin(self.segments, np.flatnonzero(self.changed[answer]))


def _texts(cells: Sequence[Any]) -> AnyArray:
    array = np.empty(len(cells), dtype=object)
    array[:] = list(cells)
    return array
