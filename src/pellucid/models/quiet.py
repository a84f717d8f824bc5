"""What other libraries say about their own future is kept from the user, who asked about a model.

A deprecation announced inside another library, or about a model class of one, is for those who write that library's
calls; the user of an explanation can do nothing about it. Everything else (overflows, unknown categories, missing
convergence) does concern the user and passes. So does what is announced to code in ``__main__``, which is the user's
own, and to those parts of pellucid that know a library and call it by name: the tests fail on that. Where a model's own
methods are called, whatever they are, the caller cannot be meant.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Final

_CALLERS = r"models\.(predictor|items|refit|linear)|trees\.convert\.pipeline"  # of models and of steps before them
_ELSEWHERE: Final = re.compile(rf"(?!__main__\Z)(?!pellucid\b(?!\.({_CALLERS})\Z))")
_FILTERS: Final[tuple[Any, ...]] = (
    *(
        ("ignore", None, category, _ELSEWHERE, 0)
        for category in (FutureWarning, DeprecationWarning, PendingDeprecationWarning)
    ),
    ("ignore", re.compile(r"(?s).*\bdeprecated\b", re.IGNORECASE), UserWarning, _ELSEWHERE, 0),
)
_lock = Lock()
_inside = 0


@contextmanager
def quietly() -> Iterator[None]:
    """Around calls of another library; from any number of threads.

    The filters are put into the list itself. `warnings.catch_warnings` would let threads restore each other's filters,
    and make Python forget what it has shown already, so that an overflow in a model would be reported once for every
    batch.
    """
    global _inside  # noqa: PLW0603 - the list of filters is one for the whole process
    with _lock:
        _inside += 1
        if _inside == 1:
            warnings.filters[:0] = _FILTERS  # type: ignore[index]  # typed as a sequence, but a list
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for entry in _FILTERS:
                    with suppress(ValueError):  # someone has replaced the list meanwhile
                        warnings.filters.remove(entry)  # type: ignore[attr-defined]
