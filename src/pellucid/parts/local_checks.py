"""What local models of words and segments cannot be trusted for.

Those of any local model (`lime_checks`): the width that decides, a poor fit, a missed prediction, luck. For images
besides:

- *absence*: how far the prediction with everything absent moves when something else stands for absence;
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.diagnostics.local_models import local_miss, low_fidelity, unstable, width_decides
from pellucid.explanations.caveat import Caveat
from pellucid.parts.local import LocalParts
from pellucid.parts.local_words import exhaustive
from pellucid.runner import Run
from pellucid.words import number

_ABSENCE = 0.5


def masked_local_caveats(
    found: LocalParts,
    run: Run,
    *,
    instability: float,
    ends: tuple[FloatArray, FloatArray],
    bases: Mapping[str, FloatArray],
    tolerance: float | None,
) -> tuple[Caveat, ...]:
    """Everything known against this local model (of many outputs the leading ones); ``ends`` are the predictions with
    nothing and everything there.
    """
    caveats, shown = [*interrupted(run), *unsteady(instability)], found.of_leading()
    caveats += [_in_parts(caveat, found) for caveat in width_decides(shown)]
    caveats += [_in_parts(caveat, found) for caveat in low_fidelity(shown)]
    caveats += [_in_parts(caveat, found) for caveat in local_miss(shown, [np.ravel(shown.spread)])]
    if not exhaustive(found):
        caveats += [_in_parts(caveat, found) for caveat in unstable(shown, tolerance)]
    caveats += absence(ends[0][0], ends[1][0], bases)
    return tuple(caveats)


_ADVICE = {
    "low-fidelity": (
        "Do not read its weights as what the model does; allow more features= or model='tree', or use shap with"
        " interactions=True."
    ),
    "width-decides": "Look at plot(kind='sweep') and say which neighbourhood is meant, or use shap, which has none.",
}


def _in_parts(caveat: Caveat, found: LocalParts) -> Caveat:
    """The caveat in the words of texts and images."""
    message = caveat.message.replace("near the row", f"near the {found.whole}").replace("samples", "variants")
    message, advice = (
        re.sub(r"\bfeatures(?!=)", f"{found.part}s", said)
        for said in (message, _ADVICE.get(caveat.code, caveat.advice))
    )
    return replace(caveat, message=message, advice=advice)


def absence(nobody: FloatArray, everybody: FloatArray, others: Mapping[str, FloatArray]) -> Iterator[Caveat]:
    """Whether another thing in place of the absent would move the prediction of nothing."""
    k = int(np.argmax(np.abs(everybody - nobody)))
    away = {name: abs(float(other[k]) - float(nobody[k])) for name, other in others.items()}
    if not away:
        return
    name = max(away, key=lambda each: away[each])
    share = away[name] / max(abs(float(everybody[k] - nobody[k])), 1e-12)
    if away[name] > 1e-9 * abs(float(nobody[k])) and share > _ABSENCE:
        yield Caveat(
            code="absence",
            message=(
                "It depends on what stands for absence: with everything absent the prediction is"
                f" {number(float(nobody[k]))} here, {number(float(others[name][k]))} with absent={name}; that of the"
                f" image is {number(float(everybody[k]))}."
            ),
            value=share,
            threshold=_ABSENCE,
            advice=f"Explain with absent={name} as well, and trust what both agree on.",
        )
