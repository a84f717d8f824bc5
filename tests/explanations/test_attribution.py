"""Attribution: a result that adds up, says so, and can be taken apart, told, stored."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid import Attribution, Caveat
from pellucid.explanations.attribution import Entries, InteractionValues, Reference
from pellucid.explanations.attribution_words import labels_of, mean_sizes
from pellucid.explanations.explanation import headed
from pellucid.runner import Cost


def attribution(values=((1.0, -2.0, 0.5), (0.0, 3.0, 1.0)), *, base=10.0, prediction=None, **more):
    values = np.array(values, dtype=float)
    base = np.asarray(base, dtype=float)
    fields = {
        "values": values, "se": np.zeros(values.shape), "base": base,
        "prediction": base + values.sum(axis=1) if prediction is None else np.asarray(prediction, dtype=float),
        "feature_names": ("temp", "season", "day"), "output_names": ("prediction",), "scale": "response",
        "data": (np.array([21.5, np.nan]), np.array(["fall", None], dtype=object), np.array([3, 4])),
        "members": (("temp",), ("season",), ("day",)), "method": "exact", "game": "marginal", "background": 100,
        "cost": Cost(0, 0.0, 0, 0.0), "settings": {"method": "shap"},
    }  # fmt: skip
    return composed({**fields, **more})


def composed(fields):
    """Contributions of plain fields, those of their parts put into them."""
    taken = {name: fields.pop(name, None) for name in ("data", "members", "unusual", "background")}
    pairs, errors = fields.pop("interaction_values", None), fields.pop("interaction_se", None)
    return Attribution(
        entries=Entries(taken["data"], taken["members"] or (), taken["unusual"]),
        interactions=None if pairs is None else InteractionValues(pairs, errors),
        reference=Reference(taken["background"] or 0),
        **headed(fields),
    )


def classes(size=1.0):
    one = attribution()
    values = size * np.stack([one.values, -2 * one.values], axis=-1)
    return attribution(values, base=[10.0 * size, 20.0 * size], output_names=("no", "yes"), scale="probability")


def test_residual_and_its_worst_row():
    found = attribution(prediction=[9.5, 14.5])
    np.testing.assert_allclose(found.residual, [0.0, 0.5])
    worst = found.additivity
    assert (worst.row, worst.residual) == (1, 0.5)
    assert worst.relative == pytest.approx(0.5 / (4 + 10 + 14.5))
    assert classes().additivity.residual == pytest.approx(0)


def test_worst_row_among_several_outputs():
    values = np.zeros((3, 3, 2))
    prediction = np.full((3, 2), 5.0)
    prediction[2, 0] = 6.0
    data = (np.zeros(3),) * 3
    found = attribution(values, base=[5.0, 5.0], prediction=prediction, output_names=("a", "b"), data=data)
    assert (found.additivity.row, found.additivity.residual) == (2, 1.0)


def test_ranking_and_mean_absolute_contribution():
    assert attribution().top(2) == ["season", "day"]
    np.testing.assert_allclose(mean_sizes(attribution()), [0.5, 2.5, 0.75])
    assert mean_sizes(classes()).shape == (3, 2)


def test_for_output():
    one = classes().for_output("yes")
    np.testing.assert_allclose(one.values, -2 * attribution().values)
    assert (one.output_names, one.values.shape, one.base.shape) == (("yes",), (2, 3), ())
    assert one.for_output("yes") is one
    with pytest.raises(pellucid.InputError, match=r"'maybe'.*'no', 'yes'"):
        classes().for_output("maybe")


def test_row():
    one = classes().row(1)
    np.testing.assert_array_equal(one.values, classes().values[1:])
    assert one.prediction.shape == (1, 2)
    assert one.data[2].tolist() == [4]
    assert len(one) == 1
    with pytest.raises(pellucid.InputError, match=r"row .*0 to 1.*2"):
        classes().row(2)


def test_table():
    frame = classes().frame()
    assert list(frame.columns) == ["row", "feature", "value", "contribution", "se", "output"]
    assert len(frame) == 2 * 3 * 2
    first = frame.iloc[3]
    assert (first["row"], first["feature"], first["value"], first["output"]) == (0, "season", "fall", "yes")
    assert first["contribution"] == 4.0
    sums = frame.groupby(["row", "output"])["contribution"].sum().unstack().to_numpy()
    np.testing.assert_allclose(sums, classes().values.sum(axis=1))


def test_table_of_numbers_holds_numbers():
    found = attribution(data=(np.array([1.5, np.nan]), np.array([2, 3]), np.array([3, 4])))
    assert isinstance(found.frame(), pd.DataFrame)
    assert found.frame()["value"].dtype == float
    assert attribution().frame()["value"].tolist()[:3] == ["21.5", "fall", "3"]
    assert attribution().frame()["value"].isna().tolist()[3:] == [True, True, False]


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_stored_and_back(tmp_path, ending):
    dates = np.array(["2024-01-01", "NaT"], dtype="datetime64[us]")
    found = attribution(
        data=(dates, np.array([True, False]), np.array(["a", None], dtype=object)),
        interaction_values=np.random.default_rng(0).normal(size=(2, 3, 3)),
    )
    back = pellucid.load(found.save(tmp_path / f"why.{ending}"))
    assert back == found
    assert back.base.shape == ()
    assert back.text() == found.text()
    assert back.additivity == found.additivity
    for one, other in zip(back.data, found.data, strict=True):
        assert one.dtype == other.dtype


def test_nothing_can_be_written_to():
    found = attribution()
    for array in (found.values, found.base, found.prediction, *found.data):
        assert not array.flags.writeable


def test_a_group_names_its_members():
    data = (np.array(["temp = 3, hum = 5"], dtype=object), np.array([1.0]), np.array([2]))
    found = attribution([[1.0, 2.0, 3.0]], data=data, members=(("temp", "hum"), ("season",), ("day",)))
    assert labels_of(found, 0) == ["temp: temp = 3, hum = 5", "season = 1", "day = 2"]


# -- rows and features by index ----------------------------------------------------------------------


def test_one_row_some_rows_and_one_feature():
    found = attribution([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert found[1] == found.row(1)
    assert found[-1] == found.row(1)
    assert found[0:2].values.tolist() == found.values.tolist()
    assert found[[1, 0]].values.tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    assert found[::-1].prediction.tolist() == found.prediction[::-1].tolist()
    assert found["season"].tolist() == [2.0, 5.0]
    assert found[1:, "season"].tolist() == [5.0]
    assert classes()["temp"].shape == (2, 2)
    assert [one.values.tolist() for one in found] == [[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]
    assert [one.frame()["row"].iloc[0] for one in found[::-1]] == [1, 0]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (2, "row must be a whole number from 0 to 1"),
        (-3, "row must be a whole number from 0 to 1"),
        ("tmep", "there is no feature 'tmep'; did you mean 'temp'"),
        (slice(5, 9), "holds none of the 2 explained rows"),
        ([0, 5], "rows: row 5 is out of range"),
        (1.5, "rows must be positions of rows"),
    ],
)
def test_an_index_that_is_none(key, message):
    with pytest.raises(pellucid.InputError, match=message):
        attribution()[key]


def test_rows_of_a_break_down_and_of_local_models_are_whole():
    X = np.random.default_rng(0).normal(size=(60, 3))
    ex = pellucid.Explainer(lambda x: x[:, 0] * x[:, 1] + x[:, 2], X, checks=False)
    steps = ex.breakdown([3, 4, 5])
    assert steps[1:].settings["order"] == steps.settings["order"][1:]
    assert steps[1:][0] == steps[1]
    local = ex.lime([3, 4, 5], samples=300)
    assert local[1:][1] == local[2] == local.row(2)
    np.testing.assert_allclose(local[1:].base, local.bases[1:].mean())
    pairs = ex.shap([3, 4, 5], interactions=True)
    np.testing.assert_array_equal(pairs[1:].interaction_values, pairs.interaction_values[1:])


# -- how a result looks where it is typed, and its table as a file -----------------------------------


class Printer:
    """What IPython hands to results: what it is inside of, and where text goes."""

    def __init__(self, depth):
        self.stack, self.said = list(range(depth)), []

    def text(self, words):
        self.said.append(words)


def test_a_result_is_its_finding_and_its_worst_caveats_where_it_is_typed(golden):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)), columns=list("abcde"))
    ex = pellucid.Explainer(lambda x: x["a"] * x["b"], X, checks=False)
    golden("attribution", "where it is typed", map(repr, (attribution(), ex.shap([3, 4]), ex.shap(range(9)))))
    for result in (ex.pdp("a"), ex.lime(3, samples=300), ex.anchor(3), ex.anchor([3, 4]), ex.associations()):
        lines = repr(result).splitlines()
        assert lines[0] == result.headline()
        assert lines[-1].startswith(f"<{type(result).__name__} of ")
        assert len(lines) < 8


def test_at_most_three_caveats_where_it_is_typed_and_no_advice():
    caveats = [Caveat(f"c{i}", f"Message {i}.", 0.5 + i / 10, 0.4, f"Advice {i}.") for i in range(5)]
    found = repr(attribution(caveats=tuple(caveats)))
    assert [line for line in found.splitlines() if line.startswith("- ")] == [
        "- Message 4.",
        "- Message 3.",
        "- Message 2.",
        "- 2 more caveats: see .caveats.",
    ]
    assert "Advice" not in found


def test_in_a_list_of_ipython_a_result_is_one_line():
    for depth, said in ((1, repr(attribution())), (2, repr(attribution()).splitlines()[-1])):
        printer = Printer(depth)
        attribution()._repr_pretty_(printer, False)
        assert printer.said == [said]


def test_a_table_as_csv(tmp_path):
    found = attribution()
    path = found.save(tmp_path / "why.csv")
    pd.testing.assert_frame_equal(pd.read_csv(path), found.frame(), check_dtype=False)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "row,feature,value,contribution,se"
    assert lines[1] == "0,temp,21.5,1.0,0.0"
    assert lines[4] == "1,temp,,0.0,0.0"  # missing
    with pytest.raises(pellucid.InputError, match=r"save as \.json or \.parquet"):
        pellucid.load(path)


@pytest.mark.parametrize("name", ["why.png", "why.xlsx", "why.pkl"])
def test_an_ending_that_is_no_file_of_a_result(tmp_path, name):
    with pytest.raises(pellucid.InputError, match=r"\.csv.*\.plot\(\)\.save"):
        attribution().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_columns_of_a_table_are_documented():
    X = np.random.default_rng(0).normal(size=(60, 2))
    ex = pellucid.Explainer(lambda x: x * 2, X, checks=False)
    rules = pellucid.Explainer(lambda x: x[:, 0] > 0, X, checks=False).anchor([3, 4])
    for result in (ex.shap([3, 4]), ex.lime([3, 4], samples=300, space="quartile"), rules):
        for name in result.columns():
            assert f"``{name}``" in type(result).frame.__doc__, name
