"""Calls in threads: their order, their errors, and that nothing is left behind."""

import threading
from functools import partial
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.runner.parallel import in_threads
from runner.asking import ctrl_c, press_ctrl_c
from strategies import QUICK


def crew():
    """The threads that are not the test's own."""
    return set(threading.enumerate())


def wait_until_gone(before):
    for thread in crew() - before:
        thread.join(10)
    assert crew() <= before


@QUICK
@given(st.integers(0, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_answers_come_in_order_whoever_was_quicker(n, workers, chance):
    """Each call waits for a call after it, as far as that has been begun: later ones end first."""
    ended = [threading.Event() for _ in range(n)]
    waits_for = [k + 1 if workers > 1 and k + 1 < n and k % workers == 0 else None for k in range(n)]

    def call(k):
        if waits_for[k] is not None:
            assert ended[waits_for[k]].wait(10)
        ended[k].set()
        return k, chance.random()

    assert [k for k, _ in in_threads([partial(call, k) for k in range(n)], workers)] == list(range(n))


def test_several_calls_are_under_way_at_once():
    together = threading.Barrier(3, timeout=10)
    assert list(in_threads([together.wait] * 6, 3)) != [0] * 6


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_an_error_is_raised_when_its_turn_has_come(workers):
    before = crew()

    def call(k):
        if k >= 4:
            raise ValueError(f"number {k}")
        return k

    answers = in_threads([partial(call, k) for k in range(30)], workers)
    assert list(islice(answers, 4)) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="number 4"):
        next(answers)
    wait_until_gone(before)


@pytest.mark.parametrize("workers", [2, 3])
def test_only_few_calls_are_begun_ahead_of_the_caller(workers):
    before, begun = crew(), []
    answers = in_threads([partial(begun.append, k) for k in range(100)], workers)
    next(answers)
    wait_until_idle(begun, 2 * workers + 1)
    answers.close()
    wait_until_gone(before)
    assert len(begun) == 2 * workers + 1


def wait_until_idle(begun, expected):
    """Until so many are begun, and then some more time for calls that should not be."""
    pause = threading.Event()
    for _ in range(1000):
        if len(begun) >= expected:
            break
        pause.wait(0.01)
    pause.wait(0.02)


def test_leaving_does_not_wait_for_calls_under_way():
    before, release = crew(), threading.Event()
    answers = in_threads([lambda: 1, lambda: release.wait(10), lambda: release.wait(10)], 2)
    assert next(answers) == 1
    answers.close()  # returns although nobody has released them
    assert not release.is_set()
    release.set()
    wait_until_gone(before)


@pytest.mark.parametrize("at", range(0, 60, 4))
def test_ctrl_c_is_heard_and_leaves_no_threads(at):
    before = crew()

    def call(k):
        if k == at:
            press_ctrl_c()
        return k

    got = []
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        got.extend(in_threads([partial(call, k) for k in range(400)], 2))
    assert got == list(range(len(got)))
    assert len(got) < 400
    wait_until_gone(before)
