"""How kernels are compiled: once per machine, kept on disk, without the interpreter's lock."""

from __future__ import annotations

from typing import Any

from numba import njit

# Division follows IEEE; sums keep their order, so that results never depend on the number of threads.
OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
kernel = njit(**OPTIONS)
