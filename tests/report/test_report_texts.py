"""Reports of texts and images: which are shown, how good the model is, what is said once, and one file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from golden_files import masked
from pellucid import ImageExplainer, InputError, TextExplainer
from pellucid.report.images import build_image_report
from pellucid.report.page import render
from pellucid.report.singles import Single, care_section, explain
from pellucid.report.texts import build_text_report
from pellucid.report.wholes import MOST, Seen, choose, look, model_section
from pellucid.report.work import Work
from report.documents import part, said

TEXTS = [
    "Check out my channel, please!",
    "I love this song",
    "free phone: check my page",
    "a song I love, really love",
    "please subscribe to my channel",
    "this song is great\n\nreally great",
    "check this song",
    "<script>alert(1)</script> free phone",
    "my favourite song",
    "subscribe, subscribe, subscribe!",
]
SPAM = ["spam", "fine", "spam", "fine", "spam", "fine", "fine", "spam", "fine", "spam"]


def spam(**options: Any) -> TextExplainer:
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, SPAM)
    return TextExplainer(model, progress=False, **options)


def built(explainer: TextExplainer, texts: list[str] = TEXTS, y: Any = None) -> dict[str, Any]:
    return build_text_report(explainer, explainer._models, texts, y)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return built(spam(), y=[*SPAM[:6], "spam", *SPAM[7:]])


# -- the page ------------------------------------------------------------------------------------------


def test_the_chapters_of_a_report_of_texts(document, golden):
    assert [chapter["id"] for chapter in document["sections"]] == ["care", "model", "words", "singles"]
    kinds = ["confusion", "roc", "calibration", "precision-recall", "thresholds"]
    assert [card["id"] for card in part(document, "model")["cards"]] == [f"performance-{kind}" for kind in kinds]
    golden("report", "texts", [masked(line) for line in document["findings"]] + list(said(*document["sections"])))


def test_a_passage_is_the_text_letter_by_letter(document):
    for card in part(document, "singles")["cards"]:
        text = TEXTS[int(card["id"].removeprefix("text-"))]
        assert "".join(piece["text"] for piece in card["passage"]) == text
        coloured = [piece for piece in card["passage"] if piece["colour"]]
        assert all(re.fullmatch("#[0-9a-f]{6}", piece["colour"]) for piece in coloured)


def test_the_colour_of_a_word_has_the_sign_of_its_contribution(document):
    for card in part(document, "singles")["cards"]:
        for piece in card["passage"]:
            if piece["colour"] and abs(float(piece["label"] or 0)) > 0.02:
                red, blue = int(piece["colour"][1:3], 16), int(piece["colour"][5:7], 16)
                assert (red > blue) == (float(piece["label"]) > 0), piece


def test_words_of_a_text_are_no_markup(document):
    page = render(document)
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;" in page
    assert "<mark style=" in page
    assert 'src="http' not in page


def test_a_text_without_caveats_says_nothing_of_them(document):
    page = render(document)
    assert "No caveat" not in page
    assert page.count('aria-label="Caveats"') == sum(
        bool(card["why"] or card["caveats"] or card["chips"]) for part in document["sections"] for card in part["cards"]
    )


def test_the_same_texts_give_the_same_bytes(document, tmp_path):
    path = spam().report(tmp_path / "a.html", TEXTS, [*SPAM[:6], "spam", *SPAM[7:]])
    assert path.read_text("utf-8") == render(document)
    assert json.loads(json.dumps(document)) == document


def test_long_texts_are_cut_in_sight():
    def letters(texts):
        return [text.count("a") for text in texts]

    found = built(TextExplainer(letters, progress=False), ["a " * 3000, "b a", "a b b"])
    long = next(card for card in part(found, "singles")["cards"] if card["id"] == "text-0")
    assert 2000 < sum(len(piece["text"]) for piece in long["passage"]) < 3100
    assert "more letters" in long["passage"][-1]["text"]


def test_empty_texts_are_counted_and_not_drawn():
    def letters(texts):
        return [float(text.count("a")) for text in texts]

    found = built(TextExplainer(letters, progress=False), ["", "b a", "a b b a", "  "])
    assert [card["id"] for card in part(found, "singles")["cards"]] == ["text-2"]
    nothing = built(TextExplainer(letters, progress=False), ["", " "])
    assert part(nothing, "singles")["cards"] == []
    assert part(nothing, "words")["cards"] == []
    assert render(nothing)


# -- which ones ----------------------------------------------------------------------------------------


def seen_of(full: Any, y: Any = None, classes: tuple[str, ...] | None = ("no", "yes")) -> Seen:
    """What a function of these predictions shows of as many texts."""
    full = np.asarray(full, dtype=float)
    explainer = TextExplainer(lambda texts: full[[int(text) for text in texts]], class_names=classes, progress=False)

    def ask(model: Any, texts: list[str]) -> Any:
        return model.raw(texts, len(texts))

    return look(explainer._models, [str(i) for i in range(len(full))], y, "text", ask, Work(0, None))


def test_two_classes_show_typical_extreme_uncertain_and_mistaken_ones():
    p = np.array([0.1, 0.2, 0.3, 0.45, 0.7, 0.8, 0.9])
    found = choose(seen_of(np.c_[1 - p, p], ["yes", "no", "no", "no", "no", "yes", "yes"]))
    assert found[1] == ["typical no"]
    assert found[5] == ["typical yes"]
    assert found[6] == ["highest probability of yes"]
    assert found[0] == ["lowest probability of yes", "most mistaken"]
    assert found[3] == ["least certain"]
    assert found[4] == ["most mistaken"]


def test_of_many_classes_each_of_the_most_frequent_has_one():
    full = np.array([[0.8, 0.1, 0.1], [0.9, 0.05, 0.05], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]])
    found = choose(seen_of(full, classes=("a", "b", "c")))
    assert found == {1: ["most certain a"], 2: ["most certain b"], 3: ["most certain c", "least certain"]}


def test_a_regression_shows_the_largest_error(golden):
    seen = seen_of([1.0, 5.0, 3.0, 9.0], [1.0, 2.0, 3.5, 9.0], classes=None)
    assert choose(seen) == {2: ["typical"], 3: ["highest prediction"], 0: ["lowest prediction"], 1: ["largest error"]}
    section, words = model_section(seen, Work(0, None))
    errors, spread = np.array([0, 3, 0.5, 0]), np.array([1, 2, 3.5, 9]) - 3.875
    share = 1 - np.square(errors).mean() / np.square(spread).mean()
    assert section["table"]["rows"][0][1] == f"{share:.3g}"
    assert [card["id"] for card in section["cards"]] == ["performance-predicted", "performance-residuals"]
    golden("report", "texts: score of a regression", words)


def test_predictions_that_are_all_the_same_have_one_typical_text():
    assert choose(seen_of([2.0, 2.0, 2.0], classes=None)) == {0: ["typical"]}


def test_scores_are_those_of_a_constant_beside_the_model():
    p = np.array([0.1, 0.2, 0.7, 0.9])
    section, _ = model_section(seen_of(np.c_[1 - p, p], ["no", "yes", "yes", "yes"]), Work(0, None))
    rate, _, loss = section["table"]["rows"]
    assert (rate[0], rate[1], rate[3]) == ("Error rate", "25%", "25%")
    assert loss[1] == f"{-np.log([0.9, 0.2, 0.7, 0.9]).mean():.3g}"
    first = section["cards"][0]["sentences"]
    assert first[0].startswith("33%")


def test_outcomes_are_read_by_name_or_by_the_labels_of_the_model():
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, [label == "spam" for label in SPAM])
    named = TextExplainer(model, class_names=["fine", "spam"], progress=False)
    by_label = built(named, y=[label == "spam" for label in SPAM])
    assert part(by_label, "model")["table"] == part(built(named, y=SPAM), "model")["table"]


@pytest.mark.parametrize(
    ("y", "named"), [(["spam"], "y"), (["egg"] * 10, "did you mean|known are"), ([[1]] * 3, "shape")]
)
def test_outcomes_that_do_not_fit_are_refused(y, named):
    with pytest.raises(InputError, match=named):
        built(spam(), y=y)


def test_at_most_so_many_texts_are_looked_at():
    seen = seen_of(np.linspace(0, 1, MOST + 500), classes=None)
    assert len(seen.places) == MOST
    assert (seen.places[0], seen.places[-1], seen.total) == (0, MOST + 499, MOST + 500)


# -- single ones ---------------------------------------------------------------------------------------


class Slow(Work):
    """A model that takes too long for more than contributions."""

    def affordable(self, rows: int) -> int:
        return 1


def test_a_slow_model_has_no_surrogate_beside():
    explainer = spam()
    seen = look(explainer._models, TEXTS, None, "text", lambda model, some: model.raw(some, len(some)), Work(0, None))
    quick, slow = (
        explain(explainer, TEXTS, seen, {0: ["typical"]}, work)[0] for work in (Work(0, None), Slow(0, None))
    )
    assert quick.lime is not None
    assert quick.rule is not None
    assert (slow.lime, slow.rule) == (None, None)


def test_what_holds_for_several_is_said_once(document):
    explainer = spam()
    seen = look(explainer._models, TEXTS, None, "text", lambda model, some: model.raw(some, len(some)), Work(0, None))
    one = explain(explainer, TEXTS, seen, {0: ["typical"]}, Slow(0, None))[0]
    bad = replace(one.found, header=replace(one.found.header, caveats=()))
    assert care_section(seen, [Single(0, ("x",), bad, None, None)], "")["caveats"] == []
    from pellucid import Caveat

    def with_caveat(value: float) -> Any:
        item = Caveat("absence", f"It is {value}.", value, 0.1, "Do.")
        return replace(one.found, header=replace(one.found.header, caveats=(item,)))

    singles = [Single(i, ("x",), with_caveat(value), None, None) for i, value in ((2, 0.2), (3, 0.9), (5, 0.3))]
    (told,) = care_section(seen, singles, "")["caveats"]
    assert told["message"].startswith("Text 3, SHAP: It is 0.9.")
    assert told["message"].endswith("texts 2 and 5.")
    for card in part(document, "singles")["cards"]:
        assert card["caveats"] == []
        assert all(chip["id"] == "care" for chip in card["chips"])


# -- images --------------------------------------------------------------------------------------------


def test_a_report_of_images(golden, tmp_path):
    digits = load_digits(n_class=3)
    model = LogisticRegression(max_iter=500).fit(digits.data[:300], digits.target[:300])
    explainer = ImageExplainer(model, segmenter="grid", segments=4, absent=0.0, progress=False)
    images, y = list(digits.images[300:360]), digits.target[300:360]
    document = build_image_report(explainer, explainer._models, images, y)
    cards = part(document, "singles")["cards"]
    assert [card["title"].split(": ")[1] for card in cards][:3] == [f"most certain {k}" for k in range(3)]
    golden("report", "images", list(said(*document["sections"])))
    path = explainer.report(tmp_path / "images.html", np.array(images), y)
    assert path.read_text("utf-8") == render(document)


def test_images_of_different_sizes_are_asked_one_by_one(tmp_path):
    def bright(images):
        return images.mean(axis=(1, 2))

    images = [np.full((4, 4), 0.2), np.full((6, 4), 0.9), np.full((4, 4), 0.5)]
    explainer = ImageExplainer(bright, segmenter="grid", segments=4, absent=0.0, progress=False)
    assert explainer.report(tmp_path / "x.html", images).exists()


@pytest.mark.parametrize("path", ["nowhere/there/x.html", "."])
def test_the_path_is_checked_before_the_work(path, tmp_path):
    def never(texts):
        raise AssertionError

    with pytest.raises(InputError):
        TextExplainer(never, progress=False).report(tmp_path / path, TEXTS)
    with pytest.raises(InputError, match="images"):
        ImageExplainer(never, progress=False).report(tmp_path / "x.html", [])
    with pytest.raises(InputError, match="texts"):
        TextExplainer(never, progress=False).report(tmp_path / "x.html", [])
