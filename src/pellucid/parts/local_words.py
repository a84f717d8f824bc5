"""A local model of words or segments, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.words import listed, number, percent

if TYPE_CHECKING:
    from pellucid.parts.local import LocalParts

_SAID = 10


def complete(found: LocalParts) -> list[str]:
    """What each output's local model needs, how well it holds and what it was made of."""
    said = found.of_leading()
    lines = [_of_output(said.for_output(name)) for name in said.output_names]
    return [*lines, *found.about_others(said), *_quality(said), _how(found), found.absence()]


def _of_output(one: LocalParts) -> str:
    half = (one.interval()[1] - one.interval()[0])[0] / 2
    order = [int(j) for j in one.sequence(0) if one.values[0, j] != 0]
    said = [
        f"{one.label(j, 0)} contributed {number(float(one.values[0, j]), sign=True)}{_about(float(half[j]))}"
        for j in order[:_SAID]
    ]
    rest = order[_SAID:]
    if rest:
        said.append(f"the other {len(rest)} together {number(float(one.values[0, rest].sum()), sign=True)}")
    story = f": {listed(said, len(said))}" if said else f"; no {one.part} contributed"
    return (
        f"The prediction{one.scale_of(one.output_names[0])} is {number(float(one.prediction[0]))}; the local model"
        f" gives {number(float(one.local_prediction[0]))}. Compared with {one.starting_point},"
        f" {number(float(one.bases[0]))}{story}."
    )


def _about(half: float) -> str:
    return f" ± {number(half)}" if half > 1e-9 else ""


def _quality(found: LocalParts) -> list[str]:
    least = "at least " if found.fidelity.size > 1 else ""
    fidelity, chosen = float(np.min(found.fidelity)), float(np.min(found.stability))
    lines = [
        f"It explains {least}{percent(max(fidelity, 0.0))} of the variation of the predictions of variants near the"
        f" {found.whole} (weighted R2)."
    ]
    if not exhaustive(found):
        lines.append(f"Asked again, {least}{percent(chosen)} of the weight would be on the same {found.part}s.")
    return lines


def exhaustive(found: LocalParts) -> bool:
    """Whether all variants were asked, or all that the caller gave: nothing was drawn."""
    return bool(found.settings.get("listed"))


def _how(found: LocalParts) -> str:
    n = f"{len(found.there):,}"
    if found.settings.get("all_variants"):
        made = (
            f"From all {n} variants of the {found.whole}" if len(found.there) > 1 else f"From the {found.whole} itself"
        )
    elif exhaustive(found):
        made = f"From {n} variants that were given"
    else:
        kinds = {
            "count": f"as many with few {found.part}s as with many",
            "coin": f"each {found.part} absent in half of them",
        }
        made = f"From {n} variants of the {found.whole} ({kinds[str(found.settings['sampler'])]})"
    return f"{made}; {counted(found)}."


def counted(found: LocalParts) -> str:
    """How variants are weighted."""
    width = float(found.width[0])
    kernel = found.settings.get("kernel")
    if kernel == "share":
        return (
            f"a variant counts by the share of {found.part}s that are there"
            if width == 1
            else f"a variant counts by the share of {found.part}s that are there, to the power {number(1 / width)}"
        )
    if kernel == "exponential":
        return (
            f"a variant counts by how near it is ({found.settings['distance']} distance, kernel width {number(width)})"
        )
    return f"a variant counts by {kernel}, at the width {number(width)}"
