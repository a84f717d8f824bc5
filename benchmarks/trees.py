"""Tree models against the peers: python benchmarks/trees.py [--only path] [--peer shap] [--rounds 5] [--write].

Prints a Markdown table; exits with 1 when a goal is missed or a peer disagrees.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings

import page
from trees_cases import WORKLOADS
from trees_fast import release
from trees_measure import ENGINE, OURS, UNCHECKED, Peer, Result, measure, second_core

# Waiting threads of OpenMP sleep: on a busy machine they would take the time from those that work.
_QUIET = {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore", "OMP_WAIT_POLICY": "PASSIVE"}
_PEERS = ("numba", "xgboost", "xgboost-cpu", "lightgbm", "shap", "shapiq", "woodelf-explainer")
_MOST_MEMORY = 1e9

_HEAD = page.header(
    (
        "workload",
        "peer",
        "goal",
        "times faster",
        "public call ms",
        "checks=False ms",
        "engine ms",
        "peer ms",
        "public call, 2 threads, wall ms",
        "peer, 2 threads, wall ms",
        "public call/predict",
        "difference",
        "extra memory MB",
    ),
    words=2,
)


def lines(result: Result) -> list[str]:
    return [line(result, peer) for peer in result.workload.peers if peer.name in result.difference]


def line(result: Result, peer: Peer) -> str:
    ms = {who: _ms(seconds) for who, seconds in result.cpu.items()}
    wall = {who: _ms(seconds) for who, seconds in result.wall.items()}
    scaled = f" (1/{peer.times:g} of the rows, scaled up)" if peer.times > 1 else ""
    serial = " (serial)" if peer.serial else ""
    apart = result.difference[peer.name]
    return page.row(
        (
            result.workload.title,
            peer.name + scaled,
            _goal(result, peer),
            f"{result.faster(peer):.3g}",
            ms[OURS],
            ms[UNCHECKED],
            ms[ENGINE],
            ms[peer.name],
            wall[OURS],
            wall[peer.name] + serial,
            f"{result.over_predict:.1f}",
            f"{apart:.0e}" + (" DISAGREES" if apart > peer.tolerance else ""),
            f"{result.memory / 1e6:.0f}",
        )
    )


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:,.2f}" if seconds < 0.01 else f"{1e3 * seconds:,.1f}"


def _goal(result: Result, peer: Peer) -> str:
    if peer.goal is not None:
        return f"{peer.goal:g} times"
    return "" if result.workload.goal_ms is None else f"{result.workload.goal_ms:g} ms"


def missed(result: Result) -> list[str]:
    """What falls short, in words."""
    name, short = result.workload.title, []
    ours, most = 1e3 * result.cpu[OURS], result.workload.goal_ms
    if most is not None and ours > most:
        short.append(f"{name}: {ours:.1f} ms, goal at most {most:g} ms")
    for peer in result.workload.peers:
        if peer.name not in result.difference:
            continue
        if peer.goal is not None and result.faster(peer) < peer.goal:
            short.append(f"{name}: {result.faster(peer):.3g} times as fast as {peer.name}, goal {peer.goal:g}")
        if peer.goal is None and result.faster(peer) < 1:
            short.append(f"{name}: {peer.name} is {1 / result.faster(peer):.3g} times as fast as the public call")
        if result.difference[peer.name] > peer.tolerance:
            short.append(f"{name}: {peer.name} gives other numbers")
    if not result.memory < _MOST_MEMORY:
        short.append(f"{name}: {result.memory / 1e6:.0f} MB of extra memory, goal at most 1000")
    return short


def report(results: list[Result], told: str) -> None:
    skipped = [f"{peer}: {why}" for result in results for peer, why in result.skipped.items()]
    rounds = sorted({result.rounds for result in results})
    parts = [
        "# Tree models",
        page.printed(__file__, *_PEERS, more=release()),
        f"Least CPU times of {' to '.join(str(r) for r in dict.fromkeys((rounds[0], rounds[-1])))} alternating "
        f"rounds, on one thread. *Times faster* is the peer's time over that of the public call, with its checks. {told}",
        "\n".join((_HEAD, *(each for result in results for each in lines(result)))),
        "## Goals missed",
        page.bullets(each for result in results for each in missed(result)),
    ]
    if skipped:
        parts += ["## Peers skipped", page.bullets(dict.fromkeys(skipped))]
    page.write("TREES.md", *parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of a workload's name: " + ", ".join(WORKLOADS))
    parser.add_argument("--peer", default="", help="part of a peer's name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write TREES.md too")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    told = (
        f"At the start the load of the machine was {os.getloadavg()[0]:.1f} and two threads got {second_core():.1f} "
        "times as much done as one: where that is near 1, the wall times tell little."
    )
    print(f"{page.printed(__file__, *_PEERS, more=release())}\n\n{told}\n\n{_HEAD}", flush=True)
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
    print("\nmissed:\n" + page.bullets(short))
    if chosen.write:
        report(results, told)
    return 1 if short else 0


if __name__ == "__main__":
    page.restart_with(_QUIET)
    sys.exit(main())
