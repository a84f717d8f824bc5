"""pellucid against its peers: python benchmarks/run.py [--only pdp] [--on linear] [--peer alibi] [--repeats 7].

Prints a Markdown table; exits with 1 when pellucid is behind a peer or disagrees with it.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator

from effects import effect_lines
from importance import importance_lines
from line import Line, Result, measure
from peers import MODULES, reason, versions
from workloads import WORKLOADS

# One thread for everyone, so that CPU time means the same; read by the libraries when they are imported.
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TQDM_DISABLE": "1"}

_HEAD = (
    "| method | on | peer | ours ms | peer ms | ours/peer | again/peer | no checks/peer | from scratch/peer "
    "| model | model ms | ours/model | no checks/model | max difference |"
)


def lines(only: str, on: str, peer: str) -> Iterator[Line]:
    for name, make in WORKLOADS.items():
        if on not in name:
            continue
        workload = make()
        for line in (*effect_lines(workload), *importance_lines(workload)):
            if only.lower() in line.method.lower() and peer.lower() in line.peer_name.lower():
                yield line


def row(result: Result) -> str:
    line = result.line
    difference = (
        f"{result.difference:.0e}"
        + (f" ({line.note})" if line.note else "")
        + ("" if result.agrees else " DISAGREES")
    )
    cells = (
        line.method, line.workload.name, line.peer_name, f"{1e3 * result.cpu['ours']:.1f}", f"{1e3 * result.cpu['peer']:.1f}",
        *(f"{result.ratio(who):.2f}" for who in ("ours", "again", "no checks", "from scratch")),
        result.engine, f"{1e3 * result.cpu['model']:.1f}",
        *(f"{result.overhead(who):.2f}" for who in ("ours", "no checks")),
        difference,
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of a method's name: pdp, ice, ale, importance")
    parser.add_argument("--on", default="", help="part of a workload's name: " + ", ".join(WORKLOADS))
    parser.add_argument("--peer", default="", help="part of a peer's name")
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    print(versions(), flush=True)
    for peer in MODULES:
        if reason(peer):
            print(f"skipped: {peer} ({reason(peer)})")
    print(f"\n{_HEAD}\n|---|---|---|" + "---:|" * 6 + "---|" + "---:|" * 3 + "---|", flush=True)
    behind = []
    for line in lines(chosen.only, chosen.on, chosen.peer):
        result = measure(line, chosen.repeats)
        print(row(result), flush=True)
        if result.ratio() >= 1 or not result.agrees:
            behind.append(
                f"{line.method} on {line.workload.name} against {line.peer_name}: {result.ratio():.2f}"
            )
    print("\n" + ("behind: " + "; ".join(behind) if behind else "ahead on every line"))
    return 1 if behind else 0


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in _ALONE.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | _ALONE)
    sys.exit(main())
