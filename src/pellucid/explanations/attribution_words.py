"""Contributions in words: every factor accounted for, or one or two causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.words import counted, listed, number, percent, quantity, value_name

if TYPE_CHECKING:
    from pellucid.explanations.attribution import Attribution

_SAID = 10  # features named one by one
_MAIN = 0.5  # of the difference: causes that make up less are not the main ones
_SECOND = 0.25  # of the first cause: a smaller second one is not worth a word

GAMES = {
    "marginal": (
        "Absent features take their values from the background rows (marginal game), as in interventional SHAP."
    ),
    "path": (
        "Absent features follow both branches of a split, weighted by the training rows that went each way (path game),"
        " as in path-dependent TreeSHAP."
    ),
    "conditional": (
        "Absent features are drawn given the known ones (conditional game): a feature that the model ignores can get a"
        " share, and features that it treats alike can get different ones."
    ),
}
# What the trees of a model add up to, by the link that makes predictions of it.
_SUMS = {
    "logistic": "log-odds; scale='probability' explains probabilities",
    "one-vs-rest": "log-odds of each class; scale='probability' explains probabilities",
    "softmax": "scores, of which a softmax makes probabilities; scale='probability' explains those",
    "exp": "the logarithm of the prediction; game='marginal' without interactions explains the prediction itself",
}
# Interaction indices: their names, what stands on the diagonal of their matrix, and what its rows sum to.
INDICES = {"shapley": "Shapley", "taylor": "Shapley-Taylor", "banzhaf": "Banzhaf", "faithful": "faithful Shapley"}
_DIAGONALS = {
    "shapley": "what is left of the feature's contribution",
    "taylor": "what the feature adds alone",
    "banzhaf": "the feature's own term in the nearest polynomial of degree two",
    "faithful": "the feature's own term in the nearest polynomial",
}
MANY_ROWS = (
    "This is how far a feature moves the predictions of these rows, up or down; "
    "it is not what training without the feature would change."
)
NEAR_TIE = 0.9  # of the larger size
UNUSUAL = 0.1  # share of reference rows at least as extreme
_NOISE = 1e-12  # of the numbers that were added up


def complete(found: Attribution) -> list[str]:
    """Every factor accounted for: the largest by name, the rest by their sum and their largest."""
    if len(found) == 1:
        lines = [*(_of_row(found.for_output(name), _chances(found, k)) for k, name in enumerate(found.output_names))]
        lines.append(_share(found))
    else:
        lines = [*(_of_rows(found.for_output(name)) for name in found.output_names), MANY_ROWS]
    lines += _views(found)
    lines += _index(found)
    link = _SUMS.get(str(found.settings.get("link")))
    if link is not None:
        lines.append(f"The trees of this model add up to {link}.")
    rows = _background(found)
    game = (GAMES.get(found.game, "") + rows + _how(found)).strip()
    return [*lines, game] if game else lines


def _background(found: Attribution) -> str:
    """How many rows stand for "absent", and how near their average prediction is to that of all rows."""
    of = found.reference
    if not of.among:
        return f" The background has {counted(of.rows, 'row')}." if of.rows else ""
    error = max(of.se)
    which = "" if len(of.se) == 1 else "at most "
    amounts = "percentage points" if found.scale == "probability" else ""
    size = f"{number(100 * error)} {amounts}" if amounts else number(error)
    return (
        f" The background is a sample of {of.rows:,} of {of.among:,} rows: as an estimate of the average prediction of"
        f" all of them, its own has a standard error of {which}{size}."
    )


def matrix_words(found: Attribution) -> str:
    """What the matrix of interaction values holds."""
    index = "shapley" if found.interactions is None else found.interactions.index
    return f"off the diagonal half of a pair's interaction, on it {_DIAGONALS[index]}"


def _index(found: Attribution) -> list[str]:
    """Which index the interactions are of, where it is not that of Shapley, and what adds up to what."""
    pairs, of_game = found.interactions, found.settings.get("method") == "shapley"
    lines = []
    if of_game and found.settings["index"] == "banzhaf":
        lines.append(
            "These are Banzhaf values, mean gains over all coalitions; they need not add up to the difference."
        )
    if pairs is not None and pairs.index != "shapley":
        sums = "Banzhaf values" if pairs.index == "banzhaf" and not of_game else "contributions"
        triples = pairs.triples is not None and pairs.index in ("taylor", "faithful")
        lines.append(
            f"Interactions are those of the {INDICES[pairs.index]} index: {matrix_words(found)};"
            f" {'a row and a third of its triples sum' if triples else 'rows sum'} to the {sums}."
        )
    return lines


def _share(found: Attribution) -> str:
    part = found.vocabulary.part
    return (
        f"A contribution is a {part}'s share of this difference, not what the {found.vocabulary.end} would be without"
        f" the {part}."
    )


# How the numbers came about; the braces are settings of the result and words of its vocabulary.
_HOW = {
    "tree": "Exact, computed from the trees of the model (TreeSHAP)",
    "linear": "Exact, computed from the terms of the model",
    "exact": "Exact, from all coalitions of {part}s",
    "kernel": "Estimated by KernelSHAP from {coalitions} coalitions of {part}s{each}",
    "permutation": "Estimated from {orders} random orders of the {part}s{each}",
    "lasso": "Estimated from {coalitions} coalitions of {part}s{each}, with a penalty that leaves {part}s out",
}
_DRAWN = "each valued at the mean of {draws} draws, whose sampling error the intervals leave out"


def _how(found: Attribution) -> str:
    """How the numbers were computed, and why so."""
    how = _HOW.get(found.method)
    if found.settings.get("method") == "breakdown" and found.settings.get("order") != "all":
        return (
            " Step by step, in this order: a contribution is the change when the feature became known after those"
            " before it; another order can give other contributions."
        )
    if how is None or found.settings.get("method") != "shap":
        return ""
    if found.method in ("linear", "tree") and (found.se > 0).any():
        how = f"Estimated from the {'terms' if found.method == 'linear' else 'trees'} of the model"
    drawn = f", {_DRAWN}" if "draws" in found.settings else ""
    if drawn and found.method == "exact":
        how = "From all coalitions of {part}s"
    words = {name: f"{found.settings.get(name, '')}" for name in ("coalitions", "orders", "draws")}
    words |= {"part": found.vocabulary.part, "each": found.vocabulary.each}
    why = found.settings.get("why") if found.method != "tree" else None  # that there are trees has been said
    return f" {how.format(**words)}{f' ({why})' if why else ''}{drawn.format(**words)}."


def headline(found: Attribution) -> str:
    """What `short` says, of several outputs that are no classes of the one that differs most."""
    if len(found) > 1 or len(found.output_names) == 1 or found.scale in ("probability", "log-odds"):
        return " ".join(short(found))
    most = int(np.argmax(np.abs(np.nan_to_num(found.prediction[0] - found.base))))
    return _short(found.for_output(found.output_names[most]))


def short(found: Attribution) -> list[str]:
    """One or two causes, against what would have been expected."""
    if len(found) > 1:
        return [_short_of_rows(found)]
    if len(found.output_names) > 1 and found.scale in ("probability", "log-odds"):
        best = found.output_names[int(np.argmax(found.prediction[0]))]
        return [f"{best} is the most likely of {len(found.output_names)} classes. {_short(found.for_output(best))}"]
    return [_short(found.for_output(name)) for name in found.output_names]


# -- one row -----------------------------------------------------------------------------------------


def _chances(found: Attribution, k: int) -> tuple[str, str]:
    """Prediction and base of an output as probabilities, if they are on another scale: `` (a probability of 3%)``."""
    chances = None if found.scale == "probability" else found.probability
    if chances is None:
        return "", ""
    prediction, base = (float(part.ravel()[k]) for part in (chances.prediction[0], chances.base))
    return f" (a probability of {percent(prediction)})", f" (a probability of {percent(base)})"


def _of_row(one: Attribution, chances: tuple[str, str]) -> str:
    values, labels = settled(one), labels_of(one, 0)
    order = [int(j) for j in sequence(one, 0) if values[j] != 0]
    said = [f"{labels[j]} contributed {amount(float(values[j]), _half(one)[0, j], one.scale)}" for j in order[:_SAID]]
    rest = order[_SAID:]
    if rest:
        largest = amount(float(np.abs(values[rest]).max()), 0.0, one.scale, sign=False)
        total = amount(float(values[rest].sum()), 0.0, one.scale)
        said.append(f"{_others(len(rest))} {total} (none more than {largest})")
    idle = [labels[j] for j in range(len(values)) if values[j] == 0]
    nothing = (
        f" {listed(idle)} contributed nothing."
        if idle and said
        else ""
        if said
        else f" No {one.vocabulary.part} contributed."
    )
    story = f" Compared with {compared_with(one)}, {listed(said, len(said))}." if said else ""
    return (
        f"The {one.vocabulary.end}{scale_of(one)}{one.row_labels.of_row()} is"
        f" {quantity(predicted(one), one.scale)}{chances[0]};"
        f" {starting_point(one)}"
        f" is {quantity(float(one.base), one.scale)}{chances[1]}; the difference is"
        f" {amount(difference(one), 0.0, one.scale)}.{story}{nothing}"
    )


def _short(one: Attribution) -> str:
    values, labels, chosen = settled(one), labels_of(one, 0), causes(one, 2)
    start = (
        f"The {one.vocabulary.end}{scale_of(one)}{one.row_labels.of_row()} is"
        f" {quantity(predicted(one), one.scale)} rather than "
        f"{quantity(float(one.base), one.scale)}, {starting_point(one)}"
    )
    if not difference(one):
        same = f"{quantity(float(one.base), one.scale)}, equal to {starting_point(one)}"
        start = f"The {one.vocabulary.end}{scale_of(one)}{one.row_labels.of_row()} is {same}"
    if not chosen:
        return f"{start}: no {one.vocabulary.part} contributed."
    if len(chosen) > 1 and abs(values[chosen[1]]) < _SECOND * abs(values[chosen[0]]):
        chosen = chosen[:1]
    said = [
        f"{labels[j]}{remark(one, j)} contributed {amount(float(values[j]), _half(one)[0, j], one.scale)}"
        for j in chosen
    ]
    if not difference(one):
        return f"{start}, although {listed(said)}."
    against = int(np.argmin(pushes(one)))
    although = (
        f", although {labels[against]}{remark(one, against)} contributed"
        f" {amount(float(values[against]), 0.0, one.scale)}"
        if -pushes(one)[against] > np.abs(values[chosen]).max()
        else ""
    )
    share = float(np.abs(values[chosen]).sum()) / abs(difference(one))
    if share < _MAIN:
        largest = [
            f"{labels[j]}{remark(one, j)} ({amount(float(values[j]), _half(one)[0, j], one.scale)})" for j in chosen
        ]
        are = "contribution is that" if len(chosen) == 1 else "contributions are those"
        part = one.vocabulary.part
        return (
            f"{start}: no single {part} explains it; the largest {are} of {listed(largest)}, less than half of the"
            f" difference{although}."
        )
    cancelled = f"; other {one.vocabulary.part}s partly offset this" if share > 1 / _MAIN and not although else ""
    return f"{start}, mainly because {listed(said)}{although}{cancelled}."


def _others(n: int) -> str:
    """Those that are not named one by one."""
    return f"the other {n} together" if n > 1 else "the other one"


# -- several rows ------------------------------------------------------------------------------------


def _of_rows(one: Attribution) -> str:
    sizes, errors = mean_sizes(one), _half(one).mean(axis=0)
    idle = [one.feature_names[j] for j in range(len(sizes)) if sizes[j] == 0]
    order = [int(j) for j in _by_size(one, sizes) if sizes[j] != 0]
    said = [
        f"{one.feature_names[j]} ({amount(float(sizes[j]), errors[j], one.scale, sign=False)})" for j in order[:_SAID]
    ]
    rest = order[_SAID:]
    if rest:
        said.append(f"{_others(len(rest))} {amount(float(sizes[rest].sum()), 0.0, one.scale, sign=False)}")
    nothing = f" {listed(idle)} contribute{'s' if len(idle) == 1 else ''} nothing." if idle and said else ""
    return (
        f"Mean absolute contribution to the prediction{scale_of(one)} over {one.row_labels.listed(len(one))}, "
        f"compared with {starting_point(one)}{',' if one.reference.among else ' of'}"
        f" {quantity(float(one.base), one.scale)}: {listed(said, len(said)) if said else 'none'}.{nothing}"
    )


def _short_of_rows(found: Attribution) -> str:
    chosen = causes(found, 2)
    if not chosen:
        return f"No feature moves any of the {len(found):,} predictions away from {starting_point(found)}."
    sizes = mean_sizes(found)
    sizes = sizes if sizes.ndim == 1 else sizes.mean(axis=-1)
    verb = "moves" if len(chosen) == 1 else "move"
    by = listed([amount(float(sizes[j]), 0.0, found.scale, sign=False) for j in chosen])
    return (
        f"{listed([found.feature_names[j] for j in chosen])} {verb} the predictions of"
        f" {found.row_labels.listed(len(found))} most: by {by} on average, compared with {compared_with(found)}."
    )


# -- both --------------------------------------------------------------------------------------------


def _views(found: Attribution) -> list[str]:
    """What to know about contributions that were summed, hidden or estimated."""
    lines = []
    for name, members in dict(found.settings.get("grouped", {})).items():
        lines.append(
            f"{name} is the sum of the contributions of {listed(list(members))}; that is not the contribution of the "
            "group as one player, which Explainer(groups=...) gives."
        )
    share = found.entries.hidden
    if share is not None:
        most = f" (at most {percent(float(share.max()))} of a row's)" if share.size > 1 else ""
        lines.append(
            f'"{found.feature_names[-1]}" stands for {percent(float(share.mean()))} of the absolute'
            f" contributions{most}."
        )
    if (found.se > 0).any():
        bound = " (for sums and differences an upper bound)" if _combined(found) else ""
        lines.append(f"± is half the width of a 95% interval{bound}.")
    return lines


def _combined(found: Attribution) -> bool:
    return bool(found.reference.name) or any(key in found.settings for key in ("grouped", "sparse")) or len(found) > 1


def _by_size(one: Attribution, sizes: FloatArray) -> IntArray:
    """Positions from large to small, the sum of others last."""
    return _others_last(one, np.argsort(-sizes, kind="stable"))


def _half(one: Attribution) -> FloatArray:
    low, high = one.interval()
    return np.asarray((high - low) / 2)


def amount(value: float, half: float, scale: str, *, sign: bool = True) -> str:
    """A contribution, with half its interval where it is an estimate: ``+1.2 ± 0.3``, ``+12 ± 3 pp``."""
    factor, unit = (100.0, " pp") if scale == "probability" else (1.0, "")
    spread = f" ± {number(factor * float(half))}" if half > 0 else ""
    return f"{number(factor * value, sign=sign)}{spread}{unit}"


def shown_value(value: object) -> str:
    """A feature value as people read it; missing by that name."""
    if isinstance(value, float | np.floating) and np.isnan(value):
        return "missing"
    if isinstance(value, np.datetime64) and np.isnat(value):
        return "missing"
    return value_name(value)


# -- names and order ---------------------------------------------------------------------------------


def start_name(found: Attribution) -> str:
    """What the contributions start from, without its article."""
    words = found.vocabulary
    if found.reference.name:
        return f"{words.end} of {found.reference.name}"
    return f"{words.start}{f' of {found.reference.rows:,} background rows' if found.reference.among else ''}"


def starting_point(found: Attribution) -> str:
    """What the contributions start from."""
    return f"the {start_name(found)}"


def compared_with(found: Attribution) -> str:
    """What the contributions compare the row with."""
    return found.reference.name or starting_point(found)


def scale_of(found: Attribution, output: str | None = None) -> str:
    """The scale in words, with the output's name where there is one to name: `` (log-odds of yes)``."""
    name = found.output_names[0] if output is None else output
    named = "" if name in ("prediction", "output", found.vocabulary.end) else f" of {name}"
    return named if found.scale == "response" else f" ({found.scale}{named})"


