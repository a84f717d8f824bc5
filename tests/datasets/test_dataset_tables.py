"""The real tables: sizes, targets, counts and types as their documentation states them."""

import hashlib
import re
import subprocess
import sys

import pandas as pd
import pytest

from pellucid import datasets
from pellucid.datasets.registry import SOURCES
from pellucid.errors import InputError

LOADERS = {
    "credit_full": lambda: datasets.credit(complete=False),
    "penguins_full": lambda: datasets.penguins(complete=False),
    "apartments_test": lambda: datasets.apartments(part="test"),
}

# name: rows, columns with the target, target, file
SHAPES = {
    "bike": (731, 12, "cnt", "bike.csv"),
    "bike_3rd_edition": (728, 10, "cnt", "bike_3rd_edition.csv"),
    "cervical": (858, 16, "Biopsy", "cervical.csv"),
    "credit": (522, 10, "risk", "german_credit.csv"),
    "credit_full": (1000, 10, "risk", "german_credit_full.csv"),
    "spam": (1956, 2, "spam", "youtube_spam.csv"),
    "penguins": (333, 6, "sex", "penguins.csv"),
    "penguins_full": (344, 8, "sex", "penguins_full.csv"),
    "digits": (1797, 65, "digit", "digits.csv"),
    "adult": (32561, 15, "income", "adult.csv"),
    "wine": (6497, 13, "quality", "wine_quality.csv"),
    "heart": (303, 14, "num", "heart_cleveland.csv"),
    "titanic": (2207, 8, "survived", "titanic.csv"),
    "california": (20640, 10, "median_house_value", "california_housing.csv"),
    "compas": (6172, 14, "two_year_recid", "compas.csv"),
    "apartments": (1000, 6, "m2_price", "apartments.csv"),
    "apartments_test": (9000, 6, "m2_price", "apartments_test.csv"),
}

CLASS_COUNTS = {
    "cervical": {"Healthy": 803, "Cancer": 55},
    "credit": {"good": 291, "bad": 231},
    "credit_full": {"good": 700, "bad": 300},
    "spam": {1: 1005, 0: 951},
    "heart": {0: 164, 1: 55, 2: 36, 3: 35, 4: 13},
}

MISSING = {
    "credit_full": {"savings": 183, "checking": 394},
    "penguins_full": {"bill_length_mm": 2, "bill_depth_mm": 2, "flipper_length_mm": 2, "body_mass_g": 2, "sex": 11},
    "adult": {"workclass": 1836, "occupation": 1843, "native_country": 583},
    "heart": {"ca": 4, "thal": 2},
    "california": {"total_bedrooms": 207},
}


def load(name):
    return LOADERS.get(name, getattr(datasets, name, None))()


def test_every_source_is_tested():
    assert set(SHAPES) == set(SOURCES)


@pytest.mark.parametrize("name", SHAPES)
def test_size_target_and_gaps_are_the_documented_ones(real_data, name):
    rows, columns, target, _ = SHAPES[name]
    dataset = load(name)
    X, y = dataset
    assert dataset.frame.shape == (rows, columns)
    assert (dataset.name, dataset.target, y.name) == (name, target, target)
    assert target not in X.columns
    assert list(dataset.frame.columns) == [*X.columns, target]
    gaps = dataset.frame.isna().sum()
    assert gaps[gaps > 0].to_dict() == MISSING.get(name, {})
    assert all([dataset.description, dataset.licence, dataset.citation])
    assert str(rows) in dataset.description


@pytest.mark.parametrize("name", SHAPES)
def test_the_values_are_those_of_the_file(real_data, name):
    """Typing a column changes none of its values."""
    file = SHAPES[name][-1]
    plain = pd.read_csv(real_data / file, keep_default_na=name != "spam")
    typed = load(name).frame[list(plain.columns)]
    for column in plain:
        if plain[column].dtype == "float64":
            pd.testing.assert_series_equal(typed[column].astype("float64"), plain[column])
        else:
            assert typed[column].isna().equals(plain[column].isna())
            present = plain[column].notna()
            assert typed[column][present].tolist() == plain[column][present].tolist()


