"""Rules as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.words import counted, listed, number, percent, value_name

if TYPE_CHECKING:
    from pellucid.explanations.rule import Anchor, Rule, RuleCheck, Rules

REASONS = {
    "budget": "the budget of model rows ran out first",
    "interrupted": "the search was interrupted first",
    "most": "no more conditions were allowed",
    "unreachable": (
        "even with a condition on every feature, other predictions are too frequent: the bins are too wide here"
    ),
    "screened": "even with a condition on each feature that seems to matter, other predictions are too frequent",
    "search": "no rule that was tried reaches it",
    "rows": "too few rows satisfy such a rule to be sure",
}
_MANY, _THIN, _UNCOMMON = 4, 0.05, 0.7
_POINT = 1e-8


def sentence(rule: Rule) -> str:
    """``IF a AND b THEN PREDICT y``; without conditions ``ALWAYS PREDICT y``, without a prediction ``IF a AND b``."""
    given = " AND ".join(condition.words for condition in rule.conditions)
    if not rule.predicts:
        return f"IF {given}"
    return f"IF {given} THEN PREDICT {predicted(rule)}" if given else f"ALWAYS PREDICT {predicted(rule)}"


def anchor_sentence(rule: Anchor) -> str:
    """``IF a AND b THEN PREDICT y WITH PRECISION 97% AND COVERAGE 15%``."""
    return f"{sentence(rule)} WITH PRECISION {percent(rule.precision)} AND COVERAGE {percent(rule.coverage)}"


def predicted(rule: Rule) -> str:
    """The prediction that the rule fixes: a class, or a range of numbers for each output."""
    if not len(rule.same):
        return value_name(rule.prediction)
    ranges = [_range(low, high) for low, high in rule.same.tolist()]
    if len(ranges) == 1:
        return ranges[0]
    names = rule.output_names or [f"output {k + 1}:" for k in range(len(ranges))]
    return ", ".join(f"{name} {said}" for name, said in zip(names, ranges, strict=True))


def _range(low: float, high: float) -> str:
    if np.isinf(low):
        return "any number" if np.isinf(high) else f"at most {number(high)}"
    if np.isinf(high):
        return f"at least {number(low)}"
    if high - low <= _POINT * max(abs(low), abs(high), 1.0):  # nothing but the number itself, up to rounding
        return number((low + high) / 2)
    return f"{number(low)} to {number(high)}"


def at_boundary(rule: Anchor) -> bool:
    """Many conditions, little coverage, and a prediction that is not common anyway: the row lies near a boundary."""
    long = len(rule.conditions) >= min(_MANY, max(2, len(rule.feature_names)))
    return long and rule.coverage < _THIN and rule.base < _UNCOMMON


def where_predictions_change(rule: Anchor) -> str:
    """Where a row lies that any change takes elsewhere: classes have boundaries, numbers have not."""
    return "where predictions change fast" if len(rule.same) else "near a decision boundary"


def marks(rule: Anchor) -> list[str]:
    """What a reader of the rule should know at once: not reached, near a boundary, very common or very rare."""
    wanted, codes = float(rule.settings["precision"]), {caveat.code for caveat in rule.caveats}
    how = "common" if rule.base > 0.5 else "rare"
    found = {
        f"precision {percent(wanted)} not reached": not rule.reached,
        where_predictions_change(rule): at_boundary(rule),
        f"a very {how} prediction": "anchor-imbalance" in codes,
    }
    return [mark for mark, holds in found.items() if holds]


def anchor_findings(rule: Anchor) -> list[str]:
    """The rule, how sure its precision is, what each condition adds, and why there is no better one."""
    lines = [f"{anchor_sentence(rule)}.", f"{sureness(rule, 'row')}; the rule applies to {_covered(rule)}."]
    if not rule.conditions and rule.reached:
        lines.append(f"No condition is needed: {percent(rule.base)} of the perturbed rows get this prediction anyway.")
    elif rule.conditions:
        lines.append(f"Without conditions the precision is {percent(rule.base)}; {_steps(rule)}.")
    if not rule.reached:
        wanted = percent(float(rule.settings["precision"]))
        lines.append(f"The precision of {wanted} was not reached: {REASONS.get(rule.reason, rule.reason)}.")
    return lines


def sureness(rule: Anchor, thing: str) -> str:
    """How well the precision is known; ``thing`` is what is perturbed."""
    low, high = rule.interval
    if low == high:
        return f"The precision is exact, from all possible perturbed {thing}s"
    drawn = f", from {rule.samples:,} perturbed {thing}s" if rule.samples else ""
    return f"The precision is between {percent(low)} and {percent(high)}{drawn}"


def _covered(rule: Anchor) -> str:
    if rule.settings.get("weighted"):
        return f"{percent(rule.coverage)} of the weight of {number(rule.rows)} rows"
    return f"{number(round(rule.coverage * rule.rows))} of {number(rule.rows)} rows"


def _steps(rule: Anchor) -> str:
    said: dict[str, Any] = {}
    for condition in rule.conditions:
        said.setdefault(condition.player, []).append(condition.words)
    every = zip(rule.players, rule.running_precision[1:].tolist(), strict=True)
    steps, before, last = [], float(rule.running_precision[0]), ""
    for player, precision in ((player, value) for player, value in every if np.isfinite(value)):
        verb = "lowers it to" if precision < before else "raises it to"
        steps.append(f"{' AND '.join(said[player])} {'to' if verb == last else verb} {percent(precision)}")
        before, last = precision, verb
    return listed(steps, len(steps))


def check_sentence(check: RuleCheck) -> str:
    """What a rule did on other rows."""
    start = f"The rule applies to {number(check.applies)} of {number(check.rows)} rows"
    if not check.applies:
        return f"{start}."
    which = f"the most common prediction among them, {check.prediction}" if check.assumed else "its prediction"
    return f"{start}, of which {percent(check.precision)} get {which} ({percent(check.low)} to {percent(check.high)})."


def rules_headline(rules: Rules) -> str:
    """What the rules have in common; of one rule, the rule."""
    common = _common(rules)
    return common[0] if common and len(rules) > 1 else f"{anchor_sentence(rules.rules[0])}."


def _common(rules: Rules) -> list[str]:
    used = {name: sum(name in rule.players for rule in rules.rules) for name in rules.feature_names}
    common = [name for name, count in sorted(used.items(), key=lambda pair: -pair[1]) if count]
    said = listed([f"{name} ({used[name]})" for name in common], 4)
    return [f"Most frequent in {counted(len(rules), 'rule')}: {said}."] if common else []


def rules_findings(rules: Rules) -> list[str]:
    """One line per rule (at most twenty), then what is common to them."""
    names = [f"Row {rule.row_labels.name(0)}: " if rule.row_labels.of_row() else "" for rule in rules.rules[:20]]
    lines = [f"{i + 1}. {name}{anchor_sentence(rules.rules[i])}." for i, name in enumerate(names)]
    if len(rules) > 20:
        lines.append(f"... and {len(rules) - 20} more rules.")
    lines += _common(rules)
    missed = sum(not rule.reached for rule in rules.rules)
    if missed:
        lines.append(f"{missed} of {len(rules)} rules did not reach the requested precision; see their `reason`.")
    return lines
