"""Results stay small: what is more than one idea is a part of its own, and words and charts have their own rooms."""

import inspect

import pytest

import pellucid.parts  # noqa: F401 (its results are kinds of explanations too)
from pellucid import Explanation

MOST = 25


def kinds(of: type) -> set[type]:
    return {of}.union(*(kinds(each) for each in of.__subclasses__()))


def own(kind: type) -> list[str]:
    """Public fields and methods that a class has itself, those it overrides included."""
    return sorted(name for name in {*vars(kind), *inspect.get_annotations(kind)} if not name.startswith("_"))


@pytest.mark.parametrize(
    "kind", sorted(kinds(Explanation), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_no_result_has_many_fields_and_methods_of_its_own(kind):
    assert len(own(kind)) <= MOST, own(kind)


def test_every_kind_is_counted():
    assert {"Attribution", "LocalAttribution", "LocalTextAttribution", "Effect", "Rules"} <= {
        kind.__name__ for kind in kinds(Explanation)
    }
    assert {"values", "se", "frame", "text", "plot"} <= set(own(Explanation))
