"""Word importance over many texts: closed forms, a slow twin, what it warns of, and what every result can do."""

import json
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from golden_files import masked, titles
from pellucid.charts import draw
from pellucid.errors import InputError
from pellucid.parts.importance import WordEffort
from pellucid.parts.importance_chart import word_data
from pellucid.parts.text_explainer import TextExplainer

WEIGHTS = {"free": 2.0, "song": -1.0, "phone": 0.5, "the": 0.0}
TEXTS = [
    "Free phone!",
    "the free song",
    "nice song",
    "free, free, FREE!",
    "the phone",
    "song free the phone",
    "(phone)",
]


def presence(texts):
    """A linear model of which words are there, however often."""
    return [0.25 + sum(weight for word, weight in WEIGHTS.items() if word in text.lower()) for text in texts]


def context(texts):
    """ "not" turns "good" around, and "!" counts with everything."""
    found = []
    for text in texts:
        words = text.split()
        found.append((-3.0 if "not" in words else 1.0) * words.count("good") * (1 + text.count("!")) + 0.1 * len(words))
    return found


def quiet(f, **options):
    return TextExplainer(f, progress=False, **options)


def by_word(found, field="values"):
    return dict(zip(found.feature_names, getattr(found, field), strict=True))


# -- values ------------------------------------------------------------------------------------------


def test_a_linear_model_of_words_has_its_weights():
    """However often a word is in a text, its occurrences share the weight, and no text differs from another."""
    found = quiet(presence).importance(TEXTS)
    for word, weight in WEIGHTS.items():
        assert by_word(found)[word] == pytest.approx(abs(weight), abs=1e-12)
        assert by_word(found, "mean")[word] == pytest.approx(weight, abs=1e-12)
        assert by_word(found, "se")[word] == pytest.approx(0.0, abs=1e-12)
        assert by_word(found, "opposite")[word] == 0.0
    assert found.top(3) == ["free", "song", "phone"]
    assert (by_word(found, "texts")["free"], by_word(found, "occurrences")["free"]) == (4, 6)
    assert found.caveats == ()


def slow_importance(texts):
    """For each word the contributions to the texts that contain it: mean gains over all orders, occurrences summed."""
    seen = {}
    for text in texts:
        tokens = text.split()
        phi = np.zeros(len(tokens))
        orders = list(permutations(range(len(tokens))))
        for order in orders:
            there = set()
            for i in order:
                before = context([" ".join(tokens[k] for k in sorted(there))])[0]
                there.add(i)
                phi[i] += context([" ".join(tokens[k] for k in sorted(there))])[0] - before
        for word in {token.strip("!").lower() for token in tokens}:
            of_word = [p for p, token in zip(phi, tokens, strict=True) if token.strip("!").lower() == word]
            seen.setdefault(word, []).append(sum(of_word) / len(orders))
    return {word: np.array(values) for word, values in seen.items()}


def test_means_and_intervals_are_those_over_the_texts_that_contain_the_word():
    texts = ["not good today", "good film!", "good good plot", "not bad", "a good film", "a film", "Not good, good"]
    texts = [text.replace(",", "") for text in texts]
    found, slow = quiet(context).importance(texts, min_texts=2), slow_importance(texts)
    assert set(found.feature_names) == set(slow)
    for j, word in enumerate(found.feature_names):
        values, n = slow[word], len(slow[word])
        assert found.texts[j] == n
        assert found.values[j] == pytest.approx(np.abs(values).mean())
        assert found.mean[j] == pytest.approx(values.mean())
        assert found.opposite[j] == pytest.approx(np.mean(values * np.sign(values.mean()) < -1e-9))
        if n == 1:
            assert np.isnan([found.se[j], found.low[j], found.mean_high[j]]).all()
            continue
        assert found.se[j] == pytest.approx(stats.sem(np.abs(values)))
        half = stats.t.ppf(0.975, n - 1) * stats.sem(values)
        assert found.mean_low[j] == pytest.approx(values.mean() - half)
        assert found.mean_high[j] == pytest.approx(values.mean() + half)
        assert found.low[j] >= 0.0


def test_intervals_cover_the_mean_over_all_texts():
    """Texts of five words of which each is there with chance one half; the model has products of pairs."""
    rng = np.random.default_rng(0)

    def model(texts):
        return [text.count("a") * (1 + 2 * text.count("b")) + text.count("c") for text in texts]

    def drawn(n):
        kept = rng.random((n, 5)) < 0.5
        return [" ".join(word for word, there in zip("abcde", row, strict=True) if there) or "e" for row in kept]

    truth = by_word(quiet(model, checks=False).importance(drawn(4000), sample=None))["a"]
    hits = 0
    for _ in range(60):
        found = quiet(model, checks=False).importance(drawn(60))
        j = found.feature_names.index("a")
        hits += bool(found.low[j] <= truth <= found.high[j])
    assert hits >= 53  # 57 expected; 53 or fewer with a chance of 5%


def test_words_are_folded_unless_told():
    folded = quiet(presence).importance(["Free phone!", "free phone"])
    assert set(folded.feature_names) == {"free", "phone"}
    plain = quiet(presence).importance(["Free phone!", "free phone"], fold=False)
    assert set(plain.feature_names) == {"Free", "free", "phone", "phone!"}


