"""pellucid against its peers: python benchmarks/run.py [--only pdp] [--on linear] [--peer alibi] [--write].

Prints a Markdown table; exits with 1 when pellucid is behind a peer or disagrees with it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator

import floor
import page
from effects import effect_lines
from importance import importance_lines
from line import Line, Result, measure
from peers import MODULES, reason
from workloads import WORKLOADS

_HEAD = page.header(
    ("method", "on", "peer", "ours ms", "peer ms", "ours/peer", "again/peer", "no checks/peer", "from scratch/peer",
     "model", "model ms", "ours/model", "no checks/model", "max difference"),
    words=3,
)  # fmt: skip
_NEAR = 1.1  # our time over the model's own: the aim


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
        f"{result.difference:.0e}" + (f" ({line.note})" if line.note else "") + ("" if result.agrees else " DISAGREES")
    )
    cells = (
        line.method, line.workload.name, line.peer_name, f"{1e3 * result.cpu['ours']:.1f}", f"{1e3 * result.cpu['peer']:.1f}",
        *(f"{result.ratio(who):.2f}" for who in ("ours", "again", "no checks", "from scratch")),
        result.engine, f"{1e3 * result.cpu['model']:.1f}",
        *(f"{result.overhead(who):.2f}" for who in ("ours", "no checks")),
        difference,
    )  # fmt: skip
    return page.row(cells)


def named(result: Result, ratio: float) -> str:
    line = result.line
    return f"{line.method} on {line.workload.name} against {line.peer_name}: {ratio:.2f}"


def behind(results: list[Result]) -> list[str]:
    return [
        named(r, r.ratio()) + ("" if r.agrees else ", DISAGREES") for r in results if r.ratio() >= 1 or not r.agrees
    ]


def report(results: list[Result]) -> None:
    slower = [named(r, r.ratio("from scratch")) for r in results if r.ratio("from scratch") >= 1]
    far: dict[str, float] = {}
    for result in results:
        line = f"{result.line.method} on {result.line.workload.name}"
        far[line] = min(far.get(line, result.overhead()), result.overhead())
    rounds = sorted({result.rounds for result in results})
    page.write(
        "RESULTS.md",
        "# Effects and permutation importance",
        page.printed(__file__, *MODULES),
        f"Least CPU times of {rounds[0]} to {rounds[-1]} alternating rounds, on one thread.",
        *(f"Skipped: {peer} ({reason(peer)})." for peer in MODULES if reason(peer)),
        "\n".join((_HEAD, *map(row, results))),
        "## Behind a peer (ours/peer of at least 1)",
        page.bullets(behind(results)),
        "## Behind a peer when the Explainer is made for one question (from scratch/peer of at least 1)",
        page.bullets(slower),
        f"## More than {_NEAR} times the model's own time (ours/model)",
        page.bullets(f"{line}: {ratio:.2f}" for line, ratio in far.items() if ratio > _NEAR),
        "## What nobody can leave out",
        floor.__doc__.split("\n\n", 1)[1],
        floor.table(),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of a method's name: pdp, ice, ale, importance")
    parser.add_argument("--on", default="", help="part of a workload's name: " + ", ".join(WORKLOADS))
    parser.add_argument("--peer", default="", help="part of a peer's name")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="write RESULTS.md too")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    print(page.printed(__file__, *MODULES), flush=True)
    for peer in MODULES:
        if reason(peer):
            print(f"skipped: {peer} ({reason(peer)})")
    print(f"\n{_HEAD}", flush=True)
    results = []
    for line in lines(chosen.only, chosen.on, chosen.peer):
        try:
            results.append(measure(line, chosen.repeats))
        except Exception as error:  # a peer may fail in any way
            print(f"skipped: {line.method} on {line.workload.name} against {line.peer_name} ({error})", flush=True)
            continue
        print(row(results[-1]), flush=True)
    print("\nbehind:\n" + page.bullets(behind(results)))
    if chosen.write:
        report(results)
    return 1 if behind(results) else 0


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
