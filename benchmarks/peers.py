"""Which peers of run.py can be imported here; the reason is printed once for those that cannot."""

from __future__ import annotations

import importlib
from functools import cache

MODULES = {"alibi": "alibi.explainers", "PyALE": "PyALE", "PDPbox": "pdpbox.pdp", "dalex": "dalex"}


@cache
def reason(peer: str) -> str:
    """Why a peer cannot be used; empty if it can."""
    try:
        importlib.import_module(MODULES[peer])
    except Exception as error:  # a peer may fail on import in any way
        return f"{type(error).__name__}: {error}"
    return ""


def available(peer: str) -> bool:
    return not reason(peer)
