"""Cost, progress, interruption and failure: what a run tells of itself."""

import ast
import time
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import pellucid
from pellucid.errors import ModelError
from pellucid.models import Predictor
from pellucid.runner import Intervention, Limits, Run
from runner.asking import ctrl_c, multiply, numbers, press_ctrl_c

ROW = 3 * 8  # bytes


def five_variants(data, rows=None):
    index = np.random.default_rng(0).integers(0, len(data), size=(5, 1))
    return Intervention((1,), (data.frame.native_column(1),), index, rows)


@dataclass(frozen=True)
class Head:
    """What every result has."""

    caveats: tuple
    cost: object = None


@dataclass(frozen=True)
class Finished:
    """A result, to be finished."""

    header: Head
    name: str = ""

    @property
    def caveats(self):
        return self.header.caveats


class Stops:
    """A model that raises at its k-th call (the calls that a predictor makes to know it do not count)."""

    def __init__(self, error, k):
        self.error, self.k, self.calls = error, k, -2

    def __call__(self, X):
        self.calls += 1
        if self.calls == self.k:
            raise self.error
        return multiply(X)


def test_cost_counts_rows_and_calls_exactly():
    X, data, _ = numbers()
    calls = []
    predictor = Predictor(lambda X: calls.append(len(X)) or multiply(X), X)
    calls.clear()
    run = Run(limits=Limits(batch_bytes=50 * ROW))
    run.predict(predictor, data)
    assert (run.cost().model_rows, run.cost().model_calls) == (40, 1)
    run.collect(predictor, data, five_variants(data))
    assert (run.cost().model_rows, run.cost().model_calls) == (40 + 5 * 40, 1 + 5)
    run.collect(predictor, data, five_variants(data, np.array([1, 2, 3])))
    assert run.cost().model_rows == sum(calls) == 40 + 200 + 15
    assert run.cost().model_calls == len(calls) == 1 + 5 + 1


