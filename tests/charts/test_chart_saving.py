"""Charts save, show and compose without a network."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from charts.chart_examples import NASTY, associations, attribution, effect, individual, levels, surface
from pellucid.charts import Chart, draw
from pellucid.charts.chart import _picture
from pellucid.charts.compact import compact
from pellucid.errors import InputError


class Tags(HTMLParser):
    """The elements of a page; what stands inside a script is no element."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, attrs))


@pytest.fixture(scope="module")
def chart() -> Chart:
    return draw(effect(name=NASTY), width=120, height=60)


@pytest.mark.parametrize(
    ("ending", "start"), [(".png", b"\x89PNG"), (".svg", b"<svg"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_pictures_are_saved_by_ending(chart, tmp_path, ending, start):
    path = chart.save(tmp_path / f"chart{ending}")
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 1000


def test_json_is_the_specification(chart, tmp_path):
    assert json.loads(chart.save(tmp_path / "chart.json").read_text("utf-8")) == chart.spec


def test_scale_makes_more_pixels(chart, tmp_path):
    small = chart.save(tmp_path / "small.png", scale=1).read_bytes()
    large = chart.save(tmp_path / "large.png", scale=3).read_bytes()
    width = [int.from_bytes(picture[16:20], "big") for picture in (small, large)]
    assert width[1] == pytest.approx(3 * width[0], abs=3)


def test_html_is_self_contained_and_inert(tmp_path):
    attack = "</script><script>window.hacked = 1</script>"
    page = draw(levels(np.array([attack, "b"], dtype=object))).save(tmp_path / "chart.html").read_text("utf-8")
    tags = Tags()
    tags.feed(page)
    assert [name for name, _ in tags.found].count("script") == 2
    assert not any(key in ("src", "href") for _, attributes in tags.found for key, _ in attributes)
    assert "window.hacked = 1\\u003c/script" in page
    assert "vegaEmbed" in page


def test_unknown_ending_names_the_known_ones(chart, tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf, \.html, \.json"):
        chart.save(tmp_path / "chart.gif")
    with pytest.raises(InputError, match="scale=0 gives no picture"):
        chart.save(tmp_path / "chart.png", scale=0)


def test_notebooks_get_the_specification_and_a_picture(chart):
    bundle = chart._repr_mimebundle_()
    (drawn,) = [kind for kind in bundle if kind.startswith("application/vnd.vegalite.v")]
    assert bundle[drawn] == compact(chart.spec)
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "Chart" in bundle["text/plain"]


@pytest.mark.parametrize(
    "result",
    [
        attribution(2000),
        attribution(2000, outputs=("a", "b", "c")),
        individual(300, np.linspace(0, 9, 50)),
        surface(np.linspace(0, 7, 40), np.linspace(0, 9, 40)),
    ],
    ids=["beeswarm", "classes", "individual curves", "surface"],
)
def test_a_saved_cell_is_small(result):
    chart = draw(result)
    bundle = chart._repr_mimebundle_()
    assert len(json.dumps(bundle)) < 150_000
    assert len([kind for kind in bundle if kind.startswith("image/")]) == 1


def test_the_small_form_draws_the_same():
    spec = draw(attribution(300)).spec
    small = compact(spec)
    assert len(json.dumps(small)) < len(json.dumps(spec)) / 2
    tall, wide = (_picture(each, ".svg", 1.0).decode() for each in (spec, small))
    assert tall.count("<path") == wide.count("<path")
    fills = [re.findall(r'fill="(#[0-9a-fA-F]+|rgb[^"]*)"', drawn) for drawn in (tall, wide)]
    assert len(set(fills[0])) > 20
    assert fills[0] == pytest.approx(fills[1])
    labels = [re.findall(r"; row: [^\"]*", drawn) for drawn in (tall, wide)]
    assert labels[0] == labels[1]


def test_what_is_looked_up_or_irregular_stays_as_it_is():
    rows = [{"a": i, "b": f"{i % 3}"} for i in range(50)]
    looked = {"datasets": {"d": rows}, "transform": [{"lookup": "a", "from": {"data": {"name": "d"}, "key": "a"}}]}
    assert compact(looked) == looked
    for odd in ([*rows, {"a": 1}], [*rows, {"a": [1], "b": ""}], [*rows, {"a": 1, "b": ""}], rows[:1] * 50):
        spec = {"datasets": {"d": odd}, "data": {"name": "d"}, "mark": "point"}
        assert compact(spec) == spec


def test_results_plot_themselves():
    assert effect().plot(width=100).spec == draw(effect(), width=100).spec


def test_charts_compose_beside_below_and_on_top(chart, tmp_path):
    bare = draw(effect(), distribution=None)
    assert len((chart | draw(associations())).spec["hconcat"]) == 2
    assert len((chart & bare).spec["vconcat"]) == 2
    assert "layer" in (bare + bare).spec
    numeric, nominal = individual(5), individual(5, colouring="nominal")
    joined = draw(numeric) | draw(nominal)
    assert joined.spec["resolve"]["scale"]["color"] == "independent"
    assert joined.save(tmp_path / "joined.svg").stat().st_size > 1000


def test_charts_compose_with_altair(chart):
    import altair as alt

    own = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_point().encode(x="a:Q")
    assert len((chart | own).spec["hconcat"]) == 2


def test_what_cannot_be_composed_says_so(chart):
    with pytest.raises(InputError, match="cannot be laid over another"):
        chart + chart
    with pytest.raises(InputError, match=r"with a chart.*int"):
        chart | 3


def test_settings_of_other_charts_do_not_matter(chart):
    import altair as alt

    before = chart.spec
    with alt.data_transformers.enable("default", consolidate_datasets=False):
        assert chart.spec == before


def test_importing_charts_loads_no_chart_library():
    code = "import sys, pellucid.charts; print([m for m in ('altair', 'vl_convert', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
