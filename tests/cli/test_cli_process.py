"""The command as a process: exit codes, streams, what is imported, and the progress bar."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
import rich.console

from pellucid.cli.app import Bar

HEAVY = ("pandas", "sklearn", "altair", "scipy", "vl_convert", "jinja2", "numpy")


def pellucid(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pellucid.cli", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pellucid.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr.strip()) == (0, "[]")
    assert "demo" in done.stdout


@pytest.mark.parametrize("arguments", [["report", "none.skops", "none.csv"], ["report"], ["--nonsense"]])
def test_bad_input_exits_with_2_and_no_traceback(arguments: list[str], tmp_path: Path) -> None:
    done = pellucid(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_demo_from_an_empty_folder(tmp_path: Path) -> None:
    done = pellucid("demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    path, lines = tmp_path / "pellucid-demo.html", done.stdout.splitlines()
    assert lines[-1] == f"Report: {path.resolve()}"
    assert len(lines) >= 4
    assert list(tmp_path.iterdir()) == [path]
    assert 500_000 < path.stat().st_size < 3_000_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_names_steps_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    plain = rich.console.Console

    def console(**_: object) -> rich.console.Console:
        return plain(file=terminal, force_terminal=True, width=80)

    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(rich.console, "Console", console)
    with Bar() as bar:
        bar.say("reading the model and the data")
        bar.step("finding the effect of [bold]temp[/bold]", 2, 8)
        assert callable(bar.rows)
        bar.rows(50, 100)
        assert bar.share == 2.5 / 8
    assert "finding the effect of [bold]temp[/bold]" in terminal.getvalue()


def test_there_is_no_bar_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar() as bar:
        assert bar.rows is False
        bar.say("reading")
        bar.step("scoring", 1, 8)
    assert stream.getvalue() == ""
