"""Explaining by examples: typical and odd rows, and rows like one."""

from __future__ import annotations

from typing import Any

from pellucid.data.similarity import KernelName
from pellucid.explanations import Neighbors, Prototypes
from pellucid.methods.examples.estimation.space import Features
from pellucid.methods.examples.neighbors import Distance, neighbors
from pellucid.methods.examples.prototypes import By, Method, prototypes
from pellucid.verbs.bound import Bound


class ExampleVerbs(Bound):
    """Which rows are typical, which are odd, which are alike."""

    def prototypes(
        self,
        n: Any = "auto",
        *,
        criticisms: int | str = 0,
        method: Method = "mmd",
        by: By = None,
        features: Features = None,
        kernel: KernelName = "rbf",
        width: float | str = "auto",
        sample: int | str | None = "auto",
    ) -> Prototypes:
        """Typical rows (prototypes), and rows that these represent badly (criticisms), with the model's predictions and
        mistakes on both: MMD-critic.

        Prototypes are the ``n`` rows whose distribution is nearest to that of all rows, by the maximum mean discrepancy
        (MMD²): greedily, then exchanged while it falls. ``n="auto"`` takes the elbow of the scree plot. Each stands for
        a share of the rows (`values`). ``criticisms`` is a number, or "auto" for as many as prototypes: rows at which
        the witness function is large, kept apart by the log determinant of their kernel.

        ``method="weighted"`` chooses rows and their weights together (as ProtoDash does): MMD² is lower still, but such
        rows are typical only by their weights. ``method="medoids"`` minimises the sum of distances instead (k-medoids).
        ``method="given"`` takes your own rows, ``n=[3, 17, 40]``, by position or label, and says how good they are.
        ``by="class"`` or ``"prediction"`` divides the number between classes by a local kernel.

        Rows are compared by all features: numbers in standard deviations, and levels of categories. ``features`` is
        a function of your table that returns an embedding, one row of numbers per row; "raw", numbers as they are;
        "contributions", what the features contribute to the prediction (Shapley values); or "leaves", where the model
        is made of trees, whose kernel is the share of trees in which two rows end in the same leaf. ``kernel`` is
        "rbf", exp(-D² / (2 width²)), "laplace", exp(-D / width), or "gower", the same of Gower's distance;
        ``width="auto"`` is the median distance. Beyond 20,000 rows similarities are averaged over 4,000 sampled rows;
        ``sample`` is another number, or None for all.

        It misleads as far as the number, the kernel and its width are choices, criticisms above all, and where features
        count that the model does not use; the result's `caveats` measure each.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> rng = np.random.default_rng(0)
        >>> X = np.vstack([rng.normal(m, 0.3, size=(100, 2)) for m in (0, 3, 6)])
        >>> found = pellucid.Explainer(lambda X: X[:, 0], X).prototypes("auto", criticisms=2)
        >>> len(found.prototypes), len(found.criticisms), found.values.round(2).tolist()
        (3, 2, [0.33, 0.33, 0.33])
        """
        return prototypes(
            self.predictor,
            self.data,
            n,
            criticisms=criticisms,
            method=method,
            by=by,
            features=features,
            kernel=kernel,
            width=width,
            sample=sample,
            background=self.background,
            run=self._run("prototypes"),
        )

    def neighbors(self, row: Any, n: int = 5, *, distance: Distance = "gower") -> Neighbors:
        """Who is like it: the ``n`` rows of the data nearest to a row, what the model predicts for them and what was
        true, and the nearest row that is predicted otherwise.

        ``distance`` is "gower" (all features, each by its range), "euclidean" (in standard deviations),
        "contributions" (what features contribute to the prediction, by Shapley values: rows that the model treats
        alike), "leaves" (1 minus the share of trees in which two rows end in the same leaf; models of trees), or a
        function of your table that returns an embedding, one row of numbers per row. A row of X is not its own
        neighbour. Where numbers are predicted, "otherwise" means by more than half a standard deviation of the
        predictions.

        It misleads with many features, where all rows are about as far; the result's `caveats` say so.

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> X = np.arange(20.0).reshape(10, 2)
        >>> ex = pellucid.Explainer(lambda X: X[:, 0], X)
        >>> ex.neighbors(4, n=2).neighbors.tolist()
        [3, 5]
        """
        return neighbors(
            self.predictor,
            self.data,
            row,
            n=n,
            distance=distance,
            background=self.background,
            run=self._run("neighbours"),
        )
