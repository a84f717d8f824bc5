"""How an option of a chart is declared: once, with what it takes, what it means and what checks it.

From the declarations (`plot_options`) come the checks, the errors, the docstring of a result's ``plot`` and the table
in docs/charts.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from pellucid import checks
from pellucid.errors import InputError, nearest

Check = Callable[[str, Any], Any]  # (name, value) -> the value as it is used, or an error


@dataclass(frozen=True)
class Option:
    """What an option takes and means, what checks it, and the only ``kinds`` of chart that know it (if not all do)."""

    takes: str
    meaning: str
    check: Check
    kinds: tuple[str, ...] = ()


def declare(default: Any, takes: str, meaning: str, check: Check, kind: str | None = None) -> Any:
    """A field of a class of options; ``kind`` names the only kinds of chart that know it, such as "stacked heatmap"."""
    return dataclasses.field(default=default, metadata={"option": Option(takes, meaning, check, _words(kind))})


def _words(text: str | None) -> tuple[str, ...]:
    return tuple((text or "").split())


def whole(default: int | None, meaning: str, *, least: int = 1, kind: str | None = None) -> Any:
    """A whole number; None may be given where it is the default."""
    none = default is None
    check = partial(checks.optional, checks.whole) if none else checks.whole
    takes = f"whole number of at least {least}{' or None' if none else ''}"
    return declare(default, takes, meaning, partial(check, least=least), kind)


def choice(default: str | None, allowed: Sequence[str | None], meaning: str, *, kind: str | None = None) -> Any:
    """One of some words."""
    takes = ", ".join("None" if word is None else f'"{word}"' for word in allowed)
    return declare(default, takes, meaning, partial(checks.one_of, allowed=tuple(allowed)), kind)


def flag(default: bool, meaning: str, *, kind: str | None = None) -> Any:
    """True or False."""
    return declare(default, "True or False", meaning, checks.flag, kind)


def name(default: str | None, takes: str, meaning: str, *, kind: str | None = None) -> Any:
    """A string, or None."""

    def check(option: str, value: Any) -> str | None:
        if value is None or isinstance(value, str):
            return value
        raise InputError(f"{option} must be {takes}, got {value!r}.")

    return declare(default, takes, meaning, check, kind)


def anything(default: Any, takes: str, meaning: str, *, kind: str | None = None) -> Any:
    """Whatever the chart itself checks."""
    return declare(default, takes, meaning, lambda _, value: value, kind)


def _pixels(option: str, value: Any) -> float | None:
    return checks.optional(checks.positive, option, value)


# -- what every chart takes --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PlotOptions:
    """Options of every chart."""

    width: float | None = declare(
        None, "number of pixels", "width of the (main) plotting area, or of one panel", _pixels
    )
    height: float | None = declare(None, "number of pixels", "height of the same", _pixels)
    title: str | None = name(None, "a string or None", "title above the chart")

    def __post_init__(self) -> None:
        for field, option in declared(type(self)).items():
            object.__setattr__(self, field, option.check(field, getattr(self, field)))
        kind = getattr(self, "kind", None)
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        for field, option in declared(type(self)).items():
            if option.kinds and kind not in option.kinds and getattr(self, field) != defaults[field]:
                knowing = " and ".join(f"kind={each!r}" for each in option.kinds)
                raise InputError(f"{field}= is an option of {knowing}; give kind={option.kinds[0]!r} with it.")


def declared(options: type[PlotOptions]) -> dict[str, Option]:
    """The options of a chart by name."""
    return {field.name: field.metadata["option"] for field in dataclasses.fields(options)}


Options = TypeVar("Options", bound=PlotOptions)


def read_options(options: type[Options], given: Mapping[str, Any]) -> Options:
    """The options as given, checked; an error names the nearest option and all there are."""
    known = declared(options)
    for field in given:
        if field not in known:
            close = nearest(field, known)
            close = close if close.startswith("; did") else "."
            raise InputError(f"{field!r} is not an option of this chart{close} It takes {', '.join(known)}.")
    return options(**given)


def documented(options: type[PlotOptions]) -> str:
    """The docstring of ``plot`` with these options."""
    lines = [
        "A chart that notebooks show, that composes (``|``, ``&``) and that saves to PNG, SVG, PDF or HTML.",
        "",
        "Parameters",
        "----------",
    ]
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    for field, option in declared(options).items():
        lines += [f"{field} : {option.takes}, default {defaults[field]!r}", f"    {_sentence(option)}"]
    return "\n".join(lines)


def _sentence(option: Option) -> str:
    only = f" ({' or '.join(f'kind={chr(34)}{kind}{chr(34)}' for kind in option.kinds)})" if option.kinds else ""
    return f"{option.meaning[0].upper()}{option.meaning[1:]}{only}."


def table(options: type[PlotOptions], *, besides: type[PlotOptions] | None = None) -> list[str]:
    """The options as lines of a Markdown table; those of ``besides`` are left out."""
    left_out = {} if besides is None else declared(besides)
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    lines = ["| option | takes | default | meaning |", "|---|---|---|---|"]
    for field, option in declared(options).items():
        if left_out.get(field) != option:
            lines.append(f"| `{field}` | {option.takes} | `{defaults[field]!r}` | {_sentence(option)} |")
    return lines
