"""What all tests share: examples that are the same in every run, sentences in golden files, a watch for tests that hang, and the
spam comments.

Property tests look for other examples with ``HYPOTHESIS=explore make test``. Tests that need the comments skip where the file is absent.
"""

import faulthandler
import gc
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

from golden_files import Golden
from pellucid import datasets
from pellucid.charts.chart import Chart
from valid_charts import checked

settings.register_profile("same", max_examples=60, derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS", "same"))


HANGS, OFTEN = 600, 60  # seconds after which a test that hangs says where, and between two windings of that watch
watch = {"wound": -float(OFTEN), "told": 2}


def pytest_addoption(parser):
    parser.addoption("--rewrite-golden", action="store_true", help="write tests/golden anew (make golden)")


def pytest_configure(config):
    watch["told"] = os.dup(sys.stderr.fileno())  # what tests write is kept back
    config.golden = Golden(config.getoption("rewrite_golden"))
    Chart.spec = property(checked)
    if config.golden.rewrite and config.getoption("numprocesses", None):
        raise pytest.UsageError("--rewrite-golden needs one process: leave out -n")


def pytest_collection_modifyitems(config, items):
    """Rewriting takes the tests that have sentences, and no others."""
    if config.golden.rewrite:
        items[:] = [item for item in items if "golden" in item.fixturenames]


def pytest_collection_finish(session):
    """What is imported by now stays: looking through it for garbage again and again takes a twentieth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_runtest_setup():
    """Pytest's own way winds the watch for every test, which takes as long as the shortest of them."""
    if time.monotonic() - watch["wound"] > OFTEN:
        watch["wound"] = time.monotonic()
        faulthandler.dump_traceback_later(HANGS, file=watch["told"])


def pytest_sessionfinish(session, exitstatus):
    """Sections that nobody asked for go after a run of everything, if no test failed or was skipped."""
    faulthandler.cancel_dump_traceback_later()
    config = session.config
    if config.golden.rewrite:
        skipped = config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", [])
        skipped = [
            report for report in skipped if isinstance(report, pytest.TestReport)
        ]  # not files for want of a library
        everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.keyword
        config.golden.save(whole=everything and exitstatus == 0 and not skipped)


@pytest.fixture
def golden(request):
    """``golden(kind, section, text)``: the text is the section of that name in ``tests/golden/<kind>.txt``."""
    return request.config.golden.check


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of one file run in one worker, and so do all those of the report and all contracts: what they share is made
    once.
    """
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return next((folder for folder in ("tests/report/", "tests/contracts/") if file.startswith(folder)), file)

    return ByFile(config, log)


@pytest.fixture(scope="session")
def spam():
    """Comments, and whether each is spam."""
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "youtube_spam.csv").is_file():
        pytest.skip("youtube_spam.csv is absent: set PELLUCID_DATA to the folder that holds the data files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PELLUCID_DATA", str(folder))
        comments = datasets.spam()
    return comments.X["content"].tolist(), comments.y.to_numpy()
