"""A model that hides from synthetic rows is found out; honest models are left in peace."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer
from pellucid.diagnostics import hidden_reliance
from pellucid.diagnostics.hidden_reliance import (
    HIDDEN,
    UNTOLD,
    WORTH,
    Reliance,
    fooled_caveat,
    real_rows,
    reliances,
    told_apart,
)
from pellucid.runner import Run
from reference.attack import above, attack

N = 400


def audit(model, X, rows=(0, 1, 2), seed=0, run=None, **options):
    """The caveats, and the run that asked for them."""
    explainer = Explainer(model, X, **options)
    run = Run(seed=seed) if run is None else run
    players = explainer.data.schema.players()
    found = list(
        fooled_caveat(explainer.predictor, explainer.data, explainer.data.rows(list(rows)), players, run, verb="shap")
    )
    assert [caveat.code for caveat in found] in ([], ["fooled"])
    return found, run


def measured(model, X, seed=0, **options):
    """R, T and G by the players' names."""
    explainer, run = Explainer(model, X, **options), Run(seed=seed)
    real = real_rows(explainer.data, explainer.data.schema.players(), run)
    return {one.players: one for one in reliances(explainer.predictor, real, run)}


# -- tables ------------------------------------------------------------------------------------------


def together(n=N, seed=0):
    """Seven numbers that follow two hidden ones, and a coin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(n, 8))
    X[:, 0] = rng.random(n) < 0.5
    return pd.DataFrame(X, columns=["coin", *(f"x{j}" for j in range(1, 8))])


def apart(n=N, seed=0):
    """Six independent numbers."""
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 6)), columns=list("abcdef"))


def read(name, rows=N):
    """Some rows of a real table as numbers: categories are numbered, missing is the median."""
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else Path(__file__).parents[4] / "shared" / "data"
    if not (folder / name).is_file():
        pytest.skip(f"{name} is absent: set PELLUCID_DATA to the folder that holds the data files")
    table = pd.read_csv(folder / name)
    table = table.iloc[np.linspace(0, len(table) - 1, min(rows, len(table))).astype(int)].reset_index(drop=True)
    words = table.select_dtypes(exclude="number").columns
    table = table.assign(**{word: pd.factorize(table[word], sort=True)[0] for word in words}).astype(float)
    return table.fillna(table.median())


# Table: (how to get it, its target, or a function that makes one)
TABLES = {
    "together": (together, lambda X: 2 * X["coin"] + X["x1"] - X["x2"] * X["x3"]),
    "apart": (apart, lambda X: X["a"] * X["b"] + np.sin(2 * X["c"])),
    "credit": (lambda: read("german_credit.csv"), "risk"),
    "bike": (lambda: read("bike.csv").drop(columns=["yr", "mnth"]), "cnt"),
    "titanic": (lambda: read("titanic.csv"), "survived"),
    "wine": (lambda: read("wine_quality.csv"), "quality"),
}
MODELS = {
    "linear": lambda: make_pipeline(StandardScaler(), LinearRegression()),
    "forest": lambda: RandomForestRegressor(30, random_state=0),
    "extra trees": lambda: ExtraTreesRegressor(30, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=50, random_state=0),
    "histogram boosting": lambda: HistGradientBoostingRegressor(max_iter=40, random_state=0),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPRegressor(hidden_layer_sizes=(16,), solver="lbfgs", max_iter=5000, random_state=0)
    ),
    "support vectors": lambda: make_pipeline(StandardScaler(), SVR()),
    "neighbours": lambda: make_pipeline(StandardScaler(), KNeighborsRegressor(7)),
    "tree": lambda: DecisionTreeRegressor(max_depth=5, random_state=0),
}


def table_of(name):
    make, target = TABLES[name]
    X = make()
    if callable(target):
        y = target(X)
        return X, (y - y.mean()) / y.std()
    y = X[target]
    return X.drop(columns=target), (y - y.mean()) / y.std()


# -- the attack --------------------------------------------------------------------------------------

# Table: the sensitive and the harmless feature
ATTACKED = {"together": ("coin", "x5"), "credit": ("sex", "amount"), "titanic": ("gender", "age")}


@cache
def attacked(name):
    X, _ = table_of(name)
    sensitive, harmless = ATTACKED[name]
    decide = [above(list(X).index(feature), X[feature].mean()) for feature in (sensitive, harmless)]
    return attack(X, *decide), X, sensitive, harmless


@pytest.mark.parametrize("name", ATTACKED)
def test_the_attack_hides_its_bias_from_marginal_shapley_values(name):
    model, X, sensitive, harmless = attacked(name)
    assert (model(X) == model.biased(np.asarray(X))).mean() > 0.98  # nearly all real people meet the bias
    rows = list(range(0, len(X), len(X) // 5))[:5]

    def share(f, feature):
        found = Explainer(f, X, background=15, checks=False).shap(rows, method="exact")
        return np.abs(found.values).mean(axis=0)[list(X).index(feature)] / np.abs(found.values).mean(axis=0).sum()

    assert share(model.biased, sensitive) == pytest.approx(1.0)
    assert share(model, sensitive) < 0.25
    assert share(model, harmless) > 1.5 * share(model, sensitive)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", ATTACKED)
def test_the_attack_is_found_out(name, seed):
    model, X, sensitive, _ = attacked(name)
    (found,), run = audit(model, X, seed=seed)
    assert found.feature == sensitive
    assert 0.6 < found.value <= 1.0
    assert found.threshold == HIDDEN
    assert f": {sensitive} accounts for" in found.message
    assert found.advice.endswith(".")
    assert 0 < run.cost().check_rows <= 2440
    assert run.cost().model_rows == 0


@pytest.mark.parametrize("name", ATTACKED)
def test_the_two_models_behind_the_attack_are_honest(name):
    model, X, _, _ = attacked(name)
    assert audit(model.biased, X)[0] == []
    assert audit(model.harmless, X)[0] == []


def test_the_attack_on_compas_is_found_out_and_its_two_models_are_left_in_peace():
    """Few levels a column: many mixtures are real rows, and the attack is the less effective for it."""
    columns = ["age", "sex", "race", "juv_misd_count", "priors_count", "c_charge_degree", "days_b_screening_arrest"]
    X = read("compas.csv")[columns].assign(race=lambda X: (X["race"] == 0) * 1.0)  # African-American
    X["coin"] = (np.random.default_rng(0).random(len(X)) < 0.5) * 1.0
    model = attack(X, above(2, 0.5), above(7, 0.5), trees=20)
    (found,), _ = audit(model, X)
    assert found.feature == "race"
    assert audit(model.biased, X)[0] == audit(model.harmless, X)[0] == []


def test_a_feature_that_others_stand_in_for_is_found_with_them():
    """``twice`` and the coin say the same: an imitation misses neither alone, but both together."""
    X = together().assign(twice=lambda X: 2 * X["coin"] + 1)
    model = attack(X, above(0, 0.5), above(5, 0.0))
    (found,), _ = audit(model, X)
    assert {"coin", "twice"} <= set(found.message.split(" together account")[0].replace(",", "").split())
    assert ("coin",) not in measured(model, X) or measured(model, X)[("coin",)].on_data < WORTH


def test_groups_are_looked_at_as_one():
    model, X, _, _ = attacked("together")
    (found,), _ = audit(model, X, groups={"who": ["coin", "x1"]})
    assert found.feature == "who"


# -- honest models -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", TABLES)
def test_honest_models_are_left_in_peace(name, model):
    X, y = table_of(name)
    assert audit(MODELS[model]().fit(X, y), X)[0] == []


def test_a_classifier_with_three_outputs_is_left_in_peace():
    X = together()
    y = np.digitize(2 * X["coin"] + X["x1"], [0.0, 1.5])
    assert audit(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X)[0] == []


@pytest.mark.parametrize(
    "formula",
    [lambda a, b: a * b, lambda a, b: np.sign(a * b), lambda a, b: np.sin(3 * a) * b],
    ids=["product", "sign", "sine"],
)
def test_a_formula_of_other_features_that_the_model_does_not_see_is_no_attack(formula):
    """It helps the imitation, so R is large and T is nothing; but mixtures teach all there is to know."""
    X = apart(500).assign(s=lambda X: formula(X["a"], X["b"]))

    def model(Z):
        return np.asarray(formula(Z["a"], Z["b"]))

    found = measured(model, X)[("s",)]
    assert found.on_data > WORTH
    assert found.hidden > HIDDEN
    assert found.untold < UNTOLD
    assert audit(model, X)[0] == []


def test_categories_and_missing_values_are_no_obstacle():
    X = together().assign(
        kind=pd.Categorical(np.random.default_rng(0).choice(["a", "b", "c"], N)),
        x3=lambda X: X["x3"].where(X["x1"] > -1),
    )

    def model(Z):
        assert isinstance(Z["kind"].dtype, pd.CategoricalDtype)
        return (2.0 * (Z["kind"] == "b") + Z["x3"].fillna(0.0)).to_numpy()

    found, run = audit(model, X)
    assert found == []
    assert run.cost().check_rows > 0


# -- theorems ----------------------------------------------------------------------------------------


def test_additive_models_of_independent_features_rely_on_them_alike():
    """f = 2a + b: a has 4/5 of the variance between real rows and in mixtures, b 1/5."""
    found = measured(lambda Z: 2 * Z["a"].to_numpy() + Z["b"].to_numpy(), apart(500))
    assert ("c",) not in found
    for name, share in (("a", 0.8), ("b", 0.2)):
        one = found[(name,)]
        assert 0.6 * share < one.on_data < 1.1 * share
        assert 0.95 * share < one.in_mixtures < 1.7 * share + 0.01


def test_no_feature_accounts_for_more_than_everything():
    found = measured(lambda Z: np.sign(Z["a"].to_numpy()), apart())
    assert 0.9 < found[("a",)].on_data <= 1.0
    assert all(one.on_data < 0.02 for players, one in found.items() if "a" not in players)


def test_the_unit_of_the_predictions_does_not_matter():
    X = together()

    def model(Z):
        return (Z["x1"] * Z["coin"] + Z["x2"]).to_numpy()

    def several(Z):
        return np.column_stack([np.full(len(Z), 5.0), 4096 * model(Z), model(Z) / 8])

    assert measured(model, X) == measured(lambda Z: 4096 * model(Z), X)
    for players, one in measured(several, X).items():
        assert one.in_mixtures == pytest.approx(measured(model, X)[players].in_mixtures)


def test_dependent_features_are_relied_on_less_between_real_rows():
    """Given b the variance of a is 1 - r^2; mixtures know nothing of that."""
    r = 0.8
    X = apart(500).assign(b=lambda X: r * X["a"] + np.sqrt(1 - r**2) * X["b"])
    one = measured(lambda Z: Z["a"].to_numpy(), X)[("a",)]
    assert one.on_data < 1.05 * (1 - r**2)
    assert one.in_mixtures > 0.9
    assert one.hidden == 0.0


def test_a_model_that_knows_its_rows_by_heart_is_found_out_though_no_classifier_could():
    X = apart()
    known = {row.tobytes() for row in X.to_numpy()}

    def model(Z):
        heart = np.array([row.tobytes() in known for row in Z.to_numpy()])
        return np.where(heart, Z["a"], Z["b"])

    (found,), _ = audit(model, X)
    assert found.feature == "a"
    area = float(found.message.split("AUC of ")[1].removesuffix("."))
    assert abs(area - 0.5) < 0.12


@pytest.mark.parametrize(("noise", "lowest", "highest"), [(1e-3, 0.85, 1.0), (100.0, 0.38, 0.62)])
def test_mixtures_of_correlated_features_are_told_apart(noise, lowest, highest):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + noise * rng.normal(size=(400, 4))
    explainer, run = Explainer(lambda Z: Z[:, 0], X), Run()
    real = real_rows(explainer.data, explainer.data.schema.players(), run)
    area = told_apart(real, explainer.data.rows([0, 5, 9]), run)
    assert lowest < area <= highest


@pytest.mark.parametrize(
    ("on_data", "in_mixtures", "untold", "fires"),
    [(0.2, 0.09, 0.6, True), (0.2, 0.11, 0.6, False), (0.2, 0.09, 0.4, False), (0.09, 0.0, 0.6, False), (-0.1, 0.0, 0.6, False)],
)  # fmt: skip
def test_all_three_conditions_are_needed(on_data, in_mixtures, untold, fires):
    assert Reliance(("a",), on_data, in_mixtures, untold).fooled() == fires


# -- what is asked -----------------------------------------------------------------------------------


def test_mixtures_take_every_feature_from_one_of_two_rows_and_come_in_pairs():
    X = apart(150)
    asked = []
    measured(lambda Z: asked.append(Z.to_numpy(copy=True)) or (1.2 * Z["a"] + Z["b"] + Z["c"]).to_numpy(), X)
    real, mixed = asked[-2], asked[-1]
    rows = X.to_numpy()
    assert {row.tobytes() for row in real} == {row.tobytes() for row in rows}
    origin = np.stack([[np.flatnonzero(rows[:, j] == value)[0] for value in mixed[:, j]] for j in range(6)], axis=1)
    assert max(len(set(of)) for of in origin) == 2
    first, second = mixed.reshape(4, 2, hidden_reliance._PAIRS[0], 6).swapaxes(0, 1)
    changed = (first != second).any(axis=1)
    assert changed.sum(axis=1).tolist() == [1, 1, 1, 3]
    np.testing.assert_array_equal(changed[:3].any(axis=0), changed[3])
    assert changed[0, 0]  # the feature that the model uses is the first suspect


def test_the_members_of_a_group_come_from_the_same_row():
    X = apart(150)
    asked = []
    measured(lambda Z: asked.append(Z.to_numpy(copy=True)) or Z["c"].to_numpy(), X, groups={"ef": ["e", "f"]})
    partner = dict(zip(X["e"], X["f"], strict=True))
    assert len(asked[-1]) >= 120
    assert [partner[e] for e in asked[-1][:, 4]] == asked[-1][:, 5].tolist()


def test_the_model_is_asked_once_for_all_explanations_of_an_explainer():
    (model, X, _, _), memory = attacked("together"), {}
    first, _ = audit(model, X, run=Run(memory_of=memory))
    again, run = audit(model, X, run=Run(memory_of=memory))
    assert first == again != []
    assert run.cost().check_rows == 0


def test_the_same_seed_gives_the_same_number():
    model, X, _, _ = attacked("together")
    assert audit(model, X, seed=5)[0] == audit(model, X, seed=5)[0] != audit(model, X, seed=6)[0]


def test_rows_without_weight_are_not_asked():
    X = apart(300).assign(f=lambda X: np.where(np.arange(300) < 150, 99.0, X["f"]))
    asked = []
    explainer = Explainer(
        lambda Z: asked.append(Z["f"].max()) or Z["a"].to_numpy(), X, sample_weight=(np.arange(300) >= 150) * 1.0
    )
    del asked[:]
    data = explainer.data
    assert list(fooled_caveat(explainer.predictor, data, data.rows(0), data.schema.players(), Run(), verb="shap")) == []
    assert asked
    assert max(asked) < 99


@pytest.mark.parametrize(
    ("table", "run"),
    [(apart(99), Run()), (apart()[["a", "b"]], Run()), (pd.concat([apart()] * 34, axis=1), Run()), (apart(), Run(checks=False))],
    ids=["few rows", "two features", "a wide table", "no checks"],
)  # fmt: skip
def test_where_nothing_can_be_told_nothing_is_asked(table, run):
    table.columns = [f"x{j}" for j in range(table.shape[1])]
    assert audit(lambda Z: Z["x0"].to_numpy(), table, run=run) == ([], run)
    assert run.cost().check_rows == 0


def test_mixtures_are_not_asked_for_where_nothing_is_worth_it():
    """Seven copies of one number: an imitation misses none of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 1)) + 1e-3 * rng.normal(size=(N, 7)), columns=list("abcdefg"))
    found, run = audit(lambda Z: Z["a"].to_numpy(), X)
    assert found == []
    assert run.cost().check_rows == N


def test_a_constant_model_relies_on_nothing():
    assert measured(lambda Z: np.full(len(Z), 3.7), apart()) == {}
    assert audit(lambda Z: np.full(len(Z), 3.7), apart())[0] == []
