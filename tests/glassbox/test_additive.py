"""AdditiveModel: an estimator like any other."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid.glassbox import AdditiveModel

MODELS = [AdditiveModel(pairs="auto"), AdditiveModel(family="gaussian"), AdditiveModel(family="binomial")]


@parametrize_with_checks(MODELS)
def test_it_is_an_estimator(estimator, check):
    check(estimator)
