"""Draws the pictures of the documentation with pellucid itself: python docs/make_pictures.py"""

import re
from pathlib import Path
from typing import Any

from sklearn.ensemble import HistGradientBoostingRegressor

import pellucid
from pellucid.charts.png import smaller

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
    counterfactuals()


def counterfactuals() -> None:
    """The charts of docs/counterfactuals.md, of the example that the page itself has."""
    page = (HERE.parent / "counterfactuals.md").read_text(encoding="utf-8")
    known: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[:1]:
        exec(code, known)
    HERE.joinpath("counterfactuals").mkdir(exist_ok=True)
    for kind in ("changes", "pareto", "parallel", "surface", "frequency"):
        file = HERE / "counterfactuals" / f"{kind}.png"
        file.write_bytes(smaller(known["found"].plot(kind=kind).save(file, scale=1.25).read_bytes()))


if __name__ == "__main__":
    main()
