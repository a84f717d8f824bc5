"""The search for a counterfactual as a problem: a row, a target, what each feature may become, and what changes cost.

Every search gets a `Problem` and nothing else, and gives back what it `Found`, in codes. Whatever it tries is put onto
the choices (`snap`), checked against all constraints (`allowed`) and scored by the model (`score`), which is asked once
per row and never beyond the budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.frames.doorway import convert
from pellucid.errors import InputError
from pellucid.explanations.explanation import native_table
from pellucid.methods.counterfactual.search.constraints import Choices, Group, read_choices, read_groups
from pellucid.methods.counterfactual.search.cost import Cost, read_cost
from pellucid.methods.counterfactual.search.relations import Relation, read_relation
from pellucid.methods.counterfactual.search.target import Target, read_target
from pellucid.models import Predictor
from pellucid.runner import Run

ALIKE = 1e-12  # costs that differ by less are the same


class OutOfBudget(Exception):
    """The model rows that may be asked, or the time, are used up; searches end with the best so far."""


@dataclass(eq=False)
class Asked:
    """What the model said so far: the full prediction of each row that was asked, how many may still be, and until
    when (by the clock of `time.monotonic`).
    """

    budget: int | None = None
    end: float | None = None
    known: dict[bytes, FloatArray] = field(default_factory=dict)
    gradients: int = 0
    around: dict[bytes, FloatArray] = field(default_factory=dict)  # predictions of the rows around an answer

    @property
    def rows(self) -> int:
        """How many different rows were asked, and of how many derivatives."""
        return len(self.known) + self.gradients


@dataclass(frozen=True, eq=False)
class Found:
    """What a search gives back: rows of codes (the nearest first), and what it knows about them.

    ``proven``: no allowed row that reaches the target is nearer than the first. ``lower`` is a bound below which no
    cost can be, where one is known; ``notes`` say what people should know about the search, by name.
    """

    rows: FloatArray
    proven: bool = False
    lower: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Problem:
    """A row ``x`` of codes (p,), and all that is asked of an answer to it.

    ``scored``: whether answers get scores, so that what stands around them is asked with them.
    """

    predictor: Predictor
    data: Data
    run: Run
    x: FloatArray
    target: Target
    choices: tuple[Choices, ...]
    cost: Cost
    max_changes: int | None = None
    groups: tuple[Group, ...] = ()
    relations: tuple[Relation, ...] = ()
    feasible: Callable[[Any], Any] | None = None
    asked: Asked = field(default_factory=Asked)
    scored: bool = True

    @cached_property
    def players(self) -> tuple[tuple[int, ...], ...]:
        """The columns of what counts as one change: groups, and the columns that belong to none."""
        return tuple(self.data.schema.players().values())

    @cached_property
    def free(self) -> BoolArray:
        """Which features may change at all."""
        return np.array([not choices.fixed for choices in self.choices])

    @cached_property
    def nominal(self) -> BoolArray:
        """Which features have levels without distances."""
        return np.array([choices.nominal for choices in self.choices])

    @property
    def constrained(self) -> bool:
        """Whether there are constraints beyond the choices of single features."""
        return bool(self.relations or self.feasible is not None or self.max_changes is not None)

    # -- constraints -----------------------------------------------------------------------------

    def changed(self, rows: FloatArray) -> BoolArray:
        """Which cells differ from the row."""
        return self.cost.changed(rows)

    def changes(self, rows: FloatArray) -> IntArray:
        """How many features (groups count as one) differ from the row."""
        changed = self.changed(rows)
        return np.sum([changed[:, list(columns)].any(axis=1) for columns in self.players], axis=0, dtype=np.intp)

    def snap(self, rows: FloatArray) -> FloatArray:
        """Rows with every value put onto the choices of its feature, groups onto what they may become together."""
        out = np.empty_like(rows)
        for j, choices in enumerate(self.choices):
            out[:, j] = choices.snap(rows[:, j])
        for group in self.groups:
            self._snap_group(group, out)
        return out

    def _snap_group(self, group: Group, rows: FloatArray) -> None:
        columns = list(group.columns)
        moved = np.flatnonzero(self.changed(rows)[:, columns].any(axis=1))
        if not len(moved):
            return
        distance = self.cost.distance
        own = self.x[columns]
        for i in moved:
            cells, options = rows[i, columns], group.combinations
            apart = np.where(
                distance.nominal[columns], cells != options, np.abs(cells - options) / distance.unit[columns]
            )
            apart = np.where(np.isnan(apart), 1.0, apart).sum(axis=1)
            best = options[int(np.argmin(apart))]
            rows[i, columns] = np.where(np.isnan(best), own, best)

    def allowed(self, rows: FloatArray) -> BoolArray:
        """Which rows keep every constraint."""
        kept = np.ones(len(rows), dtype=np.bool_)
        for _, holds in self.checks():
            if kept.any():
                kept[kept] = holds(rows[kept])
        return kept

    def checks(self) -> Sequence[tuple[str, Callable[[FloatArray], BoolArray]]]:
        """Every constraint with how it is said, the quick ones first."""
        checks: list[tuple[str, Callable[[FloatArray], BoolArray]]] = [("the values allowed", self._on_choices)]
        if self.max_changes is not None:
            most = self.max_changes
            checks.append((f"max_changes={most}", lambda rows: self.changes(rows) <= most))
        checks += [(f"the relation {relation.words!r}", relation.holds) for relation in self.relations]
        if self.feasible is not None:
            checks.append(("feasible", self._is_feasible))
        return checks

    def _on_choices(self, rows: FloatArray) -> BoolArray:
        kept = np.all([choices.allows(rows[:, j]) for j, choices in enumerate(self.choices)], axis=0)
        for group in self.groups:
            known = {combination.tobytes() for combination in group.combinations + 0.0}
            cells = np.ascontiguousarray(rows[:, list(group.columns)]) + 0.0
            kept &= [row.tobytes() in known for row in cells]
        return np.asarray(kept)

    def _is_feasible(self, rows: FloatArray) -> BoolArray:
        assert self.feasible is not None
        found: AnyArray = np.asarray(self.feasible(self.table(rows)))
        if found.shape != (len(rows),) or found.dtype != np.bool_:
            raise InputError(
                f"feasible= gave {found.dtype} of shape {found.shape} for {len(rows)} rows; return one True or"
                " False per"
                " row."
            )
        return found

    # -- the model -------------------------------------------------------------------------------

    def table(self, rows: FloatArray) -> Any:
        """Rows of codes as a table of the caller's own kind."""
        return own_table(self.data, rows)

    def score(self, rows: FloatArray) -> FloatArray:
        """Full predictions ``(n, outputs)`` of rows of codes; what was asked before is remembered."""
        known = self.asked.known
        keys = [row.tobytes() for row in np.ascontiguousarray(rows) + 0.0]
        new = {key: i for i, key in enumerate(keys) if key not in known}
        if new and self.asked.end is not None and time.monotonic() > self.asked.end:
            raise OutOfBudget
        some = list(new.items())[: self.left]
        if some:
            table = self.data.of_codes(rows[[i for _, i in some]])
            known.update(zip(new, self.run.predict(self.predictor, table, full=True), strict=False))
        if len(some) < len(new):
            raise OutOfBudget
        return np.array([known[key] for key in keys]).reshape(len(rows), self.predictor.width)

    @property
    def left(self) -> int | None:
        """How many rows may still be asked; None: any number."""
        return None if self.asked.budget is None else max(self.asked.budget - self.asked.rows, 0)

    def knows(self, rows: FloatArray) -> bool:
        """Whether the model was asked about every one of these rows."""
        return all(row.tobytes() in self.asked.known for row in np.ascontiguousarray(rows) + 0.0)

    @property
    def emits_what_is_asked(self) -> bool:
        """Whether the tables that the model is asked about are of the caller's own kind, as answers are."""
        return self.data.frame.kind == self.data.caller

    def so_far(self) -> FloatArray:
        """All rows that were asked, in the order in which they were."""
        return np.array([np.frombuffer(key) for key in self.asked.known]).reshape(-1, len(self.x))

    def answers(self) -> FloatArray:
        """Of the rows that were asked, those that reach the target and keep every constraint, the nearest first."""
        rows = self.so_far()
        rows = rows[self.valid(rows)]
        rows = rows[self.allowed(rows)]
        return rows[np.argsort(self.cost.total(rows), kind="stable")]

    def miss(self, rows: FloatArray) -> FloatArray:
        """How far the predictions of rows are from the target."""
        return self.target.miss(self.target.outputs(self.predictor, self.score(rows)))

    def valid(self, rows: FloatArray) -> BoolArray:
        """Which rows reach the target; the model is asked."""
        return np.asarray(self.miss(rows) == 0.0)


