"""Linear regression: coefficients, standard errors, effects."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid.glassbox import LinearModel


@parametrize_with_checks([LinearModel()])
def test_it_is_an_estimator(estimator, check):
    check(estimator)
