"""Local models of words: closed forms, a slow twin, and what every result can do."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from golden_files import masked
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts import variants_chart
from pellucid.parts.lime import draw_parts
from pellucid.parts.options import LocalTextOptions
from pellucid.parts.text_explainer import TextExplainer

EFFECTS = {"buy": 0.3, "now!": -0.2, "cheap": 0.1, "phone": 0.05}
LONG = "buy a cheap phone now! it is here for all of you and your friends in town"


def additive(texts):
    """What the words add, wherever they stand."""
    return np.array([0.2 + sum(EFFECTS.get(word, 0.0) for word in text.split()) for text in texts])


def together(texts):
    """Words that only work together."""
    return np.array([float(("buy" in text.split()) != ("cheap" in text.split())) for text in texts])


def classes(texts):
    p = np.clip(additive(texts), 0.0, 1.0)
    return np.stack([1 - p, p], axis=1)


def content(found):
    plain = encode(found)
    del plain["header"]["cost"]
    return json.dumps(plain)


@pytest.mark.parametrize("sampler", ["count", "coin"])
@pytest.mark.parametrize("text", ["buy cheap phone now!", LONG])
@pytest.mark.parametrize("select", ["auto", "forward", "backward", "lasso"])
def test_a_model_that_adds_up_gives_its_effects(text, sampler, select):
    found = TextExplainer(additive).lime(text, sampler=sampler, select=select)
    np.testing.assert_allclose(found.values[0], [EFFECTS.get(word, 0.0) for word in text.split()], atol=1e-8)
    assert float(found.base) == pytest.approx(0.2)
    assert found.fidelity[0] == pytest.approx(1.0)
    assert found.local_prediction[0] == pytest.approx(found.prediction[0])


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.sampled_from(["buy", "cheap", "now!", "it", "a", "phone"]), min_size=2, max_size=6), st.integers(0, 99)
)
def test_weights_are_those_of_weighted_least_squares_on_all_variants(tokens, salt):
    """A twin that asks for every variant and solves the weighted normal equations of all words."""

    def bent(texts):
        return np.array([np.sin(salt + len(text) + 3 * text.count("buy")) for text in texts])

    text = " ".join(tokens)
    found = TextExplainer(bent, checks=False).lime(text, features=len(tokens), select="all")
    n = len(tokens)
    there = np.array([[i >> j & 1 for j in range(n)] for i in range(2**n)], dtype=float)
    said = bent([" ".join(word for word, z in zip(tokens, row, strict=True) if z) for row in there])
    root = np.sqrt(there.mean(axis=1))
    design = np.concatenate([np.ones((2**n, 1)), there], axis=1)
    solution = np.linalg.lstsq(design * root[:, None], said * root, rcond=None)[0]
    np.testing.assert_allclose(found.local_prediction[0], solution.sum(), atol=1e-6)
    np.testing.assert_allclose(found.values[0], solution[1:], atol=1e-6)
    assert not found.se.any()


def test_only_so_many_words_get_a_weight():
    for k in (1, 2, 3):
        for select in ("auto", "forward", "backward", "lasso"):
            found = TextExplainer(additive).lime(LONG, features=k, select=select)
            assert (found.values != 0).sum() == k
            assert set(found.selected[0]) == set(("buy", "now!", "cheap")[:k])


def test_weights_of_variants_are_the_share_of_words_that_are_there():
    found = TextExplainer(additive).lime("buy cheap phone now!")
    np.testing.assert_allclose(found.counts, found.there.mean(axis=1))
    np.testing.assert_allclose(found.answers, 0.2 + found.there @ [0.3, 0.1, 0.05, -0.2])
    assert len(found.there) == 16
    assert len(np.unique(found.there, axis=0)) == 16
    table = found.variants
    assert list(table.columns) == ["buy", "cheap", "phone", "now!", "prediction", "weight"]
    assert table["weight"].is_monotonic_decreasing
    assert table.iloc[0].tolist() == [1, 1, 1, 1, pytest.approx(0.45), 1]


def test_words_named_like_the_columns_of_the_table_stay_apart():
    table = TextExplainer(additive).lime("weight of a prediction").variants
    assert len(set(table.columns)) == 6


def test_other_kernels_weigh_by_their_distance():
    ex = TextExplainer(additive)
    found = ex.lime("buy cheap phone now!", kernel="exponential")
    share = found.there.mean(axis=1)
    assert found.width[0] == 0.25
    np.testing.assert_allclose(found.counts, np.exp(-(((1 - np.sqrt(share)) / 0.25) ** 2)))
    found = ex.lime("buy cheap phone now!", kernel="exponential", distance="euclidean", width=0.5)
    np.testing.assert_allclose(found.counts, np.exp(-(1 - share) / 0.25))
    found = ex.lime("buy cheap phone now!", width=0.5)
    np.testing.assert_allclose(found.counts, share**2)
    found = ex.lime("buy cheap phone now!", kernel=lambda distance, width: 1.0 - 0.5 * distance / width, width=1.0)
    np.testing.assert_allclose(found.counts, 1 - 0.5 * (1 - np.sqrt(share)))


@pytest.mark.parametrize("kernel", ["share", "exponential"])
def test_the_width_can_be_chosen_and_all_that_were_tried_are_kept(kernel):
    found = TextExplainer(additive).lime(LONG, kernel=kernel, width="auto")
    assert found.width[0] in found.width_search.widths[0]
    assert found.width_search.frame()["chosen"].sum() == 1
    np.testing.assert_allclose(found.values[0][0], 0.3)


def test_all_variants_leave_nothing_to_chance():
    seeds = [TextExplainer(together, random_state=seed).lime("buy a cheap phone") for seed in (0, 1)]
    assert not seeds[0].se.any()
    np.testing.assert_array_equal(seeds[0].values, seeds[1].values)
    assert seeds[0].cost.model_rows == 16
    drawn = TextExplainer(together).lime(LONG)
    assert drawn.se.any()
    assert len(drawn.there) == 1000


def test_errors_of_drawn_variants_are_honest():
    """Over seeds the spread of a weight is what its standard error says."""
    bent = lambda texts: np.array([np.tanh(additive([text])[0] * 3) for text in texts])  # noqa: E731
    runs = [TextExplainer(bent, random_state=seed, checks=False).lime(LONG, features=4) for seed in range(25)]
    values, errors = (np.array([getattr(one, name)[0, 0] for one in runs]) for name in ("values", "se"))
    assert 0.5 < values.std(ddof=1) / errors.mean() < 2


@pytest.mark.parametrize("sampler", ["count", "coin"])
def test_draws_have_their_distribution(sampler):
    there = draw_parts(np.random.default_rng(0), 40_000, 5, sampler)
    np.testing.assert_allclose(there.mean(axis=0), 0.5, atol=0.01)
    expected = np.full(6, 1 / 6) if sampler == "count" else np.array([1, 5, 10, 10, 5, 1]) / 32
    np.testing.assert_allclose(np.bincount(there.sum(axis=1)) / 40_000, expected, atol=0.01)


def test_a_logistic_model_of_probabilities_is_on_log_odds():
    def odds(texts):
        p = 1 / (1 + np.exp(-(np.array([2.0 * ("buy" in text) - 1.0 * ("now!" in text) for text in texts]) - 0.5)))
        return np.stack([1 - p, p], axis=1)

    found = TextExplainer(odds, class_names=("ham", "spam")).lime("buy it now!", model="logistic")
    np.testing.assert_allclose(found.values[0], [2, 0, -1], atol=1e-4)
    assert float(found.base) == pytest.approx(-0.5, abs=1e-4)
    assert found.scale == "log-odds"
    assert not found.se.any()
    assert found.prediction[0] == pytest.approx(0.5)
    np.testing.assert_allclose(found.answers[-1], 1 / (1 + np.exp(-0.5)))
    other = found.for_output("ham")
    np.testing.assert_allclose(other.values, -found.values)
    np.testing.assert_allclose(other.answers, 1 - found.answers)


@pytest.mark.parametrize("model", ["ridge", "lasso", "tree"])
def test_other_models_find_the_same_words(model):
    found = TextExplainer(additive).lime(LONG, model=model, features=2)
    assert set(found.selected[0]) == {"buy", "now!"}
    np.testing.assert_allclose(found.base + found.values.sum(), found.local_prediction[0])


def test_every_class_has_a_local_model():
    def three(texts):
        p = np.array([[0.2, 0.3 * ("buy" in text), 0.1 + 0.2 * ("now!" in text)] for text in texts])
        return np.concatenate([p, 1 - p.sum(axis=1, keepdims=True)], axis=1)

    found = TextExplainer(three, class_names=("a", "b", "c", "d")).lime("buy it now!")
    assert found.values.shape == (1, 3, 4)
    np.testing.assert_allclose(found.for_output("b").values[0], [0.3, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.for_output("d").values[0], [-0.3, 0, -0.2], atol=1e-9)
    assert "prediction d" in found.variants.columns


@pytest.mark.parametrize("text", ["", "  ", "buy", "buy buy", "사과 를 먹다", "买 now!"])
def test_texts_of_any_kind(text):
    found = TextExplainer(additive).lime(text)
    assert found.values.shape == (1, len(found.players))
    np.testing.assert_allclose(found.local_prediction, found.prediction, atol=1e-9)
    np.testing.assert_allclose(found.values[0], [EFFECTS.get(token, 0.0) for token in found.tokens], atol=1e-8)
    assert found.text()


def test_long_texts_are_joined_to_phrases_and_say_so(golden):
    found = TextExplainer(additive).lime("buy it now! then go. " * 60)
    assert found.unit == "phrase"
    assert len(found.players) <= 60
    golden("text", "local model, words joined to phrases", masked(found.text().splitlines()[-1]))


def test_the_callers_own_variants_are_used_as_they_are(golden):
    own = [[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    found = TextExplainer(additive).lime("buy it now!", samples=own)
    np.testing.assert_array_equal(found.there, np.array(own, dtype=bool))
    np.testing.assert_allclose(found.values[0], [0.3, 0, -0.2], atol=1e-9)
    golden("text", "local model, given variants", masked(found.text()))


def test_a_tolerance_adds_variants_until_the_words_are_stable(golden):
    hard = lambda texts: np.array([len(text) % 7 + ("buy" in text) for text in texts], dtype=float)  # noqa: E731
    plain = TextExplainer(hard, checks=False).lime(LONG, samples=200)
    found = TextExplainer(hard, checks=False).lime(LONG, samples=200, tolerance=0.1)
    assert float(plain.stability[0]) < 0.9
    assert len(found.there) > len(plain.there)
    assert float(found.stability[0]) >= 0.9 or len(found.there) == 16 * len(plain.there)
    said = next(line for line in found.text().splitlines() if f" {100 * float(found.stability[0]):.0f}% " in line)
    golden("text", "local model, stability", masked(said))


def test_the_only_row_keeps_its_variants():
    found = TextExplainer(additive).lime("buy cheap phone now!")
    one = found.row(0)
    assert len(one.variants) == len(found.variants) == 16
    assert one.text() == found.text()
    with pytest.raises(InputError, match="row must be"):
        found.row(1)


def test_a_starting_point_of_nothing_is_zero(golden):
    """A text of one word, of which a model counts the letters: without it there are none."""
    found = TextExplainer(lambda texts: np.array([len(text) for text in texts], dtype=float)).lime("hello")
    assert (float(found.base), float(found.values[0, 0])) == (0.0, pytest.approx(5.0))
    golden("text", "local model, one word", masked(found.text()))


def test_same_seed_same_bytes_whatever_the_batches_and_threads():
    first = TextExplainer(together, random_state=3).lime(LONG)
    assert content(first) == content(TextExplainer(together, random_state=3, batch=7, n_jobs=2).lime(LONG))
    assert content(first) != content(TextExplainer(together, random_state=4).lime(LONG))


def test_words_that_only_work_together_are_reported():
    found = TextExplainer(together).lime("buy a cheap phone")
    assert "low-fidelity" in {caveat.code for caveat in found.caveats}
    said = str(found)
    assert "row" not in said
    assert "chosen features" not in said
    assert not TextExplainer(additive).lime("buy a cheap phone").caveats
    assert not TextExplainer(together, checks=False).lime("buy a cheap phone").caveats


def test_too_few_variants_are_reported():
    rng = np.random.default_rng(0)
    noise = {}
    noisy = lambda texts: np.array([noise.setdefault(text, rng.normal()) for text in texts])  # noqa: E731
    found = TextExplainer(noisy).lime(LONG, samples=100)
    assert "unstable" in {caveat.code for caveat in found.caveats}


def test_an_interrupted_run_gives_what_is_known():
    asked = []

    def slow(texts):
        asked.append(len(texts))
        if len(asked) > 4:
            raise KeyboardInterrupt
        return additive(texts)

    found = TextExplainer(slow).lime(LONG)
    assert 100 <= len(found.there) < 1000
    assert found.caveats[0].code == "partial"
    np.testing.assert_allclose(found.values[0][0], 0.3)


def test_a_list_of_texts_gives_a_list_of_results():
    found = TextExplainer(additive).lime(["buy it", "now!"])
    assert [one.source for one in found] == ["buy it", "now!"]


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    found = TextExplainer(classes, class_names=("ham", "spam")).lime("buy it now!")
    assert pellucid.load(found.save(tmp_path / f"found.{ending}")) == found


def test_views_keep_the_sum():
    found = TextExplainer(additive).lime(LONG)
    few = found.sparse(2)
    np.testing.assert_allclose(few.values.sum(), found.values.sum())
    grouped = found.group({"offer": ["buy", "cheap"]})
    assert grouped.values.sum() == pytest.approx(found.values.sum())
    assert found.at_zero() == found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": 0}, "features must be"),
        ({"samples": 5}, "samples must be"),
        ({"samples": [[1, 0]]}, r"one 0 or 1 for each of the 3 parts"),
        ({"samples": [[0, 1, 0], [0, 1, 0]]}, "the same variant again and again"),
        ({"kernel": lambda distance, width: np.nan * distance}, "return one finite weight"),
        ({"sampler": "con"}, "sampler='con'.*coin"),
        ({"kernel": "shap"}, r"use shap\(\) for Shapley values"),
        ({"distance": "pixels"}, "is for images"),
        ({"width": -1}, "width must be"),
        ({"width": "wide"}, "width must be"),
        ({"model": "logistic"}, "imitates probabilities"),
        ({"tolerance": 2}, "tolerance must be"),
        ({"select": "best"}, "select='best'"),
        ({"by": "letter"}, "by='letter'"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(options, words):
    with pytest.raises(InputError, match=words):
        TextExplainer(additive).lime("buy it now!", **options)


@pytest.mark.parametrize("kind", ["auto", "variants", "effects", "widths", "waterfall", "bar", "force"])
def test_every_picture_is_drawn(kind):
    for f in (additive, together):
        found = TextExplainer(f).lime(LONG)
        assert variants_chart.body(found, LocalTextOptions(kind=kind)).to_dict()


def test_the_table_of_variants_shows_what_was_asked():
    found = TextExplainer(additive).lime(LONG, features=2)
    cells, lines = variants_chart.variant_data(found, 6, 4)
    assert {cell["part"] for cell in cells} == {"buy", "now!"}
    patterns = [tuple(cell["there"] for cell in cells if cell["line"] == row["line"]) for row in lines]
    assert len(set(patterns)) == len(patterns) == 4
    weights = [float(row["weight"]) for row in lines]
    assert weights == sorted(weights, reverse=True)


def test_a_picture_that_adds_up_names_what_the_local_model_misses():
    found = TextExplainer(together).lime("buy a cheap phone")
    whole = variants_chart.adding_up(found)
    assert whole.feature_names[-1] == "not in the local model"
    assert float(whole.base) + whole.values.sum() == pytest.approx(found.prediction[0])
    assert abs(float(whole.values[0, -1])) > 0.1


def test_options_of_pictures_are_checked():
    for options in ({"kind": "variant"}, {"max_rows": 0}, {"panels": 0}, {"kind": "widths", "width": -1}):
        with pytest.raises(InputError, match=re.escape(next(iter(options)) if len(options) == 1 else "width")):
            LocalTextOptions(**options)
