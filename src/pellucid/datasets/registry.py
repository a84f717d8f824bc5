"""The one list of known tables: file, checksum, target, terms of use and column types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Levels = tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """Where a table comes from and how its columns are to be read."""

    file: str
    sha256: str
    target: str
    description: str
    licence: str
    citation: str
    redistributable: bool = True
    ordered: Mapping[str, Levels] = field(default_factory=dict)
    """Columns whose levels have an order: read as ordered categories."""
    calendar: Mapping[str, Levels] = field(default_factory=dict)
    """Columns that go round in a year or a week: read as unordered categories listed from its start."""
    whole: Levels = ()
    """Whole numbers that the file writes as decimals or leaves empty: read as (nullable) integers."""
    empty_is_text: bool = False
    """Whether an empty field is an empty text and not a missing value."""


CC_BY = "CC BY 4.0"
CC_BY_DBCL = "CC BY 4.0; the extract DbCL 1.0"
CC0 = "CC0 1.0"
UNCLEAR = "unclear: no licence is stated at the source; not distributed with or by pellucid"

SEASONS = ("WINTER", "SPRING", "SUMMER", "FALL")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")

FANAEE = (
    "Fanaee-T, H. & Gama, J. (2014). Event labeling combining ensemble detectors and background "
    "knowledge. Progress in Artificial Intelligence 2, 113-127."
)
HOFMANN = "Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository."
GORMAN = (
    "Gorman, K. B., Williams, T. D. & Fraser, W. R. (2014). Ecological sexual dimorphism and environmental "
    "variability within a community of Antarctic penguins (genus Pygoscelis). PLoS ONE 9(3), e90081."
)
BIECEK = (
    "Biecek, P. (2018). DALEX: explainers for complex predictive models in R. "
    "Journal of Machine Learning Research 19(84), 1-5."
)

SOURCES: dict[str, Source] = {
    "bike": Source(
        file="bike.csv",
        sha256="f149d0239de6bff74459876579a3b1fabb332aa1298cbe952b70c6f4da69d484",
        target="cnt",
        description="Daily bicycle rentals in Washington, D.C., 2011 and 2012 (731 days).",
        licence=CC_BY,
        citation=FANAEE,
        ordered={"weathersit": ("GOOD", "MISTY", "RAIN/SNOW/STORM")},
        calendar={"season": SEASONS, "mnth": MONTHS, "weekday": WEEKDAYS},
    ),
    "bike_3rd_edition": Source(
        file="bike_3rd_edition.csv",
        sha256="b8f0ad0a8cbd9530f0d3bd9fa999aef49c0224b292706ced7da792e2ed59253b",
        target="cnt",
        description="Daily bicycle rentals in Washington, D.C., with the rentals two days before (728 days).",
        licence=CC_BY,
        citation=FANAEE,
        ordered={"weather": ("GOOD", "MISTY", "BAD")},
        calendar={"season": SEASONS},
    ),
    "cervical": Source(
        file="cervical.csv",
        sha256="d7b3cf481e84b53ce24eb23cb437298bf054d4c7370a74ff6a25d525477d2ddc",
        target="Biopsy",
        description="Risk factors for cervical cancer (858 women).",
        licence=CC_BY,
        citation=(
            "Fernandes, K., Cardoso, J. S. & Fernandes, J. (2017). Transfer learning with partial "
            "observability applied to cervical cancer screening. IbPRIA 2017."
        ),
    ),
    "credit": Source(
        file="german_credit.csv",
        sha256="b0c45f9a43b0a6a583ce048049892a9fbec8c6ce664b812d1aeaef991a2a5111",
        target="risk",
        description="German credit risk, complete rows (522 loans).",
        licence=CC_BY_DBCL,
        citation=HOFMANN,
        ordered={"savings": ("little", "moderate", "rich"), "checking": ("little", "moderate", "rich")},
    ),
    "credit_full": Source(
        file="german_credit_full.csv",
        sha256="2866e041ae77b9aa8d1af08a50c74566a75a7152564b05663d52ab0712f431bc",
        target="risk",
        description="German credit risk, with missing values (1000 loans).",
        licence=CC_BY_DBCL,
        citation=HOFMANN,
        ordered={"savings": ("little", "moderate", "quite rich", "rich"), "checking": ("little", "moderate", "rich")},
    ),
    "spam": Source(
        file="youtube_spam.csv",
        sha256="57389920603f319c302a5f74a604b4ca5e28e1cdbe62651ee2e5daf4e05c0d39",
        target="spam",
        description="Comments under five music videos, spam or not (1956 comments).",
        licence=CC_BY,
        citation=(
            "Alberto, T. C., Lochter, J. V. & Almeida, T. A. (2015). TubeSpam: comment spam filtering on "
            "YouTube. ICMLA 2015."
        ),
        empty_is_text=True,
    ),
    "penguins": Source(
        file="penguins.csv",
        sha256="d4e69811a98ba905ec5f653e4bb4f60678238522a301537edcc636e5c0179377",
        target="sex",
        description="Penguins of the Palmer Archipelago, complete rows (333 penguins).",
        licence=CC0,
        citation=GORMAN,
    ),
    "penguins_full": Source(
        file="penguins_full.csv",
        sha256="f2d6493fc64ad958edbabd55eb0fc989af2c5a0458a2c79ccffe7985606feb60",
        target="sex",
        description="Penguins of the Palmer Archipelago, with missing values (344 penguins).",
        licence=CC0,
        citation=GORMAN,
        whole=("flipper_length_mm", "body_mass_g"),
    ),
    "digits": Source(
        file="digits.csv",
        sha256="ad88939b6b4bea95eb783d42e189724dded003bdaf630968cbf941fcf5cb3943",
        target="digit",
        description="Handwritten digits of 8 x 8 pixels (1797 images).",
        licence=CC_BY,
        citation=(
            "Alpaydin, E. & Kaynak, C. (1998). Optical Recognition of Handwritten Digits. "
            "UCI Machine Learning Repository."
        ),
    ),
    "adult": Source(
        file="adult.csv",
        sha256="98fbe372dd00d6afcdec811b8bb79925ff35cf6ca47fc83193913554531e8bc9",
        target="income",
        description="Income above 50,000 dollars or not, US census of 1994 (32561 adults).",
        licence=CC_BY,
        citation="Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository.",
    ),
    "wine": Source(
        file="wine_quality.csv",
        sha256="4ae4040caa356fc14f3a4030e4ba2d45a78b1037c2954dde9d7bfcccda86b54e",
        target="quality",
        description="Portuguese vinho verde, red and white, graded by tasters (6497 wines).",
        licence=CC_BY,
        citation=(
            "Cortez, P., Cerdeira, A., Almeida, F., Matos, T. & Reis, J. (2009). Modeling wine preferences by "
            "data mining from physicochemical properties. Decision Support Systems 47(4), 547-553."
        ),
    ),
    "heart": Source(
        file="heart_cleveland.csv",
        sha256="9e5c0982b6399a219dde529c9a208ffa2e22f8cf3659d715dca32801af0129e6",
        target="num",
        description="Heart disease at the Cleveland Clinic (303 patients).",
        licence=CC_BY,
        citation=(
            "Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R. (1989). Heart Disease. "
            "UCI Machine Learning Repository."
        ),
        whole=("ca", "thal"),
    ),
    "titanic": Source(
        file="titanic.csv",
        sha256="1c1fbb416c0babe3a35e1da7d0e9d7e1980490cf51b81f5034d6159aa45f00d3",
        target="survived",
        description="Passengers and crew of the Titanic (2207 people).",
        licence=UNCLEAR,
        citation=BIECEK,
        redistributable=False,
    ),
    "california": Source(
        file="california_housing.csv",
        sha256="8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e",
        target="median_house_value",
        description="House values in California, US census of 1990 (20640 block groups).",
        licence=UNCLEAR,
        citation=(
            "Pace, R. K. & Barry, R. (1997). Sparse spatial autoregressions. "
            "Statistics & Probability Letters 33(3), 291-297."
        ),
        redistributable=False,
        whole=("housing_median_age", "total_rooms", "total_bedrooms", "population", "households", "median_house_value"),
    ),
    "compas": Source(
        file="compas.csv",
        sha256="ee9787c2b7a4878533e53143441a46d302c98f2f0068ee7aa97c5cdbd280f3e0",
        target="two_year_recid",
        description="COMPAS scores and new offences within two years, Broward County (6172 defendants).",
        licence=UNCLEAR,
        citation=(
            "Larson, J., Mattu, S., Kirchner, L. & Angwin, J. (2016). How we analyzed the COMPAS recidivism "
            "algorithm. ProPublica."
        ),
        redistributable=False,
        ordered={"age_cat": ("Less than 25", "25 - 45", "Greater than 45"), "score_text": ("Low", "Medium", "High")},
    ),
    "apartments": Source(
        file="apartments.csv",
        sha256="03983a672411287e8b117dbbfba3c993a9123654aa9ec7b4b61745509b6ff7c5",
        target="m2_price",
        description="Artificial prices per square metre of apartments in Warsaw (1000 apartments).",
        licence=UNCLEAR,
        citation=BIECEK,
        redistributable=False,
    ),
    "apartments_test": Source(
        file="apartments_test.csv",
        sha256="ff3e69b687e3f6f4a1ef8a161c935d8a8752b7d8c117e9f27ca4e83d0283a334",
        target="m2_price",
        description="Artificial prices per square metre of apartments in Warsaw, test part (9000 apartments).",
        licence=UNCLEAR,
        citation=BIECEK,
        redistributable=False,
    ),
}
