"""Results about texts and images hold what is their own: a header, their parts, and no fields of a table."""

import dataclasses
import inspect
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid import ImageExplainer, TextExplainer
from pellucid.explanations.local_attribution import LocalAttribution, LocalModel

KINDS = [
    pellucid.TextAttribution,
    pellucid.ImageAttribution,
    pellucid.LocalTextAttribution,
    pellucid.LocalImageAttribution,
    pellucid.TextRule,
    pellucid.ImageRule,
    pellucid.TextCounterfactuals,
    pellucid.ImageCounterfactuals,
    pellucid.ImageAttack,
]
MOST = 25


def own(kind):
    names = {*inspect.get_annotations(kind), *kind.__dict__}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("kind", [*KINDS, LocalModel, LocalAttribution], ids=lambda kind: kind.__name__)
def test_no_class_has_many_names_of_its_own(kind):
    family = [base for base in kind.__mro__ if base.__module__.startswith("pellucid.parts") or base is kind]
    assert {base.__name__: len(own(base)) for base in family if len(own(base)) > MOST} == {}


@pytest.mark.parametrize("kind", [pellucid.LocalTextAttribution, pellucid.LocalImageAttribution])
def test_local_models_of_parts_have_no_fields_of_tables(kind):
    of_tables = {field.name for field in dataclasses.fields(LocalAttribution)}
    of_tables -= {field.name for field in dataclasses.fields(LocalModel)}
    assert of_tables >= {"conditions", "encoded", "scales", "ranges", "boundary", "zeroed"}
    assert of_tables.isdisjoint(field.name for field in dataclasses.fields(kind))
    assert not issubclass(kind, LocalAttribution)


def test_the_parts_are_one_field_of_every_result():
    texts = TextExplainer(lambda texts: [float("b" in text) for text in texts])
    parts = texts.parts("a b c")
    for found in (
        texts.shap("a b c"),
        texts.lime("a b c"),
        texts.anchor("a b c"),
        texts.counterfactuals("a b c", "<= 0"),
    ):
        assert (found.source, found.tokens, found.unit) == ("a b c", ("a", "b", "c"), "word")
        assert found.parts.spans.tolist() == parts.spans.tolist()
        assert replace(found.vocabulary, start="") == replace(parts.vocabulary, start="")
    images = ImageExplainer(lambda images: images.mean(axis=(1, 2)), segmenter="grid", segments=(1, 2))
    image = np.array([[0.0, 1.0]] * 2)
    for found in (images.shap(image), images.lime(image), images.anchor(image), images.counterfactuals(image, "> 0.6")):
        assert found.segments.tolist() == found.parts.segments.tolist() == [[0, 1]] * 2
        assert found.image.tolist() == image.tolist()
