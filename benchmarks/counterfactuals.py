"""Counterfactuals against dice-ml, NICE, cfnow and alibi: python benchmarks/counterfactuals.py [--only CASE] [--write].

Twenty rows of each case, which the model says no to (or too few bikes), and the same question to everyone: what is the nearest row
for which it says yes (or 1,000 to 1,500 bikes more)? Numbers may take values of their range with the decimals of the data,
categories the levels of the data. Everyone has the training rows and the model as a function; pellucid's exact search reads
the model instead, and proves that nothing is nearer. Where several answers are given, the nearest one counts.

| column | meaning |
|---|---|
| times the optimum | Gower's distance of the answer over the proven least one: median and 90th percentile of the rows with a valid answer |
| times the best | for networks, where no optimum is proven: over the nearest answer that anyone found |
| answered | share of rows with a valid answer |
| valid | share of all answers for which the model, asked again, says what was wanted |
| breaking | share of all answers with a number outside its range or with decimals that the data do not have, or an unknown level |
| CPU ms | median per row, one thread, the model's own time in it |
| model rows | median per row, counted by the model (of exact, by `cost`); checks and predicting the answers included |
| before | model rows asked to make the explainer, once |

An answer that breaks the decimals may be nearer than the optimum, which keeps them. cfnow is stopped by the clock, after 30 seconds, so on a
busy machine it gets through less of its search than it could. Exits with 1 where an answer that keeps everything
is nearer than a proven optimum, or where a goal is missed: exact proves every row of the tree cases in a median of 50 ms for one answer;
moc, which knows nothing of the model, is within 2% in the median and 20% in nine of ten rows, with at most 1,200 model rows; on networks it is
nearer than every peer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import page
from counterfactuals_cases import CASES, ROWS, TREES, Case, case
from counterfactuals_peers import CONTESTANTS, OURS

HERE = Path(__file__).parent
EXACT, ONE, MOC = OURS
CFPROTO = "alibi, CFProto"
# Peers that take long for an answer are asked for fewer rows, by case; cases that are not named are left out.
FEWER = {
    "cfnow, greedy": {"credit-xgboost": 10, "credit-forest": 10, "credit-network": 5, "adult-lightgbm": 5},
    "cfnow, random": {"credit-xgboost": 5},
    CFPROTO: {"credit-xgboost": 5},
}
HEAD = ("answers by", "{} (median)", "90%", "answered", "valid", "breaking", "CPU ms", "model rows", "before")


@dataclass(frozen=True)
class Judged:
    """What one contestant's answers are worth; ``distance`` is that of the nearest valid answer to each row, or NaN."""

    name: str
    distance: np.ndarray
    kept: np.ndarray  # the same among answers that keep ranges and decimals
    valid: float
    breaking: float
    seconds: float
    rows: float
    before: int
    proven: np.ndarray
    errors: tuple[str, ...]

    @property
    def answered(self) -> float:
        return float(np.isfinite(self.distance).mean())


def ask(name: str, contestant: str, rows: int, folder: Path) -> dict[str, Any] | str:
    """The record of a contestant, or why there is none; one that is in the folder already is not asked again."""
    path = folder / f"{name}, {contestant}.json"
    if path.exists():
        return json.loads(path.read_text())
    python, stored = sys.executable, []
    if contestant == CFPROTO:
        python = os.environ.get("ALIBI_PYTHON", str(HERE.parent / ".bench-alibi" / "bin" / "python"))
        if not Path(python).exists():
            return "no environment (see benchmarks/README.md)"
        stored = [str(folder / f"{name}.ubj")] if "xgboost" in name else []
    told = subprocess.run(
        [python, str(HERE / "counterfactuals_asked.py"), name, contestant, str(rows), *stored],
        capture_output=True, text=True, env=os.environ | page.ONE_THREAD, check=False,
    )  # fmt: skip
    if told.returncode:
        return (told.stderr.strip().splitlines() or ["it failed"])[-1]
    path.write_text(told.stdout.splitlines()[-1])
    return json.loads(path.read_text())


def judge(subject: Case, name: str, record: dict[str, Any]) -> Judged:
    """Every answer is asked of the model again, and measured."""
    found = record["found"]
    distance, kept, valid, allowed = np.full((2, len(found)), np.nan), None, [], []
    for k, one in enumerate(found):
        if not one["answers"]:
            continue
        codes = np.array(one["answers"])
        good, fits, far = subject.reached(k, codes), subject.allowed(k, codes), subject.distance(k, codes)
        distance[0, k] = np.min(far[good], initial=np.inf)
        distance[1, k] = np.min(far[good & fits], initial=np.inf)
        valid += good.tolist()
        allowed += fits.tolist()
    distance[np.isinf(distance)] = np.nan
    distance, kept = distance
    return Judged(
        name, distance, kept, _mean(valid), 1 - _mean(allowed),
        float(np.median([one["seconds"] for one in found])), float(np.median([one["rows"] for one in found])),
        record["ready"]["rows"], np.array([one["proven"] for one in found]),
        tuple(sorted({one["error"] for one in found if one["error"]})),
    )  # fmt: skip


def _mean(flags: list[bool]) -> float:
    return float(np.mean(flags)) if flags else float("nan")


