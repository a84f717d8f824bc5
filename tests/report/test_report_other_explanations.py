"""The chapter that explains the individual rows in other ways: beside the contributions, with their agreement."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from pellucid import Agreement, Explainer, InputError, agreement
from pellucid.report import why
from pellucid.runner import Cost
from pellucid.words import number, percent
from report.documents import full_report as build
from report.documents import part


def test_every_individual_row_is_explained_in_three_ways(demo_document: dict[str, Any]) -> None:
    shown = [card["id"] for card in part(demo_document, "rows")["cards"]]
    found = part(demo_document, "ways")
    assert found["cards"], found["intro"]
    assert [card["id"].replace("ways", "row") for card in found["cards"]] == shown
    names = [card["title"].removeprefix("Row ").split(":")[0] for card in part(demo_document, "rows")["cards"]]
    assert [line[0] for line in found["table"]["rows"]] == names
    assert names == [name.split("-")[1] for name in shown]
    for card in found["cards"]:
        assert len(card["chart"]["concat"]) == 3
        assert any(line.startswith("IF ") for line in card["sentences"])


def test_the_table_is_that_of_the_methods_themselves(bike: Explainer, demo_document: dict[str, Any]) -> None:
    line = part(demo_document, "ways")["table"]["rows"][0]
    places = [int(card["id"].split("-")[1]) for card in part(demo_document, "ways")["cards"]]
    rules = bike.anchor(places, budget=20_000 * len(places))
    own = agreement(bike.shap(places).row(0), bike.lime(places).row(0), rules[0])
    assert line[1:] == [
        ", ".join(own.first(0)), ", ".join(own.first(1)), number(own.likeness), ", ".join(own.rule.players), percent(own.on_rule),
    ]  # fmt: skip


def test_the_ways_agree_about_the_extremes_of_a_weighted_sum(linear: Callable[..., Explainer]) -> None:
    document = build(linear([3.0, -2.0, 0.5]))
    why = {card["id"].split("-")[1]: card["title"] for card in part(document, "rows")["cards"]}
    likeness = [float(line[3]) for line in part(document, "ways")["table"]["rows"] if "est prediction" in why[line[0]]]
    assert len(likeness) == 2
    assert min(likeness) > 0.99


def test_each_row_is_explained_for_the_class_predicted_for_it() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = Explainer(model, X, y, progress=False)
    places = [0, 60, 120]
    document = build(explainer, rows=places)
    cards = {card["id"]: card for card in part(document, "ways")["cards"]}
    for place in places:
        predicted = str(model.predict(X.iloc[[place]])[0])
        assert f"THEN PREDICT {predicted} " in " ".join(cards[f"ways-{place}"]["sentences"])
        assert f"of {predicted}" in str(cards[f"ways-{place}"]["chart"])


def test_without_rules_the_reason_is_said(linear: Callable[..., Explainer], golden: Any) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise InputError("no rules today.")

    explainer = linear([1.0, 2.0])
    explainer.anchor = refuse  # type: ignore[method-assign]
    found = part(build(explainer), "ways")
    golden("report", "without rules", next(line for line in found["intro"] if "no rules today." in line))
    assert all(len(card["chart"]["concat"]) == 2 for card in found["cards"])
    assert {line[4] for line in found["table"]["rows"]} == {"none"}


def test_without_local_models_the_reason_is_said(linear: Callable[..., Explainer], golden: Any) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise InputError("no local models today.")

    explainer = linear([1.0, 2.0])
    explainer.lime = refuse  # type: ignore[method-assign]
    found = part(build(explainer), "ways")
    golden("report", "without local models", found["intro"])
    assert found["cards"] == []


def test_a_slow_model_is_not_asked(linear: Callable[..., Explainer], golden: Any) -> None:
    explainer = linear([1.0, 2.0])
    work = why.Work(1, None)
    cost = Cost(model_rows=1000, model_seconds=500.0, model_calls=1, total_seconds=500.0)
    work.results.append(SimpleNamespace(cost=cost))  # type: ignore[arg-type]
    found = why._ways_section(explainer, None, None, work)  # type: ignore[arg-type]
    golden("report", "rows in other ways: a slow model", found["intro"])
    assert found["cards"] == []


@pytest.mark.parametrize(
    ("likeness", "kind"),
    [([0.95, 0.99], "all agree"), ([0.95, 0.7, -0.5, 0.1, np.nan], "some agree"), ([np.nan], "nothing to compare")],
)
def test_the_agreement_in_a_sentence(likeness: list[float], kind: str, golden: Any) -> None:
    class One(Agreement):
        def __init__(self, value: float) -> None:
            object.__setattr__(self, "value", value)

        likeness = property(lambda self: self.value)  # type: ignore[assignment]

    said = why._overall([One(value) for value in likeness])
    golden("report", f"contributions and local models: {kind}", said)
