"""One function per table; `X` is every column of the file but the target.

Columns stay as the file has them: text is text, an integer is an integer (nullable where values are
missing) and missing is missing. Only columns with an order become categories: ordered ones where the
levels are graded (weather, savings), unordered ones in calendar order where they go round (season,
month, weekday).
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from pellucid.datasets.dataset import Dataset
from pellucid.datasets.fetch import find
from pellucid.datasets.registry import SOURCES, Levels, Source
from pellucid.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd


def bike() -> Dataset:
    """731 days of bicycle rentals in Washington, D.C.; target ``cnt``, the rentals of the day.

    The day data of the UCI set, with labels and in °C, % and km/h. CC BY 4.0; Fanaee-T & Gama (2014).
    """
    return _load("bike")


def bike_3rd_edition() -> Dataset:
    """728 days of the same rentals with those two days before (``cnt_2d_bfr``); target ``cnt``.

    Days without a past or with a humidity of 0 are dropped. CC BY 4.0; Fanaee-T & Gama (2014).
    """
    return _load("bike_3rd_edition")


def cervical() -> Dataset:
    """858 women with 15 risk factors; target ``Biopsy``, ``Healthy`` (803) or ``Cancer`` (55).

    Missing values were replaced by the mode of the column. CC BY 4.0; Fernandes et al. (2017).
    """
    return _load("cervical")


def credit(*, complete: bool = True) -> Dataset:
    """522 loans in Germany; target ``risk``, ``good`` (291) or ``bad`` (231).

    ``complete=False`` gives all 1000 loans, with missing savings and checking accounts and the purposes
    unjoined. CC BY 4.0, the extract DbCL 1.0; Hofmann (1994).
    """
    return _load("credit" if complete else "credit_full")


def spam() -> Dataset:
    """1956 comments under music videos, one text column ``content``; target ``spam``, 1 (1005) or 0 (951).

    An empty comment is an empty text, not a missing one. CC BY 4.0; Alberto, Lochter & Almeida (2015).
    """
    return _load("spam")


def penguins(*, complete: bool = True) -> Dataset:
    """333 penguins of three species with four measurements; target ``sex``.

    ``complete=False`` gives all 344 penguins with island and year; measurements and the target may be
    missing. CC0 1.0; Gorman, Williams & Fraser (2014).
    """
    return _load("penguins" if complete else "penguins_full")


def digits() -> Dataset:
    """1797 handwritten digits, pixel ``px_r_c`` (row, column) from 0 to 16; target ``digit``, 0 to 9.

    CC BY 4.0; Alpaydin & Kaynak (1998).
    """
    return _load("digits")


def adult() -> Dataset:
    """32561 adults of the US census of 1994; target ``income``, ``<=50K`` or ``>50K``.

    ``education`` is text; ``education_num`` has its order. CC BY 4.0; Becker & Kohavi (1996).
    """
    return _load("adult")


def wine() -> Dataset:
    """6497 red and white vinho verde with their chemistry; target ``quality``, a grade from 3 to 9.

    CC BY 4.0; Cortez et al. (2009).
    """
    return _load("wine")


def heart() -> Dataset:
    """303 patients with chest pain, Cleveland; target ``num``, 0 (healthy) to 4 (severe heart disease).

    Codes stay integers; ``ca`` and ``thal`` have missing values. CC BY 4.0; Janosi et al. (1989).
    """
    return _load("heart")


def titanic() -> Dataset:
    """2207 passengers and crew of the Titanic; target ``survived``, 1 or 0.

    Missing values were imputed at the source. Licence unclear: bring the file yourself. Biecek (2018).
    """
    return _load("titanic")


def california() -> Dataset:
    """20640 census block groups of 1990, totals and not averages; target ``median_house_value``.

    ``total_bedrooms`` has missing values. Licence unclear: bring the file yourself. Pace & Barry (1997).
    """
    return _load("california")


def compas() -> Dataset:
    """6172 defendants in Broward County; target ``two_year_recid``, 1 or 0.

    ``is_recid`` all but tells the target, and ``decile_score`` and ``score_text`` are the output of the
    COMPAS model: drop them to model the person. Licence unclear: bring the file yourself.
    Larson et al. (2016).
    """
    return _load("compas")


def apartments(part: Literal["train", "test"] = "train") -> Dataset:
    """1000 (``test``: 9000) artificial apartments; target ``m2_price``, the price per square metre.

    Made so that a linear model and a random forest err about equally. Licence unclear: bring the file
    yourself. Biecek (2018).
    """
    parts = {"train": "apartments", "test": "apartments_test"}
    if part not in parts:
        raise InputError(f"apartments has no part {part!r}{nearest(str(part), parts)}")
    return _load(parts[part])


def _load(name: str) -> Dataset:
    source = SOURCES[name]
    content, origin = find(source)
    frame = _typed(_parse(content, source, origin), source, origin)
    return Dataset(
        name=name,
        X=frame.drop(columns=source.target),
        y=frame[source.target],
        target=source.target,
        description=source.description,
        licence=source.licence,
        citation=source.citation,
    )


def _parse(content: bytes, source: Source, origin: str) -> pd.DataFrame:
    import pandas as pd

    try:
        frame = pd.read_csv(io.BytesIO(content), keep_default_na=not source.empty_is_text)
    except ValueError as error:  # what pandas raises for a bad encoding, a ragged table or an empty file
        raise InputError(
            f"{origin} could not be read as a comma-separated table ({error}); replace or remove the file."
        ) from error
    if source.target not in frame.columns:
        known = nearest(source.target, [str(column) for column in frame.columns])
        raise InputError(f"{origin} must have its target in a column named {source.target!r}{known}")
    return frame


def _typed(frame: pd.DataFrame, source: Source, origin: str) -> pd.DataFrame:
    # A user's own version of a file may lack columns other than the target.
    levels = {**source.calendar, **source.ordered}
    categories = {
        name: _category(frame[name], levels[name], ordered=name in source.ordered, origin=origin)
        for name in frame.columns.intersection(list(levels))
    }
    integers = {name: _integer(frame[name]) for name in frame.columns.intersection(list(source.whole))}
    return frame.assign(**categories, **integers)


def _category(column: pd.Series, levels: Levels, *, ordered: bool, origin: str) -> pd.Series:
    import pandas as pd

    unknown = column[column.notna() & ~column.isin(levels)]
    if len(unknown):
        value = str(unknown.iloc[0])
        raise InputError(
            f"{origin} has {value!r} in column {column.name!r}, where a level is expected{nearest(value, levels)}"
        )
    return column.astype(pd.CategoricalDtype(levels, ordered=ordered))


def _integer(column: pd.Series) -> pd.Series:
    if column.dtype != "float64" or (column.dropna() % 1 != 0).any():
        return column
    return column.astype("Int64" if column.hasnans else "int64")
