"""Explainers and documents that several test files look at; built once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer
from pellucid.cli.app import DEMO_TITLE, demo_explainer
from pellucid.report import build as short_report
from pellucid.report import why
from pellucid.report.cards import section
from report.documents import full_report as build

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quoted\" & 'single'",
    "{{ jinja }} {% raw %}",
    "größe 身長 \u2028 <!-- line",
    "date",
    "town",
)
LABELS = np.array(["<i>one</i>", "</script>two", "drei"])


class HostileModel:
    """Three classes; every name that comes from the data would do harm if it were not escaped."""

    classes_ = LABELS

    def fit(self, X: Any, y: Any = None) -> HostileModel:
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        a, b = X[HOSTILE[0]].to_numpy(), X[HOSTILE[2]].fillna(-3).to_numpy()
        here = (X["town"].astype(str) == "Zürich").to_numpy().astype(float)
        days = (X["date"] - pd.Timestamp("2024-01-01")).dt.days.to_numpy()
        z = np.stack([a + 2 * np.sin(days / 130), b * here + here, -0.5 * a * X[HOSTILE[1]].to_numpy()], axis=1)
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def predict(self, X: pd.DataFrame) -> Any:
        return LABELS[self.predict_proba(X).argmax(axis=1)]


def _hostile(n: int = 240) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=n) for name in HOSTILE[:5]})
    X.loc[::9, HOSTILE[2]] = np.nan
    X["date"] = pd.date_range("2024-01-01", periods=n)
    X["town"] = pd.Categorical(rng.choice(["<b>bold</b>", "</script>", "Zürich", "{{7*7}}"], n))
    shares = HostileModel().predict_proba(X)
    return X, LABELS[[rng.choice(3, p=row) for row in shares]]


@pytest.fixture(scope="session")
def bike() -> Explainer:
    return demo_explainer(False)


@pytest.fixture(scope="session")
def demo_document(bike: Explainer) -> dict[str, Any]:
    return build(bike, title=DEMO_TITLE)


@pytest.fixture(scope="session")
def short_document(bike: Explainer) -> dict[str, Any]:
    return short_report(bike, title=DEMO_TITLE)


@pytest.fixture(scope="session")
def hostile_document() -> dict[str, Any]:
    X, y = _hostile()
    explainer = Explainer(HostileModel(), X, y, progress=False)
    return build(explainer, title="<script>alert('title')</script>", rows=[5])


@contextmanager
def _left_out() -> Iterator[None]:
    """Reports leave out what takes longest, single rows in other ways and what would change their predictions: chapters
    with tests of their own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("pellucid.report.build"), "change_sections", lambda *_, **__: [])
        patch.setattr(why, "_ways_section", lambda *_: section("ways", why.OTHER_TITLE, []))
        yield


@pytest.fixture
def without_single_rows() -> Iterator[None]:
    with _left_out():
        yield


@pytest.fixture
def without_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports compare no measures of importance: conditional importance takes longest of what is left."""
    monkeypatch.setattr(import_module("pellucid.report.build"), "measure_card", lambda *_: (None, []))


@pytest.fixture(scope="module")
def all_without_single_rows(demo_document: dict[str, Any]) -> Iterator[None]:
    """For all of a module; the demo, which all tests share, is made whole before."""
    del demo_document
    with _left_out():
        yield


@pytest.fixture
def linear() -> Callable[..., Explainer]:
    """An Explainer of a weighted sum of independent features."""

    def make(
        weights: list[float], *, n: int = 80, with_y: bool = True, noise: float = 0.1, **options: Any
    ) -> Explainer:
        rng = np.random.default_rng(1)
        w = np.array(weights)
        X = pd.DataFrame(rng.normal(size=(n, len(w))), columns=[f"x{j}" for j in range(len(w))])
        y = X.to_numpy() @ w + noise * rng.normal(size=n) if with_y else None

        def model(rows: Any) -> Any:
            return np.asarray(rows, dtype=float) @ w

        return Explainer(model, X, y, progress=False, **options)

    return make
