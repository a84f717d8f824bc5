"""Scenes in which each caveat fires, with the number one expects, and scenes in which it is silent."""

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer, ImageExplainer, TextExplainer, agreement
from reference.attack import above, attack

FIRES, SILENT = {}, {}


def fires(code):
    """Register a scene that gives the explanation and the value its caveat should have (a number or a range)."""
    return lambda scene: FIRES.setdefault(code, []).append(scene) or scene


def silent(code):
    return lambda scene: SILENT.setdefault(code, []).append(scene) or scene


def sample(n=400, seed=0):
    """Two independent features."""
    return np.random.default_rng(seed).normal(size=(n, 2))


def together(n=400, noise=0.05):
    """Two correlated features."""
    x = np.random.default_rng(1).normal(size=n)
    return np.column_stack([x, x + noise * np.random.default_rng(2).normal(size=n)])


def plus(X):
    return X[:, 0] + X[:, 1]


def times(X):
    return X[:, 0] * X[:, 1]


# -- off-data ----------------------------------------------------------------------------------------


@fires("off-data")
def shuffling_two_correlated_features():
    return Explainer(plus, together()).pdp(0), (0.6, 1.0)


@fires("off-data")
def permuting_two_correlated_features():
    X = together()
    return Explainer(plus, X, plus(X) + sample()[:, 0]).importance(), (0.6, 1.0)


@silent("off-data")
def shuffling_independent_features():
    return Explainer(plus, sample()).pdp(0)


@silent("off-data")
def a_weak_association():
    X = sample()
    X[:, 1] += 0.2 * X[:, 0]
    return Explainer(plus, X).ice(0)


@silent("off-data")
def an_association_that_leaves_no_holes():
    X = sample(1000)
    X[:, 1] += 0.4 * X[:, 0]
    assert np.corrcoef(X.T)[0, 1] > 0.3
    return Explainer(plus, X).pdp(0)


# -- heterogeneous -----------------------------------------------------------------------------------


@fires("heterogeneous")
def opposite_slopes():
    # f = x0 * x1 with mean(x1) = 0: the average is flat, all of the effect is interaction.
    return Explainer(times, sample()).pdp(0), (0.98, 1.0)


@fires("heterogeneous")
def a_known_share_of_interaction():
    # Lines with slopes 0 and 2: mean slope 1, mean squared slope 2, so 1 - 1/2 of the effect is interaction.
    X = np.column_stack([np.linspace(-1, 1, 200), np.tile([0.0, 2.0], 100)])
    return Explainer(times, X).pdp(0), 0.5


@silent("heterogeneous")
def parallel_curves():
    return Explainer(plus, sample()).pdp(0)


# -- few-data ----------------------------------------------------------------------------------------


@fires("few-data")
def a_long_tail():
    # All rows but one at 0..9: of the 50 grid points 0, 10, ..., 490 only the first two have rows near them, and the two
    # after these have such neighbours.
    X = np.column_stack([np.append(np.arange(100) % 10, 490.0), np.zeros(101)])
    return Explainer(plus, X).pdp(0, at=np.arange(0, 500, 10)), 46 / 50


@fires("few-data")
def thin_bins():
    X = sample(60)
    return Explainer(plus, X).ale(0, bins=30), 1.0


@silent("few-data")
def well_filled_grid():
    X = np.column_stack([np.tile(np.arange(10.0), 20), np.zeros(200)])
    return Explainer(plus, X).pdp(0)


@silent("few-data")
def a_grid_finer_than_the_data():
    X = np.column_stack([np.linspace(0, 1, 120), np.zeros(120)])  # 50 points with 2.4 rows each
    return Explainer(plus, X).pdp(0)


@silent("few-data")
def thick_bins():
    return Explainer(plus, sample()).ale(0, bins=10)


# -- mixed-effects -----------------------------------------------------------------------------------


@fires("mixed-effects")
def marginal_plot_of_correlated_features():
    X = together(noise=0.75)
    return Explainer(plus, X).mplot(0), abs(np.corrcoef(X.T)[0, 1])


@silent("mixed-effects")
def marginal_plot_of_independent_features():
    return Explainer(plus, sample()).mplot(0)


# -- ale: bins, cells, order, edges --------------------------------------------------------------------


@fires("bins")
def a_curve_finer_than_its_bins():
    return Explainer(lambda X: np.sin(60 * X[:, 0]), sample()).ale(0, bins=8), (0.3, 20.0)


@fires("bins")
def a_single_step_in_a_precise_curve():
    # The step lies within one of 40 bins; with 20 its middle is half a step away.
    X = np.linspace(0.0, 1.0, 4000)[:, None]
    return Explainer(lambda X: 1.0 * (X[:, 0] > 0.512), X).ale(0), (0.45, 0.5)


@silent("bins")
def a_curve_that_only_few_rows_make_shaky():
    X = np.random.default_rng(0).normal(size=(4000, 2))
    return Explainer(lambda X: X[:, 0] + 4 * X[:, 0] * X[:, 1], X).ale(0)


@silent("bins")
def a_straight_line():
    return Explainer(plus, sample()).ale(0, bins=8)


@fires("empty-cells")
def pairs_along_the_diagonal():
    # Ten bins each and the same feature twice: 10 of 100 cells hold rows.
    X = np.column_stack([np.arange(500.0), np.arange(500.0)])
    return Explainer(times, X).ale((0, 1), bins=10), 0.9


@silent("empty-cells")
def pairs_everywhere():
    return Explainer(times, sample()).ale((0, 1), bins=5)


@fires("empty-cells")
def triples_along_the_diagonal():
    X = np.column_stack([np.arange(500.0)] * 3)
    return Explainer(times, X).ale((0, 1, 2), bins=5), 1 - 5 / 125


@fires("few-data")
def cells_of_three_features():
    # Every combination of ten values once; the first bin holds two of them, so only the first cell has 8 rows.
    X = np.array([[a, b, c] for a in range(10) for b in range(10) for c in range(10)], dtype=float)
    return Explainer(times, X).ale((0, 1, 2), bins=9), 1 - 1 / 729


def three(n):
    """Three features that act together, and one that blurs what they do."""
    return np.random.default_rng(6).normal(size=(n, 4))


@fires("noise")
def three_features_and_much_that_blurs_them():
    # The slope of the product is the blur, whose mean is zero: all of the joint effect is chance.
    return Explainer(lambda X: X.prod(axis=1), three(300)).ale((0, 1, 2)), (0.7, 1.0)


@fires("noise")
def noise_in_the_second_output_only():
    def model(X):
        return np.column_stack([X[:, :3].prod(axis=1), X.prod(axis=1)])

    return Explainer(model, three(300)).ale((0, 1, 2)), (0.7, 1.0)


@silent("noise")
def three_features_that_plainly_act_together():
    return Explainer(lambda X: X[:, :3].prod(axis=1) * (5 + X[:, 3]), three(4000)).ale((0, 1, 2))


@silent("noise")
def no_joint_effect_at_all():
    # What is left is rounding, which is smaller than its own error.
    return Explainer(lambda X: np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 7 + 1e4 * X[:, 3], three(300)).ale((0, 1, 2))


@silent("few-data")
def three_features_with_the_usual_bins():
    X = np.array([[a, b, c] for a in range(10) for b in range(10) for c in range(10)], dtype=float)
    return Explainer(times, X).ale((0, 1, 2))


def zigzag():
    """Four levels along a line; only the extreme ones have rows where the second feature counts."""
    rng = np.random.default_rng(3)
    level = rng.integers(0, 4, 300)
    X = pd.DataFrame(
        {"k": np.array(list("abcd"))[level], "x": level + rng.normal(0, 0.3, 300), "z": rng.normal(size=300)}
    )
    X["z"] += np.array([0.0, 3.0, 3.0, 0.0])[level]
    return X


