"""CatBoost's target statistics of categories: the trees answer as the model does, also for categories never seen."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.errors import InputError
from pellucid.trees.convert import catboost as reader
from pellucid.trees.convert.catboost import convert
from pellucid.trees.convert.catboost_ctr import known_hashes
from pellucid.trees.convert.catboost_expand import Axis, Decision, Written, expand
from pellucid.trees.convert.catboost_hash import category_hash
from pellucid.trees.convert.catboost_splits import Splits
from pellucid.trees.convert.tree_model import Unsupported
from pellucid.trees.engine import TreeGame
from reference.indices import shapley
from reference.trees import marginal_game

catboost = pytest.importorskip("catboost")
pandas = pytest.importorskip("pandas")

CATEGORIES = ["sex", "port", "deck"]
COMBINED = {"max_ctr_complexity": 4, "one_hot_max_size": 2}
SINGLE = {"max_ctr_complexity": 1, "one_hot_max_size": 2}
NUMBERS = {"iterations": 60, "depth": 4, "learning_rate": 0.3, "verbose": 0, "thread_count": 1, "random_seed": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 500
    return pandas.DataFrame(
        {
            "sex": rng.choice(["male", "female"], n),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(30, 12, n)),
            "port": rng.choice(["Southampton", "Cherbourg", "Queenstown", ""], n, p=[0.6, 0.2, 0.15, 0.05]),
            "deck": rng.choice(list("ABCDEFG"), n),
            "fare": rng.exponential(30, n),
        }
    )


@pytest.fixture(scope="module")
def target(table):
    rng = np.random.default_rng(1)
    together = (table.port == "Cherbourg") & table.deck.isin(list("ABE"))
    return (
        (table.sex == "female") * 1.5 + 2 * together - 0.02 * table.age.fillna(60) + rng.normal(size=len(table))
    ).to_numpy()


@pytest.fixture(scope="module")
def mixtures(table):
    """Every column shuffled, and some categories that nobody has seen."""
    rng = np.random.default_rng(2)
    mixed = pandas.DataFrame({name: rng.permutation(table[name].to_numpy()) for name in table})
    for name in CATEGORIES:
        mixed.loc[rng.random(len(mixed)) < 0.1, name] = "never seen"
    return mixed


def fitted(table, y, kind=catboost.CatBoostRegressor, **options):
    return kind(cat_features=CATEGORIES, allow_writing_files=False, **(NUMBERS | options)).fit(table, y)


def agrees(model, *tables):
    read = convert(model)
    for each in tables:
        raw = model.predict(each, prediction_type="RawFormulaVal")
        answer = read.ensemble.predict(read.encode(each))
        np.testing.assert_allclose(answer, np.reshape(raw, (len(answer), -1)), rtol=0, atol=1e-9)
    return read


def columns_of_splits(model):
    """How many columns the statistics of a model look at."""
    description = reader._description(model)
    splits = Splits(description["features_info"], description["ctr_data"], list(model.feature_names_))
    found = set()
    for tree in description["oblivious_trees"]:
        for split in tree.get("splits") or ():
            if split["split_type"] == "OnlineCtr":
                found.add(len({axis.column for axis in splits.decision(split).axes}))
    return found


def test_statistics_of_one_column_are_sets_of_categories(table, target, mixtures):
    model = fitted(table, target, **SINGLE)
    assert columns_of_splits(model) == {1}
    nodes = agrees(model, table, mixtures).ensemble.nodes
    assert (nodes.set_words[nodes.feature == 3] > 0).all()
    assert not np.isnan(nodes.cover).any()


def test_statistics_of_combinations_are_written_out(table, target, mixtures):
    model = fitted(table, target, **COMBINED)
    assert max(columns_of_splits(model)) >= 2
    read = agrees(model, table, mixtures)
    inner = np.flatnonzero(read.ensemble.nodes.feature >= 0)
    assert (read.ensemble.nodes.left[inner] > inner).all()
    assert (read.ensemble.nodes.right[inner] > inner).all()


KINDS = ["Borders:TargetBorderCount=3", "Buckets:TargetBorderCount=3", "BinarizedTargetMeanValue", "Counter"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_statistic(table, target, mixtures, kind):
    agrees(
        fitted(table, target, simple_ctr=[kind], combinations_ctr=[kind], iterations=40, **COMBINED), table, mixtures
    )


@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_missing_numbers_beside_them(table, target, mixtures, nan_mode):
    missing = mixtures.assign(age=np.nan, fare=np.nan)
    agrees(fitted(table, target, nan_mode=nan_mode, **COMBINED), table, mixtures, missing)


def test_classes(table, target, mixtures):
    two = fitted(table, (target > 0).astype(int), catboost.CatBoostClassifier, **COMBINED)
    assert agrees(two, table, mixtures).link == "logistic"
    three = np.digitize(target, [-0.5, 1.0])
    several = fitted(table, three, catboost.CatBoostClassifier, loss_function="MultiClass", **COMBINED)
    assert agrees(several, table, mixtures).ensemble.n_outputs == 3


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
def test_trees_that_are_not_symmetric(table, target, mixtures, policy):
    agrees(fitted(table, target, grow_policy=policy, **SINGLE), table, mixtures)
    agrees(fitted(table, target, grow_policy=policy, **COMBINED), table, mixtures)


def test_shapley_values_are_those_of_the_model_as_a_function(table, target, mixtures):
    model = fitted(table, target, **COMBINED)
    read = convert(model)
    rows, background = mixtures.iloc[:2], table.iloc[:4]
    found = TreeGame(read.ensemble, "marginal", read.encode(background)).attribute(read.encode(rows))
    for r in range(len(rows)):

        def predicted(row):
            return np.atleast_1d(model.predict([list(row)])[0])

        v = marginal_game(predicted, rows.iloc[r].to_numpy(dtype=object), background.to_numpy(dtype=object))
        np.testing.assert_allclose(found.values[r], shapley(v), atol=1e-9)


def test_the_path_game_needs_counts_that_are_lost(table, target):
    read = convert(fitted(table, target, **COMBINED))
    with pytest.raises(InputError, match="game='path'"):
        TreeGame(read.ensemble, "path")


def test_the_categories_of_a_table_are_found_from_its_keys(table, target):
    for options in (SINGLE, COMBINED):
        description = reader._description(fitted(table, target, **options))
        splits = Splits(description["features_info"], description["ctr_data"], list(table))
        found = known_hashes(splits._ctrs, {})
        for column, name in ((2, "port"), (3, "deck")):
            assert found[column] == {category_hash(text.encode()) for text in table[name]}


def test_a_table_over_two_columns_is_asked_column_by_column():
    either = Decision((Axis(0), Axis(1, border=2.0)), np.array([[False, True], [True, True], [False, False]]))
    written = Written(100)
    root = expand([either, Decision((Axis(1, border=5.0),), np.array([False, True]))], {0: 3}, written)

    def leaf(code, x):
        at = root
        while written.column[at] >= 0:
            right = code in written.right_codes[at] if written.column[at] == 0 else x > written.border[at]
            at = (written.right if right else written.left)[at]
        return written.leaf[at]

    for code in range(3):
        for x in (1.0, 3.0, 6.0):
            assert leaf(code, x) == int(either.table[code, int(x > 2)]) + 2 * (x > 5)
    with pytest.raises(Unsupported, match=r"more than 3 nodes .*max_ctr_complexity=1"):
        expand([either], {0: 3}, Written(3))
