"""Fits and saves every case with the releases installed here: python fit.py LIBRARY FOLDER."""

import json
import sys
import warnings
from pathlib import Path

import cases
import libraries


def main(library: str, folder: Path) -> None:
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number, case in enumerate(cases.of(library)):
        X = cases.numbers(case.sort)
        table = cases.table(X, case.sort, words=library == "catboost")
        name = f"{number:02d}.{libraries.ENDING[library]}"
        line = {"case": case.name, "sort": case.sort, "file": name}
        try:
            libraries.save(library, case.fit(table, cases.outcome(X)), folder / name)
        except Exception as error:
            line["unfit"] = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        made.append(line)
    (folder / "cases.json").write_text(json.dumps(made, indent=1))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