@fires("category-order")
def levels_that_interact():
    def model(X):
        place = X["k"].map({"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0}).astype(float)
        return place * X["z"]

    return Explainer(model, zigzag()).ale("k"), (0.25, 5.0)


def levels_that_add(X):
    return X["k"].map({"a": 0.0, "b": 4.0, "c": -1.0, "d": 3.0}).astype(float) + 100.0 + X["z"]


@silent("category-order")
def additive_levels():
    return Explainer(levels_that_add, zigzag()).ale("k")


@silent("category-order")
def additive_levels_on_top_of_the_mean_prediction():
    return Explainer(levels_that_add, zigzag()).ale("k", total=True)


@fires("outside-bins")
def edges_inside_the_data():
    X = np.column_stack([np.arange(100.0), np.zeros(100)])
    return Explainer(plus, X).ale(0, bins=[10.0, 50.0, 89.0]), 0.2


@silent("outside-bins")
def edges_around_the_data():
    return Explainer(plus, sample()).ale(0, bins=[-9.0, 0.0, 9.0])


@silent("outside-bins")
def rows_that_do_not_count():
    X = np.column_stack([np.arange(100.0), np.zeros(100)])
    return Explainer(plus, X, sample_weight=(X[:, 0] < 90) * 1.0).ale(0, bins=5)


@fires("empty-bins")
def edges_over_a_gap():
    X = np.column_stack([np.r_[np.linspace(0, 1, 50), np.linspace(3, 4, 50)], np.zeros(100)])
    return Explainer(plus, X).ale(0, bins=[0.0, 1.0, 2.0, 2.9, 4.0]), 1.9 / 4


@silent("empty-bins")
def a_gap_within_a_bin():
    X = np.column_stack([np.r_[np.linspace(0, 1, 50), np.linspace(3, 4, 50)], np.zeros(100)])
    return Explainer(plus, X).ale(0)


# -- importance --------------------------------------------------------------------------------------


def noisy(n=300, seed=5):
    X = sample(n, seed)
    return X, plus(X) + np.random.default_rng(seed).normal(size=n)


@fires("training-data")
def a_memorised_outcome():
    X, y = noisy()
    return Explainer(DecisionTreeRegressor(random_state=0).fit(X, y), X, y).importance(), 0.0


@silent("training-data")
def an_honest_fit():
    X, y = noisy()
    return Explainer(LinearRegression().fit(X, y), X, y).importance()


@fires("overfitted")
def worse_on_the_held_out_rows():
    X, y = noisy()
    model = KNeighborsRegressor(2).fit(X, y)
    other, truth = noisy(seed=6)
    own, outside = (np.square(model.predict(a) - b).mean() for a, b in ((X, y), (other, truth)))
    return Explainer(model, X, y).importance(holdout=(other, truth)), outside / own


@silent("overfitted")
def as_good_on_the_held_out_rows():
    X, y = noisy()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(holdout=noisy(seed=6))


@fires("shared-importance")
def the_same_feature_twice():
    # f = x + x' with x' = x: alone each gives 2 var(x), both together E(2x - 2x_k)^2 = 8 var(x).
    x = sample()[:, 0]
    X = np.column_stack([x, x])
    result = Explainer(plus, X, plus(X) + sample(seed=9)[:, 1]).importance(scheme="pairs", loss="mse")
    return result, 8 * x.var(ddof=1) + 4 * np.cov(sample(seed=9)[:, 1], x)[0, 1]


@silent("shared-importance")
def features_of_their_own():
    X, y = noisy()
    return Explainer(plus, X, y).importance()


@fires("hidden-interaction")
def a_pure_interaction():
    # A feature that adds and two that only interact: f = x0 + 3 x1 x2. Root mean squared changes are
    # sqrt(2) : 3 sqrt(2) : 3 sqrt(2), so x1 makes 3/7 of the movement.
    X = np.random.default_rng(8).choice([-1.0, 1.0], size=(500, 3))
    return Explainer(lambda X: X[:, 0] + 3 * X[:, 1] * X[:, 2], X).importance(method="pdp"), (
        3 / 7 - 0.03,
        3 / 7 + 0.03,
    )


@silent("hidden-interaction")
def no_interaction():
    return Explainer(plus, sample()).importance(method="pdp")


# -- any method --------------------------------------------------------------------------------------


@fires("poor-model")
def a_model_of_something_else():
    X, y = sample(), sample(seed=4)[:, 0]
    return Explainer(plus, X, y).pdp(0), np.square(plus(X) - y).mean() / y.var()


@fires("poor-model")
def a_model_that_hardly_says_anything():
    X, y = sample(), sample(seed=4)[:, 0]
    return Explainer(lambda X: X[:, 0] / 10, X, y + X[:, 0] / 10).pdp(0), (0.95, 0.9999)


@silent("poor-model")
def a_fair_model():
    X, y = noisy()
    return Explainer(plus, X, y).pdp(0)


@fires("unsteady-model")
def noise_at_every_call():
    rng = np.random.default_rng(0)
    return Explainer(lambda X: plus(X) + 0.1 * rng.normal(size=len(X)), sample()).ale(0), (0.005, 0.5)


@silent("unsteady-model")
def the_same_answer_twice():
    return Explainer(plus, sample()).ale(0)


@fires("logit-clipped")
def predictions_of_one():
    X = sample()
    return Explainer(lambda X: np.where(X[:, 0] > 1, 1.0, 0.5), X, link="logit").pdp(1), (X[:, 0] > 1).mean()


@fires("logit-clipped")
def predictions_of_zero():
    X = sample()
    return Explainer(lambda X: np.where(X[:, 0] > 0, 0.0, 0.5), X, link="logit").ale(1), (X[:, 0] > 0).mean()


@silent("logit-clipped")
def uncertain_predictions():
    return Explainer(lambda X: 0.2 + 0.6 * (X[:, 0] > 1), sample(), link="logit").pdp(1)


@fires("partial")
def an_interruption():
    calls = []

    def model(X):
        calls.append(len(X))
        if len(X) > 100 and len([n for n in calls if n > 100]) > 1:
            raise KeyboardInterrupt
        return plus(X)

    result = Explainer(model, sample(4000)).pdp(0, grid=50)
    assert np.isnan(result.values).any()
    return result, 1.0


@silent("partial")
def a_run_to_the_end():
    return Explainer(plus, sample(4000)).pdp(0, grid=50)


@fires("dependent-features")
def two_correlated_features():
    X = together()
    return Explainer(plus, X).associations(), abs(np.corrcoef(X.T)[0, 1])


@silent("dependent-features")
def two_independent_features():
    return Explainer(plus, sample()).associations()


# -- contributions -----------------------------------------------------------------------------------


@fires("off-data")
def contributions_of_two_correlated_features():
    return Explainer(plus, together()).shap(0), (0.6, 1.0)


@silent("off-data")
def contributions_of_independent_features():
    return Explainer(plus, sample()).shap([0, 1])


@silent("off-data")
def contributions_of_a_group_that_goes_together():
    return Explainer(plus, together(), groups={"both": [0, 1]}).shap(0)


@fires("not-trees")
def a_vote_that_does_not_add_up():
    X = sample()
    return Explainer(AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, plus(X)), X).shap(0), 1.0


@silent("not-trees")
def trees_that_can_be_read():
    X = sample()
    return Explainer(DecisionTreeRegressor(max_depth=3).fit(X, plus(X)), X).shap(0)


@silent("not-trees")
def a_function_that_never_had_trees():
    return Explainer(plus, sample()).shap(0)


@fires("not-additive")
def contributions_of_a_model_with_moods():
    rng = np.random.default_rng(0)
    return Explainer(lambda X: plus(X) + rng.normal(size=len(X)), sample()).shap([0, 1, 2]), (0.01, 1.01)


@silent("not-additive")
def contributions_of_huge_numbers_in_single_precision():
    return Explainer(lambda X: (1e10 + 1e5 * plus(X)).astype(np.float32), sample()).shap([0, 1, 2])


@fires("path-game")
def a_path_through_correlated_features():
    X = together(noise=0.3)
    return Explainer(DecisionTreeRegressor(max_depth=5).fit(X, plus(X)), X).shap(range(30), game="path"), (0.2, 1.0)


@silent("path-game")
def a_path_through_stumps():
    X = sample(200)
    model = GradientBoostingRegressor(n_estimators=20, max_depth=1).fit(X, plus(X))
    return Explainer(model, X).shap(range(30), game="path")


@silent("path-game")
def a_tree_in_the_marginal_game():
    X = together(noise=0.3)
    return Explainer(DecisionTreeRegressor(max_depth=5).fit(X, plus(X)), X).shap(range(30))


# -- sampled and conditional contributions -------------------------------------------------------------


def crooked(X):
    """Interactions of many features."""
    return np.prod(np.sign(X[:, :8]), axis=1) + 0.1 * X[:, 0]


@fires("imprecise")
def few_coalitions_of_a_crooked_model():
    X = np.random.default_rng(3).normal(size=(200, 18))
    return Explainer(crooked, X, background=10).shap(0, method="kernel", budget=10 * 80), (0.25, np.inf)


@silent("imprecise")
def coalitions_of_an_additive_model():
    X = np.random.default_rng(3).normal(size=(200, 18))
    return Explainer(lambda X: X @ np.arange(18.0), X, background=10).shap(0, method="kernel")


@fires("conditional-game")
def drawn_given_what_is_known():
    return Explainer(plus, together()).shap([0, 1], game="conditional"), (0.0, 1.0)


@silent("conditional-game")
def what_goes_with_nothing():
    return Explainer(plus, together()).shap([0, 1])


@fires("many-small")
def forty_features_with_equal_shares():
    X = np.random.default_rng(4).normal(size=(200, 40))
    return Explainer(LinearRegression().fit(X, X.sum(axis=1)), X).shap([0]), (0.3, 1.0)


@silent("many-small")
def forty_features_of_which_two_count():
    X = np.random.default_rng(4).normal(size=(200, 40))
    return Explainer(LinearRegression().fit(X, plus(X)), X).shap([0])


def people(n=600):
    """Seven numbers that follow two hidden ones, and a coin that decides everything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(n, 8))
    X[:, 0] = rng.random(n) < 0.5
    return X


@fires("fooled")
def a_biased_model_that_hides_from_mixtures():
    X = people()
    return Explainer(attack(X, above(0, 0.5), above(5, 0.0)), X, background=15).shap([0, 1]), (0.5, 1.0)


@silent("fooled")
def a_biased_model_that_does_not_hide():
    return Explainer(above(0, 0.5), people(), background=15).shap([0, 1])


@fires("not-shapley")
def two_features_for_a_model_of_nine():
    X = np.random.default_rng(5).normal(size=(200, 9))
    return Explainer(lambda X: np.tanh(X.sum(axis=1)), X, background=20).shap(0, sparse=2), (0.01, 1.0)


@silent("not-shapley")
def all_features_for_a_model_of_nine():
    X = np.random.default_rng(5).normal(size=(200, 9))
    return Explainer(lambda X: np.tanh(X.sum(axis=1)), X, background=20).shap(0)


# -- words and segments --------------------------------------------------------------------------------


def all_three(texts):
    return [float({"a", "b", "c"} <= set(text.split())) for text in texts]


@fires("cut-dependence")
def words_that_only_act_together():
    return TextExplainer(all_three).shap("a b c d e f g h"), (0.1, 1.0)


@silent("cut-dependence")
def words_that_act_alone():
    return TextExplainer(lambda texts: [len(text.split()) for text in texts]).shap("a b c d e f g h")


def turned_by_not(texts):
    words = [text.split() for text in texts]
    return [(-3.0 if "not" in some else 1.0) * some.count("good") for some in words]


def word_count(texts):
    return [len(text.split()) for text in texts]


PLAIN = ["a b", "a b c", "b c", "a c"]


@fires("sign-flips")
def words_that_turn_others_around():
    texts = ["not good", "good film", "good plot", "not a good plot", "good", "not so good"]
    return TextExplainer(turned_by_not).importance(texts, min_texts=2), 0.5


@silent("sign-flips")
def words_of_one_sign():
    return TextExplainer(word_count).importance(PLAIN)


@fires("rare-words")
def each_text_in_words_of_its_own():
    return TextExplainer(word_count).importance(["a b c", "a d e", "a f g"]), 2 / 3


@silent("rare-words")
def the_same_words_in_many_texts():
    return TextExplainer(word_count).importance(PLAIN)


@fires("sampling-error")
def few_coalitions_of_many_words():
    texts = [" ".join(f"w{(7 * i + k) % 30}" for k in range(25)) for i in range(8)]
    return TextExplainer(lambda texts: [np.sin(5.0 * len(text)) for text in texts]).importance(texts, budget=60), (
        0.3,
        9,
    )


@silent("sampling-error")
def words_that_add_up():
    return TextExplainer(word_count).importance([" ".join(f"w{k}" for k in range(25))] * 2)


@fires("long-texts")
def a_text_of_too_many_words():
    return TextExplainer(word_count).importance([*PLAIN, "a b c d e f"], most=4), 0.2


@silent("long-texts")
def texts_that_are_short_enough():
    return TextExplainer(word_count).importance([*PLAIN, "a b c d e f"], most=6)


def brightness(images):
    return images.reshape(len(images), -1).mean(axis=1)


@fires("absence")
def grey_is_as_bright_as_any_colour():
    image = np.full((4, 6), 150, dtype=np.uint8)
    return ImageExplainer(brightness, absent="grey", segmenter="grid", segments=6).shap(image), 128 / 22


@silent("absence")
def contrast_is_nothing_in_any_colour():
    striped = np.tile(np.array([0, 200], dtype=np.uint8), (4, 3))
    span = ImageExplainer(
        lambda images: np.ptp(images.reshape(len(images), -1).astype(float), axis=1), segmenter="grid"
    )
    return span.shap(striped)


@fires("tolerance-missed")
def a_tolerance_beyond_the_budget():
    X = np.random.default_rng(3).normal(size=(200, 18))
    return Explainer(crooked, X, background=2).shap(0, tolerance=1e-9, budget=2 * 400), (1e-9, np.inf)


@silent("tolerance-missed")
def a_tolerance_within_the_budget():
    X = np.random.default_rng(3).normal(size=(200, 18))
    return Explainer(lambda X: X @ np.arange(18.0), X, background=2).shap(0, tolerance=1e-3)


# -- interactions --------------------------------------------------------------------------------------


@fires("costs-uncertain")
def an_interaction_in_a_few_rows():
    f = lambda X: 20.0 * (X[:, 0] > 2) * (X[:, 1] > 2) + 3 * X[:, 0]  # noqa: E731
    return Explainer(f, sample()).interactions(method="greenwell"), (0.3, 0.8)


@silent("costs-uncertain")
def an_interaction_in_all_rows():
    return Explainer(times, sample()).interactions(method="greenwell")


@fires("turned-effects")
def exclusive_or_by_sizes_of_effects():
    X = np.random.default_rng(0).integers(0, 2, (200, 2))
    return Explainer(lambda X: (X.sum(axis=1) % 2).astype(float), X).interactions(method="greenwell"), (0.8, 1.0)


@silent("turned-effects")
def a_product_by_sizes_of_effects():
    return Explainer(times, sample()).interactions(method="greenwell")


@fires("off-data")
def interactions_of_two_correlated_features():
    return Explainer(times, together()).interactions(method="greenwell"), (0.6, 1.0)


@silent("off-data")
def interactions_of_independent_features():
    return Explainer(times, sample()).interactions(method="greenwell")


# -- conditional permutation importance, compared measures, clusters ---------------------------------


@fires("determined")
def a_copy_given_the_other():
    X = together(noise=0.0)
    return Explainer(plus, X, plus(X)).importance(method="conditional"), (0.99, 1.0)


@silent("determined")
def partly_correlated_features_given_each_other():
    X = sample()
    X[:, 1] += X[:, 0]
    return Explainer(plus, X, plus(X)).importance(method="conditional")


@silent("determined")
def a_constant_given_the_others():
    X = sample()
    X[:, 1] = 1.0
    return Explainer(plus, X, plus(X)).importance(method="conditional")


@fires("draws-off-data")
def drawing_from_a_knot():
    # A curve that crosses itself many times: up to ten values of one feature for a value of the other.
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 800)
    knot = np.column_stack([np.sin(5 * angle), np.cos(4 * angle)])
    return Explainer(plus, knot).importance(method="conditional"), (0.3, 0.6)


@fires("few-carry-all")
def a_rule_of_few_points():
    X = sample(2000)

    def rule(X):
        return 100.0 * ((X[:, 0] > 2) & (X[:, 1] > 2)) + X[:, 0]

    return Explainer(rule, X).importance(method="sobol", budget=4000), (0.5, 1.0)


@silent("few-carry-all")
def tails_of_normal_features():
    return Explainer(times, sample(300)).importance(method="sobol")


@fires("draws-miss")
def drawing_from_a_blurred_knot():
    # Too blurred for points off the data; but where a value is high among those drawn, the other feature knows it.
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    knot = np.column_stack([np.sin(5 * angle), np.cos(4 * angle)]) + 0.12 * rng.normal(size=(400, 2))
    return Explainer(plus, knot).importance(method="conditional"), (0.3, 0.6)


@silent("draws-miss")
def drawing_from_a_cloud():
    return Explainer(plus, sample(300)).importance(method="conditional")


@silent("draws-off-data")
def drawing_from_a_circle():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 800)
    return Explainer(plus, np.column_stack([np.cos(angle), np.sin(angle)])).importance(method="conditional")


@silent("draws-off-data")
def drawing_given_correlated_features():
    X = together(noise=0.5)
    return Explainer(plus, X, plus(X)).importance(method="conditional")


@silent("draws-off-data")
def drawing_from_a_parabola():
    X = sample(800)
    X[:, 1] = X[:, 0] ** 2 + 0.2 * X[:, 1]
    return Explainer(plus, X, plus(X)).importance(method="conditional")


@fires("measures-disagree")
def an_interaction_that_partial_dependence_does_not_see():
    X = np.random.default_rng(3).normal(size=(500, 3))
    X -= X.mean(axis=0)
    y = 3 * times(X) + X[:, 2]
    ex = Explainer(lambda X: 3 * times(X) + X[:, 2], X, y)
    return ex.importance(method=["permutation", "pdp"]), (3.0, np.inf)


@silent("measures-disagree")
def a_linear_model_by_three_measures():
    X = sample()
    return Explainer(plus, X, plus(X)).importance(method=["permutation", "conditional", "shap"])


@fires("clustered-features")
def a_cluster_of_two_features():
    X = together()
    return Explainer(plus, X).clusters(), float(np.corrcoef(X.T)[0, 1])


@silent("clustered-features")
def no_cluster_of_independent_features():
    return Explainer(plus, sample()).clusters()


def _a_medoid_that_has_a_neighbour():
    """x3 is correlated with x0 (0.65) but less with what x0 stands for (0.52 each)."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=4000)
    return np.column_stack([x + s * rng.normal(size=4000) for s in (0, 0.75, 0.75, 1.17)])


@fires("subset-together")
def representatives_that_are_still_correlated():
    return Explainer(plus, _a_medoid_that_has_a_neighbour()).clusters(threshold=0.6), (0.6, 0.68)


@silent("subset-together")
def representatives_below_the_threshold():
    return Explainer(plus, _a_medoid_that_has_a_neighbour()).clusters(threshold=0.7)


@fires("few-rows-for-clusters")
def clusters_of_twelve_rows():
    return Explainer(plus, sample(12)).clusters(threshold=0.5), 1.959963984540054 / np.sqrt(11)


@silent("few-rows-for-clusters")
def clusters_of_four_hundred_rows():
    return Explainer(plus, sample()).clusters(threshold=0.5)


# -- decompositions ----------------------------------------------------------------------------------


@fires("off-data")
def taking_two_correlated_features_apart():
    return Explainer(plus, together()).decompose(), (0.6, 1.0)


@fires("off-data")
def taking_them_apart_over_the_whole_square():
    return Explainer(plus, together()).decompose(method="anova"), (0.6, 1.0)


@silent("off-data")
def taking_independent_features_apart():
    return Explainer(times, sample()).decompose(method="anova")


@fires("left-over")
def a_product_in_parts_of_one_feature():
    """x1 x2 of four combinations equally often: no feature does anything alone."""
    X = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)] * 50)
    return Explainer(times, X).decompose(order=1), 1.0


