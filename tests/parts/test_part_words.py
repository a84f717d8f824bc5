"""Sentences about texts and images speak of words and segments, not of rows, features and samples."""

import re

import numpy as np
import pytest

from pellucid import ImageExplainer, TextExplainer

OF_TABLES = re.compile(r"\b(features?|rows?|samples?)\b(?!=)")


def both(texts):
    """One word is nothing without the other: a local model of few words fits badly."""
    return [float({"free", "click"} <= set(text.split())) for text in texts]


def corners(images):
    return np.minimum(images[:, 0, 0], images[:, -1, -1]) / 255


TEXT = "click here for a free phone now or never again"
IMAGE = np.full((8, 8), 200, dtype=np.uint8)
TEXTS, IMAGES = TextExplainer(both), ImageExplainer(corners, segmenter="grid", segments=(4, 4))
RESULTS = {
    "words": lambda: TEXTS.shap(TEXT),
    "estimated words": lambda: TEXTS.shap(TEXT, method="kernel", budget=100),
    "orders of words": lambda: TEXTS.shap(TEXT, method="permutation", budget=600),
    "nothing": lambda: TEXTS.shap("nothing here"),
    "local words": lambda: TEXTS.lime(TEXT, features=1, samples=100),
    "narrow": lambda: TEXTS.lime(TEXT, kernel="exponential", width=0.05, features=3),
    "rule of words": lambda: TEXTS.anchor(TEXT),
    "segments": lambda: IMAGES.shap(IMAGE),
    "local segments": lambda: IMAGES.lime(IMAGE, features=1, samples=100),
    "rule of segments": lambda: IMAGES.anchor(IMAGE),
}


@pytest.mark.parametrize("name", RESULTS)
def test_sentences_use_the_vocabulary_of_their_source(name):
    found = RESULTS[name]()
    said = [found.text(), *(f"{caveat.message} {caveat.advice}" for caveat in found.caveats)]
    said += [found.text("short")] if hasattr(found, "base") and hasattr(found, "causes") else []
    assert said[0]
    assert [OF_TABLES.findall(each) for each in said] == [[]] * len(said)


def test_the_caveats_of_local_models_are_among_them():
    codes = {caveat.code for name in ("local words", "narrow", "local segments") for caveat in RESULTS[name]().caveats}
    assert {"low-fidelity", "unstable"} <= codes
