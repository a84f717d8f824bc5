"""The real files are not part of the repository: tests that need them skip where they are absent."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def find_data_folder() -> Path | None:
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    return folder if (folder / "bike.csv").is_file() else None


DATA_FOLDER = find_data_folder()


@pytest.fixture(autouse=True)
def no_outside_data(monkeypatch, tmp_path):
    """No test sees the caller's folder or cache, nor the network: the default address is a dead end."""
    monkeypatch.delenv("PELLUCID_DATA", raising=False)
    monkeypatch.setenv("PELLUCID_DATA_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def real_data(monkeypatch) -> Path:
    if DATA_FOLDER is None:
        pytest.skip("the data files are absent: set PELLUCID_DATA to the folder that holds them")
    monkeypatch.setenv("PELLUCID_DATA", str(DATA_FOLDER))
    return DATA_FOLDER
