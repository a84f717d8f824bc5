"""A tree that stands in for the model: how far it does, where it does not, and whether it could replace the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid.errors import PellucidError
from pellucid.explanations import Surrogate, Surrogates
from pellucid.report.cards import Plain, card, section
from pellucid.report.work import Work, focused

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "A tree instead of the model (global surrogate)"
_ROWS = 5_000
_GOOD = 0.5  # below this R² a tree is a picture of something else
_MEANING = (
    "A small decision tree fitted to the model's predictions. R² says how much of their variance it reproduces on rows"
    " that it was not fitted to; it is a picture of the model, not of the world."
)


def surrogate_section(explainer: Explainer, output: str, work: Work) -> tuple[Plain, list[str]]:
    """The chapter, and its finding in a sentence."""
    try:
        found = work.keep(focused(explainer, _ROWS, output).surrogate())
    except PellucidError as error:
        return section("surrogate", TITLE, [_MEANING, f"There is no surrogate: {error}"]), []
    if isinstance(found, Surrogates) or found.tree is None or len(found.tree.leaves) < 2:
        return section(
            "surrogate", TITLE, [_MEANING, "In the rows looked at there is nothing that a tree could split on."]
        ), []
    head, *rest = found.findings()
    if found.overall < _GOOD:
        said = "Too little for a picture of the model, so the tree is not shown: explainer.surrogate() has it."
        return section("surrogate", TITLE, [_MEANING, head, said, *_size(found)]), [head]
    cards = [
        card(
            "surrogate-tree",
            "The tree",
            found,
            sentences=rest,
            kind="tree",
            full=True,
            fits=False,
            more=found.tree.rules,
        )
    ]
    return section("surrogate", TITLE, [_MEANING, head], cards=cards), [head]


def _size(found: Surrogate) -> list[str]:
    size = found.size_for(0.9)
    return [] if size is None else [f"An R² of 0.9 takes {size} leaves."]
