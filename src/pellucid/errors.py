"""The errors pellucid raises: each says what is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType


class PellucidError(Exception):
    """Base of every error that pellucid raises on purpose."""


class InputError(PellucidError, ValueError):
    """An argument, column or row that cannot be used as given."""


class ModelError(PellucidError, RuntimeError):
    """The model failed or returned something that is not a prediction per row."""


class MissingExtra(PellucidError, ImportError):
    """A library that this call needs is not installed."""


class InputWarning(UserWarning):
    """Something about the data that is probably not meant, said once when an Explainer is made."""


def nearest(name: str, known: Iterable[str], most: int = 8) -> str:
    """The clause ``; did you mean 'temp'?``, or the known names when nothing is close."""
    names = list(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    given = name.casefold()
    close = difflib.get_close_matches(given, folded, n=1, cutoff=0.6)
    close = close or [
        known for known in folded if len(given) > 2 and (known.startswith(given) or given.startswith(known))
    ]
    if close:
        return f"; did you mean {folded[close[0]]!r}?"
    shown = ", ".join(repr(candidate) for candidate in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"; known are {shown}{more}."


def require(module: str, *, extra: str | None = None, purpose: str) -> ModuleType:
    """Import an optional library, or say how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        install = f'pip install "pellucid[{extra}]"' if extra else f"pip install {module}"
        raise MissingExtra(f"{purpose} needs the package {module!r}; install it with: {install}") from error
