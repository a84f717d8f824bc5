"""From an Explainer to a document: a plain dict of sections, sentences, caveats and chart specifications."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pellucid import __version__
from pellucid.checks import one_of, whole
from pellucid.explanations import Effect, Explanation, Importance, Performance
from pellucid.explanations.importance import leading
from pellucid.report.cards import Plain, heading
from pellucid.report.changes import change_sections
from pellucid.report.contributions import main_output
from pellucid.report.decomposition import part_section
from pellucid.report.effects import effect_card, top_features
from pellucid.report.explore import exploration
from pellucid.report.interplay import interaction_section
from pellucid.report.overview import data_section, facts
from pellucid.report.performance import importance_loss, measured, model_section
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
from pellucid.report.short import short_sections, shortened, standing_section
from pellucid.report.stand_in import surrogate_section
from pellucid.report.why import Why, contributions_of, find_why, row_sections
from pellucid.report.work import REPORT_ROWS, Step, Work, looked_at, to_permute, unaided
from pellucid.words import counted, listed

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

Document = dict[str, Any]
DETAILS = ("short", "full")
_FLATTERING = ("training-data", "overfitted")  # caveats by which the score is too good


def build(
    explainer: Explainer,
    *,
    title: str | None = None,
    top: int = 6,
    rows: Sequence[int] | None = None,
    detail: str = "short",
    progress: Step | None = None,
    most_rows: int = REPORT_ROWS,
) -> Document:
    """The content of a report as plain data, which `write` turns into a page.

    ``top`` is the number of features whose effects are shown, ``rows`` are positions of rows to explain besides
    the typical and the extreme ones, ``detail`` is ``"short"`` or ``"full"``; ``progress(step, done, total)`` is called
    before every step and once at the end. Of more than ``most_rows`` rows so many are looked at, drawn at random. An
    interruption (Ctrl-C) is raised, not turned into a partial report.
    """
    top, brief = whole("top", top), one_of("detail", detail, DETAILS) == "short"
    every = unaided(explainer)
    explainer, asked = looked_at(every, check_rows(explainer, rows), most_rows)
    work = Work((7 if brief else 13) + min(top, len(explainer.data.schema.features)), progress)
    work.step("scoring the model")
    performance = measured(explainer, work)
    work.step("auditing the model")
    trust, audit = trust_section(explainer, work)
    work.step("measuring feature importance")
    importance = work.keep(to_permute(explainer).importance(loss=importance_loss(explainer)))
    best = top_features(explainer, importance, top)
    effects = [_effect(explainer, work, j, place, brief=brief) for place, j in enumerate(best, start=1)]
    why = find_why(explainer, asked, work)
    structure: list[str] = []
    if brief:
        sections = short_sections(explainer, performance, importance, trust, effects, why, asked)
        sections += change_sections(explainer, why, asked, work, brief=True)
    else:
        chapters, structure = _structure(explainer, importance, why, work)
        sections = [
            model_section(explainer, performance, brief=False),
            data_section(explainer, len(every.data)),
            trust,
            chapters["matters"],
            effect_section(effects),
            chapters["interactions"],
            chapters["parts"],
            chapters["surrogate"],
            contributions_of(explainer, why),
            chapters["together"],
            *row_sections(explainer, why, work),
            *change_sections(explainer, why, asked, work, brief=False),
        ]
    work.step("preparing rows and features to choose from")
    explore = exploration(explainer, importance, why, work)
    work.finish()
    known, sections = said_once(audit, importance.caveats, sections)
    beside = [item for item in known if item["code"] not in _FLATTERING]  # those are the headline
    sections = [{**part, "caveats": beside} if part["id"] == TOP else part for part in sections]
    findings = _findings(performance, importance, work.results, structure, known, sections)
    sections = [*shortened(sections), standing_section()] if brief else [*sections, care_section(known, sections)]
    return {
        "title": title or heading(explainer.predictor.name),
        "detail": detail,
        "facts": facts(explainer, len(every.data)),
        "alarm": _alarm(known),
        "findings": findings,
        "sections": sections,
        "explore": explore,
        "settings": _settings(work.results),
        "cost": work.cost(),
        "version": __version__,
    }


def _structure(
    explainer: Explainer, importance: Importance, why: Why, work: Work
) -> tuple[dict[str, Plain], list[str]]:
    """The chapters that only the full report has, and their findings."""
    shown = explainer.predictor.output_names[0] if why.overall is None else main_output(explainer, why.overall[1])
    work.step("comparing measures of importance")
    measures, unmeasured = measure_card(explainer, importance, why, work)
    movers = importance if why.overall is None else explainer._importance_of(*why.overall)
    work.step("looking for interactions")
    acting, interplay = interaction_section(explainer, movers, why, shown, work)
    work.step("decomposing the model")
    parts, in_parts = part_section(explainer, movers, why, shown, work)
    work.step("fitting a tree to the predictions")
    instead, in_short = surrogate_section(explainer, shown, work)
    work.step("looking for correlated features")
    associations = work.keep(explainer.associations())
    clusters = work.keep(explainer.clusters()) if can_cluster(explainer) else None
    chapters = {
        "matters": importance_section(explainer, importance, measures, unmeasured),
        "interactions": acting,
        "parts": parts,
        "surrogate": instead,
        "together": associations_section(associations, clusters),
    }
    return chapters, [*interplay, *in_parts, *in_short]


def _alarm(known: Sequence[Plain]) -> Plain | None:
    """The headline where these rows look like those that the model was fitted to."""
    found = next((item for item in known if item["code"] in _FLATTERING), None)
    if found is None:
        return None
    return {
        "headline": "These look like the rows that the model was trained on.",
        "message": found["message"],
        "advice": found["advice"],
    }


def _effect(explainer: Explainer, work: Work, j: int, place: int, *, brief: bool) -> Plain:
    work.step(f"finding the effect of {explainer.data.schema.names[j]}")
    made, results = effect_card(explainer, j, place=place, run=work.run, brief=brief)
    for result in results:
        work.keep(result)
    return made


def _findings(
    performance: Performance | None,
    importance: Importance,
    results: Sequence[Explanation],
    structure: Sequence[str],
    known: Sequence[Plain],
    sections: Sequence[Plain],
) -> list[str]:
    """The report in a few sentences."""
    lines = [] if performance is None else [performance.findings()[0]]
    if lines and any(item["code"] in _FLATTERING for item in known):
        lines[0] = f"{lines[0]} Expect worse on new rows: these look like its training rows."
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