@silent("left-over")
def a_product_in_parts_of_two_features():
    return Explainer(times, sample()).decompose(order=2, grid=30)


@fires("merged-cells")
def a_forest_with_more_thresholds_than_places():
    X = np.random.default_rng(0).normal(size=(300, 5))
    model = RandomForestRegressor(30, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    return Explainer(model, X).decompose(grid=4), (0.01, 0.5)


@silent("merged-cells")
def a_few_trees_with_a_place_between_all_thresholds():
    X = sample()
    return Explainer(DecisionTreeRegressor(max_depth=4).fit(X, times(X)), X).decompose()


@fires("few-rows")
def parts_from_forty_rows():
    return Explainer(plus, sample(40)).decompose(), 2.5


@silent("few-rows")
def parts_from_four_hundred_rows():
    return Explainer(plus, sample()).decompose()


@fires("few-rows")
def importance_of_twenty_rows():
    X = sample(20)
    return Explainer(plus, X, plus(X) + np.random.default_rng(5).normal(size=20)).importance(), 1.5


@silent("few-rows")
def importance_of_four_hundred_rows():
    return Explainer(plus, sample(), plus(sample())).importance()


@fires("far-row")
def a_row_twice_as_far_as_the_data_go():
    X = np.column_stack([np.linspace(0, 1, 60), np.random.default_rng(0).permutation(np.linspace(0, 1, 60))])
    return Explainer(plus, X).shap([[0.5, 0.5], [0.5, 3.0]]), 2.0


@fires("far-row")
def a_step_by_step_explanation_far_below():
    X = np.column_stack([np.linspace(0, 1, 60), np.random.default_rng(0).permutation(np.linspace(0, 1, 60))])
    return Explainer(plus, X).breakdown(np.array([-1.0, 0.5])), 1.0


@silent("far-row")
def every_row_of_the_data():
    return Explainer(plus, sample(60)).shap(range(60))


@fires("heterogeneous")
def local_changes_that_turn_with_another_feature():
    return Explainer(lambda X: X[:, 0] * np.sign(X[:, 1]), sample()).ale(0), (0.9, 1.0)


@silent("heterogeneous")
def local_changes_of_a_curve():
    return Explainer(lambda X: np.sin(2 * X[:, 0]) + X[:, 1], sample()).ale(0)


@fires("off-data")
def a_parabola_that_no_correlation_sees():
    x = np.random.default_rng(1).normal(size=400)
    return Explainer(plus, np.column_stack([x, x**2])).pdp(0), (0.3, 1.0)


@fires("training-data")
def noise_fitted_by_a_forest():
    X, y = sample(200), np.random.default_rng(3).normal(size=200)
    return Explainer(RandomForestRegressor(10, random_state=0).fit(X, y), X, y).importance(), (0.0, 1e-4)


@fires("noisy-shares")
def steps_between_few_points_of_quadrature():
    """Steps are no polynomials: half as many points give other shares."""
    return Explainer(lambda X: (X[:, 0] > 1.3) * (X[:, 1] > 1.3) * 1.0, sample()).decompose(method="anova", grid=4), (
        0.021,
        1.0,
    )


@silent("noisy-shares")
def polynomials_between_points_of_quadrature():
    return Explainer(times, sample()).decompose(method="anova")


# -- decompositions where features are correlated ------------------------------------------------------


@fires("mixed-effects")
def two_nearly_equal_columns_taken_apart():
    X = sample()
    X[:, 1] = X[:, 0] + 0.001 * X[:, 1]
    return Explainer(lambda X: np.sin(X[:, 0]) + X[:, 1] ** 2, X).decompose(method="generalized"), (0.99, 1.0)


@silent("mixed-effects")
def independent_columns_taken_apart():
    return Explainer(plus, sample()).decompose(method="generalized")


@fires("too-many-coefficients")
def many_pairs_fitted_to_few_rows():
    X = np.random.default_rng(0).normal(size=(60, 6))
    return Explainer(lambda X: X[:, 0] * X[:, 1] * X[:, 2] * X[:, 3], X).decompose(method="generalized"), (0.02, 50.0)


@silent("too-many-coefficients")
def one_pair_fitted_to_many_rows():
    return Explainer(times, sample(2000)).decompose(method="generalized")


@fires("off-data")
def a_uniform_density_over_two_correlated_features():
    return Explainer(plus, together()).decompose(method="generalized", density="uniform"), (0.5, 1.0)


@silent("off-data")
def the_density_of_the_data_for_two_correlated_features():
    return Explainer(plus, together()).decompose(method="generalized")


@fires("empty-cells")
def local_effects_of_two_correlated_features_taken_apart():
    return Explainer(times, together(noise=0.01)).decompose(method="ale", grid=9), (0.6, 0.95)


@silent("empty-cells")
def local_effects_of_independent_features_taken_apart():
    return Explainer(times, sample(2000)).decompose(method="ale")


# -- models fitted again ----------------------------------------------------------------------------


# -- importance by fitting again -----------------------------------------------------------------------


def first_and_noise(n=400):
    """Two independent features, and an outcome of the first and noise of variance one."""
    X = sample(n)
    return X, X[:, 0] + np.random.default_rng(9).normal(size=n)


@fires("other-model")
def a_model_that_is_off_by_two():
    # Mean squared error 1 + 2^2 against 1 of the models fitted again.
    X, y = first_and_noise()
    ex = Explainer(lambda X: X[:, 0] + 2, X, y)
    return ex.importance(method="drop", refit=LinearRegression()), (4.0, 6.0)


@fires("other-model")
def a_tree_that_knows_its_rows_by_heart():
    X, y = first_and_noise()
    return Explainer(DecisionTreeRegressor(random_state=0).fit(X, y), X, y).importance(folds=5), np.inf


@fires("other-model")
def p_values_on_rows_that_the_model_was_not_fitted_to():
    X, y = first_and_noise()
    ex = Explainer(DecisionTreeRegressor(random_state=0).fit(X[:200], y[:200]), X[200:], y[200:])
    return ex.importance(p_values=5), (1.5, np.inf)


@silent("other-model")
def a_straight_line_fitted_again():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop")


@silent("other-model")
def p_values_on_the_rows_the_model_was_fitted_to():
    X, y = first_and_noise()
    ex = Explainer(DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y), X, y)
    return ex.importance(p_values=5)


