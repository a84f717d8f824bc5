"""Prototypes, criticisms and neighbours in plain sentences, the finding first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import IntArray
from pellucid.explanations.counterfactual_words import in_full
from pellucid.words import TABLE, counted, listed, number, percent, quantity, value_name

if TYPE_CHECKING:
    from pellucid.explanations.prototypes import Neighbors, Prototypes

_SAID = 3  # examples in full
_TYPICAL = 0.5  # standard deviations
_FEATURES = 3
_BEGINS = 40  # letters of a text


def prototype_findings(result: Prototypes) -> list[str]:
    """Which rows are typical and of what, which are badly represented, and how the model does on them."""
    chosen, odd = result.places(), result.places("criticism")
    lines = [_headline(result, chosen), *(_prototype(result, int(i)) for i in chosen[:_SAID])]
    if len(chosen) > _SAID:
        more = len(chosen) - _SAID
        lines.append(f"There {'is' if more == 1 else 'are'} {counted(more, 'more prototype')}: see .frame().")
    lines += _criticisms(result, odd)
    lines += _errors(result, chosen, odd)
    return [*lines, *_number(result, chosen)]


def _headline(result: Prototypes, chosen: IntArray) -> str:
    first = int(chosen[0])
    share, whole = percent(float(result.values[first])), result.vocabulary.whole
    name = result.row_labels.name(first)
    if len(chosen) == 1:
        return f"{_called(result, first)} is the most typical {whole}."
    each = result.discrepancy
    which = "weighted MMD²" if _weighted(result) else "MMD²"
    fit = "" if each is None else f" ({which} {number(each.mmd2)}{_from_one(result)})"
    return (
        f"{counted(len(chosen), 'prototype')} represent the {whole}s{fit}; {whole} {name} stands for {share} of them."
    )


def _from_one(result: Prototypes) -> str:
    each = result.discrepancy
    one = float("nan") if each is None else float(each.curve[0])
    return f", {number(one)} with a single one" if np.isfinite(one) and len(result.values) > 1 else ""


def _weighted(result: Prototypes) -> bool:
    return result.discrepancy is not None and result.settings.get("method") == "weighted"


def _prototype(result: Prototypes, i: int) -> str:
    group = f" ({result.groups[i]})" if result.groups[i] else ""
    typical = typical_words(result, i)
    what = f", with {listed(typical)}" if typical else ", close to the average row"
    whole = result.vocabulary.whole
    if whole != TABLE.whole:
        words = _cell_of(result, "typical words", i)
        what = f", with the words {words}" if words else ""
    counts = ""
    if _weighted(result) and result.discrepancy is not None:
        counts = f" (weight {percent(float(result.discrepancy.weights[i]))})"
    return (
        f"{_called(result, i)}{group} stands for {percent(float(result.values[i]))} of the {whole}s{counts}{what};"
        f" the model predicts {prediction_words(result, i)}."
    )


def _called(result: Prototypes, i: int) -> str:
    """What an example is called at the start of a sentence, a text with its beginning."""
    whole, text = result.vocabulary.whole, _cell_of(result, "text", i)
    begins = f' ("{shortened(text, _BEGINS)}")' if text and whole == "text" else ""
    return f"{whole.capitalize()} {result.row_labels.name(i)}{begins}"


def _cell_of(result: Prototypes, column: str, i: int) -> str:
    if column not in result.column_names or result.vocabulary.whole == TABLE.whole:
        return ""
    return " ".join(str(result.cells[result.column_names.index(column)][i]).split())


def shortened(text: str, most: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def typical_words(result: Prototypes, i: int, *, most: int = _FEATURES, least: float = _TYPICAL) -> list[str]:
    """In what the rows of a prototype differ most from all rows: ``high temp (27)``, ``season winter``."""
    contrast = result.contrast[i]
    order = np.argsort(-np.abs(contrast), kind="stable")[:most]
    words = []
    for j in order:
        if abs(contrast[j]) < least or np.isnan(contrast[j]):
            continue
        cell, name = result.cells[j][i], result.column_names[j]
        if isinstance(cell, str | bool | np.bool_) or cell is None:
            words += [f"{name} {value_name(cell)}"] if contrast[j] > 0 else []
        else:
            words.append(f"{'high' if contrast[j] > 0 else 'low'} {name} ({in_full(cell)})")
    return words


def prediction_words(result: Prototypes, i: int) -> str:
    """What the model says of an example: a class with its probability, or numbers."""
    values, names = result.predictions[i], result.output_names
    if result.scale == "probability":
        k = int(np.argmax(values))
        name = "" if names[k] == "prediction" else f" for {names[k]}"
        return f"{quantity(float(values[k]), 'probability')}{name}"
    if len(values) == 1:
        return number(float(values[0]))
    return listed([f"{name} {number(float(value))}" for name, value in zip(names, values, strict=True)], 3)


def _criticisms(result: Prototypes, odd: IntArray) -> list[str]:
    if not len(odd):
        return []
    names = [result.row_labels.name(int(i)) for i in odd]
    few = int((result.witness[odd] > 0).sum())
    whole = result.vocabulary.whole.capitalize()
    rows = f"{whole} {names[0]} is" if len(odd) == 1 else f"{whole}s {listed(names, 5)} are"
    lines = [
        f"{rows} represented worst ({'criticism' if len(odd) == 1 else 'criticisms'}):"
        f" {_sides(few, len(odd) - few, whole.lower())}."
    ]
    kept = float("nan") if result.discrepancy is None else result.discrepancy.kept
    if np.isfinite(kept) and kept < 1:
        some = f"{percent(kept)} of the criticisms" if kept else "no criticism"
        stay = "stay or have" if kept else "stays or has"
        lines.append(f"With a fifth fewer or more prototypes, {some} {stay} a similar {whole.lower()} instead.")
    return lines


def _sides(few: int, many: int, whole: str) -> str:
    if not many:
        return "there are too few prototypes nearby"
    if not few:
        return f"there are too many prototypes nearby for how rare such {whole}s are"
    return f"there are too few prototypes near {few} of them, too many near {many}"


def _errors(result: Prototypes, chosen: IntArray, odd: IntArray) -> list[str]:
    if np.isnan(result.errors).all():
        return []
    classes, whole = bool(result.header.classes), result.vocabulary.whole
    on = [("prototype", chosen), *([("criticism", odd)] if len(odd) else [])]
    if classes:
        parts = [f"{int(result.errors[rows].sum())} of the {counted(len(rows), name)}" for name, rows in on]
        usual = f"; of all {whole}s, {percent(result.usual_error)}" if np.isfinite(result.usual_error) else ""
        lines = [f"The model misclassifies {listed(parts)}{usual}."]
        wrong = [result.row_labels.name(int(i)) for i in odd if result.errors[i] > 0]
        many = "Among the criticisms it misclassifies"
        return [*lines, f"{many} {whole if len(wrong) == 1 else f'{whole}s'} {listed(wrong, 5)}."] if wrong else lines
    parts = [f"{number(float(result.errors[rows].mean()))} on the {name}s" for name, rows in on]
    usual = f", {number(result.usual_error)} on all {whole}s" if np.isfinite(result.usual_error) else ""
    return [f"The model is off by {listed(parts)} on average{usual}."]


def _number(result: Prototypes, chosen: IntArray) -> list[str]:
    each = result.discrepancy
    if each is None or len(each.curve) < 3 or result.settings.get("method") == "given":
        return []
    lines = []
    if each.elbow != len(chosen):
        lines.append(f"MMD² falls fastest up to {counted(each.elbow, 'prototype')} (the elbow of its scree plot).")
    elif result.settings.get("n") == "auto":
        lines.append(f"The number is the elbow of the scree plot of MMD² up to {len(each.curve)}.")
    if each.se > 0:
        lines.append(
            f"MMD² is estimated from a sample of {result.vocabulary.whole}s, with a standard error of"
            f" {number(each.se)}."
        )
    return lines


def neighbor_findings(result: Neighbors) -> list[str]:
    """What the model says of like rows, what was true of them, and where it says otherwise."""
    near, unlike = result.places("neighbour"), result.places("nearest unlike")
    own, whole = prediction_words(result, 0), result.vocabulary.whole
    names = [result.row_labels.name(int(i)) for i in near]
    rows = f"{whole} {names[0]} is" if len(near) == 1 else f"{whole}s {listed(names, 5)} are"
    lines = [f"The model predicts {own}; {rows} most like this {whole}, and it predicts {_predicted(result, near)}."]
    lines += _outcomes(result, near)
    if whole == TABLE.whole:
        differ = differing(result, int(near[0]))
        lines.append(
            f"The nearest, row {names[0]}, "
            + (f"differs in {listed(differ, 4)}." if differ else "has the same values in every feature.")
        )
    elif whole == "text":
        lines.append(f'The nearest, text {names[0]}, reads "{shortened(_cell_of(result, "text", int(near[0])), 120)}".')
    if len(unlike):
        lines.append(_nearest_unlike(result, int(unlike[0]), int(near[0])))
    return lines


def _nearest_unlike(result: Neighbors, i: int, nearest: int) -> str:
    """The nearest that is predicted otherwise, which may be the nearest of all."""
    whole, said = result.vocabulary.whole, prediction_words(result, i)
    if result.row_labels.name(i) == result.row_labels.name(nearest):
        return f"It is also the nearest {whole} with another prediction ({said})."
    differ = differing(result, i) if whole == TABLE.whole else []
    what = f"; it differs in {listed(differ, 4)}" if differ else ""
    far = f", {_farther(result)}" if result.values[0] > 0 else ""
    return f"The nearest {whole} with another prediction is {whole} {result.row_labels.name(i)} ({said}){far}{what}."


def _farther(result: Neighbors) -> str:
    """How far the nearest unlike one is, beside the nearest."""
    times = number(result.unlike / max(float(result.values[0]), 1e-12))
    return "as near as the nearest" if times == "1" else f"at {times} times the distance of the nearest"


def _predicted(result: Neighbors, near: IntArray) -> str:
    values = result.predictions[near]
    if len(near) == 1:
        return f"{prediction_words(result, int(near[0]))} for it"
    low, high = values.min(axis=0), values.max(axis=0)
    k = int(np.argmax(result.predictions[0])) if result.scale == "probability" else 0
    ends = [quantity(float(end[k]), result.scale) for end in (low, high)]
    name = f" for {result.output_names[k]}" if result.output_names[k] != "prediction" else ""
    return f"{ends[0]} to {ends[1]}{name} for them" if ends[0] != ends[1] else f"{ends[0]}{name} for them, too"


def _outcomes(result: Neighbors, near: IntArray) -> list[str]:
    if not len(result.outcomes):
        return []
    found = result.outcomes[near]
    if result.header.classes:
        levels, counts = np.unique(found.astype(str), return_counts=True)
        parts = [f"{level} ({count})" for level, count in zip(levels, counts, strict=True)]
        return [f"Their outcomes: {listed(parts)}."]
    numbers = found.astype(np.float64)
    spread = f", from {number(float(numbers.min()))} to {number(float(numbers.max()))}" if len(near) > 1 else ""
    return [f"Their outcomes: {number(float(numbers.mean()))} on average{spread}."]


def differing(result: Neighbors, i: int) -> list[str]:
    """The features in which a row differs from the one that is explained, with both values."""
    words = []
    for name, cells in zip(result.column_names, result.cells, strict=True):
        if not same(cells[0], cells[i]):
            words.append(f"{name} ({in_full(cells[i])} instead of {in_full(cells[0])})")
    return words


def same(one: object, other: object) -> bool:
    """Whether two cells hold the same, missing ones included."""
    if isinstance(one, float | np.floating) and isinstance(other, float | np.floating):
        return bool(one == other or (np.isnan(one) and np.isnan(other)))
    return bool(one == other)
