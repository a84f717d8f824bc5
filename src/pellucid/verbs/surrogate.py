"""A simple model that stands in for the model."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack, overload

from pellucid.explanations import Surrogate, Surrogates
from pellucid.methods.surrogate.dispatch import surrogate
from pellucid.verbs.bound import Bound


class _Options(TypedDict, total=False):
    rows: Any
    weights: Any
    near: Any
    size: float | None
    folds: Any


def _gam() -> Any:
    from pellucid.glassbox import AdditiveModel

    return AdditiveModel(family="gaussian")


def _pairs() -> Any:
    from pellucid.glassbox import AdditiveModel

    return AdditiveModel(family="gaussian", pairs="strong")


def _rules() -> Any:
    from pellucid.glassbox import RuleFit

    return RuleFit(most=30, task="regression")


GLASS_BOXES = {"gam": _gam, "ga2m": _pairs, "rules": _rules}


class SurrogateVerbs(Bound):
    """A simpler model."""

    @overload
    def surrogate(self, kind: list[Any] | tuple[Any, ...], **options: Unpack[_Options]) -> Surrogates: ...
    @overload
    def surrogate(self, kind: Any = ..., **options: Unpack[_Options]) -> Surrogate: ...
    def surrogate(
        self,
        kind: Any = "tree",
        *,
        rows: Any = None,
        weights: Any = None,
        near: Any = None,
        size: float | None = None,
        folds: Any = 5,
    ) -> Surrogate | Surrogates:
        """A simple model fitted to the predictions of this one: what it says, how far it stands in for the model, where
        it fails, and what using it instead would cost.

        ``kind="tree"`` is a regression tree, ``"linear"`` a sum of straight lines (and of levels of categories),
        ``"gam"`` an additive model, ``"ga2m"`` the same with pairs of features, ``"rules"`` a RuleFit of at most 30
        terms; any estimator with ``fit`` and ``predict`` works, also a classifier, a pipeline or a glass box. A list of
        kinds gives several side by side, judged by the same rows.

        ``size`` is the number of leaves (8 unless told), features or terms; a number below 1 asks for the smallest
        surrogate with that R²: ``size=0.9``. The result has R² for every size.

        Every R² is that of held-out rows: each row is predicted by a surrogate that was fitted to the other ``folds``
        (a number, or one label per row so that rows that belong together are held out together). Equal rows are always
        held out together.

        ``rows`` are those that the surrogate is fitted to (positions in X, or a table of your own); ``weights`` let
        some of them count more. ``near=row`` makes a local surrogate: rows count by how near they are to it (Gower's
        distance, as wide as leaves a tenth of the rows effective, at least 100). With y, `replacement` says what using
        the surrogate instead of the model costs.

        It misleads as a picture of the world (it is one of the model), where R² is low, and in parts of the data that
        it misses more than others (`subgroups`). A tree's splits may be others on other rows of the same kind.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> ex = pellucid.Explainer(lambda X: np.where(X[:, 0] > 0.5, 3.0, 1.0), X)
        >>> found = ex.surrogate(size=2)
        >>> found.overall > 0.95, found.tree.yes[0]
        (True, 'x0 ≤ 0.5')
        >>> both = ex.surrogate(["tree", "linear"])
        >>> both["linear"].overall < both["tree"].overall
        True
        """
        return surrogate(
            self.predictor,
            self.data,
            kind,
            rows=rows,
            weights=weights,
            near=near,
            size=size,
            folds=folds,
            named=GLASS_BOXES,
            run=self._run("surrogate"),
        )