def grouped(found: Attribution, j: int) -> bool:
    """Whether an entry stands for several features."""
    return found.entries.members[j] != (found.feature_names[j],)


def labels_of(found: Attribution, i: int) -> list[str]:
    """``feature = value`` for each feature in one row; a group names its members' values."""
    return [found.label(j, i) for j in range(len(found.feature_names))]


def mean_sizes(found: Attribution) -> FloatArray:
    """Mean absolute contribution of each feature over the rows: (features,), outputs last if several. Mere rounding is
    zero.
    """
    sizes = np.abs(found.values).mean(axis=0)
    rounding = _NOISE * (np.abs(found.prediction).mean(axis=0) + np.abs(found.base))
    return np.where(sizes > rounding, sizes, 0.0)


def sequence(found: Attribution, i: int) -> IntArray:
    """Positions of the entries of row ``i`` as they are told: in the order of a break-down, else from large to small.

    The sum of others is last.
    """
    order = np.argsort(-np.abs(found.stacked()[i]).max(axis=1), kind="stable")
    steps = found.settings.get("order")
    if isinstance(steps, list | tuple) and set(steps[i]) <= set(found.feature_names):
        entered = [found.feature_names.index(name) for name in steps[i]]
        order = np.array([*entered, *(j for j in order if j not in entered)], dtype=np.intp)
    return _others_last(found, order)


