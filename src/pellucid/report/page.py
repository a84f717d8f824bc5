"""From a document to one HTML file: a template that escapes everything, with style and scripts inlined."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.charts.page import javascript, script_json
from pellucid.errors import InputError, require

if TYPE_CHECKING:
    from jinja2 import Template


def check_path(path: str | Path) -> Path:
    """The path, if a file can be written there: asked before the work, not after it."""
    target = Path(path)
    if target.is_dir():
        raise InputError(
            f"{str(path)!r} is a folder; give the path of a file, such as {str(target / 'report.html')!r}."
        )
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {str(target.parent)!r}; create it, or write the report somewhere else.")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"the folder {str(target.parent)!r} cannot be written to; write the report somewhere else.")
    return target


def write(document: dict[str, Any], path: str | Path) -> Path:
    """Write a document to one HTML file. The file appears when it is complete, or not at all."""
    target = check_path(path)
    page = render(document).encode("utf-8", errors="replace")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(page)
        _give_usual_rights(name)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return target


def render(document: dict[str, Any]) -> str:
    """The page of a document; the same document gives the same page."""
    from markupsafe import Markup

    charts = {
        card["id"]: {"spec": card["chart"], "fits": card["fits"], "stacks": card["stacks"], "grows": card["half"]}
        for section in document["sections"]
        for card in section["cards"]
    }
    library, script, explore = javascript(), _part("report.js"), _part("explore.js")
    return _template().render(
        document=document,
        policy=_policy(library, script, explore),
        # The parts below are our own, or JSON made safe for a script element; nothing else is unescaped.
        style=Markup(_part("report.css")),
        library=Markup(library),
        script=Markup(script),
        charts=Markup(script_json(charts)),
        explore=Markup(explore),
        explored=Markup(script_json(document["explore"])),
    )


def _policy(*scripts: str) -> str:
    """What the browser may do: run exactly these scripts, and fetch nothing from anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    jinja2 = require("jinja2", purpose="writing a report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template: Template = environment.from_string(_part("report.html"))
    return template


def _part(name: str) -> str:
    return files("pellucid.report").joinpath(name).read_text(encoding="utf-8")


def _give_usual_rights(name: str) -> None:
    """A temporary file is private to its owner; a report gets the rights of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