def test_an_own_tokenizer_says_what_a_word_is(golden):
    found = quiet(presence, tokenizer=r"\w+|!").importance(["free phone!", "free!", "free song!"])
    assert "!" in found.feature_names
    assert "token" in found.columns()
    golden("text", "word importance: own tokens", found.text())


def test_the_same_text_twice_is_asked_once_and_counts_twice():
    once, twice = quiet(presence).importance(["free song"]), quiet(presence).importance(["free song"] * 2)
    assert twice.cost.model_rows == once.cost.model_rows
    assert (once.explained, twice.explained) == (1, 2)
    assert by_word(twice, "texts")["free"] == 2


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads():
    texts = [" ".join(f"w{k}" for k in range(i, i + 20)) for i in range(8)]

    def waves(given):
        return [np.sin(len(text)) for text in given]

    first = quiet(waves, random_state=1).importance(texts, sample=5)
    assert first.explained == 5
    for other in (quiet(waves, random_state=1), quiet(waves, random_state=1, n_jobs=2, batch=7)):
        np.testing.assert_array_equal(other.importance(texts, sample=5).values, first.values)
    other = quiet(waves, random_state=2).importance(texts, sample=5)
    assert by_word(other, "texts") != by_word(first, "texts")


# -- ranks and cost ----------------------------------------------------------------------------------


def test_a_word_of_one_text_is_not_ranked_first():
    def shout(texts):
        return [9.0 * ("once" in text) + 1.0 * ("often" in text) for text in texts]

    found = quiet(shout).importance(["once often", "often", "often here", "here"])
    assert found.top(3) == ["often", "here"]
    assert found.feature_names[found.ranking[-1]] == "once"
    assert by_word(found)["once"] == 9.0
    assert found.columns()["ranked"].tolist() == [True, True, False]
    assert quiet(shout).importance(["once often", "often"], min_texts=1).top(1) == ["once"]


@pytest.mark.parametrize(("texts", "least"), [(1, 1), (2, 2), (19, 2), (30, 3), (49, 4), (50, 5), (9999, 5)])
def test_in_how_many_texts_a_word_has_to_be(texts, least):
    assert WordEffort().least(texts) == least


def test_each_text_has_a_budget():
    long = " ".join(f"w{k}" for k in range(40))
    assert quiet(presence, checks=False).importance([long], budget=100).cost.model_rows <= 102
    assert 700 < quiet(presence, checks=False).importance([long]).cost.model_rows <= 802
    assert [WordEffort().rows(n) for n in (0, 1, 3, 9, 12, 40)] == [0, 0, 6, 256, 256, 800]
    assert [WordEffort(10).rows(n) for n in (3, 12, 40)] == [6, 32, 80]


def test_progress_counts_to_the_end():
    steps = []
    TextExplainer(presence, progress=lambda done, total: steps.append((done, total))).importance(TEXTS)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1] == steps[0][1]


def test_an_interruption_keeps_the_texts_that_are_known():
    calls = []

    def impatient(texts):
        calls.append(texts)
        if any("stop" in text for text in texts):
            raise KeyboardInterrupt
        return presence(texts)

    found = quiet(impatient).importance(["free song", "free phone", "stop it", "the song"])
    assert found.explained == 2
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    with pytest.raises(KeyboardInterrupt):
        quiet(impatient).importance(["stop it", "free song"])


# -- caveats -----------------------------------------------------------------------------------------


def caveat(found, code):
    return next((each for each in found.caveats if each.code == code), None)


def test_words_that_turn_around_are_named(golden):
    texts = ["not good", "good film", "good plot", "not a good plot", "good", "not really good"]
    found = quiet(context).importance(texts, min_texts=2)
    flips = caveat(found, "sign-flips")
    assert flips.feature == "good"
    assert flips.value == pytest.approx(0.5, abs=0.01)
    golden("text", "word importance: signs that depend on the context", found.text())
    assert caveat(quiet(presence).importance(TEXTS), "sign-flips") is None


def test_noise_is_no_importance_and_no_change_of_sign():
    texts = [" ".join(f"w{(7 * i + k) % 30}" for k in range(25)) for i in range(12)]

    def waves(given):
        return [np.sin(5.0 * len(text)) for text in given]

    rough = quiet(waves).importance(texts, budget=60)
    assert caveat(rough, "sampling-error").value > 0.3
    assert caveat(quiet(presence).importance(texts), "sampling-error") is None


def test_rare_words_that_matter_are_said():
    def long_words(texts):
        return [sum(len(word) > 4 for word in text.split()) for text in texts]

    texts = [f"the {word} a b" for word in ("apples", "berries", "cherries", "damsons", "the", "the", "the")]
    rare = caveat(quiet(long_words).importance(texts), "rare-words")
    assert rare.value == pytest.approx(1.0)
    assert caveat(quiet(presence).importance(TEXTS), "rare-words") is None


