"""The real tables of the worked examples; tests that need them skip where the files are absent."""

import os
from pathlib import Path

import pandas as pd
import pytest


def read(name):
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    if not (folder / name).is_file():
        pytest.skip(f"{name} is absent: set PELLUCID_DATA to the folder that holds the data files")
    return pd.read_csv(folder / name)


@pytest.fixture(scope="session")
def bike():
    """All features of the bike rentals, and the number of bikes."""
    table = read("bike.csv")
    table["yr"] = table["yr"].astype(str)
    return table.drop(columns="cnt"), table["cnt"].astype(float)


@pytest.fixture(scope="session")
def cervical():
    table = read("cervical.csv")
    return table.drop(columns="Biopsy"), table["Biopsy"]
