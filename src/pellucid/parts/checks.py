"""The caveats of contributions of words and segments: how the text or image was cut, and what stands for absence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.explanations.caveat import Caveat
from pellucid.parts.attribution import MaskedAttribution
from pellucid.runner import Run
from pellucid.words import number, percent

_CUT = 0.25
_ABSENCE = 0.5


def masked_caveats(
    result: MaskedAttribution,
    run: Run,
    *,
    instability: float,
    blocks: IntArray,
    joint: FloatArray | None,
    bases: Mapping[str, FloatArray],
) -> tuple[Caveat, ...]:
    """Everything known against these contributions.

    ``joint`` (blocks, outputs) are the contributions of a few blocks of parts, each block one player; ``bases`` are
    the predictions with everything absent, for other things that could stand for absence.
    """
    found = [*interrupted(run), *unsteady(instability)]
    if joint is not None:
        found += _cut(result, blocks, joint)
    found += _absence(result, bases)
    return tuple(found)


def _cut(result: MaskedAttribution, blocks: IntArray, joint: FloatArray) -> Iterator[Caveat]:
    """Whether parts contribute the same one by one as together; they do in a model without interactions."""
    values, se = result.stacked()[0], result.stacked("se")[0]
    together = np.stack([values[blocks == b].sum(axis=0) for b in range(len(joint))])
    noise = np.stack([se[blocks == b].sum(axis=0) for b in range(len(joint))]) * 1.96
    missed = np.maximum(np.abs(together - joint) - noise, 0.0)
    size = float(np.abs(joint).sum())
    share = float(missed.sum()) / size if size > 0 else 0.0
    if share > _CUT:
        b, k = np.unravel_index(int(np.argmax(missed)), missed.shape)
        first, last = np.flatnonzero(blocks == b)[[0, -1]]
        output = f" to {result.output_names[k]}" if len(result.output_names) > 1 else ""
        yield Caveat(
            code="cut-dependence",
            message=(
                f"The contributions depend on how the whole is cut into {result.part}s:"
                f" {_pieces(result.players[first], result.players[last])} contribute"
                f" {number(float(together[b, k]), sign=True)}{output} one by one, but"
                f" {number(float(joint[b, k]), sign=True)} as one piece (over all pieces {percent(share)} of the"
                " contributions differ)."
            ),
            value=share,
            threshold=_CUT,
            advice=(
                f"The {result.part}s act together: ask for interactions=True, or explain larger pieces as well and read"
                " both."
            ),
        )


def _pieces(first: str, last: str) -> str:
    """A block of neighbouring parts, by its ends."""
    return f'those from "{first}" to "{last}"'


def _absence(result: MaskedAttribution, bases: Mapping[str, FloatArray]) -> Iterator[Caveat]:
    """Whether another thing in place of the absent would move the starting point."""
    base, prediction = np.ravel(result.base), np.ravel(result.prediction)
    k = int(np.argmax(np.abs(prediction - base)))
    away = {name: abs(float(other[k]) - float(base[k])) for name, other in bases.items()}
    if not away:
        return
    name = max(away, key=lambda each: away[each])
    share = away[name] / max(abs(float(prediction[k] - base[k])), 1e-12)
    if away[name] > 1e-9 * abs(float(base[k])) and share > _ABSENCE:
        yield Caveat(
            code="absence",
            message=(
                f"The starting point depends on what stands for absence: {number(float(base[k]))} here, "
                f"{number(float(bases[name][k]))} with absent={name}; the prediction is {number(float(prediction[k]))}."
            ),
            value=share,
            threshold=_ABSENCE,
            advice=f"Explain with absent={name} as well, and trust what both agree on.",
        )
