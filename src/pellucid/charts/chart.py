"""Chart: a thin wrapper round an Altair chart that composes, shows itself and saves without a network."""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast, final

from pellucid.charts.compact import compact
from pellucid.charts.page import page, vegalite_version
from pellucid.charts.png import smaller
from pellucid.charts.reserved import without_reserved
from pellucid.charts.theme import CONFIG
from pellucid.errors import InputError, MissingExtra, PellucidError, require
from pellucid.words import kind_of

if TYPE_CHECKING:
    from altair.typing import ChartType

ENDINGS = (".png", ".svg", ".pdf", ".html", ".json")
_SAVED = 145_000  # bytes of a chart that a notebook keeps: its picture is a PNG if there is room
_SIZES = (("png", 2.0), ("png", 1.5), ("png", 1.0), ("jpeg", 1.0), ("jpeg", 0.7))  # of pictures, the sharpest first
_NARROWEST = 40  # pixels: no chart with axes is narrower
_WIDTH = re.compile(rb'<svg[^>]* width="([0-9.]+)')
Composable = Any  # a Chart, or a chart of Altair's own


class Unchecked:
    """``with UNCHECKED:`` Altair does not check each piece when it is made, which takes as long as all drawing.

    Afterwards it does what it did before, however many threads draw.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._drawing, self._before = 0, True

    def __enter__(self) -> None:
        schemas = import_module("altair").utils.schemapi
        with self._lock:
            if not self._drawing:
                self._before, schemas.DEBUG_MODE = schemas.DEBUG_MODE, False
            self._drawing += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._drawing -= 1
            if not self._drawing:
                import_module("altair").utils.schemapi.DEBUG_MODE = self._before


UNCHECKED = Unchecked()


@final
class Chart:
    """A chart that notebooks show, that composes with ``|`` (beside), ``&`` (below) and ``+`` (on top).

    >>> chart = explanation.plot()  # doctest: +SKIP
    >>> (chart | other).save("both.png")  # doctest: +SKIP
    """

    def __init__(self, body: ChartType) -> None:
        self._body = body

    @property
    def altair(self) -> ChartType:
        """The Altair chart, for anything that pellucid has no option for."""
        return cast("ChartType", _layout().altairs_own(self._body).configure(**CONFIG))

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification."""
        altair = require("altair", purpose="drawing a chart")
        # Whatever the user has set for other charts, here the data stay in the specification.
        with altair.data_transformers.enable("default", consolidate_datasets=True), UNCHECKED:
            # Not checked against the schema, which takes longer than drawing: the tests of every chart do it.
            spec = self._body.configure(**CONFIG).to_dict(validate=False)
        spec["datasets"] = {name: list(rows) for name, rows in spec.get("datasets", {}).items()}
        return cast("dict[str, Any]", without_reserved(spec))

    # -- composing -----------------------------------------------------------------------------------

    def __or__(self, other: Composable) -> Chart:
        return self._joined("hconcat", other)

    def __and__(self, other: Composable) -> Chart:
        return self._joined("vconcat", other)

    def __add__(self, other: Composable) -> Chart:
        try:
            return Chart(self._body + _body(other))
        except (TypeError, ValueError) as error:
            raise InputError(
                "a chart of several panels cannot be laid over another; draw with distribution=None, "
                "use panel(..., overlay=True), or put them side by side with | or &."
            ) from error

    def _joined(self, how: str, other: Composable) -> Chart:
        # Not with Altair's own operator: it would pour one grid of views into the other.
        joined = getattr(_layout(), how)(self._body, _body(other))
        # Parts of a composition mean different things by their colours, so each keeps its scale and legend.
        return Chart(joined.resolve_scale(color="independent"))

    # -- showing -------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Chart: {type(self._body).__name__}; .save(path) writes {', '.join(ENDINGS)}>"

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Vega-Lite for front ends that draw it, a picture for the others; both small, because notebooks keep them."""
        spec = compact(self.spec)
        major = vegalite_version().partition(".")[0]
        bundle: dict[str, Any] = {"text/plain": repr(self), f"application/vnd.vegalite.v{major}+json": spec}
        with contextlib.suppress(MissingExtra):  # the front end may still draw the specification itself
            room = (_SAVED - len(json.dumps(spec))) * 3 / 4
            sort, _scale, picture = _fitting(spec, room, _SIZES[2:])
            bundle[f"image/{sort}"] = base64.b64encode(picture).decode("ascii")
        return bundle

    def picture(self, most: int) -> tuple[str, int]:
        """The chart as the address of an image that holds it, of at most so many bytes, and its width on screen.

        As sharp as fits: with two image pixels per pixel on screen, fewer, or as a photograph would be kept.
        """
        spec = self.spec
        sort, scale, picture = _fitting(spec, most, _SIZES)
        known, at = (picture, scale) if sort == "png" else (_picture(spec, ".png", 1.0), 1.0)
        width = round(int.from_bytes(known[16:20], "big") / at)
        return f"data:image/{sort};base64,{base64.b64encode(picture).decode('ascii')}", width

    # -- saving --------------------------------------------------------------------------------------

    def html(self) -> str:
        """One self-contained page: the chart, its data and the JavaScript that draws it."""
        return page(self.spec)

    def save(self, path: str | Path, *, scale: float = 2.0) -> Path:
        """Write the chart; the ending of ``path`` says how: .png, .svg, .pdf, .html or .json.

        ``scale`` is the number of image pixels per pixel on screen (PNG only). Nothing is fetched from the network.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in ENDINGS:
            raise InputError(f"cannot save a chart as {str(path)!r}; the path must end in {', '.join(ENDINGS)}.")
        if not scale > 0:
            raise InputError(f"scale={scale} gives no picture; use a positive number.")
        if ending == ".html":
            target.write_text(self.html(), encoding="utf-8")
        elif ending == ".json":
            target.write_text(json.dumps(self.spec, ensure_ascii=False, indent=1), encoding="utf-8")
        else:
            target.write_bytes(_picture(self.spec, ending, scale))
        return target


