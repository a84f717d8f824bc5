"""What counterfactuals of texts and images cannot be trusted for."""

from __future__ import annotations

from collections.abc import Iterator

from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.explanations import Caveat
from pellucid.parts.answers import PartCounterfactuals
from pellucid.parts.source import ImageParts
from pellucid.runner import Run
from pellucid.words import counted, percent, quantity

_SETS = 3
_EDGE = 0.95  # of the way from the original to the answer is needed to reach the target
_LOST = 0.5  # of the answers
_LONG, _MANY = 0.5, 3  # of all parts


def answer_caveats(
    found: PartCounterfactuals, run: Run, *, instability: float, spent: bool, other: tuple[str, float] | None
) -> tuple[Caveat, ...]:
    """Everything known against these answers; ``other`` is another absence, and the share of answers it undoes."""
    caveats = [*interrupted(run), *unsteady(instability)]
    if spent and not found.proven:
        caveats += _spent(found)
    if not len(found) or not found.changed.any():
        return tuple(caveats)
    if not found.valid.all():
        return (*caveats, *_missed(found))
    return (*caveats, *_rashomon(found), *_fragile(found), *_long(found), *_absence(found, other))


def _spent(found: PartCounterfactuals) -> Iterator[Caveat]:
    part = found.vocabulary.part
    yield Caveat(
        code="budget-spent",
        message=(
            f"The budget of {found.settings['budget']:,} {found.vocabulary.whole}s ended the search: answers with fewer"
            f" {part}s may have been missed."
        ),
        value=1.0,
        threshold=0.0,
        advice=f"Raise budget=, or take fewer, larger {part}s.",
    )


def _missed(found: PartCounterfactuals) -> Iterator[Caveat]:
    short = quantity(found.nearest_miss, found.scale, change=True, sign=False)
    yield Caveat(
        code="target-missed",
        message=f"No answer was found: this one misses the target ({found.target}) by {short}.",
        value=found.nearest_miss,
        threshold=0.0,
        advice="Relax the target, or allow more changes (max_changes=, replace=, budget=).",
    )


def _rashomon(found: PartCounterfactuals) -> Iterator[Caveat]:
    """Several minimal sets of parts would do."""
    if found.minimal > _SETS:
        part = found.vocabulary.part
        yield Caveat(
            code="rashomon",
            message=(f"{found.minimal} different sets of {part}s would do: no single answer is the explanation."),
            value=float(found.minimal),
            threshold=float(_SETS),
            advice="Look at several answers (n=), or share the prediction out among all of them with shap.",
        )


def _fragile(found: PartCounterfactuals) -> Iterator[Caveat]:
    """The prediction is only just over the edge of the target."""
    way, beyond = -float(found.margins[0]), float(found.margins[1])
    needed = way / (way + beyond) if way + beyond > 0 else 1.0
    if needed > _EDGE:
        yield Caveat(
            code="fragile",
            message=(
                f"The first answer is on the edge: {percent(needed)} of the change of the prediction was needed to"
                f" reach the target; with {found.said[1]} small differences decide."
            ),
            value=needed,
            threshold=_EDGE,
            advice="Ask for more than is needed: an interval well beyond the edge as target=.",
        )


def _long(found: PartCounterfactuals) -> Iterator[Caveat]:
    """Little is left of the whole."""
    n, k, words = len(found.parts.names), int(found.changed[0].sum()), found.vocabulary
    if k >= _MANY and k > _LONG * n:
        yield Caveat(
            code="long-answer",
            message=(
                f"The first answer changes {k} of {counted(n, words.part)}: little of the {words.whole} is"
                " left to predict from."
            ),
            value=k / n,
            threshold=_LONG,
            advice="Read it as what the model assumes without evidence, or replace parts instead of taking them out.",
        )


def _absence(found: PartCounterfactuals, other: tuple[str, float] | None) -> Iterator[Caveat]:
    """Something else in place of absent parts undoes the answers."""
    if other is None or other[1] <= _LOST:
        return
    name, lost = other
    image = isinstance(found.parts, ImageParts)
    n = len(found)
    which = (
        "the answer" if n == 1 else f"none of the {n} answers" if lost == 1 else f"{percent(lost)} of the {n} answers"
    )
    yield Caveat(
        code="absence",
        message=(
            f"The answers depend on what replaces absent {found.vocabulary.part}s: with {name}, {which} would"
            f"{'' if n > 1 and lost == 1 else ' not'} reach the target."
        ),
        value=lost,
        threshold=_LOST,
        advice=f"Repeat with {name}{'' if image else ', or with replace='}, and trust what both agree on.",
    )
