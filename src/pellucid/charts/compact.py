"""The same chart in fewer bytes, for notebooks that are saved: data as CSV, with the digits that an eye can see."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

_MANY = 40  # rows from which on CSV is shorter
_STEPS = 4e3  # of a column's range; a chart has fewer pixels

Json = dict[str, Any]


def compact(spec: Json) -> Json:
    """The specification with its larger datasets as text; a view that draws one says how to read it."""
    kept = _looked_up(spec)
    reading: dict[str, Json] = {}
    datasets: dict[str, Any] = {}
    for name, rows in spec.get("datasets", {}).items():
        datasets[name] = rows
        if name not in kept and _regular(rows):
            datasets[name], reading[name] = _as_text(rows)
    return {**_reading(spec, reading), "datasets": datasets} if reading else spec


def _regular(rows: Any) -> bool:
    """Whether there are many rows, all with the same plain cells, not all of them equal."""
    if not isinstance(rows, list) or len(rows) < _MANY or not all(str(key).isidentifier() for key in rows[0]):
        return False
    if any(row.keys() != rows[0].keys() for row in rows) or all(row == rows[0] for row in rows):
        return False
    # An empty text would be read as missing.
    return all(isinstance(cell, str | int | float | None) and cell != "" for row in rows for cell in row.values())


def _as_text(rows: list[Json]) -> tuple[str, Json]:
    """CSV of the columns, and the parts of a view that read it: types of columns, and a list where values repeat."""
    columns = {key: _rounded([row[key] for row in rows]) for key in rows[0]}
    varied: dict[str, list[Any]] = {}
    listed: list[Json] = []
    for key, cells in columns.items():
        distinct = list(dict.fromkeys((type(cell), cell) for cell in cells))
        if len(distinct) == 1:
            listed.append({"calculate": json.dumps(cells[0]), "as": key})
        elif 4 * len(distinct) <= len(cells) and _type(cells) != "boolean":
            place = {value: i for i, value in enumerate(distinct)}
            varied[key] = [place[type(cell), cell] for cell in cells]
            table = json.dumps([value for _, value in distinct], separators=(",", ":"))
            listed.append({"calculate": f"{table}[datum.{key}]", "as": key})
        else:
            varied[key] = cells
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(varied)
    truth = {True: "true", False: "false"}
    writer.writerows(
        [truth[c] if isinstance(c, bool) else c for c in row] for row in zip(*varied.values(), strict=True)
    )
    parse = {key: _type(cells) for key, cells in varied.items()}
    return text.getvalue(), {"format": {"type": "csv", "parse": parse}, "transform": listed}


def _type(cells: list[Any]) -> str:
    known = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, bool) for cell in known):
        return "boolean"
    return "string" if any(isinstance(cell, str) for cell in known) else "number"


def _rounded(cells: list[Any]) -> list[Any]:
    """Numbers rounded to a step below what a pixel shows."""
    numbers = [cell for cell in cells if isinstance(cell, float)]
    if not numbers or max(numbers) == min(numbers):
        return cells
    digits = math.ceil(math.log10(_STEPS / (max(numbers) - min(numbers))))
    return [_whole(round(cell, digits)) if isinstance(cell, float) else cell for cell in cells]


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


def _reading(view: Json, reading: dict[str, Json]) -> Json:
    """The view, and all views in it, with what reads its data."""
    found = dict(view)
    for key in ("layer", "concat", "hconcat", "vconcat"):
        if key in view:
            found[key] = [_reading(part, reading) for part in view[key]]
    if "spec" in view:
        found["spec"] = _reading(view["spec"], reading)
    name = (view.get("data") or {}).get("name")
    if name in reading:
        found["data"] = {"name": name, "format": reading[name]["format"]}
        transform = [*reading[name]["transform"], *view.get("transform", [])]
        found |= {"transform": transform} if transform else {}
    return found


def _looked_up(part: Any) -> set[str]:
    """Names of datasets that a view looks values up in: they stay rows."""
    if isinstance(part, list):
        return set().union(*map(_looked_up, part))
    if not isinstance(part, dict):
        return set()
    source = part.get("from")
    own = {source["data"].get("name", "")} if isinstance(source, dict) and "data" in source else set()
    return own.union(*(_looked_up(value) for key, value in part.items() if key != "datasets"))
