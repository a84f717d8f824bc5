"""Nearest unlike neighbours: real rows that the model says the wanted thing about.

Reference. Wexler et al. 2019, "The What-If Tool"; Brughmans, Leyman and Martens 2023, "NICE".

Definition. The rows of the data nearest to x that reach the target, with what may not change left as in x. Polished,
each takes from its neighbour only what is needed: changes are undone and shortened as far as the target allows.

Estimator. Rows in the order of their distance are asked, ever more at once, until n of them reach the target.

When it misleads:
1. a real row is plausible but rarely near: it differs in nearly all features (``polish=False`` shows how far);
2. a target that no row reaches has no neighbour, though other rows may reach it.

Cost. The rows asked until n reach the target, and some 10 rows per changed feature for the polish.
"""

from __future__ import annotations

from pellucid.methods.counterfactual.search.pool import unlike
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back


def neighbours(problem: Problem, n: int, *, polish: bool = True) -> Found:
    """The n nearest rows of the data that reach the target."""
    rows = unlike(problem, n, most=None)
    return Found(walk_back(problem, rows) if polish else rows)