@pytest.mark.parametrize("name", SHAPES)
def test_the_checksum_is_that_of_the_file(real_data, name):
    file = SHAPES[name][-1]
    assert SOURCES[name].file == file
    assert hashlib.sha256((real_data / file).read_bytes()).hexdigest() == SOURCES[name].sha256


@pytest.mark.parametrize("name", CLASS_COUNTS)
def test_class_counts(real_data, name):
    assert load(name).y.value_counts().to_dict() == CLASS_COUNTS[name]


def test_numbers_keep_their_kind(real_data):
    heart = datasets.heart().X
    assert heart["ca"].dtype == "Int64"
    assert heart["age"].dtype == "int64"
    assert heart["oldpeak"].dtype == "float64"
    california = datasets.california()
    assert california.X["total_rooms"].dtype == "int64"
    assert california.X["total_bedrooms"].dtype == "Int64"
    assert california.y.dtype == "int64"
    assert datasets.penguins(complete=False).X["body_mass_g"].dtype == "Int64"


def test_only_columns_with_an_order_become_categories(real_data):
    bike = datasets.bike().X
    assert bike["weathersit"].cat.ordered
    assert list(bike["weathersit"].cat.categories) == ["GOOD", "MISTY", "RAIN/SNOW/STORM"]
    assert not bike["season"].cat.ordered
    assert list(bike["season"].cat.categories) == ["WINTER", "SPRING", "SUMMER", "FALL"]
    assert not isinstance(bike["holiday"].dtype, pd.CategoricalDtype)
    credit = datasets.credit(complete=False).X
    assert list(credit["savings"].cat.categories) == ["little", "moderate", "quite rich", "rich"]
    assert credit["savings"].cat.ordered
    assert not isinstance(credit["purpose"].dtype, pd.CategoricalDtype)


def test_empty_comments_are_texts(real_data):
    X, y = datasets.spam()
    assert int((X["content"] == "").sum()) == 2
    assert (X["content"].iloc[266], y.iloc[266]) == ("PSY is a good guy", 0)


def test_each_call_reads_afresh(real_data):
    first = datasets.penguins()
    first.X.loc[0, "species"] = "changed"
    assert datasets.penguins().X.loc[0, "species"] == "Adelie"


def test_repr_is_one_line(real_data):
    assert repr(datasets.wine()) == "Dataset('wine': 6497 rows, 12 features, target 'quality')"


def test_unknown_part():
    with pytest.raises(InputError, match=r"apartments .*'tests'.*'test'"):
        datasets.apartments(part="tests")


@pytest.mark.parametrize("name", ["titanic", "california", "compas", "apartments", "apartments_test"])
def test_unclear_licences_are_never_downloaded(name, tmp_path, monkeypatch):
    file = SHAPES[name][-1]
    with pytest.raises(InputError, match=f"{file} is not distributed.*unclear.*PELLUCID_DATA\\.$") as failure:
        load(name)
    assert "\n" not in str(failure.value)
    monkeypatch.setenv("PELLUCID_DATA", str(tmp_path))
    with pytest.raises(InputError, match=re.escape(f"{file} into the folder {tmp_path}")):
        load(name)


def test_the_redistributable_ones_are_the_clear_ones():
    unclear = {name for name, source in SOURCES.items() if not source.redistributable}
    assert unclear == {"titanic", "california", "compas", "apartments", "apartments_test"}
    assert unclear == {name for name, source in SOURCES.items() if source.licence.startswith("unclear")}


def test_importing_is_cheap():
    program = (
        "import sys, pellucid; before = set(sys.modules); import pellucid.datasets; "
        "heavy = {'numpy', 'pandas', 'urllib.request', 'scipy', 'sklearn'} & (set(sys.modules) - before); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
