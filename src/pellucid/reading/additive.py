"""A model as a sum over its features, read once for all questions of an Explainer, and believed only after the sums
have given its own predictions (see `pellucid.models.linear` for what is read).

They are compared with the predictions that are known since the Explainer was made, which takes no model rows; by what
asks about other rows than those of the data also on rows of the background, on mixtures of them, and on some of the
rows that are explained.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import PellucidError
from pellucid.models import Predictor
from pellucid.models.linear import LinearForm, Link, Unlike, agreeing_link, linear_form, predictions
from pellucid.models.linear_fit import LinearFit, declares_fit, linear_fit
from pellucid.reading.terms import Tables
from pellucid.runner import Run

_DOUBLE = 1e-9  # how closely sums agree with predictions, as a share of their range
_SINGLE = 1e-5  # the same, for coefficients in single precision
_COMPARED = 1000  # background rows, and as many mixtures of them
_ASKED = 20  # of the rows that are explained
_KEPT_BYTES = 32 * 2**20  # of the background's encoded columns


@dataclass(frozen=True, eq=False)
class Additive:
    """The sum, the link by which it agrees with the model, and encoded tables.

    ``exact`` says whether it agrees up to rounding, and not only beside a large constant, where everything does.
    """

    form: LinearForm
    link: Link
    exact: bool
    tables: Tables


@dataclass(frozen=True, eq=False)
class SumRows:
    """A sum and encoded columns of some rows and of the background.

    ``source`` is the column of the table that each is made from, ``share`` the weight of each background row. The link
    of the sums is what is explained, of its outputs those to ``keep``; the identity where the sums are.
    """

    explained: FloatArray
    background: FloatArray
    share: FloatArray
    source: IntArray
    slopes: FloatArray
    intercept: FloatArray
    prediction: FloatArray
    scale: str
    link: Link
    keep: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Compared:
    """What was found, and of what."""

    model: Any
    form: LinearForm
    probe: FloatArray
    found: Additive | Unlike

    def holds(self, predictor: Predictor, form: LinearForm, probe: FloatArray) -> bool:
        """Whether this is what is read now."""
        mine = self.form
        return (
            self.model is predictor.model
            and mine.link == form.link
            and np.array_equal(mine.weights, form.weights)
            and np.array_equal(mine.intercept, form.intercept)
            and np.array_equal(mine.source, form.source)
            and np.array_equal(self.probe, probe, equal_nan=True)
        )


def read_additive(run: Run, predictor: Predictor) -> Additive | Unlike:
    """The model as a sum, if it agrees with the predictions that are known of it; else why there is none."""
    form = run.keep("form of a sum", predictor.model, lambda: linear_form(predictor))
    if not isinstance(form, Unlike):
        form = linear_form(predictor)  # anew: a model, or a step before it, may have been fitted again
    return form if isinstance(form, Unlike) else believed(run, predictor, form)


def read_fit(run: Run, predictor: Predictor) -> tuple[LinearFit, Link] | Unlike:
    """What the coefficients of a linear model minimise and the link of its sums, if these give its own predictions."""
    fit = linear_fit(predictor)
    if isinstance(fit, Unlike):
        return fit
    read = believed(run, predictor, fit.form) if declares_fit(predictor) else read_additive(run, predictor)
    return read if isinstance(read, Unlike) else (fit, read.link)


def believed(run: Run, predictor: Predictor, form: LinearForm) -> Additive | Unlike:
    """A form that was read of the model, compared with what the model predicts, once for as long as neither changes."""
    known: dict[str, _Compared] = run.remember("sums", dict)
    try:
        probe = form.encode(predictor.dressed(predictor.probe))
        if "read" not in known or not known["read"].holds(predictor, form, probe):
            link = agreeing_link(form, form.sums(probe), predictor.probed)
            found = link if isinstance(link, Unlike) else _additive(form, probe, link, predictor)
            known["read"] = _Compared(predictor.model, form, probe, found)
    except Exception as error:  # whatever a step raises
        return Unlike(f"a step of the model fails on a few rows: {error}")
    return known["read"].found


def _additive(form: LinearForm, probe: FloatArray, link: Link, predictor: Predictor) -> Additive:
    return Additive(form, link, _closely(form, form.sums(probe), link, predictor.probed), Tables())


def sum_rows(
    predictor: Predictor, rows: Data, background: Callable[[bool], Data], run: Run, *, linked: bool = False
) -> SumRows | Unlike:
    """The model's sum for the explained outputs, and rows for it; or why there is none.

    ``linked`` says whether what is explained may be the link of a sum; ``background`` is told whether it is.
    """
    found = read_additive(run, predictor)
    if isinstance(found, Unlike):
        return found
    link = _explained_link(predictor, found.link)
    if isinstance(link, Unlike) or (link != "identity" and not linked):
        return link if isinstance(link, Unlike) else Unlike(f"{predictor.name} adds up before its {link} link")
    absent_rows = background(link != "identity")
    encoded = _encoded(run, predictor, found, rows, absent_rows)
    if isinstance(encoded, Unlike):
        return encoded
    form, (explained, absent) = found.form, encoded
    keep = predictor.explained if link == "softmax" else range(len(predictor.explained))
    chosen = form if link == "softmax" else form.outputs(predictor.explained, predictor.width)
    return SumRows(
        explained,
        absent,
        absent_rows.weights / absent_rows.weights.sum(),
        np.asarray(predictor.columns, dtype=np.intp)[form.source],
        chosen.weights,
        chosen.intercept,
        chosen.sums(explained),
        str(predictor.scale),
        link,
        tuple(keep),
    )


def _explained_link(predictor: Predictor, link: Link) -> Link | Unlike:
    """What leads from the sums to what is explained."""
    if predictor.link == "identity":
        return link
    return "identity" if link == "logit" else Unlike(f"{predictor.name} does not add up to log-odds")


def _encoded(
    run: Run, predictor: Predictor, found: Additive, rows: Data, background: Data
) -> tuple[FloatArray, FloatArray] | Unlike:
    """Encoded columns of the rows and of the background, if the sum also agrees on the background, on mixtures of it,
    and on some of the rows. What belongs to the background is kept for the next rows.
    """
    form, kept = found.form, run.keep("sums of mixtures", background, dict[str, Any])
    if form.declared:
        return form.encode(predictor.dressed(rows.frame)), form.encode(predictor.dressed(background.frame))
    if kept.get("of") is not found:
        kept.clear()
        kept.update(of=found, rows=_compared(run, predictor, form, background))
    absent = kept.get("encoded")
    if absent is None:
        absent = form.encode(predictor.dressed(background.frame))
        kept["encoded"] = absent if absent.nbytes <= _KEPT_BYTES else None
    some = np.arange(len(rows)) if len(rows) <= _ASKED else rows.spread(_ASKED)
    full = run.predict(predictor, rows if len(some) == len(rows) else rows.take(some), full=True)
    explained = form.encode(predictor.dressed(rows.frame))
    both = zip(kept["rows"], (form.sums(explained[some]), full), strict=True)
    link = agreeing_link(form, *(np.vstack(parts) for parts in both))
    if isinstance(link, Unlike):
        return link
    if link != found.link:
        return Unlike("the sums agree with the model in different ways on different rows")
    return explained, absent


def _compared(run: Run, predictor: Predictor, form: LinearForm, background: Data) -> tuple[FloatArray, FloatArray]:
    some = background.take(background.spread(_COMPARED))
    with run.checking():
        parts = [_both(form, predictor, some, run)]
        if some.frame.kind != "sparse":
            with suppress(PellucidError):  # a model may refuse a mixture; it is then compared on real rows alone
                parts.append(_both(form, predictor, some.mixed(run.generator("sums.mixtures")), run))
    sums, full = (np.vstack(arrays) for arrays in zip(*parts, strict=True))
    return sums, full


def _both(form: LinearForm, predictor: Predictor, rows: Data, run: Run) -> tuple[FloatArray, FloatArray]:
    """The sums and the model's own predictions."""
    full = run.predict(predictor, rows, full=True)
    return form.sums(form.encode(predictor.dressed(rows.frame))), full


def _closely(form: LinearForm, sums: FloatArray, link: Link, full: FloatArray) -> bool:
    """Whether sums give the predictions up to rounding."""
    single = np.array_equal(form.weights, form.weights.astype(np.float32))
    predicted = predictions(sums, link, full.shape[1])
    spread = np.ptp(full, axis=0)
    size = np.where(spread > 0, spread, np.abs(full).max(axis=0))
    within = (_SINGLE if single else _DOUBLE) * size
    return predicted is not None and bool((np.abs(predicted - full) <= within).all())
