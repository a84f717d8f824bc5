"""Checks of arguments: each gives the value as plain Python, or an `InputError` that names the argument.

A whole number may come as ``3``, ``3.0`` or a numpy scalar; ``True`` is never a number.

>>> import numpy as np
>>> whole("bins", np.int64(3), least=1), whole("bins", 3.0, least=1)
(3, 3)
>>> whole("sparse", 0, least=1)
Traceback (most recent call last):
    ...
pellucid.errors.InputError: sparse must be a whole number of at least 1, got 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard, TypeVar

import numpy as np

from pellucid.errors import InputError, nearest

T = TypeVar("T")


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is one finite number of Python or numpy, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return isinstance(value, int) or bool(np.isfinite(value))


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number: an integer, or a float without a fraction."""
    return is_number(value) and (isinstance(value, int | np.integer) or float(value).is_integer())


def is_position(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer by its type: where a float may be a value, it is no position."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_flag(value: Any) -> TypeGuard[bool]:
    """Whether a value is True or False."""
    return isinstance(value, bool | np.bool_)


def whole(name: str, value: Any, *, least: int = 1, most: int | None = None, also: str = "") -> int:
    """A whole number from ``least`` to ``most``; ``also`` says what else may be given, such as "None"."""
    if is_whole(value) and least <= value and (most is None or value <= most):
        return int(value)
    limits = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    raise _wrong(name, value, f"a whole number {limits}", also)


def bounded(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    also: str = "",
) -> float:
    """A finite number within limits: ``above`` and ``below`` are excluded, ``least`` and ``most`` are not."""
    limits = [
        (f"above {above}", above is None or (is_number(value) and value > above), above),
        (f"of at least {least}", least is None or (is_number(value) and value >= least), least),
        (f"below {below}", below is None or (is_number(value) and value < below), below),
        (f"at most {most}", most is None or (is_number(value) and value <= most), most),
    ]
    if is_number(value) and all(kept for _, kept, _ in limits):
        return float(value)
    words = " and ".join(words for words, _, limit in limits if limit is not None)
    raise _wrong(name, value, f"a number {words}".rstrip(), also)


def positive(name: str, value: Any, *, also: str = "") -> float:
    """A finite number above 0."""
    if is_number(value) and value > 0:
        return float(value)
    raise _wrong(name, value, "a positive number", also)


def fraction(name: str, value: Any, *, also: str = "") -> float:
    """A number between 0 and 1, both excluded."""
    if is_number(value) and 0 < value < 1:
        return float(value)
    raise _wrong(name, value, "a number between 0 and 1", also)


def flag(name: str, value: Any, *, also: str = "") -> bool:
    """True or False."""
    if is_flag(value):
        return bool(value)
    raise _wrong(name, value, "True or False", also)


def seed(value: Any, name: str = "random_state") -> int:
    """A seed of random numbers: a whole number that is not negative."""
    return whole(name, value, least=0)


def workers(value: Any) -> int | None:
    """A number of workers: 1, 2, ..., -1 for all cores (-2: all but one), or None."""
    if value is None or (is_whole(value) and value != 0):
        return None if value is None else int(value)
    raise _wrong("n_jobs", value, "a number of workers: 1, 2, ... or -1 for all cores", "None")


def reporting(value: T) -> T:
    """Whether, or how, progress is shown: True, False, None, or a function of (done, total)."""
    if value is None or is_flag(value) or callable(value):
        return value
    raise _wrong("progress", value, "True, False, a function of (done, total)", "None")


def one_of(name: str, value: Any, allowed: Iterable[str | None]) -> Any:
    """One of some words; an error names the one that was probably meant."""
    known = tuple(allowed)
    if (value is None or isinstance(value, str)) and value in known:
        return known[known.index(value)]
    words = nearest(str(value), [word for word in known if word is not None], most=len(known))
    none = " None switches it off." if None in known else ""
    raise InputError(f"{name}={value!r} is not known{words}{none}")


def distinct_names(name: str, value: Any, count: int | None = None, *, of: str = "name") -> tuple[str, ...]:
    """Different names, ``count`` of them where it is given: one for each ``of``."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _wrong(name, value, f"a list of names, one per {of}", "")
    given = tuple(str(item) for item in value)
    if count is not None and len(given) != count:
        raise InputError(f"{name} has {len(given)} names for {count} {of}s; give one per {of}.")
    twice = [item for place, item in enumerate(given) if item in given[:place]]
    if twice:
        raise InputError(f"{name} has {twice[0]!r} twice; give each {of} its own.")
    return given


def positions(name: str, value: Any, count: int, *, of: str = "row") -> list[int]:
    """Positions from 0 to below ``count``: one whole number, or a sequence of them."""
    given: Sequence[Any] = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    wrong = [item for item in given if not is_whole(item)]
    if wrong:
        raise _wrong(name, wrong[0], f"positions of {of}s, whole numbers from 0 to {count - 1}", "")
    outside = [item for item in given if not 0 <= item < count]
    if outside:
        raise InputError(f"{name}: {of} {outside[0]} is out of range; there are {count} {of}s, 0 to {count - 1}.")
    return [int(item) for item in given]


def optional(check: Callable[..., T], name: str, value: Any, **limits: Any) -> T | None:
    """None, or what a check makes of the value: ``optional(whole, "budget", budget, least=1)``."""
    return None if value is None else check(name, value, also="None", **limits)


def settle(options: object, **checked: Any) -> None:
    """Set fields of a frozen dataclass to what the checks made of them, in its ``__post_init__``."""
    for name, value in checked.items():
        object.__setattr__(options, name, value)


def _wrong(name: str, value: Any, wanted: str, also: str) -> InputError:
    shown = repr(value.item()) if isinstance(value, np.generic) else repr(value)
    if len(shown) > 60 or "\n" in shown:
        shown = f"a value of type {type(value).__name__}"
    return InputError(f"{name} must be {wanted}{f', or {also}' if also else ''}, got {shown}.")
