"""Writes the table of properties into docs/glassbox.md: python docs/make_glassbox_table.py"""

from __future__ import annotations

import re
from pathlib import Path

from pellucid.glassbox.properties import table

PAGE = Path(__file__).with_name("glassbox.md")
START, END = "<!-- properties -->", "<!-- end of properties -->"


def page(text: str) -> str:
    """The page with the table as it is now."""
    return re.sub(f"{START}.*{END}", f"{START}\n{table()}\n{END}", text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
