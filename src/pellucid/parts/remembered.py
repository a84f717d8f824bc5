"""What a masked game said, each coalition asked once over many calls."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.parts.game import MaskedGame


class Remembered:
    """The answers of one game so far, found again by the coalition."""

    def __init__(self, game: MaskedGame) -> None:
        self._game = game
        nobody, everybody = game.ends()
        ends = np.repeat([[0], [1]], game.players, axis=1)
        self._known = {key: answer[0] for key, answer in zip(_keys(ends), (nobody, everybody), strict=True)}

    def new(self, coalitions: AnyArray) -> int:
        """How many of these coalitions were not asked before."""
        return len(set(_keys(coalitions)) - self._known.keys())

    def worth(self, coalitions: AnyArray) -> FloatArray:
        """The answers ``(coalitions, outputs)``."""
        keys = _keys(coalitions)
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._known:
                first.setdefault(key, i)
        if first:
            found = self._game.worth(coalitions[list(first.values())])[0]
            self._known |= dict(zip(first, found, strict=True))
        return np.array([self._known[key] for key in keys]).reshape(len(keys), self._game.outputs)


def _keys(coalitions: AnyArray) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(coalitions, dtype=np.int32)]
