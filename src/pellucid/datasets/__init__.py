"""Data sets for examples and tests: tables from the literature, and a simulator whose truth is known.

A table is looked for in the folder that the environment variable ``PELLUCID_DATA`` names, then in the
user's cache; else it is downloaded once, if its licence allows that, and checked. Importing this
package loads neither numpy nor pandas.
"""

from pellucid.datasets.dataset import Dataset
from pellucid.datasets.simulate import Simulation, simulate_bike
from pellucid.datasets.tables import (
    adult,
    apartments,
    bike,
    bike_3rd_edition,
    california,
    cervical,
    compas,
    credit,
    digits,
    heart,
    penguins,
    spam,
    titanic,
    wine,
)

__all__ = [
    "Dataset",
    "Simulation",
    "adult",
    "apartments",
    "bike",
    "bike_3rd_edition",
    "california",
    "cervical",
    "compas",
    "credit",
    "digits",
    "heart",
    "penguins",
    "simulate_bike",
    "spam",
    "titanic",
    "wine",
]
