"""Rows that are images: prototypes and criticisms as pictures, one line for each group."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, told, tooltips
from pellucid.charts.png import data_uri
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations.plot_options import NeighborOptions, PrototypeOptions
from pellucid.explanations.prototype_words import prediction_words
from pellucid.explanations.prototypes import Neighbors, Prototypes
from pellucid.words import counted, value_name

_SIDE, _GAP, _WORDS, _ACROSS, _MOST = 54.0, 10.0, 15.0, 10, 50


def picture(cells: AnyArray, shape: tuple[int, int], limits: tuple[float, float], side: int) -> str:
    """An image in grey, dark where values are high, with large pixels, as an address."""
    low, high = limits
    grey = np.rint(255 * (1 - (cells.reshape(shape) - low) / ((high - low) or 1.0))).astype(np.uint8)
    return data_uri(_sized(grey[..., None], side))


def _sized(pixels: AnyArray, side: int) -> AnyArray:
    """About two pixels for each of the screen: small images get large pixels, large ones are thinned."""
    down, across = pixels.shape[:2]
    times = max(1, round(2 * side / max(down, across)))
    large = np.repeat(np.repeat(pixels, times, axis=0), times, axis=1)
    step = max(1, max(down, across) // (2 * side))
    return large[::step, ::step]


def _address(image: AnyArray, limits: tuple[float, float], side: int) -> str:
    """An image with its own colours, which counts as the model sees it: light where values are high."""
    stacked = image[..., None] if image.ndim == 2 else image
    low, high = limits
    scaled = np.rint(255 * np.clip((stacked.astype(np.float64) - low) / ((high - low) or 1.0), 0, 1)).astype(np.uint8)
    shown = scaled[..., :1] if scaled.shape[2] == 2 else scaled
    return data_uri(_sized(shown, side))


def _pictures(result: Prototypes, options: PrototypeOptions | NeighborOptions) -> Callable[[int], str]:
    """The picture of each example as an address."""
    if result.images:
        low = min(float(image.min()) for image in result.images)
        high = max(float(image.max()) for image in result.images)
        kind = result.images[0].dtype
        limits = (0.0, 255.0) if kind == np.uint8 else (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        return lambda i: _address(result.images[i], limits, int(_SIDE))
    given = getattr(options, "shape", None)
    shape = shape_of(result, None if given is None else (given[0], given[1]))
    matrix = np.column_stack([cells.astype(np.float64) for cells in result.cells])
    ends = float(np.nanmin(matrix)), float(np.nanmax(matrix))
    return lambda i: picture(matrix[i], shape, ends, int(_SIDE))


def shape_of(result: Prototypes, shape: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width of the images, a square unless given."""
    columns = len(result.column_names)
    if any(cells.dtype.kind not in "biuf" for cells in result.cells):
        raise InputError("kind='gallery' draws rows as images and needs numbers in every column.")
    side = math.isqrt(columns)
    found = (side, side) if shape is None else shape
    if found[0] * found[1] != columns:
        raise InputError(
            f"shape={shape!r} does not fit {columns} columns; give the height and width of the images, such as"
            f" shape=({columns // max(side, 1)}, {max(side, 1)})."
        )
    return found


