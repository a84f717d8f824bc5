"""What a comparison with robust fits cannot be trusted for: other rows than the training rows, and the jolt of any."""

from __future__ import annotations

from collections.abc import Iterator

from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.influence import other_rows
from pellucid.explanations import Caveat, RobustFit
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import quantity

_ANY = 0.5  # of the change, by as many random rows


def robust_caveats(predictor: Predictor, data: Data, run: Run, found: RobustFit) -> tuple[Caveat, ...]:
    """Everything known against this comparison."""
    if not run.checks:
        return ()
    return (*general_caveats(predictor, data, run), *other_rows(found), *_any_row(found))


def _any_row(found: RobustFit) -> Iterator[Caveat]:
    """Random rows move predictions about as much."""
    moved, random = float(found.values[0]), float(found.values[-1])
    if random > _ANY * moved:
        ratio = random / max(moved, 1e-300)
        said = [quantity(change, found.scale, change=True, sign=False) for change in (random, moved)]
        yield Caveat(
            code="any-row",
            message=(
                f"Without as many random rows predictions change by {said[0]} on average, without these by"
                f" {said[1]}: these rows are not to blame."
            ),
            value=ratio,
            threshold=_ANY,
            advice="Read the change as that of fitting again; where a fit is random, set its random_state.",
        )
