"""Contributions seen otherwise: fewer of them, in groups, against another row, for the other of two classes.

Every view adds up like the contributions it comes from. Errors of sums and differences are bounds: the errors
are added as if they were all in step, because those of one sample usually are, at least in part. Where all
contributions add up to a known difference, a sum is as uncertain as the sum of those left: the smaller bound holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.errors import InputError, nearest
from pellucid.explanations.attribution_words import grouped, shown_value
from pellucid.explanations.explanation import changed
from pellucid.stats import expit, softmax
from pellucid.words import counted

if TYPE_CHECKING:
    from pellucid.explanations.attribution import Additivity, Attribution

A = TypeVar("A", bound="Attribution")
Part = tuple[str, tuple[int, ...]]  # a name and the positions of the features in it

_ADDS_UP = 1e-8  # what may be missing, as a share of the row's numbers

# What a class's numbers become when they are told for the other of two classes.
_MIRRORED_AT = {"probability": 1.0, "log-odds": 0.0}


@dataclass(frozen=True, eq=False)
class Probability:
    """``prediction`` (rows, or rows x outputs) and ``base`` as probabilities."""

    prediction: FloatArray
    base: FloatArray


def as_probabilities(found: Attribution) -> Probability | None:
    """Prediction and base through the link that makes probabilities of them; None where there is none, or where a
    softmax lacks a class.
    """
    if found.scale == "probability":
        return Probability(found.prediction, found.base)
    if found.scale == "log-odds":
        return Probability(expit(found.prediction), expit(found.base))
    if found.settings.get("link") == "softmax" and found.settings.get("scores") == len(found.output_names):
        return Probability(softmax(found.prediction), softmax(found.base))
    return None


def sparse(found: A, k: int) -> A:
    """The ``k`` largest contributions, and the sum of the others as a last entry."""
    k = whole("k", k)
    _refuse_sparse(found, "sparse")
    names = found.feature_names
    if k >= len(names):
        return found
    kept, rest = found.ranking[:k], np.sort(found.ranking[k:])
    name = counted(len(rest), "other")
    while name in names:
        name += "\u2032"
    sizes = np.abs(found.values)
    total = sizes.sum(axis=1)
    hidden = sizes[:, rest].sum(axis=1) / np.where(total > 0, total, 1.0)
    parts = [(names[j], (int(j),)) for j in kept]
    merged = _merged(found, [*parts, (name, tuple(int(j) for j in rest))])
    entries = replace(merged.entries.taken(range(len(kept)), blank=1), members=merged.entries.members, hidden=hidden)
    return changed(merged, entries=entries, settings={**found.settings, "sparse": int(k)})


def group(found: A, groups: Mapping[str, Sequence[str]]) -> A:
    """Contributions summed by groups; a group stands where its first member stood."""
    _refuse_sparse(found, "group")
    owner = _owners(found.feature_names, groups, found.header.readable)
    parts: dict[str, tuple[int, ...]] = {}
    for j, name in enumerate(found.feature_names):
        parts[owner.get(j, name)] = (*parts.get(owner.get(j, name), ()), j)
    said = {name: list(members) for name, members in groups.items()}
    earlier = dict(found.settings.get("grouped", {}))
    return changed(_merged(found, list(parts.items())), settings={**found.settings, "grouped": {**earlier, **said}})


def contrast(found: A, other: int) -> A:
    """Every row compared with row ``other`` instead of with the average prediction."""
    _refuse_sparse(found, "contrast")
    one = found.row(other)
    values = tuple("" if grouped(found, j) else shown_value(column[0]) for j, column in enumerate(one.data))
    pairs = None
    if found.interactions is not None:
        pairs = replace(found.interactions.each(lambda part: part - part[other]), se=None)
    return changed(
        found,
        values=found.values - one.values,
        se=found.se + one.se,
        base=one.prediction[0],
        interactions=pairs,
        reference=replace(found.reference, name=f"row {found.row_labels.name(other)}", values=values),
        settings={**found.settings, "contrast": int(other)},
    )


def mirrored(found: A, name: str) -> A | None:
    """The contributions to the other of two classes, or None where they are not the mirror image of these."""
    classes = [str(label) for label in found.settings.get("classes") or ()]
    at = _MIRRORED_AT.get(found.scale)
    if at is None or len(found.output_names) != 1 or found.values.ndim != 2:
        return None
    if len(classes) != 2 or {name, found.output_names[0]} != set(classes):
        return None
    pairs = found.interactions
    return changed(
        found,
        output_names=(name,),
        values=-found.values,
        base=np.asarray(at - found.base),
        prediction=at - found.prediction,
        interactions=None if pairs is None else replace(pairs.each(np.negative), se=pairs.se),
    )


@singledispatch
def comparable_names(found: Attribution, others: Sequence[Attribution]) -> tuple[str, ...]:
    """Names of the entries, such that the same name in the explanations of ``others`` is the same thing."""
    del others
    return found.feature_names


# -- summing -----------------------------------------------------------------------------------------


def _merged(found: A, parts: Sequence[Part]) -> A:
    """One entry per part, each the sum of its features."""
    places = [members for _, members in parts]

    def summed(array: FloatArray, axis: int = 1) -> FloatArray:
        return np.stack([array.take(list(members), axis).sum(axis) for members in places], axis)

    exact = found.additivity
    errors = [
        found.se[:, members[0]] if len(members) == 1 else sum_error(found.se, members, exact, 1) for members in places
    ]
    entries, pairs, other = found.entries, found.interactions, found.reference
    rare = entries.rarity
    return changed(
        found,
        values=summed(found.values),
        se=np.stack(errors, 1),
        feature_names=tuple(name for name, _ in parts),
        entries=replace(
            entries,
            members=tuple(tuple(name for j in members for name in entries.members[j]) for members in places),
            data=tuple(_cells(found, members) for members in places),
            unusual=None if rare is None else rare.merged(places),
        ),
        interactions=(
            None
            if pairs is None  # triples of groups would be pairs and players too
            else replace(pairs, triples=None).each(lambda part: summed(summed(part, 1), 2))
        ),
        reference=replace(
            other, values=tuple(other.values[m[0]] if len(m) == 1 else "" for m in places) if other.values else ()
        ),
    )


def sum_error(errors: FloatArray, members: Sequence[int] | IntArray, exact: Additivity, axis: int = 0) -> FloatArray:
    """A bound of the error of the sum of ``members``: their errors added, or those of all others if that is less.

    The others count only where base and contributions add up to the prediction; an unknown error (NaN) bounds nothing.
    """
    inside = np.isin(np.arange(errors.shape[axis]), members)
    bound = errors.compress(inside, axis).sum(axis)
    if not exact.relative <= _ADDS_UP:
        return np.asarray(bound)
    return np.fmin(bound, errors.compress(~inside, axis).sum(axis))


def _cells(found: Attribution, members: tuple[int, ...]) -> AnyArray:
    """The values of one feature, or those of several in words."""
    if len(members) == 1:
        return found.data[members[0]]
    said = [", ".join(found.label(j, i) for j in members) for i in range(len(found))]
    return np.array(said, dtype=object)


# -- checking ----------------------------------------------------------------------------------------


def _refuse_sparse(found: Attribution, what: str) -> None:
    if found.entries.hidden is not None:
        raise InputError(
            f"{what}() needs every contribution, but sparse() has summed some of them; make sparse() the last step."
        )


def _owners(names: tuple[str, ...], groups: Mapping[str, Any], called: Mapping[str, str]) -> dict[int, str]:
    """The group of each feature that is in one."""
    owner: dict[int, str] = {}
    for name, members in groups.items():
        if isinstance(members, str) or not len(members):
            raise InputError(f"the group {name!r} must be a list of at least one feature, not {members!r}.")
        for member in (called.get(member, member) for member in members):
            if member not in names:
                raise InputError(f"there is no feature {member!r}{nearest(str(member), names)}")
            j = names.index(member)
            if j in owner:
                raise InputError(
                    f"feature {member!r} is in the groups {owner[j]!r} and {name!r}; a feature belongs to one group,"
                    " once."
                )
            owner[j] = name
    taken = [name for j, name in enumerate(names) if j not in owner and name in groups]
    if taken:
        raise InputError(f"the group {taken[0]!r} has the name of a feature outside it; give the group another name.")
    return owner
