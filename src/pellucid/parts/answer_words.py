"""Counterfactuals of texts and images in plain sentences, the finding first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.parts.source import ImageParts
from pellucid.words import counted, listed, quantity

if TYPE_CHECKING:
    from pellucid.parts.answers import PartCounterfactuals

MOST_SAID = 3  # answers in full
_NAMED = 8  # parts of one answer
_PAINTED = {
    "grey": "painted grey",
    "mean": "in its mean colour",
    "neighbours": "in the colour around it",
    "blur": "blurred",
    "colour": "painted over",
    "image": "replaced by another image",
}


def changes_words(found: PartCounterfactuals, answer: int) -> str:
    """What an answer changes: ``without "a" and "b"``, ``with "good" instead of "bad"``, ``with segment 3 painted
    grey``.
    """
    parts, state = found.parts, found.states[answer]
    which = np.flatnonzero(state != 1).tolist()
    if any(state[i] > 1 for i in which):
        if isinstance(parts, ImageParts):
            said = [f"{parts.label(i)} set to {found.others[state[i] - 2]}" for i in which]
        else:
            said = [f'"{found.others[state[i] - 2]}" instead of {parts.label(i)}' for i in which if state[i] > 1]
        gone = [i for i in which if state[i] == 0]
        return f"with {listed(said, _NAMED)}{f' and {_gone(found, gone)}' if gone else ''}"
    return _gone(found, which)


def _gone(found: PartCounterfactuals, which: list[int]) -> str:
    """Which parts are absent: ``without "a" and "b"``."""
    parts, names = found.parts, listed([found.parts.label(i) for i in which], _NAMED)
    if isinstance(parts, ImageParts):
        how = _PAINTED[parts.absent]
        return f"with {names} {how if len(which) == 1 else how.replace(' its ', ' their ').replace(' it', ' them')}"
    return f"without {names}" if parts.mask == "remove" else f"with {parts.mask!r} instead of {names}"


def answer_sentence(found: PartCounterfactuals, answer: int) -> str:
    """With which changes the model would predict what."""
    if not found.changed[answer].any():
        return f"With nothing changed, the model predicts {found.said[answer + 1]}."
    return f"{_condition(found, answer)} the model would predict {found.said[answer + 1]} instead of {found.said[0]}."


def headline(found: PartCounterfactuals) -> str:
    """The first answer; of an attack how little it takes."""
    whole = found.vocabulary.whole
    if not found.parts.names:
        return (
            f"The {whole} has no {found.vocabulary.part}s, so there is nothing to change; the model predicts"
            f" {found.said[0]}."
        )
    if not len(found):
        return f"No change of the {whole} was found with which the model predicts {found.target}."
    if not found.changed[0].any():
        return (
            f"Nothing has to change: the model already predicts {found.said[0]}, which meets the target"
            f" ({found.target})."
        )
    if not found.valid[0]:
        return (
            f"{_condition(found, 0)} the model comes nearest to {found.target} but does not reach it: it"
            f" predicts {found.said[1]} instead of {found.said[0]}."
        )
    if found.settings.get("method") != "adversarial":
        return answer_sentence(found, 0)
    n, of = int(found.changed[0].sum()), counted(len(found.parts.names), found.vocabulary.part)
    return (
        f"{_capital(_doing(found))} {n} of {of} fools the model: {changes_words(found, 0)} it predicts {found.said[1]}"
        f" instead of {found.said[0]}."
    )


def _doing(found: PartCounterfactuals) -> str:
    if (found.states[0] > 1).any() and (found.states[0] == 0).any():
        return "changing"
    if (found.states[0] > 1).any():
        return "changing" if isinstance(found.parts, ImageParts) else "replacing"
    return "painting over" if isinstance(found.parts, ImageParts) else "removing"


def findings(found: PartCounterfactuals) -> list[str]:
    """What would have to go, whether that is the least, what else would do, and what the model sees then."""
    lines = [headline(found)]
    if not found.parts.names or (len(found) and not found.changed[0].any()):
        return lines
    if not len(found) or not found.valid[0]:
        return [*lines, *_unreached(found)]
    lines.append(_how_few(found))
    lines += [f"Or {_short(found, i)}." for i in range(1, min(len(found), MOST_SAID))]
    if len(found) > MOST_SAID:
        n = len(found) - MOST_SAID
        lines.append(f"There {'is' if n == 1 else 'are'} {counted(n, 'more answer')}: see .frame().")
    return [*lines, _strange(found)]


def _short(found: PartCounterfactuals, answer: int) -> str:
    return f"{changes_words(found, answer)}: {found.said[answer + 1]}"


def _how_few(found: PartCounterfactuals) -> str:
    part, n = found.vocabulary.part, int(found.changed[0].sum())
    if n == 1:
        return f"One {part} is enough."
    if found.proven:
        among = " with these replacements" if (found.states[0] > 1).any() else ""
        return f"No smaller set{among} does it: all sets of fewer than {counted(n, part)} were tried."
    sure = f"all sets of up to {counted(found.tried, part)} were tried" if found.tried else "not all were tried alone"
    return f"Fewer than {counted(n, part)} may do: {sure}, of larger ones only the most promising (budget=)."


def _unreached(found: PartCounterfactuals) -> list[str]:
    part, n = found.vocabulary.part, found.changeable
    lines = []
    if found.tried == found.changeable:
        lines.append(f"All sets of these {counted(n, part)} were tried: no change of them reaches the target.")
    elif found.tried:
        lines.append(f"All sets of up to {counted(found.tried, part)} were tried, of larger ones the most promising.")
    if not len(found):
        short = quantity(found.nearest_miss, found.scale, change=True, sign=False)
        lines.append(f"The nearest miss is off by {short}; best_effort=True gives it.")
    other = "absent=" if isinstance(found.parts, ImageParts) else "replace=, mask="
    longer = "" if found.tried == found.changeable else ", raise budget="
    return [*lines, f"Relax the target{longer}, or change {part}s in another way ({other})."]


def _strange(found: PartCounterfactuals) -> str:
    """What the model is asked about."""
    replaced = bool((found.states > 1).any())
    if isinstance(found.parts, ImageParts):
        return "These images are synthetic: they show what the model reacts to, not what could be photographed."
    how = "other" if replaced else "missing"
    return f"A text with {how} {found.vocabulary.part}s may be unnatural: it shows what the model reacts to."


def _condition(found: PartCounterfactuals, answer: int) -> str:
    """The beginning of a sentence."""
    said = changes_words(found, answer)
    return _capital(said) if said.startswith("without") else f"{_capital(said)},"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
