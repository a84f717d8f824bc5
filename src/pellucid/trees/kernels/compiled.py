"""How kernels are compiled: once per machine, kept on disk, without the interpreter's lock.

numba looks only at the file of a function to tell whether what it kept of it is out of date, not at the files of the
functions and constants that are built into it. So each state of the kernels has a folder of its own in the user's
cache, shared by all environments of the machine in which numba is of the same release: what counts is what the files
say, not where they lie.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config, njit
from numba.core import caching, event

from pellucid.datasets.fetch import cache_folder
from pellucid.errors import InputError
from pellucid.runner.progress import heard_now, say

PATIENCE = 1.0  # seconds of compiling before anything is said
NOTICE = "pellucid: compiling once for this machine, a few seconds (`pellucid warm` does it beforehand)."


def _folder() -> str:
    """Where this state of the kernels is kept; empty where the user has no folder for it (numba then looks itself)."""
    state = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        state.update(file.read_bytes())
    name = f"kernels-{state.hexdigest()[:16]}"
    try:
        folder = Path(config.CACHE_DIR) / name if config.CACHE_DIR else cache_folder().with_name(name)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, InputError):
        return ""
    return str(folder)


FOLDER = _folder()


class _ByContent(caching._CacheLocator):  # type: ignore[misc]
    """Tells numba where a function is kept, and what its file says."""

    def __init__(self, function: Any, file: str) -> None:
        self._folder = str(Path(FOLDER) / function.__module__)
        self._line = str(function.__code__.co_firstlineno)
        self._stamp = hashlib.sha256(Path(file).read_bytes()).hexdigest()

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return self._line

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _ByContent | None:
        try:
            located = cls(py_func, py_file)
            located.ensure_cache_path()
        except OSError:
            return None
        return located


class _Results(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_ByContent, *caching.CompileResultCacheImpl._locator_classes)


class _Kept(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _Results


def _keep(compiled: Any) -> Any:
    """The compiled function, kept on disk."""
    if FOLDER:
        compiled._cache = _Kept(compiled.py_func)
    else:
        compiled.enable_caching()
    return compiled


def _can_keep() -> bool:
    """Whether there is a folder for compiled code."""
    try:
        _keep(njit(_nothing))
    except RuntimeError:  # "no locator available"
        return False
    return True


def _nothing() -> None: ...


# Division follows IEEE; sums keep their order, so that results never depend on the number of threads.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
KEEPS = _can_keep()


def kernel(function: Any) -> Any:
    """A compiled function."""
    compiled = njit(**OPTIONS, no_cfunc_wrapper=True)(function)
    return _keep(compiled) if KEEPS else compiled


def inner(function: Any) -> Any:
    """A compiled function that only kernels call: nothing is made by which Python could, nothing kept of its own."""
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def inlined(function: Any) -> Any:
    """The same, made part of every kernel that calls it."""
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(function)


class Notice(event.Listener):  # type: ignore[misc]
    """Tells whoever waits, once, why the first call takes so long (see `runner.progress`).

    numba reports the beginning and the end of every compilation, also of those inside another; nothing is reported
    when code is found on disk.
    """

    def __init__(
        self,
        timer: Callable[[float, Callable[[], None]], Any] = threading.Timer,
        clock: Callable[[], float] = time.perf_counter,
        heard: Callable[[], bool] = heard_now,
    ) -> None:
        self._new_timer, self._clock, self._heard = timer, clock, heard
        self._inside = 0
        self._since, self._spent = 0.0, 0.0
        self._timer: Any = None
        self._said = False

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self._inside += 1
        if self._inside == 1 and not self._said and self._heard():
            self._since = self._clock()
            self._timer = self._new_timer(max(PATIENCE - self._spent, 0.0), self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self._inside -= 1
        if self._inside == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._spent += self._clock() - self._since

    def _say(self) -> None:
        if not self._said:
            self._said = True
            say(NOTICE)


def _is_ours(event: Any) -> bool:
    function = getattr((event.data or {}).get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).startswith(f"{__name__.partition('.')[0]}.")


event.register("numba:compile", Notice())
