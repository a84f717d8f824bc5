"""The tree engine's answers: exact Shapley values and interactions of an ensemble, for either game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.trees import plain
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.quadrature import Index
from pellucid.trees.rows import Alone, Places, Watch, dense, portions

Game = Literal["path", "marginal"]
KEPT_BYTES = 160 * 2**20  # of programs and tables that a game keeps for its next rows
_MOST_BYTES = 2 * 2**30  # of a matrix of interactions; working on it takes about twice that


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


P = TypeVar("P", bound=_Sized)
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Attributed:
    """Shapley values and what they start from.

    values
        ``(rows, players, outputs)``
    base
        ``(outputs,)``: the value of the game without players.
    interactions
        ``(rows, players, players, outputs)`` or None: off the diagonal half the index of a pair; rows add up to the
        Shapley values, of the Banzhaf index to the Banzhaf values.
    """

    values: FloatArray
    base: FloatArray
    interactions: FloatArray | None


class TreeGame:
    """One game of some trees, for any rows: what does not depend on the rows is made once and kept.

    ``players`` gives the player of each column (by default every column is one), ``background`` and ``weights`` the
    rows that stand for "absent" in the marginal game. ``fill`` is what a cell stands for that a sparse matrix does not
    store. ``tables=False`` prepares nothing: it is quicker for a few rows that are asked about once, and agrees to
    rounding. A row's numbers do not depend on the rows it is explained with, to the last bit.
    """

    kept_bytes: ClassVar[int] = KEPT_BYTES

    def __init__(
        self,
        ensemble: TreeEnsemble,
        game: Game,
        background: AnyArray | None = None,
        weights: FloatArray | None = None,
        players: IntArray | None = None,
        *,
        fill: float = 0.0,
        tables: bool = True,
    ) -> None:
        if game == "path" and np.isnan(ensemble.nodes.cover).any():
            raise InputError(
                "game='path' weighs branches by the training rows that took them, which this model does not keep; use"
                " game='marginal'."
            )
        if game == "marginal" and (background is None or background.shape[0] == 0):
            raise InputError("game='marginal' needs background rows; give at least one.")
        self.ensemble = ensemble
        self._background = None if game == "path" else background
        self._weights, self._fill, self._tables = weights, fill, tables
        self._players = np.arange(ensemble.n_features) if players is None else np.asarray(players, dtype=np.int64)
        self._compiled = plain.can_compile()
        self._made: dict[Any, Any] = {}
        self._room = self.kept_bytes

    @property
    def nbytes(self) -> int:
        """Memory held for the next rows."""
        return self.kept_bytes - self._room

    @property
    def count(self) -> int:
        """Number of players."""
        return int(self._players.max(initial=-1)) + 1

    @property
    def base(self) -> FloatArray:
        """The value of the game without players."""
        return self._once("base", self._base)

    def attribute(
        self, X: AnyArray, *, interactions: Index | None = None, run: Watch | None = None, into: Places | None = None
    ) -> Attributed:
        """Exact Shapley values of the rows of X, and the interactions of an index; ``into`` says where values go that
        have no interactions beside them.
        """
        if interactions is not None:
            _check_room(X.shape[0], self.count, self.ensemble.n_outputs)
        values = self.indices(X, "shapley", 1, run, into if interactions is None else None)
        if interactions is None:
            return Attributed(values, self.base, None)
        sums = self.indices(X, "banzhaf", 1, run) if interactions == "banzhaf" else values
        return Attributed(values, self.base, square(self.indices(X, interactions, 2, run), sums))

    def indices(
        self, X: AnyArray, index: Index, order: int, run: Watch | None = None, into: Places | None = None
    ) -> FloatArray:
        """An index of all coalitions of one, two or three players: ``(rows, coalitions, outputs)``, which go where
        ``into`` says.
        """
        watch = run or Alone()
        places = into or Places.of(X.shape[0], comb(self.count, order), self.ensemble.n_outputs)
        try:
            if not self._compiled:
                self._plain(self.ensemble, X, index, order, watch, places)
            else:
                (self._path if self._background is None else self._marginal)(X, index, order, watch, places)
        finally:
            watch.close()
        return places.values

    def _path(self, X: AnyArray, index: Index, order: int, watch: Watch, places: Places) -> None:
        from pellucid.trees.path_game import path_programs, path_values

        make = partial(path_programs, self.ensemble, self._players, index, order)
        options: Any = {"index": index, "order": order, "fill": self._fill, "watch": watch}
        kept = partial(self._keeping, ("programs", index, order), make)
        path_values(self.ensemble, X, self._players, **options, programs=kept, into=places)

    def _marginal(self, X: AnyArray, index: Index, order: int, watch: Watch, places: Places) -> None:
        from pellucid.trees.marginal_game import marginal_tables, marginal_values

        background = self._background
        assert background is not None
        against = (background, self._weights, self._players)
        options: Any = {"index": index, "order": order, "fill": self._fill, "watch": watch}
        few = self._once(("few", order), lambda: self._fit(background.shape[0], order))
        flat = self._once(("flat", order), lambda: self.ensemble if few.all() else _some(self.ensemble, few))
        kept = partial(self._keeping, ("tables", index, order), partial(marginal_tables, flat, *against, **options))
        marginal_values(flat, X, *against, **options, tables=kept, into=places)
        if not few.all():
            walked = self._plain if order > 2 else self._deep
            walked(_some(self.ensemble, ~few), X, index, order, watch, places)

    def _fit(self, background: int, order: int) -> BoolArray:
        """Which trees are answered by tables; the others by walks with every background row."""
        from pellucid.trees.marginal_game import fits

        if not self._tables and order <= 2:
            return np.zeros(len(self.ensemble.roots), dtype=np.bool_)
        return fits(self.ensemble, self._players, background, order)

    def _plain(
        self, ensemble: TreeEnsemble, X: AnyArray, index: Index, order: int, watch: Watch, places: Places
    ) -> None:
        options: Any = {"index": index, "order": order, "fill": self._fill, "watch": watch}
        if self._background is None:
            found = plain.path_values(ensemble, X, self._players, **options)
        else:
            found = plain.marginal_values(ensemble, X, self._background, self._weights, self._players, **options)
        places.add(slice(None), slice(None), found)

    def _deep(
        self, ensemble: TreeEnsemble, X: AnyArray, index: Index, order: int, watch: Watch, places: Places
    ) -> None:
        from pellucid.trees.marginal_deep import deep_marginal_values, plan_walks

        background = dense(self._background, slice(0, None), self._fill)
        against: Any = (background, self._weights, self._players)
        cells = self.ensemble.n_features + self.count**order * self.ensemble.n_outputs
        parts = list(portions(X.shape[0], cells, most=watch.threads * watch.limits.contribution_bytes))
        sizes = (rows.stop - rows.start for rows in parts)
        plan_walks(ensemble, background, self._weights, self.count, sizes, watch)
        for rows in parts:
            part = dense(X, rows, self._fill)
            options: Any = {"index": index, "order": order, "watch": watch, "planned": True}
            places.add(rows, slice(None), deep_marginal_values(ensemble, part, *against, **options))

    def _base(self) -> FloatArray:
        against: Any = (self.ensemble, self._background, self._weights)
        if not self._compiled:
            if self._background is None:
                return plain.path_base(self.ensemble)
            return plain.marginal_base(*against, fill=self._fill)
        from pellucid.trees.marginal_game import marginal_base
        from pellucid.trees.path_game import path_base

        return path_base(self.ensemble) if self._background is None else marginal_base(*against, fill=self._fill)

    def _once(self, name: Any, work_out: Callable[[], T]) -> T:
        if name not in self._made:
            self._made[name] = work_out()
        made: T = self._made[name]
        return made

    def _keeping(self, name: Any, make: Callable[[], Iterable[P]]) -> Iterator[P]:
        """What is made, one after the other, or what was kept of it: all that fits the memory, or nothing."""
        if name in self._made:
            yield from self._made[name]
            return
        held: list[P] | None = []
        for each in make():
            yield each
            if held is not None:
                held = [*held, each] if sum(one.nbytes for one in (*held, each)) <= self._room else None
        if held is not None:
            self._made[name] = held
            self._room -= sum(one.nbytes for one in held)


def attribute(
    ensemble: TreeEnsemble,
    X: AnyArray,
    *,
    game: Game,
    background: AnyArray | None = None,
    weights: FloatArray | None = None,
    players: IntArray | None = None,
    interactions: bool = False,
    fill: float = 0.0,
    run: Watch | None = None,
) -> Attributed:
    """Exact Shapley values of the rows of X, of a game that is asked once (see `TreeGame`)."""
    asked = TreeGame(ensemble, game, background, weights, players, fill=fill)
    return asked.attribute(X, interactions="shapley" if interactions else None, run=run)


def coalition_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    order: int,
    *,
    index: Index = "shapley",
    game: Game,
    background: AnyArray | None = None,
    weights: FloatArray | None = None,
    players: IntArray | None = None,
    fill: float = 0.0,
    run: Watch | None = None,
) -> tuple[FloatArray, IntArray]:
    """An index of all coalitions of one, two or three players: ``(rows, coalitions, outputs)``, and their members.

    "shapley" is the Shapley value or the Shapley interaction index, "banzhaf" the Banzhaf value or interaction
    index; "taylor" and "faithful" are the Shapley-Taylor and faithful Shapley indices of order 2, of players (order 1)
    and pairs.
    """
    asked = TreeGame(ensemble, game, background, weights, players, fill=fill)
    return asked.indices(X, index, order, run), plain.coalitions(asked.count, order)


def _check_room(rows: int, players: int, outputs: int) -> None:
    """Refuses a matrix of interactions that would fill the memory."""
    size = 8 * rows * players**2 * outputs
    if size > _MOST_BYTES:
        raise InputError(
            f"the interactions of {players} features in {rows} rows take {size / 2**30:.0f} GB; explain fewer rows at"
            " once, or put features into groups (groups=)."
        )


def _some(ensemble: TreeEnsemble, trees: AnyArray) -> TreeEnsemble:
    return replace(ensemble, roots=ensemble.roots[trees], output=ensemble.output[trees])


def square(pairs: FloatArray, sums: FloatArray) -> FloatArray:
    """One column per pair of players as a matrix, half at each of its places, whose rows have these sums."""
    count = sums.shape[1]
    low, high = plain.coalitions(count, 2).T
    matrix = np.zeros((len(sums), count, *sums.shape[1:]))
    matrix[:, low, high] = matrix[:, high, low] = pairs / 2
    own = np.arange(count)
    matrix[:, own, own] = sums - matrix.sum(axis=2)
    return matrix
