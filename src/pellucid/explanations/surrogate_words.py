"""Surrogates in sentences: how far it stands in for the model, what it says, how large it must be, where it fails, what
it costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.words import counted, listed, loss_words, number, percent, quantity, with_article

if TYPE_CHECKING:
    from pellucid.explanations.surrogate import Surrogate, Surrogates

_GOOD = 0.9  # the R2 of which it is said how large a surrogate must be
_PART = 0.03  # of the rows: smaller parts are chance
_NOTABLE = 1.25  # times the usual miss
_GLASS_BOXES = {"gam": "additive model", "ga2m": "additive model with pairs", "rules": "rule model (RuleFit)"}


def findings(found: Surrogate) -> list[str]:
    """The finding first."""
    return [
        _fidelity(found),
        *_by_output(found),
        *_tree(found),
        *_terms(found),
        *_size(found),
        *_subgroups(found),
        *_replacement(found),
    ]


def findings_on(found: Surrogate, kind: str) -> str:
    """The finding that a chart of a kind shows; "" where it is that of the result."""
    said = {"size": _size, "subgroups": _subgroups, "coefficients": _terms}.get(kind)
    lines = [] if said is None else said(found)
    return lines[0] if lines else ""


def sized(found: Surrogate) -> str:
    """What it is, with its size: "tree with 8 leaves"."""
    if found.kind == "tree":
        return f"tree with {counted(found.size, 'leaf', 'leaves')}"
    if found.kind == "linear":
        return f"linear model of {counted(found.size, 'feature')}"
    return _GLASS_BOXES.get(found.kind, found.kind)


def amount(found: Surrogate, value: float) -> str:
    """A miss, in percentage points of a probability."""
    return quantity(value, found.scale, change=True, sign=False)


def r2(value: float) -> str:
    """R² with two digits, and no minus zero.

    >>> r2(0.8216), r2(-0.001)
    ('0.82', '0.00')
    """
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _fidelity(found: Surrogate) -> str:
    what = with_article(sized(found))
    where = _where(found)
    said = f"{what[:1].upper()}{what[1:]} reproduces"
    if found.overall <= 0:
        return (
            f"{what[:1].upper()}{what[1:]} does not reproduce the model{where}: R² on held-out rows is"
            f" {r2(found.overall)}."
        )
    own = f", {r2(found.fitted)} on the rows it was fitted to" if abs(found.fitted - found.overall) >= 0.005 else ""
    return (
        f"{said} {percent(found.overall)} of the variance of the model's predictions{where} (R²"
        f" {r2(found.overall)} on held-out rows{own})."
    )


def _where(found: Surrogate) -> str:
    near = found.settings.get("near")
    return f" around row {near}" if near is not None else ""


def _by_output(found: Surrogate) -> list[str]:
    if len(found.output_names) < 2:
        return []
    order = np.argsort(-found.values, kind="stable")
    parts = [f"{r2(float(found.values[k]))} for {found.output_names[k]}" for k in order]
    return [f"R² by {'class' if found.header.classes else 'output'}: {listed(parts, 8)}."]


def _tree(found: Surrogate) -> list[str]:
    tree = found.tree
    if tree is None or tree.left[0] < 0:
        return []
    k = 0 if len(found.output_names) == 1 else int(np.argmax(np.ptp(tree.predictions, axis=0)))
    of = "" if len(found.output_names) == 1 else f" of {found.output_names[k]}"
    p = tree.predictions[:, k]
    sides = [quantity(float(p[node]), found.scale) for node in (tree.left[0], tree.right[0])]
    said = [f"The first split is {tree.yes[0]}: the mean prediction{of} is {sides[0]} there and {sides[1]} elsewhere."]
    leaves = tree.leaves
    for word, at in (("highest", int(np.argmax(p[leaves]))), ("lowest", int(np.argmin(p[leaves])))):
        said.append(
            f"Predictions{of} are {word} where {tree.rules[at]}: {quantity(float(p[leaves[at]]), found.scale)}"
            f" ({percent(float(tree.shares[leaves[at]]))} of the rows)."
        )
    return said


def _terms(found: Surrogate) -> list[str]:
    terms = found.terms
    if terms is None or not len(terms.features):
        return []
    size = np.sqrt(np.square(terms.strengths).mean(axis=1))
    parts = [f"{name} ({amount(found, float(value))})" for name, value in zip(terms.features, size, strict=True)]
    return [f"Its largest terms are those of {listed(parts[:3])} (standard deviation over the rows)."]


def _size(found: Surrogate) -> list[str]:
    curve = found.curve
    if len(curve.sizes) < 2:
        return []
    one, many = ("leaf", "leaves") if found.kind == "tree" else ("feature", "features")
    needed, best = found.size_for(_GOOD), float(curve.held_out.max())
    cut = found.size < (found.settings["size"] or 0)
    said = [f"The rows allow no more than {counted(found.size, one, many)}."] if cut else []
    if needed is not None:
        return [f"An R² of {_GOOD} on held-out rows takes {counted(needed, one, many)}.", *said]
    if best <= found.overall:
        return [f"No other size does better: an R² of {_GOOD} is out of reach.", *said]
    return [
        f"No size reaches an R² of {_GOOD} on held-out rows: the best, {counted(found.best_size, one, many)}, has"
        f" {r2(best)}.",
        *said,
    ]


def _subgroups(found: Surrogate) -> list[str]:
    large = [group for group in found.subgroups if group.share >= _PART]
    if not large or large[0].ratio < _NOTABLE:
        return []
    worst, best = large[0], large[-1]
    return [
        f"It misses the model most where {worst.words} ({percent(worst.share)} of the rows): by"
        f" {amount(found, worst.miss)} (RMSE), and least where {best.words}: by {amount(found, best.miss)}."
    ]


def _replacement(found: Surrogate) -> list[str]:
    cost = found.replacement
    if cost is None:
        return []
    return [verdict(found)]


def verdict(found: Surrogate) -> str:
    """Whether to use the surrogate instead of the model, and what that costs."""
    cost = found.replacement
    if cost is None:
        return "Whether it could replace the model is unknown without the outcome."
    name, own = loss_words(cost.loss, cost.model)
    _, other = loss_words(cost.loss, cost.surrogate)
    scores = f"{cost.score} {number(float(cost.scores[1]))} instead of {number(float(cost.scores[0]))}"
    figures = f"{scores}; {name} {other} instead of {own}"
    kept = f"keeps {percent(max(cost.kept, 0.0))} of what the model gains over a constant"
    if cost.kept > 1:
        kept = "predicts these rows better than the model does"
    said = {
        "replace": f"It could replace the model: used instead, it {kept} ({figures}).",
        "trade": f"Used instead of the model, it {kept} ({figures}): a price to weigh.",
        "keep": f"It should not replace the model: used instead, it {kept} ({figures}).",
        "neither": f"The model is no better than a constant on these rows ({name} {own}); neither is worth using.",
    }
    return said[cost.verdict]


def side_by_side(found: Surrogates) -> list[str]:
    """Several surrogates: the closest first, then what each is worth."""
    order = sorted(found.members, key=lambda one: -one.overall)
    first = order[0]
    what = with_article(sized(first))
    said = [
        f"{what[:1].upper()}{what[1:]} comes closest to the model: R² {r2(first.overall)} on held-out rows"
        + (
            f"; then {listed([f'{with_article(sized(one))} ({r2(one.overall)})' for one in order[1:]])}."
            if order[1:]
            else "."
        )
    ]
    known = [one for one in order if one.replacement is not None]
    if known:
        parts = [
            f"{with_article(sized(one))} {percent(max(one.replacement.kept, 0.0))}" for one in known if one.replacement
        ]
        said.append(f"Of what the model gains over a constant, they keep: {listed(parts)}.")
    return said