def contest(name: str, folder: Path, peers: list[str]) -> tuple[Case, dict[str, Judged], list[str], dict[str, str]]:
    """Everyone's answers to a case, what is to be said of those without, and the versions."""
    subject, judged, notes, versions = case(name), {}, [], {}
    own = [float(subject.score(subject.table.codes(subject.row(k)))[0]) for k in range(ROWS)]
    if "xgboost" in name:
        subject.inner.save_model(folder / f"{name}.ubj")
    for contestant in peers:
        rows = FEWER.get(contestant, dict.fromkeys(CASES, ROWS)).get(name, 0)
        if not rows or (contestant in (EXACT, ONE) and name not in TREES):
            continue
        record = ask(name, contestant, rows, folder)
        if isinstance(record, str) or record["ready"]["error"]:
            notes.append(f"{contestant}: {record if isinstance(record, str) else record['ready']['error']}")
            continue
        if not record["found"]:
            notes.append(f"{contestant} explains classes only.")
            continue
        if not np.allclose(record["scores"], own[:rows], atol=1e-6):
            notes.append(f"{contestant}: its environment fits another model.")
            continue
        judged[contestant] = judge(subject, contestant, record)
        notes += [f"{contestant}: {error}" for error in judged[contestant].errors]
        notes += [f"{contestant} was asked for {rows} rows."] if rows < ROWS else []
        versions = record["versions"] | versions
        print(f"{name}: {contestant}", file=sys.stderr, flush=True)
    return subject, judged, notes, versions


def yardstick(name: str, judged: dict[str, Judged]) -> np.ndarray:
    """The proven least distance of each row; for networks the least that anyone found."""
    if name in TREES:
        found = [judged[who] for who in (EXACT, ONE) if who in judged]
        return np.where(found[-1].proven, found[-1].kept, np.nan) if found else np.full(ROWS, np.nan)
    every = np.full((len(judged), ROWS), np.nan)
    for line, one in zip(every, judged.values(), strict=True):
        line[: len(one.kept)] = one.kept
    return np.nanmin(every, axis=0)


def row(one: Judged, least: np.ndarray) -> str:
    ratio = _ratio(one.distance, least)
    cells = [_times(np.median(ratio)), _times(np.quantile(ratio, 0.9))] if len(ratio) else ["-", "-"]
    cells += [f"{one.answered:.0%}", f"{one.valid:.0%}", f"{one.breaking:.0%}", _number(1e3 * one.seconds)]
    return page.row((one.name, *cells, f"{one.rows:,.0f}", f"{one.before:,}"))


def _ratio(distance: np.ndarray, least: np.ndarray) -> np.ndarray:
    ratio = distance / least[: len(distance)]
    return ratio[np.isfinite(ratio)]


def _times(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 2 else f"{ratio:.1f}" if ratio < 20 else f"{ratio:,.0f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def missed(name: str, judged: dict[str, Judged], least: np.ndarray) -> list[str]:
    """Which promises are broken."""
    said = []
    for one in judged.values():
        ratio = _ratio(one.kept, least)
        if len(ratio) and ratio.min() < 1 - 1e-9:
            said.append(f"{one.name} found an answer nearer than the proven optimum, {ratio.min():.6f} times as far.")
    if one := judged.get(ONE):
        said += [] if one.proven.all() else [f"exact proved {one.proven.sum()} of {len(one.proven)} rows."]
        said += [] if one.seconds <= 0.05 else [f"exact took a median of {1e3 * one.seconds:.0f} ms."]
    if moc := judged.get(MOC):
        said += [] if moc.rows <= 1200 else [f"moc asked for a median of {moc.rows:,.0f} rows."]
        said += _too_far(moc, least) if name in TREES else _behind(moc, judged)
    return said


def _too_far(moc: Judged, least: np.ndarray) -> list[str]:
    ratio = _ratio(moc.distance, least)
    if not len(ratio) or (np.median(ratio) <= 1.02 and np.quantile(ratio, 0.9) <= 1.2):
        return []
    return [f"moc is {np.median(ratio):.3f} times as far in the median, {np.quantile(ratio, 0.9):.3f} at 90%."]


def _behind(moc: Judged, judged: dict[str, Judged]) -> list[str]:
    """The peers whose answers are nearer, on the rows that both were asked about."""
    said = []
    for one in judged.values():
        ratio = _ratio(one.kept, moc.kept)
        if one is not moc and len(ratio) and np.median(ratio) < 1:
            said.append(f"{one.name} is nearer than moc, {np.median(ratio):.3f} times as far.")
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=list(CASES))
    parser.add_argument("--peer", choices=list(CONTESTANTS), help="this one and the exact search")
    parser.add_argument("--keep", type=Path, help="folder of answers: what is in it is not asked again")
    parser.add_argument("--write", action="store_true", help="write these cases into COUNTERFACTUALS.md")
    asked = parser.parse_args()
    peers = [who for who in CONTESTANTS if asked.peer in (None, who) or who == ONE]
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in CASES if asked.only is None else [asked.only]:
            subject, judged, notes, versions = contest(name, folder, peers)
            least = yardstick(name, judged)
            head = [cell.format("times the optimum" if name in TREES else "times the best") for cell in HEAD]
            lines = "\n".join((page.header(head), *(row(one, least) for one in judged.values())))
            broken = missed(name, judged, least)
            good &= not broken
            said = page.bullets([*notes, *(f"Missed: {line}" for line in broken)]) if notes or broken else ""
            told = ", ".join(f"{package} {version}" for package, version in versions.items())
            print(f"\n## {subject.title}\n\n{lines}\n\n{said}\n\n{told}", flush=True)
            if asked.write:
                write(subject.title, lines, said, told)
    return 0 if good else 1


def write(title: str, lines: str, said: str, told: str) -> None:
    path = HERE / "COUNTERFACTUALS.md"
    sections = path.read_text(encoding="utf-8").split("\n## ", 1)[1:] if path.exists() else []
    head = "\n\n".join(("# Counterfactuals", page.printed(__file__), __doc__.split("\n\n", 1)[1].strip()))
    path.write_text("\n\n## ".join((head, *sections)) + ("" if sections else "\n"), encoding="utf-8")
    page.write_section(path.name, title, *(part for part in (lines, said, f"With {told}.") if part))


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
