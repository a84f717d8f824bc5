"""What the attributions of a text and of an image share: parts that are there or absent, instead of feature values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.explanations import attribution_words
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.explanation import Explanation
from pellucid.words import number

_SAID_OUTPUTS = 3  # of many, and only those that come near the highest; the others are counted
_NEAR = 0.1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MaskedAttribution(Attribution):
    """Contributions of the parts of one text or image; ``base`` is the prediction with every part absent.

    ``players`` are the parts as they were played with; `sparse` and `group` put several of them into one entry.
    """

    players: tuple[str, ...]

    __repr__ = Explanation.__repr__

    @property
    @abstractmethod
    def starting_point(self) -> str:
        """What ``base`` is, in words."""

    @property
    def compared_with(self) -> str:
        return self.starting_point

    @property
    @abstractmethod
    def part(self) -> str:
        """What a player is called: word, sentence, segment."""

    @abstractmethod
    def absence(self) -> str:
        """What an absent part is, in one sentence."""

    @property
    def entry_of(self) -> IntArray:
        """For each player the entry that it is in."""
        if not self.members:
            return np.arange(len(self.players))
        entry = {name: j for j, members in enumerate(self.members) for name in members}
        return np.array([entry[name] for name in self.players], dtype=np.intp)

    @abstractmethod
    def described(self) -> dict[str, AnyArray]:
        """Columns of the table with one value per entry: its name and where it is."""

    def columns(self) -> dict[str, AnyArray]:
        """One row per entry and output: what it is, where, and what it contributes."""
        p, outputs = self.stacked().shape[1:]
        tidy = {
            **{name: np.repeat(column, outputs) for name, column in self.described().items()},
            "contribution": self.values.ravel(),
            "se": self.se.ravel(),
        }
        if self._several:
            tidy["output"] = np.tile(np.array(self.output_names, dtype=object), p)
        return tidy

    def leading(self, most: int) -> tuple[str, ...]:
        """At most so many outputs: those with the highest predictions, in their own order."""
        if len(self.output_names) <= most:
            return self.output_names
        top = np.sort(np.argsort(-self.prediction[0], kind="stable")[:most])
        return tuple(self.output_names[k] for k in top)

    def findings(self) -> list[str]:
        own = (
            f"A contribution is a {self.part}'s share of this difference, not what the prediction would be without that"
            f" {self.part} alone."
        )
        said = self._of_leading()
        lines = attribution_words.complete(said)
        lines = [own if line == attribution_words.ONE_ROW else line for line in lines]
        lines = [line.replace("coalitions of features per row", f"coalitions of {self.part}s") for line in lines]
        return [*lines, *self._other_outputs(said), self.absence()]

    def _of_leading(self) -> Self:
        """The same for few outputs, where there are many."""
        if len(self.output_names) <= _SAID_OUTPUTS:
            return self
        highest = float(self.prediction[0].max())
        some = [self.output_names.index(name) for name in self.leading(_SAID_OUTPUTS)]
        kept = [k for k in some if self.prediction[0, k] >= min(_NEAR * highest, highest)]
        fields = {name: part[..., kept] for name, part in self._arrays().items()}
        return replace(self, output_names=tuple(self.output_names[k] for k in kept), **fields)

    def _other_outputs(self, said: Self) -> list[str]:
        hidden = [k for k, name in enumerate(self.output_names) if name not in said.output_names]
        if not hidden:
            return []
        highest = number(float(self.prediction[0, hidden].max()))
        return [
            f"The other {len(hidden)} outputs have predictions of at most {highest}; for_output(name) gives their"
            " contributions."
        ]
