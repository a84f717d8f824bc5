"""Each fact once: what holds for the data or the model stands at the top, and a chart that it touches has a chip.

Every result says all that is known against it, so that the same correlation of two features comes along with
importances, contributions and interactions. In a report it is one caveat, beside the audit; other charts show its short
label, which leads there. A caveat that two charts have in the same words stands beside the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from pellucid.explanations import Audit, AuditLine, Caveat
from pellucid.explanations.advice import advice
from pellucid.report.cards import Plain, caveats

TOP = "trust"  # the chapter in which these facts stand
_CORRELATED = "correlated features"
_LABELS = {
    "dependent-features": _CORRELATED,
    "clustered-features": _CORRELATED,
    "off-data": _CORRELATED,
    "moved-apart": _CORRELATED,
    "training-data": "training data",
    "overfitted": "training data",
    "poor-model": "poor model",
    "unsteady-model": "unsteady model",
    "logit-clipped": "probabilities of 0 or 1",
    "not-trees": "trees not read",
    "few-rows": "few rows",
    "few-rows-for-clusters": "few rows",
    "fooled": "synthetic rows",
}


def said_once(
    audit: Audit | None, general: Sequence[Caveat], sections: Sequence[Plain]
) -> tuple[list[Plain], list[Plain]]:
    """The facts that hold for the whole report, the worst first, and the chapters with the caveats that are left."""
    facts: dict[str, Plain] = {}
    for label in dict.fromkeys(_LABELS.values()):
        lines = [line for line in (audit.lines if audit else ()) if line.bad and _LABELS.get(line.code) == label]
        if lines:
            facts[label] = _of_audit(lines, label)
    beside = [item for part in sections for made in part["cards"] for item in made["caveats"]]
    for item in [*caveats(general), *beside]:
        if item["code"] in _LABELS:
            facts.setdefault(_LABELS[item["code"]], item)
    said: dict[tuple[str, str], str] = {}
    left = [{**part, "cards": [_labelled(made, said) for made in part["cards"]]} for part in sections]
    return sorted(facts.values(), key=lambda fact: -fact["severity"]), left


def _of_audit(lines: Sequence[AuditLine], label: str) -> Plain:
    """What several checks found of one fact."""
    worst = max(lines, key=lambda line: line.severity)
    made = caveats([Caveat(worst.code, " ".join(line.finding for line in lines), worst.value, worst.threshold, "")])[0]
    return {**made, "advice": advice("off-data", "report") if label == _CORRELATED else worst.advice}


def _labelled(made: Plain, said: dict[tuple[str, str], str]) -> Plain:
    """A card without what is said elsewhere, and with chips that lead there; ``said`` is where, and grows."""
    kept, chips = [], {}
    for item in made["caveats"]:
        label, key = _LABELS.get(item["code"]), (item["code"], item["message"])
        if label is not None:
            chips[label] = TOP
        elif key in said:
            chips[item["code"].replace("-", " ")] = said[key]
        else:
            kept.append(item)
            said[key] = made["id"]
    return {**made, "caveats": kept, "chips": [{"label": label, "id": place} for label, place in chips.items()]}
