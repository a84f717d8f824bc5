"""Local models of a text and of an image: which words, or segments, they need, and the variants they rest on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray, freeze
from pellucid.explanations.explanation import native_table, squeeze_outputs
from pellucid.explanations.local_attribution import LocalModel
from pellucid.explanations.local_words import of_one
from pellucid.explanations.store import stored
from pellucid.parts.attribution import OfImage, OfText, PartAttribution, contribution_map
from pellucid.parts.options import LocalImageOptions, LocalTextOptions
from pellucid.parts.source import ImageParts, TextParts
from pellucid.words import Vocabulary, number, percent

_ALWAYS = 0.995  # of the weight


@stored
@dataclass(frozen=True, eq=False)
class FittedVariants:
    """What a local model was fitted to: variants of the whole, some of its parts absent.

    ``there`` (variants, parts) says which parts are there, ``counts`` (variants,) how much each variant counts and
    ``answers`` (variants, or variants x outputs) what the model said of it. ``spread`` (1, or 1 x outputs) is the
    standard deviation of the answers, ``nearest`` the distance of the nearest variants over that of all.
    """

    there: BoolArray
    counts: FloatArray
    answers: FloatArray
    spread: FloatArray
    nearest: float

    def __post_init__(self) -> None:
        freeze(self)

    def for_outputs(self, kept: list[int]) -> FittedVariants:
        """The answers of some outputs alone, of several."""
        answers, spread = squeeze_outputs(self.answers[:, kept]), squeeze_outputs(self.spread[:, kept])
        return replace(self, answers=answers, spread=spread)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalPartAttribution(PartAttribution, LocalModel):
    """Weights ``values`` (1, parts) of the parts in a local model; zero for those it does not need.

    ``base`` is what the local model says when every part is absent; with the weights it adds up to `local_prediction`.
    ``fitted`` are the variants it was fitted to; see `variants`. How well it holds is said as for `LocalModel`.
    """

    fitted: FittedVariants

    @property
    def there(self) -> BoolArray:
        """Which parts are there in each variant."""
        return self.fitted.there

    @property
    def counts(self) -> FloatArray:
        """How much each variant counts."""
        return self.fitted.counts

    @property
    def answers(self) -> FloatArray:
        """What the model said of each variant."""
        return self.fitted.answers

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
            return self._with_variants_of(found)
        at = 1.0 if self.answer_scale == "probability" else 0.0  # the other of two classes
        return replace(found, fitted=replace(self.fitted, answers=at - self.answers))

    def of_leading(self) -> Self:
        found = super().of_leading()
        return replace(self._with_variants_of(found), width_search=self.width_search.for_outputs(found.output_names))

    def _with_variants_of(self, found: Self) -> Self:
        """The result for some outputs, with the answers of these outputs."""
        if found.output_names == self.output_names:
            return found
        kept = [self.output_names.index(name) for name in found.output_names]
        return replace(found, fitted=self.fitted.for_outputs(kept))

    def _some(self, which: IntArray) -> Self:
        """The same: there is one text, or one image, and all its variants are about it."""
        del which
        return self

    def at_zero(self) -> Self:
        """The same: the effects of parts count from their absence already."""
        return self

    @property
    def vocabulary(self) -> Vocabulary:
        words = self.parts.vocabulary
        return replace(words, start=f"local model's prediction with every {words.part} absent")

    def findings(self) -> list[str]:
        return complete(self)

    def _headline(self) -> str:
        return LocalModel._headline(self)


def _free(columns: dict[str, AnyArray], name: str) -> str:
    """A name of a column that no word has."""
    while name in columns:
        name = f"{name} "
    return name


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalTextAttribution(OfText, LocalPartAttribution, options=LocalTextOptions):
    """The words that a local model of a text needs, and their weights; see `LocalPartAttribution`."""

    parts: TextParts


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalImageAttribution(OfImage, LocalPartAttribution, options=LocalImageOptions):
    """The segments that a local model of an image needs, and their weights; see `LocalPartAttribution`."""

    parts: ImageParts

    def map(self, output: str | None = None) -> FloatArray:
        """The weight of the segment of every pixel, as in `ImageAttribution.map`."""
        return contribution_map(self, self.parts, output)


def complete(found: LocalPartAttribution) -> list[str]:
    """What each output's local model needs, how well it holds and what it was made of."""
    said = found.of_leading()
    lines = [of_one(said.for_output(name)) for name in said.output_names]
    return [*lines, *found.about_others(said), *_quality(said), _how(found), found.parts.absence()]


def _quality(found: LocalPartAttribution) -> list[str]:
    least = "at least " if found.fidelity.size > 1 else ""
    fidelity, chosen = float(np.min(found.fidelity)), float(np.min(found.stability))
    lines = [
        f"The local model explains {least}{percent(max(fidelity, 0.0))} of the variation of the predictions of"
        " variants near the"
        f" {found.vocabulary.whole} (weighted R²)."
    ]
    if not exhaustive(found):
        lines.append(
            f"Repeated runs put {least}{percent(chosen)} of the weight on the same {found.vocabulary.part}s."
            if chosen < _ALWAYS
            else f"Repeated runs choose the same {found.vocabulary.part}s."
        )
    return lines


def exhaustive(found: LocalPartAttribution) -> bool:
    """Whether all variants were asked, or all that the caller gave: nothing was drawn."""
    return bool(found.settings.get("listed"))


def _how(found: LocalPartAttribution) -> str:
    n = f"{len(found.there):,}"
    if found.settings.get("all_variants"):
        made = (
            f"Fitted to all {n} variants of the {found.vocabulary.whole}"
            if len(found.there) > 1
            else f"Fitted to the {found.vocabulary.whole} itself"
        )
    elif exhaustive(found):
        made = f"Fitted to {n} given variants"
    else:
        kinds = {
            "count": f"as many with few {found.vocabulary.part}s as with many",
            "coin": f"each {found.vocabulary.part} absent in half of them",
        }
        made = f"Fitted to {n} variants of the {found.vocabulary.whole} ({kinds[str(found.settings['sampler'])]})"
    return f"{made}, {counted(found)}."


def counted(found: LocalPartAttribution) -> str:
    """How variants are weighted."""
    width = float(found.width[0])
    kernel = found.settings.get("kernel")
    if kernel == "share":
        power = "" if width == 1 else f", to the power {number(1 / width)}"
        return f"weighted by the share of {found.vocabulary.part}s that are present{power}"
    if kernel == "exponential":
        return f"weighted by how near they are ({found.settings['distance']} distance, kernel width {number(width)})"
    return f"weighted by {kernel}, at the width {number(width)}"
