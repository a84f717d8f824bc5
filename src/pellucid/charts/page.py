"""A chart as one HTML page that needs no network: the JavaScript is in the file."""

from __future__ import annotations

import functools
import json
from typing import Any

from pellucid.errors import require

# No editor link (it would send the data to another site); pictures can still be saved from the menu.
EMBED = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}, "renderer": "svg"}

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pellucid chart</title>
<style>body {{ margin: 1rem; font-family: sans-serif; background: white; }}</style>
</head>
<body>
<div id="chart"></div>
<script>{javascript}</script>
<script>vegaEmbed("#chart", {spec}, {embed});</script>
</body>
</html>
"""


def vegalite_version() -> str:
    """Version of the specification that the installed Altair writes, as ``major.minor``."""
    altair = require("altair", purpose="drawing a chart")
    return ".".join(str(altair.SCHEMA_VERSION).lstrip("v").split(".")[:2])


@functools.lru_cache(maxsize=1)
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script that defines ``vegaEmbed``."""
    converter = require("vl_convert", purpose="saving a chart as .html")
    return str(converter.javascript_bundle(vl_version=vegalite_version())).replace("</script", "<\\/script")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element whatever text it holds."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


def page(spec: dict[str, Any]) -> str:
    """The page for one specification."""
    return _PAGE.format(javascript=javascript(), spec=script_json(spec), embed=script_json(EMBED))
