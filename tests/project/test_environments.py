"""What is promised about versions: the floors, what is pinned for each Python, and which environment make chooses."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

packaging = pytest.importorskip("packaging")
from packaging.requirements import Requirement  # noqa: E402
from packaging.version import Version  # noqa: E402

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_USERS = ("polars", "arrow", "xgboost", "lightgbm", "catboost", "onnx", "skops", "images")
IN_OLDEST = tuple(extra for extra in FOR_USERS if extra != "onnx")  # which test-readers tests
PINS = sorted(path for path in (ROOT / "constraints").glob("3.*.txt"))
OTHER_NAME = {"xgboost": "xgboost-cpu"}  # the same library, built for the CPU alone


def required(*extras):
    return [Requirement(text) for text in (*PROJECT["dependencies"], *(t for e in extras for t in EXTRAS[e]))]


def constraints(path, python):
    """The versions that a file pins for a Python on Linux."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    where = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    asked = [Requirement(line) for line in lines]
    return {one.name: one.specifier for one in asked if one.marker is None or one.marker.evaluate(where)}


def floor(requirement):
    (bound,) = requirement.specifier
    assert bound.operator == ">="
    return bound.version


class TestFloors:
    @pytest.mark.parametrize("requirement", required(*FOR_USERS, "torch"), ids=str)
    def test_no_upper_bounds(self, requirement):
        assert [bound.operator for bound in requirement.specifier] == [">="]

    @pytest.mark.parametrize("requirement", required(*IN_OLDEST), ids=str)
    def test_the_oldest_that_is_tested_is_the_oldest_that_is_allowed(self, requirement):
        pinned = constraints(ROOT / "constraints" / "oldest.txt", "3.11")
        name = OTHER_NAME.get(requirement.name, requirement.name)
        assert str(pinned[name]).removeprefix("==").removesuffix(".*") == floor(requirement)

    def test_the_lowest_python(self):
        lowest = min(Version(path.stem) for path in PINS)
        assert PROJECT["requires-python"] == f">={lowest}"


class TestPins:
    def test_a_python_that_is_named_has_its_pins_and_the_other_way_round(self):
        named = [line for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
        assert [line.rsplit(" ", 1)[1] for line in named] == [path.stem for path in PINS]

    @pytest.mark.parametrize("path", PINS, ids=lambda path: path.stem)
    def test_everything_that_the_two_commands_install_is_pinned_within_its_bounds(self, path):
        pinned = constraints(path, path.stem)
        for requirement in required(*FOR_USERS, "test", "lint"):
            if requirement.marker is None or requirement.marker.evaluate({"sys_platform": "linux"}):
                (pin,) = pinned[requirement.name]
                assert pin.operator == "=="
                assert requirement.specifier.contains(pin.version)

    @pytest.mark.parametrize("path", PINS, ids=lambda path: path.stem)
    def test_no_address_is_in_a_file(self, path):
        assert "://" not in path.read_text()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
class TestMake:
    @pytest.fixture
    def clone(self, tmp_path):
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, tmp_path)
        for name in ("constraints", ".ci"):
            shutil.copytree(ROOT / name, tmp_path / name)
        return tmp_path

    def planned(self, clone, *goals):
        """The commands that make would run."""
        command = ["make", "--dry-run", f"PYTHON={sys.executable}", *goals]
        return subprocess.run(command, cwd=clone, check=True, capture_output=True, text=True).stdout

    @property
    def version(self):
        return ".".join(map(str, sys.version_info[:3]))

    def test_the_versions_for_this_python_are_installed(self, clone):
        pins = clone / "constraints" / "{}.{}.txt".format(*sys.version_info)
        said = self.planned(clone, "test")
        if pins.exists():
            assert f"PIP_CONSTRAINT=constraints/{pins.name}" in said
        else:
            assert "the latest are installed" in said

    def test_another_python_for_which_nothing_was_tested_says_so(self, clone):
        shutil.rmtree(clone / "constraints")
        assert "no tested versions" in self.planned(clone, "demo")

    @pytest.mark.parametrize(
        ("goal", "folder"), [("test", ".venv"), ("test-newest", ".newest"), ("test-oldest", ".oldest")]
    )
    def test_an_environment_of_another_python_is_made_anew(self, clone, goal, folder):
        (clone / folder).mkdir()
        (clone / folder / "ready-test").touch()
        (clone / folder / "ready").touch()
        (clone / folder / "python-3.9.1").touch()
        assert f"rm -rf {folder}\n" in self.planned(clone, goal)
        (clone / folder / f"python-{self.version}").touch()
        assert f"rm -rf {folder}\n" not in self.planned(clone, goal)

    def test_nothing_is_pinned_in_the_newest(self, clone):
        assert "constraint" not in self.planned(clone, "test-newest").lower()

    @pytest.mark.parametrize("goal", ["test", "test-newest", "test-oldest"])
    def test_every_run_prints_its_versions(self, clone, goal):
        assert "tests/versions.py" in self.planned(clone, goal)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
class TestPythons:
    """Which Pythons a machine has, by PATH and by pyenv."""

    def interpreter(self, path, version):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {version}\n")
        path.chmod(0o755)

    def found(self, tmp_path, *arguments):
        """On a machine that has nothing but these interpreters and the tools that the script calls."""
        tools = tmp_path / "tools"
        tools.mkdir(exist_ok=True)
        for name in ("env", "ls", "sort", "tail", "cut"):
            (tools / name).unlink(missing_ok=True)
            (tools / name).symlink_to(shutil.which(name))
        done = subprocess.run(
            [shutil.which("bash"), str(ROOT / ".ci" / "pythons"), *arguments],
            env={"PATH": f"{tmp_path / 'bin'}:{tools}", "PYENV_ROOT": str(tmp_path / "pyenv")},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout, done.stderr

    def test_path_and_pyenv_lowest_first(self, tmp_path):
        self.interpreter(tmp_path / "bin" / "python3.13", "3.13")
        self.interpreter(tmp_path / "bin" / "python3.12", "broken")
        for release in ("3.14.2", "3.14.10"):
            self.interpreter(tmp_path / "pyenv" / "versions" / release / "bin" / "python", "3.14")
        out, said = self.found(tmp_path)
        mine = [line.split("\t") for line in out.splitlines()]
        assert mine == [
            ["3.13", str(tmp_path / "bin" / "python3.13")],
            ["3.14", str(tmp_path / "pyenv" / "versions" / "3.14.10" / "bin" / "python")],
        ]
        assert "3.13" not in said
        assert self.found(tmp_path, "--highest")[0].strip() == mine[-1][1]

    def test_what_is_missing_is_said(self, tmp_path):
        (tmp_path / "bin").mkdir()
        assert "no Python 3.14 on this machine" in self.found(tmp_path)[1]
