"""What a fitted model cannot be trusted for, found while it was fitted."""

from __future__ import annotations

from pellucid.explanations import Caveat


def separated_caveats(separated: bool) -> tuple[Caveat, ...]:
    """Classes that a combination of columns tells apart without a mistake: the best coefficients are infinite."""
    if not separated:
        return ()
    message = "The classes are separated without a mistake: coefficients and standard errors have no finite best value."
    return (Caveat("separated", message, 1.0, 0.0, "Fit with a penalty (ridge=0.01), or give more rows."),)
