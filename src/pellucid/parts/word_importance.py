"""WordImportance: which words a model of texts relies on, over many texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.errors import InputError, nearest
from pellucid.explanations import Explanation, changed
from pellucid.explanations.store import stored
from pellucid.parts.options import WordImportanceOptions
from pellucid.parts.source import TextParts
from pellucid.words import Vocabulary, counted, listed, quantity, value_name

_SAID = 5  # words named
_SAID_OUTPUTS = 3
_ONE_WAY = 0.5  # of the importance: a mean contribution below that has no direction
_WORTH = 0.02  # of the largest importance: what has less is not called important


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WordImportance(Explanation, options=WordImportanceOptions):
    """One value per word: the mean absolute contribution to the predictions of the texts that contain it.

    ``values`` (words,), with outputs last if there are several; ``low`` and ``high`` bound a 95% interval over texts.
    ``mean`` is the mean contribution with its sign, between ``mean_low`` and ``mean_high``; ``opposite`` the share of
    the texts in which the contribution has the other sign, beyond its sampling error; ``noise`` the mean sampling
    error of its contribution to one text. ``texts`` and ``occurrences`` count the texts that contain the word and its
    occurrences in them. ``explained`` texts were explained. Words in fewer than ``min_texts`` texts are not ranked:
    they come last.
    """

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    opposite: FloatArray
    noise: FloatArray
    texts: IntArray
    occurrences: IntArray
    explained: int
    min_texts: int

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary("text", self.unit, "variant")

    @property
    def unit(self) -> str:
        """What was taken as one word: "word", or "token" of the caller's own tokenizer."""
        return str(self.settings["unit"])

    @property
    def ranked(self) -> BoolArray:
        """Which words are in enough texts to be ranked."""
        return np.asarray(self.texts >= self.min_texts)

    @property
    def ranking(self) -> IntArray:
        """Positions of the words from most to least important (over all outputs), words that are too rare last."""
        overall = self.stacked().mean(axis=-1)
        return np.asarray(np.lexsort((-overall, ~self.ranked)), dtype=np.intp)

    def top(self, n: int) -> list[str]:
        """The ``n`` most important words among those that are ranked."""
        return [self.feature_names[j] for j in self.ranking if self.ranked[j]][:n]

    def for_output(self, name: str) -> Self:
        """The same for one output."""
        if name not in self.output_names:
            raise InputError(f"there is no output {name!r}{nearest(name, self.output_names)}")
        if len(self.output_names) == 1:
            return self
        k = self.output_names.index(name)
        fields = ("values", "se", "low", "high", "mean", "mean_low", "mean_high", "opposite", "noise")
        return changed(self, output_names=(name,), **{field: getattr(self, field)[:, k] for field in fields})

    def columns(self) -> dict[str, AnyArray]:
        """One row per word and output, the most important first: importance and mean contribution with their 95%
        intervals, the mean absolute contribution over all texts (``overall``, 0 where the word is absent), the share of
        texts with the opposite sign, numbers of texts and occurrences, and whether the word is ranked.
        """
        order, outputs = self.ranking, len(self.output_names)
        stacked = {
            "importance": self.stacked(),
            "se": self.stacked("se"),
            "low": self.stacked("low"),
            "high": self.stacked("high"),
            "contribution": self.stacked("mean"),
            "contribution_low": self.stacked("mean_low"),
            "contribution_high": self.stacked("mean_high"),
            "overall": self.stacked() * (self.texts / self.explained)[:, None],
            "opposite": self.stacked("opposite"),
        }
        words = {
            self.unit: np.array(self.feature_names, dtype=object),
            "texts": self.texts,
            "occurrences": self.occurrences,
            "ranked": self.ranked,
        }
        tidy = {name: np.tile(column[order], outputs) for name, column in words.items()}
        if outputs > 1:
            tidy["output"] = np.repeat(np.array(self.output_names, dtype=object), len(order))
        return tidy | {name: column[order].T.ravel() for name, column in stacked.items()}

    def findings(self) -> list[str]:
        lines = [self.for_output(self.output_names[k])._said() for k in self._leading_outputs()]
        hidden = len(self.output_names) - len(lines)
        if hidden:
            lines.append(f"{counted(hidden, 'more output')}: for_output(name).text() says which words move them.")
        parts = TextParts("", np.empty((0, 2), dtype=np.intp), self.unit, str(self.settings["mask"]))
        return [*lines, self._measured(), parts.absence()]

    def _leading_outputs(self) -> list[int]:
        """At most a few outputs, in their order: those that a ranked word moves most."""
        sizes = np.where(self.ranked[:, None], self.stacked(), 0.0).max(axis=0, initial=0.0)
        return sorted(int(k) for k in np.argsort(-sizes, kind="stable")[:_SAID_OUTPUTS])

    def _said(self) -> str:
        """The most important words for the only output, and what they do."""
        least = _WORTH * float(np.where(self.ranked, self.values, 0.0).max(initial=0.0))
        best = [int(j) for j in self.ranking if self.ranked[j] and self.values[j] > least][:_SAID]
        if not best:
            return f"No {self.unit} of at least {counted(self.min_texts, 'text')} moves the {self.quantity}."
        said = [f"{quoted(self.feature_names[j])} ({self._does(j, first=j == best[0])})" for j in best]
        return f"Most important {self.unit}s for the {self.quantity}: {listed(said)}."

    def _does(self, j: int, *, first: bool) -> str:
        """What a word does to the prediction; what the numbers are is said with the first word."""
        mean, size = float(self.mean[j]), float(self.values[j])
        both = abs(mean) < _ONE_WAY * size
        moved = quantity(size if both else mean, self.scale, change=True, sign=not both)
        moved += " up or down" if both else ""
        return f"{moved}{' on average over ' if first else ', '}{counted(int(self.texts[j]), 'text')}"

    @property
    def quantity(self) -> str:
        """What the words move, for one output: "probability of spam"; of several: "probability"."""
        noun = "prediction" if self.scale == "response" else self.scale
        name = self.output_names[0] if len(self.output_names) == 1 else "prediction"
        return noun if name in ("prediction", "output") else f"{noun} of {name}"

    def _measured(self) -> str:
        few = int((~self.ranked).sum())
        rare = (
            f"; {counted(few, self.unit)} in fewer than {self.min_texts} of the {self.explained:,} explained texts"
            f" {'is' if few == 1 else 'are'} not ranked"
            if few
            else ""
        )
        return (
            f"Importance is the mean absolute contribution (Shapley value) of a {self.unit} over the texts that contain"
            f" it{rare}."
        )


def quoted(word: str) -> str:
    """A word in sentences and on charts."""
    return f'"{" ".join(value_name(word).split())}"'
