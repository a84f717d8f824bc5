"""The built-in example: simulated bicycle rentals and a model of them; nothing is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "Demo: daily bicycle rentals (simulated)"
_ROWS, _TRAINED = 2000, 1400


def demo_explainer(progress: Any) -> Explainer:
    """A model fitted to some of the simulated days, to be explained on the others."""
    from pellucid.datasets import simulate_bike
    from pellucid.explainer import Explainer

    days = simulate_bike(_ROWS, seed=0)
    model = demo_model().fit(days.X.iloc[:_TRAINED], days.y.iloc[:_TRAINED])
    held_out, truth = days.X.iloc[_TRAINED:], days.y.iloc[_TRAINED:]
    return Explainer(model, held_out, truth, progress=progress)


def demo_model() -> Any:
    """Boosted trees behind the usual preparation of categories and missing values."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    trees = GradientBoostingRegressor(n_estimators=150, max_depth=4, subsample=0.8, random_state=0)
    return make_pipeline(prepare, trees)