def _layout() -> Any:
    """Imported when needed: it loads Altair."""
    return import_module("pellucid.charts.layout")


def _body(other: Composable) -> ChartType:
    if isinstance(other, Chart):
        return other._body
    if not require("altair.typing", purpose="drawing a chart").is_chart_type(other):
        raise InputError(f"a chart composes with a chart, not with {kind_of(other)}.")
    return cast("ChartType", other)


def _fitting(spec: dict[str, Any], room: float, sizes: Sequence[tuple[str, float]]) -> tuple[str, float, bytes]:
    """The first of the sizes (sort and scale of an image) whose picture has room, or the last."""
    for sort, scale in sizes:
        picture = _picture(spec, f".{sort}", scale)
        picture = smaller(picture) if sort == "png" else picture
        if len(picture) <= room:
            break
    return sort, scale, picture


def _picture(spec: dict[str, Any], ending: str, scale: float) -> bytes:
    """The chart as an image; the converter gives a few empty pixels for one it could not draw: that is an error."""
    converter = require("vl_convert", purpose=f"saving a chart as {ending}")
    version = vegalite_version()
    if ending == ".jpeg":
        return bytes(converter.vegalite_to_jpeg(spec, vl_version=version, scale=scale, quality=60))
    if ending == ".png":
        picture = bytes(converter.vegalite_to_png(spec, vl_version=version, scale=scale))
        width = int.from_bytes(picture[16:20], "big") / scale
    else:
        picture = str(converter.vegalite_to_svg(spec, vl_version=version)).encode("utf-8")
        width = float(_WIDTH.findall(picture)[0])
    if width < _NARROWEST:
        raise PellucidError(
            "the chart could not be drawn (what Vega says about it stands above); please report it, with"
            " .save('chart.json')."
        )
    return picture if ending != ".pdf" else bytes(converter.vegalite_to_pdf(spec, vl_version=version))
