"""Options of the charts of texts and images."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.explanations.option import PlotOptions, choice, whole
from pellucid.explanations.plot_options import ATTRIBUTION_KINDS, AttributionOptions

OWN_KINDS = ("variants", "effects", "widths")
_KINDS = (*OWN_KINDS, *ATTRIBUTION_KINDS)
_MEANING = (
    'the table of variants ("variants"), bars ("effects"), the weights over the kernel widths that were tried'
    ' ("widths"), or as for contributions'
)


@dataclass(frozen=True, kw_only=True)
class TextOptions(AttributionOptions):
    """Options of contributions of words."""

    kind: str = choice("auto", ATTRIBUTION_KINDS, '"auto" is the text itself, the others are charts of contributions')
    panels: int = whole(6, "outputs shown, the highest predictions first")
    max_lines: int = whole(120, "lines of the text shown")


@dataclass(frozen=True, kw_only=True)
class ImageOptions(AttributionOptions):
    """Options of contributions of segments."""

    kind: str = choice("auto", ATTRIBUTION_KINDS, '"auto" is the image itself, the others are charts of contributions')
    panels: int = whole(11, "outputs shown, the highest predictions first")
    numbers: int = whole(5, "largest contributions that are written on the image", least=0)


@dataclass(frozen=True, kw_only=True)
class LocalTextOptions(TextOptions):
    """Options of local models (LIME) of texts."""

    kind: str = choice("auto", _KINDS, _MEANING)
    max_rows: int = whole(12, "variants shown")


@dataclass(frozen=True, kw_only=True)
class LocalImageOptions(ImageOptions):
    """Options of local models (LIME) of images."""

    kind: str = choice("auto", _KINDS, _MEANING)
    max_rows: int = whole(12, "variants shown")


@dataclass(frozen=True, kw_only=True)
class PartRuleOptions(PlotOptions):
    """Options of rules about words and segments."""

    max_lines: int = whole(120, "lines of a text shown")


@dataclass(frozen=True, kw_only=True)
class WordImportanceOptions(PlotOptions):
    """Options of word importance."""

    max_display: int = whole(20, "words shown")
    panels: int = whole(6, "outputs shown, those that words move most first")


@dataclass(frozen=True, kw_only=True)
class PartAnswerOptions(PlotOptions):
    """Options of counterfactuals of texts and images."""

    max_display: int = whole(3, "answers shown")
    max_lines: int = whole(60, "lines of a text shown, for each answer")
