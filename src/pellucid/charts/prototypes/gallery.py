"""Rows that are images: prototypes and criticisms as pictures, one line for each group."""

from __future__ import annotations

import math
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
from pellucid.explanations.plot_options import PrototypeOptions
from pellucid.explanations.prototype_words import prediction_words
from pellucid.explanations.prototypes import Prototypes
from pellucid.words import counted, value_name

_SIDE, _GAP, _WORDS, _ACROSS, _MOST = 54.0, 10.0, 15.0, 10, 50


def picture(cells: AnyArray, shape: tuple[int, int], limits: tuple[float, float], side: int) -> str:
    """An image in grey, dark where values are high, with large pixels, as an address."""
    low, high = limits
    grey = np.rint(255 * (1 - (cells.reshape(shape) - low) / ((high - low) or 1.0))).astype(np.uint8)
    times = max(1, round(2 * side / max(shape)))
    return data_uri(np.repeat(np.repeat(grey, times, axis=0), times, axis=1)[..., None])


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


def gallery_data(result: Prototypes, options: PrototypeOptions) -> list[Row]:
    """One row per image: where it stands, and what is known of it."""
    shape = shape_of(result, options.shape if options.shape is None else (options.shape[0], options.shape[1]))
    matrix = np.column_stack([cells.astype(np.float64) for cells in result.cells])
    limits = float(np.nanmin(matrix)), float(np.nanmax(matrix))
    rows: list[Row] = []
    top = 0.0
    for role in ("prototype", "criticism"):
        places = result.places(role)[:_MOST]
        if not len(places):
            continue
        rows.append({"kind": "head", "x": 0.0, "y": top + 12, "words": f"{role}s", "address": "", "ink": theme.INK})
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
                    "address": picture(matrix[i], shape, limits, int(_SIDE)),
                    "words": _words(result, i),
                    "ink": theme.SECOND if wrong else theme.MUTED,
                    "row": result.row_labels.name(i),
                    "prediction": prediction_words(result, i),
                    "outcome": value_name(result.outcomes[i]) if len(result.outcomes) else "unknown",
                }
            )
        top += (-(-len(order) // _ACROSS)) * (_SIDE + _GAP + _WORDS) + 6
    return rows


def _words(result: Prototypes, i: int) -> str:
    """What the model says, in short, and what is true where that is something else."""
    classes = result.header.classes
    if classes and len(result.output_names) == len(classes):
        said = result.output_names[int(np.argmax(result.predictions[i]))]
        true = value_name(result.outcomes[i]) if len(result.outcomes) and result.errors[i] > 0 else ""
        return f"{said}, not {true}" if true else said
    return prediction_words(result, i)


def gallery(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """The images."""
    rows = gallery_data(result, options)
    images = [row for row in rows if row["kind"] == "image"]
    width = min(len(images), _ACROSS) * (_SIDE + _GAP)
    width = max(width, 300.0)
    height = max(row["y"] for row in images) + _SIDE / 2 + _WORDS + 4
    x: dict[str, Any] = {"type": "quantitative", "axis": None, "scale": alt.Scale(domain=[0, width], nice=False)}
    y: dict[str, Any] = {"type": "quantitative", "axis": None, "scale": alt.Scale(domain=[height, 0], nice=False)}
    tips = tooltips(("row", "row"), ("prediction", "prediction"), ("outcome", "outcome"))
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
    return told(chart, result, options, "Typical images, and those that they represent worst", notes, width)
