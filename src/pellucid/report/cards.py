"""Cards: a chart with its sentences and, beside it, what it cannot be trusted for; all plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pellucid.explanations import Caveat, Explanation, changed

Plain = dict[str, Any]
Cells = list[list[str]]

_DIGITS = 9  # significant digits of a number in a chart: more than a screen can show


def heading(model: str) -> str:
    """The title of a report that was given none: a function without a name is a model all the same."""
    return "Report on a model" if model == "function" else f"Report on {model}"


def section(name: str, title: str, intro: Iterable[str], **parts: Any) -> Plain:
    """A chapter of the report: sentences, then a table, cards (in up to three ``columns``) or a list of caveats; with
    ``table_beside``, its title, the table stands among the cards, as the first of them.
    """
    empty: Plain = {"table": None, "cards": [], "caveats": [], "links": [], "columns": 1, "table_beside": ""}
    return {"id": name, "title": title, "intro": list(intro), **empty, **parts}


def table(head: Sequence[str], rows: Cells, *, shown: int | None = None, what: str = "rows") -> Plain:
    """A table of texts; rows beyond ``shown`` are folded away and counted as ``what``."""
    cut = len(rows) if shown is None or len(rows) <= shown + 5 else shown
    return {"head": list(head), "rows": rows[:cut], "folded": rows[cut:], "what": what}


def card(
    name: str,
    title: str,
    explanation: Explanation,
    *,
    sentences: Sequence[str],
    subtitle: str = "",
    why: str = "",
    advice: Mapping[str, str] | None = None,
    fits: bool = True,
    full: bool = False,
    half: bool = False,
    stacks: bool = True,
    values: Plain | None = None,
    more: Sequence[str] = (),
    **options: Any,
) -> Plain:
    """The chart of an explanation with its sentences and caveats.

    ``why`` says why this chart was chosen, ``advice`` replaces that of caveats by their code, ``fits`` says
    whether the chart may be made narrower, ``full`` whether it needs the whole width, with its caveats below, ``half``
    whether it stands beside another card, and ``stacks`` whether its panels may stand one below the other on a narrow
    screen; ``values`` is a table below the chart, ``more`` are sentences that are folded away; ``options`` are those of
    the chart.
    """
    spec, note = chart(explanation, **options)
    return {
        "id": name,
        "title": title,
        "subtitle": subtitle,
        "sentences": list(sentences),
        "chart": spec,
        "fits": fits,
        "full": full,
        "half": half,
        "stacks": stacks,
        "note": note,
        "why": why,
        "caveats": caveats(explanation.caveats, advice or {}),
        "chips": [],
        "table": values,
        "more": list(more),
    }


def caveats(items: Iterable[Caveat], advice: Mapping[str, str] | None = None) -> list[Plain]:
    """Caveats as plain data."""
    return [
        {
            "code": item.code,
            "message": item.message,
            "advice": (advice or {}).get(item.code, item.advice),
            "severity": item.severity,
            "level": item.level,
        }
        for item in items
    ]


def chart(explanation: Explanation, **options: Any) -> tuple[Plain, str]:
    """The specification of a chart without its title, and the note below the title: the page has both."""
    bare = changed(explanation, caveats=())
    spec = _rounded(bare.plot(**{"title": "above the chart", **options}).spec)
    spec.pop("$schema", None)
    title = spec.pop("title", None)
    lines = title.get("subtitle", []) if isinstance(title, dict) else []
    return spec, " ".join([lines] if isinstance(lines, str) else lines)


def _rounded(spec: Plain) -> Plain:
    """Numbers with as many digits as can be seen, which makes the file smaller."""
    rounded: Plain = json.loads(json.dumps(spec), parse_float=_round)
    return rounded


def _round(text: str) -> float:
    # Dates are milliseconds since 1970, with thirteen digits of which all count.
    value = float(text)
    return value if abs(value) >= 10**_DIGITS else float(f"{value:.{_DIGITS}g}")
