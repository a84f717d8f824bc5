"""Which method answers: as asked for, or the exact one that the model allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pellucid.arrays import IntArray
from pellucid.checks import one_of, whole
from pellucid.data import Data
from pellucid.diagnostics.influence import influence_caveats
from pellucid.errors import InputError, nearest
from pellucid.explanations import Header, Influence
from pellucid.explanations.influence import Checked, Pattern
from pellucid.methods.influence.deletion import deletion
from pellucid.methods.influence.estimation.left_out import LeftOut, Request
from pellucid.methods.influence.estimation.measured import Measured, measured
from pellucid.methods.influence.estimation.pattern import pattern
from pellucid.methods.influence.estimation.refitted import check
from pellucid.methods.influence.function import function
from pellucid.methods.influence.leaves import leaves, leaves_or_none
from pellucid.methods.influence.linear import linear
from pellucid.methods.influence.network import network
from pellucid.models import Predictor
from pellucid.models.linear import Unlike
from pellucid.models.linear_fit import LinearFit
from pellucid.reading.additive import read_fit
from pellucid.runner import Run

Method = Literal["auto", "deletion", "cook", "dfbeta", "function", "leaves"]
On = Literal["predictions", "parameters", "loss"]
METHODS: tuple[Method, ...] = ("auto", "deletion", "cook", "dfbeta", "function", "leaves")
ON = ("predictions", "parameters", "loss")
BUDGET = 200


def influence(
    predictor: Predictor,
    data: Data,
    rows: Any = None,
    *,
    method: Method = "auto",
    on: On | Callable[..., float] = "predictions",
    refit: Any = None,
    together: Any = None,
    budget: int | None = None,
    run: Run,
) -> Influence:
    """What each training row adds to predictions, losses or coefficients by being there."""
    one_of("method", method, METHODS)
    if not callable(on):
        one_of("on", on, ON)
    budget = BUDGET if budget is None else whole("budget", budget, least=4)
    if data.y is None:
        raise InputError("influence is about training rows, which have an outcome; give y to the Explainer.")
    target = None if rows is None else data.rows(rows)
    if method in ("cook", "dfbeta") and (rows is not None or on not in ("predictions", "parameters")):
        raise InputError(f"method={method!r} is about the whole model; leave out rows= and on=.")
    if on == "loss" and target is not None and target.y is None:
        raise InputError("on='loss' needs the outcome of the rows; give rows as positions in X.")
    asked = "parameters" if method == "dfbeta" else on
    request = Request(predictor, data, target, asked, refit, units_of(data, together), budget, run)
    left = left_out(request, method)
    found = measured(request, left)
    if method == "cook":
        assert left.cook is not None
        found = Measured(left.cook, (), left.cook, np.empty(0))
    checked = check(request, left, found) if method not in ("cook", "dfbeta") else Checked.nothing()
    return _result(request, left, found, checked, method, together)


def left_out(request: Request, method: Method) -> LeftOut:
    """The models without rows, by the method asked for or the best that the model allows."""
    if method == "leaves":
        return leaves(request)
    if method == "function" and request.predictor.library == "torch":
        return network(request)
    fit = read_fit(request.run, request.predictor)
    squared = isinstance(fit, tuple) and fit[0].loss == "squared"
    if method in ("cook", "dfbeta", "function"):
        return _of_coefficients(request, method, fit)
    if request.refit is None:
        found = closed(request, fit) if method == "auto" or squared else None
        if found is not None:
            return found
    return deletion(request)


def _of_coefficients(request: Request, method: Method, fit: tuple[LinearFit, Any] | Unlike) -> LeftOut:
    """The models without each row by their coefficients, which other models do not have."""
    squared = isinstance(fit, tuple) and fit[0].loss == "squared"
    why = fit.reason if isinstance(fit, Unlike) else f"it is fitted by the {_LOSSES[fit[0].loss]}"
    if method == "cook":
        if not isinstance(fit, tuple) or not squared:
            raise InputError(f"method='cook' is for least squares and ridge regression: {why}; use method='deletion'.")
        return linear(request, *fit)
    if method == "dfbeta":
        found = closed(request, fit) if isinstance(fit, tuple) else None
        if found is None:
            why = f"together= has no closed form, {why}" if isinstance(fit, tuple) else why
            raise InputError(f"method='dfbeta' is for models with coefficients: {why}; use method='deletion'.")
        return found
    if not isinstance(fit, tuple) or squared:
        why = "least squares have a closed form, method='deletion'" if squared else why
        raise InputError(f"method='function' is for logistic, softmax and generalised linear regression: {why}.")
    return function(request, *fit)


def closed(request: Request, fit: tuple[LinearFit, Any] | Unlike | None = None) -> LeftOut | None:
    """The models without rows where none has to be fitted again; None where that cannot be."""
    fit = read_fit(request.run, request.predictor) if fit is None else fit
    if isinstance(fit, tuple):
        if fit[0].loss == "squared":
            return linear(request, *fit)
        return function(request, *fit) if request.units is None else None
    return leaves_or_none(request) if request.units is None and request.on != "parameters" else None


def units_of(data: Data, together: Any) -> tuple[IntArray, ...] | None:
    """Sets of rows that are left out together, by the values of a column or by labels."""
    if together is None:
        return None
    if isinstance(together, str):
        if together not in data.schema.names:
            raise InputError(f"together={together!r} is not a column of X{nearest(together, data.schema.names)}")
        labels = data.codes(data.schema.index(together))
        labels = np.where(np.isnan(labels), np.inf, labels)
    else:
        labels = np.asarray(together)
        if labels.shape != (len(data),):
            raise InputError(
                f"together has shape {labels.shape} but X has {len(data)} rows; give a column or one label per row."
            )
        labels = labels.astype(str) if labels.dtype == object else labels
    place = np.unique(labels, return_inverse=True)[1]
    units = tuple(np.flatnonzero(place == k) for k in range(int(place.max()) + 1))
    if len(units) < 2:
        raise InputError("together puts all rows into one set: nothing would be left to fit.")
    return units


def _result(
    request: Request, left: LeftOut, found: Measured, checked: Checked, method: str, together: Any
) -> Influence:
    q, data = request, request.data
    on = q.on if isinstance(q.on, str) else getattr(q.on, "__name__", "a function")
    chosen = method if method in ("cook", "dfbeta") else _METHOD_OF[left.how]
    labels = data.row_labels if q.units is None else _unit_labels(data, q.units, together)
    result = Influence(
        method=chosen,
        on=on,
        how=left.how,
        values=found.values,
        se=np.zeros_like(found.values),
        targets=found.targets,
        strength=found.strength,
        present=found.present,
        errors=found.errors,
        leverage=_of_units(left.leverage, q),
        residual=_of_units(left.residual, q),
        checked=checked,
        pattern=Pattern() if q.units is not None else pattern(data, found.strength, q.run),
        header=Header.of(
            q.predictor,
            data,
            q.run,
            {
                "method": chosen,
                "on": on,
                "random_state": q.run.seed,
                "rows": None if q.target is None else len(q.target),
                "together": None if together is None else (together if isinstance(together, str) else "labels"),
                "tried": len(left.tried),
                "at_random": len(left.at_random),
                "reach": _reach(left, found),
                "units": q.n_units,
                "apart": left.apart,
                **{name: value for name, value in left.notes.items() if name != "theta"},
            },
            scale="loss" if on == "loss" else None,
            row_labels=labels,
        ),
    )
    return q.run.finish(result, influence_caveats(q.predictor, data, q.run, result))


_LOSSES = {
    "logistic": "log loss",
    "softmax": "log loss",
    "deviance": "deviance of its family",
    "squared": "squared loss",
}
_METHOD_OF = {
    "closed form": "deletion",
    "refits": "deletion",
    "Newton steps": "function",
    "trees kept": "leaves",
    "influence function": "function",
}


def _reach(left: LeftOut, found: Measured) -> float:
    """The share of units drawn at random that are among the ten strongest."""
    if not len(left.at_random):
        return 0.0
    known = found.strength[np.isfinite(found.strength)]
    tenth = np.sort(known)[-min(10, len(known))]
    return float((found.strength[left.at_random] >= tenth).mean())


def _of_units(values: Any, request: Request) -> Any:
    """Of each unit: the row's own, or the mean over the rows of the unit; empty where unknown."""
    if values is None:
        return np.empty(0)
    if request.units is None:
        return np.asarray(values)
    return np.array([values[rows].mean() for rows in request.units])


def _unit_labels(data: Data, units: tuple[IntArray, ...], together: Any) -> Any:
    from pellucid.data.row_labels import RowLabels, labels_from

    if isinstance(together, str):
        frame = data.frame
        cells = np.asarray(frame.native_column(frame.names.index(together)), dtype=object)
        return RowLabels(labels_from(np.array([f"{together} = {cells[rows[0]]}" for rows in units], dtype=object)))
    cells = np.asarray(together)
    return RowLabels(labels_from(np.array([str(cells[rows[0]]) for rows in units], dtype=object)))
