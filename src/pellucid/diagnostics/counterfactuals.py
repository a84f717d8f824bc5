"""What counterfactuals cannot be trusted for: answers that contradict them, places without data, edges, the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.off_data import associations
from pellucid.explanations import Caveat, Counterfactuals
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import counted, number, percent, quantity

_AS_NEAR = 2.0  # times the distance of the nearest answer
_SETS = 2
_IMPLAUSIBLE = 0.95
_FRAGILE = 0.9  # the nearest answer is on the edge by its nature: behind three thresholds, 7 of 8 moves undo it
_ASSOCIATED = 0.6
_MOVED = 0.1  # of the range of a number
_LOOKED_AT, _NEAR_ROWS, _FEWEST, _CONTRADICTED = 60, 20, 10, 0.75
# Parts of names that speak of what people cannot change about themselves.
_GIVEN = frozenset({"age", "sex", "gender", "race", "ethnicity", "nationality", "birth", "birthday", "birthplace"})


@dataclass(frozen=True, eq=False)
class Answers:
    """What caveats look at, in codes: the row, its answers, every answer that the search came across (the nearest
    first) with its distance, the columns that are watched, which rows of the data have an outcome like the target,
    and of which of some rows the model says so.
    """

    x: FloatArray
    rows: FloatArray
    pool: FloatArray
    distances: FloatArray
    watched: tuple[int, ...]
    outcomes: BoolArray | None = None
    reached: Callable[[IntArray], BoolArray] | None = None
    early: bool = False


def counterfactual_caveats(
    predictor: Predictor, data: Data, run: Run, result: Counterfactuals, answers: Answers
) -> tuple[Caveat, ...]:
    """Everything known against these answers."""
    found = list(general_caveats(predictor, data, run))
    found.extend(_ended_early(answers))
    if len(result) and result.changed.any():
        found.extend(_target_missed(result))
        if result.valid.all():
            found.extend(_rashomon(result, answers))
            found.extend(_fragile(result))
        found.extend(_off_the_data(result))
        found.extend(_watched(result, answers))
        found.extend(_uncontrollable(data, result, answers))
        found.extend(_moved_apart(data, run, result, answers))
        found.extend(_not_the_world(data, run, result, answers))
    return tuple(found)


def _ended_early(answers: Answers) -> Iterator[Caveat]:
    if answers.early:
        yield Caveat(
            code="budget-spent",
            message="The search used up its budget of model rows or its time: nearer answers may have been missed.",
            value=1.0,
            threshold=0.0,
            advice="Raise budget= or seconds=, or fix features that matter little.",
        )


def _target_missed(result: Counterfactuals) -> Iterator[Caveat]:
    if not result.valid.all():
        yield Caveat(
            code="target-missed",
            message=(
                f"No answer was found: this row misses the target ({result.target}) by"
                f" {quantity(result.nearest_miss, result.scale, change=True, sign=False)}."
            ),
            value=float(result.nearest_miss),
            threshold=0.0,
            advice="Relax the target or a constraint; .obstacles says which constraint blocks.",
        )


def minimal_sets(changed: BoolArray) -> list[frozenset[int]]:
    """The sets of changed columns of which no other one is a part, in the order in which they come."""
    sets = list(dict.fromkeys(frozenset(np.flatnonzero(row).tolist()) for row in changed))
    return [each for each in sets if not any(other < each for other in sets)]


def _rashomon(result: Counterfactuals, answers: Answers) -> Iterator[Caveat]:
    """Several minimal sets of features would do, about as near."""
    near = answers.pool[answers.distances <= _AS_NEAR * result.scores["distance"][0]]
    changed = (near != answers.x) & ~(np.isnan(near) & np.isnan(answers.x))
    sets = minimal_sets(changed)
    if len(sets) > _SETS:
        first = [" with ".join(result.column_names[j] for j in sorted(each)) for each in sets[:3]]
        yield Caveat(
            code="rashomon",
            message=(
                f"{len(sets)} different sets of features would do at no more than twice the distance"
                f" ({'; '.join(first)}{'; ...' if len(sets) > 3 else ''}): no single answer is the explanation."
            ),
            value=float(len(sets)),
            threshold=float(_SETS),
            advice="State with fixed= and costs= what can be changed and at what cost, or ask for more answers (n=).",
        )


def _off_the_data(result: Counterfactuals) -> Iterator[Caveat]:
    far = 1.0 - float(result.scores["plausibility"][0])
    if far > _IMPLAUSIBLE:
        yield Caveat(
            code="off-data-answer",
            message=(
                f"The first answer is farther from the nearest real row than {percent(far)} of the real rows are from"
                " theirs: the model was hardly trained there."
            ),
            value=far,
            threshold=_IMPLAUSIBLE,
            advice="Look at answers with a smaller .scores['nearest'], or use method='prototype'.",
        )


def _fragile(result: Counterfactuals) -> Iterator[Caveat]:
    lost = 1.0 - float(result.scores["robustness"][0])
    if lost > _FRAGILE:
        yield Caveat(
            code="fragile",
            message=(
                f"The first answer is on the edge: if its numbers move by 1% of their ranges, the target is lost in"
                f" {percent(lost)} of the cases."
            ),
            value=lost,
            threshold=_FRAGILE,
            advice="Ask for more than is needed, such as target='>= 0.6' for a class, or take a more robust answer.",
        )


def _watched(result: Counterfactuals, answers: Answers) -> Iterator[Caveat]:
    for j in answers.watched:
        share = float(result.changed[:, j].mean())
        if result.changed[0, j]:  # farther answers may change it for other reasons
            name = result.column_names[j]
            some = "Every answer changes" if share == 1 else "The nearest answer changes"
            yield Caveat(
                code="protected",
                message=f"{some} {name}, which is protected: the prediction depends on it.",
                value=share,
                threshold=0.0,
                advice=f"Ask again with fixed={name!r}: if the target is then out of reach, the model depends on it.",
                feature=name,
            )


def _or_upwards(data: Data, name: str) -> str:
    """Of a number: it may also be allowed to grow, as people do."""
    return "" if data.schema.features[data.schema.index(name)].nominal else f", or monotone={{{name!r}: 'up'}}"


def _uncontrollable(data: Data, result: Counterfactuals, answers: Answers) -> Iterator[Caveat]:
    """The nearest answer changes what people cannot, and nobody said whether it may."""
    said = {name for key in ("monotone", "ranges", "costs") for name in (result.settings.get(key) or {})}
    for j in np.flatnonzero(result.changed[0]):
        name = result.column_names[j]
        words = set(name.casefold().replace("_", " ").replace("-", " ").split())
        if j in answers.watched or name in said or not words & _GIVEN:
            continue
        share = float(result.changed[:, j].mean())
        also = ", like every other one," if share == 1 and len(result) > 1 else ""
        yield Caveat(
            code="uncontrollable",
            message=f"The first answer{also} needs another {name}, which nobody can choose.",
            value=share,
            threshold=0.0,
            advice=f"Say what may change: fixed={name!r}{_or_upwards(data, name)}.",
            feature=name,
        )


def _moved_apart(data: Data, run: Run, result: Counterfactuals, answers: Answers) -> Iterator[Caveat]:
    """A feature is moved while one that is correlated with it stays."""
    strengths = associations(data, run)
    if strengths is None:
        return
    changed = result.changed[0]
    for j in np.flatnonzero(changed):
        feature = data.schema.features[j]
        moved = (
            1.0 if feature.nominal else abs(answers.rows[0, j] - answers.x[j]) / ((feature.high - feature.low) or 1.0)
        )
        with_it = np.where(changed, 0.0, strengths[j])
        k = int(np.argmax(with_it))
        if moved > _MOVED and with_it[k] > _ASSOCIATED:
            yield Caveat(
                code="moved-apart",
                message=(
                    f"{feature.name} changes while {data.schema.names[k]}, which is correlated with it (association"
                    f" {number(float(with_it[k]))}), stays."
                ),
                value=float(with_it[k]),
                threshold=_ASSOCIATED,
                advice="State with relations= how they are related, or make them one group (groups=).",
                feature=feature.name,
            )


def _not_the_world(data: Data, run: Run, result: Counterfactuals, answers: Answers) -> Iterator[Caveat]:
    """Real rows like the first answer, for which the model says the same, have another outcome than it promises."""
    if answers.outcomes is None or answers.reached is None or not result.valid[0] or len(data) < 2 * _NEAR_ROWS:
        return
    rows = data.spread(5_000)
    codes = np.column_stack([data.codes(j)[rows] for j in range(len(answers.x))])
    apart = RowDistance.learn(data, "gower").between(answers.rows[:1], codes)[0]
    near = rows[np.argsort(apart, kind="stable")[:_LOOKED_AT]]
    with run.checking():
        near = near[answers.reached(near)][:_NEAR_ROWS]
    if len(near) < _FEWEST:
        return
    otherwise = 1.0 - float(answers.outcomes[near].mean())
    if otherwise > _CONTRADICTED:
        yield Caveat(
            code="model-not-world",
            message=(
                f"Of the {counted(len(near), 'real row')} most like the first answer for which the model predicts the"
                f" same, {percent(otherwise)} had an outcome other than the target: the answer says what the model"
                " would predict, not what would happen."
            ),
            value=otherwise,
            threshold=_CONTRADICTED,
            advice="Do not take it as advice before the change has been tried, or a causal reason is known.",
        )
