"""One contestant asks one case, in a process of its own: python counterfactuals_asked.py CASE CONTESTANT ROWS [MODEL FILE].

Prints one line of JSON: what it took to make the contestant ready, and for each row its answers, CPU seconds, model rows
and what went wrong. The environment may be any that holds the contestant.
"""

from __future__ import annotations

import importlib.metadata
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import counterfactuals_peers as peers
from counterfactuals_cases import case as make_case

PACKAGES = ("pellucid", "dice-ml", "NICEx", "cfnow", "alibi", "tensorflow-cpu", "xgboost-cpu", "xgboost", "lightgbm")


class OutOfTime(Exception):
    pass


def measure(case: Any, call: Callable[[], Any]) -> dict[str, Any]:
    """What a call gives, its CPU seconds and model rows; ``error`` where it fails or takes too long."""
    case.asked, answer, error = 0, None, ""
    signal.setitimer(signal.ITIMER_PROF, peers.LIMIT)  # CPU seconds: the machine may be busy
    begin = time.process_time()
    try:
        with peers.quiet():
            answer = call()
    except OutOfTime:
        error = f"no answer within {peers.LIMIT} CPU seconds"
    except Exception as reason:  # a peer may fail in any way
        error = f"{type(reason).__name__}: {reason}".splitlines()[0]
    seconds = time.process_time() - begin
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"answer": answer, "seconds": seconds, "rows": case.asked, "error": error}


def main(name: str, contestant: str, rows: str, stored: str = "") -> None:
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGPROF, _stop)
    case = make_case(name, stored or None)
    checked = [float(case.score(case.table.codes(case.row(k)))[0]) for k in range(int(rows))]
    ready = measure(case, lambda: peers.CONTESTANTS[contestant](case))
    ask, found = ready.pop("answer"), []
    if ask is not None and contestant in peers.OURS:
        measure(case, lambda: ask(0))  # compiled code is loaded once per process
    for k in range(int(rows) if ask is not None else 0):
        record = measure(case, lambda k=k: ask(k))
        table = record.pop("answer")
        answers = [] if table is None else case.table.codes(table).tolist()
        found.append({**record, "answers": answers, "proven": bool(getattr(ask, "proven", False))})
    told = {"ready": ready, "scores": checked, "found": found, "versions": _versions()}
    print(json.dumps(told), file=sys.__stdout__)


def _stop(*_: Any) -> None:
    raise OutOfTime


def _versions() -> dict[str, str]:
    held = {
        distribution.metadata["Name"].lower(): distribution.version
        for distribution in importlib.metadata.distributions()
    }
    return {
        name: held[key]
        for name in PACKAGES
        if (key := name.lower()) in held or (key := name.lower().replace("-", "_")) in held
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
