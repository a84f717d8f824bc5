"""Models that need no explaining: scikit-learn estimators that people can read."""

from pellucid.glassbox.linear.linear_model import LinearModel
from pellucid.glassbox.nearest_prototype import NearestPrototype

__all__ = ["LinearModel", "NearestPrototype"]