@pytest.mark.parametrize("memory", [1, 10 * ROW, 60 * ROW, 2**26])
def test_no_batch_is_larger_than_the_memory_allows(memory):
    X, data, _ = numbers()
    sizes = []
    predictor = Predictor(lambda X: sizes.append(len(X)) or multiply(X), X)
    sizes.clear()
    Run(limits=Limits(batch_bytes=memory)).collect(predictor, data, five_variants(data))
    assert max(sizes) <= max(memory // ROW, 1)
    assert sum(sizes) == 200


def test_seconds_in_the_model_are_part_of_all_seconds():
    X, data, _ = numbers()
    run = Run()
    run.predict(Predictor(lambda X: time.sleep(0.02) or multiply(X), X), data)
    cost = run.cost()
    assert 0.02 <= cost.model_seconds <= cost.total_seconds


def test_checks_are_counted_apart():
    _, data, predictor = numbers()
    run = Run()
    with run.checking():
        run.predict(predictor, data)
    run.predict(predictor, data)
    assert (run.cost().model_rows, run.cost().check_rows) == (40, 40)


def test_a_check_within_a_check_does_not_end_it():
    _, data, predictor = numbers()
    run = Run()
    with run.checking():
        with run.checking():
            run.predict(predictor, data)
        run.predict(predictor, data)
    run.predict(predictor, data)
    assert (run.cost().model_rows, run.cost().check_rows) == (40, 80)


# -- progress ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_rises_to_the_total(n_jobs):
    _, data, predictor = numbers()
    seen = []
    run = Run(
        limits=Limits(batch_bytes=10 * ROW), n_jobs=n_jobs, progress=lambda done, total: seen.append((done, total))
    )
    run.collect(predictor, data, five_variants(data))
    done = [done for done, _ in seen]
    assert done == sorted(set(done))
    assert {total for _, total in seen} == {200}
    assert done[-1] == 200


def test_a_second_stream_adds_to_the_total():
    _, data, predictor = numbers()
    seen = []
    run = Run(progress=lambda done, total: seen.append((done, total)))
    run.predict(predictor, data)
    run.collect(predictor, data, five_variants(data))
    assert seen == [(40, 40), (240, 240)]


def test_a_bar_is_drawn_when_asked_for_and_only_then(capsys):
    _, data, predictor = numbers()
    Run(progress=True, what="looking").predict(predictor, data)
    drawn = capsys.readouterr()
    assert "looking" in drawn.err
    assert drawn.out == ""
    Run(progress=None).predict(predictor, data)
    Run(progress=False).predict(predictor, data)
    assert capsys.readouterr().err == ""


# -- interruption and failure -------------------------------------------------------------------------------


def test_an_interruption_ends_a_partial_stream():
    X, data, plain = numbers()
    predictor = Predictor(Stops(KeyboardInterrupt(), 3), X)
    seen = []
    run = Run(limits=Limits(batch_bytes=40 * ROW), progress=lambda done, total: seen.append((done, total)))
    batches = list(run.stream(predictor, data, [five_variants(data)], partial=True))
    assert run.interrupted
    assert [batch.variants for batch in batches] == [slice(0, 1), slice(1, 2)]
    whole = Run().collect(plain, data, five_variants(data))
    np.testing.assert_array_equal(np.concatenate([batch.predictions for batch in batches]), whole[:2])
    assert run.cost().model_rows == 80
    assert seen[-1] == (80, 200)


def test_an_interruption_before_anything_is_known_is_raised():
    X, data, _ = numbers()
    run = Run(limits=Limits(batch_bytes=40 * ROW))
    with pytest.raises(KeyboardInterrupt):
        list(run.stream(Predictor(Stops(KeyboardInterrupt(), 1), X), data, [five_variants(data)], partial=True))
    assert not run.interrupted


def test_an_interruption_is_raised_when_a_part_is_of_no_use():
    X, data, _ = numbers()
    run = Run(limits=Limits(batch_bytes=40 * ROW))
    with pytest.raises(KeyboardInterrupt):
        run.collect(Predictor(Stops(KeyboardInterrupt(), 3), X), data, five_variants(data))
    assert not run.interrupted


def test_ctrl_c_while_threads_work_ends_a_partial_stream():
    X, data, _ = numbers()
    calls = []

    def slow(X):
        time.sleep(0.01)
        calls.append(len(X))
        if len(calls) == 100:
            press_ctrl_c()
        return multiply(X)

    predictor = Predictor(slow, X)
    run = Run(limits=Limits(batch_bytes=ROW), n_jobs=2)
    with ctrl_c():
        batches = list(run.stream(predictor, data, [five_variants(data)], partial=True))
    assert run.interrupted
    assert 1 <= len(batches) < 200
    assert run.cost().model_rows == len(batches)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_after_a_failure_the_run_can_go_on(n_jobs):
    X, data, plain = numbers()
    predictor = Predictor(Stops(ValueError("no such row"), 3), X)
    seen = []
    run = Run(
        limits=Limits(batch_bytes=40 * ROW), n_jobs=n_jobs, progress=lambda done, total: seen.append((done, total))
    )
    with pytest.raises(ModelError, match=r"batch of 40 rows: ValueError: no such row"):
        run.collect(predictor, data, five_variants(data))
    done = run.cost().model_rows
    assert done <= 160
    found = run.collect(plain, data, five_variants(data))
    np.testing.assert_array_equal(found, Run().collect(plain, data, five_variants(data)))
    assert run.cost().model_rows == done + 200
    assert seen[-1] == (done + 200, done + 200)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stream_that_is_left_early_stops_asking(n_jobs):
    X, data, _ = numbers()
    calls, seen = [], []
    predictor = Predictor(lambda X: time.sleep(0.005) or calls.append(len(X)) or multiply(X), X)
    run = Run(limits=Limits(batch_bytes=ROW), n_jobs=n_jobs, progress=lambda done, total: seen.append((done, total)))
    stream = run.stream(predictor, data, [five_variants(data)])
    next(stream)
    stream.close()
    time.sleep(0.05)  # what was under way may end
    asked = len(calls)
    assert asked < 50
    time.sleep(0.05)
    assert len(calls) == asked
    assert seen == [(1, 200)]
    run.predict(predictor, data)
    assert seen[-1] == (41, 41)


def test_generators_depend_on_seed_and_name_and_key_alone():
    draw = [
        Run(seed=seed).generator(*key).random()
        for seed, key in [(0, ("a",)), (0, ("a",)), (0, ("b",)), (1, ("a",)), (0, ("a", 0)), (0, ("a", 1))]
    ]
    assert draw[0] == draw[1]
    assert len(set(draw)) == 5


def sources(root):
    return [(path, path.read_text(encoding="utf-8")) for path in root.rglob("*.py")]


def test_every_purpose_has_random_numbers_of_its_own():
    """Streams are named in the call itself, each name stands for one purpose in one file, and no two names collide."""
    root = Path(pellucid.__file__).parent
    found: dict[str, set[str]] = {}
    for path, source in sources(root):
        for node in ast.walk(ast.parse(source)) if "generator(" in source or "stream(" in source else ():
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called not in ("generator", "stream") or path.name == "run.py":
                continue
            if called == "stream" and len(node.args) < 2:
                continue  # batches of predictions
            name = node.args[1 if called == "stream" else 0]
            if called == "stream" and not isinstance(name, ast.Constant):
                continue
            where = f"{path.relative_to(root)}:{node.lineno}"
            assert isinstance(name, ast.Constant), f"{where}: name the purpose, as in run.generator('lime.samples')"
            assert isinstance(name.value, str), where
            found.setdefault(name.value, set()).add(str(path.relative_to(root)))
    assert len(found) > 30
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
    assert len({crc32(name.encode()) for name in found}) == len(found)


def test_nothing_to_ask():
    _, data, predictor = numbers()
    intervention = Intervention((1,), (data.frame.native_column(1),), np.zeros((0, 1), dtype=np.intp))
    run = Run()
    assert run.collect(predictor, data, intervention).shape == (0, 40, 1)
    assert run.cost().model_calls == 0


def test_runs_that_share_a_memory_work_a_thing_out_once():
    shared, calls = {}, []
    for _ in range(2):
        assert Run(memory_of=shared).remember("answer", lambda: calls.append(1) or 42) == 42
    assert calls == [1]
    assert Run().remember("answer", lambda: 43) == 43


# -- interruption and finishing ----------------------------------------------------------------------------


def test_an_interruption_ends_a_block_where_enough_is_known():
    run, known = Run(), []
    with run.until_interrupted(lambda: bool(known)) as work:
        known.append(1)
        raise KeyboardInterrupt
    assert (known, work.cut, run.interrupted) == ([1], True, True)
    with pytest.raises(KeyboardInterrupt):
        run.raise_if_interrupted()


def test_an_interruption_is_raised_where_too_little_is_known():
    run = Run()
    with pytest.raises(KeyboardInterrupt), run.until_interrupted(lambda: False) as work:
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match="other"), run.until_interrupted() as work:
        raise ValueError("other")
    with run.until_interrupted() as work:
        run.raise_if_interrupted()
    assert not work.cut
    assert not run.interrupted


def test_a_finished_result_has_its_caveats_and_its_cost():
    _, data, predictor = numbers()
    run = Run()
    run.predict(predictor, data)
    assert run.finish(Finished(Head(())), iter(["a"])).caveats == ("a",)
    done = run.finish(Finished(Head(("b",))), name="c")
    assert (done.caveats, done.name, done.header.cost.model_rows) == (("b",), "c", len(data))


def test_only_the_runner_and_the_doorways_know_of_interruptions():
    root = Path(pellucid.__file__).parent
    knowing = {
        path.relative_to(root).parts[0]
        for path, source in sources(root)
        if "KeyboardInterrupt" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and node.id == "KeyboardInterrupt"
    }
    assert knowing == {"runner", "report", "cli"}
