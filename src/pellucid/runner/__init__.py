"""The runner: every model call of every method goes through it."""

from pellucid.runner.intervention import Batch, Intervention, constant_intervention, exchange_intervention
from pellucid.runner.limits import Limits
from pellucid.runner.run import Cost, Run, stream

__all__ = ["Batch", "Cost", "Intervention", "Limits", "Run", "constant_intervention", "exchange_intervention", "stream"]
