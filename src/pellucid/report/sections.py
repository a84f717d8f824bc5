"""The chapters with charts: what matters, how the model responds, which features are correlated, and what to mind.

Importance is shown by several measures: where they agree, the answer does not hang on the way of asking. Permutation
importance is there already, and so are the contributions that the mean absolute contribution is made of. Conditional
importance is measured where it costs little; Sobol indices, which take features as independent, where no feature is
correlated with others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.errors import PellucidError
from pellucid.explanations import Associations, Audit, AuditLine, Clusters, Importance, ImportanceComparison, changed
from pellucid.report.cards import Plain, card, section, table
from pellucid.report.said_once import TOP
from pellucid.report.why import Why
from pellucid.report.work import Work, to_permute
from pellucid.words import listed, loss_name, number, percent

if TYPE_CHECKING:
    from pellucid.explainer import Explainer


_BARS = 20  # features of the importance chart
_PAIRED = 30  # features of the map of associations
_FEW, _WIDEST = 3, 500  # features: with so few the map says it all, with more a tree of them cannot be read
_BESIDE = 12  # features of a map of associations that leaves room for its caveats beside it
_STANDING = (
    (
        "Every chart describes the model, not the world: an effect is what the model does, not what would happen in"
        " reality."
    ),
    "A feature without importance may still matter in reality: the model may not use it, or use another in its place.",
    "Caveats are measured on these data. No caveat means that the checks found nothing, not that nothing is wrong.",
)


def trust_section(explainer: Explainer, work: Work) -> tuple[Plain, Audit | None]:
    """What the audit of the model says, one line for each check that found nothing bad, and the audit."""
    title = "Can its explanations be trusted?"
    try:
        found = work.keep(explainer.audit())
    except PellucidError as error:
        return section(TOP, title, [f"This could not be checked: {error}"]), None
    lines = [
        [line.topic.capitalize(), number(line.value), _bad(line), line.finding] for line in found.lines if not line.bad
    ]
    passed = table(["Check", "Measured", "Bad", "Finding"], lines) if lines else None
    return section(TOP, title, [found.verdict], table=passed), found


def _bad(line: AuditLine) -> str:
    """From where on the number of a check is bad."""
    return f"{'below' if line.code == 'training-data' else 'above'} {number(line.threshold)}"


def importance_meaning(explainer: Explainer, importance: Importance) -> str:
    """What the importance measures, and on which rows, in a sentence or two."""
    rows, every = len(to_permute(explainer).data), len(explainer.data)
    some = "" if rows == every else f" Measured on {rows:,} of the {every:,} rows, evenly spaced."
    if importance.measure == "share of prediction variance":
        return f"How much predictions change when a feature is permuted, as a share of their variance.{some}"
    return f"How much the model's {loss_name(importance.measure)} grows when a feature is permuted.{some}"


def importance_section(
    explainer: Explainer, importance: Importance, measures: Plain | None, missing: Sequence[str]
) -> Plain:
    """The importance of the features, and by other measures; or why these are ``missing``."""
    made = card("importance", "Feature importance", importance, sentences=importance.findings(), max_display=_BARS)
    return section(
        "matters",
        "What matters: feature importance",
        [importance_meaning(explainer, importance), *missing],
        cards=[made, *([measures] if measures else [])],
    )


def effect_section(effects: Sequence[Plain]) -> Plain:
    """The effects of the most important features."""
    some = "How the prediction changes with each of the most important features, most important first."
    intro = some if effects else "No feature has more than one value, so there is no effect to show."
    return section("responds", "How it responds: feature effects", [intro], cards=list(effects))


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
    intro = (
        "Correlated features share importance, and the effect of one alone may rest on combinations that do not occur."
    )
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


def care_section(known: Sequence[Plain], sections: Sequence[Plain]) -> Plain:
    """What holds for every report, and where the caveats of this one stand."""
    places = [(part["id"], part["title"], len(known)) for part in sections if part["id"] == TOP and known]
    places += [
        (made["id"], made["title"], len(made["caveats"]))
        for part in sections
        for made in part["cards"]
        if made["caveats"]
    ]
    links = [{"id": place, "title": title, "count": count} for place, title, count in places]
    return section("care", "Read with care", _STANDING, links=links)


_NAMED = {"conditional": "Conditional", "shap": "SHAP", "sobol": "Sobol"}
_ROWS = 150_000  # model rows for conditional importance
_LOOKED = 5_000  # rows of the data it looks at, at most
_REPEATS = (2, 5)
_SOBOL = 50_000  # model rows, where the model has to be asked
_ASKED_WIDEST = 50  # features, where the model has to be asked
_MEASURED = 15
_AGREE = 0.8  # of Kendall's tau
_QUESTIONS = {
    "permutation": "how much changes when it is permuted",
    "conditional": "what it adds to the other features",
    "shap": "how far it moves single predictions",
    "sobol": "what share of the variance of the predictions it explains",
}


def measure_card(explainer: Explainer, importance: Importance, why: Why, work: Work) -> tuple[Plain | None, list[str]]:
    """The card that compares measures, if there are at least two, and why some are missing."""
    parts, missing = [importance], []
    for name, found in _others(explainer, importance, why, work):
        if isinstance(found, Importance):
            parts.append(found)
        else:
            missing.append(f"{_NAMED.get(name, name)} importance is not shown: {found}")
    if len(parts) < 2 or len(importance.feature_names) < 2:
        return None, missing if len(importance.feature_names) > 1 else []
    compared = explainer._side_by_side(parts, work.run)
    if not np.nansum(compared.excess) > 0:
        return None, ["No feature matters by any measure."]
    asks = [f"{part.method} asks {_QUESTIONS[part.method]}" for part in parts]
    made = card(
        "measures",
        "Feature importance by other measures",
        _without_known(compared, importance),
        subtitle="Share of each feature in the total importance, by measure",
        sentences=[*compared.findings(), _advice(compared)],
        more=[f"For each feature, {'; '.join(asks)}.", *missing],
        full=True,
        max_display=_MEASURED,
    )
    return made, []


def _others(
    explainer: Explainer, importance: Importance, why: Why, work: Work
) -> Iterator[tuple[str, Importance | str]]:
    """Each further measure, or the reason why it is missing."""
    players = len(importance.feature_names)
    rows = min(int(np.count_nonzero(explainer.data.weights)), _LOOKED)
    repeats = min(work.affordable(_ROWS) // max(rows * players, 1), _REPEATS[1])
    if repeats < _REPEATS[0]:
        needed = f"{rows * players * _REPEATS[0]:,} model rows"
        yield ("conditional", f"it takes at least {needed}; explainer.importance(method='conditional') has it.")
    else:
        loss = None if importance.measure != "share of prediction variance" else "variance"
        if importance.measure == "error":
            loss = "error"
        yield "conditional", _tried(explainer, work, method="conditional", loss=loss, repeats=repeats)
    if why.overall is not None and why.overall[1].feature_names == importance.feature_names:
        yield "shap", explainer._importance_of(*why.overall)
    if any(item.code == "off-data" for item in importance.caveats):
        return  # an index of independent features says nothing about these
    if why.read(explainer, "tree"):
        yield "sobol", _tried(explainer, work, method="sobol")
    elif players <= _ASKED_WIDEST:
        yield "sobol", _tried(explainer, work, method="sobol", budget=work.affordable(_SOBOL))


def _tried(explainer: Explainer, work: Work, **options: Any) -> Importance | str:
    try:
        found: Importance = work.keep(explainer.importance(**options))
    except PellucidError as error:
        return str(error)
    return found


def _without_known(compared: ImportanceComparison, importance: Importance) -> ImportanceComparison:
    """Without the caveats that stand beside the first chart of the chapter."""
    known = {(item.code, item.feature) for item in importance.caveats}
    kept = tuple(item for item in compared.caveats if (item.code, item.feature) not in known)
    return changed(compared, caveats=kept)


def _advice(compared: ImportanceComparison) -> str:
    """What to make of it."""
    disputed = [str(item.feature) for item in compared.caveats if item.code == "measures-disagree"]
    if disputed:
        return (
            f"Before you rely on how much {listed(disputed)} {'matters' if len(disputed) == 1 else 'matter'}, read"
            " beside the chart why the measures differ."
        )
    tau = compared.agreement
    if np.nanmin(tau, initial=1.0) >= _AGREE:
        return "The ranking of the features does not depend on the measure."
    shares = np.nan_to_num(compared.shares)
    j = int(np.argmax(np.ptp(shares, axis=1)))
    high, low = int(shares[j].argmax()), int(shares[j].argmin())
    return (
        f"They differ most about {compared.feature_names[j]}: {percent(float(shares[j, high]))} of all importance by "
        f"{compared.methods[high]} ({_QUESTIONS[compared.methods[high]]}), {percent(float(shares[j, low]))} by "
        f"{compared.methods[low]} ({_QUESTIONS[compared.methods[low]]})."
    )
