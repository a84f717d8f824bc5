"""Real texts and real models: spam comments, and a language identifier that others trained."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pellucid.parts.text_explainer import TextExplainer


@pytest.fixture(scope="module")
def presence(spam):
    """Log-odds that add up over the words that occur, however often."""
    texts, labels = spam
    return make_pipeline(CountVectorizer(binary=True), LogisticRegression(C=0.3)).fit(texts, labels)


def test_shares_of_present_words_have_a_closed_form(spam, presence):
    """A word that m pieces bring contributes its coefficient once, so each of them has an m-th of it.

    A piece may bring several words ("out-of-date") or none (":)"); the base is the intercept.
    """
    texts, _ = spam
    analyse, vocabulary, coefficients = (presence[0].build_analyzer(), presence[0].vocabulary_, presence[1].coef_[0])
    ex = TextExplainer(presence, link="logit")
    short = [text for text in texts if 3 <= len(ex.parts(text).spans) <= 8][:100]
    several = 0
    for text in short:
        found = ex.shap(text)
        bring = [{vocabulary[word] for word in analyse(token) if word in vocabulary} for token in found.tokens]
        times = np.bincount([j for words in bring for j in words], minlength=len(coefficients))
        several += int((times > 1).any())
        expected = [sum(coefficients[j] / times[j] for j in words) for words in bring]
        np.testing.assert_allclose(found.values[0], expected, atol=1e-9, err_msg=text)
        assert float(found.base) == pytest.approx(presence[1].intercept_[0])
    assert several > 3


def test_estimates_of_long_comments_cover_the_closed_form(spam, presence):
    texts, _ = spam
    ex = TextExplainer(presence, link="logit", checks=False)
    text = next(text for text in texts if 30 <= len(ex.parts(text).spans) <= 60)
    analyse, vocabulary, coefficients = (presence[0].build_analyzer(), presence[0].vocabulary_, presence[1].coef_[0])
    found = ex.shap(text)
    assert found.method == "kernel"
    bring = [{vocabulary[word] for word in analyse(token) if word in vocabulary} for token in found.tokens]
    times = np.bincount([j for words in bring for j in words], minlength=len(coefficients))
    expected = np.array([sum(coefficients[j] / times[j] for j in words) for words in bring])
    assert np.mean(np.abs(found.values[0] - expected) <= 1.96 * found.se[0] + 1e-9) > 0.8
    assert np.abs(found.values[0] - expected).max() < 0.1 * np.abs(expected).max()


def test_a_tfidf_pipeline_is_explained_in_probabilities(spam):
    texts, labels = spam
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    found = TextExplainer(model).shap("Check out my channel and subscribe!")
    assert found.scale == "probability"
    assert found.output_names == ("1",)
    assert found.prediction[0] == model.predict_proba(["Check out my channel and subscribe!"])[0, 1]
    assert float(found.base) == model.predict_proba([""])[0, 1]
    assert abs(float(found.residual[0])) < 1e-12
    assert set(found.top(3)) == {"Check", "out", "subscribe!"}


def test_a_forest_of_words(spam):
    texts, labels = spam
    forest = RandomForestClassifier(20, random_state=0, n_jobs=1)
    model = make_pipeline(CountVectorizer(max_features=200), forest).fit(texts, labels)
    found = TextExplainer(model, class_names=["comment", "spam"]).shap(
        "please subscribe to my channel, i love this song"
    )
    assert found.output_names == ("spam",)
    assert abs(float(found.residual[0])) < 1e-12
    by_name = dict(zip(found.feature_names, found.values[0], strict=True))
    assert by_name["subscribe"] > 0 > by_name["song"]


# -- a model from elsewhere ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def identify():
    langid = pytest.importorskip("py3langid.langid", reason="py3langid, a language identifier, is not installed")
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    names = sorted(str(name) for name in identifier.labels)

    def probabilities(texts):
        found = [dict(identifier.rank(text)) for text in texts]
        return np.array([[float(each[name]) for name in names] for each in found])

    return probabilities, names


def test_a_language_identifier_of_97_languages(identify):
    f, names = identify
    text = "Der schnelle braune Fuchs jumps over the lazy dog"
    found = TextExplainer(f, class_names=names).shap(text)
    assert found.values.shape == (1, 9, len(names))
    assert np.abs(found.residual).max() < 1e-9
    german, english = found.for_output("de"), found.for_output("en")
    assert german.values[0, :4].sum() > 0 > german.values[0, 4:].sum()
    assert english.values[0, 4:].sum() > 0 > english.values[0, :4].sum()
    assert "probability of" in found.text()


@pytest.mark.parametrize(
    ("text", "language"),
    [("오늘 날씨가 정말 좋네요", "ko"), ("私は東京でラーメンを食べました", "ja"), ("Привет, как дела сегодня?", "ru")],
)
def test_scripts_reach_the_model_as_they_are(identify, text, language):
    f, names = identify
    found = TextExplainer(f, class_names=names, output=language).shap(text)
    assert found.output_names == (language,)
    assert found.prediction[0] == f([text])[0, names.index(language)]
    assert found.prediction[0] > 0.4
    assert found.values.sum() == pytest.approx(found.prediction[0] - float(found.base))
