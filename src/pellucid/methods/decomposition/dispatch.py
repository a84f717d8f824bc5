"""Which method takes the function apart."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pellucid.checks import one_of, optional, whole
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.explanations.decomposition import Decomposition
from pellucid.methods.decomposition.anova import anova
from pellucid.methods.decomposition.marginal import marginal
from pellucid.models import Predictor
from pellucid.runner import Run

Method = Literal["marginal", "anova", "generalized", "ale"]
Density = Literal["data", "uniform", "support"]


def decompose(
    predictor: Predictor,
    data: Data,
    *,
    background: Any,
    method: Method = "marginal",
    order: int = 2,
    features: Any = None,
    grid: int | None = None,
    at: Any = None,
    density: Density = "data",
    run: Run,
) -> Decomposition:
    """The function in parts."""
    one_of("method", method, get_args(Method))
    one_of("density", density, get_args(Density))
    order, grid = whole("order", order), optional(whole, "grid", grid, least=2)
    if method != "generalized" and density != "data":
        raise InputError(
            f"density={density!r} belongs to method='generalized'; method={method!r} has its own: leave it out."
        )
    if at is not None and method != "anova":
        raise InputError(f"at= gives the points of method='anova'; method={method!r} takes grid=: leave it out.")
    if method == "marginal":
        return marginal(predictor, data, background=background, order=order, features=features, grid=grid, run=run)
    if method == "anova":
        return anova(predictor, data, order=order, features=features, grid=grid, at=at, run=run)
    if method == "generalized":
        from pellucid.methods.decomposition.generalized import generalized

        return generalized(predictor, data, order=order, features=features, grid=grid, density=density, run=run)
    from pellucid.methods.decomposition.ale_parts import ale_parts

    return ale_parts(predictor, data, order=order, features=features, grid=grid, run=run)