@fires("fewer-rows")
def two_folds():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(folds=2), 0.5


@fires("fewer-rows")
def one_fold_larger_than_the_others():
    X, y = first_and_noise()
    fold = np.where(np.arange(400) < 160, 0, np.arange(400) % 7 + 1)
    return Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop", folds=fold), 0.4


@silent("fewer-rows")
def four_folds():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(folds=4)


@fires("unsteady-folds")
def one_row_makes_the_importance():
    X, y = first_and_noise(50)
    y[7] += 40 * X[7, 0]
    return Explainer(LinearRegression().fit(X, y), X, y).importance(method="drop"), (0.5, 10.0)


@fires("unsteady-folds")
def three_folds_of_known_importance():
    # The feature's importance 2 var(x0) is 2, 4 and 12 in the folds (n/(n-1) each): sd / mean = sqrt(28) / 6.
    size = np.tile([1.0, -1.0], 30)
    fold = np.repeat([0, 1, 2], 20)
    X = np.column_stack([size * np.sqrt(np.array([1.0, 2.0, 6.0]))[fold], np.zeros(60)])
    ex = Explainer(lambda X: X[:, 0], X, X[:, 0] + 0.01 * sample(60)[:, 0])
    found = ex.importance(folds=fold, scheme="pairs", refit=lambda X, y: lambda Z: Z[:, 0])
    return found, (0.99 * np.sqrt(28) / 6, 1.01 * np.sqrt(28) / 6)


