"""The caveats of importance by fitting again: other models, short folds, replaceable features, coarse p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats, interrupted
from pellucid.diagnostics.importance_checks import mixed_off_data
from pellucid.diagnostics.shared_importance import Joint, shared_importance
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number, percent

_ANOTHER = 1.5
_LACKING = 0.25
_UNSTEADY = 0.5
_LEVEL = 0.05
_BY_HEART = 0.3


def refit_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: dict[str, tuple[int, ...]],
    values: FloatArray,
    errors: FloatArray,
    each: FloatArray,
    compare: str,
    measure: str,
    given: float,
    refitted: float,
    lacking: float,
    joint: Joint,
    dropped: bool,
) -> tuple[Caveat, ...]:
    """Everything known against importance by models fitted again, of features that were ``dropped`` or else
    permuted.
    """
    caveats = list(general_caveats(predictor, data, run))
    if not run.checks or run.interrupted:
        return tuple(caveats)
    caveats.extend(_other_model(measure, given, refitted))
    caveats.extend(_short(lacking))
    caveats.extend(_unsteady(list(players), each))
    if not dropped:
        caveats.extend(mixed_off_data(data, players, values, run))
    words = "replace each other: dropped" if dropped else "share their importance: permuted"
    with run.checking():
        caveats.extend(
            shared_importance(
                data, run, players=players, values=values, errors=errors, compare=compare, joint=joint, words=words
            )
        )
    return tuple(caveats)


def p_value_caveats(
    before: tuple[Caveat, ...],
    run: Run,
    *,
    p_values: FloatArray,
    refits: int,
    measure: str,
    losses: Callable[[], tuple[float, float]] | None,
    noise: float,
) -> tuple[Caveat, ...]:
    """The caveats of an importance, and what speaks against its p-values."""
    if not run.checks:
        return before
    if run.interrupted:
        return before if any(c.code == "partial" for c in before) else (*before, *interrupted(run))
    caveats = list(before)
    if losses is not None:
        with run.checking():
            caveats.extend(_other_model(measure, *losses(), where="these rows"))
    caveats.extend(_by_heart(noise, measure))
    caveats.extend(_coarse(p_values, refits))
    return tuple(caveats)


def _other_model(
    measure: str, given: float, refitted: float, where: str = "rows held out from them"
) -> Iterator[Caveat]:
    """The models that were fitted again predict much better or worse than the given one."""
    if not (given >= 0 and refitted >= 0 and given + refitted > 0):
        return
    small, large = sorted((given, refitted))
    if large > _ANOTHER * small:
        yield Caveat(
            code="other-model",
            message=(
                f"The models fitted again are not the given one: their {measure} is {number(refitted)} on {where}, its"
                f" own {number(given)} on all rows."
            ),
            value=large / small if small > 0 else np.inf,
            threshold=_ANOTHER,
            advice=(
                "Read this as a statement about this way of fitting these rows; for the given model use"
                " method='permutation' without refits, on rows it was not fitted to."
            ),
        )


def _short(lacking: float) -> Iterator[Caveat]:
    """Models fitted to much less than all rows learn less."""
    if lacking > _LACKING + 1e-9:
        yield Caveat(
            code="fewer-rows",
            message=(
                f"A model fitted again lacks up to {percent(lacking)} of the rows, so it may have learned less than one"
                " fitted to all of them."
            ),
            value=lacking,
            threshold=_LACKING,
            advice="Use more folds.",
        )


def _unsteady(names: list[str], each: FloatArray) -> Iterator[Caveat]:
    """The largest importance differs much between folds; ``each`` is ``(folds, features)``."""
    if len(each) < 2:
        return
    means = each.mean(axis=0)
    j = int(means.argmax())
    if means[j] > 0 and each[:, j].std(ddof=1) > _UNSTEADY * means[j]:
        yield Caveat(
            code="unsteady-folds",
            message=(
                f"The importance of {names[j]}, the largest, is {number(float(each[:, j].min()))} to"
                f" {number(float(each[:, j].max()))} in the single folds."
            ),
            value=float(each[:, j].std(ddof=1) / means[j]),
            threshold=_UNSTEADY,
            advice=(
                "Do not rank features by so few rows; use more rows, or a loss that single rows move less (mae, brier)."
            ),
            feature=names[j],
        )


def _by_heart(noise: float, measure: str) -> Iterator[Caveat]:
    """Models that learn a permuted outcome on their own rows make a null that little stands out from."""
    if noise > _BY_HEART:
        yield Caveat(
            code="noise-by-heart",
            message=(
                f"Fitted to a permuted outcome, where all is noise, the model still takes away {percent(noise)} of the"
                f" {measure} of a constant on the rows it is fitted to: features that matter may not stand out from so"
                " much noise learned by heart."
            ),
            value=noise,
            threshold=_BY_HEART,
            advice="Use folds=5, which measures the importance and the noise on held-out rows.",
        )


def _coarse(p_values: FloatArray, refits: int) -> Iterator[Caveat]:
    """The smallest p-value that so many refits can give is too large to stand for one feature of many."""
    least, needed = 1 / (1 + refits), _LEVEL / len(p_values)
    floor = np.flatnonzero(p_values <= least * (1 + 1e-9))
    if least > needed and floor.size:
        yield Caveat(
            code="coarse-p-values",
            message=(
                f"{refits} refits give no p-value below {number(least)}, which {floor.size} of {len(p_values)} features"
                f" reach; beside so many, one feature alone is plain only below {number(needed)}."
            ),
            value=least,
            threshold=needed,
            advice=f"Use p_values={int(np.ceil(1 / needed)) - 1} refits or more to tell them from chance.",
        )
