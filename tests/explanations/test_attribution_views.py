"""Fewer contributions, groups of them, another row or class to compare with: every view adds up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from explanations.test_attribution import attribution, classes
from pellucid.data.rarity import Rarity
from pellucid.explanations.attribution_words import labels_of, sequence
from pellucid.explanations.explanation import changed


def rich(n=6, outputs=1, seed=0):
    """Random contributions of five features with interaction values, errors and rarity."""
    generator = np.random.default_rng(seed)
    last = () if outputs == 1 else (outputs,)
    pairs = generator.normal(size=(n, 5, 5, *last))
    pairs = pairs + np.swapaxes(pairs, 1, 2)
    values = pairs.sum(axis=2)
    base = generator.normal(size=last)
    return attribution(
        values, base=base, prediction=base + values.sum(axis=1), se=generator.random(values.shape),
        interaction_values=pairs, feature_names=tuple("abcde"), members=tuple((c,) for c in "abcde"),
        output_names=("no", "yes")[:outputs] if outputs > 1 else ("yes",),
        data=(generator.random(n), np.array(["x", "y", None] * n, dtype=object)[:n], np.arange(n), np.arange(n) % 2 == 0, np.ones(n)),
        unusual=Rarity(generator.random((n, 5)), np.sign(generator.normal(size=(n, 5)))),
    )  # fmt: skip


def check_adds_up(found):
    np.testing.assert_allclose(found.residual, 0, atol=1e-10)
    if found.interaction_values is not None:
        np.testing.assert_allclose(found.interaction_values.sum(axis=2), found.values, atol=1e-10)
        np.testing.assert_allclose(found.interaction_values, np.swapaxes(found.interaction_values, 1, 2), atol=1e-12)
    assert found.se.shape == found.values.shape
    assert len(found.data) == len(found.feature_names) == len(found.entries.members)
    assert all(len(column) == len(found) for column in found.data)


VIEWS = {
    "sparse": lambda found: found.sparse(2),
    "group": lambda found: found.group({"g": ["a", "d"], "h": ["c"]}),
    "contrast": lambda found: found.contrast(1),
    "contrast, group, sparse": lambda found: found.contrast(1).group({"g": ["b", "c"]}).sparse(1),
    "group, contrast": lambda found: found.group({"g": ["b", "c"]}).contrast(0),
    "row": lambda found: found.contrast(2).sparse(3).row(1),
    "output": lambda found: found.sparse(3).for_output("yes"),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("outputs", [1, 2])
def test_every_view_adds_up_and_comes_back_from_a_file(view, outputs, tmp_path):
    before = rich(outputs=outputs)
    found = VIEWS[view](before)
    check_adds_up(found)
    assert before == rich(outputs=outputs)
    back = pellucid.load(found.save(tmp_path / "why.json"))
    assert back == found
    assert back.text() == found.text()
    assert found.plot().spec["title"]


# -- sparse ------------------------------------------------------------------------------------------


def test_sparse_keeps_the_largest_and_says_what_is_hidden(golden):
    found = attribution([[1.0, -4.0, 0.5], [0.0, 3.0, 1.5]]).sparse(1)
    assert found.feature_names == ("season", "2 others")
    np.testing.assert_allclose(found.values, [[-4.0, 1.5], [3.0, 1.5]])
    np.testing.assert_allclose(found.entries.hidden, [1.5 / 5.5, 1.5 / 4.5])
    golden("attribution", "several rows, sparse", found.text())
    golden("attribution", "one row, sparse", found.row(0).text())
    assert labels_of(found.row(0), 0) == ["season = fall", "2 others"]
    assert found.entries.members[1] == ("temp", "day")
    assert found.settings["sparse"] == 1


def test_sparse_of_one_row_is_about_that_row():
    values = [[5.0, 1.0, 0.1], [0.0, 1.0, 9.0]]
    assert attribution(values).row(0).sparse(1).feature_names[0] == "temp"
    assert attribution(values).row(1).sparse(1).feature_names[0] == "day"


def test_contributions_that_cancel_are_hidden_all_the_same():
    found = attribution([[5.0, 3.0, -3.0]], data=attribution().row(0).data).sparse(1)
    assert found.values[0, 1] == 0.0
    assert found.entries.hidden[0] == pytest.approx(6 / 11)


def test_the_others_are_never_ranked_before_a_feature():
    found = attribution([[5.0, 4.0, 4.0]], data=attribution().row(0).data).sparse(1)
    assert found.top(2) == ["temp", "2 others"]
    assert found.values[0, 1] == 8.0


def test_nothing_to_hide():
    found = attribution()
    assert found.sparse(3) is found
    assert found.sparse(2).feature_names[-1] == "1 other"


def test_names_stay_different():
    found = attribution(feature_names=("temp", "season", "2 others")).sparse(1)
    assert len(set(found.feature_names)) == 2
    found = attribution([[0.0, 1.0, 9.0]] * 2, feature_names=("temp", "season", "2 others")).sparse(1)
    assert found.feature_names == ("2 others", "2 others\u2032")


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_how_sparse(k):
    with pytest.raises(pellucid.InputError, match="k must"):
        attribution().sparse(k)


@pytest.mark.parametrize("then", [lambda a: a.sparse(1), lambda a: a.group({"g": ["b"]}), lambda a: a.contrast(0)])
def test_sparse_is_the_last_step(then):
    with pytest.raises(pellucid.InputError, match=r"make sparse\(\) the last step"):
        then(rich().sparse(2))


@given(st.integers(1, 4), st.integers(0, 50))
def test_hidden_is_the_share_of_the_features_left_out(k, seed):
    full = rich(seed=seed)
    found = full.sparse(k)
    left = [j for j, name in enumerate(full.feature_names) if name not in found.feature_names]
    sizes = np.abs(full.values)
    np.testing.assert_allclose(found.entries.hidden, sizes[:, left].sum(axis=1) / sizes.sum(axis=1))
    np.testing.assert_allclose(found.values[:, -1], full.values[:, left].sum(axis=1))


# -- group -------------------------------------------------------------------------------------------


def test_groups_are_sums():
    full = rich()
    found, rare = full.group({"both": ["b", "d"]}), full.entries.rarity.share
    assert found.feature_names == ("a", "both", "c", "e")
    np.testing.assert_allclose(found.values[:, 1], full.values[:, 1] + full.values[:, 3])
    np.testing.assert_allclose(found.se[:, 1], full.se[:, 1] + full.se[:, 3])
    np.testing.assert_array_equal(found.values[:, 2], full.values[:, 2])
    np.testing.assert_allclose(found.entries.rarity.share[:, 1], np.minimum(rare[:, 1], rare[:, 3]))
    assert (found.entries.rarity.side[:, 1] == 0).all()
    pairs = full.interaction_values[:, [1, 3]]
    np.testing.assert_allclose(found.interaction_values[:, 1, 1], pairs[:, :, [1, 3]].sum(axis=(1, 2)))
    np.testing.assert_allclose(found.interaction_values[:, 1, 2], pairs[:, :, 2].sum(axis=1))
    assert found.entries.members[1] == ("b", "d")
    assert labels_of(found, 0)[1] == "both: b = x, d = yes"


def test_a_sum_is_not_one_player_and_says_so(golden):
    text = attribution().group({"when": ["season", "day"]}).row(0).text()
    golden("attribution", "one row, grouped afterwards", text)
    assert "Explainer(groups=...)" in text


def test_groups_of_groups():
    found = rich().group({"g": ["a", "b"]}).group({"h": ["g", "c"]})
    assert found.feature_names == ("h", "d", "e")
    assert found.entries.members[0] == ("a", "b", "c")
    np.testing.assert_allclose(found.values[:, 0], rich().values[:, :3].sum(axis=1))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["tmep"]}, "'tmep'.*'temp'"),
        ({"g": "temp"}, "'g'.*list"),
        ({"g": []}, "'g'.*list"),
        ({"g": ["temp"], "h": ["temp", "day"]}, "'temp'.*'g' and 'h'"),
        ({"day": ["temp", "season"]}, "'day'.*outside"),
    ],
)
def test_impossible_groups(groups, message):
    with pytest.raises(pellucid.InputError, match=message):
        attribution().group(groups)


# -- contrast ----------------------------------------------------------------------------------------


def test_contrast_leads_from_the_other_prediction():
    full = rich()
    found = full.contrast(2)
    assert float(found.base) == full.prediction[2]
    np.testing.assert_array_equal(found.prediction, full.prediction)
    np.testing.assert_allclose(found.values, full.values - full.values[2])
    np.testing.assert_array_equal(found.values[2], 0)
    np.testing.assert_allclose(found.se, full.se + full.se[2])


def test_contrast_in_words(golden):
    found = attribution().contrast(1).row(0)
    text = found.text()
    golden("attribution", "one row, contrast", text)
    golden("attribution", "one row, contrast, short", found.text("short"))
    assert "average" not in text + found.text("short")
    assert "season = fall (not missing)" in text


def test_equal_values_are_not_contrasted():
    data = (np.array([1.0, 1.0]), np.array(["a", "b"], dtype=object), np.array([3, 4]))
    assert labels_of(attribution(data=data).contrast(1), 0) == ["temp = 1", "season = a (not b)", "day = 3 (not 4)"]


@given(st.integers(0, 5), st.integers(0, 5))
def test_the_last_contrast_counts(first, second):
    once, twice = rich().contrast(second), rich().contrast(first).contrast(second)
    np.testing.assert_allclose(twice.values, once.values, atol=1e-12)
    assert (twice.base, twice.reference) == (once.base, once.reference)


def test_contrast_with_a_row_that_is_not_there():
    with pytest.raises(pellucid.InputError, match=r"row .*0 to 1.*9"):
        attribution().contrast(9)


# -- the other class ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "at"), [("probability", 1.0), ("log-odds", 0.0)])
def test_the_other_class_is_the_mirror_image(scale, at):
    full = changed(rich(), scale=scale, settings={"classes": ["no", "yes"]})
    found = full.for_output("no")
    check_adds_up(found)
    assert found.output_names == ("no",)
    np.testing.assert_array_equal(found.values, -full.values)
    np.testing.assert_allclose(found.prediction, at - full.prediction)
    np.testing.assert_allclose(found.base, at - full.base)
    np.testing.assert_array_equal(found.se, full.se)
    again = found.for_output("yes")
    np.testing.assert_allclose(again.prediction, full.prediction)
    np.testing.assert_array_equal(again.values, full.values)


@pytest.mark.parametrize(
    "more",
    [
        {"scale": "score", "settings": {"classes": ["no", "yes"]}},
        {"scale": "response", "settings": {"classes": ["no", "yes"]}},
        {"scale": "probability", "settings": {}},
        {"scale": "probability", "settings": {"classes": ["no", "perhaps", "yes"]}},
        {"scale": "probability", "settings": {"classes": ["no", "perhaps"]}},
    ],
)
def test_no_mirror_where_it_would_be_a_guess(more):
    with pytest.raises(pellucid.InputError, match="there is no output 'no'"):
        changed(rich(), **more).for_output("no")


def test_several_outputs_have_no_mirror():
    with pytest.raises(pellucid.InputError, match="there is no output 'perhaps'"):
        changed(classes(), settings={"classes": ["perhaps", "yes"]}).for_output("perhaps")


# -- interval ----------------------------------------------------------------------------------------


def test_interval():
    full = rich()
    low, high = full.interval()
    np.testing.assert_allclose(high - full.values, 1.959963984540054 * full.se)
    np.testing.assert_allclose(full.values - low, high - full.values)
    wider = full.interval(0.99)
    assert (wider[0] < low).all()
    exact = attribution().interval()
    np.testing.assert_array_equal(exact[0], exact[1])


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, True, "0.9"])
def test_impossible_level(level):
    with pytest.raises(pellucid.InputError, match="between 0 and 1"):
        attribution().interval(level)


def test_steps_are_told_in_their_order():
    steps = attribution(
        settings={"method": "breakdown", "order": [["day", "temp", "season"], ["season", "day", "temp"]]}
    )
    assert sequence(steps, 0).tolist() == [2, 0, 1]
    assert steps.row(1).settings["order"] == [["season", "day", "temp"]]
    assert sequence(steps.row(1), 0).tolist() == [1, 2, 0]
    told = steps.row(0).text()
    assert told.index("day = 3") < told.index("temp = 21.5") < told.index("season = fall")
    assert sequence(attribution(), 0).tolist() == [1, 0, 2]


def test_a_sum_is_as_sure_as_what_is_left():
    found = attribution([[5.0, 1.0, 0.5]], se=np.array([[0.1, 2.0, 3.0]]))
    assert found.additivity.relative < 1e-8
    assert found.sparse(1).se.tolist() == [[0.1, 0.1]]
    assert found.group({"two": [*found.feature_names[:2]]}).se.tolist() == [[pytest.approx(2.1), 3.0]]
    unknown = attribution([[5.0, 1.0, 0.5]], se=np.array([[np.nan, 2.0, 3.0]]))
    assert unknown.sparse(1).se[0, 1] == 5.0


def test_errors_of_interactions_follow_the_views():
    rng = np.random.default_rng(0)
    pairs, errors = rng.normal(size=(2, 2, 3, 3))
    found = attribution(interaction_values=pairs, interaction_se=np.abs(errors))
    assert found.row(1).interactions.se.shape == (1, 3, 3)
    grouped = found.group({"both": ["temp", "day"]})
    assert grouped.interactions.se.shape == grouped.interaction_values.shape
    assert found.contrast(0).interactions.se is None
    with pytest.raises(pellucid.InputError, match=r"row must .*1\.5"):
        found.row(1.5)
