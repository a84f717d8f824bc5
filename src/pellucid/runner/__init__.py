"""The runner: every model call of every method goes through it."""

from pellucid.runner.moments import Moments
from pellucid.runner.run import Cost, Run
from pellucid.runner.sweep import Batch, Sweep, constant_sweep, exchange_sweep

__all__ = ["Batch", "Cost", "Moments", "Run", "Sweep", "constant_sweep", "exchange_sweep"]