def own_table(data: Data, rows: FloatArray) -> Any:
    """Rows of codes in the kind of table that the caller gave, under the names of its columns."""
    frame = data.of_codes(rows).frame
    if frame.kind == data.caller or data.caller in ("numpy", "pandas"):
        return convert(frame, data.caller).native
    decoded = {f.source: f.decode(rows[:, j]) for j, f in enumerate(data.schema.features)}
    return native_table(decoded, data.caller)


def make_problem(
    predictor: Predictor,
    data: Data,
    row: Data,
    target: Any,
    run: Run,
    *,
    fixed: Any = (),
    ranges: Mapping[Any, Any] | None = None,
    monotone: Mapping[Any, str] | None = None,
    relations: Any = (),
    max_changes: int | None = None,
    distance: Any = "gower",
    costs: Mapping[Any, Any] | None = None,
    feasible: Callable[[Any], Any] | None = None,
    budget: int | None = None,
) -> Problem:
    """The problem of one row, from what a user says."""
    x = np.array([float(row.codes(j)[0]) for j in range(len(data.schema.features))])
    choices = read_choices(data, x, fixed=fixed, ranges=ranges, monotone=monotone)
    asked = Asked(budget)
    own = run.predict(predictor, data.of_codes(x[None]), full=True)[0]
    asked.known[(x + 0.0).tobytes()] = own
    said = [relations] if isinstance(relations, str) else relations
    if not isinstance(said, list | tuple):
        raise InputError(f"relations must be a text such as 'a <= b', or a list of such texts, got {relations!r}.")
    if feasible is not None and not callable(feasible):
        raise InputError(f"feasible must be a function of rows that returns True or False for each, got {feasible!r}.")
    return Problem(
        predictor,
        data,
        run,
        x,
        read_target(target, predictor, own),
        choices,
        read_cost(data, x, distance, costs, lambda rows: own_table(data, rows)),
        max_changes,
        read_groups(data, x, choices),
        tuple(read_relation(text, data.schema) for text in said),
        feasible,
        asked,
    )
