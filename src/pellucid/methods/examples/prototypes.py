"""Prototypes and criticisms: a few rows that stand for all, and rows that they represent badly.

Reference. Kim, Khanna and Koyejo 2016, "Examples are not enough, learn to criticize!"; Kaufman and Rousseeuw 1990 for
medoids.

Definition. Prototypes are rows of the data: those that minimise MMD^2 (see `mmd`), those that do so with weights (see
`weighted`), medoids (see `medoids`), or given ones. Criticisms are rows at which the witness function of the prototypes
is large (see `criticisms`). With ``by`` the kernel is local, 0 between rows of different classes (or predicted classes,
or thirds of the predictions), so that the total number is divided between them as MMD^2 demands.

Estimator. Numbers in standard deviations and levels of categories as points (`pellucid.data.embedding`), the width of
the kernel at the median distance; kappa exactly, or beyond 20,000 rows from 4,000 sampled columns, with the error that
this leaves in MMD^2. The number "auto" is the elbow of the greedy curve.

When it misleads. (1) Criticisms depend on the number of prototypes. (2) The numbers of both are choices: see the curve.
(3) So are the kernel and its width. (4) All features count, relevant or not: compare by contributions. (5) Given
prototypes may be poor ones. (6) A row of many features is hard to read: read what is typical of it. All but the last
are measured.

Cost. One model row for each example, and those of a sample to compare with; for ``by="prediction"`` one for each row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import is_number, is_whole, one_of, whole
from pellucid.data import Data
from pellucid.data.similarity import KERNELS, KernelName
from pellucid.diagnostics.general import SAMPLE_ROWS, sample_predictions
from pellucid.diagnostics.prototypes import Measured, prototype_caveats
from pellucid.errors import InputError
from pellucid.explanations import Discrepancy, Header, Prototypes
from pellucid.methods.examples import mmd, weighted
from pellucid.methods.examples.criticisms import criticise
from pellucid.methods.examples.estimation import describe, sensitivity
from pellucid.methods.examples.estimation.number import elbow, silhouettes
from pellucid.methods.examples.estimation.space import Features, Space, rows_of, space_of
from pellucid.methods.examples.medoids import medoids
from pellucid.models import Predictor
from pellucid.models.outcome import has_outcome, outcome_as_said, outcome_for
from pellucid.runner import Run
from pellucid.stats import effective_size
from pellucid.words import value_name

Method = Literal["mmd", "weighted", "medoids", "given"]
By = Literal["class", "prediction"] | None
METHODS: tuple[Method, ...] = ("mmd", "weighted", "medoids", "given")
_SEARCHES: dict[Method, Any] = {"mmd": mmd, "weighted": weighted}  # for the rest prototypes that count alike are known
_AUTO = 30  # prototypes up to which the elbow is looked for
_BEYOND = 10  # prototypes beyond those asked for, to see whether they are missing


def prototypes(
    predictor: Predictor,
    data: Data,
    n: Any = "auto",
    *,
    criticisms: Any = 0,
    method: Method = "mmd",
    by: By = None,
    features: Features = None,
    kernel: KernelName = "rbf",
    width: Any = "auto",
    sample: Any = "auto",
    background: Any = None,
    of: str = "row",
    run: Run,
) -> Prototypes:
    """Rows that stand for all rows, and rows that these represent badly; ``of`` says what a row of the table is."""
    method, by = one_of("method", method, METHODS), one_of("by", by, ("class", "prediction", None))
    kernel = one_of("kernel", kernel, KERNELS)
    groups, names = _groups(predictor, data, by, run)
    rows = rows_of(predictor, data, features, kernel, background, run)
    space = space_of(rows, data.weights, kernel=kernel, width=width, groups=groups, sample=sample, run=run)
    chosen, path = _chosen(space, data, n, method)
    count = _count(criticisms, len(chosen.chosen), space)
    free = space.allowed.copy()
    free[chosen.chosen] = False
    witness = chosen.witness(space.kappa)
    odd = criticise(space.kernel, witness, count, free)
    settings = {
        "n": n if isinstance(n, str) else len(chosen.chosen),
        "criticisms": count,
        "method": method,
        "by": by,
        "features": features if features is None or isinstance(features, str) else "function",
        "kernel": space.similarity.kernel,
        "width": space.similarity.width,
        "sample": None if space.columns is None else len(space.columns),
        "random_state": run.seed,
        "of": of,
    }
    covered = describe.coverage(space.similarity, chosen.chosen, space.weights)
    parts = _Parts(predictor, data, space, chosen, path, covered, odd, witness, names, features in (None, "raw"))
    found = _result(parts, settings, run)
    measured = run.unless_interrupted(lambda: _measured(parts, found, settings, run), None)
    if measured is None:
        return run.finish(found, ())
    return run.finish(
        found,
        prototype_caveats(predictor, data, run, measured),
        discrepancy=_with_widths(found.discrepancy, measured),
        usual_error=_usual_error(predictor, data, run),
    )


@dataclass(frozen=True, eq=False)
class _Parts:
    """What a result is made of."""

    predictor: Predictor
    data: Data
    space: Space
    chosen: mmd.Selection
    path: mmd.Selection
    covered: describe.Coverage
    odd: IntArray
    witness: FloatArray
    names: AnyArray | None
    plain: bool


# -- what is asked for -------------------------------------------------------------------------------


def _groups(predictor: Predictor, data: Data, by: By, run: Run) -> tuple[IntArray | None, AnyArray | None]:
    """The group of every row under ``by``, as numbers and as names."""
    if by is None:
        return None, None
    if by == "class":
        if data.y is None:
            raise InputError("by='class' needs the true classes; give y to the Explainer, or use by='prediction'.")
        if predictor.classes is None:
            raise InputError("by='class' needs classes, and the model predicts numbers; use by='prediction'.")
        groups = outcome_for(predictor, data).astype(np.intp)
    else:
        full = run.predict(predictor, data, full=True)
        if predictor.classes is None:
            thirds = np.quantile(full[:, 0], [1 / 3, 2 / 3])
            labels = np.array(["low prediction", "middling prediction", "high prediction"], dtype=object)
            groups = np.searchsorted(thirds, full[:, 0], side="left")
            return groups, labels[groups]
        groups = full.argmax(axis=1)
    names = np.array([value_name(label) for label in predictor.classes or ()], dtype=object)
    return groups, names[groups]


def _chosen(space: Space, data: Data, n: Any, method: Method) -> tuple[mmd.Selection, mmd.Selection]:
    """The prototypes, and the greedy path that goes on beyond them."""
    similarity, kappa, spread, allowed = space.kernel, space.kappa, space.spread, space.allowed
    most = int(allowed.sum())
    if method == "given":
        rows = data.places(n) if not (isinstance(n, str) and n == "auto") and not _is_one_number(n) else None
        if rows is None:
            raise InputError(
                "n must be the rows that are given as prototypes, by position or label, for method='given'."
            )
        if len(np.unique(rows)) < len(rows):
            raise InputError("n names a row twice; give different rows as prototypes.")
        own = mmd.given(similarity, kappa, rows, spread=spread)
        m = min(len(rows), most)
        return own, mmd.greedy(similarity, kappa, m, spread=spread, allowed=allowed)
    auto = isinstance(n, str) and n == "auto"
    m = min(_AUTO, most) if auto else whole("n", n, most=most, also="'auto'")
    search = _SEARCHES.get(method, mmd)
    path = search.greedy(
        similarity, kappa, min(m if auto else m + min(m, _BEYOND), most), spread=spread, allowed=allowed
    )
    m = elbow(path.curve) if auto else m
    first = search.first(path, m, kappa, spread)
    if method == "medoids":
        rows, _ = medoids(space.similarity.rows, first.chosen, space.weights, allowed)
        return mmd.given(similarity, kappa, rows, spread=spread), path
    return search.exchanged(similarity, kappa, first, spread=spread, allowed=allowed), path


def _is_one_number(n: Any) -> bool:
    return is_number(n) or is_whole(n) or isinstance(n, bool) or n is None


def _count(criticisms: Any, m: int, space: Space) -> int:
    """How many criticisms: as many as prototypes if "auto"."""
    most = int(space.allowed.sum()) - m
    if isinstance(criticisms, str) and criticisms == "auto":
        return min(m, most)
    return whole("criticisms", criticisms, least=0, most=most, also="'auto'")


# -- the result --------------------------------------------------------------------------------------


def _result(parts: _Parts, settings: dict[str, Any], run: Run) -> Prototypes:
    data, space, chosen, predictor = parts.data, parts.space, parts.chosen, parts.predictor
    covered = parts.covered
    order = np.argsort(-covered.share, kind="stable")
    ordered, place = chosen.chosen[order], np.append(np.argsort(order), -1)
    owner = place[covered.owner]
    within = space.similarity.within(ordered)
    weights = describe.best_weights(within, space.kappa[ordered])
    examples = np.concatenate([ordered, parts.odd])
    some = data.take(examples)
    full = run.predict(predictor, some, full=True)
    share = covered.share[order]
    size = effective_size(space.weights)
    return Prototypes(
        header=Header.of(predictor, data, run, settings, row_labels=some.row_labels),
        values=share,
        se=np.sqrt(share * (1 - share) / size),
        roles=("prototype",) * len(ordered) + ("criticism",) * len(parts.odd),
        cells=tuple(feature.decode(some.codes(j)) for j, feature in enumerate(data.schema.features)),
        column_names=data.schema.names,
        predictions=predictor.restrict(full),
        outcomes=np.empty(0) if some.y is None or some.y.ndim > 1 else outcome_as_said(predictor, some),
        errors=errors_of(predictor, some, full),
        usual_error=float("nan"),
        groups=("",) * len(examples) if parts.names is None else tuple(str(name) for name in parts.names[examples]),
        witness=parts.witness[examples],
        nearest=owner[examples],
        contrast=describe.contrasts(data, owner, ordered),
        discrepancy=Discrepancy(
            mmd2=chosen.mmd2,
            se=space.mmd2_error(ordered, weights if chosen.weighted else np.full(len(ordered), 1.0 / len(ordered))),
            weighted=weighted.mmd2_of(within, space.kappa[ordered], weights, space.spread),
            weights=weights,
            curve=parts.chosen.curve if settings["method"] == "given" else parts.path.curve,
            silhouettes=silhouettes(parts.path.columns, space.weights),
            elbow=elbow(parts.path.curve),
            kernel=space.similarity.kernel,
            width=space.similarity.width,
        ),
        map=describe.row_map(data, space.similarity.rows, examples, parts.witness, plain=parts.plain),
    )


def errors_of(predictor: Predictor, data: Data, full: FloatArray) -> FloatArray:
    """How far off the model is: 1 for a wrong class, the absolute difference of numbers; NaN without y."""
    words = data.y is not None and data.y.dtype.kind not in "biuf"
    if not has_outcome(predictor, data) or (predictor.task == "scores" and predictor.classes is None and words):
        return np.full(len(data), np.nan)
    y = outcome_for(predictor, data)
    if predictor.classes is not None:
        return (full.argmax(axis=1) != y).astype(np.float64)
    return np.asarray(np.abs(y - full).mean(axis=1))


def _usual_error(predictor: Predictor, data: Data, run: Run) -> float:
    if data.y is None:
        return float("nan")
    some = data.take(data.spread(SAMPLE_ROWS))
    errors = errors_of(predictor, some, sample_predictions(predictor, some, run))
    return float(np.average(errors, weights=some.weights)) if some.weights.any() else float("nan")


# -- what is known against it ------------------------------------------------------------------------


def _measured(parts: _Parts, found: Prototypes, settings: dict[str, Any], run: Run) -> Measured:
    space, path, chosen = parts.space, parts.path, parts.chosen.chosen
    m, method = len(chosen), settings["method"]
    generator = run.generator("prototypes.widths")
    widths = {}
    search = _SEARCHES.get(method)
    if search is not None and space.similarity.kernel != "leaves":
        found_there = sensitivity.at_widths(space, chosen, (0.5, 2.0), search, generator)
        widths = dict(zip(("at_half", "at_double"), found_there, strict=True))
    some = parts.data.spread(SAMPLE_ROWS)
    f = parts.predictor.restrict(sample_predictions(parts.predictor, parts.data.take(some), run))
    at = found.predictions[np.argsort(np.argsort(-parts.covered.share, kind="stable"))]
    return Measured(
        m=m,
        mmd2=parts.chosen.mmd2,
        one=float(path.curve[0]),
        se=float("nan") if found.discrepancy is None else found.discrepancy.se,
        itself=1.0 / (effective_size(space.weights) * space.spread) if widths else 0.0,
        alike=space.spread if widths else 0.0,
        kept=sensitivity.kept_criticisms(space, path, parts.odd, m, search) if len(parts.odd) and search else None,
        explained=sensitivity.explained_by_prototypes(space.similarity, chosen, some, f, at),
        beyond=(len(path.chosen), float(np.min(path.curve[m:]))) if search and len(path.chosen) > m else None,
        best=_searched(space, path) if method == "given" else None,
        sampled=None if space.columns is None else len(space.columns),
        contributions=settings["features"] == "contributions",
        of=settings["of"],
        **widths,
    )


def _searched(space: Space, path: mmd.Selection) -> float:
    """MMD^2 of as many prototypes that are searched for."""
    return mmd.exchanged(space.kernel, space.kappa, path, spread=space.spread, allowed=space.allowed).mmd2


def _with_widths(found: Discrepancy | None, measured: Measured) -> Discrepancy | None:
    if found is None or measured.at_half is None or measured.at_double is None:
        return found
    kept = float("nan") if measured.kept is None else measured.kept
    return replace(found, half=measured.at_half[0], double=measured.at_double[0], kept=kept)