@silent("unsteady-folds")
def many_rows_in_every_fold():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(folds=5)


@fires("coarse-p-values")
def nine_refits_for_two_features():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(p_values=9), 0.1


@silent("coarse-p-values")
def enough_refits_for_two_features():
    X, y = first_and_noise(100)
    return Explainer(LinearRegression().fit(X, y), X, y).importance(p_values=59, repeats=1)


@silent("coarse-p-values")
def no_feature_reaches_the_smallest_p_value():
    X = sample(60)
    y = np.random.default_rng(3).normal(size=60)
    return Explainer(LinearRegression().fit(X, y), X, y).importance(p_values=9)


@fires("noise-by-heart")
def a_tree_that_learns_any_outcome():
    X, y = first_and_noise(60)
    return Explainer(DecisionTreeRegressor(random_state=0).fit(X, y), X, y).importance(p_values=3), 1.0


@silent("noise-by-heart")
def a_straight_line_learns_little_of_noise():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y), X, y).importance(p_values=3)


@silent("noise-by-heart")
def a_tree_judged_on_held_out_rows():
    X, y = first_and_noise(60)
    return Explainer(DecisionTreeRegressor(random_state=0).fit(X, y), X, y).importance(p_values=3, folds=2)


@fires("shared-importance")
def features_that_replace_each_other_in_a_fit():
    # Either of the two tells x up to a noise of variance 0.05^2; without both the variance of x is left.
    X = together()
    y = X[:, 0] + 0.1 * sample()[:, 0]
    ex = Explainer(LinearRegression().fit(X, y), X, y)
    return ex.importance(method="drop"), (0.9 * X[:, 0].var(), 1.1 * X[:, 0].var())


@fires("shared-importance")
def features_that_share_in_every_fold():
    # Both together are the whole prediction: permuting it gives twice its variance.
    X = together()
    y = X[:, 0] + X[:, 1]
    ex = Explainer(LinearRegression().fit(X, y), X, y)
    return ex.importance(folds=4), (1.8 * y.var(), 2.2 * y.var())


@silent("shared-importance")
def features_that_share_nothing_in_any_fold():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y + X[:, 1]), X, y + X[:, 1]).importance(folds=4)


@silent("shared-importance")
def features_that_do_not_replace_each_other():
    X, y = first_and_noise()
    return Explainer(LinearRegression().fit(X, y + X[:, 1]), X, y + X[:, 1]).importance(method="drop")


@silent("shared-importance")
def a_group_dropped_as_one():
    X = together()
    y = X[:, 0] + 0.1 * sample()[:, 0]
    return Explainer(LinearRegression().fit(X, y), X, y, groups={"both": [0, 1]}).importance(method="drop")