def _others_last(found: Attribution, order: IntArray) -> IntArray:
    others = found.entries.others
    return order if others is None else np.append(order[order != others], others)


# -- Which contributions to name -------------------------------------------------------------------
#
# Which contributions to name when only one or two can be named.
#
# Reference. Miller 2019: people ask why this rather than that, name one or two causes, and prefer abnormal ones.
#
# Definition. Causes are the features that push the prediction away from where the contributions start (the
# average prediction, or another row's), in the direction in which it lies. Size comes first: take the largest
# contribution that is left; but every contribution of at least 90% of that size counts as equally large, and of
# these the feature with the rarest value is taken. Repeat; of two causes or more the largest contribution is always
# one. Features that did nothing are no cause.
#
# When it misleads. Two causes are not the explanation: what they leave out may be larger than what they say, and a
# contribution in the other direction may be larger than both.


def causes(found: Attribution, n: int) -> list[int]:
    """Positions of at most ``n`` features, in the order in which to name them."""
    sizes = pushes(found)
    known = found.entries.rarity
    rare = np.ones(len(sizes)) if known is None or len(found) > 1 else np.nan_to_num(known.share[0], nan=1.0)
    left = [int(j) for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0 and j != found.entries.others]
    largest, chosen = left[0] if left else -1, list[int]()
    while left and len(chosen) < n:
        near = [j for j in left if sizes[j] >= NEAR_TIE * sizes[left[0]] * (1 - _NOISE)]
        if len(chosen) == n - 1 and chosen and largest not in chosen:
            near = [largest]
        chosen.append(min(near, key=lambda j: rare[j]))  # the largest of equally rare ones
        left.remove(chosen[-1])
    return chosen


