"""The command line: parse, call, write. Heavy libraries are imported inside commands, so that help is quick."""

from __future__ import annotations

from pellucid.cli import changes  # noqa: F401 (its commands are those of the app)
from pellucid.cli.app import app, main

__all__ = ["app", "main"]
