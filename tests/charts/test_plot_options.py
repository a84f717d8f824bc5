"""Options of charts are declared once: what checks them, says them and documents them is the same declaration."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import pellucid.parts
from pellucid import InputError
from pellucid.explanations import Attribution, Effect, Explanation
from pellucid.explanations.option import PlotOptions, declared, read_options
from pellucid.explanations.plot_options import AttributionOptions, LocalOptions

DOCS = Path(__file__).resolve().parents[2] / "docs"


def kinds(base=Explanation):
    """Every kind of result that has options of its own."""
    assert pellucid.parts  # its kinds count, too
    own = [kind for kind in base.__subclasses__() if "_options" in kind.__dict__]
    return own + [kind for below in base.__subclasses__() for kind in kinds(below)]


CASES = sorted({kind._options for kind in kinds()}, key=lambda options: options.__name__)
WHOLE = [(options, name) for options in CASES for name, one in declared(options).items() if "whole" in one.takes]


def with_kind(options, name):
    kinds = declared(options)[name].kinds
    return {"kind": kinds[0]} if kinds else {}


def test_every_result_has_options():
    assert len(CASES) > 15
    assert all(issubclass(options, PlotOptions) for options in CASES)


@pytest.mark.parametrize("options", CASES)
def test_every_option_is_declared_in_full(options):
    for name, option in declared(options).items():
        assert option.takes
        assert len(option.meaning) > 10 or option.meaning.endswith("shown"), name
        assert not option.meaning.endswith(".")


@pytest.mark.parametrize(("options", "name"), WHOLE)
@pytest.mark.parametrize("three", [3, 3.0, np.int64(3), np.float32(3)])
def test_whole_numbers_come_in_every_type(options, name, three):
    made = getattr(options(**{name: three}, **with_kind(options, name)), name)
    assert made == 3
    assert type(made) is int


@pytest.mark.parametrize(("options", "name"), WHOLE)
@pytest.mark.parametrize("wrong", [-1, 2.5, "3", True, float("nan"), [3]])
def test_what_is_no_whole_number_is_refused_by_name(options, name, wrong):
    with pytest.raises(InputError, match=f"{name} must be a whole number"):
        options(**{name: wrong}, **with_kind(options, name))


@pytest.mark.parametrize("options", CASES)
def test_words_that_are_not_known_are_refused_with_all_that_are(options):
    for name, option in declared(options).items():
        if option.takes.startswith('"') and "colour" not in name:
            with pytest.raises(InputError) as caught:
                options(**{name: "zzzzzz"}, **with_kind(options, name) if name != "kind" else {})
            assert all(f"'{word}'" in str(caught.value) for word in re.findall(r'"(\w+)"', option.takes))


@pytest.mark.parametrize("options", CASES)
def test_an_unknown_option_is_answered_with_every_option(options):
    with pytest.raises(InputError) as caught:
        read_options(options, {"zzzzzz": 1})
    assert all(name in str(caught.value) for name in declared(options))


def test_an_option_of_one_kind_of_chart_is_refused_with_others():
    with pytest.raises(InputError, match=r"aggregate= .*kind='bar'"):
        AttributionOptions(aggregate="sum")
    with pytest.raises(InputError, match=r"aggregate= .*kind='bar'"):
        LocalOptions(kind="widths", aggregate="sum")
    assert AttributionOptions(kind="bar", aggregate="sum").aggregate == "sum"


@pytest.mark.parametrize("kind", kinds())
def test_the_docstring_of_plot_names_every_option(kind):
    for field in dataclasses.fields(kind._options):
        assert f"\n{field.name} : " in kind.plot.__doc__
        assert repr(field.default) in kind.plot.__doc__


def test_docstrings_are_those_of_the_kind():
    assert "max_lines" in Effect.plot.__doc__
    assert "max_lines" not in Attribution.plot.__doc__


def test_the_page_is_made_from_the_declarations():
    made = {"__name__": "page"}
    exec((DOCS / "make_charts_page.py").read_text(encoding="utf-8"), made)
    assert (DOCS / "charts.md").read_text(encoding="utf-8") == made["page"](), "run python docs/make_charts_page.py"
