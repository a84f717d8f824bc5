"""The words of a text, or the segments of an image, that fix its prediction."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, grid, layered, titled, tooltips
from pellucid.charts.png import data_uri
from pellucid.charts.text import caveat_note
from pellucid.explanations.rule_words import predicted
from pellucid.parts.image_chart import as_bytes, borders, enlarged, panel, shown_image
from pellucid.parts.options import PartRuleOptions
from pellucid.parts.rule import ImageRule, PartRule, TextRule, coverage_note
from pellucid.parts.text_chart import FONT, PAD, letter_data, page, word_boxes
from pellucid.parts.text_layout import Fragment, set_lines
from pellucid.words import percent

_FILL = "#F9C08F"
_WIDTH = 640.0
_SIDE = 300.0
_EDGE = (213, 94, 0)
_FADED = 0.25
_LINE = 3  # pixels


def body(rule: PartRule, options: PartRuleOptions) -> ChartType:
    """The text with the words of the rule marked, or the image and what the rule keeps of it."""
    if isinstance(rule, TextRule):
        return _text(rule, options)
    assert isinstance(rule, ImageRule)
    return _image(rule, options)


def _notes(rule: PartRule) -> list[str]:
    low, high = rule.interval
    known = "exact" if low == high else f"{percent(low)} to {percent(high)}"
    return [
        f"precision {percent(rule.precision)} ({known}), without the rule {percent(rule.base)}",
        coverage_note(rule) if rule.kept else "",
        "" if rule.reached else f"the precision of {percent(float(rule.settings['precision']))} was not reached",
        caveat_note(rule),
    ]


def _title(rule: PartRule, options: PartRuleOptions) -> str:
    if options.title:
        return options.title
    if not rule.kept:
        return f"The prediction stays {predicted(rule)}, whatever is left of the {rule.vocabulary.whole}"
    who = (
        f"This {rule.vocabulary.part} fixes"
        if len(rule.kept) == 1
        else f"These {len(rule.kept)} {rule.vocabulary.part}s fix"
    )
    return f"{who} the prediction {predicted(rule)}"


# -- text --------------------------------------------------------------------------------------------


def box_data(rule: TextRule, fragments: list[Fragment]) -> list[Row]:
    """The boxes of the words of the rule, with the precision when each joins."""
    step = {part: k for k, part in enumerate(rule.kept)}
    rows: list[Row] = []
    for box in word_boxes(fragments):
        k = step.get(box.pop("number"))
        if k is not None:
            joined = float(rule.running_precision[k + 1])
            precision = percent(joined) if np.isfinite(joined) else "not measured"
            rows.append({**box, "word": rule.players[k], "step": str(k + 1), "precision": precision})
    return rows


def _text(rule: TextRule, options: PartRuleOptions) -> ChartType:
    width = options.width or _WIDTH
    every = set_lines(rule.source, [(a, b) for a, b in rule.spans.tolist()], width / FONT - 2 * PAD)
    fragments = [fragment for fragment in every if fragment.line < options.max_lines]
    height, x, y = page(fragments, width)
    boxes = alt.Chart(data(box_data(rule, fragments)))
    place: dict[str, Any] = {"x": alt.X("x", **x), "x2": "x2", "y": alt.Y("y", **y), "y2": "y2"}
    layers: list[ChartType] = [
        boxes.mark_rect(cornerRadius=3, color=_FILL, stroke=theme.SECOND, strokeWidth=1.5).encode(**place)
    ]
    letters = letter_data(fragments)
    for inside, ink in ((True, theme.INK), (False, theme.MUTED)):
        some = [row for row, each in zip(letters, fragments, strict=True) if (each.word in rule.kept) == inside]
        drawn = alt.Chart(data(some)).mark_text(fontSize=FONT, color=ink)
        layers.append(
            drawn.encode(x=alt.X("middle", **x), y=alt.Y("baseline", **y), text=alt.Text("text", type="nominal"))
        )
    tips = tooltips((rule.unit, "word"), ("step", "step"), ("precision with it", "precision"))
    layers.append(boxes.mark_rect(opacity=0).encode(**place, tooltip=tips))
    more = every[-1].line - fragments[-1].line if fragments else 0
    notes = [*_notes(rule), f"{more:,} more lines not shown (max_lines=)" if more else ""]
    view = layered(*layers).properties(width=width, height=height)
    return titled(view, _title(rule, options), notes, width)


# -- image -------------------------------------------------------------------------------------------


def _image(rule: ImageRule, options: PartRuleOptions) -> ChartType:
    height, width = rule.segments.shape
    side = options.width or _SIDE
    size = (side * width / max(height, width), side * height / max(height, width))
    own = shown_image(data_uri(enlarged(as_bytes(rule.image), size)), size)
    views = [
        panel(own, "the image", size[0]),
        panel(shown_image(data_uri(kept_pixels(rule, size)), size), "what fixes the prediction", size[0]),
    ]
    notes = [f"{len(rule.kept)} of {len(rule.feature_names)} segments", *_notes(rule)]
    return titled(grid(views, columns=2, column=18), _title(rule, options), notes, 2 * (size[0] + 18))


def kept_pixels(rule: ImageRule, size: tuple[float, float]) -> AnyArray:
    """The image with all that is not in the rule faded, and a line around the rule."""
    shown = enlarged(as_bytes(rule.image)[..., :3], size).astype(np.float64)
    inside = enlarged(rule.mask[..., None].astype(np.uint8), size)[..., 0].astype(np.bool_)
    grey = shown.mean(axis=2, keepdims=True)
    faded = np.broadcast_to(255 - _FADED * (255 - grey), shown.shape)
    out = np.where(inside[..., None], shown, faded)
    edge = borders(inside.astype(np.intp))
    for _ in range(_LINE - 1):
        edge[1:] |= edge[:-1]
        edge[:, 1:] |= edge[:, :-1]
    out[edge] = _EDGE
    return np.rint(out).astype(np.uint8)
