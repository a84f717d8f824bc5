"""The tree engine against its peers: python benchmarks/trees.py [--only path] [--peer shap] [--rounds 5] [--write].

Prints a Markdown table; exits with 1 when a goal is missed or a peer disagrees.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from trees_cases import WORKLOADS
from trees_fast import release
from trees_measure import Peer, Result, measure, second_core

# Waiting threads of OpenMP sleep: on a busy machine they would take the time from those that work.
_QUIET = {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore", "OMP_WAIT_POLICY": "PASSIVE"}
_LIBRARIES = (
    "pellucid",
    "numpy",
    "numba",
    "scikit-learn",
    "xgboost",
    "xgboost-cpu",
    "lightgbm",
    "shap",
    "woodelf-explainer",
    "shapiq",
)
_MOST_MEMORY = 1e9

_HEAD = (
    "| workload | peer | goal | times faster | ours ms | from the model ms | peer ms | ours, 2 threads, wall ms "
    "| peer, 2 threads, wall ms | ours/predict | difference | extra memory MB |\n|---|---|" + "---:|" * 10
)


def versions() -> str:
    found = []
    for library in _LIBRARIES:
        try:
            found.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            continue
    return ", ".join((*found, *release()))


def lines(result: Result) -> list[str]:
    return [line(result, peer) for peer in result.workload.peers if peer.name in result.difference]


def line(result: Result, peer: Peer) -> str:
    ms = {who: f"{1e3 * seconds:,.1f}" for who, seconds in result.cpu.items()}
    wall = {who: f"{1e3 * seconds:,.1f}" for who, seconds in result.wall.items()}
    scaled = f" (1/{peer.times:g} of the rows, scaled up)" if peer.times > 1 else ""
    serial = " (serial)" if peer.serial else ""
    apart = result.difference[peer.name]
    cells = (
        result.workload.title,
        peer.name + scaled,
        "" if peer.goal is None else f"{peer.goal:g}",
        f"{result.faster(peer):.3g}",
        ms["ours"],
        ms["from model"],
        ms[peer.name],
        wall["ours"],
        wall[peer.name] + serial,
        f"{result.over_predict:.1f}",
        f"{apart:.0e}" + (" DISAGREES" if apart > peer.tolerance else ""),
        f"{result.memory / 1e6:.0f}",
    )
    return "| " + " | ".join(cells) + " |"


def missed(result: Result) -> list[str]:
    """What falls short, in words."""
    name, short = result.workload.title, []
    for peer in result.workload.peers:
        if peer.name not in result.difference:
            continue
        if peer.goal is not None and result.faster(peer) < peer.goal:
            short.append(f"{name}: {result.faster(peer):.3g} times {peer.name}, of {peer.goal:g}")
        if result.difference[peer.name] > peer.tolerance:
            short.append(f"{name}: {peer.name} gives other numbers")
    within = result.workload.within
    if within is not None and result.over_predict > within:
        short.append(f"{name}: {result.over_predict:.1f} times the model's predict, of {within:g} at most")
    if not result.memory < _MOST_MEMORY:
        short.append(f"{name}: {result.memory / 1e6:.0f} MB of extra memory, of 1000 at most")
    return short


def page(results: list[Result], told: str) -> str:
    rounds = sorted({result.rounds for result in results})
    skipped = [f"{peer}: {why}" for result in results for peer, why in result.skipped.items()]
    short = [each for result in results for each in missed(result)]
    parts = [
        "# What the tree benchmarks printed",
        "Printed by `benchmarks/trees.py --write` on two cores of a shared x86-64 server, least of "
        f"{' to '.join(str(r) for r in dict.fromkeys((rounds[0], rounds[-1])))} alternating rounds. "
        "Columns, workloads and how each peer is asked: [README.md](README.md#trees).",
        told,
        "\n".join((_HEAD, *(each for result in results for each in lines(result)))),
        "## Goals missed",
        "\n".join(f"- {each}" for each in short) if short else "None.",
    ]
    if skipped:
        parts += ["## Peers skipped", "\n".join(f"- {each}" for each in dict.fromkeys(skipped))]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of a workload's name: " + ", ".join(WORKLOADS))
    parser.add_argument("--peer", default="", help="part of a peer's name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write TREES.md too")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    told = (
        f"{versions()}.\n\nAt the start the load of the machine was {os.getloadavg()[0]:.1f} and two threads got "
        f"{second_core():.1f} times as much done as one: where that is near 1, the wall times tell little."
    )
    print(f"{told}\n\n{_HEAD}", flush=True)
    results = []
    for name, make in WORKLOADS.items():
        if chosen.only not in name:
            continue
        try:
            workload = make()
        except ImportError as error:  # the library of the model itself
            print(f"skipped: {name} ({error})", flush=True)
            continue
        results.append(measure(workload, chosen.rounds, chosen.peer))
        for text in lines(results[-1]):
            print(text, flush=True)
    for result in results:
        for peer, why in result.skipped.items():
            print(f"skipped: {result.workload.name}, {peer} ({why})")
    short = [each for result in results for each in missed(result)]
    print("\n" + ("missed:\n" + "\n".join(f"- {each}" for each in short) if short else "every goal met"))
    if chosen.write:
        Path(__file__).with_name("TREES.md").write_text(page(results, told))
    return 1 if short else 0


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in _QUIET.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | _QUIET)
    sys.exit(main())
