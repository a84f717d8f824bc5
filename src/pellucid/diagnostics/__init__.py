"""The checks behind caveats: one file per weakness, each measured on the user's own model and data."""

from pellucid.diagnostics.by_method import effect_caveats
from pellucid.diagnostics.general import general_caveats

__all__ = ["effect_caveats", "general_caveats"]
