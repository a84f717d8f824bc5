"""What would change the prediction: counterfactuals of rows that are worth a look.

Targets. Of classes any other class. Of a number, which has no opposite, the middle of the predictions: a row whose
prediction is below their lower quartile or above their upper one is taken to their median, any other to the upper
quartile.

The nearest answers are proven where the model can be read (trees, sums), with so much effort; any other model is asked
for a bounded number of rows, a slow one for fewer, and for nothing where that would be too few to search with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import PellucidError
from pellucid.explanations import Counterfactuals
from pellucid.report.cards import Plain, card, section
from pellucid.report.rows import Look, outcome_words, predicted
from pellucid.report.why import Why
from pellucid.report.work import Work, spread
from pellucid.words import number

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "What would change the prediction: counterfactuals"
_EFFORT = 10  # for the proof, for each row: some three seconds, counted, so that the same seed gives the same report
_ASKED, _FEWEST = 1_200, 200  # model rows for each row, and below which nothing is searched
_LOOKED = 200  # rows whose predictions say where the middle is
_BRIEF_ROWS, _BRIEF_ANSWERS, _BRIEF_FEATURES, _PANEL = 2, 2, 2, 92.0
_ROWS, _ANSWERS, _FEATURES = 8, 5, 7
_MEANING = (
    "Each answer is the row with as little changed as possible; predictions are those of the model for exactly these"
    " values."
)
_MORE = (
    "Nothing was held fixed: explainer.counterfactuals(row, target, fixed=, monotone=) leaves out what nobody can"
    " change. It is about the model, not about the world."
)


def change_sections(explainer: Explainer, why: Why, asked: Sequence[int], work: Work, *, brief: bool) -> list[Plain]:
    """The chapter, with a card for each of some rows: those asked for, else a typical and an extreme one."""
    work.step("searching for what would change predictions")
    reasons = _rows(why, asked, brief=brief)
    if not reasons:
        return []
    budget = work.affordable(_ASKED)
    cards: list[Plain] = []
    reason = ""
    seen = predicted(explainer, np.array(list(reasons), dtype=np.intp), work.run)
    middle = quartiles(explainer, work)
    for k, (row, said) in enumerate(reasons.items()):
        try:
            target, goal = target_of(explainer, seen, k, middle)
            found = work.keep(_searched(explainer, row, target, budget, brief=brief))
        except PellucidError as error:
            reason = str(error)
            continue
        cards.append(_card(explainer, seen, k, row, said, found, goal, brief=brief))
    intro = [" ".join([_MEANING, *_targets(explainer), *([] if brief else [_MORE])])]
    intro += [f"Not searched for every row: {reason}"] if reason else []
    return [section("changes", TITLE, intro, cards=cards, columns=2 if brief else 1)]


def _rows(why: Why, asked: Sequence[int], *, brief: bool) -> dict[int, str]:
    """Which rows, by position, and why."""
    chosen = {} if why.chosen is None else {row: ", ".join(said) for row, said in why.chosen.reasons.items()}
    found = {row: chosen.get(row, "as requested") for row in asked}
    if not (brief and found):
        found |= chosen
    return dict(list(found.items())[: max(_BRIEF_ROWS, len(asked)) if brief else _ROWS])


def quartiles(explainer: Explainer, work: Work) -> FloatArray:
    """The quartiles of each explained output, over some rows evenly spaced: (3, outputs)."""
    seen = predicted(explainer, spread(explainer, _LOOKED), work.run)
    return np.asarray(np.quantile(seen.explained, [0.25, 0.5, 0.75], axis=0))


def target_of(explainer: Explainer, seen: Look, k: int, middle: FloatArray) -> tuple[Any, str]:
    """What to predict instead for the row at place ``k``, and how that is said."""
    if explainer.predictor.classes is not None:
        return None, "another class"
    lower, median, upper = (float(end) for end in middle[:, 0])
    value = float(seen.explained[k, 0])
    if value < lower:
        sign, goal, what = ">=", median, "the median of the predictions"
    elif value > upper:
        sign, goal, what = "<=", median, "the median of the predictions"
    else:
        sign, goal, what = ">=", upper, "the upper quartile of the predictions"
    goal = float(f"{goal:.4g}")  # a round number is as good, and can be read
    names = explainer.predictor.output_names
    return ({names[0]: f"{sign} {goal:.10g}"} if len(names) > 1 else f"{sign} {goal:.10g}"), f"{what} ({number(goal)})"


def _searched(explainer: Explainer, row: int, target: Any, budget: int, *, brief: bool) -> Counterfactuals:
    """The nearest answers, proven where that can be."""
    n = _BRIEF_ANSWERS if brief else _ANSWERS
    if budget >= _FEWEST:
        return explainer.counterfactuals(row, target, n=n, effort=_EFFORT, budget=budget)
    try:
        return explainer.counterfactuals(row, target, n=n, method="exact", effort=_EFFORT)
    except PellucidError:
        raise PellucidError(
            "the model is too slow to be searched here; explainer.counterfactuals searches for single rows."
        ) from None


def _card(
    explainer: Explainer, seen: Look, k: int, row: int, said: str, found: Counterfactuals, goal: str, *, brief: bool
) -> Plain:
    small: dict[str, Any] = (
        {"half": True, "width": _PANEL, "stacks": False} if brief else {"full": True, "every_name": True}
    )
    return card(
        f"changes-{row}",
        f"Row {found.row_labels.name(0)}: {said}",
        found,
        subtitle=f"{outcome_words(explainer, seen, k)} Wanted: {goal}.",
        sentences=[found.headline()] if brief else found.findings()[:2],
        **small,
        max_display=_BRIEF_ANSWERS if brief else _ANSWERS,
        max_features=_BRIEF_FEATURES if brief else _FEATURES,
    )


def _targets(explainer: Explainer) -> list[str]:
    if explainer.predictor.classes is not None:
        return []
    return [
        "A regression has no other class to aim at: the target is the upper quartile of the predictions for rows in"
        " their middle half, and the median for the others."
    ]
