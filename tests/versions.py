"""Tests about what only later versions of a library do: they skip, with the reason, where an earlier one is installed."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import pytest


def needs(library: str, least: str) -> pytest.MarkDecorator:
    """A mark for tests of something that ``library`` has since version ``least``."""
    return pytest.mark.skipif(not has(library, least), reason=f"{library} has it since {least}")


def has(library: str, least: str) -> bool:
    for name in (library, f"{library}-cpu"):
        with suppress(PackageNotFoundError):
            return _numbers(version(name)) >= _numbers(least)
    return False


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("+")[0].split(".")[:2] if part.isdigit())
