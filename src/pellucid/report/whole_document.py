"""What reports of texts and images have in common with that of a table: facts, what was asked, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence

from pellucid import __version__
from pellucid.report.cards import Plain, heading
from pellucid.report.singles import TOP
from pellucid.report.wholes import Seen
from pellucid.report.work import Work
from pellucid.words import counted, listed, model_name


def document(
    title: str | None, seen: Seen, more: Sequence[Plain], findings: Sequence[str], sections: Sequence[Plain], work: Work
) -> Plain:
    """The whole document; ``more`` are facts about these texts or images."""
    care = next(part for part in sections if part["id"] == TOP)["caveats"]
    said = [f"Read with care: {counted(len(care), 'caveat')}, at the top."] if care else []
    return {
        "title": title or heading(seen.model),
        "detail": "full",
        "alarm": None,
        "explore": None,
        "facts": [*_facts(seen), *more],
        "findings": [*findings, *said],
        "sections": list(sections),
        "settings": _settings(work),
        "cost": work.cost(),
        "version": __version__,
    }


def _facts(seen: Seen) -> list[Plain]:
    names = listed(seen.outputs.names)
    explained = f"{seen.scale} of {names}" if seen.scale in ("probability", "log-odds") else names
    task = (
        seen.outputs.task
        if seen.classes is None
        else f"classification, {counted(len(seen.classes), 'class', 'classes')}"
    )
    looked = "" if len(seen.places) == seen.total else f" ({len(seen.places):,} looked at)"
    return [
        {"label": "Model", "value": model_name(seen.model, seen.library)},
        {"label": "Task", "value": task},
        {"label": "Explained", "value": "the predicted number" if explained == "prediction" else explained},
        {"label": f"{seen.noun.capitalize()}s", "value": f"{seen.total:,}{looked}"},
    ]


def _settings(work: Work) -> list[Plain]:
    lines = []
    for result in work.results:
        given = ((key, value) for key, value in result.settings.items() if value is not False)
        said = ", ".join(f"{key} {value}" for key, value in given if isinstance(value, str | int | float))
        lines.append({"what": str(result.settings.get("method", "")), "settings": said})
    return [line for k, line in enumerate(lines) if line not in lines[:k]]