def test_long_texts_are_left_out_and_said():
    found = quiet(presence).importance(["free song", "free phone", "free " * 20], most=10)
    assert found.explained == 2
    assert caveat(found, "long-texts").value == pytest.approx(1 / 3)


def test_a_model_that_contradicts_itself_is_unsteady():
    rng = np.random.default_rng(0)
    found = quiet(lambda texts: rng.random(len(texts))).importance(["free song", "free phone"])
    assert caveat(found, "unsteady-model") is not None
    assert quiet(lambda texts: rng.random(len(texts)), checks=False).importance(["free song"]).caveats == ()


# -- several outputs, words, tables, charts ------------------------------------------------------------


def three(texts):
    """Three classes; "film" speaks for the first, "song" for the second."""
    scores = np.array([[2.0 * ("film" in t), 1.0 * ("song" in t), 0.5] for t in texts])
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def test_several_classes(golden):
    texts = ["a film", "a song", "film and song", "nothing", "a film and a song", "and so"]
    found = quiet(three, class_names=["films", "songs", "other"]).importance(texts)
    assert found.values.shape == (len(found.feature_names), 3)
    films = found.for_output("films")
    assert films.values.ndim == 1
    assert by_word(films, "mean")["film"] > 0 > by_word(films, "mean")["song"]
    columns = found.columns()
    assert len(columns["word"]) == 3 * len(found.feature_names) == len(columns["output"])
    np.testing.assert_array_equal(columns["importance"][: len(found.feature_names)], films.values[found.ranking])
    golden("text", "word importance: three classes", found.text())
    with pytest.raises(InputError, match="did you mean 'films'"):
        found.for_output("film")


def test_the_table_can_be_read_without_the_result():
    found = quiet(presence).importance(TEXTS)
    frame = found.frame()
    assert frame["word"].tolist()[:2] == ["free", "song"]
    row = frame.iloc[0]
    assert row["overall"] == pytest.approx(row["importance"] * row["texts"] / len(TEXTS))


def test_it_is_saved_and_read_back(tmp_path):
    found = quiet(presence).importance(TEXTS)
    assert pellucid.load(found.save(tmp_path / "words.json")) == found


def test_bars_are_the_two_sides_of_the_mean(golden):
    texts = ["not good", "good film", "good plot", "not a good plot", "good", "not really good"]
    found = quiet(context).importance(texts, min_texts=2)
    for row, j in zip(word_data(found, "prediction", [0, 1]), [0, 1], strict=True):
        assert row["up"] - row["down"] == pytest.approx(found.values[j])
        assert row["up"] + row["down"] == pytest.approx(found.mean[j])
        assert row["down"] <= 0 <= row["up"]
    golden("charts", "word importance", titles(draw(found).spec))


def test_charts_hold_as_many_words_and_classes_as_asked_for(tmp_path, golden):
    texts = ["a film", "a song", "film and song", "nothing", "a film and a song", "and so"]
    found = quiet(three, class_names=["films", "songs", "other"]).importance(texts)
    chart = draw(found, max_display=2, panels=2)
    assert len(chart.spec["concat"]) == 2
    json.dumps(chart.spec, allow_nan=False)
    assert chart.save(tmp_path / "words.png").stat().st_size > 2000
    golden("charts", "word importance, two of three classes", titles(chart.spec))


def test_nothing_to_draw_is_said():
    with pytest.raises(InputError, match="min_texts=5"):
        draw(quiet(presence).importance(["free"], min_texts=5))


@pytest.mark.parametrize(("texts", "named"), [([], "texts"), ([3], "text 0"), (3, "text"), (["", "  "], "no word")])
def test_what_cannot_be_explained_is_refused(texts, named):
    with pytest.raises(InputError, match=named):
        quiet(presence).importance(texts)


def test_texts_that_are_all_too_long_are_refused():
    with pytest.raises(InputError, match="most=3"):
        quiet(presence).importance(["one two three four"], most=3)


# -- real comments -------------------------------------------------------------------------------------


def test_log_odds_of_spam_are_the_coefficients_of_words(spam):
    """In a linear model of word presence a word that is one token brings its coefficient, in every comment."""
    texts, labels = spam
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression(C=0.3)).fit(texts, labels)
    ex = quiet(model, link="logit", checks=False, tokenizer=model[0].token_pattern)
    found = ex.importance([text for text in texts if len(ex.parts(text).tokens) < 9][:150])
    weights = dict(zip(model[0].get_feature_names_out(), model[1].coef_[0], strict=True))
    known = [word for word in found.feature_names if word in weights]
    assert len(known) > 100
    means = by_word(found, "mean")
    np.testing.assert_allclose([means[word] for word in known], [weights[word] for word in known], atol=1e-9)


def test_words_of_spam_comments(spam, golden):
    texts, labels = spam
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    found = quiet(model, class_names=["comment", "spam"]).importance(
        [text for text in texts if len(text) < 100], sample=80
    )
    assert found.scale == "probability"
    means = by_word(found, "mean")
    assert means["check"] > 0.1
    assert means["song"] < -0.05
    assert {"check", "out"} <= set(found.top(6))
    golden("text", "word importance: spam comments", masked(found.text()))
