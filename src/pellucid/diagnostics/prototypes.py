"""What prototypes cannot be trusted for: another width or number gives others, all features count, poor picks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.explanations import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import counted, number, percent

_WIDTH = 0.15
_SELF, _ALIKE = 0.5, 0.95
_KEPT = 0.1
_MISSED = 0.9
_FALLS = 0.15
_POOR = 0.1
_ALL_FAR = 0.8


@dataclass(frozen=True)
class Measured:
    """What was measured of a set of prototypes; None where it was not.

    ``at_half`` and ``at_double``: MMD^2 at half and double the width of the prototypes, of those chosen there, and of
    one; ``itself``: what share of its mean similarity with all rows a row has with itself; ``alike``: that mean;
    ``kept``: the share of criticisms that stay with a few prototypes more or fewer; ``explained``: the share of the
    variance of predictions between the rows of different prototypes; ``beyond``: MMD^2 with so many prototypes more, if
    it falls; ``best``: MMD^2 of as many prototypes, if they are searched for; ``sampled``: columns that were
    sampled; ``of``: what is explained by examples, a row, a text or an image.
    """

    m: int
    mmd2: float
    one: float
    se: float = 0.0
    at_half: tuple[float, float, float] | None = None
    at_double: tuple[float, float, float] | None = None
    itself: float = 0.0
    alike: float = 0.0
    kept: float | None = None
    explained: float | None = None
    beyond: tuple[int, float] | None = None
    best: float | None = None
    sampled: int | None = None
    contributions: bool = False
    of: str = "row"


def prototype_caveats(predictor: Predictor, data: Data, run: Run, found: Measured) -> tuple[Caveat, ...]:
    """Everything known against these examples."""
    if not run.checks:
        return ()
    return (
        *general_caveats(predictor, data, run),
        *_width(found),
        *_degenerate(found),
        *_criticisms(found),
        *_irrelevant(found),
        *_too_few(found),
        *_hand_picked(found),
        *_sampled(found),
    )


def _width(found: Measured) -> Iterator[Caveat]:
    """Prototypes chosen for half or double the width would be better there, by far."""
    tried = [("half", found.at_half), ("double", found.at_double)]
    found_at = [((own - best) / one, name, own, best) for name, at in tried if at for own, best, one in [at] if one > 0]
    worse, name, own, best = max(found_at, default=(0.0, "", 0.0, 0.0))
    if worse > _WIDTH:
        yield Caveat(
            code="kernel-width",
            message=(
                f"At {name} the kernel width the MMD² of these prototypes is {number(own)}, and {number(best)} if they"
                f" are chosen for it: which {found.of}s are typical depends on the width."
            ),
            value=worse,
            threshold=_WIDTH,
            advice=f"Compare with width= at {name} of .discrepancy.width, and read what stays the same.",
        )


def _degenerate(found: Measured) -> Iterator[Caveat]:
    """The kernel tells no rows apart, or finds none alike."""
    if found.itself > _SELF or found.alike > _ALIKE:
        narrow = found.itself > _SELF
        value, threshold = (found.itself, _SELF) if narrow else (found.alike, _ALIKE)
        yield Caveat(
            code="kernel-width",
            message=(
                f"The kernel is too narrow: {percent(value)} of the similarity of a {found.of} with all {found.of}s is"
                f" that with itself, so that hardly any two {found.of}s are similar."
                if narrow
                else f"The kernel is too wide: two {found.of}s have a similarity of {number(value)} on average, so that"
                " it hardly distinguishes them."
            ),
            value=value,
            threshold=threshold,
            advice=f"Leave width= out: it is then the median distance of {found.of}s.",
        )


def _criticisms(found: Measured) -> Iterator[Caveat]:
    if found.kept is not None and found.kept < _KEPT:
        yield Caveat(
            code="criticisms-change",
            message=(
                f"With slightly more or fewer prototypes {'only ' + percent(found.kept) if found.kept else 'none'} of"
                f" the criticisms stay or have a similar {found.of} instead: they depend on the number of prototypes."
            ),
            value=1.0 - found.kept,
            threshold=1.0 - _KEPT,
            advice="Ask for n= one fifth smaller and larger, and keep the criticisms that come back.",
        )


def _irrelevant(found: Measured) -> Iterator[Caveat]:
    missed = None if found.explained is None else 1.0 - found.explained
    if missed is not None and missed > _MISSED and not found.contributions and found.m > 1:
        yield Caveat(
            code="irrelevant-features",
            message=(
                f"{percent(missed)} of the variance of the predictions is between {found.of}s of the same prototype:"
                f" similar in {'all features' if found.of == 'row' else 'these features'} is not similar to the model."
            ),
            value=missed,
            threshold=_MISSED,
            advice=(
                "Use features='contributions', which compares rows by what their features contribute."
                if found.of == "row"
                else "Give features=, such as the last layer but one of the model."
            ),
        )


def _too_few(found: Measured) -> Iterator[Caveat]:
    if found.beyond is None or found.one <= 0:
        return
    more, mmd2 = found.beyond
    falls = (found.mmd2 - mmd2) / found.one
    if falls > _FALLS:
        yield Caveat(
            code="few-prototypes",
            message=(
                f"{counted(found.m, 'prototype')} leave some kinds of {found.of}s unrepresented: with {more}, MMD²"
                f" falls from {number(found.mmd2)} to {number(mmd2)}."
            ),
            value=falls,
            threshold=_FALLS,
            advice=f"Ask for n={more}, or n='auto'; plot(kind='scree') shows MMD² over the number.",
        )


def _hand_picked(found: Measured) -> Iterator[Caveat]:
    worse = 0.0 if found.best is None or found.one <= 0 else (found.mmd2 - found.best) / found.one
    if found.best is not None and worse > _POOR:
        yield Caveat(
            code="poor-prototypes",
            message=(
                f"The given {found.of}s represent the data badly: their MMD² is {number(found.mmd2)}; as many"
                f" {found.of}s found by a search have {number(found.best)}."
            ),
            value=worse,
            threshold=_POOR,
            advice="Look at the criticisms, or let method='mmd' choose.",
        )


def _sampled(found: Measured) -> Iterator[Caveat]:
    if found.sampled is not None:
        yield Caveat(
            code="rows-sampled",
            message=(
                f"All {found.of}s were compared with a sample of {found.sampled:,} of them: MMD² {number(found.mmd2)}"
                f" has a standard error of {number(found.se)}."
            ),
            value=found.se,
            threshold=0.0,
            advice="sample=None compares all pairs, which takes longer.",
        )


def neighbor_caveats(
    predictor: Predictor, data: Data, run: Run, nearest: float, median: float, *, of: str = "row"
) -> tuple[Caveat, ...]:
    """Everything known against neighbours: above all that no row may be near."""
    if not run.checks:
        return ()
    found = list(general_caveats(predictor, data, run))
    if median > 0 and nearest / median > _ALL_FAR:
        found.append(
            Caveat(
                code="all-far",
                message=(
                    f"No {of} is near: the nearest is at {percent(nearest / median)} of the median distance of all"
                    f" {of}s."
                ),
                value=nearest / median,
                threshold=_ALL_FAR,
                advice="Use distance='contributions', or fewer features."
                if of == "row"
                else "Give features= of your own.",
            )
        )
    return tuple(found)
