"""Words that every object of JavaScript has: a category of that name would find a function where its group should be.

Vega keeps groups in plain objects under the names of the categories, so that one called ``constructor`` (a column of
Formula 1 teams has it) leaves the chart empty. Such a word is drawn with a mark behind it that nobody sees.
"""

from __future__ import annotations

from typing import Any

_WORDS = frozenset(
    {
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    }
)
_UNSEEN = "\u2060"  # a word joiner: no width, no break


def without_reserved(part: Any) -> Any:
    """A specification in which no text is such a word; the names of its own keys stay."""
    if isinstance(part, str):
        return part + _UNSEEN if part in _WORDS else part
    if isinstance(part, dict):
        return {key: without_reserved(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [without_reserved(value) for value in part]
    return part
