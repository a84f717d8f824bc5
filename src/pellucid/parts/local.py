"""Local models of a text and of an image: which words, or segments, they need, and the variants they rest on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray
from pellucid.explanations.explanation import Explanation, native_table
from pellucid.explanations.local_attribution import LocalAttribution
from pellucid.explanations.store import stored
from pellucid.parts import local_words
from pellucid.parts.attribution import MaskedAttribution
from pellucid.parts.image_attribution import ImageAttribution
from pellucid.parts.text_attribution import TextAttribution


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalParts(MaskedAttribution, LocalAttribution):
    """Weights ``values`` (1, parts) of the parts in a local model; zero for those it does not need.

    ``base`` is what the local model says when every part is absent; with the weights it adds up to `local_prediction`.
    ``there`` (variants, parts) are the variants it was fitted to, ``counts`` (variants,) how much each counts and
    ``answers`` what the model said of it; see `variants`. ``spread`` is the standard deviation of the answers,
    ``nearest`` the distance of the nearest variants over that of all.
    """

    there: BoolArray
    counts: FloatArray
    answers: FloatArray
    spread: FloatArray
    nearest: float

    __repr__ = Explanation.__repr__

    @property
    def variants(self) -> Any:
        """The variants as a table, most counted first: which parts are there, the model's answers, and the weights."""
        order = np.argsort(-self.counts, kind="stable")
        there = self.there[order]
        columns: dict[str, AnyArray] = {name: there[:, j].astype(np.int8) for j, name in enumerate(self.players)}
        answers = self.answers[order].reshape(len(order), -1)
        several = len(self.output_names) > 1
        for k, output in enumerate(self.output_names):
            columns[_free(columns, f"prediction {output}" if several else "prediction")] = answers[:, k]
        columns[_free(columns, "weight")] = self.counts[order]
        return native_table(columns, self.library)

    @property
    def answer_scale(self) -> str:
        """The scale of `answers`: that of the model, also where the local model is on log-odds."""
        return "probability" if self.settings.get("model") == "logistic" else self.scale

    def for_output(self, name: str) -> Self:
        found = super().for_output(name)
        if str(name) in self.output_names:
            return found
        at = 1.0 if self.answer_scale == "probability" else 0.0  # the other of two classes
        return replace(found, answers=at - self.answers)

    def row(self, i: int) -> Self:
        """The same: there is one text, or one image, and all its variants are about it."""
        super().row(i)  # refuses what is no row
        return self

    def at_zero(self) -> Self:
        """The same: the effects of parts count from their absence already."""
        return self

    def _arrays(self) -> dict[str, Any]:
        return {**super()._arrays(), "answers": self.answers, "spread": self.spread}

    @property
    @abstractmethod
    def whole(self) -> str:
        """What is explained: text or image."""

    @property
    def starting_point(self) -> str:
        return f"the local model's answer with every {self.part} absent"

    def findings(self) -> list[str]:
        return local_words.complete(self)

    def of_leading(self) -> Self:
        """The same for few outputs, where there are many."""
        return self._of_leading()

    def about_others(self, said: Self) -> list[str]:
        """What is not said of other outputs."""
        return self._other_outputs(said)


def _free(columns: dict[str, AnyArray], name: str) -> str:
    """A name of a column that no word has."""
    while name in columns:
        name = f"{name} "
    return name


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalTextAttribution(LocalParts, TextAttribution):
    """The words that a local model of a text needs, and their weights; see `LocalParts` and `TextAttribution`."""

    __repr__ = Explanation.__repr__

    @property
    def whole(self) -> str:
        return "text"


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalImageAttribution(LocalParts, ImageAttribution):
    """The segments that a local model of an image needs, and their weights; see `LocalParts` and `ImageAttribution`."""

    __repr__ = Explanation.__repr__

    @property
    def whole(self) -> str:
        return "image"
