"""The chapters with charts: what matters, how the model responds, which features are correlated, and what to mind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.errors import PellucidError
from pellucid.explanations import Associations, AuditLine, Caveat, Clusters, Importance, changed
from pellucid.report.cards import Plain, card, caveats, section, table
from pellucid.report.work import Work
from pellucid.words import number

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

_BARS = 20  # features of the importance chart
_PAIRED = 30  # features of the map of associations
_FEW, _WIDEST = 3, 500  # features: with so few the map says it all, with more a tree of them cannot be read
_BESIDE = 12  # features of a map of associations that leaves room for its caveats beside it
_TOGETHER = {"off-data": "These importances rest on rows that do not occur; read correlated features as one (groups=)."}
_STANDING = (
    "Every chart describes the model, not the world: an effect is what the model does, not what would happen.",
    "A feature without importance may still matter: the model may not use it, or use another in its place.",
    "Caveats are measured on these data. Where none is shown, the checks found nothing, which is no proof.",
)


def trust_section(explainer: Explainer, work: Work) -> Plain:
    """What the audit of the model says, one line for each check."""
    title = "Can its explanations be trusted?"
    try:
        found = work.keep(explainer.audit())
    except PellucidError as error:
        return section("trust", title, [f"This could not be checked: {error}"])
    lines = [
        [
            line.topic.capitalize(),
            number(line.value),
            _bad(line),
            f"{line.finding} {line.advice if line.bad else ''}".strip(),
        ]
        for line in found.lines
    ]
    head = ["Check", "Measured", "Bad", "Finding, and what to do"]
    return section("trust", title, [found.verdict], table=table(head, lines))


def _bad(line: AuditLine) -> str:
    """From where on the number of a check is bad."""
    return f"{'below' if line.code == 'training-data' else 'above'} {number(line.threshold)}"


def importance_section(importance: Importance, measures: Plain | None, missing: Sequence[str]) -> Plain:
    """The importance of the features, and by other measures; or why these are ``missing``."""
    if importance.measure == "share of prediction variance":
        intro = (
            "How much predictions change when a feature's values are given to other rows, as a share of their variance."
        )
    else:
        intro = (
            f"How much the model's loss ({importance.measure}) grows when a feature's values are given to other rows."
        )
    made = card(
        "importance",
        "Importance of the features",
        importance,
        sentences=importance.findings(),
        advice=_TOGETHER,
        max_display=_BARS,
    )
    return section("matters", "What matters", [intro, *missing], cards=[made, *([measures] if measures else [])])


def effect_section(effects: Sequence[Plain]) -> Plain:
    """The effects of the most important features."""
    some = "How the prediction changes with each of the most important features, most important first."
    intro = some if effects else "No feature has more than one value, so there is no effect to show."
    return section("responds", "How it responds", [intro], cards=list(effects))


def can_cluster(explainer: Explainer) -> bool:
    """Whether there are enough features that vary, and not too many, to look for groups of them."""
    varying = sum(feature.distinct > 1 for feature in explainer.data.schema.features)
    return _FEW < varying <= _WIDEST


def associations_section(associations: Associations, clusters: Clusters | None) -> Plain:
    """How strongly the features are correlated, and which groups they make."""
    title, n = "Which features are correlated", len(associations.feature_names)
    if n < 2:
        return section("together", title, ["There is only one feature."])
    shown = strongest(associations, _PAIRED)
    sentences = associations.findings()
    if len(shown.feature_names) < n:
        sentences.append(f"Shown are the {_PAIRED} of {n:,} features with the strongest associations.")
    intro = "Correlated features share importance, and the effect of one alone may rest on rows that do not occur."
    made = card(
        "associations",
        "Associations between features",
        shown,
        sentences=sentences,
        fits=False,
        full=n > _BESIDE,
        order="cluster",
    )
    return section("together", title, [intro], cards=[made, *_groups(clusters)])


def _groups(clusters: Clusters | None) -> list[Plain]:
    """The groups, where there are any."""
    if clusters is None or not clusters.groups:
        return []
    several = "these groups" if len(clusters.groups) > 1 else "this group"
    made = card(
        "clusters",
        "Groups of features",
        clusters,
        subtitle="Features are joined from left to right; those joined before the dashed line make a group",
        sentences=[
            *clusters.findings(),
            (
                f"To see {several} treated as one everywhere in this report: Explainer(...,"
                " groups=explainer.clusters().groups)."
            ),
        ],
        max_display=_PAIRED,
    )
    return [made]


def strongest(associations: Associations, most: int) -> Associations:
    """The features with the strongest association to any other, in their own order."""
    if len(associations.feature_names) <= most:
        return associations
    others = np.nan_to_num(associations.values * (1 - np.eye(len(associations.values))))
    kept = np.sort(np.argsort(-others.max(axis=1), kind="stable")[:most])
    part = np.ix_(kept, kept)
    names = tuple(associations.feature_names[j] for j in kept)
    return changed(associations, values=associations.values[part], se=associations.se[part], feature_names=names)


def care_section(sections: Iterable[Plain], general: Sequence[Caveat]) -> Plain:
    """What holds for the whole report, and where the other caveats stand."""
    beside = [made for part in sections for made in part["cards"] if made["caveats"]]
    links = [{"id": made["id"], "title": made["title"], "count": len(made["caveats"])} for made in beside]
    return section("care", "Read with care", _STANDING, caveats=caveats(general), links=links)