def gallery_data(result: Prototypes, options: PrototypeOptions | NeighborOptions) -> list[Row]:
    """One row per image: where it stands, and what is known of it."""
    shown = _pictures(result, options)
    rows: list[Row] = []
    top = 0.0
    for role in dict.fromkeys(result.roles):
        places = result.places(role)[:_MOST]
        if not len(places):
            continue
        rows.append(
            {
                "kind": "head",
                "x": 0.0,
                "y": top + 12,
                "words": _head(result, role, len(places)),
                "address": "",
                "ink": theme.INK,
            }
        )
        top += 22
        order = sorted(places.tolist(), key=lambda i: result.groups[i])
        for k, i in enumerate(order):
            across, down = k % _ACROSS, k // _ACROSS
            wrong = bool(result.header.classes) and result.errors[i] > 0
            rows.append(
                {
                    "kind": "image",
                    "x": across * (_SIDE + _GAP) + _SIDE / 2,
                    "y": top + down * (_SIDE + _GAP + _WORDS) + _SIDE / 2,
                    "address": shown(i),
                    "words": _words(result, i),
                    "ink": theme.SECOND if wrong else theme.MUTED,
                    "row": result.row_labels.name(i),
                    "prediction": prediction_words(result, i),
                    "outcome": _outcome(result, i) or "unknown",
                }
            )
        top += (-(-len(order) // _ACROSS)) * (_SIDE + _GAP + _WORDS) + 6
    return rows


def _outcome(result: Prototypes, i: int) -> str:
    known = len(result.outcomes) and result.outcomes[i] is not None
    return value_name(result.outcomes[i]) if known else ""


def _head(result: Prototypes, role: str, n: int) -> str:
    """What stands above the images of a role."""
    if role == "row":
        return f"the {result.vocabulary.whole}"
    return role if role == "nearest unlike" else f"{role}s" if n > 1 else role


def _words(result: Prototypes, i: int) -> str:
    """What the model says, in short, and what is true where that is something else."""
    classes = result.header.classes
    if classes and len(result.output_names) == len(classes):
        said = result.output_names[int(np.argmax(result.predictions[i]))]
        true = _outcome(result, i) if result.errors[i] > 0 else ""
        return f"{said}, not {true}" if true else said
    return prediction_words(result, i)


def gallery(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """The images."""
    return _drawn(result, options, "Typical images, and those that they represent worst")


def measured_by(result: Neighbors) -> str:
    """What distances are of, in words."""
    return "a function of your own" if result.distance == "function" else result.distance


def neighbor_gallery(result: Neighbors, options: NeighborOptions) -> ChartType:
    """The image, those most like it, and the nearest that is predicted otherwise."""
    return _drawn(result, options, f"Images most like it, by {measured_by(result)}")


def _drawn(result: Prototypes, options: PrototypeOptions | NeighborOptions, what: str) -> ChartType:
    rows = gallery_data(result, options)
    images = [row for row in rows if row["kind"] == "image"]
    width = min(len(images), _ACROSS) * (_SIDE + _GAP)
    width = max(width, 300.0)
    height = max(row["y"] for row in images) + _SIDE / 2 + _WORDS + 4
    x: dict[str, Any] = {"type": "quantitative", "axis": None, "scale": alt.Scale(domain=[0, width], nice=False)}
    y: dict[str, Any] = {"type": "quantitative", "axis": None, "scale": alt.Scale(domain=[height, 0], nice=False)}
    tips = tooltips((result.vocabulary.whole, "row"), ("prediction", "prediction"), ("outcome", "outcome"))
    place = {"x": alt.X("x", **x), "y": alt.Y("y", **y)}
    layers = [
        alt.Chart(data(images)).mark_image(width=_SIDE, height=_SIDE).encode(**place, url="address:N", tooltip=tips)
    ]
    for ink in sorted({row["ink"] for row in images}):
        some = [{**row, "y": row["y"] + _SIDE / 2 + 9} for row in images if row["ink"] == ink]
        layers.append(
            alt.Chart(data(some))
            .mark_text(fontSize=11, color=ink)
            .encode(**place, text=alt.Text("words", type="nominal"))
        )
    heads = alt.Chart(data([row for row in rows if row["kind"] == "head"])).mark_text(
        align="left", fontSize=12, fontWeight=600
    )
    layers.append(heads.encode(**place, text=alt.Text("words", type="nominal")))
    more = len(result.roles) - len(images)
    notes = [
        "below: what the model says; orange where it is wrong"
        if len(result.outcomes)
        else "below: what the model says",
        f"{counted(more, 'more example')} not shown" if more > 0 else "",
        caveat_note(result),
    ]
    chart = layered(*layers).properties(width=options.width or width, height=options.height or height)
    return told(chart, result, options, what, notes, width)