def pushes(found: Attribution) -> FloatArray:
    """How far each feature pushes in the direction of the difference; several rows or outputs have no direction."""
    if len(found) > 1 or found.values.ndim == 3:
        return np.asarray(np.abs(found.stacked()).mean(axis=(0, 2)))
    values = settled(found)
    direction = np.sign(difference(found))
    return np.asarray(values * direction if direction else np.abs(values))


def settled(found: Attribution) -> FloatArray:
    """The contributions to the only row and output; those that are mere rounding are zero."""
    values: FloatArray = found.values[0]
    return np.where(np.abs(values) > _noise(found), values, 0.0)


def difference(found: Attribution) -> float:
    """The only prediction minus the base; zero if that is mere rounding."""
    gap = float(found.prediction[0] - found.base)
    return gap if abs(gap) > _noise(found) else 0.0


def predicted(found: Attribution) -> float:
    """The only prediction; zero if that is mere rounding of a sum."""
    found_here = float(found.prediction[0])
    return found_here if abs(found_here) > _noise(found) else 0.0


def _noise(found: Attribution) -> float:
    return _NOISE * (abs(float(found.prediction[0])) + abs(float(found.base)))


def remark(found: Attribution, j: int) -> str:
    """Why the value of a feature in the first row is unusual: `` (higher than 98% of the rows)``, or nothing."""
    rare = found.entries.rarity
    if rare is None or not rare.share[0, j] <= UNUSUAL:
        return ""
    share, side = float(rare.share[0, j]), float(rare.side[0, j])
    if grouped(found, j):
        return f" (one of these values is as unusual as in {percent(share)} of the rows)"
    if side == 0:
        return f" (as in {percent(share)} of the rows)" if share > 0 else " (as in no row of the data)"
    date = found.data[j].dtype.kind == "M"
    words = {
        (True, True): ("later", "latest"),
        (True, False): ("earlier", "earliest"),
        (False, True): ("higher", "highest"),
    }
    more, most = words.get((date, side > 0), ("lower", "lowest"))
    if share == 0:
        return f" ({more} than in any row of the data)"
    if abs(side) > 1:
        return f" (the {most} of all rows)"
    return f" ({more} than {_below_all(1 - share / 2)} of the rows)"


def _below_all(share: float) -> str:
    """A share of the rows that is not all of them: never ``100%``."""
    return percent(share) if share < 0.995 else f"{np.floor(share * 1000) / 10:.1f}%"
