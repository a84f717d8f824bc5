"""Explainer: binds a model and reference data to every method. It has no logic of its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pellucid.arrays import IntArray
from pellucid.checks import flag, is_flag, is_whole, reporting, seed, workers
from pellucid.data import Data, as_frame
from pellucid.data.frames.doorway import check_table
from pellucid.data.no_features import no_features
from pellucid.data.row_labels import split_labels
from pellucid.data.schema import Categorical
from pellucid.data.table import plain_array
from pellucid.diagnostics.general import SAMPLE_ROWS
from pellucid.diagnostics.off_data import leaves_data
from pellucid.errors import InputWarning
from pellucid.explanations import Attribution, Importance, ImportanceComparison, Interactions
from pellucid.explanations.explanation import native_table
from pellucid.methods.importance.dispatch import side_by_side
from pellucid.methods.importance.shap_importance import from_contributions
from pellucid.methods.interactions.exclusion import with_own_draws
from pellucid.methods.interactions.request import Request as InteractionRequest
from pellucid.methods.interactions.request import sets_of
from pellucid.models import Predictor
from pellucid.models.outputs import ClassNames
from pellucid.models.predictor import Link
from pellucid.reading.introduction import introduction
from pellucid.runner import Limits, Run
from pellucid.runner.progress import Progress
from pellucid.verbs.changes import ChangeVerbs
from pellucid.verbs.contributions import ContributionVerbs
from pellucid.verbs.effects import EffectVerbs
from pellucid.verbs.examples import ExampleVerbs
from pellucid.verbs.influence import InfluenceVerbs
from pellucid.verbs.local import LocalVerbs
from pellucid.verbs.surrogate import SurrogateVerbs
from pellucid.verbs.trust import TrustVerbs
from pellucid.verbs.whole_model import ModelVerbs


class Explainer(
    EffectVerbs,
    ModelVerbs,
    TrustVerbs,
    ContributionVerbs,
    LocalVerbs,
    ChangeVerbs,
    ExampleVerbs,
    InfluenceVerbs,
    SurrogateVerbs,
):
    """See through a model: one object, one verb per question.

    Parameters
    ----------
    model
        Estimator, pipeline, booster, torch module, ONNX file or session, or a function ``f(X) -> array``.
    X
        Reference data: pandas, polars, pyarrow, numpy, scipy sparse or a list of dicts.
    y
        True outcome, one per row; needed only by what compares with the truth.
    output
        Class label(s) to explain; default every class, and of two classes the second.
    link
        ``"logit"`` explains log-odds instead of probabilities.
    categorical
        Names of columns to treat as categories; default: judged by their types. ``{"color": ["red", "green", "blue"]}``
        also gives their levels, where the model knows some that X lacks.
    groups
        ``{"weather": ["temp", "hum"]}``: columns that act as one.
    feature_names
        Names for the columns of a bare matrix.
    class_names
        What to call the classes of a model that was fitted to 0 and 1: ``["bad", "good"]``, in the order of its labels,
        or by label, ``{0: "bad", 1: "good"}``. ``y`` and ``output`` may then use either.
    labels, units
        Names for people and units of measurement, by column: ``labels={"temp": "Temperature"}, units={"temp": "°C"}``.
        Charts, sentences and tables then speak of "Temperature (°C)"; arguments may use either name.
    background
        Rows that stand for "absent" in Shapley methods: a frame, a number of rows, or None. Effects and
        importance use every row of X. A frame is copied: what is changed in it later needs another Explainer.
    sample_weight
        One weight per row of X.
    row_labels
        What rows are called: a column of ids in X (it is no feature then), or one label per row. Default: the
        index of a pandas table, else positions. Rows can be asked for by label: ``ex.shap("cust7")``.
    random_state
        Seed; the same seed gives the same numbers, whatever ``n_jobs``.
    n_jobs
        joblib's convention; batches of rows go to threads.
    progress
        None: a bar when work is long and the terminal interactive; True, False, or a function
        ``(done, total)``.
    checks
        Whether to run the diagnostics behind `caveats` (they evaluate the model at some further rows).

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0])
    >>> ex = pellucid.Explainer(model, X, feature_names=["temp", "wind"])
    >>> effect = ex.pdp("temp", at=[0, 1])
    >>> bool(np.isclose(effect.values[1] - effect.values[0], 3))
    True
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        output: Any = None,
        link: Link = "identity",
        categorical: Categorical | None = None,
        groups: Mapping[str, Sequence[str | int]] | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: ClassNames | None = None,
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        background: Any = None,
        sample_weight: Any = None,
        row_labels: Any = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
        checks: bool = True,
    ) -> None:
        self._random_state, self._checks = seed(random_state), flag("checks", checks)
        self._n_jobs, self._progress = workers(n_jobs), reporting(progress)
        self._limits = Limits()
        check_table(X, feature_names)
        X, named = split_labels(X, row_labels)
        judged = self._checks and (y is not None or link == "logit")
        self.predictor = Predictor(
            model,
            X,
            output=output,
            link=link,
            labels=None if y is None else plain_array(y),
            feature_names=feature_names,
            class_names=class_names,
            sample=SAMPLE_ROWS if judged else 0,
        )
        self.data = Data.of(
            as_frame(X, feature_names or self.predictor.names),
            y,
            categorical=categorical,
            groups=groups,
            sample_weight=sample_weight,
            container=self.predictor.container,
            row_labels=named,
            labels=labels,
            units=units,
        )
        for sentence in no_features(self.data):
            warnings.warn(sentence, InputWarning, stacklevel=2)
        own = background is not None and not is_whole(background) and not is_flag(background)
        self.background = self.data.rows(background) if own else background
        self._known: dict[str, Any] = {"sample": self.predictor.sample} if judged else {}

    def __repr__(self) -> str:
        return introduction(self.predictor, self.data, self._run("looking at the model"))

    def predict(self, rows: Any = None) -> Any:
        """What the model predicts and is explained: a table with one column per output, in your dataframe library.

        ``rows`` are positions in X, or rows of your own, as for `shap`; None: every row of X. The table has the index
        of these rows, or their column of ids (``row_labels=``).

        Examples
        --------
        >>> import numpy as np, pellucid
        >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0], np.array([[1.0, 0.0], [2.0, 5.0]]))
        >>> ex.predict([1])["prediction"].tolist()
        [4.0]
        """
        data = self.data if rows is None else self.data.rows(rows)
        found = self._run("predictions").predict(self.predictor, data)
        columns = dict(zip(self.predictor.output_names, found.T, strict=True))
        return native_table(columns, self.data.caller, data.row_labels)

    def report(
        self,
        path: str | Path = "report.html",
        *,
        title: str | None = None,
        top: int = 6,
        rows: Sequence[int] | None = None,
        detail: Literal["short", "full"] = "short",
    ) -> Path:
        """What to know about the model, to read: one HTML file that needs no network, with the caveats beside each
        chart.

        Two to three printed pages: how good the model is (`performance`), what matters (feature importance, SHAP
        summary), how it responds (feature effects), and any row and any feature to choose in the page, with what-if
        along curves that were computed beforehand. ``detail="full"`` adds several measures of importance side by side,
        interactions, the model in parts, correlated features, and a typical, the extreme and an unusual row one by
        one, by Shapley values, local surrogates (LIME) and anchors. A model that has to be called, above all a slow
        one, is evaluated at fewer rows; what is left out for that reason is named with the call that has it. Of more
        than 250,000 rows so many are looked at, drawn at random, and the page says so.

        ``top`` is the number of features whose effects are shown; ``rows`` are rows to explain, by their positions, as
        in ``rows=[3, 17]``.
        """
        from pellucid.report import report

        return report(self, path, title=title, top=top, rows=rows, detail=detail)

    # -- what a report asks besides ------------------------------------------------------------------

    def _off_data(self, j: int, run: Run) -> tuple[str, float] | None:
        """The feature with which this one is correlated, and how strongly, where partial dependence leaves the data."""
        found = leaves_data(self.data, j, run)
        return None if found is None else (found.partner, found.association)

    def _importance_of(self, rows: IntArray, why: Attribution) -> Importance:
        """Contributions in some rows of X as a measure of importance."""
        return from_contributions(why, self.data.weights[rows])

    def _side_by_side(self, parts: Sequence[Importance], run: Run) -> ImportanceComparison:
        """Measures of importance that are known already."""
        return side_by_side(parts, self.predictor, self.data, run)

    def _with_more_draws(self, found: Interactions, run: Run) -> Interactions:
        """Interactions with costs of exclusion from draws of their own."""
        players = self.data.schema.players()
        sets = sets_of([list(players).index(name) for name in found.feature_names], len(players), "pairs")
        request = InteractionRequest(
            self.predictor, self.data, self.background, players, sets, "pairs", True, False, None, run
        )
        return with_own_draws(found, request)
