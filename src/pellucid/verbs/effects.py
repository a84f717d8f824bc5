"""Effects of features: partial dependence, individual curves, accumulated local effects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypedDict, Unpack, overload

from pellucid.explanations import Effect, Effects
from pellucid.methods.effects.ale import ale
from pellucid.methods.effects.ice import ice
from pellucid.methods.effects.leading import leading_effects, named
from pellucid.methods.effects.mplot import mplot
from pellucid.methods.effects.pdp import Kind, pdp
from pellucid.verbs.bound import Bound


class _PdpOptions(TypedDict, total=False):
    grid: int
    at: Any
    kind: Kind
    center: Any
    pure: bool
    rows: Any


class _AleOptions(TypedDict, total=False):
    bins: Any
    total: bool
    order: Sequence[Any] | None
    gradient: bool


class EffectVerbs(Bound):
    """How predictions change with features."""

    @overload
    def pdp(self, features: None = None, **options: Unpack[_PdpOptions]) -> Effects: ...
    @overload
    def pdp(self, features: Any, **options: Unpack[_PdpOptions]) -> Effect: ...
    def pdp(
        self,
        features: Any = None,
        *,
        grid: int = 50,
        at: Any = None,
        kind: Kind = "average",
        center: Any = None,
        pure: bool = False,
        rows: Any = None,
    ) -> Effect | Effects:
        """Average effect of one feature or a pair: partial dependence (PDP); without a name, of the most important
        ones.

        ``at`` gives the grid (a list of values, or one list per feature), ``kind`` the average, the individual
        curves or both, ``center`` an anchor value (or ``"min"``, ``"mean"``) at which curves are set to zero;
        ``pure=True`` takes the main effects out of a pair.

        It misleads when features are correlated (see `ale`) and when rows respond differently (see `ice`); the
        result's `caveats` say whether they do.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> effect = ex.pdp(0, at=[0, 1])
        >>> round(float(effect.values[1] - effect.values[0]), 6)
        2.0
        """
        run = self._run("partial dependence")
        one = partial(pdp, self.predictor, self.data, grid=grid, at=at, kind=kind, center=center, pure=pure, rows=rows)
        if features is not None:
            return one(features, run=run)
        named("pdp", {"at": at, "pure": pure or None})
        return leading_effects(self.predictor, self.data, one, run=run)

    def ice(
        self,
        feature: Any,
        *,
        rows: Any = None,
        sample: int | None = None,
        grid: int = 50,
        at: Any = None,
        center: Any = None,
        derivative: bool = False,
    ) -> Effect:
        """What-if curves: the effect of one feature for each row, individual conditional expectation (ICE).

        ``rows`` picks rows (positions, or rows of your own), ``sample`` a random number of them, ``center`` an
        anchor value, ``derivative=True`` the slopes, whose spread shows where rows differ.

        It misleads as `pdp` does when features are correlated, curve by curve.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> curves = ex.ice(0, at=[0, 1], center=0)
        >>> curves.values.shape, round(float(curves.spread[1]), 6)
        ((500, 2), 0.0)
        """
        run = self._run("individual curves")
        return ice(
            self.predictor,
            self.data,
            feature,
            rows=rows,
            sample=sample,
            grid=grid,
            at=at,
            center=center,
            derivative=derivative,
            run=run,
        )

    @overload
    def ale(self, features: None = None, **options: Unpack[_AleOptions]) -> Effects: ...
    @overload
    def ale(self, features: Any, **options: Unpack[_AleOptions]) -> Effect: ...
    def ale(
        self,
        features: Any = None,
        *,
        bins: Any = None,
        total: bool = False,
        order: Sequence[Any] | None = None,
        gradient: bool = False,
    ) -> Effect | Effects:
        """Effect of one, two or three features, also of correlated features: accumulated local effects (ALE); without a
        name, of the most important features.

        The effect of two or three is what they do together beyond their effects alone and (for three) in pairs:
        the mixed difference of the prediction over the corners of a cell, averaged over the rows in the cell,
        added up along all features, with the effects of fewer features taken out. ``total=True`` adds these and
        the mean prediction back.

        ``bins`` is a number or the edges (for several features: one for all, or one for each). Without it there are as
        many as leave some ten rows per bin of one feature (5 to 40), or twenty per cell of several (3 to 40 for each of
        two, 3 to 10 of three). ``order`` is an order for categories (a list of them if several features have
        categories);
        ``gradient=True`` uses the model's own derivatives.

        It misleads in bins with few rows, across distant bins under strong dependence, through the order of
        categories, and for three features through noise and empty cells, because cells multiply; the result's
        `caveats` say where.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] + X[:, 1] ** 2, X)
        >>> effect = ex.ale(0)
        >>> round(effect.value(1) - effect.value(0), 6)
        2.0

        Three features whose product is predicted, every combination of values once:

        >>> X = np.array([[a, b, c] for a in range(4) for b in range(4) for c in range(4)], dtype=float)
        >>> effect = pellucid.Explainer(lambda X: X.prod(axis=1), X).ale((0, 1, 2), bins=3)
        >>> effect.values.shape, round(effect.value(3, 3, 3) - effect.value(3, 3, 0), 6)
        ((4, 4, 4), 9.1875)
        """
        run = self._run("accumulated local effects")
        one = partial(ale, self.predictor, self.data, bins=bins, total=total, order=order, gradient=gradient)
        if features is not None:
            return one(features, run=run)
        named("ale", {"order": order})
        return leading_effects(self.predictor, self.data, one, run=run)

    def mplot(self, feature: Any, *, bins: int = 20) -> Effect:
        """Average prediction of the rows that have a value: the marginal plot, to compare with `pdp` and `ale`."""
        return mplot(self.predictor, self.data, feature, bins=bins, run=self._run("marginal plot"))
