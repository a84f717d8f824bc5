"""What a check of new rows cannot be trusted for: rows from elsewhere, rows that were seen, approximations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.influence import other_rows
from pellucid.explanations import Caveat, Triage
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import percent

_BEYOND, _TIMES, _CHANCE = 0.95, 3.0, 0.001  # a loss above that share of held-out ones; so often; by chance
_SEEN = 0.1
_GAP = 0.25


def new_row_caveats(predictor: Predictor, data: Data, run: Run, found: Triage) -> tuple[Caveat, ...]:
    """Everything known against this list."""
    if not run.checks:
        return ()
    return (
        *general_caveats(predictor, data, run),
        *other_rows(found),
        *_elsewhere(found),
        *_seen(found),
        *_approximate(found),
    )


def _elsewhere(found: Triage) -> Iterator[Caveat]:
    """More rows surprise than chance allows."""
    many, expected = int((found.surprise > _BEYOND).sum()), 1.0 - _BEYOND
    if float(binom.sf(many - 1, len(found), expected)) < _CHANCE and many / len(found) > _TIMES * expected:
        share = many / len(found)
        yield Caveat(
            code="new-rows-differ",
            message=(
                f"{percent(share)} of the new rows surprise the model more than {percent(_BEYOND)} of the training rows"
                f" do when held out, where {percent(expected)} would be usual: many outcomes are wrong, or these rows"
                " come from elsewhere."
            ),
            value=share,
            threshold=_TIMES * expected,
            advice="Compare the new rows with X before reading single ones as wrong.",
        )


def _seen(found: Triage) -> Iterator[Caveat]:
    seen = float(found.settings["seen"])
    if seen > _SEEN:
        yield Caveat(
            code="rows-seen",
            message=(
                f"{percent(seen)} of the new rows are rows of X, to which the model was fitted: their losses are small"
                " whatever their outcomes are."
            ),
            value=seen,
            threshold=_SEEN,
            advice="Give rows that the model has not seen; triage() without new= checks the rows of X.",
        )


def _approximate(found: Triage) -> Iterator[Caveat]:
    gap = float(found.settings["gap"])
    if np.isfinite(gap) and gap > _GAP:
        yield Caveat(
            code="not-refitted",
            message=(
                "Full refits with and without the new rows of most influence change predictions by amounts that differ"
                f" from these by {percent(gap)} of their size."
            ),
            value=gap,
            threshold=_GAP,
            advice="Read the influence as an order of rows, not as what would happen.",
        )
