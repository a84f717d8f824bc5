"""What is wanted of a counterfactual, from the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.errors import InputError

if TYPE_CHECKING:
    from pellucid.explainer import Explainer
    from pellucid.explanations import Counterfactuals

CHARTS, TABLES = (".html", ".png", ".svg", ".pdf"), (".csv", ".json", ".parquet")
_INTERVAL = re.compile(r"\s*(\S+)\s*\.\.\s*(\S+)\s*")


def check_out(path: Path | None, kind: str, *, surface: bool = True) -> Path | None:
    """The path, if something can be written there: asked before the work, not after it."""
    from pellucid.checks import one_of
    from pellucid.explanations.plot_options import COUNTERFACTUAL_KINDS
    from pellucid.report import check_path

    one_of("--kind", kind, tuple(word for word in COUNTERFACTUAL_KINDS if surface or word != "surface"))
    if path is None:
        return None
    if path.suffix.lower() not in (*CHARTS, *TABLES):
        endings = ", ".join((*CHARTS, *TABLES))
        raise InputError(f"--out {str(path)!r} does not say what to write; let it end in one of {endings}.")
    return check_path(path)


def written(result: Counterfactuals, path: Path, kind: str, *, whole: bool) -> Path:
    """Write a chart, the table of what changes (or of whole rows) or the result itself, by the ending of the path."""
    ending = path.suffix.lower()
    if ending in CHARTS:
        return result.plot(kind=kind).save(path)
    if ending == ".csv" and whole:
        result.frame(whole=True).to_csv(path, index=False)
        return path
    return result.save(path)


def row_of(text: str, ids: Sequence[Any] | None, n: int) -> Any:
    """The row: its position, or its name where --id gives the rows names."""
    names = [] if ids is None else [str(name) for name in ids]
    if text in names:
        return names.index(text)
    try:
        place = int(text)
    except ValueError:
        if ids is None:
            raise InputError(
                f"--row {text!r} is no position; give a whole number from 0, or --id with names."
            ) from None
        from pellucid.errors import nearest

        raise InputError(f"--row: there is no row {text!r} in the column of --id{nearest(text, names)}") from None
    if not 0 <= place < n:
        raise InputError(f"--row {place} is out of range; there are {n} rows, 0 to {n - 1}.")
    return place


def target_of(texts: Sequence[str] | None, explainer: Explainer) -> Any:
    """The target as a counterfactual takes it: classes and comparisons as they are, numbers and intervals as such."""
    if not texts:
        return None
    predictor = explainer.predictor
    classes = {str(name) for name in (*(predictor.classes or ()), *(predictor.labels or ()))}
    read = [text if text in classes else _amount(text) for text in texts]
    return read[0] if len(read) == 1 else read


def _amount(text: str) -> Any:
    interval = _INTERVAL.fullmatch(text)
    if interval:
        return number("--target", interval[1]), number("--target", interval[2])
    try:
        return float(text)
    except ValueError:
        return text


def number(option: str, text: str) -> float:
    """A number, or an error that says where it stands."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} has {text!r} where a number is expected.") from None


def names_of(text: str | None) -> list[str]:
    """``a,b`` as names."""
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]


def directions(text: str | None) -> dict[str, str] | None:
    """``age:up,amount:down`` as a dict."""
    if text is None:
        return None
    found = {}
    for part in text.split(","):
        name, _, way = part.rpartition(":")
        if not name.strip() or way.strip() not in ("up", "down"):
            raise InputError(f"--monotone has {part!r}; write column:up or column:down, with commas between.")
        found[name.strip()] = way.strip()
    return found


def ranges_of(texts: Sequence[str] | None) -> dict[str, Any] | None:
    """``amount:0..5000`` as an interval, ``job:a|b`` as levels."""
    if not texts:
        return None
    found: dict[str, Any] = {}
    for text in texts:
        name, _, values = text.partition(":")
        interval = _INTERVAL.fullmatch(values)
        if not name.strip() or not values.strip():
            raise InputError(f"--range has {text!r}; write column:low..high, or column:a|b for levels.")
        if interval:
            found[name.strip()] = (number("--range", interval[1]), number("--range", interval[2]))
        else:
            found[name.strip()] = _levels([level.strip() for level in values.split("|")])
    return found


def _levels(texts: list[str]) -> list[Any]:
    """Numbers where all are."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        return list(texts)
