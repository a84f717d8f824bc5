"""What all tests share: examples that are the same in every run, and the spam comments.

Property tests look for other examples with ``HYPOTHESIS=explore make test``. Tests that need the comments skip where the file is absent.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from pellucid import datasets

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS", "same"))


@pytest.fixture(scope="session")
def spam():
    """Comments, and whether each is spam."""
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "youtube_spam.csv").is_file():
        pytest.skip("youtube_spam.csv is absent: set PELLUCID_DATA to the folder that holds the data files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PELLUCID_DATA", str(folder))
        comments = datasets.spam()
    return comments.X["content"].tolist(), comments.y.to_numpy()
