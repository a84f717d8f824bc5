"""The caveats of one prediction explained in several ways: they do not say the same, or one of them fails in this
row.
"""

from __future__ import annotations

from collections.abc import Iterator

from pellucid.diagnostics.lime_checks import low_fidelity, unstable, width_decides
from pellucid.explanations.agreement import IN_PART, Agreement, verdict
from pellucid.explanations.caveat import Caveat
from pellucid.words import number

_GOOD_FIT = 0.8  # fidelity from which the local model is not to blame


def agreement_caveats(result: Agreement) -> Iterator[Caveat]:
    """Whether the ways disagree, and what is known against the local model and the rule of this row."""
    yield from ways_disagree(result)
    if result.local.settings.get("kernel") != "shap":
        yield from width_decides(result.local)
    yield from low_fidelity(result.local)
    yield from unstable(result.local, None)
    if result.rule is not None:
        yield from (item for item in result.rule.caveats if item.code.startswith("anchor-"))


def ways_disagree(result: Agreement) -> Iterator[Caveat]:
    """Contributions and effects that point in different directions, with the likelier reason."""
    if not result.likeness < IN_PART:
        return
    fidelity = float(result.local.fidelity[0])
    if fidelity < _GOOD_FIT:
        why = f"The local model fits poorly (R2 {number(fidelity)})"
        advice = "Rely on the contributions, which add up to the prediction."
    else:
        why = (
            f"The local model fits well (R2 {number(fidelity)}), so the prediction responds to small changes in another"
            " way than it differs from the average"
        )
        advice = (
            "For small changes of the row read the local model, for the difference from the average the contributions."
        )
    yield Caveat(
        code="ways-disagree",
        message=(
            f"Contributions and local model {verdict(result.likeness)} (likeness {number(result.likeness)}). {why}."
        ),
        value=1.0 - result.likeness,
        threshold=1.0 - IN_PART,
        advice=advice,
    )
