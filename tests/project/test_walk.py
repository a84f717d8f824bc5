"""The walk in docs/how_it_works.md goes through the files that `ex.shap(0).plot()` enters, in that order."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid

PACKAGE = Path(pellucid.__file__).parent
DOCS = Path(__file__).resolve().parents[2] / "docs" / "how_it_works.md"


def entered() -> list[str]:
    """The files of the package in the order in which a second, warm call enters them for the first time."""
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(8,), random_state=0))
    ex = pellucid.Explainer(model.fit(X, X[:, 0] + X[:, 1] * X[:, 2]), X, progress=False)
    ex.shap(0).plot()
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            seen.setdefault(path.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ex.shap(0).plot()
    finally:
        sys.setprofile(before)
    return list(seen)


def test_the_walk_is_the_one_that_the_code_takes():
    (walk,) = re.findall(r"\n## A walk: [^\n]*\n(.*?)\n## ", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"`([a-z_/]+\.py)`", walk) == entered()
