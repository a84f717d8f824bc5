"""What the user's table is: one doorway for every kind of table, and the schema learned from it."""

from pellucid.data.schema import Feature, Schema
from pellucid.data.table import Data

__all__ = ["Data", "Feature", "Schema"]
