"""The image itself beside the same image with its segments coloured by their contributions."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.charts import attribution as contributions
from pellucid.charts import theme
from pellucid.charts.attribution.entries import change, half_widths, others_note, part_name
from pellucid.charts.layout import Row, data, grid, layered, told, tooltips
from pellucid.charts.png import data_uri
from pellucid.charts.text import caveat_note, wrapped
from pellucid.parts.attribution import ImageAttribution
from pellucid.parts.chart_style import colour_scales, ends_note, largest, painted, panel_name, signed_colour, what_it_is
from pellucid.parts.local import LocalImageAttribution
from pellucid.parts.options import ImageOptions
from pellucid.parts.segments import colours, value_range
from pellucid.words import counted

_SIDE = 300.0  # pixels of the longer side
_SMALL = 190.0  # beside many others
_SHARP = 2  # image pixels per pixel on screen
_STRIPS = 48  # lines of tooltips
_FOLDED = int(theme.EMPTY[1:3], 16)  # the grey of segments inside a sum of others
_FAINT = 0.18  # of the image's own brightness shines through the colour
_COLUMNS = 4
_WORTH_A_NUMBER = 0.1  # of the largest contribution

ImageResult = ImageAttribution | LocalImageAttribution


def body(attribution: ImageResult, options: ImageOptions) -> ChartType:
    """The image and one coloured copy for every output; or another chart of contributions."""
    if options.kind != "auto":
        return contributions.body(attribution, options)
    outputs = attribution.leading(options.panels)
    size = _size(attribution, options, _SIDE if len(outputs) <= 3 else _SMALL)
    own = shown_image(data_uri(enlarged(as_bytes(attribution.image), size)), size)
    named = len(attribution.output_names) > 1
    views: list[ChartType] = [panel(own, "the image", size[0])]
    for output in outputs:
        words = panel_name(attribution, output) if named else "contributions"
        views.append(panel(_view(attribution, output, options.numbers, size), words, size[0]))
    columns = min(_COLUMNS, len(views))
    chart = grid(views, columns=columns, column=18).resolve_scale(color=colour_scales(attribution))
    hidden = len(attribution.output_names) - len(outputs)
    notes = [
        ends_note(attribution),
        f"{len(attribution.players)} segments",
        others_note(attribution, outputs),
        f"{counted(hidden, 'output')} with lower predictions not shown" if hidden else "",
        caveat_note(attribution),
    ]
    what = what_it_is(attribution, attribution.vocabulary.part)
    return told(chart, attribution, options, what, notes, columns * (size[0] + 18))


def panel(view: Any, words: str, pixels: float) -> ChartType:
    """A view with words above it."""
    return view.properties(title=alt.TitleParams(wrapped(words, pixels, 12), fontSize=12, offset=6))


def _size(attribution: ImageResult, options: ImageOptions, side: float) -> tuple[float, float]:
    """Width and height on screen; what is not given follows from the shape of the image."""
    height, width = attribution.segments.shape
    if options.width and options.height:
        return options.width, options.height
    if options.width:
        return options.width, options.width * height / width
    if options.height:
        return options.height * width / height, options.height
    return side * width / max(height, width), side * height / max(height, width)


# -- pixels ------------------------------------------------------------------------------------------


def as_bytes(image: AnyArray) -> AnyArray:
    """The image as bytes ``(height, width, 3 or 4)``."""
    low, high = value_range(image)
    stacked = image[..., None] if image.ndim == 2 else image
    scaled = np.rint(255 * (stacked.astype(np.float64) - low) / ((high - low) or 1.0)).astype(np.uint8)
    n = colours(image)
    shown = np.repeat(scaled[..., :1], 3, axis=2) if n == 1 else scaled[..., :n]
    if n == 2:  # two colours that nobody has a name for
        shown = np.concatenate([shown, shown[..., :1]], axis=2)
    return np.concatenate([shown, scaled[..., n:]], axis=2)


def enlarged(pixels: AnyArray, size: tuple[float, float]) -> AnyArray:
    """As many pixels as the screen shows: small images get large square pixels, large ones are thinned."""
    down, across = _sampling(pixels.shape[0], size[1]), _sampling(pixels.shape[1], size[0])
    return pixels[down][:, across]


def _sampling(n: int, pixels: float) -> IntArray:
    wanted = max(round(_SHARP * pixels), 1)
    return np.asarray((np.arange(wanted) + 0.5) * n / wanted, dtype=np.intp)


def overlay(attribution: ImageResult, output: str, size: tuple[float, float]) -> AnyArray:
    """The image in grey under the colours of its segments, with the borders between them; grey for a sum of
    others.
    """
    segments = enlarged(attribution.segments[..., None], size)[..., 0]
    entry = attribution.entry_of[segments]
    values = attribution.for_output(output).values[0][entry]
    tint = painted(values, largest(attribution, output)).astype(np.float64)
    if attribution.entries.others is not None:
        tint[entry == attribution.entries.others] = _FOLDED
    brightness = enlarged(as_bytes(attribution.image)[..., :3], size).astype(np.float64).mean(axis=2, keepdims=True)
    mixed = tint * (1 - _FAINT + _FAINT * brightness / 255)
    mixed[borders(segments)] = 90
    return np.rint(mixed).astype(np.uint8)


def borders(segments: IntArray) -> BoolArray:
    """Pixels whose right or lower neighbour is in another segment."""
    edge = np.zeros(segments.shape, dtype=np.bool_)
    edge[:-1] |= segments[:-1] != segments[1:]
    edge[:, :-1] |= segments[:, :-1] != segments[:, 1:]
    return edge


def _axes(size: tuple[float, float]) -> tuple[dict[str, Any], dict[str, Any]]:
    x = {"type": "quantitative", "axis": None, "scale": alt.Scale(domain=[0, size[0]], nice=False)}
    y = {"type": "quantitative", "axis": None, "scale": alt.Scale(domain=[size[1], 0], nice=False)}
    return x, y


def shown_image(address: str, size: tuple[float, float]) -> alt.Chart:
    """An image, given by its address, in the size it has on screen."""
    x, y = _axes(size)
    row = {"address": address, "x": size[0] / 2, "y": size[1] / 2}
    image = alt.Chart(data([row])).mark_image(width=size[0], height=size[1], aspect=False)
    marked = image.encode(x=alt.X("x", **x), y=alt.Y("y", **y), url="address:N")
    return marked.properties(width=size[0], height=size[1])


# -- one output --------------------------------------------------------------------------------------


def strip_data(attribution: ImageResult, output: str, size: tuple[float, float]) -> list[Row]:
    """Rectangles that cover the segments roughly, line by line, to point at: their place in pixels and their words."""
    one = attribution.for_output(output)
    halves = half_widths(one)[0]
    names = [part_name(one, j) for j in range(len(one.feature_names))]
    height, width = one.segments.shape
    lines = min(_STRIPS, height)
    down = ((np.arange(lines) + 0.5) * height / lines).astype(np.intp)
    rows: list[Row] = []
    for line, segments in enumerate(one.segments[down]):
        cuts = np.flatnonzero(np.diff(segments)) + 1
        for start, end in zip([0, *cuts], [*cuts, width], strict=True):
            j = int(one.entry_of[segments[start]])
            value = float(one.values[0, j])
            rows.append(
                {
                    "x": float(start * size[0] / width),
                    "x2": float(end * size[0] / width),
                    "y": line * size[1] / lines,
                    "y2": (line + 1) * size[1] / lines,
                    "value": value,
                    "segment": names[j],
                    "label": change(value, one.scale, float(halves[j])),
                }
            )
    return rows


def number_data(attribution: ImageResult, output: str, most: int, size: tuple[float, float]) -> list[Row]:
    """The numbers of the segments with the largest contributions, at their middles; none inside a sum of others."""
    entry = attribution.entry_of
    values: FloatArray = attribution.for_output(output).values[0][entry]
    if attribution.entries.others is not None:
        values = np.where(entry == attribution.entries.others, 0.0, values)
    least = _WORTH_A_NUMBER * largest(attribution, output)
    top = [k for k in np.argsort(-np.abs(values), kind="stable")[:most] if abs(values[k]) >= least]
    middles = attribution.parts.centres * [size[1], size[0]]
    return [{"x": float(middles[k, 1]), "y": float(middles[k, 0]), "number": str(k + 1)} for k in top]


def _view(attribution: ImageResult, output: str, numbers: int, size: tuple[float, float]) -> ChartType:
    x, y = _axes(size)
    drawn = shown_image(data_uri(overlay(attribution, output, size)), size)
    written = number_data(attribution, output, numbers, size)
    place = {"x": alt.X("x", **x), "y": alt.Y("y", **y), "text": alt.Text("number", type="nominal")}
    marks = [
        alt.Chart(data(written)).mark_text(fontSize=12, fontWeight="bold", **ink).encode(**place)
        for ink in (
            {"color": "white", "stroke": "white", "strokeWidth": 3, "strokeJoin": "round"},
            {"color": theme.INK},
        )
        if written
    ]
    strips = alt.Chart(data(strip_data(attribution, output, size))).mark_rect(opacity=0)
    pointed = strips.encode(
        x=alt.X("x", **x),
        x2=alt.X2("x2"),
        y=alt.Y("y", **y),
        y2=alt.Y2("y2"),
        color=signed_colour(attribution, output, size[0]),
        tooltip=tooltips(("", "segment"), ("contribution", "label")),
    )
    return layered(drawn, *marks, pointed).properties(width=size[0], height=size[1])
