"""Models fitted and saved by several releases of each library, read by all of them: python run.py [--only xgboost] [--write].

Every release gets a small environment in .readers/. Prints a table for each library; exits with 1 where a model is read
wrongly, or not at all although it should be. ``--write`` puts the tables into docs/readers.md.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HOME = ROOT / ".readers"
PAGE = ROOT / "docs" / "readers.md"

# What pellucid needs to read a model; the libraries around an early release are as early as we allow.
NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "narwhals", "pandas", "joblib", "pyarrow")
LATEST = "latest"
RELEASES = {
    "xgboost": ("2.0", "2.1", "3.0", "3.2", LATEST),
    "lightgbm": ("4.5", "4.6", LATEST),
    "catboost": ("1.2.7", "1.2.8", LATEST),
    "scikit-learn": ("1.6", "1.7", "1.8", LATEST),
    "onnx": ("1.16", LATEST),
}
FITS = {("catboost", "1.2.7")}  # wants numpy 1, with which pellucid does not work: its models are read by the others
BESIDES = {"scikit-learn": ("skops",), "onnx": ("skl2onnx", "onnxruntime")}
# ONNX is read through ONNX Runtime: the earliest that pyproject.toml allows.
TOGETHER = {("onnx", "1.16"): ("onnxruntime==1.19.*", "skl2onnx==1.17.*")}
# What the releases that are installed do not hand out in a form that can be read; the model is called then.
NOT_READ = {
    ("xgboost", "several targets in one leaf"): ("2.0", "2.1", "3.0"),  # they store no cover
    ("xgboost", "several quantiles"): (LATEST,),  # it sorts them, so that they are no sums
}
WIDTH = {"xgboost": 1e-6, "onnx": 1e-6}


class Environment(NamedTuple):
    library: str
    release: str

    @property
    def folder(self) -> Path:
        return HOME / f"{self.library}-{self.release}"

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    @property
    def models(self) -> Path:
        return self.folder / "models"

    def make(self, lowest: str, highest: str) -> None:
        """Early releases with the lowest Python and early libraries, the latest with the highest and the latest."""
        if not (self.folder / "ready").exists():
            subprocess.run(
                [highest if self.release == LATEST else lowest, "-m", "venv", "--clear", str(self.folder)], check=True
            )
            if (self.library, self.release) in FITS:
                self._install(f"{self.library}=={self.release}", "pandas<3")
            else:
                self._install(*self._wanted())
                self._install("--no-deps", "--editable", str(ROOT))
            (self.folder / "ready").touch()

    def _wanted(self) -> Iterator[str]:
        name = "xgboost-cpu" if self.library == "xgboost" and self.release != "2.0" else self.library
        yield (
            name if self.release == LATEST else f"{name}=={self.release}{'' if self.release.count('.') > 1 else '.*'}"
        )
        yield from (other for other in NEEDED if other != name)
        yield from TOGETHER.get((self.library, self.release), BESIDES.get(self.library, ()))
        if self.release != LATEST:
            early = (ROOT / "constraints" / "oldest.txt").read_text().splitlines()
            mine = self.folder / "early.txt"
            mine.write_text("\n".join(line for line in early if not line.startswith(self.library)))
            yield from ("--constraint", str(mine))

    def _install(self, *what: str) -> None:
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *what], check=True)

    def version(self) -> str:
        """The release in full, as pip knows it."""
        ask = "from importlib.metadata import version, PackageNotFoundError as E\nimport sys\nfor n in sys.argv[1:]:\n try: print(version(n)); break\n except E: pass"
        return self._run("-c", ask, self.library, f"{self.library}-cpu").strip()

    def fit(self) -> None:
        self._run(str(HERE / "fit.py"), self.library, str(self.models))

    def read(self, other: "Environment") -> list[dict[str, object]]:
        """What is found of each model; a library that crashes on one goes on with the next."""
        known = json.loads((other.models / "cases.json").read_text())
        found: list[dict[str, object]] = []
        while len(found) < len(known):
            done = self._start(str(HERE / "read.py"), self.library, str(other.models), str(len(found)))
            found += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode < 0:
                found.append({**known[len(found)], "library": f"signal {-done.returncode}"})
            else:
                done.check_returncode()
        return found

    def _run(self, *command: str) -> str:
        done = self._start(*command)
        done.check_returncode()
        return done.stdout

    def _start(self, *command: str) -> "subprocess.CompletedProcess[str]":
        quiet = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        return subprocess.run([self.python, *command], check=False, stdout=subprocess.PIPE, text=True, env=quiet)


def judged(installed: Environment, found: dict[str, object]) -> tuple[str, bool]:
    """What the installed release made of a model, and whether that is as it should be."""
    if "unfit" in found:
        return "", True
    if "library" in found:
        return "not opened", True
    if "refused" in found:
        return "called", installed.release in NOT_READ.get((installed.library, str(found["case"])), ())
    worst = max(float(found.get(part, 0.0)) for part in ("sums", "contributions"))  # type: ignore[arg-type]
    right = worst <= WIDTH.get(installed.library, 1e-9) and found["method"] == "tree"
    return ("read" if right else f"WRONG by {worst:.0e}, {found['method']}"), right


def table(library: str, pythons: tuple[str, str]) -> tuple[str, list[str]]:
    """A row for each kind of model, a column for each release that is installed, and what went wrong."""
    some = [Environment(library, release) for release in RELEASES[library]]
    for environment in some:
        environment.make(*pythons)
        environment.fit()
    names = [environment.version() for environment in some]
    cells: dict[str, list[str]] = {}
    wrong = []
    readers = [(some[k], name) for k, name in enumerate(names) if (library, some[k].release) not in FITS]
    for installed, name in readers:
        outcomes: dict[str, dict[str, str]] = {}
        for fitted, by in zip(some, names, strict=True):
            for found in installed.read(fitted):
                said, right = judged(installed, found)
                outcomes.setdefault(str(found["case"]), {})[by] = said
                if not right:
                    wrong.append(f"{library} {name}, model of {by}: {found}")
        for case, by_release in outcomes.items():
            cells.setdefault(case, []).append(_summary(by_release))
    head = [f"| {library} | " + " | ".join(name for _, name in readers) + " |", "|---|" + "---|" * len(readers)]
    return "\n".join([*head, *(f"| {case} | " + " | ".join(row) + " |" for case, row in cells.items())]), wrong


def _summary(by_release: dict[str, str]) -> str:
    """One word where models of all releases fare alike that are opened, and whose are not."""
    shut = [by for by, said in by_release.items() if said == "not opened"]
    opened = {by: said for by, said in by_release.items() if said and by not in shut}
    if not opened:
        return "not opened" if shut else "no such model"
    said = set(opened.values())
    text = said.pop() if len(said) == 1 else "; ".join(f"{by}: {what}" for by, what in opened.items())
    return text + (f" (not opened: {', '.join(shut)})" if shut else "")


_INTRODUCTION = """# Which models are read from which release

