"""From an Explainer to a document: a plain dict of sections, sentences, caveats and chart specifications."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pellucid import __version__
from pellucid.checks import whole
from pellucid.explanations import Effect, Explanation, Importance
from pellucid.explanations.importance import leading
from pellucid.report.cards import Plain
from pellucid.report.contributions import main_output
from pellucid.report.decomposition import part_section
from pellucid.report.effects import effect_card, top_features
from pellucid.report.interplay import interaction_section
from pellucid.report.overview import Score, data_section, facts, importance_loss, model_section, scores
from pellucid.report.rows import check_rows
from pellucid.report.said_once import TOP, said_once
from pellucid.report.sections import (
    associations_section,
    can_cluster,
    care_section,
    effect_section,
    importance_section,
    measure_card,
    trust_section,
)
from pellucid.report.why import why_sections
from pellucid.report.work import Step, Work
from pellucid.words import counted, listed

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

Document = dict[str, Any]


def build(
    explainer: Explainer,
    *,
    title: str | None = None,
    top: int = 6,
    rows: Sequence[int] | None = None,
    progress: Step | None = None,
) -> Document:
    """The content of a report as plain data, which `write` turns into a page.

    ``top`` is the number of features whose effects are shown, ``rows`` are positions of rows to explain besides
    the typical and the extreme ones; ``progress(step, done, total)`` is called before every step and once at the
    end. An interruption (Ctrl-C) is raised, not turned into a partial report.
    """
    top = whole("top", top)
    asked = check_rows(explainer, rows)
    work = Work(10 + min(top, len(explainer.data.schema.features)), progress)
    work.step("scoring the model")
    found = scores(explainer)
    work.count(len(explainer.data) if found else 0)
    work.step("auditing the model")
    trust, audit = trust_section(explainer, work)
    work.step("measuring feature importance")
    importance = work.keep(explainer.importance(loss=importance_loss(explainer)))
    best = top_features(explainer, importance, top)
    effects = [_effect(explainer, work, j, place) for place, j in enumerate(best, start=1)]
    why = why_sections(explainer, asked, work)
    shown = explainer.predictor.output_names[0] if why.overall is None else main_output(explainer, why.overall[1])
    work.step("comparing measures of importance")
    measures, unmeasured = measure_card(explainer, importance, why, work)
    movers = importance if why.overall is None else explainer._importance_of(*why.overall)
    work.step("looking for interactions")
    acting, interplay = interaction_section(explainer, movers, why, shown, work)
    work.step("decomposing the model")
    parts, in_parts = part_section(explainer, movers, why, shown, work)
    work.step("looking for correlated features")
    associations = work.keep(explainer.associations())
    clusters = work.keep(explainer.clusters()) if can_cluster(explainer) else None
    sections = [
        model_section(explainer, found),
        data_section(explainer),
        trust,
        importance_section(importance, measures, unmeasured),
        effect_section(effects),
        acting,
        parts,
        why.whole,
        associations_section(associations, clusters),
        *why.individual,
    ]
    work.finish()
    known, sections = said_once(audit, importance.caveats, sections)
    trust["caveats"] = known
    return {
        "title": title or f"Report on {explainer.predictor.name}",
        "facts": facts(explainer),
        "findings": _findings(found, importance, work.results, [*interplay, *in_parts], known, sections),
        "sections": [*(trust if part["id"] == TOP else part for part in sections), care_section(known, sections)],
        "settings": _settings(work.results),
        "cost": work.cost(),
        "version": __version__,
    }


def _effect(explainer: Explainer, work: Work, j: int, place: int) -> Plain:
    work.step(f"finding the effect of {explainer.data.schema.names[j]}")
    made, results = effect_card(explainer, j, place=place, run=work.run)
    for result in results:
        work.keep(result)
    return made


def _findings(
    found: Sequence[Score],
    importance: Importance,
    results: Sequence[Explanation],
    structure: Sequence[str],
    known: Sequence[Plain],
    sections: Sequence[Plain],
) -> list[str]:
    """The report in a few sentences."""
    lines = [f"The model {found[0].words}."] if found else []
    best = [importance.feature_names[j] for j in leading(importance, 3)]
    lines.append(f"Most important features: {listed(best)}." if best else "No feature has a detectable importance.")
    first = next((result for result in results if isinstance(result, Effect)), None)
    if first is not None and best:
        lines.append(f"{first.feature_names[0]}: {first.findings()[1]}")
    lines += structure
    caveats = sum(len(made["caveats"]) for part in sections for made in part["cards"])
    places = [
        f"{counted(len(known), 'caveat')} about the model and the data" if known else "",
        f"{counted(caveats, 'caveat')} beside the charts" if caveats else "",
    ]
    if known or caveats:
        lines.append(f"Read with care: {listed([place for place in places if place])}.")
    return lines


def _settings(results: Iterable[Explanation]) -> list[Plain]:
    """How each result was asked for."""
    lines = []
    for result in results:
        given = ((key, value) for key, value in result.settings.items() if value is not False)
        said = ", ".join(f"{key} {value}" for key, value in given if isinstance(value, str | int | float))
        chosen = result.feature_names if isinstance(result, Effect) else result.settings.get("features")
        what = listed(list(chosen)) if isinstance(chosen, list | tuple) and chosen else "all features"
        lines.append({"what": what, "settings": said})
    return [line for k, line in enumerate(lines) if line not in lines[:k]]