# -- Friedman's H -----------------------------------------------------------------------------------


def independent_three(n=120, seed=0):
    """Three independent features."""
    return np.random.default_rng(seed).normal(size=(n, 3))


def product_beside_a_line(X):
    return 100 * X[:, 2] + X[:, 0] * X[:, 1]


@fires("weak-joint-effect")
def a_product_beside_a_large_effect():
    return Explainer(product_beside_a_line, independent_three()).interactions(rows=120), (0.9, 1.1)


@silent("weak-joint-effect")
def a_product_that_matters():
    return Explainer(lambda X: X[:, 2] + X[:, 0] * X[:, 1], independent_three()).interactions(rows=120)


@silent("weak-joint-effect")
def a_product_in_units_of_the_prediction():
    return Explainer(product_beside_a_line, independent_three()).interactions(rows=120, normalize=False)


def always_equal(curve):
    X = np.repeat([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    return Explainer(lambda X: curve * X[:, 0] ** 2 - X[:, 0] * X[:, 1], X)


@fires("above-one")
def effects_that_cancel():
    return always_equal(0.5).interactions(), 2.0  # what is left of x^2 is a half of it


@silent("above-one")
def effects_that_do_not_cancel():
    return always_equal(-0.5).interactions()


@fires("rows-sampled")
def a_quarter_of_the_rows():
    return Explainer(times, sample()).interactions(rows=100), 4.0


@silent("rows-sampled")
def all_rows():
    return Explainer(times, sample()).interactions(rows=400)


@fires("imprecise")
def an_interaction_in_one_row():
    X = sample(60)
    X[0] = 12.0
    return Explainer(lambda X: plus(X) + times(X) * (X[:, 0] > 5), X).interactions(), (0.5, 10.0)


@silent("imprecise")
def an_interaction_everywhere():
    return Explainer(times, sample()).interactions(rows=400)


@fires("training-data")
def interactions_tested_on_training_data():
    X = independent_three(150)
    y = X[:, 0] + np.random.default_rng(1).normal(size=150)
    model = GradientBoostingRegressor(n_estimators=400, max_depth=5, random_state=0).fit(X, y)
    return Explainer(model, X, y).interactions(p_values=True), (0.0, 0.02)


@silent("training-data")
def interactions_tested_on_held_out_data():
    X = independent_three(300)
    y = X[:, 0] + np.random.default_rng(1).normal(size=300)
    model = GradientBoostingRegressor(n_estimators=400, max_depth=5, random_state=0).fit(X[:150], y[:150])
    return Explainer(model, X[150:], y[150:]).interactions(p_values=True)


# -- SAGE -------------------------------------------------------------------------------------------


@fires("imprecise")
def sage_from_few_coalitions_of_a_game_of_six():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 12))

    def rough(Z):
        return np.sign(np.prod(Z[:, :6], axis=1)) + Z[:, 6]

    y = rough(X) + rng.normal(size=2000)
    return Explainer(rough, X, y).importance(method="sage", budget=6_000), (0.5, 1e9)


@silent("imprecise")
def sage_of_all_coalitions():
    return Explainer(times, sample(), times(sample())).importance(method="sage")


@fires("shared-importance")
def sage_of_two_correlated_features():
    X = together()
    y = X[:, 0] + np.random.default_rng(3).normal(size=len(X))
    return Explainer(lambda Z: plus(Z) / 2, X, y).importance(method="sage"), (0.3, 2.0)


@silent("shared-importance")
def sage_of_independent_features():
    return Explainer(plus, sample(), plus(sample())).importance(method="sage")


@fires("training-data")
def sage_of_a_perfect_model():
    return Explainer(plus, sample(), plus(sample())).importance(method="sage"), (0.0, 1e-9)


@silent("training-data")
def sage_of_a_model_that_errs():
    y = plus(sample()) + np.random.default_rng(4).normal(size=400)
    return Explainer(plus, sample(), y).importance(method="sage")


@fires("off-data")
def sage_mixes_two_correlated_features():
    return Explainer(plus, together(), plus(together())).importance(method="sage"), (0.6, 1.0)


# -- shares of the variance -------------------------------------------------------------------------


# -- variance-based importance -----------------------------------------------------------------------


def correlated_by(r, n=400):
    """Two features whose sample correlation is exactly r."""
    z = np.random.default_rng(3).normal(size=(n, 2))
    z -= z.mean(axis=0)
    z = np.linalg.svd(z, full_matrices=False)[0] * np.sqrt(n)
    return np.column_stack([z[:, 0], r * z[:, 0] + np.sqrt(1 - r**2) * z[:, 1]])


@fires("independence-assumed")
def shares_of_variance_of_correlated_features():
    return Explainer(plus, correlated_by(0.6)).importance(method="sobol"), 0.6


@silent("independence-assumed")
def shares_of_variance_of_independent_features():
    return Explainer(plus, correlated_by(0.1)).importance(method="sobol")


@silent("independence-assumed")
def a_companion_that_the_model_does_not_use():
    return Explainer(lambda X: X[:, 0], correlated_by(0.6)).importance(method="anova")


def steps(X):
    return np.floor(5 * np.sin(7 * X[:, 0] * X[:, 1])) + np.floor(3 * np.sin(9 * X[:, 0]))


@fires("rough-shares")
def steps_from_a_small_budget():
    return Explainer(steps, sample()).importance(method="sobol", budget=500), (0.1, 1.0)


@fires("rough-shares")
def effects_from_a_small_budget():
    return Explainer(steps, sample()).importance(method="shapley-effects", budget=100), (0.1, 1.0)


@silent("rough-shares")
def steps_from_the_usual_budget():
    return Explainer(steps, sample()).importance(method="sobol")


@fires("not-borne-out")
def a_feature_that_the_outcome_has_nothing_to_do_with():
    X = sample(1000)
    return Explainer(plus, X, X[:, 0]).importance(method="sobol"), (0.85, 1.15)


@fires("not-borne-out")
def a_feature_of_wrong_sign():
    X = sample(1000)
    labels = X[:, 0] > 0
    model = LogisticRegression().fit(np.column_stack([X[:, 0], -X[:, 0]]), labels)
    model.coef_ = np.array([[2.0, 2.0]])
    return Explainer(model, X, labels).importance(method="shapley-effects"), (0.75, 1.4)


@silent("not-borne-out")
def features_that_the_outcome_bears_out():
    X = sample(1000)
    return Explainer(plus, X, plus(X) + np.random.default_rng(5).normal(size=1000)).importance(method="sobol")


@fires("borrowed-share")
def an_unused_correlated_feature():
    # The share of an unused feature is r^2 / 2.
    return Explainer(lambda X: X[:, 0], correlated_by(0.9)).importance(method="shapley-effects"), (0.36, 0.45)


@silent("borrowed-share")
def an_unused_feature_that_goes_alone():
    return Explainer(lambda X: X[:, 0], correlated_by(0.0)).importance(method="shapley-effects")


@silent("borrowed-share")
def a_used_correlated_feature():
    return Explainer(plus, correlated_by(0.9)).importance(method="shapley-effects")


# -- local models ------------------------------------------------------------------------------------


def bent(X):
    """Falls from 1 on, rises before."""
    x = X[:, 0]
    return np.where(x > 1, -x + 10 - 0.05 * x**2, (x + 2) ** 2)


@fires("width-decides")
def a_slope_that_turns_with_the_width():
    X = np.random.default_rng(0).normal(0, 3, size=(500, 1))
    return Explainer(bent, X).lime({"x0": 2.2}), 1.0


@silent("width-decides")
def a_line_at_every_width():
    return Explainer(plus, sample()).lime(0)


