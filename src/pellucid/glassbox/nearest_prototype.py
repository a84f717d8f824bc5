"""The nearest-prototype model: a row has the class of the typical row that it is most like.

Reference. Kim, Khanna and Koyejo 2016, "Examples are not enough, learn to criticize!"; Bien and Tibshirani 2011.

Definition. With prototypes z_1, ..., z_m, rows of the training data chosen by MMD² with a kernel that is 0 between
classes, the predicted class of x is that of the z_i with the largest k(x, z_i); z_i is the explanation.

When it misleads. (1) All features count alike, in standard deviations. (2) A prototype on the other side of a class
boundary may be nearer than one's own. (3) Few prototypes cannot follow a boundary that bends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import one_of, positive, whole
from pellucid.data.similarity import Points, Similarity, usual_width, width_rows
from pellucid.errors import InputError
from pellucid.methods.examples.mmd import Selection, exchanged, greedy

_KERNELS = ("rbf", "laplace")
_PER_CLASS = (1, 2, 4, 8, 16)
_FACTORS = (0.5, 1.0, 2.0)
_NEAR = 0.005  # of accuracy: within that the fewest prototypes are taken


class NearestPrototype(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose every prediction is explained by one row of the training data.

    Parameters
    ----------
    n
        Number of prototypes over all classes, or "cv": the fewest, of 1 to 16 per class, that predict as well as any
        in cross-validation.
    kernel
        "rbf", "laplace", or "cv" for the better one: it decides which rows are typical.
    width
        Width of the kernel in standard deviations of the features; "auto" is the median distance of rows, "cv" the best
        of half, once and double that.
    folds
        Folds of the cross-validation.
    random_state
        Seed of the folds and of the rows that the median distance is measured on.

    Attributes
    ----------
    prototypes_
        Positions of the prototypes in the training data.
    prototype_classes_
        Their classes.
    kernel_, width_, n_prototypes_
        What was taken.
    scores_
        Accuracy in cross-validation by ``(kernel, width factor, number)``; empty without "cv".

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import NearestPrototype
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.vstack([rng.normal(m, 0.5, size=(50, 2)) for m in (0, 3)]), np.repeat(["a", "b"], 50)
    >>> model = NearestPrototype(n=2).fit(X, y)
    >>> model.predict([[0.1, 0.2], [2.9, 3.1]]).tolist(), y[model.explain([[0.1, 0.2]])].tolist()
    (['a', 'b'], ['a'])
    """

    def __init__(
        self,
        n: int | str = "cv",
        *,
        kernel: str = "rbf",
        width: float | str = "auto",
        folds: int = 5,
        random_state: Any = 0,
    ) -> None:
        self.n = n
        self.kernel = kernel
        self.width = width
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> NearestPrototype:
        """Choose the prototypes."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        if len(X) < 2:
            raise InputError("X has one sample; prototypes need at least two rows.")
        self.classes_, groups = np.unique(y, return_inverse=True)
        self._centre, self._scale = X.mean(axis=0), X.std(axis=0)
        self._scale[self._scale == 0] = 1.0
        Z = (X - self._centre) / self._scale
        seed = int(check_random_state(self.random_state).randint(2**31))
        kernel, factor, n = self._settled(Z, groups, seed)
        similarity = _similarity(Z, groups, kernel, self._width(factor), seed)
        found = _path(similarity, n)
        kappa, spread = _means(similarity)
        found = exchanged(similarity, kappa, found, spread=spread, allowed=np.ones(len(Z), dtype=np.bool_))
        self.prototypes_ = np.sort(found.chosen)
        self.prototype_classes_ = self.classes_[groups[self.prototypes_]]
        self.kernel_, self.width_, self.n_prototypes_ = kernel, similarity.width, n
        self._rows = Z[self.prototypes_]
        return self

    def predict(self, X: Any) -> Any:
        """The class of the nearest prototype."""
        nearest = self._nearest(X)
        return self.prototype_classes_[nearest]

    def explain(self, X: Any) -> IntArray:
        """For each row the position in the training data of the prototype that decides."""
        nearest = self._nearest(X)
        return np.asarray(self.prototypes_[nearest])

    def _nearest(self, X: Any) -> IntArray:
        check_is_fitted(self)
        Z = (validate_data(self, X, dtype=np.float64, reset=False) - self._centre) / self._scale
        return _nearest(Z, self._rows)

    # -- what is taken -------------------------------------------------------------------------------

    def _width(self, factor: float) -> float | tuple[float]:
        """A width, or a factor of the usual one, in brackets."""
        if isinstance(self.width, str):
            return (factor,)
        return positive("width", self.width, also="'auto' or 'cv'")

    def _settled(self, Z: FloatArray, groups: IntArray, seed: int) -> tuple[str, float, int]:
        """Kernel, factor of the usual width and number, by cross-validation where asked for."""
        kernels = _KERNELS if self.kernel == "cv" else (one_of("kernel", self.kernel, _KERNELS),)
        if isinstance(self.width, str):
            one_of("width", self.width, ("auto", "cv"))
        factors = _FACTORS if isinstance(self.width, str) and self.width == "cv" else (1.0,)
        numbers = self._numbers(groups)
        self.scores_: dict[tuple[str, float, int], float] = {}
        if len(kernels) * len(factors) * len(numbers) == 1:
            return kernels[0], factors[0], numbers[0]
        for kernel in kernels:
            for factor in factors:
                folds = list(self._folds(groups, seed))
                scores = [self._accuracies(Z, groups, *fold, (kernel, factor), numbers, seed) for fold in folds]
                means = np.mean(scores, axis=0) if scores else np.zeros(len(numbers))
                self.scores_ |= {(kernel, factor, m): float(s) for m, s in zip(numbers, means, strict=True)}
        best = max(self.scores_.values())
        return min((each for each, score in self.scores_.items() if score >= best - _NEAR), key=lambda each: each[2])

    def _numbers(self, groups: IntArray) -> list[int]:
        if isinstance(self.n, str) and self.n == "cv":
            return sorted({min(k * (int(groups.max()) + 1), len(groups)) for k in _PER_CLASS})
        return [whole("n", self.n, most=len(groups), also="'cv'")]

    def _folds(self, groups: IntArray, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
        folds = min(whole("folds", self.folds, least=2), int(np.bincount(groups).min()))
        if folds < 2:
            return
        split = StratifiedKFold(folds, shuffle=True, random_state=seed % 2**31)
        yield from split.split(np.zeros((len(groups), 1)), groups)

    def _accuracies(
        self,
        Z: FloatArray,
        groups: IntArray,
        train: IntArray,
        test: IntArray,
        how: tuple[str, float],
        numbers: list[int],
        seed: int,
    ) -> list[float]:
        """The accuracy on a fold with the first so many prototypes of one greedy path."""
        similarity = _similarity(Z[train], groups[train], how[0], self._width(how[1]), seed)
        chosen = train[_path(similarity, min(max(numbers), len(train))).chosen]
        return [float((groups[chosen[:m]][_nearest(Z[test], Z[chosen[:m]])] == groups[test]).mean()) for m in numbers]


def _similarity(Z: FloatArray, groups: IntArray, kernel: Any, width: float | tuple[float], seed: int) -> Similarity:
    rows = Points(Z)
    if isinstance(width, tuple):
        width = width[0] * usual_width(rows, kernel, width_rows(len(Z), np.random.default_rng(seed)))
    return Similarity(rows, kernel, width, groups)


def _means(similarity: Similarity) -> tuple[FloatArray, float]:
    kappa = similarity.means(np.ones(len(similarity)))
    return kappa, float(kappa.mean())


def _path(similarity: Similarity, n: int) -> Selection:
    kappa, spread = _means(similarity)
    return greedy(similarity, kappa, n, spread=spread, allowed=np.ones(len(similarity), dtype=np.bool_))


def _nearest(Z: FloatArray, rows: FloatArray) -> IntArray:
    """The place of the nearest of some rows, the first of equal ones."""
    best = np.empty(len(Z), dtype=np.intp)
    for start in range(0, len(Z), 4096):
        part = slice(start, start + 4096)
        apart = np.square(Z[part]).sum(axis=1)[:, None] - 2 * Z[part] @ rows.T + np.square(rows).sum(axis=1)
        best[part] = np.argmin(apart.round(12), axis=1)
    return best
