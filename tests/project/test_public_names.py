"""What people's code calls stays where it is."""

import inspect

import pellucid
from pellucid import Explainer

NAMES = {
    "__version__",
    "Agreement",
    "agreement",
    "Anchor",
    "Associations",
    "Attribution",
    "Audit",
    "Caveat",
    "Clusters",
    "Coefficients",
    "Condition",
    "Counterfactuals",
    "datasets",
    "DecisionList",
    "Decomposition",
    "Effect",
    "Effects",
    "Explainer",
    "Explanation",
    "FragileRows",
    "glassbox",
    "ImageAttack",
    "ImageAttribution",
    "ImageCounterfactuals",
    "ImageExplainer",
    "ImageRule",
    "Importance",
    "ImportanceComparison",
    "Influence",
    "InputError",
    "Interactions",
    "load",
    "LocalAttribution",
    "LocalImageAttribution",
    "LocalTextAttribution",
    "MissingExtra",
    "ModelError",
    "Neighbors",
    "Network",
    "panel",
    "PellucidError",
    "Performance",
    "Pick",
    "pick_rows",
    "Predictor",
    "Prototypes",
    "RowGenerator",
    "Rule",
    "RuleCheck",
    "Rules",
    "shapley",
    "Surrogate",
    "Surrogates",
    "TextAttribution",
    "TextCounterfactuals",
    "TextExplainer",
    "TextRule",
    "Poisoning",
    "RobustFit",
    "Triage",
    "WordImportance",
}

SIGNATURES = {
    "__init__": "model X y output link categorical groups feature_names class_names labels units background sample_weight row_labels random_state n_jobs progress checks",
    "pdp": "features grid at kind center pure rows",
    "ice": "feature rows sample grid at center derivative",
    "ale": "features bins total order gradient",
    "mplot": "feature bins",
    "importance": "method loss compare repeats scheme p_values grid at ranges holdout folds refit budget tolerance",
    "interactions": "features method against normalize p_values rows network",
    "decompose": "method order features grid at density",
    "lime": "row features samples space sampler distance width kernel model select tolerance boundary",
    "lime_pick": "budget rows sample options",
    "anchor": "rows precision delta epsilon beams batch bins perturb max_conditions budget empty_evaluations suboptimal within",
    "check_rule": "rule rows",
    "adversarial": "row target norm n fixed ranges budget seconds sample",
    "counterfactuals": "row target method n fixed ranges monotone relations feasible max_changes distance costs protected polish best_effort budget seconds effort refits refit surface options",
    "clusters": "threshold importance",
    "prototypes": "n criticisms method by features kernel width sample",
    "neighbors": "row n distance",
    "associations": "",
    "audit": "holdout",
    "performance": "bins",
    "triage": "new folds changed refit",
    "poisoning": "row target refit budget",
    "robust": "without folds refit",
    "influence": "rows method on refit together budget",
    "surrogate": "kind rows weights near size folds",
    "breakdown": "row order interactions",
    "shap": "rows method game budget tolerance interactions scale conditional sparse proxy",
    "predict": "rows",
    "report": "path title top rows detail",
}


def test_public_names():
    assert set(pellucid.__all__) == NAMES
    assert set(dir(pellucid)) == NAMES
    for name in NAMES:
        assert getattr(pellucid, name) is not None


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(pellucid, "explain_everything")


def test_signatures_of_the_explainer():
    public = {name for name in dir(Explainer) if not name.startswith("_")} | {"__init__"}
    assert public == set(SIGNATURES)
    for name, parameters in SIGNATURES.items():
        signature = inspect.signature(getattr(Explainer, name))
        assert " ".join(list(signature.parameters)[1:]) == parameters


def test_every_public_name_is_documented():
    for name in NAMES - {"__version__"}:
        assert (getattr(pellucid, name).__doc__ or "").strip(), name
    for name in SIGNATURES:
        if name != "__init__":
            assert (getattr(Explainer, name).__doc__ or "").strip(), name