@fires("low-fidelity")
def a_bowl_seen_from_its_bottom():
    # Around its lowest point a bowl is no line: nothing of it is explained.
    return Explainer(lambda X: (X**2).sum(axis=1), sample()).lime({"x0": 0.0, "x1": 0.0}), (0.8, 1.2)


@silent("low-fidelity")
def a_bowl_seen_from_its_side():
    return Explainer(lambda X: (X**2).sum(axis=1), sample()).lime({"x0": 1.5, "x1": 1.5})


@fires("local-miss")
def a_peak_that_the_line_cannot_reach():
    # At the peak the model says 1, the samples around it hardly more than nothing.
    peak = Explainer(lambda X: np.exp(-50 * (X**2).sum(axis=1)), sample())
    return peak.lime({"x0": 0.0, "x1": 0.0}, width=2.0), (4.0, 30.0)


@silent("local-miss")
def a_line_reaches_every_prediction():
    return Explainer(plus, sample()).lime(0)


@fires("unstable")
def ten_equal_features_and_two_to_choose():
    X = np.random.default_rng(0).normal(size=(300, 10))
    return Explainer(lambda X: np.tanh(X).sum(axis=1), X).lime(0, features=2, samples=500), (0.3, 0.95)


@silent("unstable")
def two_features_that_stand_out():
    X = np.random.default_rng(0).normal(size=(300, 10))
    return Explainer(lambda X: X @ [5.0, 4.0, *[0.1] * 8], X).lime(0, features=2)


@fires("nothing-near")
def forty_features():
    X = np.random.default_rng(0).normal(size=(300, 40))
    return Explainer(lambda X: X[:, 0], X).lime(0, width="default"), (0.75, 0.95)


@silent("nothing-near")
def two_features():
    return Explainer(plus, sample()).lime(0)


@fires("lossy-space")
def a_space_without_the_second_feature():
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[0] = 0.0, 3.0
    forgetful = (lambda Z: Z[:, :1], lambda Z: np.column_stack([Z, np.zeros(len(Z))]))
    return Explainer(lambda X: X[:, 0] + X[:, 1], X).lime(0, space=forgetful), (2.8, 3.3)


@silent("lossy-space")
def a_space_that_keeps_all():
    X = np.random.default_rng(0).normal(size=(300, 2))
    return Explainer(lambda X: X[:, 0] + X[:, 1], X).lime(0, space=(lambda Z: Z * 2, lambda Z: Z / 2))


@fires("not-shown")
def one_row_for_two_worlds():
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = Explainer(lambda X: np.where(X[:, 0] > 0, 3 * X[:, 1], 3 * X[:, 2]), X)
    return model.lime_pick(1, sample=20, features=1, width=0.8, sampler="around"), (0.2, 0.9)


@silent("not-shown")
def one_row_for_one_world():
    return Explainer(plus, sample()).lime_pick(1, sample=10, features=2)


@fires("off-data")
def local_samples_of_two_correlated_features():
    return Explainer(plus, together()).lime(0), (0.6, 1.0)


@silent("off-data")
def local_samples_with_their_correlations():
    return Explainer(plus, together()).lime(0, sampler="correlated")


@fires("fooled")
def a_local_model_of_one_that_hides_from_mixtures():
    X = people()
    return Explainer(attack(X, above(0, 0.5), above(5, 0.0)), X).lime([0, 1]), (0.5, 1.0)


@silent("fooled")
def a_local_model_of_one_that_does_not_hide():
    return Explainer(above(0, 0.5), people()).lime([0, 1])


# -- local models and rules of texts ----------------------------------------------------------------


def _either(texts):
    return np.array([float("free" in text or "click" in text) for text in texts])


def _not_both(texts):
    return np.array([float(("buy" in text) != ("cheap" in text)) for text in texts])


@fires("low-fidelity")
def a_local_model_of_words_that_only_work_together():
    return TextExplainer(_not_both).lime("buy a cheap phone"), (0.8, 0.9)


@silent("low-fidelity")
def a_local_model_of_words_that_add_up():
    return TextExplainer(lambda texts: [text.count("e") for text in texts]).lime("buy a cheap phone")


@fires("unstable")
def a_local_model_of_a_few_variants_of_noise():
    noise, rng = {}, np.random.default_rng(0)

    def f(texts):
        return np.array([noise.setdefault(text, rng.normal()) for text in texts])

    return TextExplainer(f).lime(" ".join("abcdefghijklmnop"), samples=100), (0.3, 1.0)


@silent("unstable")
def a_local_model_of_words_that_stay():
    return TextExplainer(lambda texts: [text.count("e") for text in texts]).lime(" ".join("abcdefghijklmnop"))


@fires("anchor-unreached")
def an_anchor_of_one_word_where_two_are_needed():
    def f(texts):
        return np.array([float("free" in text and "click" in text) for text in texts])

    return TextExplainer(f).anchor("click for a free phone", max_conditions=1), (0.3, 1.0)


@silent("anchor-unreached")
@silent("anchor-imbalance")
@silent("anchor-long")
@silent("absence")
def an_anchor_of_one_word():
    return TextExplainer(_either).anchor("click for a phone now")


@fires("anchor-imbalance")
def an_anchor_of_a_text_that_says_nothing():
    return TextExplainer(_either).anchor("some other text"), 1.0


@fires("anchor-long")
def an_anchor_of_all_words():
    return TextExplainer(lambda texts: [float(len(text.split()) > 6) for text in texts]).anchor(
        "one two three four five six seven"
    ), 1.0


@fires("absence")
def an_anchor_that_a_mask_breaks():
    def f(texts):
        return np.array([float("free" in text and "UNK" not in text) for text in texts])

    return TextExplainer(f).anchor("click here for a free phone"), (0.8, 1.0)


# -- anchors -----------------------------------------------------------------------------------------


def switches(p, copies=5):
    """Every combination of p switches, equally often."""
    return np.array([[(i >> j) & 1 for j in range(p)] for i in range(2**p) for _ in range(copies)], dtype=float)


def all_on(X):
    return X.all(axis=1).astype(float)


@fires("anchor-unreached")
def one_condition_where_three_are_needed():
    # With one of three switches fixed a quarter of the rows has the other two.
    ex = Explainer(all_on, switches(3, 25))
    return ex.anchor(np.ones(3), within=0.1, max_conditions=1), 0.75


@fires("anchor-unreached")
def too_few_model_rows():
    X = np.random.default_rng(0).normal(size=(400, 8))
    ex = Explainer(lambda X: (X.sum(axis=1) > 4) * 1.0, X)
    return ex.anchor(int(X.sum(axis=1).argmax()), within=0.1, budget=2000), (0.05, 1.0)


@silent("anchor-unreached")
def as_many_conditions_as_needed():
    return Explainer(all_on, switches(3, 25)).anchor(np.ones(3), within=0.1)


@fires("anchor-imbalance")
def nearly_all_rows_get_this_prediction():
    return Explainer(all_on, switches(4, 20)).anchor(np.zeros(4), within=0.1, precision=0.9), 15 / 16


@fires("anchor-imbalance")
def hardly_any_row_gets_this_prediction():
    return Explainer(all_on, switches(5)).anchor(np.ones(5), within=0.1), 31 / 32


@silent("anchor-imbalance")
def half_of_the_rows_get_this_prediction():
    return Explainer(lambda X: X[:, 0], switches(4)).anchor(np.ones(4), within=0.1)


@silent("anchor-imbalance")
def perturbations_of_both_kinds_equally_often():
    ex = Explainer(all_on, switches(4, 20))
    return ex.anchor(np.zeros(4), within=0.1, precision=0.9, perturb="balanced")


@fires("anchor-boundary")
def a_row_that_any_change_takes_elsewhere():
    return Explainer(all_on, switches(6)).anchor(np.ones(6), within=0.1), 63 / 64


