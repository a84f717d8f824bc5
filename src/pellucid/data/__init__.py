"""What the user's table is: one doorway for every kind of table, and the schema learned from it."""

from pellucid.data.frames.doorway import as_frame, library_of
from pellucid.data.frames.frame import Frame, is_missing
from pellucid.data.schema import Feature, Schema
from pellucid.data.table import Data

__all__ = ["Data", "Feature", "Frame", "Schema", "as_frame", "is_missing", "library_of"]
