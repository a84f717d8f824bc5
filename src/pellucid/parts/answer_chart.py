"""Counterfactuals on the text or image itself: words struck through and put in, segments before and after."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, grid, layered, told, tooltips, vconcat
from pellucid.charts.png import data_uri
from pellucid.charts.text import caveat_note, wrapped
from pellucid.parts.answer_words import changes_words
from pellucid.parts.answers import ImageCounterfactuals, PartCounterfactuals, TextCounterfactuals
from pellucid.parts.image_chart import as_bytes, borders, enlarged, panel, shown_image
from pellucid.parts.options import PartAnswerOptions
from pellucid.parts.source import REMOVE
from pellucid.parts.text_chart import FONT, PAD, letter_data, page, word_boxes
from pellucid.parts.text_layout import Fragment, set_lines
from pellucid.parts.tokens import Span
from pellucid.words import counted

_WIDTH = 640.0
_SIDE = 300.0
_GONE, _NEW = "#F9C08F", "#A9CDE5"  # behind words that go, and behind those that come
_EDGE = (213, 94, 0)
_LINE = 3  # pixels
_COLUMNS = 4


def body(found: PartCounterfactuals, options: PartAnswerOptions) -> ChartType:
    """The text once for each answer, or the image beside its answers."""
    if isinstance(found, TextCounterfactuals):
        return _text(found, options)
    assert isinstance(found, ImageCounterfactuals)
    return _image(found, options)


def _notes(found: PartCounterfactuals, shown: int) -> list[str]:
    fewest = int(found.changed[0].sum()) if len(found) else 0
    more = len(found) - shown
    return [
        f"now: {found.said[0]}",
        _ruled_out(found) if fewest > 1 and found.proven else "",
        f"{counted(more, 'more answer')} not shown (max_display=)" if more > 0 else "",
        caveat_note(found),
    ]


def _ruled_out(found: PartCounterfactuals) -> str:
    """What was tried in vain: of replacements no more than those that were tried."""
    return f"all smaller sets{' of these replacements' if (found.states[0] > 1).any() else ''} were tried"


def _what(found: TextCounterfactuals | ImageCounterfactuals) -> str:
    part, replaced = found.vocabulary.part, bool((found.states > 1).any())
    if isinstance(found, ImageCounterfactuals):
        return f"Outlined {part}s are {'changed' if replaced else 'painted over'}"
    if replaced or found.parts.mask != REMOVE:
        return f"Struck-through {part}s give way to those beside them"
    return f"Struck-through {part}s are removed"


# -- text --------------------------------------------------------------------------------------------


def edited(found: TextCounterfactuals, answer: int | None) -> tuple[str, list[Span], list[str]]:
    """The text with what comes put in after what goes, the spans of its words, and for each "kept", "gone" or "new"."""
    state = np.ones(len(found.tokens), dtype=np.intp) if answer is None else found.states[answer]
    text, spans, kinds, at = "", [], [], 0
    for (start, end), code in zip(found.spans.tolist(), state.tolist(), strict=True):
        text += found.source[at:start]
        spans.append((len(text), len(text) + end - start))
        kinds.append("kept" if code == 1 else "gone")
        text += found.source[start:end]
        new = found.others[code - 2] if code > 1 else found.mask if code == 0 and found.mask != REMOVE else ""
        if new:
            spans.append((len(text) + 1, len(text) + 1 + len(new)))
            kinds.append("new")
            text += f" {new}"
        at = end
    return text + found.source[at:], spans, kinds


def _text(found: TextCounterfactuals, options: PartAnswerOptions) -> ChartType:
    width = options.width or _WIDTH
    shown: list[int | None] = list(range(min(len(found), options.max_display)))
    views = [_answer(found, i, width, options.max_lines, named=len(found) > 1) for i in shown or [None]]
    chart = views[0] if len(views) == 1 else vconcat(*views, spacing=16)
    return told(chart, found, options, _what(found), _notes(found, len(shown)), width)


def _answer(found: TextCounterfactuals, answer: int | None, width: float, lines: int, *, named: bool) -> ChartType:
    text, spans, kinds = edited(found, answer)
    every = set_lines(text, spans, width / FONT - 2 * PAD)
    fragments = [fragment for fragment in every if fragment.line < lines]
    height, x, y = page(fragments, width)
    place: dict[str, Any] = {"x": alt.X("x", **x), "x2": "x2", "y": alt.Y("y", **y), "y2": "y2"}
    boxes = box_data(text, spans, kinds, fragments)
    layers: list[ChartType] = []
    for kind, colour in (("gone", _GONE), ("new", _NEW)):
        some = [row for row in boxes if row["kind"] == kind]
        if some:
            layers.append(alt.Chart(data(some)).mark_rect(cornerRadius=3, color=colour).encode(**place))
    layers += [_letters(fragments, kinds, kind, ink, x, y) for kind, ink in _INKS.items()]
    struck = [{**row, "middle": (row["y"] + row["y2"]) / 2} for row in boxes if row["kind"] == "gone"]
    if struck:
        line = alt.Chart(data(struck)).mark_rule(color=theme.INK, strokeWidth=1.5)
        layers.append(line.encode(x=alt.X("x", **x), x2="x2", y=alt.Y("middle", **y)))
        tips = tooltips((found.unit, "word"), ("", "kind"))
        layers.append(alt.Chart(data(boxes)).mark_rect(opacity=0).encode(**place, tooltip=tips))
    view = layered(*layers).properties(width=width, height=height)
    more = every[-1].line - fragments[-1].line if fragments else 0
    title = "" if answer is None or not named else f"{answer + 1}. {found.said[answer + 1]}"
    title += f"{' · ' if title else ''}{more:,} more lines not shown (max_lines=)" if more else ""
    return view.properties(title=alt.TitleParams(wrapped(title, width), fontSize=13)) if title else view


_INKS = {"kept": theme.INK, "gone": theme.MUTED, "new": theme.INK}


def box_data(text: str, spans: list[Span], kinds: list[str], fragments: list[Fragment]) -> list[Row]:
    """The boxes of the words that go and of those that come."""
    rows: list[Row] = []
    for box in word_boxes(fragments):
        i = box.pop("number")
        if kinds[i] != "kept":
            rows.append({**box, "kind": kinds[i], "word": text[spans[i][0] : spans[i][1]]})
    return rows


def _letters(
    fragments: list[Fragment], kinds: list[str], kind: str, ink: str, x: dict[str, Any], y: dict[str, Any]
) -> ChartType:
    letters = zip(letter_data(fragments), fragments, strict=True)
    some = [row for row, each in letters if (kinds[each.word] if each.word >= 0 else "kept") == kind]
    drawn = alt.Chart(data(some)).mark_text(fontSize=FONT, color=ink)
    return drawn.encode(x=alt.X("middle", **x), y=alt.Y("baseline", **y), text=alt.Text("text", type="nominal"))


# -- image -------------------------------------------------------------------------------------------


def _image(found: ImageCounterfactuals, options: PartAnswerOptions) -> ChartType:
    height, width = found.segments.shape
    side = options.width or _SIDE
    size = (side * width / max(height, width), side * height / max(height, width))
    own = shown_image(data_uri(enlarged(as_bytes(found.image), size)), size)
    views = [panel(own, f"the image: {found.said[0]}", size[0])]
    shown = min(len(found), options.max_display)
    for i in range(shown):
        words = f"{changes_words(found, i)}: {found.said[i + 1]}"
        views.append(panel(shown_image(data_uri(outlined(found, i, size)), size), words, size[0]))
    columns = min(_COLUMNS, len(views))
    notes = _notes(found, shown)
    return told(grid(views, columns=columns, column=18), found, options, _what(found), notes, columns * (size[0] + 18))


def outlined(found: ImageCounterfactuals, answer: int, size: tuple[float, float]) -> AnyArray:
    """The image of an answer with a line around what was changed."""
    stacked = np.stack([found.image, found.images[answer]])  # on one scale, so that what is the same looks the same
    both = as_bytes(stacked.reshape(-1, *found.image.shape[1:]))
    shown = enlarged(both[len(found.image) :, ..., :3], size)
    inside = enlarged(found.mask(answer)[..., None].astype(np.uint8), size)[..., 0]
    edge = borders(inside.astype(np.intp))
    for _ in range(_LINE - 1):
        edge[1:] |= edge[:-1]
        edge[:, 1:] |= edge[:, :-1]
    out = shown.copy()
    out[edge] = _EDGE
    return out