@silent("anchor-boundary")
def a_row_far_from_the_boundary():
    return Explainer(lambda X: X[:, 0], switches(6)).anchor(np.ones(6), within=0.1)


def ladder(n=400):
    return np.column_stack([(np.arange(n) + 0.5) / n, np.tile([0.0, 1.0], n // 2)])


@fires("anchor-bins")
def a_hole_beside_the_row():
    # Of the quarter from 0.25 to 0.5 a part of 0.15 is predicted otherwise, all of it in the eighth of the row.
    def holed(X):
        hole = (X[:, 0] > 0.27) & (X[:, 0] <= 0.3075)
        return ((X[:, 0] > 0.25) & (X[:, 0] <= 0.5) & ~hole).astype(float)

    return Explainer(holed, ladder()).anchor(np.array([0.26, 0.0]), within=0.1, precision=0.8), (0.06, 0.26)


@fires("anchor-bins")
def bins_narrower_than_needed():
    return Explainer(lambda X: (X[:, 0] > 0.5) * 1.0, ladder()).anchor(np.array([0.9, 0.0]), within=0.1), 1.0


@silent("anchor-bins")
def bins_cut_at_the_boundary():
    return Explainer(lambda X: (X[:, 0] > 0.75) * 1.0, ladder()).anchor(np.array([0.9, 0.0]), within=0.1)


@fires("off-data")
def a_rule_on_one_of_two_correlated_features():
    X = together()
    return Explainer(lambda X: (X[:, 0] > 0.7) * 1.0, X).anchor(np.array([2.0, 2.0]), within=0.1), (0.6, 1.0)


@silent("off-data")
def a_rule_on_rows_as_they_are():
    X = together(2000)
    ex = Explainer(lambda X: (X[:, 0] > 0.7) * 1.0, X)
    return ex.anchor(np.array([2.0, 2.0]), within=0.1, perturb="conditional")


# -- the same prediction in several ways -------------------------------------------------------------


def _in_two_ways(model, row, **options):
    ex = Explainer(model, sample())
    return agreement(ex.shap(row), ex.lime(row, **options), checks=ex._checks)


@fires("methods-disagree")
def beyond_the_top_of_a_hill():
    found = _in_two_ways(lambda X: 3 * np.exp(-2 * (X[:, 0] - 1.2) ** 2), np.array([1.8, 0.5]), width=0.3)
    return found, 2.0  # one minus the cosine of opposite directions


@silent("methods-disagree")
def a_linear_model_in_two_ways():
    return _in_two_ways(plus, np.array([1.8, 0.5]))


def _logistic():
    X = sample()
    return Explainer(LogisticRegression().fit(X, X[:, 0] > 0), X)


@fires("two-scales")
def log_odds_beside_probabilities():
    ex = _logistic()
    return agreement(ex.shap(0, scale="log-odds"), ex.lime(0), checks=ex._checks), 0.5


@silent("two-scales")
def probabilities_in_two_ways():
    ex = _logistic()
    return agreement(ex.shap(0), ex.lime(0), checks=ex._checks)


# -- counterfactuals of texts and images -------------------------------------------------------------


def _words_wanted(n):
    """A text counts while it has so many words."""

    def f(texts):
        return [float(len(text.split()) >= n) for text in texts]

    return TextExplainer(f, class_names=("short", "long")).counterfactuals("a b c d e f g h", n=2)


@fires("long-answer")
def seven_of_eight_words_have_to_go():
    return _words_wanted(2), 7 / 8


@silent("long-answer")
def one_of_eight_words_has_to_go():
    return _words_wanted(8)


@fires("absence")
def a_mask_counts_as_a_word():
    return _words_wanted(6), 1.0


@fires("rashomon")
def any_word_would_do():
    return _words_wanted(8), 8.0


# -- counterfactuals ---------------------------------------------------------------------------------


def answers(model, X, row, target, **options):
    names = [f"x{j}" for j in range(np.shape(X)[1])] if isinstance(X, np.ndarray) else None
    y = options.pop("y", None)
    return Explainer(model, X, y, feature_names=names).counterfactuals(row, target, **options)


def first_feature(X):
    return X[:, 0]


@fires("rashomon")
def any_of_four_features_would_do():
    X = np.round(np.random.default_rng(0).uniform(0, 10, (200, 4)), 1)
    return answers(lambda X: X.max(axis=1), X, np.full(4, 5.0), ">= 6"), (3, 4)


@silent("rashomon")
def one_feature_would_do():
    return answers(first_feature, sample(), np.zeros(2), ">= 1")


@fires("off-data-answer")
def the_answer_lies_beside_a_line_of_data():
    return answers(lambda X: X[:, 0] - X[:, 1], together(), np.zeros(2), ">= 2"), (0.95, 1.0)


@silent("off-data-answer")
def the_answer_lies_among_the_data():
    return answers(first_feature, sample(), np.zeros(2), ">= 1")


@fires("fragile")
def a_target_as_thin_as_a_hair():
    return answers(first_feature, sample(), np.zeros(2), (1.0, 1.001)), (0.9, 1.0)


@silent("fragile")
def a_target_behind_an_edge():
    return answers(first_feature, sample(), np.zeros(2), ">= 1")


@fires("protected")
def only_a_protected_feature_would_do():
    return answers(first_feature, sample(), np.zeros(2), ">= 1", protected="x0"), 1.0


@silent("protected")
def a_protected_feature_that_nothing_needs():
    return answers(first_feature, sample(), np.zeros(2), ">= 1", protected="x1")


def ages_and_hours():
    return pd.DataFrame(np.round(10 * sample()), columns=["age", "hours"])


@fires("uncontrollable")
def only_another_age_would_do():
    return answers(lambda X: X["age"], ages_and_hours(), {"age": 0, "hours": 0}, ">= 5"), 1.0


@silent("uncontrollable")
def age_may_rise():
    return answers(lambda X: X["age"], ages_and_hours(), {"age": 0, "hours": 0}, ">= 5", monotone={"age": "up"})


@fires("moved-apart")
def one_of_two_correlated_features_moves():
    return answers(first_feature, together(), np.zeros(2), ">= 1.5"), (0.6, 1.0)


@silent("moved-apart")
def one_of_two_independent_features_moves():
    return answers(first_feature, sample(), np.zeros(2), ">= 1.5")


@fires("model-not-world")
def rows_like_the_answer_had_another_outcome():
    X = sample()
    return answers(first_feature, X, np.zeros(2), ">= 1", y=X[:, 0] - 5), 1.0


@silent("model-not-world")
def rows_like_the_answer_had_such_an_outcome():
    X = sample()
    return answers(first_feature, X, np.zeros(2), ">= 1", y=X[:, 0])


@fires("target-missed")
def the_nearest_miss():
    X = np.round(sample())
    return answers(first_feature, X, np.zeros(2), ">= 10", best_effort=True), 10 - X[:, 0].max()


@silent("target-missed")
def a_target_within_reach():
    return answers(first_feature, sample(), np.zeros(2), ">= 1", best_effort=True)


@fires("budget-spent")
def a_search_of_few_rows():
    return answers(plus, sample(), np.zeros(2), ">= 1", method="moc", budget=40), 1.0


@silent("budget-spent")
def a_search_to_its_end():
    return answers(plus, sample(), np.zeros(2), ">= 1", method="neighbours")


# -- how good the model is ---------------------------------------------------------------------------


def _performance(rare):
    X = sample()
    y = (np.arange(len(X)) < rare).astype(int)
    return Explainer(LogisticRegression().fit(X, y), X, y).performance()


@fires("rare-class")
def twelve_rows_of_a_class():
    return _performance(12), 30 / 12


@silent("rare-class")
def enough_rows_of_each_class():
    return _performance(100)
