"""Sending the model to other processes once, not once per batch."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import ModelError

_opened: dict[str, Callable[..., tuple[FloatArray, float]]] = {}


class Sealed:
    """A predictor's function, serialised once; a worker process opens it at the first batch and keeps it.

    The bytes are held as an array because joblib shares large arrays between processes through a file
    instead of copying them with every task.
    """

    def __init__(self, ask: Callable[[Any, int], tuple[FloatArray, float]]) -> None:
        import joblib

        self._token = uuid.uuid4().hex
        stream = io.BytesIO()
        try:
            # The wrapper is for functions without a name, and for what they refer to.
            joblib.dump(joblib.wrap_non_picklable_objects(ask, keep_wrapper=False), stream)
        except Exception as error:  # whatever the model's own serialisation raises
            raise ModelError(
                f"the model cannot be sent to other processes ({type(error).__name__}: {error}); "
                "use threads, as in joblib.parallel_config(backend='threading'), or n_jobs=1."
            ) from error
        self._bytes = np.frombuffer(stream.getvalue(), dtype=np.uint8)

    def __call__(self, table: Any, n: int) -> tuple[FloatArray, float]:
        ask = _opened.get(self._token)
        if ask is None:
            import joblib

            ask = joblib.load(io.BytesIO(self._bytes.tobytes()))
            _opened.clear()
            _opened[self._token] = ask
        return ask(table, n)
