"""Saved results of every kind, read back."""

from __future__ import annotations

import pellucid.parts  # noqa: F401  # its kinds can be read as well
from pellucid.explanations import load

__all__ = ["load"]
