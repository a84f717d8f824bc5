"""Draws the pictures of the documentation with pellucid itself: python docs/make_pictures.py"""

from pathlib import Path

from sklearn.ensemble import HistGradientBoostingRegressor

import pellucid

HERE = Path(__file__).parent / "images"


def explainer() -> pellucid.Explainer:
    """A boosted model of simulated bicycle rentals, explained on days it has not seen."""
    days = pellucid.datasets.simulate_bike(n=2000, seed=0)
    X, y = days.X, days.y
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0)
    model.fit(X.iloc[:1400], y.iloc[:1400])
    return pellucid.Explainer(model, X.iloc[1400:].reset_index(drop=True), y.iloc[1400:])


def main() -> None:
    """Importance beside the individual curves of one feature."""
    ex = explainer()
    curves = ex.ice("temp", center=0.0).plot(width=340, height=240, title="What temperature does to each day's rentals")
    bars = ex.importance(compare="ratio").plot(width=260, height=280, title="What matters to the model")
    (bars | curves).save(HERE / "readme.png", scale=1.25)


if __name__ == "__main__":
    main()