Ensembles of trees are read, not called: their structure is taken from the model that the installed library has in memory. Each
column is an installed release. It was given models that every release of the table had fitted and saved, and what was read
was compared with the library's own raw predictions and contributions, to 1e-9 of the largest number (1e-6 for XGBoost and ONNX
Runtime, which add up single-precision numbers). CatBoost 1.2.7, which needs numpy 1, only fitted and saved.

- **read**: exactly, whichever release fitted the model.
- **called**: the trees are not stored in a form that can be read, or do not add up to the predictions. The answer is that of the model all
  the same, but comes by asking it, and carries the caveat `not-trees`: it names what was not understood, and how many rows the
  model was called for.
- **not opened**: the library itself does not open a model of that release, or cannot ask it.

Printed by `make test-readers` (`tests/readers/run.py --write`).
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=RELEASES, action="append")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    found = subprocess.run([str(ROOT / ".ci" / "pythons")], check=True, stdout=subprocess.PIPE, text=True)
    pythons = [line.split("\t")[1] for line in found.stdout.splitlines()]
    HOME.mkdir(exist_ok=True)
    tables, wrong = [], []
    for library in asked.only or RELEASES:
        text, mistakes = table(library, (pythons[0], pythons[-1]))
        print(text + "\n", flush=True)
        tables.append(text)
        wrong += mistakes
    if asked.write:
        PAGE.write_text("\n".join([_INTRODUCTION, "\n\n".join(tables), ""]))
    print("\n".join(wrong) or "every model was read as it should be")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
