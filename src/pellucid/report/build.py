"""From an Explainer to a document: a plain dict of sections, sentences, caveats and chart specifications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pellucid import __version__
from pellucid.errors import InputError
from pellucid.explanations import Effect, Explanation, Importance
from pellucid.explanations.words import listed
from pellucid.report.cards import GENERAL, Plain
from pellucid.report.effects import effect_card, top_features
from pellucid.report.overview import data_section, facts, model_section
from pellucid.report.score import Score, importance_loss, scores
from pellucid.report.sections import (
    care_section,
    dependence_section,
    effect_section,
    importance_section,
)
from pellucid.runner import Run

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

Document = dict[str, Any]
Step = Callable[[str, int, int], None]  # what is done next, steps done, steps in all
Result = TypeVar("Result", bound=Explanation)


def build(
    explainer: Explainer, *, title: str | None = None, top: int = 6, progress: Step | None = None
) -> Document:
    """The content of a report as plain data, which `write` turns into a page.

    ``top`` is the number of features whose effects are shown; ``progress(step, done, total)`` is called before
    every step and once at the end. An interruption (Ctrl-C) is raised, not turned into a partial report.
    """
    if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
        raise InputError(f"top={top!r}: give the number of features whose effects are shown, at least 1.")
    work = _Work(explainer, int(top), progress)
    work.step("scoring the model")
    found = scores(explainer)
    work.step("measuring what matters")
    importance = work.keep(explainer.importance(loss=importance_loss(explainer)))
    effects = [work.effect(j) for j in top_features(explainer, importance, int(top))]
    work.step("looking for features that go together")
    dependence = work.keep(explainer.dependence())
    general = [item for item in importance.caveats if item.code in GENERAL]
    sections = [
        model_section(explainer, found, general),
        data_section(explainer),
        importance_section(importance),
        effect_section(effects),
        dependence_section(dependence),
    ]
    work.finish()
    return {
        "title": title or f"Report on {explainer.predictor.name}",
        "facts": facts(explainer),
        "findings": _findings(found, importance, work.results, sections),
        "sections": [*sections, care_section(sections, general)],
        "settings": _settings(work.results),
        "cost": work.cost(asked=len(explainer.data) if found else 0),
        "version": __version__,
    }


class _Work:
    """The steps of a report: says which one is next, and keeps the results for their cost and settings."""

    def __init__(self, explainer: Explainer, top: int, progress: Step | None) -> None:
        self.results: list[Explanation] = []
        self._explainer = explainer
        self._progress = progress
        self._run = Run(progress=False)
        self._effects = 0
        self._done, self._total = 0, 3 + min(top, len(explainer.data.schema.features))

    def step(self, what: str) -> None:
        if self._progress is not None:
            self._progress(what, self._done, self._total)
        self._done += 1

    def finish(self) -> None:
        if self._progress is not None:
            self._progress("done", self._total, self._total)

    def keep(self, result: Result) -> Result:
        """Note a result; one that was interrupted ends the report."""
        if any(item.code == "partial" for item in result.caveats):
            raise KeyboardInterrupt
        self.results.append(result)
        return result

    def effect(self, j: int) -> Plain:
        self._effects += 1
        self.step(f"finding the effect of {self._explainer.data.schema.names[j]}")
        made, results = effect_card(self._explainer, j, place=self._effects, run=self._run)
        for result in results:
            self.keep(result)
        return made

    def cost(self, *, asked: int) -> Plain:
        """Rows are the same every time; seconds are not, so the page leaves them out."""
        spent = [result.cost for result in self.results]
        return {
            "model_rows": asked + sum(cost.model_rows + cost.check_rows for cost in spent),
            "model_seconds": sum(cost.model_seconds for cost in spent),
            "total_seconds": sum(cost.total_seconds for cost in spent),
        }


def _findings(
    found: Sequence[Score],
    importance: Importance,
    results: Sequence[Explanation],
    sections: Sequence[Plain],
) -> list[str]:
    """The report in a few sentences."""
    lines = [f"The model {found[0].words}."] if found else []
    lines.append(f"What matters most: {listed(importance.top(3))}.")
    first = next((result for result in results if isinstance(result, Effect)), None)
    if first is not None:
        lines.append(f"{first.feature_names[0]}: {first.findings()[1]}")
    caveats = sum(len(made["caveats"]) for part in sections for made in part["cards"])
    if caveats:
        few = "1 caveat stands" if caveats == 1 else f"{caveats} caveats stand"
        lines.append(f"{few} beside the charts; read them before you rely on what you see.")
    return lines


def _settings(results: Iterable[Explanation]) -> list[Plain]:
    """How each result was asked for."""
    lines = []
    for result in results:
        given = ((key, value) for key, value in result.settings.items() if value is not False)
        said = ", ".join(f"{key} {value}" for key, value in given if isinstance(value, str | int | float))
        what = listed(result.feature_names) if isinstance(result, Effect) else "all features"
        lines.append({"what": what, "settings": said})
    return lines
