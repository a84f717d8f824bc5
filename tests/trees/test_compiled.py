"""Compiling: said once when it takes long, kept on disk where that may be written to."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pellucid
from pellucid.runner import progress
from pellucid.runner.progress import Reporter
from pellucid.trees.kernels import compiled

SAID = compiled.NOTICE + "\n"


class Terminal:
    """A standard error that keeps what it is told."""

    def __init__(self, is_a_terminal=True):
        self.is_a_terminal, self.text = is_a_terminal, ""

    def isatty(self):
        return self.is_a_terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def compilation(module="pellucid.trees.kernels.path"):
    """What numba tells a listener about a function of a module."""
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


class Clock:
    """Time that passes when it is told to, and timers that go off then."""

    def __init__(self):
        self.now, self.timers = 0.0, []

    def __call__(self):
        return self.now

    def timer(self, delay, function):
        timer = SimpleNamespace(due=self.now + delay, function=function, running=False, daemon=False)
        timer.start = lambda: setattr(timer, "running", True)
        timer.cancel = lambda: setattr(timer, "running", False)
        self.timers.append(timer)
        return timer

    def passes(self, seconds):
        self.now += seconds
        for timer in self.timers:
            if timer.running and timer.due <= self.now:
                timer.running = False
                timer.function()


@pytest.fixture
def terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))  # pytest exchanges the real one
    progress.listen(None)
    return terminal


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def notice(clock):
    return compiled.Notice(clock.timer, clock)


def compile_for(notice, clock, seconds, **what):
    notice.on_start(compilation(**what))
    clock.passes(seconds)
    notice.on_end(compilation(**what))


def test_a_long_compilation_is_announced_once(terminal, notice, clock):
    compile_for(notice, clock, 1.5)
    assert terminal.text == SAID
    compile_for(notice, clock, 1.5)
    assert terminal.text == SAID


def test_it_is_announced_while_it_goes_on(terminal, notice, clock):
    notice.on_start(compilation())
    notice.on_start(compilation())  # a function that the first one calls
    notice.on_end(compilation())
    clock.passes(1.5)
    assert terminal.text == SAID
    notice.on_end(compilation())


def test_a_short_compilation_is_not_announced_but_many_are(terminal, notice, clock):
    compile_for(notice, clock, 0.4)
    clock.passes(9.0)
    compile_for(notice, clock, 0.4)
    assert terminal.text == ""
    compile_for(notice, clock, 0.4)
    assert terminal.text == SAID


def test_the_functions_of_others_are_not_ours_to_announce(terminal, notice, clock):
    compile_for(notice, clock, 2.0, module="pellucidity.loops")
    compile_for(notice, clock, 2.0, module="numba.np.arrayobj")
    notice.on_start(SimpleNamespace(data=None))
    notice.on_end(SimpleNamespace(data=None))
    assert terminal.text == ""


def test_nobody_is_told_where_nobody_reads(terminal, notice, clock):
    terminal.is_a_terminal = False
    compile_for(notice, clock, 2.0)
    assert terminal.text == ""
    progress.sys.stderr = None  # of the stand-in
    compile_for(notice, clock, 2.0)
    assert not any(timer.running for timer in clock.timers)


def test_progress_says_whether_one_is_told(terminal, notice, clock):
    Reporter(False, "nothing")
    compile_for(notice, clock, 2.0)
    assert terminal.text == ""
    terminal.is_a_terminal = False
    Reporter(True, "all")
    compile_for(notice, clock, 2.0)
    assert terminal.text == SAID


def test_a_cell_of_a_notebook_is_read_too(terminal):
    terminal.is_a_terminal = False
    assert not progress.reads_along()
    progress.sys.stderr = type("OutStream", (Terminal,), {"__module__": "ipykernel.iostream"})(False)
    assert progress.reads_along()


def test_numba_tells_us_what_it_compiles():
    from numba import njit
    from numba.core import event

    heard = []

    class Listening(compiled.Notice):
        def on_start(self, event):
            heard.append(compiled._is_ours(event))

        def on_end(self, event):
            pass

    def double(x):
        return 2 * x

    with event.install_listener("numba:compile", Listening()):
        theirs = njit(double)
        assert theirs(1) == 2
        assert heard
        assert not any(heard)
        double.__module__ = "pellucid.trees.kernels.double"
        assert njit(double)(1) == 2
        assert any(heard)


# -- where compiled code is kept ---------------------------------------------------------------------

CALL = """
from pellucid.trees.kernels import compiled, path_program
assert path_program.workspace_bytes(3, 2) > 0
stats = path_program.workspace_bytes.stats
print(compiled.KEEPS, stats.cache_path, sum(stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package; whoever runs this, nothing can be kept beside its kernels."""
    source = Path(pellucid.__file__).parent
    target = tmp_path / "installed" / "pellucid"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "trees" / "kernels" / "__pycache__").write_text("a file where a folder should be")
    return target


def called(package, cache):
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    home = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), str(cache))
    environment = {**kept, **home, "PYTHONPATH": str(package.parent)}
    ran = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_a_package_that_may_not_be_written_to_keeps_its_code_with_the_user(package, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    keeps, where, hits = called(package, cache)
    assert (keeps, hits) == ("True", "0")
    assert Path(where).is_relative_to(cache)
    assert called(package, cache) == [keeps, where, "1"]


def test_environments_share_what_one_of_them_has_compiled(package, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    _, where, hits = called(package, cache)
    assert hits == "0"
    other = tmp_path / "elsewhere" / "pellucid"
    shutil.copytree(package, other)
    os.utime(other / "trees" / "kernels" / "path_program.py", (0, 0))
    assert called(other, cache) == ["True", where, "1"]


def test_a_change_of_any_kernel_makes_a_new_folder(package, tmp_path):
    """numba itself would go on with code that has the old constants built in."""
    cache = tmp_path / "cache"
    cache.mkdir()
    _, where, _ = called(package, cache)
    blocks = package / "trees" / "kernels" / "blocks.py"
    blocks.write_text(blocks.read_text().replace("ROWS = 32", "ROWS = 64"))
    _, other, hits = called(package, cache)
    assert hits == "0"
    assert other != where


def test_where_nothing_may_be_written_kernels_are_compiled_all_the_same(package, tmp_path):
    cache = tmp_path / "cache"
    cache.write_text("a file where a folder should be")
    assert called(package, cache)[0] == "False"


def test_importing_the_engine_loads_no_compiler():
    code = """
    import sys
    import pellucid, pellucid.trees, pellucid.trees.engine, pellucid.trees.plain
    assert "numba" not in sys.modules
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_kernels_divide_as_numpy_does():
    @compiled.kernel
    def ratio(x, y):
        return x / y

    assert np.isinf(ratio(1.0, 0.0))
    assert ratio.targetoptions["nogil"]
