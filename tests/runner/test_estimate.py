"""How long a call will take is said once, soon, to whoever reads, with what makes it faster."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import pellucid
from pellucid.runner import Intervention, Run, estimate, progress
from pellucid.runner.estimate import Estimate, sentence
from runner.asking import numbers


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def said(monkeypatch):
    """What is said."""
    sentences = []
    monkeypatch.setattr(estimate, "say", sentences.append)
    return sentences


def call(progress, seconds_per_row, rows=1000, batches=10, what="Shapley values", levers=()):
    clock = Clock()
    own = Estimate(progress, what, clock=clock)
    for lever in levers:
        own.scales_with(*lever)
    own.plan(rows)
    for _ in range(batches):
        clock.now += seconds_per_row * rows / batches
        own.advance(rows // batches, "model row")


def test_a_long_call_is_announced_once(said):
    call(True, 0.02)  # 20 seconds
    assert len(said) == 1
    assert "about 18 s more (1,000 model rows in all)" in said[0]
    assert "budget=" in said[0]


def test_what_an_option_would_save_is_said_in_seconds(said):
    call(True, 0.1, what="local models", levers=[("samples", 5000, 500, 1), (estimate.FEWER_ROWS, 3, 1, 1)])  # 100 s
    assert re.search(r"samples=500 .*5,000.* 10 s; 1 row .* 33 s", said[0])
    assert "fewer" not in said[0]  # said once, with its seconds
    call(True, 0.04, what="interactions", levers=[("rows", 200, 50, 2)])  # 40 s, with the square of the rows
    assert re.search(r"rows=100 .*200.* 10 s; features=", said[1])


def test_an_option_that_is_at_its_least_is_not_offered(said):
    call(True, 0.1, what="importance", levers=[("repeats", 1, 1, 1)])
    assert "repeats" not in said[0]
    assert "an Explainer on fewer rows" in said[0]


def test_a_short_call_is_not(said):
    call(True, 0.01)  # 10 seconds in all, 9 when the first batch is done
    assert said == []


def test_it_is_not_judged_by_its_first_moment(said):
    clock = Clock()
    own = Estimate(True, "importance", clock=clock)
    own.plan(10**6)
    clock.now = 0.4
    own.advance(1)
    assert said == []
    clock.now = 0.6
    own.advance(1)
    assert len(said) == 1


def test_progress_says_who_is_told(said, monkeypatch):
    call(False, 1.0)
    call(lambda done, total: None, 1.0)
    monkeypatch.setattr(progress, "reads_along", lambda: False)
    call(None, 1.0)
    assert said == []
    monkeypatch.setattr(progress, "reads_along", lambda: True)
    call(None, 1.0)
    assert len(said) == 1


def test_a_run_tells_of_the_rows_it_plans(said, monkeypatch):
    _, data, predictor = numbers()
    run = Run(progress=True, what="interactions")
    clock = Clock()
    run._estimate = Estimate(True, "interactions", clock=clock, sure=0.0, long=0.0)
    ask = predictor.timed

    def slowly(table, n):
        clock.now += n
        return ask(table, n)

    monkeypatch.setattr(type(predictor), "timed", lambda self, table, n: slowly(table, n))
    whole = len(data)
    requests = [Intervention((), (), np.zeros((1, 0), dtype=int)) for _ in range(3)]
    list(run.stream(predictor, data, requests))
    assert len(said) == 1
    assert f"({3 * whole:,} model rows in all)" in said[0]


VERBS = {
    "Shapley values": ("shap", "importance"),
    "individual curves": ("ice",),
    "partial dependence": ("pdp",),
    "accumulated local effects": ("ale",),
    "importance": ("importance",),
    "interactions": ("interactions",),
    "decomposition": ("decompose",),
    "local models": ("lime",),
    "picking rows": ("lime_pick",),
    "anchors": ("anchor",),
    "break-down": ("breakdown",),
}


VERBS_FOLDER = Path(pellucid.__file__).parent / "verbs"


@pytest.mark.parametrize("what", sorted(estimate._FASTER))
def test_every_option_that_is_named_exists(what):
    known = {"background", "progress"}
    for verb in VERBS[what]:
        known |= set(inspect.signature(getattr(pellucid.Explainer, verb)).parameters)
    assert set(re.findall(r"(\w+)=", sentence(what, 20.0))) <= known


def test_the_names_of_calls_are_those_that_explainers_give():
    source = "".join(path.read_text("utf-8") for path in sorted(VERBS_FOLDER.glob("*.py")))
    for what in estimate._FASTER:
        assert f'self._run("{what}")' in source


def test_long_durations_are_told_in_larger_units():
    assert "about 2 minutes" in sentence("audit", 120.0)
    assert "about 3.0 hours" in sentence("audit", 3 * 3600.0)
    assert "Faster" not in sentence("audit", 120.0)
