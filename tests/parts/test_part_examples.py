"""Typical texts and images, and like ones, through a feature map."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pellucid
from golden_files import masked
from pellucid import ImageExplainer, TextExplainer
from pellucid.parts.examples import bag_of_words

TEXTS = [
    *["free phone call now", "free phone", "call for a free phone", "free call"],
    *["what a nice song", "nice song", "a nice old song", "song so nice", "I like the song"],
    "zebra",
]
Y = ["spam"] * 4 + ["ham"] * 6


def spam(texts):
    return [0.9 if "free" in text else 0.2 for text in texts]


def explained(**options):
    return TextExplainer(spam, class_names=["ham", "spam"], progress=False, **options)


@pytest.fixture(scope="module")
def texts():
    return explained().prototypes(TEXTS, 2, y=Y, criticisms=1)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:120], y[:120]
    return ImageExplainer(LogisticRegression(max_iter=300).fit(X, y), progress=False), X.reshape(-1, 8, 8), y


def test_the_bag_of_words_is_that_of_scikit_learn():
    tokens = [text.lower().split() for text in TEXTS[:9]]
    bag, words = bag_of_words(tokens)
    theirs = TfidfVectorizer(min_df=2, token_pattern=r"\S+").fit(TEXTS[:9])
    order = [words.index(word) for word in theirs.get_feature_names_out()]
    np.testing.assert_allclose(bag[:, order], theirs.transform(TEXTS[:9]).toarray(), atol=1e-12)


def test_texts_without_a_frequent_word_are_alike_and_far_from_others():
    bag, _ = bag_of_words([["a", "b"], ["a", "b"], ["rare"], ["odd"]])
    apart = np.linalg.norm(bag[:, None] - bag[None], axis=2)
    np.testing.assert_allclose(apart[2], [np.sqrt(2), np.sqrt(2), 0, 0])


def test_there_is_a_typical_text_of_each_kind(texts):
    chosen = [texts.cells[0][i] for i in texts.places()]
    assert {"free" in text for text in chosen} == {True, False}
    assert texts.column_names == ("text", "typical words")
    assert texts.values.sum() == pytest.approx(1)
    assert texts.header.classes == ("ham", "spam")
    np.testing.assert_allclose(texts.predictions.ravel(), spam(texts.cells[0].tolist()))
    assert texts.outcomes.tolist() == [Y[TEXTS.index(text)] for text in texts.cells[0]]


def test_prototypes_of_texts_are_those_of_a_table_of_their_features(texts):
    bag, _ = bag_of_words([explained()._folded(text) for text in TEXTS])
    table = pellucid.Explainer(lambda X: X[:, 0], bag, progress=False).prototypes(2, features="raw")
    assert set(table.prototypes.tolist()) == set(texts.prototypes.tolist())
    assert table.mmd2 == pytest.approx(texts.mmd2)


def test_neighbours_of_a_text_and_of_one_of_the_texts():
    ex = explained()
    found = ex.neighbors("a nice song", TEXTS, 2, y=Y)
    assert found.cells[0][0] == "a nice song"
    assert all("nice" in text for text in found.cells[0][1:3])
    assert "free" in found.cells[0][found.places("nearest unlike")[0]]
    own = ex.neighbors(5, TEXTS, 3)
    assert own.cells[0][0] == TEXTS[5]
    assert TEXTS[5] not in own.cells[0][1:].tolist()
    lengths = ex.neighbors("12345", TEXTS, 1, features=lambda texts: [[len(text)] for text in texts])
    assert lengths.cells[0][1] == "zebra"


def test_images_by_pixels_and_by_a_feature_map(digits, tmp_path):
    ex, images, y = digits
    found = ex.prototypes(images, 6, y=y, criticisms=2, by="class")
    positions = found.row_labels.positions
    assert all(np.array_equal(image, images[i]) for image, i in zip(found.images, positions, strict=True))
    assert set(found.groups) == {"0", "1", "2"}
    flat = pellucid.Explainer(ex._models.classes.adapter.model, images.reshape(120, 64), y, progress=False)
    assert found.mmd2 == pytest.approx(flat.prototypes(6, features="raw", by="class").mmd2)
    again = ex.prototypes(list(images), 6, features=lambda images: images.mean(axis=(1, 2)))
    assert len(again.prototypes) == 6
    found.save(tmp_path / "found.json")
    assert np.array_equal(pellucid.load(tmp_path / "found.json").images[0], found.images[0])


def test_neighbours_of_an_image(digits):
    ex, images, y = digits
    found = ex.neighbors(3, images, 4, y=y)
    apart = np.linalg.norm((images - images[3]).reshape(120, -1), axis=1)
    assert found.neighbors.tolist() == [place for place in np.argsort(apart, kind="stable") if place != 3][:4]
    assert np.array_equal(ex.neighbors(images[3], images, 1).images[1], images[3])


def test_large_images_are_averaged_over_blocks():
    images = [np.kron(np.arange(4.0).reshape(2, 2) * k, np.ones((50, 40)))[..., None] for k in (1, 2, 3)]
    found = ImageExplainer(lambda images: images.mean(axis=(1, 2, 3)), progress=False).prototypes(images, 1)
    assert found.prototypes.tolist() == [1]


@pytest.mark.parametrize("kind", ["auto", "scree", "map", "errors"])
def test_charts_of_texts(texts, kind):
    assert texts.plot(kind=kind).spec


def test_charts_of_images(digits):
    ex, images, y = digits
    found = ex.prototypes(images, 3, y=y)
    drawn = str(found.plot().spec)
    assert drawn.count("data:image/png") >= 3
    assert str(ex.neighbors(0, images, 2).plot().spec).count("data:image/png") >= 4
    with pytest.raises(pellucid.InputError, match="kind='gallery'"):
        found.plot(kind="table")


def test_sentences(texts, digits, golden):
    golden("prototypes", "texts", texts.text())
    golden("prototypes", "neighbours of a text", explained().neighbors("a nice song", TEXTS, 2, y=Y).text())
    ex, images, y = digits
    golden("prototypes", "images", masked(ex.prototypes(images, 3, y=y, criticisms=1).text()))


def test_errors_name_the_argument(digits):
    ex, images, _ = digits
    with pytest.raises(pellucid.InputError, match="texts= has no texts"):
        explained().prototypes([])
    with pytest.raises(pellucid.InputError, match="text must be"):
        explained().neighbors(99, TEXTS)
    with pytest.raises(pellucid.InputError, match="features must be"):
        explained().prototypes(TEXTS, features="embedding")
    with pytest.raises(pellucid.InputError, match="features returned"):
        explained().prototypes(TEXTS, features=lambda texts: [1.0])
    with pytest.raises(pellucid.InputError, match="different shapes"):
        ex.prototypes([images[0], images[0][:4]])
    with pytest.raises(pellucid.InputError, match="several images"):
        ex.prototypes(images[0])
    with pytest.raises(pellucid.InputError, match="n must be"):
        ex.prototypes(images, 0)
